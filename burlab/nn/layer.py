"""Base class of layers: frozen trees of parameters, initialized from a key, whose errors name what does not fit."""

import dataclasses
from typing import Any, TypeVar, cast

import numpy as np

from burlab.errors import ArgumentError, DTypeError, ShapeError
from burlab.graph import tree
from burlab.runtime.checks.numbers import shown
from burlab.runtime.displayed import Pictured
from burlab.runtime.memory import ADDRESSABLE
from burlab.runtime.plain import as_array, as_floats, check_plain
from burlab.transforms import random
from burlab.typing import DTypeLike, Key, Operand

Array = Any  # a NumPy array, or a traced one
STATIC = {"static": True}  # metadata of a field that is no parameter but part of the program
_Self = TypeVar("_Self", bound="Layer")


class Layer(Pictured):
    """A function of one sample with parameters: a frozen dataclass whose array fields are the leaves of a tree.

    So a layer is an argument like any other: `bl.grad(loss)(layer, x)` is a layer that holds gradients, `bl.minimize`
    takes one as x0. Fields marked as static belong to the structure. Two layers are equal only if they are the same.
    """

    def replace(self: _Self, **fields: Any) -> _Self:
        """The same layer with other fields.

        Args:
            fields: New values by the name of the field.

        Returns:
            The new layer; this one does not change.

        >>> import numpy as np, burlab as bl
        >>> layer = bl.nn.Linear(2, 3, key=bl.random.key(0))
        >>> layer.replace(weight=np.ones((2, 3)), bias=None)(np.array([1.0, 2.0]))
        array([3., 3., 3.])
        """
        names = [f.name for f in dataclasses.fields(cast("Any", self))]
        unknown = [name for name in fields if name not in names]
        if unknown:
            raise ArgumentError(
                f"{type(self).__name__} has no field {', '.join(unknown)}. Its fields are {', '.join(names)}."
            )
        new = object.__new__(type(self))
        new._fill(**{name: getattr(self, name) for name in names} | fields)
        return new

    def _fill(self, **fields: Any) -> None:
        """Set the fields of a layer that is being made."""
        for name, value in fields.items():
            check_plain(value, f"{name} of {type(self).__name__}")
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        leaves = tree.flatten(self)[0]
        dtypes = sorted({str(leaf.dtype) for leaf in leaves if hasattr(leaf, "dtype")})
        return f"<{type(self).__name__}: {sum(np.size(leaf) for leaf in leaves):,} parameters, {' and '.join(dtypes)}>"


def keys(key: Key | None, count: int) -> list[Any]:
    """A key for each part of a layer."""
    if key is None:
        raise ArgumentError("a layer draws what it starts from, so it needs a key: key=bl.random.key(0).")
    return [random.fold_in(key, k) for k in range(count)]


def sizes(**named: Any) -> None:
    """Raise ArgumentError for a size that is no positive integer, or one that no memory holds."""
    for name, size in named.items():
        if isinstance(size, bool) or not isinstance(size, (int, np.integer)) or not 1 <= size <= ADDRESSABLE:
            raise ArgumentError(f"{name}={shown(size)} must be a positive integer, and a size that memory holds.")


def numbers(x: Operand, name: str) -> Any:
    """An array or a traced value as it is, a number or list as an array. Raises DTypeError and ShapeError."""
    if not hasattr(x, "__array_ufunc__"):
        array = as_array(x, name)
        x = as_floats(x, name) if array.dtype.kind == "O" else array
    kind = getattr(getattr(x, "dtype", None), "kind", "f")
    if kind not in "fiubcO" or (kind == "O" and not all(hasattr(item, "__truediv__") for item in x.ravel())):
        raise DTypeError(f"{name} has dtype {x.dtype}, expected numbers.")
    return x


def floating(dtype: DTypeLike) -> "np.dtype[Any]":
    """A dtype that parameters can have. Raises DTypeError for any other."""
    try:
        found = np.dtype(dtype)
    except (TypeError, ValueError):
        found = None
    if found is None or found not in (np.dtype(np.float32), np.dtype(np.float64)):
        got = shown(dtype) if found is None else str(found)
        raise DTypeError(f"parameters have dtype float32 or float64, got {got}. Pass dtype=np.float32.")
    return found


def check(layer: Layer, x: Operand, like: Array, *tail: int) -> None:
    """Raise ShapeError where the last axes of x are not `tail`, DTypeError where its dtype is not that of `like`."""
    name = type(layer).__name__
    check_plain(x, f"x of {name}")
    shape: tuple[int, ...] = np.shape(x)
    if shape[max(len(shape) - len(tail), 0) :] != tail:
        wanted = ", ".join(map(str, ("...", *tail)))
        raise ShapeError(
            f"{name} expects x of shape ({wanted}), got {shape}. A layer sees one sample; bl.vmap maps it over many."
        )
    check_dtype(layer, x, like)


def check_dtype(layer: Layer, x: Operand, like: Array) -> None:
    """Raise DTypeError where x is floating and its dtype is not that of `like`."""
    dtype = getattr(x, "dtype", None)
    if dtype is not None and dtype.kind == "f" and not getattr(x, "weak", False) and dtype != like.dtype:
        raise DTypeError(
            f"{type(layer).__name__} has parameters of {like.dtype}, got x of {dtype}. "
            f"Convert it with x.astype(np.{like.dtype}), or make the layer with dtype=np.{dtype}."
        )
