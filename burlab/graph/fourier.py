"""The discrete Fourier transform along the last axis: three linear operations, and the functions that make them.

Complex numbers are two real ones: an array of them has real parts and imaginary parts along its first axis. Nothing is
scaled. The transpose of a transform is one with the other sign, so derivatives of every order are transforms.
"""
# ruff: noqa: D102 - LinearOp documents the methods

from collections.abc import Sequence
from typing import Any

import numpy as np

from burlab.runtime.checks.stored import flag, size

from .linear_nodes import LinearOp, Shape, linear, transpose
from .node import Node
from .operation import structural
from .signatures import FLOATS, require
from .tally import Tally, log2


def fft(x: Node, inverse: bool = False) -> Node:
    """Return sum_j x_j exp(-2 pi i j k / n), with the other sign if `inverse`."""
    return linear("fft", inverse, x)


def rfft(x: Node) -> Node:
    """Return the first n // 2 + 1 numbers of the transform of real rows of length n."""
    return linear("rfft", None, x)


def irfft(x: Node, n: int) -> Node:
    """Return rows of length n, the real part of sum_k x_k exp(2 pi i j k / n): the transpose of `rfft`."""
    return linear("irfft", n, x)


def weights(n: int) -> "np.ndarray[Any, np.dtype[np.float64]]":
    """Return the weights of half a spectrum with which `irfft` is the inverse of `rfft`. Shape (n // 2 + 1,).

    Each number but the first, and the last for even n, also counts for its conjugate.
    """
    result = np.full(n // 2 + 1, 2.0 / n)
    result[0] = 1.0 / n
    if n % 2 == 0:
        result[-1] = 1.0 / n
    return result


class _Fourier(LinearOp):
    """A transform along the last axis."""

    dense_operands = True
    dtypes = FLOATS

    def work(self, n: Node) -> int:
        rows = n if n.op == "irfft" else n.inputs[0]
        return 2 * rows.size * rows.shape[-1].bit_length()

    def tally(self, n: Node) -> Tally:
        """Return those of radix 2, 5 n log2 n for complex rows of length n, half of them for real ones."""
        rows = n if n.op == "irfft" else n.inputs[0]
        pairs = rows.size * log2(rows.shape[-1]) // 2
        return Tally(2 * pairs, 3 * pairs)


@structural
class Fft(_Fourier):
    """Transforms of complex rows. Parameter: True for positive angles, the inverse."""

    name = "fft"
    parameters = flag

    def shape(self, _inverse: bool, shapes: Sequence[Shape]) -> Shape:
        (x,) = shapes
        require(len(x) > 1 and x[0] == 2, "it needs two parts of rows")
        return x

    def transpose(self, g: Node, node: Node, _k: int) -> Node:
        return fft(g, not node.params)

    def batch(self, inverse: bool, xs: Sequence[Node], _batched: Sequence[bool]) -> Node:
        return _swapped(fft(_swapped(xs[0]), inverse))


@structural
class Rfft(_Fourier):
    """Transforms of real rows: the first half, which determines the other."""

    name = "rfft"

    def shape(self, _: None, shapes: Sequence[Shape]) -> Shape:
        (x,) = shapes
        require(x != () and x[-1] > 0, "it needs rows with an entry")
        return 2, *x[:-1], x[-1] // 2 + 1

    def transpose(self, g: Node, node: Node, _k: int) -> Node:
        return irfft(g, node.inputs[0].shape[-1])

    def batch(self, _: None, xs: Sequence[Node], _batched: Sequence[bool]) -> Node:
        return _swapped(rfft(xs[0]))


@structural
class Irfft(_Fourier):
    """Real rows of half spectra. Parameter: the length of the rows."""

    name = "irfft"
    parameters = size

    def shape(self, n: int, shapes: Sequence[Shape]) -> Shape:
        (x,) = shapes
        require(len(x) > 1 and x[0] == 2 and n > 0 and x[-1] == n // 2 + 1, "it needs two parts of half rows")
        return *x[1:-1], n

    def transpose(self, g: Node, _node: Node, _k: int) -> Node:
        return rfft(g)

    def batch(self, n: int, xs: Sequence[Node], _batched: Sequence[bool]) -> Node:
        return irfft(_swapped(xs[0]), n)


def _swapped(x: Node) -> Node:
    """Exchange the first two axes: samples come first in batches, the parts in the operation."""
    return transpose(x, (1, 0, *range(2, x.ndim)))
