"""np.fft: transforms along axes, with NumPy's lengths and scales, on the three operations of `graph/fourier.py`."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from burlab.errors import ArgumentError, ShapeError
from burlab.graph import fourier
from burlab.graph.linear import concatenate, reshape
from burlab.graph.node import FUNCTIONS as REAL, Node, constant
from burlab.graph.numpy_api.arguments import normal_axis, only_defaults, several, whole
from burlab.graph.numpy_api.promotion import apply
from burlab.graph.numpy_api.reduction import as_floats
from burlab.graph.origin import location
from burlab.runtime.checks.numbers import shown
from burlab.runtime.plain import is_complex

from .arithmetic import conjugate, multiply
from .array import FUNCTIONS, Complex
from .parts import as_complex, parts

Function = Callable[..., Any]
_SWAPPED = {None: "forward", "backward": "forward", "ortho": "ortho", "forward": "backward"}


def fft(a: Any, n: Any = None, axis: Any = -1, norm: Any = None, out: None = None) -> Complex:
    """np.fft.fft; of real numbers by half of the work."""
    return _complex_transform("fft", a, n, axis, norm, out)


def ifft(a: Any, n: Any = None, axis: Any = -1, norm: Any = None, out: None = None) -> Complex:
    """np.fft.ifft."""
    return _complex_transform("ifft", a, n, axis, norm, out)


def rfft(a: Any, n: Any = None, axis: Any = -1, norm: Any = None, out: None = None) -> Complex:
    """np.fft.rfft of real numbers."""
    only_defaults("np.fft.rfft", {"out": out})
    if is_complex(a):
        raise ArgumentError(f"{location()}np.fft.rfft takes real numbers, got complex ones. Use np.fft.fft or a.real.")
    x, k = _rows("rfft", as_floats(parts(a)[0]), n, axis)
    y = _unpacked(fourier.rfft(x))
    return _scaled(_moved(y, -1, k), "rfft", x.shape[-1], norm)


def irfft(a: Any, n: Any = None, axis: Any = -1, norm: Any = None, out: None = None) -> Node:
    """np.fft.irfft: real numbers, n of them."""
    only_defaults("np.fft.irfft", {"out": out})
    z = as_complex(a)
    k = normal_axis(axis, z.ndim)
    size = 2 * (z.shape[k] - 1) if n is None else _length("irfft", n)
    if size < 1:
        raise _no_length("irfft", size)
    z, _ = _rows("irfft", z, size // 2 + 1, k)
    weights = constant(fourier.weights(size) * (size * _factor("irfft", size, norm)), z.real.dtype)
    y = fourier.irfft(_packed(multiply(z, weights)), size)
    return REAL[np.moveaxis](y, -1, k)


def hfft(a: Any, n: Any = None, axis: Any = -1, norm: Any = None, out: None = None) -> Node:
    """np.fft.hfft: the real transform of what is its own conjugate, backwards."""
    return irfft(conjugate(a), n, axis, _SWAPPED[_known(norm)], out)


def ihfft(a: Any, n: Any = None, axis: Any = -1, norm: Any = None, out: None = None) -> Complex:
    """np.fft.ihfft."""
    return conjugate(rfft(a, n, axis, _SWAPPED[_known(norm)], out))


def _complex_transform(name: str, a: Any, n: Any, axis: Any, norm: Any, out: None) -> Complex:
    only_defaults(f"np.fft.{name}", {"out": out})
    real, imag = parts(a)
    inverse = name == "ifft"
    if imag is None:
        x, k = _rows(name, as_floats(real), n, axis)
        y = _mirrored(_unpacked(fourier.rfft(x)), x.shape[-1], inverse)
    else:
        z, k = _rows(name, Complex(real, imag), n, axis)
        x = _packed(z)
        y = _unpacked(fourier.fft(x, inverse))
    return _scaled(_moved(y, -1, k), name, x.shape[-1], norm)


def _mirrored(z: Complex, n: int, inverse: bool) -> Complex:
    """All n numbers of the transform of real ones, from the first half."""
    rest = slice((n - 1) // 2, 0, -1)
    real = REAL[np.concatenate]([z.real, z.real[..., rest]], axis=-1)
    first, last = (z.imag, -z.imag[..., rest])
    imag = REAL[np.concatenate]([first, last], axis=-1)
    return Complex(real, apply("neg", imag) if inverse else imag)


def _rows(name: str, x: Any, n: Any, axis: Any) -> tuple[Any, int]:
    """The array with the axis last, cut or filled with zeros to a length; where the axis was."""
    if x.ndim == 0:
        raise ShapeError(f"{location()}np.fft.{name} needs an axis, got a number. Pass an array.")
    k = normal_axis(axis, x.ndim)
    x = (FUNCTIONS if isinstance(x, Complex) else REAL)[np.moveaxis](x, k, -1)
    size = x.shape[-1]
    length = size if n is None else _length(name, n)
    if length < 1:
        raise _no_length(name, length)
    if length < size:
        x = x[..., :length]
    elif length > size:
        widths = [(0, 0)] * (x.ndim - 1) + [(0, length - size)]
        x = (FUNCTIONS if isinstance(x, Complex) else REAL)[np.pad](x, widths)
    return x, k


def _length(name: str, n: Any) -> int:
    length = whole(n, f"n of np.fft.{name}")
    if length < 1:
        raise _no_length(name, length)
    return length


def _no_length(name: str, length: int) -> ShapeError:
    return ShapeError(f"{location()}np.fft.{name} along an axis of {length} entries. It needs at least 1: pass n.")


def _packed(z: Complex) -> Node:
    """Real parts and imaginary parts along a new first axis."""
    return concatenate([reshape(part, (1, *z.shape)) for part in (z.real, z.imag)], 0)


def _unpacked(x: Node) -> Complex:
    return Complex(x[0], x[1])


def _moved(z: Complex, source: int, destination: int) -> Complex:
    return FUNCTIONS[np.moveaxis](z, source, destination)


def _known(norm: Any) -> Any:
    if norm not in _SWAPPED:
        raise ArgumentError(f"{location()}norm of np.fft is 'backward', 'ortho' or 'forward', got {shown(norm)}.")
    return norm


def _factor(name: str, n: int, norm: Any) -> float:
    """What a transform of length n is multiplied by."""
    if _known(norm) == "ortho":
        return 1.0 / math.sqrt(n)
    return 1.0 / n if (norm == "forward") != name.startswith("i") else 1.0


def _scaled(z: Complex, name: str, n: int, norm: Any) -> Complex:
    factor = _factor(name, n, norm)
    return z if factor == 1.0 else multiply(z, factor)


def _along_axes(name: str, one: Function, last: Function, inverse: bool, default: Any = None) -> Function:
    """The transform along several axes: `last` along the last of them, `one` along the others."""

    def rule(a: Any, s: Any = None, axes: Any = default, norm: Any = None, out: None = None) -> Any:
        only_defaults(f"np.fft.{name}", {"out": out})
        ndim = np.ndim(a)
        places = range(ndim) if axes is None and s is None else range(-len(several(s)), 0) if axes is None else axes
        given = [normal_axis(k, ndim) for k in several(places if not isinstance(places, range) else tuple(places))]
        sizes = [None] * len(given) if s is None else [None if n == -1 else n for n in several(s)]
        if len(sizes) != len(given) or not given:
            what = f"np.fft.{name} got {len(sizes)} sizes for {len(given)} axes"
            raise ShapeError(f"{location()}{what}, expected one for each, and one axis at least.")
        steps = list(zip(sizes[:-1], given[:-1], strict=True))
        y = a if inverse else last(a, sizes[-1], given[-1], norm)
        for n, k in reversed(steps):
            y = one(y, n, k, norm)
        return last(y, sizes[-1], given[-1], norm) if inverse else y

    return rule


_ALL: dict[str, Function] = {
    "fft": fft, "ifft": ifft, "rfft": rfft, "irfft": irfft, "hfft": hfft, "ihfft": ihfft,
    "fftn": _along_axes("fftn", fft, fft, False), "ifftn": _along_axes("ifftn", ifft, ifft, False),
    "rfftn": _along_axes("rfftn", fft, rfft, False), "irfftn": _along_axes("irfftn", ifft, irfft, True),
    "fft2": _along_axes("fft2", fft, fft, False, (-2, -1)), "ifft2": _along_axes("ifft2", ifft, ifft, False, (-2, -1)),
    "rfft2": _along_axes("rfft2", fft, rfft, False, (-2, -1)),
    "irfft2": _along_axes("irfft2", ifft, irfft, True, (-2, -1)),
}  # fmt: skip
REAL.update({getattr(np.fft, name): rule for name, rule in _ALL.items()})
FUNCTIONS.update({getattr(np.fft, name): rule for name, rule in _ALL.items()})
