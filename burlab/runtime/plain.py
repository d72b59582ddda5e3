"""Conversion to arrays; values whose meaning NumPy would change silently are refused.

A subclass of ndarray changes what its numbers mean (a mask, a unit, `*` as a matrix product), and NumPy's own way to
its numbers forgets that. So an array is an ndarray, or one of the few kinds that only lie elsewhere in memory.
"""

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar, cast

import numpy as np

from burlab.errors import DTypeError, ShapeError
from burlab.typing import Operand

_PLAIN: set[type] = {np.ndarray, np.memmap}
_Class = TypeVar("_Class", bound=type)


def as_plain(kind: _Class) -> _Class:
    """Declare a subclass of ndarray whose numbers mean what those of an ndarray mean."""
    _PLAIN.add(kind)
    return kind


def check_plain(value: Operand, name: str) -> None:
    """Raise DTypeError where a value is an array of a kind whose meaning plain numbers do not carry."""
    if isinstance(value, np.ndarray) and type(cast("Any", value)) not in _PLAIN:
        raise _refused(value, name)


def as_array(value: Operand, name: str) -> "np.ndarray[Any, Any]":
    """A number, an array, or a list of them as an array, called `name` in errors.

    Raises DTypeError where it is none, and ShapeError for a list whose parts have different shapes. Arrays of other
    libraries are taken by their `__array__`, or by DLPack where they have none. A string, a range or a memory of
    bytes is no array: whose numbers are meant must be said.

    >>> as_array(range(3), "x")
    Traceback (most recent call last):
        ...
    burlab.errors.DTypeError: x is a range, expected numbers or an array of them. Pass np.asarray(x).
    """
    if type(value) is np.ndarray:
        return value
    check_plain(value, name)
    is_list = isinstance(value, (list, tuple))
    if not is_list and not is_numeric(value):
        raise _no_array(value, name)
    try:
        if is_list:
            check_items(value, name)
        given = cast("Any", value)
        by_dlpack = not hasattr(given, "__array__") and hasattr(given, "__dlpack__")
        return np.from_dlpack(given) if by_dlpack else np.asarray(given)
    except DTypeError:
        raise
    except (TypeError, ValueError, RuntimeError, BufferError) as error:
        if is_list and isinstance(error, ValueError):
            raise ShapeError(
                f"{name} is a list whose parts have different shapes: no array. Pad or split it."
            ) from None
        raise _unread(value, name, error) from None


def as_floats(value: Operand, name: str) -> "np.ndarray[Any, np.dtype[np.float64]]":
    """`as_array` as float64. Raises DTypeError also where its entries are no real numbers.

    >>> as_floats([1, 10**400], "x")
    Traceback (most recent call last):
        ...
    burlab.errors.DTypeError: x holds a number beyond 1.8e308, the largest float64. Pass smaller ones, or inf.
    """
    array = as_array(value, name)
    if array.dtype.kind in "fiub":
        return array.astype(np.float64, copy=False)
    try:
        if array.dtype.kind == "O" and all(isinstance(x, (int, float)) for x in array.ravel().tolist()):
            return array.astype(np.float64)
    except OverflowError:
        raise DTypeError(
            f"{name} holds a number beyond 1.8e308, the largest float64. Pass smaller ones, or inf."
        ) from None
    raise DTypeError(
        f"{name} has dtype {array.dtype}, expected real numbers. Pass an array such as np.array([1.0, 2.0])."
    )


def check_numbers(value: Operand, name: str) -> None:
    """Raise DTypeError or ShapeError for what is no number, no array of numbers and no list of such."""
    array = as_array(value, name)
    if array.dtype.kind not in "fiubc":
        raise DTypeError(f"{name} has dtype {array.dtype}, expected numbers. Pass an array such as np.ones(2).")


def check_items(value: Operand, name: str) -> None:
    """`check_plain` of an item of a list, and of the items of that: an array is made of them all."""
    if isinstance(value, (list, tuple)):
        try:
            for item in cast("list[Any]", value):
                check_items(item, name)
        except RecursionError:
            raise endless(name) from None
    else:
        check_plain(value, f"an item of {name}")


def endless(name: str) -> DTypeError:
    """The error for a list that holds itself."""
    return DTypeError(f"{name} is nested too deep for an array, or holds itself. Pass an array, or a list of numbers.")


def is_numeric(value: Operand) -> bool:
    """Return True if a value is a number or an array of another library."""
    return isinstance(value, (int, float, complex, np.generic)) or lends_array(value)


def lends_array(value: object) -> bool:
    """Return True if a value, or a class, has NumPy's `__array__`, or `__dlpack__` of the array API standard."""
    return hasattr(value, "__array__") or hasattr(value, "__dlpack__")


def is_sparse(value: object) -> bool:
    """Return True for one of SciPy's sparse arrays or matrices."""
    kind = type(value)
    return kind.__module__.startswith("scipy.sparse") and hasattr(value, "tocsr")


def is_complex(value: Operand) -> bool:
    """Return True if a value is a complex number, an array of such, or a list with one in it."""
    kind = cast("type[Any]", type(value))
    if kind is float or kind is int:
        return False
    if kind is list or kind is tuple:
        try:
            return any(map(is_complex, cast("list[Any]", value)))
        except RecursionError:
            raise endless("a list") from None
    return kind is complex or getattr(getattr(value, "dtype", None), "kind", None) == "c"


def _refused(value: Operand, name: str) -> DTypeError:
    if isinstance(value, np.ma.MaskedArray):
        what, advice = "a masked array, whose mask would be lost", "x.filled(0.0), x.compressed() or np.asarray(x)"
    elif isinstance(value, np.matrix):
        what, advice = "a np.matrix, whose * is a matrix product here but not there", "np.asarray(x), and write @"
    else:
        kind = cast("type[Any]", type(value))
        what = f"a {kind.__module__.partition('.')[0]}.{kind.__qualname__}, of which only the numbers would be left"
        advice = "np.asarray(x) if these are all that counts"
    return DTypeError(f"{name} is {what}. Pass a plain array: {advice}.")


def _no_array(value: Operand, name: str) -> DTypeError:
    kind = type(value).__name__
    return DTypeError(f"{name} is a {kind}, expected numbers or an array of them. Pass {as_array_advice(value)}.")


def as_array_advice(value: Operand) -> str:
    """Return advice on how to convert x, which is not an array, to numbers."""
    if hasattr(value, "toarray"):
        return "x.toarray()"  # of scipy.sparse
    if isinstance(value, (range, memoryview)):
        return "np.asarray(x)"
    if isinstance(value, (bytes, bytearray)):
        return "np.frombuffer(x, np.uint8)"
    if isinstance(value, Mapping):
        return "np.array([*x.values()], float)"
    if isinstance(value, Iterable) and not isinstance(value, str):
        return "np.array([*x], float)"
    return "np.asarray(..., float) of its numbers"


def _unread(value: Operand, name: str, error: Exception) -> DTypeError:
    kind = cast("type[Any]", type(value))
    return DTypeError(
        f"{name} is a {kind.__module__.partition('.')[0]}.{kind.__qualname__} that NumPy cannot read ({error}). "
        "Pass a NumPy array; of a tensor x.detach().cpu().to_dense().float().numpy()."
    )
