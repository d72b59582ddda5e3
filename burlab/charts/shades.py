"""What the colours of a map follow: the logarithm of the height, so that valleys show detail."""

from typing import Any

import numpy as np

Numbers = np.ndarray[Any, np.dtype[np.float64]]


def shade(heights: Numbers, minimum: float) -> Numbers:
    """The logarithm of heights above a minimum, float64; the heights where there is none, -inf; NaN where not finite.

    >>> shade(np.array([1.0, 10.0, np.inf]), 0.0).round(2)
    array([0.32, 1.04,  nan])
    """
    heights = np.where(np.isfinite(heights), heights, np.nan)
    if not np.isfinite(minimum) or np.isnan(heights).all():
        return heights
    above = np.maximum(heights - minimum, 0.0)
    floor = max(float(np.nanquantile(above, 0.01)), 1e-6 * float(np.nanmax(above)), 1e-300)
    return np.log10(above + floor)
