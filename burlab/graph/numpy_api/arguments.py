"""Arguments as NumPy's functions take them: axes, defaults, one thing or several."""

import operator
from itertools import zip_longest
from typing import Any, cast

import numpy as np

from burlab.errors import BurlabError, DTypeError, ShapeError
from burlab.graph.faults import fault
from burlab.graph.origin import location
from burlab.runtime.checks.numbers import shown
from burlab.typing import Axis, DTypeLike

NOT_GIVEN: Any = vars(np)["_NoValue"]  # what NumPy's functions pass on for "not given"


def only_defaults(name: str, kwargs: dict[str, Any]) -> None:
    """Refuse keyword arguments of NumPy's that have no meaning here."""
    for key, value in kwargs.items():
        if value is not None and value is not NOT_GIVEN:
            raise fault(f"{name}({key}=...) of a traced array", "the function without it")


class AxisError(ShapeError, np.exceptions.AxisError):
    """An axis that an array does not have: our error, and a subclass of NumPy's for callers that catch that."""


class LinAlgError(ShapeError, np.linalg.LinAlgError):
    """Matrices have shapes for which a function is not defined. It is NumPy's LinAlgError, too."""


def normal_axis(axis: object, ndim: int, name: str = "axis") -> int:
    """An axis between 0 and ndim. Raises AxisError, and DTypeError, a TypeError as NumPy's, for what is no integer."""
    k = whole(axis, name)
    if not -ndim <= k < ndim:
        few = f"{ndim} axes" if ndim > 1 else "1 axis" if ndim else "no axis"
        raise AxisError(f"{location()}{name} {shown(k)} is out of bounds: the array has {few}. Pass one of them.")
    return k % ndim


def whole(value: Any, name: str) -> int:
    """An integer. Raises DTypeError, a TypeError as NumPy's, if it is none."""
    try:
        return operator.index(value)
    except BurlabError:  # of a traced one
        raise
    except TypeError:
        raise DTypeError(f"{location()}{name} is {shown(value)}, expected integers.") from None


def real(value: Any, name: str) -> float:
    """A Python number. Raises DTypeError if it is none."""
    try:
        return float(value)
    except BurlabError:  # of a traced one
        raise
    except (TypeError, ValueError, OverflowError):
        raise DTypeError(f"{location()}{name} is {shown(value)}, expected a number.") from None


def known_dtype(dtype: DTypeLike) -> "np.dtype[Any]":
    """Return the dtype of NumPy's `dtype` argument. Raises DTypeError, a TypeError as NumPy's, for anything else."""
    try:
        return np.dtype(dtype)
    except (TypeError, ValueError):
        known = "float32, float64, int64, bool or another"
        raise DTypeError(f"{location()}dtype is {shown(dtype)}, expected one of NumPy's. Pass {known}.") from None


def normal_axes(axis: Axis, ndim: int) -> tuple[int, ...]:
    """Sorted axes from NumPy's `axis` argument: None for all, an int, or a tuple of distinct ints."""
    if axis is None:
        return tuple(range(ndim))
    axes = [normal_axis(a, ndim) for a in several(axis)]
    if len(set(axes)) != len(axes):
        raise ShapeError(f"{location()}axis {shown(axis)} names an axis twice.")
    return tuple(sorted(axes))


def broadcast_shape(*shapes: tuple[int, ...]) -> tuple[int, ...] | None:
    """The shape that all of these broadcast to, however large, or None.

    >>> broadcast_shape((2, 1), (3,)), broadcast_shape((2,), (3,))
    ((2, 3), None)
    """
    result: list[int] = []
    for sizes in zip_longest(*(shape[::-1] for shape in shapes), fillvalue=1):
        known = {size for size in sizes if size != 1}
        if len(known) > 1:
            return None
        result.append(known.pop() if known else 1)
    return tuple(result[::-1])


def several(value: object) -> tuple[Any, ...]:
    """The entries of a tuple or list, or the only one: how NumPy reads an axis, a shape or a count."""
    return tuple(cast("Any", value)) if isinstance(value, (tuple, list)) else (value,)
