"""NumPy's functions that are linear in a complex array, done with each of its parts; sums, means, powers of sums."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import numpy as np

from burlab.graph.faults import unsupported
from burlab.graph.node import FUNCTIONS as REAL, METHODS as REAL_METHODS, Node
from burlab.graph.numpy_api.arguments import NOT_GIVEN, normal_axes, normal_axis, only_defaults, real
from burlab.graph.numpy_api.promotion import apply
from burlab.graph.numpy_api.reduction import reduced, size_along
from burlab.graph.rules import Rule

from .arithmetic import add, multiply, subtract
from .array import ACCUMULATIONS, FUNCTIONS, METHODS, REDUCTIONS, Complex
from .parts import as_complex, imag_of, pair, parts, real_of

_VALUES = ("initial", "prepend", "append", "constant_values", "to_begin", "to_end", "default", "a", "values", "x", "y")
"""Keywords that name numbers in which a function is linear."""


def by_parts(table: Mapping[Any, Rule], name: Any, places: Sequence[int] | None = (0,)) -> Rule:
    """The rule of a table applied to real parts, then to imaginary ones. Raises where a dtype is asked for.

    places: of the arguments in which it is linear; None for all.
    """

    def rule(*args: Any, **kwargs: Any) -> Any:
        if kwargs.get("dtype") is not None:
            only_defaults("a function of complex numbers", {"dtype": kwargs["dtype"]})
        halves: list[Any] = []
        for half in (real_of, imag_of):
            taken = [half(x) if places is None or k in places else x for k, x in enumerate(args)]
            options = {
                key: half(value) if key in _VALUES and _is_given(value) else value for key, value in kwargs.items()
            }
            halves.append(table[name](*taken, **options))
        return _paired(*halves)

    return rule


def _is_given(value: Any) -> bool:
    return value is not None and value is not NOT_GIVEN


def _paired(real: Any, imag: Any) -> Any:
    """Complex arrays of the results for both parts."""
    if isinstance(real, (list, tuple)):
        found = [_paired(x, y) for x, y in zip(cast("list[Any]", real), imag, strict=True)]
        return found if isinstance(real, list) else tuple(found)
    return pair(real, imag)


def prod(a: Any, axis: Any = None, dtype: None = None, out: None = None, keepdims: Any = False) -> Complex:
    """np.prod by halving."""
    only_defaults("np.prod", {"dtype": dtype, "out": out})
    z = as_complex(a)
    axes = normal_axes(axis, z.ndim)
    rest = [k for k in range(z.ndim) if k not in axes]
    y: Complex = METHODS["transpose"](z, (*axes, *rest)).reshape(
        (size_along(z.real, axes), *(z.shape[k] for k in rest))
    )
    while len(y) > 1:
        half = len(y) // 2
        more = multiply(y[:half], y[half : 2 * half])
        y = FUNCTIONS[np.concatenate]([more, y[2 * half :]]) if len(y) % 2 else more
    value = y[0] if len(y) else add(REAL[np.sum](y.real, axis=0), 1.0 + 0.0j)
    if keepdims is NOT_GIVEN or not keepdims:
        return value
    return METHODS["reshape"](value, tuple(1 if k in axes else d for k, d in enumerate(z.shape)))


def cumprod(a: Any, axis: Any = None, dtype: None = None, out: None = None) -> Complex:
    """np.cumprod: each entry times the one before it, then the one two before it, and so on by doubling."""
    only_defaults("np.cumprod", {"dtype": dtype, "out": out})
    z = as_complex(a)
    z = METHODS["ravel"](z) if axis is None else z
    k = 0 if axis is None else normal_axis(axis, z.ndim)
    before, step = (slice(None),) * k, 1
    while step < z.shape[k]:
        more = multiply(z[(*before, slice(step, None))], z[(*before, slice(None, -step))])
        z = FUNCTIONS[np.concatenate]([z[(*before, slice(None, step))], more], k)
        step *= 2
    return z


def var(a: Any, axis: Any = None, dtype: None = None, out: None = None, ddof: Any = 0, keepdims: Any = False,
        **kwargs: Any) -> Node:  # fmt: skip
    """np.var: the mean square of the distance from the mean."""
    ddof = real(kwargs.pop("correction", ddof), "ddof")
    only_defaults("np.var", {"dtype": dtype, "out": out, **kwargs})
    z = as_complex(a)
    centred = subtract(z, FUNCTIONS[np.mean](z, axis=axis, keepdims=True))
    squares = apply("add", *(apply("square", part) for part in parts(centred)))
    total = REAL[np.sum](squares, axis=axis, keepdims=keepdims)
    return apply("div", total, float(size_along(z.real, normal_axes(axis, z.ndim)) - ddof))


def std(*args: Any, **kwargs: Any) -> Node:
    """np.std."""
    return apply("sqrt", var(*args, **kwargs))


def astype(x: Any, dtype: Any, /, **kwargs: Any) -> Any:
    """x.astype(complex) of anything, or of complex numbers to another complex dtype."""
    target = np.dtype(dtype)
    kwargs.pop("copy", None)
    only_defaults("astype", kwargs)
    if target.kind != "c":
        raise unsupported(f"astype({target}) of complex numbers", "use z.real, z.imag or np.abs(z)")
    part = np.dtype(np.float32 if target == np.complex64 else np.float64)
    real, imag = parts(x)
    real = REAL_METHODS["astype"](real, part)
    return pair(real, 0.0) if imag is None else Complex(real, REAL_METHODS["astype"](imag, part))


def full_like(a: Any, fill_value: Any, dtype: Any = None, *_layout: Any, shape: Any = None, **_options: Any) -> Any:
    """np.full_like: an array, or a complex one where the fill is traced."""
    z = as_complex(a)
    if isinstance(fill_value, (Node, Complex)):
        filled = as_complex(fill_value)
        return FUNCTIONS[np.broadcast_to](filled, z.shape if shape is None else shape)
    return np.full(z.shape if shape is None else shape, fill_value, z.dtype if dtype is None else dtype)


def _like(number: int) -> Callable[..., Any]:
    def rule(a: Any, dtype: Any = None, *_layout: Any, shape: Any = None, **_options: Any) -> Any:
        return full_like(a, number, dtype, shape=shape)

    return rule


def where(condition: Any, x: Any = None, y: Any = None) -> Any:
    """np.where; the condition is real."""
    return by_parts(REAL, np.where, (1, 2))(condition, x, y)


def _shape(a: Any) -> tuple[int, ...]:
    return as_complex(a).shape


def _ndim(a: Any) -> int:
    return as_complex(a).ndim


def _size(a: Any, axis: int | None = None) -> int:
    return REAL[np.size](as_complex(a).real, axis)


def _result_type(*values: Any) -> "np.dtype[Any]":
    return np.result_type(*(getattr(x, "dtype", x) for x in values))


def nan_to_num(x: Any, **options: Any) -> Complex:
    """np.nan_to_num of both parts."""
    z, _ = as_complex(x), options.pop("copy", None)
    return pair(*(REAL[np.nan_to_num](part, **options) for part in (z.real, z.imag)))


def _of_mask(name: str) -> Callable[..., Any]:
    """The function of what is not 0."""

    def rule(a: Any, *args: Any, **kwargs: Any) -> Any:
        z = as_complex(a)
        mask = apply("logical_or", *(apply("not_equal", part, 0.0) for part in parts(z)))
        return REAL[getattr(np, name)](mask, *args, **kwargs)

    return rule


_FIRST = (
    "reshape ravel transpose swapaxes moveaxis rollaxis expand_dims squeeze broadcast_to matrix_transpose flip fliplr "
    "flipud rot90 roll repeat tile resize take take_along_axis delete split array_split hsplit vsplit dsplit unstack "
    "diag diagonal diagflat trace tril triu sum mean cumsum cumulative_sum diff ediff1d gradient trapezoid pad "
    "stack concatenate vstack hstack dstack column_stack block copy"
).split()
"""Functions that are linear in their first argument, which may be a list."""
_PLACES: dict[Any, Sequence[int] | None] = {
    np.append: (0, 1), np.insert: (0, 2), np.compress: (1,), np.select: (1, 2), np.choose: (1,),
    np.broadcast_arrays: None, np.atleast_1d: None, np.atleast_2d: None, np.atleast_3d: None, np.meshgrid: None,
    np.fft.fftshift: (0,), np.fft.ifftshift: (0,), np.linalg.trace: (0,), np.linalg.diagonal: (0,),
    np.linalg.matrix_transpose: (0,), np.extract: (1,),
}  # fmt: skip
FUNCTIONS.update({f: by_parts(REAL, f) for f in (getattr(np, name) for name in _FIRST if hasattr(np, name))})
FUNCTIONS.update({f: by_parts(REAL, f, places) for f, places in _PLACES.items()})
FUNCTIONS.update({
    np.prod: prod, np.cumprod: cumprod, np.var: var, np.std: std, np.where: where, np.full_like: full_like,
    np.zeros_like: _like(0), np.empty_like: _like(0), np.ones_like: _like(1), np.astype: astype,
    np.nan_to_num: nan_to_num, np.shape: _shape, np.ndim: _ndim, np.size: _size, np.result_type: _result_type,
    **{getattr(np, name): _of_mask(name) for name in ("count_nonzero", "all", "any")},
})  # fmt: skip


def copied(z: Complex, *layout: Any, **options: Any) -> Any:
    """z.copy(): an array that can be assigned to, while a function is traced."""
    return REAL_METHODS["copy"](z, *layout, **options)


METHODS.update({
    name: by_parts(REAL_METHODS, name)
    for name in (
        "reshape", "ravel", "flatten", "transpose", "swapaxes", "squeeze", "sum", "mean", "cumsum", "repeat", "take",
        "diagonal", "trace", "__getitem__",
    )
})  # fmt: skip
METHODS.update({
    "prod": prod, "cumprod": cumprod, "var": var, "std": std, "astype": astype, "copy": copied,
    "all": _of_mask("all"), "any": _of_mask("any"),
})  # fmt: skip
REDUCTIONS.update({"add": reduced(FUNCTIONS[np.sum]), "multiply": reduced(prod)})
ACCUMULATIONS["add"] = FUNCTIONS[np.cumsum]
