"""Enclosures of discrete Fourier transforms: products with matrices of enclosed cosines and sines.

The kernel adds up terms in about log2 n rounds, so its error is below 8 (log2 n + 4) u times the sum of sizes of a row
(Higham 2002, section 24.1, for radix 2). Long rows are transformed by it at their middles, and the radii add up.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from burlab.graph.linalg.matrices import column
from burlab.graph.linear_nodes import broadcast, contract
from burlab.graph.node import Node, constant
from burlab.graph.substitute import copy
from burlab.transforms.numbers.pairs import Pair, Value, number, op, pair, rounding_unit, up
from burlab.transforms.numbers.tensor_enclosures import contracted

from .matrix_values import middle, size_of, total_above, widened

Array = npt.NDArray[Any]
MAX_DIRECT_ROWS = 128


def fourier(n: Node, xs: Sequence[Value]) -> Pair:
    """A transform of intervals along the last axis, moved outwards by the error of the kernel."""
    (x,) = xs
    length = n.shape[-1] if n.op == "irfft" else n.inputs[0].shape[-1]
    found = _directly(n, x, length) if length <= MAX_DIRECT_ROWS else _by_radii(n, x)
    error = 8 * (math.log2(length) + 4) * rounding_unit(n.dtype)
    total = _total(n, size_of(x))
    return widened(found, broadcast(column(up(op("mul", total, number(error, total)))), n.shape))


def _total(n: Node, x: Node) -> Node:
    """Upper bounds of the sums of rows, of both parts."""
    return total_above(x, (x.ndim - 1,) if n.op == "rfft" else (0, x.ndim - 1))


def _directly(n: Node, x: Value, length: int) -> Pair:
    """One contraction, with letters p, k for part and place of the result, and q, j for those of x."""
    weights = Pair(*(constant(end) for end in _weights(n, length)))
    lead = "abcdefgh"[: pair(x).low.ndim - (1 if n.op == "rfft" else 2)]
    left = {"fft": "pkqj", "rfft": "pkj", "irfft": "kqj"}[n.op]
    right = f"{lead}j" if n.op == "rfft" else f"q{lead}j"
    result = f"{lead}k" if n.op == "irfft" else f"p{lead}k"
    return pair(contracted(contract(f"{left},{right}->{result}", weights.low, pair(x).low), [weights, x]))


def _weights(n: Node, length: int) -> list[Array]:
    """Bounds of the weights of a transform, those of quarter turns exact."""
    half = length // 2 + 1
    rows, columns = (length, half) if n.op == "irfft" else (length if n.op == "fft" else half, length)
    turns = np.outer(np.arange(rows), np.arange(columns)) % length
    c, s = (np.array(part)[turns] for part in zip(*(_circle(k, length) for k in range(length)), strict=True))
    if n.op == "fft":
        s = s if n.params else -s
        exact = np.stack([np.stack([c, -s], axis=1), np.stack([s, c], axis=1)])
    else:
        exact = np.stack([c, -s], axis=0 if n.op == "rfft" else 1)
    sure = (exact == 0) | (np.abs(exact) == 1)
    reach = np.where(sure, 0, 4 * rounding_unit(n.dtype) * np.abs(exact)).astype(n.dtype)
    rounded = exact.astype(n.dtype)
    ends = rounded - reach, rounded + reach
    return [np.where(sure, rounded, np.nextafter(e, n.dtype.type(far))) for e, far in zip(ends, (-2, 2), strict=True)]


def _circle(k: int, n: int) -> tuple[float, float]:
    """Cosine and sine of 2 pi k / n, off by less than 4 units of rounding."""
    quarters, rest = divmod(4 * k, n)
    angle = math.pi / 2 * min(rest, n - rest) / n
    c, s = math.cos(angle), math.sin(angle)
    if 2 * rest > n:
        c, s = s, c
    return ((c, s), (-s, c), (-c, -s), (s, -c))[quarters]


def _by_radii(n: Node, x: Value) -> Pair:
    """The transform of the middles, and the sum of the radii."""
    centre, (low, high) = middle(x), pair(x)
    reach = _total(n, up(op("maximum", op("sub", high, centre), op("sub", centre, low))))
    return widened(copy(n, (centre,)), broadcast(column(reach), n.shape))
