"""Fewer points that look like all of them."""

from typing import Any

import numpy as np

from burlab.runtime.extras import late
from burlab.runtime.plain import as_floats

tsdownsample: Any = late("tsdownsample", "plots")

Series = np.ndarray[Any, np.dtype[Any]]
POINTS = 2000  # more than a screen has columns; a browser redraws this many at once


def thinned(value: Series) -> Series:
    """The positions of at most 2,000 points that keep the shape and the extremes of a curve. value: shape (n,).

    >>> import numpy as np
    >>> thinned(np.sin(np.arange(10**6) / 1e4)).shape
    (2000,)
    """
    value = as_floats(value, "value of thinned").ravel()
    if len(value) <= POINTS:
        return np.arange(len(value))
    finite = np.where(np.isfinite(value), value, 0.0)  # the downsampler compares, and nothing compares with NaN
    downsampler: Any = tsdownsample.MinMaxLTTBDownsampler()
    return np.asarray(downsampler.downsample(finite, n_out=POINTS))
