"""Convolutions and pooling of one sample, channels first: windows are views that a product reads, or are reduced."""

import math
from dataclasses import dataclass, field
from itertools import product
from typing import Any, ClassVar

import numpy as np

from burlab.errors import ArgumentError, ShapeError
from burlab.graph.tree import pytree
from burlab.runtime.checks.numbers import flag, shown
from burlab.runtime.memory import ADDRESSABLE
from burlab.typing import DTypeLike, Key

from . import init
from .layer import STATIC, Array, Layer, check_dtype, floating, keys, numbers, sizes

Sizes = int | tuple[int, ...]


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Convolution(Layer):
    """Base class of Conv1d and Conv2d. window, stride, padding, dilation: an int, or one for each axis."""

    rank: ClassVar[int]

    weight: Array
    bias: Array | None
    stride: tuple[int, ...] = field(metadata=STATIC)
    padding: tuple[int, ...] = field(metadata=STATIC)
    dilation: tuple[int, ...] = field(metadata=STATIC)

    def __init__(  # noqa: PLR0913 - the words of PyTorch
        self,
        inputs: int,
        outputs: int,
        window: Sizes,
        *,
        key: Key,
        stride: Sizes = 1,
        padding: Sizes = 0,
        dilation: Sizes = 1,
        bias: bool = True,
        dtype: DTypeLike = np.float32,
    ) -> None:
        sizes(inputs=inputs, outputs=outputs)
        spans = _several("window", window, self.rank, 1)
        k0, k1 = keys(key, 2)
        bound = 1 / math.sqrt(inputs * math.prod(spans))
        form: Any = {"dtype": floating(dtype), "low": -bound, "high": bound}
        self._fill(
            weight=init.uniform(k0, (*spans, inputs, outputs), **form),
            bias=init.uniform(k1, (outputs,), **form) if flag(bias, "bias") else None,
            stride=_several("stride", stride, self.rank, 1),
            padding=_several("padding", padding, self.rank, 0),
            dilation=_several("dilation", dilation, self.rank, 1),
        )

    def __call__(self, x: Array) -> Array:
        """The sums over all windows, shape (outputs, ...)."""
        *spans, inputs, outputs = self.weight.shape
        if np.ndim(x) != 1 + len(spans) or np.shape(x)[0] != inputs:
            axes = "length" if len(spans) == 1 else "height, width"
            raise ShapeError(
                f"{type(self).__name__} expects x of shape ({inputs}, {axes}), got {np.shape(x)}. "
                "A layer sees one sample; bl.vmap maps it over many."
            )
        check_dtype(self, x, self.weight)
        if any(self.padding):
            x = np.pad(x, ((0, 0), *((p, p) for p in self.padding)))
        rank = len(spans)
        x = _apart(x, tuple(spans), self.stride, self.dilation)
        order = (*range(1, 2 * rank, 2), *range(2, 2 * rank + 1, 2), 0)  # places, entries of a window, channels
        y = np.tensordot(np.transpose(x, order), self.weight, rank + 1)
        y = np.transpose(y, (rank, *range(rank)))
        return y if self.bias is None else y + np.reshape(self.bias, (outputs, *(1 for _ in spans)))


@pytree
@dataclass(frozen=True, eq=False, repr=False, init=False)
class Conv1d(Convolution):
    """y[o, p] = sum over c, i of x[c, stride p + dilation i - padding] weight[i, c, o], plus bias[o]; 0 outside of x.

    weight: shape [window, in, out], where PyTorch's is [out, in, window]; bias: shape [out], or None. x: shape (in,
    length); the result has shape (out, places).

    Args:
        inputs, outputs: Channels in and out.
        window: Length of the kernel.
        key: A key, shape (2,), uint64, for the start, PyTorch's: uniform within 1 / sqrt(in window).
        stride, padding, dilation: Integers.
        bias: False for none.
        dtype: float32 or float64.

    >>> import numpy as np, burlab as bl
    >>> bl.nn.Conv1d(2, 5, 3, padding=1, key=bl.random.key(0))(np.ones((2, 9), np.float32)).shape
    (5, 9)
    """

    rank: ClassVar[int] = 1


@pytree
@dataclass(frozen=True, eq=False, repr=False, init=False)
class Conv2d(Convolution):
    """Conv1d in two dimensions: x of shape (in, height, width), weight of shape [rows, columns, in, out].

    Args:
        window, stride, padding, dilation: An int, or a pair for height and width.
        inputs, outputs, key, bias, dtype: As for `Conv1d`.

    >>> import numpy as np, burlab as bl
    >>> bl.nn.Conv2d(1, 4, 3, stride=2, key=bl.random.key(0))(np.ones((1, 9, 7), np.float32)).shape
    (4, 4, 3)
    """

    rank: ClassVar[int] = 2


def max_pool(x: Array, window: Sizes, stride: Sizes | None = None) -> Array:
    """Return the largest entry of every window; entries that tie share the derivative equally.

    Args:
        x: Shape (channels, length) or (channels, height, width).
        window: Size, an int or one for each axis.
        stride: From one window to the next, by default their size, so that they do not overlap; a remainder at the end
            is dropped.

    Returns:
        An array of shape (channels, ...) with a place for each window.

    Raises:
        ShapeError: x has other axes, or is smaller than the window.

    >>> import numpy as np
    >>> max_pool(np.array([[1.0, 5.0, 2.0, 3.0]]), 2)
    array([[5., 3.]])
    """
    rows, places = _pooled("max_pool", x, window, stride)
    return np.reshape(np.transpose(np.max(rows, axis=1)), (np.shape(x)[0], *places))


def avg_pool(x: Array, window: Sizes, stride: Sizes | None = None) -> Array:
    """The mean of every window. Arguments, result and errors are those of `max_pool`.

    >>> import numpy as np
    >>> avg_pool(np.array([[1.0, 5.0, 2.0, 3.0]]), 2)
    array([[3. , 2.5]])
    """
    rows, places = _pooled("avg_pool", x, window, stride)
    return np.reshape(np.transpose(np.mean(rows, axis=1)), (np.shape(x)[0], *places))


def _pooled(name: str, x: Array, window: Sizes, stride: Sizes | None) -> tuple[Array, tuple[int, ...]]:
    x = numbers(x, f"x of {name}")
    rank = np.ndim(x) - 1
    if rank not in (1, 2):
        wanted = "(channels, length) or (channels, height, width)"
        raise ShapeError(f"{name} expects x of shape {wanted}, got {np.shape(x)}.")
    spans = _several("window", window, rank, 1)
    return _windows(x, spans, spans if stride is None else _several("stride", stride, rank, 1), (1,) * rank)


def _windows(
    x: Array, spans: tuple[int, ...], stride: tuple[int, ...], dilation: tuple[int, ...]
) -> tuple[Array, tuple[int, ...]]:
    """All windows, shape (places, entries of a window, channels), and the number of places along each axis."""
    channels, *lengths = np.shape(x)
    places = _places(tuple(lengths), spans, stride, dilation)
    flat = np.arange(math.prod(lengths)).reshape(lengths)
    first = flat[tuple(slice(0, s * (p - 1) + 1, s) for p, s in zip(places, stride, strict=True))]
    inside = [flat[tuple(d * i for d, i in zip(dilation, at, strict=True))] for at in product(*map(range, spans))]
    index = first.reshape(-1, 1) + np.array(inside)
    return np.take(np.transpose(np.reshape(x, (channels, -1))), index, axis=0), places


def _places(
    lengths: tuple[int, ...], spans: tuple[int, ...], stride: tuple[int, ...], dilation: tuple[int, ...]
) -> tuple[int, ...]:
    """The number of places of a window along each axis."""
    reach = [d * (k - 1) + 1 for k, d in zip(spans, dilation, strict=True)]
    if any(n < r for n, r in zip(lengths, reach, strict=True)):
        raise ShapeError(f"a window that reaches over {tuple(reach)} entries does not fit into {tuple(lengths)}.")
    return tuple((n - r) // s + 1 for n, r, s in zip(lengths, reach, stride, strict=True))


def _apart(x: Array, spans: tuple[int, ...], stride: tuple[int, ...], dilation: tuple[int, ...]) -> Array:
    """All windows, shape (channels, places, entries of a window, ...): these two for each axis of a window."""
    counts = _places(tuple(np.shape(x)[1:]), spans, stride, dilation)
    for k, (count, span, step, spread) in enumerate(zip(counts, spans, stride, dilation, strict=True)):
        index = np.add.outer(step * np.arange(count), spread * np.arange(span))
        x = np.take(x, index, axis=1 + 2 * k)
    return x


def _several(name: str, size: Sizes, rank: int, least: int) -> tuple[int, ...]:
    found = tuple(size) if isinstance(size, (tuple, list)) else (size,) * rank
    wrong = [k for k in found if isinstance(k, bool) or not isinstance(k, int) or not least <= k <= ADDRESSABLE]  # pyright: ignore[reportUnnecessaryIsInstance]
    if len(found) != rank or wrong:
        raise ArgumentError(f"{name}={shown(size)} must be an integer of at least {least}, or {rank} of them.")
    return found
