"""Checks of the arguments and axes that a transform is given: `argnums`, `in_axes`, `out_axes`."""

import operator
from typing import Any, SupportsIndex, TypeGuard, cast

import numpy as np

from burlab.errors import ArgumentError
from burlab.runtime.checks.numbers import shown

Argnums = int | tuple[int, ...]
Axes = int | None | tuple[int | None, ...]


def known_argnums(argnums: object) -> Argnums:
    """The number of an argument, or a tuple of some (a list of them counts as one). Raises ArgumentError."""
    if isinstance(argnums, (tuple, list)) and argnums:
        return tuple(known_argnum(k) for k in cast("tuple[Any, ...]", argnums))
    return known_argnum(argnums)


def known_argnum(argnum: Any) -> int:
    """The number of one argument. Raises ArgumentError."""
    if not _is_whole(argnum):
        raise ArgumentError(
            f"argnums must be positions, got {shown(argnum)}. Pass the position of one, such as 0, or a tuple "
            f"of some: (0, 1)."
        )
    return operator.index(argnum)


def one_argnum(argnums: object, what: str) -> int:
    """The number of the one argument that a transform is about. what: the transform. Raises ArgumentError."""
    if isinstance(argnums, (tuple, list)):
        raise ArgumentError(
            f"{what} is about one argument, got argnums={shown(argnums)}. Several are one as a tuple: "
            f"bl.{what}(lambda p: f(*p))((x, y), (v, w))."
        )
    return known_argnum(argnums)


def known_axes(in_axes: object) -> Axes:
    """An axis for all arguments, or a tuple with one for each (a list counts as one). Raises ArgumentError."""
    if isinstance(in_axes, (tuple, list)):
        return tuple(_axis_or_none(axis) for axis in cast("tuple[Any, ...]", in_axes))
    return _axis_or_none(in_axes)


def known_axis(axis: object, name: str) -> int:
    """An axis. Raises ArgumentError."""
    if not _is_whole(axis):
        raise ArgumentError(f"{name} must be an axis, got {shown(axis)}. Pass an int, such as 0 or -1.")
    return operator.index(axis)


def _axis_or_none(axis: object) -> int | None:
    if axis is not None and not _is_whole(axis):
        raise ArgumentError(
            f"in_axes must be axes, got {shown(axis)}. Pass an int, None for what all samples share, or a tuple "
            "with one of these for each argument; all leaves of a dict or another tree have the axis of their argument."
        )
    return None if axis is None else operator.index(axis)


def _is_whole(value: object) -> TypeGuard[SupportsIndex]:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)
