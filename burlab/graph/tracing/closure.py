"""What a function reads from around itself: globals, closure cells, attributes, and what the functions it calls read.

A trace freezes these values into its graph, so a changed one needs another trace. In a notebook that is every day: a
constant is changed in one cell, a helper function is defined again in another, an array is filled anew, a layer's scale
is set.
"""

import ctypes
import math
from array import array as packed
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from types import ModuleType
from typing import Any, cast

import numpy as np

from burlab.runtime.exports import exports
from burlab.runtime.gate import Guard, Where

from .reach import ITEMS, Reading, is_called, is_object, readings

_NUMBERS = (int, float, bool, str, bytes, complex, type(None))
_MEMORIES = (bytearray, memoryview, packed)
_SMALL = 1024  # elements: of smaller arrays all bytes are kept, of larger ones a fingerprint
_MOST = 1000  # guards: with more, the gate does not answer alone


class Same:
    """An object compared by identity, and kept alive so that no other can take its address."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)


def surroundings(functions: Iterable[Callable[..., Any]]) -> tuple[Any, ...]:
    """The values that functions read from around themselves now: hashable, empty where they read libraries only.

    Numbers, strings, arrays of any size, the items of tuples, lists, dicts and sets, the attributes of objects, classes
    and modules of the user's count by content. Arrays that nobody can write to, and what burlab cannot look into, count
    by identity.

    >>> scale = 2.0
    >>> surroundings([lambda x: scale * x])
    ((<class 'float'>, 2.0, 1.0),)
    """
    return content_of(readings(functions))


def content_of(found: Sequence[Reading]) -> tuple[Any, ...]:
    """The content of what was read, hashable."""
    return tuple(content for reading in found if (content := _content(reading)) is not None)


def changed(before: Sequence[Reading], after: Sequence[Reading]) -> set[tuple[int, Any]]:
    """Where the content differs: the identity of the container, and the place in it."""
    now = {(id(r.container), r.key): _content(r) for r in after}
    was = {(id(r.container), r.key): _content(r) for r in before}
    return {place for place, content in was.items() if place[1] is not None and now.get(place, content) != content}


def guards(found: Sequence[Reading]) -> list[Guard] | None:
    """What must be unchanged for the content to be equal, as the gate can check it; None where it cannot.

    It asks for the same objects where `content_of` asks for equal ones.
    """
    result = [_guard(r) for r in found if isinstance(r.value, ITEMS) or _content(r) is not None]
    return None if None in result or len(result) > _MOST else cast("list[Guard]", result)


def _content(reading: Reading) -> Any:
    """What of a reading counts; None for what belongs to a library, and for what is looked into item by item."""
    value = reading.value
    kind = cast("type[Any]", type(value))
    if reading.size >= 0:
        return _extent(reading.container)
    if is_called(value):
        return Same(value)
    if kind is float:
        return kind, value, math.copysign(1.0, value)  # -0.0 == 0.0
    if kind in _NUMBERS:
        return kind, value
    if isinstance(value, np.generic):
        return kind, value.tobytes()
    array = _as_array(value)
    if array is not None:
        return _array(array)
    if isinstance(value, (type, ModuleType)):
        return Same(value)
    return Same(value) if kind not in ITEMS and is_object(value) else None


def _extent(container: Any) -> Any:
    """A container but for its items: of a dictionary the keys; a set whole, for its items have no place."""
    if isinstance(container, dict):
        return dict, tuple(cast("dict[Any, Any]", container))
    if isinstance(container, (set, frozenset)):
        return type(cast("Any", container)), frozenset(cast("set[Any]", container))
    if isinstance(container, np.ndarray):  # of objects
        return type(cast("Any", container)), cast("Any", container).shape
    return type(container), len(container)


def _as_array(value: Any) -> "np.ndarray[Any, Any] | None":
    """The numbers of an array, of another library's too, where it lends them without a copy."""
    if not isinstance(value, np.ndarray):
        try:
            lends = isinstance(value, _MEMORIES) or (hasattr(value, "__array__") and not isinstance(value, type))
            value = np.asarray(value) if lends else None
        except Exception:
            return None
    if value is None or cast("Any", value).dtype.hasobject:
        return None
    return cast("np.ndarray[Any, Any]", value)


def _array(array: "np.ndarray[Any, Any]") -> Any:
    if array.size <= _SMALL:
        return array.shape, array.dtype, _bytes(array)
    return array.shape, array.dtype, Same(array) if _is_constant(array) else fingerprint(array)


def _bytes(array: "np.ndarray[Any, Any]") -> bytes:
    """The numbers of an array, as ndarray has them: a subclass may say otherwise, or refuse."""
    return np.ndarray.tobytes(array)


def _is_constant(array: "np.ndarray[Any, Any]") -> bool:
    """Whether no array can write into this memory."""
    base: Any = array
    while isinstance(base, np.ndarray):
        if cast("np.ndarray[Any, Any]", base).flags.writeable:
            return False
        base = cast("Any", base).base
    return base is None or isinstance(base, bytes)


def fingerprint(array: "np.ndarray[Any, Any]") -> int:
    """64 bits of the numbers in an array, which change with them."""
    whole = np.ascontiguousarray(array)
    return int(_fingerprint()(whole.ctypes.data, whole.nbytes))


@cache
def _fingerprint() -> Callable[[int, int], int]:
    signature = ctypes.c_uint64, ctypes.c_void_p, ctypes.c_int64
    return exports("burlab/numbers/fingerprint.hpp", "burlab", {"fingerprint": signature})["fingerprint"]


def _guard(reading: Reading) -> Guard | None:
    container, key, value, size = reading
    if size >= 0:
        looked_up = isinstance(container, (dict, list, tuple))
        return Guard(Where.LENGTH, container, None, None, size=size) if looked_up else None
    where = _where(reading)
    if not isinstance(value, np.ndarray):
        foreign = _as_array(value) is not None and not isinstance(value, np.generic)
        return None if where is None or foreign else Guard(where, container, key, value)
    array = cast("np.ndarray[Any, Any]", value)
    if where is None or not array.flags.c_contiguous:
        return None
    if array.dtype.hasobject or (array.size > _SMALL and _is_constant(array)):
        return Guard(where, container, key, array)
    if array.size <= _SMALL:
        return Guard(where, container, key, array, content=_bytes(array), size=array.nbytes)
    return Guard(where, container, key, array, digest=fingerprint(array), size=array.nbytes)


def _where(reading: Reading) -> Where | None:
    """How the gate looks the value up again, if it can."""
    container, key, value = reading[:3]
    if container is None:
        return Where.FIXED
    if isinstance(container, dict):
        return Where.ENTRY
    if isinstance(container, (list, tuple)) and isinstance(key, int):
        return Where.ITEM
    if key is None:
        return Where.CELL
    if not isinstance(key, str):
        return None
    return Where.ATTRIBUTE if getattr(cast("Any", container), key, None) is value else None
