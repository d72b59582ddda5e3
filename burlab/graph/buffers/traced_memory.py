"""An array whose memory holds the known numbers, and `Entries` the traced ones: indexing and assignment."""

from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np

from burlab.errors import DTypeError, LayoutError
from burlab.graph import hooks
from burlab.graph.faults import fault
from burlab.graph.handles import Level, level, present
from burlab.graph.node import METHODS, Node, as_node, holds_node
from burlab.graph.numpy_api.promotion import as_dtype, as_mask
from burlab.graph.numpy_api.updates import at_set
from burlab.graph.origin import location
from burlab.graph.sentinels import poison
from burlab.graph.signatures import ALL
from burlab.graph.substitute import copy
from burlab.runtime.plain import is_complex
from burlab.typing import ArrayLike, Index

from .traced_entries import Entries, by_part, is_symbolic

if TYPE_CHECKING:
    from burlab.graph.complex.array import Complex

Numbers = np.ndarray[Any, np.dtype[Any]]
_REAL, _IMAG = vars(np.ndarray)["real"], vars(np.ndarray)["imag"]


class Memory(np.ndarray[Any, Any]):
    """Base of `Buffer` without NumPy's functions: an array that can be indexed and assigned to.

    made_in: the trace in which it was made. traced: the entries of the memory that are traced, None as long as none
    is; they belong to the array that all others are views of.
    """

    created_in: Level | None
    traced: Entries | None = None

    def __array_finalize__(self, _source: object) -> None:
        self.created_in = level()

    @property
    def root(self) -> "Memory":
        """The array that this one is a view of."""
        base = self.base
        return base if isinstance(base, Memory) else self

    @property
    def numbers(self) -> Numbers:
        """The memory itself, as an ndarray."""
        return self.view(np.ndarray)

    @property
    def is_traced(self) -> bool:
        """Return True if one of its entries is traced."""
        entries = self.root.traced
        return entries is not None and bool((entries.of(self) >= 0).any())

    @property
    def whole(self) -> "Memory":
        """Return the complex array whose real or imaginary parts this is, else itself."""
        root = self.root
        if self.dtype.kind == "c" or root.dtype.kind != "c":
            return self
        start = self._address() - self._address() % root.itemsize
        return np.ndarray.__new__(type(self), self.shape, root.dtype, root, start, self.strides)

    @property
    def _part(self) -> str:
        return "imag" if self._address() % self.root.itemsize else "real"

    def _address(self) -> int:
        """Bytes from the begin of the memory."""
        return int(self.__array_interface__["data"][0] - self.root.__array_interface__["data"][0])

    def present(self) -> Any:
        """Return the current content: an ndarray over its memory, or a node."""
        entries = self.root.traced
        if entries is None:
            return self.numbers
        if (whole := self.whole) is not self:
            return getattr(whole.present(), self._part) if self.is_traced else self.numbers
        addresses = entries.of(self)
        return entries.node(addresses, self.numbers) if (addresses >= 0).any() else self.numbers

    def __getitem__(self, key: Index) -> Any:
        entries = self.root.traced
        key = known_key(key)
        if is_traced_key(key):
            return by_part(lambda x: METHODS["__getitem__"](x, key), held(self))
        if entries is not None and (whole := self.whole) is not self:
            return getattr(whole[key], self._part)
        result = np.ndarray.__getitem__(self, key)
        if entries is None or (isinstance(result, Memory) and result.base is self.root):
            return result
        addresses: Any = entries.of(self)[key]
        if type(addresses) is np.int64:
            return result if addresses < 0 else entries.entry(int(addresses))
        if not (addresses >= 0).any():
            return result
        found = entries.node(addresses, result.view(np.ndarray))
        return by_part(lambda x: copy(x, x.inputs) if x.inputs else x, found)

    def __setitem__(self, key: Index, value: Any) -> None:
        key, value = known_key(key), written(value)
        if (whole := self.whole) is not self and (is_traced_key(key) or is_symbolic(value) or self.root.traced):
            numbers = hooks.complex_numbers()
            real, imag = numbers.parts(whole[key])
            whole[key] = numbers.pair(value, imag) if self._part == "real" else numbers.pair(real, value)
            return
        if is_traced_key(key):
            if self.dtype.kind == "c":
                old, (real, imag) = held(self), hooks.complex_numbers().parts(value)
                new = at_set(old.real, key, real), at_set(old.imag, key, 0.0 if imag is None else imag)
                self.rewrite(hooks.complex_numbers().pair(*new))
                return
            self.rewrite(at_set(as_node(self), key, value))
        elif is_symbolic(value):
            entries = self._writable()
            entries.write(entries.of(self), key, _converted(value, self.dtype))
            np.ndarray.__setitem__(self, key, poison(self.dtype))
        else:
            np.ndarray.__setitem__(self, key, value)
            entries = self.root.traced
            if entries is not None:
                entries.forget(entries.of(self), key)

    def rewrite(self, value: "Node | Complex") -> None:
        """Put a node of its shape in the place of all entries."""
        entries = self._writable()
        entries.write(entries.of(self), ..., _converted(value, self.dtype))
        np.ndarray.__setitem__(self, ..., poison(self.dtype))

    @property
    def real(self) -> Any:
        """The real parts, which share its memory."""
        return _REAL.__get__(self)

    @real.setter
    def real(self, values: ArrayLike) -> None:
        _REAL.__get__(self)[...] = values

    @property
    def imag(self) -> Any:
        """The imaginary parts, which share its memory if it is complex."""
        return _IMAG.__get__(self)

    @imag.setter
    def imag(self, values: ArrayLike) -> None:
        _IMAG.__get__(self)[...] = values

    def duplicate(self, order: Any = "C") -> Self:
        """Its entries in a memory of their own."""
        result = self.numbers.copy(order).view(type(self))
        entries = self.root.traced
        if entries is not None:
            addresses = entries.of(self)
            value = self.present()
            if is_symbolic(value):
                result[...] = value
                known = addresses < 0
                result[known] = self.numbers[known]
        return result

    def _writable(self) -> Entries:
        """Its entries, if traced values may be written here; else raises."""
        root, current = self.root, level()
        if not self.flags.writeable:
            raise LayoutError(f"{location()}the destination of an assignment is read-only. Assign into a copy of it.")
        if self.dtype not in ALL and self.dtype.kind != "c":
            raise DTypeError(
                f"{location()}an array of {self.dtype} cannot hold traced values. "
                "Make it float64, float32, complex128, complex64, an integer of up to 64 bits or bool."
            )
        if current is None or root.created_in is not current:
            raise fault(
                "an assignment of a traced value into an array that was made outside of the function that is traced",
                "an array made inside, and return it: an assignment here would be done once, not in every call",
            )
        if root.traced is None:
            root.traced = Entries(root.numbers, current)
        return root.traced


def known_key(key: Index) -> Any:
    """An index in which arrays that are known are plain."""
    return tuple(map(present, cast("tuple[Any, ...]", key))) if type(key) is tuple else present(key)


def is_traced_key(key: Index) -> bool:
    """Return True if an index has a traced integer in it."""
    if type(key) is tuple:
        return any(map(is_traced_key, cast("tuple[Any, ...]", key)))
    return isinstance(key, Node) or (isinstance(key, list) and holds_node(cast("list[Any]", key)))


def written(value: Any) -> Any:
    """Return an assigned value as a node, or as NumPy takes it."""
    value = present(value)
    if isinstance(value, (list, tuple)) and is_complex(value):
        numbers = hooks.complex_numbers()
        real, imag = numbers.parts(value)
        known = real.is_constant and (imag is None or imag.is_constant)
        return cast("Any", value) if known else numbers.pair(real, imag)
    if isinstance(value, (list, tuple)):
        return as_node(value) if holds_node(cast("list[Any]", value)) else cast("Any", value)
    if isinstance(value, np.ndarray) and cast("Any", value).dtype == object:
        return as_node(value) if holds_node(cast("Any", value).ravel().tolist()) else cast("Any", value)
    return cast("Any", value)


def held(b: Memory) -> Any:
    """Return the content of an array as a node, or as a complex array of two."""
    numbers = hooks.complex_numbers
    return numbers().pair(*numbers().parts(b)) if b.dtype.kind == "c" else as_node(b)


def _converted(value: "Node | Complex", dtype: "np.dtype[Any]") -> Any:
    """A value in the dtype of its target, as NumPy's assignment converts it."""
    if dtype.kind == "c":
        real, imag = hooks.complex_numbers().parts(value)
        single = np.dtype(np.float32 if dtype == np.complex64 else np.float64)
        return hooks.complex_numbers().pair(as_dtype(real, single), 0.0 if imag is None else as_dtype(imag, single))
    if not isinstance(value, Node):
        raise fault(
            f"an assignment of complex values into an array of {dtype}", "an array with dtype=complex, or z.real"
        )
    return as_mask(value) if dtype.kind == "b" else as_dtype(value, dtype)
