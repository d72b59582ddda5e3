"""Convolutions as SciPy has them, differentiable to any order: inside of traced functions, and on arrays."""

import math
from typing import Any

import numpy as np

from burlab.compiler.function import Function
from burlab.errors import ArgumentError, ShapeError
from burlab.graph.node import Node
from burlab.graph.numpy_api.arguments import several, whole
from burlab.graph.numpy_api.signals import smooth_above
from burlab.runtime.checks.numbers import one_of, shown
from burlab.runtime.plain import as_array
from burlab.typing import Array, ArrayLike, Axis

__all__ = ["convolve", "fftconvolve"]

_MODES = ("full", "same", "valid")


def fftconvolve(in1: ArrayLike, in2: ArrayLike, mode: str = "full", axes: Axis = None) -> Any:
    """The convolution of two arrays with as many axes by Fourier transforms, n log n operations.

    in1, in2: real or complex. mode: "full"; "same", the middle of it with the shape of in1; "valid", where the smaller
    one lies inside of the larger one. axes: along which, all unless given; the others broadcast. Errors are relative to
    the largest entry. Raises ShapeError where shapes do not fit. As scipy.signal.fftconvolve.

    >>> np.round(fftconvolve(np.array([1.0, 2.0, 3.0]), np.array([2.0, 1.0])), 12)
    array([2., 5., 8., 3.])
    """
    along = None if axes is None else tuple(whole(axis, "axis of fftconvolve") for axis in several(axes))
    return _CONVOLVED(_given(in1, "in1"), _given(in2, "in2"), one_of(mode, _MODES, "mode"), along)


def convolve(in1: ArrayLike, in2: ArrayLike, mode: str = "full", method: str = "auto") -> Any:
    """The convolution of two arrays with as many axes: of vectors as np.convolve, of others as `fftconvolve`.

    mode: see `fftconvolve`. method: "auto"; "direct" for vectors only, "fft" for transforms. As scipy.signal.convolve.

    >>> convolve(np.array([1.0, 2.0, 3.0]), np.array([0.0, 1.0, 0.5]), mode="same")
    array([1. , 2.5, 4. ])
    """
    one_of(method, ("auto", "direct", "fft"), "method of convolve")
    in1, in2 = _given(in1, "in1"), _given(in2, "in2")
    if method == "fft" or (method == "auto" and np.ndim(in1) != 1):
        return fftconvolve(in1, in2, mode)
    return _DIRECT(in1, in2, one_of(mode, _MODES, "mode"))


def _given(x: ArrayLike, name: str) -> Any:
    return x if isinstance(x, Node) or hasattr(x, "__array_ufunc__") else as_array(x, name)


def _direct(x: Array, y: Array, mode: str) -> Any:
    if np.ndim(x) != 1 or np.ndim(y) != 1:
        shapes = f"{np.shape(x)} and {np.shape(y)}"
        raise ShapeError(f"a direct convolution is of two vectors, got shapes {shapes}. Pass method='fft'.")
    return _part(np.convolve(x, y), np.shape(x), np.shape(y), mode, (0,))


def _convolved(x: ArrayLike, y: ArrayLike, mode: str, axes: tuple[int, ...] | None) -> Any:
    first, second = np.shape(x), np.shape(y)
    if len(first) != len(second) or not first or 0 in (*first, *second):
        raise ShapeError(
            f"a convolution is of two arrays with as many axes and an entry at least, got shapes {first} and {second}."
        )
    along = tuple(range(len(first))) if axes is None else tuple(k % len(first) for k in axes)
    sizes = [first[k] + second[k] - 1 for k in along]
    lengths = [smooth_above(size) for size in sizes]
    if np.iscomplexobj(x) or np.iscomplexobj(y):
        whole = np.fft.ifftn(np.fft.fftn(x, lengths, along) * np.fft.fftn(y, lengths, along), lengths, along)
    else:
        whole = np.fft.irfftn(np.fft.rfftn(x, lengths, along) * np.fft.rfftn(y, lengths, along), lengths, along)
    kept = dict(zip(along, sizes, strict=True))
    return _part(whole[tuple(slice(0, kept.get(k)) for k in range(len(first)))], first, second, mode, along)


def _part(whole: Array, first: tuple[int, ...], second: tuple[int, ...], mode: str, along: tuple[int, ...]) -> Any:
    """Return the part of the full convolution that a mode selects."""
    if mode not in _MODES:
        raise ArgumentError(f"mode of a convolution is 'full', 'same' or 'valid', got {shown(mode)}.")
    if mode == "full":
        return whole
    if mode == "valid" and math.prod(first) < math.prod(second):
        first, second = second, first
    if mode == "valid" and any(first[k] < second[k] for k in along):
        raise ShapeError(f"with mode 'valid' one array lies inside of the other, got shapes {first} and {second}.")
    places = [slice(None)] * len(first)
    for k in along:
        size = first[k] if mode == "same" else first[k] - second[k] + 1
        start = (whole.shape[k] - size) // 2
        places[k] = slice(start, start + size)
    return whole[tuple(places)]


_CONVOLVED: Any = Function(_convolved, name="fftconvolve", reads=())
_DIRECT: Any = Function(_direct, name="convolve", reads=())
