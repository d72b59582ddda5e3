"""NumPy's functions that are linear in a complex array, applied to both parts; products, variances, conversions."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np

from burlab.graph.faults import unsupported
from burlab.graph.node import FUNCTIONS as REAL, METHODS as REAL_METHODS, Node
from burlab.graph.numpy_api.arguments import NOT_GIVEN, normal_axes, normal_axis, only_defaults, real
from burlab.graph.numpy_api.elementwise import sqrt, square
from burlab.graph.numpy_api.reduction import reduced, size_along
from burlab.graph.rules import Rule
from burlab.typing import ArrayLike, Axis, DTypeLike, ShapeLike, Tree

from .array import ACCUMULATIONS, FUNCTIONS, METHODS, REDUCTIONS, Complex
from .complex_arithmetic import add, multiply, subtract
from .parts import as_complex, imag_of, pair, parts, real_of

_LINEAR_KEYWORDS = (
    "initial",
    "prepend",
    "append",
    "constant_values",
    "to_begin",
    "to_end",
    "default",
    "a",
    "values",
    "x",
    "y",
)
"""Keyword arguments in which a function is linear."""


def by_parts(table: Mapping[Any, Rule], name: object, places: Sequence[int] | None = (0,)) -> Rule:
    """Return the rule that applies one of a table to real parts, then to imaginary ones. It refuses a dtype.

    places: of the positional arguments in which the function is linear; None for all.
    """

    def rule(*args: Any, **kwargs: Any) -> Any:
        if kwargs.get("dtype") is not None:
            only_defaults("a function of complex numbers", {"dtype": kwargs["dtype"]})
        halves: list[Any] = []
        for half in (real_of, imag_of):
            arguments = [half(x) if places is None or k in places else x for k, x in enumerate(args)]
            options = {
                key: half(value) if key in _LINEAR_KEYWORDS and _is_given(value) else value
                for key, value in kwargs.items()
            }
            halves.append(table[name](*arguments, **options))
        return _paired(*halves)

    return rule


def _is_given(value: object) -> bool:
    return value is not None and value is not NOT_GIVEN


def _paired(real: Tree, imag: Tree) -> Any:
    """Return the complex arrays whose parts are the results of a function."""
    if isinstance(real, (list, tuple)):
        pairs = [_paired(x, y) for x, y in zip(cast("list[Any]", real), imag, strict=True)]
        return pairs if isinstance(real, list) else tuple(pairs)
    return pair(real, imag)


def prod(a: ArrayLike, axis: Axis = None, dtype: None = None, out: None = None, keepdims: bool = False) -> Complex:
    """Return products along axes, by halving, as np.prod."""
    only_defaults("np.prod", {"dtype": dtype, "out": out})
    z = as_complex(a)
    axes = normal_axes(axis, z.ndim)
    others = [k for k in range(z.ndim) if k not in axes]
    y: Complex = METHODS["transpose"](z, (*axes, *others)).reshape(
        (size_along(z.real, axes), *(z.shape[k] for k in others))
    )
    while len(y) > 1:
        half = len(y) // 2
        products = multiply(y[:half], y[half : 2 * half])
        y = FUNCTIONS[np.concatenate]([products, y[2 * half :]]) if len(y) % 2 else products
    value = y[0] if len(y) else add(REAL[np.sum](y.real, axis=0), 1.0 + 0.0j)
    if keepdims is NOT_GIVEN or not keepdims:
        return value
    return METHODS["reshape"](value, tuple(1 if k in axes else d for k, d in enumerate(z.shape)))


def cumprod(a: ArrayLike, axis: int | None = None, dtype: None = None, out: None = None) -> Complex:
    """Return products of the first entries, as np.cumprod: each times the one 1 before it, then 2, 4, ... before it."""
    only_defaults("np.cumprod", {"dtype": dtype, "out": out})
    z = as_complex(a)
    z = METHODS["ravel"](z) if axis is None else z
    k = 0 if axis is None else normal_axis(axis, z.ndim)
    before, step = (slice(None),) * k, 1
    while step < z.shape[k]:
        products = multiply(z[(*before, slice(step, None))], z[(*before, slice(None, -step))])
        z = FUNCTIONS[np.concatenate]([z[(*before, slice(None, step))], products], k)
        step *= 2
    return z


def var(a: ArrayLike, axis: Axis = None, dtype: None = None, out: None = None, ddof: float = 0, keepdims: bool = False,
        **kwargs: Any) -> Node:  # fmt: skip
    """Return the mean square of the distance from the mean, as np.var."""
    ddof = real(kwargs.pop("correction", ddof), "ddof")
    only_defaults("np.var", {"dtype": dtype, "out": out, **kwargs})
    z = as_complex(a)
    centred = subtract(z, FUNCTIONS[np.mean](z, axis=axis, keepdims=True))
    total = REAL[np.sum](square(centred.real) + square(centred.imag), axis=axis, keepdims=keepdims)
    return total / float(size_along(z.real, normal_axes(axis, z.ndim)) - ddof)


def std(*args: Any, **kwargs: Any) -> Node:
    """Return the root of `var`, as np.std."""
    return sqrt(var(*args, **kwargs))


def astype(x: ArrayLike, dtype: DTypeLike, /, **kwargs: Any) -> Any:
    """Return an array, real or complex, in a complex dtype, as x.astype."""
    target = np.dtype(dtype)
    kwargs.pop("copy", None)
    only_defaults("astype", kwargs)
    if target.kind != "c":
        raise unsupported(f"astype({target}) of complex numbers", "use z.real, z.imag or np.abs(z)")
    part = np.dtype(np.float32 if target == np.complex64 else np.float64)
    real, imag = parts(x)
    real = REAL_METHODS["astype"](real, part)
    return pair(real, 0.0) if imag is None else Complex(real, REAL_METHODS["astype"](imag, part))


def full_like(a: ArrayLike, fill_value: ArrayLike, dtype: DTypeLike = None, *_layout: Any,
              shape: ShapeLike | None = None, **_options: Any) -> Any:  # fmt: skip
    """Return an array of one value, traced if the value is, as np.full_like."""
    z = as_complex(a)
    if isinstance(fill_value, (Node, Complex)):
        filled = as_complex(fill_value)
        return FUNCTIONS[np.broadcast_to](filled, z.shape if shape is None else shape)
    return np.full(z.shape if shape is None else shape, fill_value, z.dtype if dtype is None else dtype)


def _like(number: int) -> Rule:
    def rule(
        a: ArrayLike, dtype: DTypeLike = None, *_layout: Any, shape: ShapeLike | None = None, **_options: Any
    ) -> Any:
        return full_like(a, number, dtype, shape=shape)

    return rule


def where(condition: ArrayLike, x: ArrayLike | None = None, y: ArrayLike | None = None) -> Any:
    """Return x where a real condition holds, else y, as np.where."""
    return by_parts(REAL, np.where, (1, 2))(condition, x, y)


def _shape(a: ArrayLike) -> tuple[int, ...]:
    return as_complex(a).shape


def _ndim(a: ArrayLike) -> int:
    return as_complex(a).ndim


def _size(a: ArrayLike, axis: int | None = None) -> int:
    return REAL[np.size](as_complex(a).real, axis)


def _result_type(*values: Any) -> "np.dtype[Any]":
    return np.result_type(*(getattr(x, "dtype", x) for x in values))


def nan_to_num(x: ArrayLike, **options: Any) -> Complex:
    """Apply np.nan_to_num to both parts."""
    z, _ = as_complex(x), options.pop("copy", None)
    return pair(*(REAL[np.nan_to_num](part, **options) for part in (z.real, z.imag)))


def _of_mask(name: str) -> Rule:
    """Return the rule that applies a function to the mask of the entries that are not 0."""

    def rule(a: ArrayLike, *args: Any, **kwargs: Any) -> Any:
        z = as_complex(a)
        mask = (z.real != 0.0) | (z.imag != 0.0)
        return REAL[getattr(np, name)](mask, *args, **kwargs)

    return rule


_FIRST = (
    "reshape ravel transpose swapaxes moveaxis rollaxis expand_dims squeeze broadcast_to matrix_transpose flip fliplr "
    "flipud rot90 roll repeat tile resize take take_along_axis delete split array_split hsplit vsplit dsplit unstack "
    "diag diagonal diagflat trace tril triu sum mean cumsum cumulative_sum diff ediff1d gradient trapezoid pad "
    "stack concatenate vstack hstack dstack column_stack block copy"
).split()
"""Functions that are linear in their first argument, an array or a list of them."""
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


def copied(z: Complex, *layout: str, **options: str) -> Any:
    """Return z.copy(), which can be assigned to while a function is traced."""
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
