"""The surroundings that a function reads: globals, closure cells, attributes, and those of the functions it calls.

A trace freezes these values into its graph, so a changed one needs another trace. In a notebook that is every day: a
constant is changed in one cell, a helper function is defined again in another, an array is filled anew, a layer's scale
is set.
"""

import ctypes
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from types import CellType, CodeType, FunctionType, MappingProxyType, ModuleType
from typing import Any, cast

import numpy as np

from burlab.graph.handles import PRESENT
from burlab.graph.node import Node
from burlab.runtime.exports import exports
from burlab.runtime.gate import NOTHING, Guard, LookupKind
from burlab.runtime.plain import as_array, lends_array

from .insides import MEMORIES, Reading
from .left import LeftByTraces, Place, leave, left_by_traces, place_of
from .owners import is_own
from .reach import ABSENT, ITEMS, is_called, readings

_NUMBERS = (int, float, bool, str, bytes, complex, type(None))
_ALIASES = ("np", "bl")
_OF_FUNCTIONS = {
    "__code__": LookupKind.CODE,
    "__defaults__": LookupKind.DEFAULTS,
    "__kwdefaults__": LookupKind.KWDEFAULTS,
}
MAX_COPIED_ELEMENTS = 1024  # elements: of smaller arrays all bytes are kept, of larger ones a fingerprint
MAX_GUARDS = 1000  # guards: with more, the gate does not answer alone


class Same:
    """An object compared by identity, and kept alive so that no other can take its address."""

    __slots__ = ("value",)

    def __init__(self, value: object) -> None:
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

    >>> users = {"__name__": "my_model", "scale": 2.0}
    >>> surroundings([eval("lambda x: scale * x", users)])
    ((<class 'float'>, 2.0, 1.0),)
    """
    return content_of([reading for reading in readings(functions) if not isinstance(reading.value, CodeType)])


def content_of(found: Sequence[Reading], left: Mapping[Place, LeftByTraces] = MappingProxyType({})) -> tuple[Any, ...]:
    """The content of the captured values, hashable. left: values that the functions change while they are traced."""
    contents = ((reading, content) for reading in found if (content := _content(reading)) is not None)
    return tuple(left_by_traces(reading, content, left) if left else content for reading, content in contents)


def changes_by_trace(before: Sequence[Reading], after: Sequence[Reading]) -> dict[Place, LeftByTraces]:
    """Return the value that a function changed while it was traced, as a counter; valid while it is referenced."""
    now = {place_of(r): r for r in after}
    return {
        place_of(r): leave(last, content)
        for r in before
        if r.key is not None
        and (last := now.get(place_of(r))) is not None
        and (content := _content(last)) != _content(r)
    }


def guards(found: Sequence[Reading]) -> list[Guard] | None:
    """Return the conditions for equal content that the gate can check; None if it cannot.

    It requires the same objects where `content_of` requires equal ones.
    """
    result = [_guard(r) for r in found if isinstance(r.value, ITEMS) or r.value is ABSENT or _content(r) is not None]
    return None if None in result or len(result) > MAX_GUARDS else cast("list[Guard]", result)


def _content(reading: Reading) -> Any:
    """Return the content of a reading; None for what belongs to a library, and for what is compared item by item."""
    return content_with(reading, Same)


def content_with(reading: Reading, same: Callable[[object], Any]) -> Any:
    """The same. same: makes the content of an object that counts by identity."""
    value = reading.value
    kind = cast("type[Any]", type(value))
    if reading.size >= 0:
        return _extent(reading.container)
    if is_called(value):
        return same(value)
    if kind is float:
        return kind, value, math.copysign(1.0, value)  # -0.0 == 0.0
    if kind in _NUMBERS:
        return kind, value
    if isinstance(value, np.generic):
        return kind, value.tobytes()
    array = _as_array(value)
    if array is not None:
        return _objects(array, same) if cast("Any", array).dtype.hasobject else _array(array, same)
    if kind in ITEMS or value is ABSENT or isinstance(value, (Node, *PRESENT)) or _is_named_library(reading):
        return None
    return same(value)


def _is_named_library(reading: Reading) -> bool:
    """Return True for a library's module under its usual name, which no other object has."""
    if not isinstance(reading.value, ModuleType) or is_own(reading.value.__name__):
        return False
    return reading.key in (reading.value.__name__.rpartition(".")[2], *_ALIASES)


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
    """The numbers of an array, of another library's too, where it lends them; not of NumPy's arrays of objects."""
    if isinstance(value, np.ndarray):
        own = cast("np.ndarray[Any, Any]", value)
        return None if cast("Any", own).dtype.hasobject else own
    try:
        if isinstance(value, MEMORIES):
            return np.frombuffer(memoryview(value).tobytes(), np.uint8)
        return as_array(value, "a value") if lends_array(value) and not isinstance(value, type) else None
    except Exception:
        return None


def _objects(array: "np.ndarray[Any, Any]", same: Callable[[object], Any]) -> Any:
    """The content of what another library lends as objects: a table of numbers and words."""
    return array.shape, tuple(content_with(Reading(None, None, x), same) for x in array.reshape(-1).tolist())


def _array(array: "np.ndarray[Any, Any]", same: Callable[[object], Any]) -> Any:
    if array.size <= MAX_COPIED_ELEMENTS:
        return array.shape, array.dtype, _bytes(array)
    return array.shape, array.dtype, same(array) if _is_constant(array) else fingerprint(array)


def _bytes(array: "np.ndarray[Any, Any]") -> bytes:
    """The numbers of an array, as ndarray has them: a subclass may say otherwise, or refuse."""
    return np.ndarray.tobytes(array)


def _is_constant(array: "np.ndarray[Any, Any]") -> bool:
    """Return True if no array can write into this memory."""
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
        indexed = isinstance(container, (dict, list, tuple))
        return Guard(LookupKind.LENGTH, container, None, None, size=size) if indexed else None
    where = _where(reading)
    if value is ABSENT:
        return Guard(where, container, key, NOTHING) if where == LookupKind.ENTRY else None
    if not isinstance(value, np.ndarray):
        foreign = _as_array(value) is not None and not isinstance(value, np.generic)
        return None if where is None or foreign else Guard(where, container, key, value)
    array = cast("np.ndarray[Any, Any]", value)
    if where is None or not array.flags.c_contiguous:
        return None
    if array.dtype.hasobject or (array.size > MAX_COPIED_ELEMENTS and _is_constant(array)):
        return Guard(where, container, key, array)
    if array.size <= MAX_COPIED_ELEMENTS:
        return Guard(where, container, key, array, content=_bytes(array), size=array.nbytes)
    return Guard(where, container, key, array, digest=fingerprint(array), size=array.nbytes)


def _where(reading: Reading) -> LookupKind | None:
    """Return how the gate finds the value again, if it can."""
    container, key, value = reading[:3]
    if container is None:
        return LookupKind.FIXED
    if isinstance(container, dict):
        return LookupKind.ENTRY
    if isinstance(container, (list, tuple)) and isinstance(key, int):
        return LookupKind.ITEM
    if isinstance(container, CellType):
        return LookupKind.CELL
    if not isinstance(key, str):
        return None
    if isinstance(container, FunctionType) and key in _OF_FUNCTIONS:
        return _OF_FUNCTIONS[key]
    return LookupKind.ATTRIBUTE if getattr(cast("Any", container), key, None) is value else None
