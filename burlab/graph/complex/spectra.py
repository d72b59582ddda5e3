"""np.fft: transforms along axes with NumPy's lengths and scales, by the three operations of `graph/fourier.py`."""

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from burlab.errors import ArgumentError, ShapeError
from burlab.graph import fourier
from burlab.graph.linear_nodes import concatenate, reshape
from burlab.graph.node import FUNCTIONS as REAL, Node, constant
from burlab.graph.numpy_api.arguments import normal_axis, only_defaults, several, whole
from burlab.graph.numpy_api.reduction import as_floats
from burlab.graph.origin import location
from burlab.runtime.checks.numbers import shown
from burlab.runtime.plain import is_complex
from burlab.typing import ArrayLike

from .array import FUNCTIONS, Complex
from .complex_arithmetic import conjugate, multiply
from .parts import as_complex, parts

Function = Callable[..., Any]
_Array = TypeVar("_Array", Node, Complex)
_SWAPPED = {None: "forward", "backward": "forward", "ortho": "ortho", "forward": "backward"}


def fft(a: ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None, out: None = None) -> Complex:
    """Return the discrete Fourier transform, as np.fft.fft. Real numbers take half of the work."""
    return _complex_transform("fft", a, n, axis, norm, out)


def ifft(a: ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None, out: None = None) -> Complex:
    """Return the inverse transform, as np.fft.ifft."""
    return _complex_transform("ifft", a, n, axis, norm, out)


def rfft(a: ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None, out: None = None) -> Complex:
    """Return the first half of the transform of real numbers, as np.fft.rfft."""
    only_defaults("np.fft.rfft", {"out": out})
    if is_complex(a):
        raise ArgumentError(f"{location()}np.fft.rfft takes real numbers, got complex ones. Use np.fft.fft or a.real.")
    x, k = _rows("rfft", as_floats(parts(a)[0]), n, axis)
    y = _unpacked(fourier.rfft(x))
    return _scaled(_moveaxis(y, -1, k), "rfft", x.shape[-1], norm)


def irfft(a: ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None, out: None = None) -> Node:
    """Return the n real numbers whose transform has a given first half, as np.fft.irfft."""
    only_defaults("np.fft.irfft", {"out": out})
    z = as_complex(a)
    k = normal_axis(axis, z.ndim)
    size = 2 * (z.shape[k] - 1) if n is None else _length("irfft", n)
    if size < 1:
        raise _bad_length("irfft", size)
    z, _ = _rows("irfft", z, size // 2 + 1, k)
    weights = constant(fourier.weights(size) * (size * _factor("irfft", size, norm)), z.real.dtype)
    y = fourier.irfft(_packed(multiply(z, weights)), size)
    return REAL[np.moveaxis](y, -1, k)


def hfft(a: ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None, out: None = None) -> Node:
    """Return the real transform of numbers with Hermitian symmetry, as np.fft.hfft."""
    return irfft(conjugate(a), n, axis, _SWAPPED[_checked(norm)], out)


def ihfft(a: ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None, out: None = None) -> Complex:
    """Return the inverse of `hfft`, as np.fft.ihfft."""
    return conjugate(rfft(a, n, axis, _SWAPPED[_checked(norm)], out))


def _complex_transform(name: str, a: ArrayLike, n: int | None, axis: int, norm: str | None, out: None) -> Complex:
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
    return _scaled(_moveaxis(y, -1, k), name, x.shape[-1], norm)


def _mirrored(z: Complex, n: int, inverse: bool) -> Complex:
    """Return all n numbers of the transform of real ones, given the first half."""
    second_half = slice((n - 1) // 2, 0, -1)
    real = REAL[np.concatenate]([z.real, z.real[..., second_half]], axis=-1)
    imag = REAL[np.concatenate]([z.imag, -z.imag[..., second_half]], axis=-1)
    return Complex(real, -imag if inverse else imag)


def _rows(name: str, x: _Array, n: int | None, axis: int) -> tuple[_Array, int]:
    """Return the array with an axis last, cut or padded with zeros to a length, and where the axis was."""
    if x.ndim == 0:
        raise ShapeError(f"{location()}np.fft.{name} needs an array of one axis or more, got a number.")
    k = normal_axis(axis, x.ndim)
    x = (FUNCTIONS if isinstance(x, Complex) else REAL)[np.moveaxis](x, k, -1)
    size = x.shape[-1]
    length = size if n is None else _length(name, n)
    if length < 1:
        raise _bad_length(name, length)
    if length < size:
        x = x[..., :length]
    elif length > size:
        widths = [(0, 0)] * (x.ndim - 1) + [(0, length - size)]
        x = (FUNCTIONS if isinstance(x, Complex) else REAL)[np.pad](x, widths)
    return x, k


def _length(name: str, n: int | None) -> int:
    length = whole(n, f"n of np.fft.{name}")
    if length < 1:
        raise _bad_length(name, length)
    return length


def _bad_length(name: str, length: int) -> ShapeError:
    return ShapeError(f"{location()}np.fft.{name} needs n >= 1, got an axis of {length} entries. Pass n.")


def _packed(z: Complex) -> Node:
    """Return real parts and imaginary parts along a new first axis."""
    return concatenate([reshape(part, (1, *z.shape)) for part in (z.real, z.imag)], 0)


def _unpacked(x: Node) -> Complex:
    return Complex(x[0], x[1])


def _moveaxis(z: Complex, source: int, destination: int) -> Complex:
    return FUNCTIONS[np.moveaxis](z, source, destination)


def _checked(norm: str | None) -> Any:
    if norm not in _SWAPPED:
        raise ArgumentError(
            f"{location()}norm of np.fft must be one of 'backward', 'ortho', 'forward'; got {shown(norm)}."
        )
    return norm


def _factor(name: str, n: int, norm: str | None) -> float:
    """Return the factor of a transform of length n."""
    if _checked(norm) == "ortho":
        return 1.0 / math.sqrt(n)
    return 1.0 / n if (norm == "forward") != name.startswith("i") else 1.0


def _scaled(z: Complex, name: str, n: int, norm: str | None) -> Complex:
    factor = _factor(name, n, norm)
    return z if factor == 1.0 else multiply(z, factor)


def _along_axes(
    name: str, one: Function, last: Function, inverse: bool, default: Sequence[int] | None = None
) -> Function:
    """Return the transform along several axes: `last` along the last of them, `one` along the others."""

    def rule(a: ArrayLike, s: Sequence[int] | None = None, axes: Sequence[int] | None = default,
             norm: str | None = None, out: None = None) -> Any:  # fmt: skip
        only_defaults(f"np.fft.{name}", {"out": out})
        ndim = np.ndim(a)
        places = range(ndim) if axes is None and s is None else range(-len(several(s)), 0) if axes is None else axes
        given = [normal_axis(k, ndim) for k in several(places if not isinstance(places, range) else tuple(places))]
        sizes = [None] * len(given) if s is None else [None if n == -1 else n for n in several(s)]
        if len(sizes) != len(given) or not given:
            what = f"np.fft.{name} needs one size for each axis, and one axis or more"
            raise ShapeError(f"{location()}{what}; got {len(sizes)} sizes for {len(given)} axes.")
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
