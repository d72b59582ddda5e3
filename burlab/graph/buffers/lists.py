"""NumPy's functions of lists that contain traced numbers: NumPy searches its arguments, but not inside lists.

While a function is traced, a list or a tuple that holds traced values becomes an array before NumPy sees it. So does a
known array beside which a traced value stands where NumPy does not look: `np.take(table, i)`.
"""

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from burlab.graph.faults import fault
from burlab.graph.handles import present
from burlab.graph.node import FUNCTIONS, Node, as_node
from burlab.graph.numpy_api.promotion import promote
from burlab.runtime.checks.numbers import shown
from burlab.runtime.plain import is_complex
from burlab.typing import ArrayLike, Index

_JOINING = frozenset("concatenate concat stack hstack vstack dstack column_stack".split())
_OF_MANY = _JOINING | frozenset("lexsort select choose multi_dot".split())
"""Functions of lists of arrays."""
_AS_THEY_ARE = frozenset(("block", "einsum_path"))
_HIDDEN = frozenset("take select pad nan_to_num sum prod max min amax amin choose repeat".split())
"""Functions with arguments at which NumPy does not look for arrays of other kinds."""


def listed(original: Callable[..., Any]) -> Callable[..., Any]:
    """A function of NumPy's that takes lists of traced values too."""
    name = original.__name__
    if name in _AS_THEY_ARE:
        return original

    def call(*args: Any, **kwargs: Any) -> Any:
        inner = name in _OF_MANY
        given = [_within(a) if inner else _as_array(a) for a in args]
        named = {key: _within(v) if inner else _as_array(v) for key, v in kwargs.items()}
        if name in _HIDDEN and "out" not in named:
            given, named = [present(a) for a in given], {key: present(v) for key, v in named.items()}
            found = next((v for v in (*given, *named.values()) if type(v) is Node), None)
            if found is not None:
                return found.__array_function__(original, (Node,), tuple(given), named)
        return original(*given, **named)

    return call


def _within(value: object) -> Any:
    """A list of arrays, each of which may be a list."""
    if not isinstance(value, (list, tuple)):
        return value
    items = map(_as_array, cast("list[Any]", value))
    return tuple(items) if isinstance(value, tuple) else list(items)


def _as_array(value: object) -> Any:
    """A list, or an array of objects, as an array if it contains a traced value; all else unchanged."""
    if isinstance(value, np.ndarray) and cast("Any", value).dtype == object:
        value = cast("Any", value).tolist()
    if not isinstance(value, (list, tuple)):
        return cast("Any", value)
    kinds = set(_kinds(cast("list[Any]", value)))
    if complex in kinds:
        return cast("Any", np.stack([_as_array(item) for item in cast("list[Any]", value)]))
    return as_node(cast("Any", value)) if Node in kinds else cast("Any", value)


def _kinds(items: Sequence[Any]) -> Any:
    """Return for each traced value of a nested list whether it is real or complex."""
    for item in items:
        if isinstance(item, (list, tuple)):
            yield from _kinds(cast("list[Any]", item))
        elif type(present(item)) is Node:
            yield Node
        elif is_complex(item) and not isinstance(item, (complex, np.ndarray, np.generic)):
            yield complex


def joined(original: Any, key: Index) -> Any:
    """np.r_[key] or np.c_[key]: the items in the brackets, joined along an axis."""
    parts: list[Any] = [*cast("tuple[Any, ...]", key)] if isinstance(key, tuple) else [key]
    if not any(_kinds(parts)):
        return original[key]
    axis, least, place = original.axis, original.ndmin, original.trans1d
    if isinstance(parts[0], str):
        axis, least, place = _directive(parts.pop(0), least, place)
    arrays = [original[part].reshape(-1) if isinstance(part, slice) else _as_array(part) for part in parts]
    if any(map(is_complex, arrays)):
        return np.concatenate([_padded(a, least, place) for a in arrays], axis)
    nodes = promote([as_node(a) for a in arrays])
    return FUNCTIONS[np.concatenate]([_padded(n, least, place) for n in nodes], axis)


def _directive(text: str, least: int, place: int) -> tuple[int, int, int]:
    """The axis, the least number of axes and where those of an array begin, from "axis,least,place"."""
    try:
        numbers = [int(part) for part in text.split(",")]
    except ValueError:
        raise fault(
            f"np.r_[{shown(text)}, ...] of a traced array", "numbers as 'axis,axes,place', or np.concatenate"
        ) from None
    axis, least, place = (*numbers, *(0, least, place)[len(numbers) :])
    return axis, least, place


def _padded(x: ArrayLike, least: int, place: int) -> Any:
    """An array with at least so many axes, its own at a place among them."""
    more = max(least - np.ndim(x), 0)
    before = place if place >= 0 else place + more + 1
    return np.reshape(x, (*(1,) * before, *np.shape(x), *(1,) * (more - before))) if more else x
