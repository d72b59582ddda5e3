"""NumPy's functions of signals: convolution, interpolation, and phases."""

import numpy as np

from burlab.errors import ArgumentError, ShapeError
from burlab.graph import fourier
from burlab.graph.linear_nodes import contract, gather, reshape
from burlab.graph.node import FUNCTIONS, UFUNCS, Node, as_node, constant
from burlab.graph.origin import location
from burlab.runtime.checks.numbers import shown
from burlab.typing import ArrayLike

from .arguments import normal_axis
from .building import diff
from .elementwise import maximum, minimum, where
from .indexing import getitem, take_at
from .joining import concatenate_, flip, stack
from .ordering import argsort, searchsorted
from .padding import pad_
from .promotion import INT64, promote
from .reduction import as_floats, cumsum_

MIN_FFT_ENTRIES, MIN_FFT_PRODUCTS = (
    64,
    1 << 18,
)  # entries of the shorter signal, and products, from which transforms are faster
MAX_SLICES = 64  # entries of the shorter signal, each of which is a product with a slice


def convolve(a: ArrayLike, v: ArrayLike, mode: str = "full") -> Node:
    """np.convolve of two vectors: full, same or valid.

    It multiplies all pairs, 2 n m operations; of long vectors of floats it multiplies Fourier transforms, n log n: then
    errors are relative to the largest entry, and one inf or nan is in all results.
    """
    x, y = (as_node(z) for z in (a, v))
    x, y = promote([reshape(z, (z.size,)) if z.ndim == 0 else z for z in (x, y)])
    if x.ndim != 1 or y.ndim != 1 or not x.size or not y.size:
        raise ShapeError(f"{location()}np.convolve takes two vectors with entries, got shapes {x.shape} and {y.shape}.")
    if x.size < y.size:
        x, y = y, x
    n, m = x.size, y.size
    before = {"full": m - 1, "same": m - 1 - (m - 1) // 2, "valid": 0}
    after = {"full": m - 1, "same": (m - 1) // 2, "valid": 0}
    if mode not in before:
        raise ArgumentError(f"{location()}mode of np.convolve is 'full', 'same' or 'valid', got {shown(mode)}.")
    if x.dtype.kind == "f" and m > MIN_FFT_ENTRIES and n * m > MIN_FFT_PRODUCTS:
        start = {"full": 0, "same": (m - 1) // 2, "valid": m - 1}[mode]
        count = {"full": n + m - 1, "same": n, "valid": n - m + 1}[mode]
        return getitem(_by_transforms(x, y), slice(start, start + count))
    left = m // 2 if mode == "same" else before[mode]
    right = m - 1 - left if mode == "same" else after[mode]
    wide, reverse = pad_(x, (left, right)), flip(y)
    count = n + left + right - m + 1
    if m <= MAX_SLICES:
        total = getitem(reverse, 0) * getitem(wide, slice(0, count))
        for k in range(1, m):
            total = total + getitem(reverse, k) * getitem(wide, slice(k, k + count))
        return total
    windows = gather(wide, constant(np.arange(count)[:, None] + np.arange(m), INT64))
    return contract("ij,j->i", windows, reverse)


def _by_transforms(x: Node, y: Node) -> Node:
    """The full convolution of two vectors."""
    size = x.size + y.size - 1
    length = smooth_above(size)
    (a, b), (c, d) = (fourier.rfft(pad_(z, (0, length - z.size))) for z in (x, y))
    real = a * c - b * d
    imag = a * d + b * c
    product = stack([real, imag]) * constant(fourier.weights(length), x.dtype)
    return getitem(fourier.irfft(product, length), slice(0, size))


def smooth_above(n: int) -> int:
    """The smallest even number of at least n with the prime factors 2, 3 and 5: a fast length of a transform."""
    best = 1 << max(n - 1, 1).bit_length()
    for fives in range(n.bit_length() // 2 + 1):
        for threes in range(n.bit_length()):
            odd = 5**fives * 3**threes
            if odd < best:
                best = min(best, odd << max((-(-n // odd) - 1).bit_length(), 1))
    return best


def correlate(a: ArrayLike, v: ArrayLike, mode: str = "valid") -> Node:
    """np.correlate of two vectors: c_k = sum_n a_{n+k} v_n."""
    x, y = as_node(a), as_node(v)
    if x.ndim == y.ndim == 1 and x.size < y.size:
        return flip(convolve(y, flip(x), mode))
    return convolve(x, flip(y), mode)


def interp(x: ArrayLike, xp: ArrayLike, fp: ArrayLike, left: ArrayLike | None = None, right: ArrayLike | None = None,
           period: float | None = None) -> Node:  # fmt: skip
    """np.interp: lines between points whose places rise. Derivatives by x, by the values and by the places."""
    at, places, values = (as_floats(as_node(z)) for z in (x, xp, fp))
    if places.ndim != 1 or places.shape != values.shape or not places.size:
        what = f"np.interp got places of shape {places.shape} and values of shape {values.shape}"
        raise ShapeError(f"{location()}{what}, expected two vectors of one length, at least 1.")
    if period is not None:
        at, places, values = _periodic(at, places, values, period)
    n = places.size
    after = searchsorted(places, at, "right")
    if n == 1:
        inside = at * 0.0 + getitem(values, 0)
    else:
        k = minimum(maximum(after - 1, 0), n - 2)
        x0, x1 = (take_at(places, {0: k + j}) for j in (0, 1))
        y0, y1 = (take_at(values, {0: k + j}) for j in (0, 1))
        slope = (y1 - y0) / (x1 - x0)
        inside = slope * (at - x0) + y0
        inside = where(at == x1, y1, inside)  # the end itself, as NumPy gives it
    first, last = getitem(places, 0), getitem(places, -1)
    below = getitem(values, 0) if left is None else left
    above = getitem(values, -1) if right is None else right
    inside = where(at < first, below, inside)
    return where(at > last, above, inside)


def _periodic(at: Node, places: Node, values: Node, period: float) -> tuple[Node, Node, Node]:
    """Places within one period, in order, with a neighbour from the period before and from the one after."""
    length = abs(period)
    at, places = (UFUNCS["remainder"](z, length) for z in (at, places))
    order = argsort(places)
    places, values = take_at(places, {0: order}), take_at(values, {0: order})
    ends = (slice(-1, None), slice(0, 1))
    places = concatenate_([getitem(places, ends[0]) - length, places,
                           getitem(places, ends[1]) + length])  # fmt: skip
    return at, places, concatenate_([getitem(values, ends[0]), values, getitem(values, ends[1])])


def unwrap(p: ArrayLike, discont: float | None = None, axis: int = -1, *, period: float = 2 * np.pi) -> Node:
    """np.unwrap: jumps of more than `discont`, half a period unless given, lose whole periods."""
    x = as_floats(as_node(p))
    k = normal_axis(axis, x.ndim)
    jumps, half = diff(x, axis=k), period / 2
    rest = UFUNCS["remainder"](jumps + half, period) - half
    rest = where((rest == -half) & (jumps > 0.0), half, rest)
    small = abs(jumps) < (half if discont is None else max(discont, half))
    shifts = cumsum_(where(small, 0.0, rest - jumps), k)
    first = getitem(x, (slice(None),) * k + (slice(0, 1),))
    return concatenate_([first, getitem(x, (slice(None),) * k + (slice(1, None),)) + shifts], k)


FUNCTIONS.update({np.convolve: convolve, np.correlate: correlate, np.interp: interp, np.unwrap: unwrap})
