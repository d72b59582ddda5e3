"""autograd.scipy.signal.convolve: windows by indexing, then one tensordot."""

from typing import Any

import numpy as np


def convolve(a: Any, b: Any, axes: Any = None, dot_axes: Any = ((), ()), mode: str = "full") -> Any:
    """Over the pairs of axes a convolution, over those of dot_axes a sum."""
    first, second = axes or (range(a.ndim), range(b.ndim))
    for i, j in zip(first, second, strict=True):
        size = b.shape[j]
        b = np.flip(b, j)
        if mode == "full":
            a = np.pad(a, [(size - 1, size - 1) if k == i else (0, 0) for k in range(a.ndim)])
    windows = a
    for i, j in zip(first, second, strict=True):  # each axis becomes (place, offset); offsets go to the end
        count, size = windows.shape[i] - b.shape[j] + 1, b.shape[j]
        index = np.arange(count)[:, None] + np.arange(size)
        windows = np.moveaxis(np.take(windows, index, axis=i), i + 1, -1)
    offsets = range(a.ndim, a.ndim + len(first))
    out = np.tensordot(windows, b, axes=([*offsets, *dot_axes[0]], [*second, *dot_axes[1]]))
    kept = [k for k in range(a.ndim) if k not in dot_axes[0]]
    places = [kept.index(i) for i in first]  # autograd puts what is convolved last
    return np.moveaxis(out, places, range(-len(places), 0))
