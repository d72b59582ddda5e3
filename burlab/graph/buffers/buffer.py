"""The array that takes traced entries, with NumPy's functions and methods."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, SupportsIndex, cast

import numpy as np

from burlab.errors import DTypeError
from burlab.graph.faults import fault
from burlab.graph.handles import PRESENT, level, present
from burlab.graph.node import UFUNCS, Node, as_node
from burlab.graph.numpy_api.updates import at_add
from burlab.graph.origin import location
from burlab.runtime.plain import as_plain, is_complex
from burlab.typing import ArrayLike, Index, Tree

from .traced_entries import is_symbolic
from .traced_memory import Memory, Numbers, held, is_traced_key, known_key, written

if TYPE_CHECKING:
    from burlab.graph.complex.array import Complex

Function = Callable[..., Any]
WRITERS: dict[Function, Function] = {}
"""NumPy's functions that write into an argument: `writing` fills it."""
VIEWS: frozenset[Any] = frozenset({
    np.transpose, np.reshape, np.ravel, np.swapaxes, np.moveaxis, np.squeeze, np.expand_dims, np.atleast_1d,
    np.atleast_2d, np.atleast_3d, np.split, np.array_split, np.hsplit, np.vsplit, np.flip, np.fliplr, np.flipud,
    np.rot90, np.diagonal, np.broadcast_to, np.rollaxis, np.matrix_transpose,
})  # fmt: skip
"""Functions whose result shares memory with their argument, where it can."""


@as_plain
class Buffer(Memory):
    """A NumPy array in which a traced function may put traced values.

    Until one is put in it is an ndarray in everything. From then on its views, which share its memory, share its
    entries, and functions take it as the node of its entries at that time.
    """

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method == "at":
            return _at(ufunc, *inputs)
        out: tuple[Any, ...] | None = kwargs.pop("out", None)
        given = [present(x) for x in inputs]
        kwargs = {name: present(value) for name, value in kwargs.items()}
        run = getattr(ufunc, method)
        if out is None:
            return fresh(run(*given, **kwargs))
        traced = any(map(is_symbolic, (*given, *kwargs.values())))
        if traced or any(isinstance(o, Buffer) and o.is_traced for o in out):
            where = kwargs.pop("where", True)
            for target, result in zip(out, _several(run(*given, **kwargs)), strict=True):
                _store(target, result, where, ufunc)
            return out[0] if len(out) == 1 else out
        results = run(*given, out=tuple(o.numbers if isinstance(o, Buffer) else o for o in out), **kwargs)
        outputs = tuple(r if o is None else o for o, r in zip(out, _several(results), strict=True))
        return outputs[0] if len(outputs) == 1 else outputs

    def __array_function__(
        self, func: Callable[..., Any], types: Iterable[type], args: Iterable[Any], kwargs: Any
    ) -> Any:
        if func in WRITERS:
            return WRITERS[func](*args, **kwargs)
        if func in VIEWS:
            result = super().__array_function__(func, types, args, kwargs)
            parts: list[Any] = [*cast("Any", result)] if isinstance(result, (list, tuple)) else [result]
            if not self.is_traced or all(isinstance(part, Buffer) and part.root is self.root for part in parts):
                return cast("Any", result)
            return func(*_presents(args), **_presents(kwargs))  # it had to copy
        out = kwargs.pop("out", None)
        result = fresh(func(*_presents(args), **_presents(kwargs)))
        if out is None:
            return result
        _store(out, result, True, func)
        return out

    def __repr__(self) -> str:
        return f"Buffer(shape={self.shape}, {self.dtype}, traced)" if self.is_traced else repr(self.numbers)

    def __str__(self) -> str:
        return repr(self) if self.is_traced else str(self.numbers)

    def __format__(self, spec: str) -> str:
        return format(present(self), spec)

    def __reduce__(self) -> Any:
        return _known(self).__reduce__()

    def __reduce_ex__(self, protocol: SupportsIndex) -> Any:
        return _known(self).__reduce_ex__(protocol)

    def __copy__(self) -> "Buffer":
        return self.duplicate()

    def __deepcopy__(self, memo: object) -> "Buffer":
        return self.duplicate()

    def copy(self, order: Any = "C") -> Any:
        """Its entries in a memory of their own."""
        return self.duplicate(order)


PRESENT[Buffer] = Buffer.present


def fresh(result: Tree) -> Any:
    """A new array as one that takes traced entries while a function is traced; anything else as it is."""
    if level() is None:
        return result
    if isinstance(result, (list, tuple)):
        parts = [fresh(r) if type(r) is np.ndarray else r for r in cast("list[Any]", result)]
        return parts if isinstance(result, list) else tuple(parts)
    if type(result) is np.ndarray and result.dtype.kind in "fiubc" and result.flags.writeable:
        return (result if result.base is None else result.copy("K")).view(Buffer)
    return cast("Any", result)


def buffer_of(value: "Node | Complex") -> Buffer:
    """A new array that holds a node, or a traced complex array."""
    result = np.zeros(value.shape, value.dtype).view(Buffer)
    result.rewrite(value)
    return result


def _several(results: Tree) -> tuple[Any, ...]:
    return cast("tuple[Any, ...]", results) if isinstance(results, tuple) else (results,)


def _store(target: Any, result: Any, where: ArrayLike, func: Callable[..., Any]) -> None:
    """target[where] = result, for `out=` and in-place operators, which refuse what loses the kind of numbers."""
    if target is None:
        return
    if not isinstance(target, Buffer):
        raise fault(
            "a traced value cannot be put into this array, which does not belong to the function that is traced",
            "an array made inside of it by np.zeros, np.array or bl.zeros",
        )
    node = result if is_complex(result) else as_node(result)
    if not np.can_cast(node.dtype, target.dtype, "same_kind"):
        raise DTypeError(
            f"{location()}cannot put the result of np.{func.__name__}, {node.dtype}, into an array of {target.dtype} "
            "(NumPy's casting rule 'same_kind'). Make the array with dtype=float."
        )
    if where is True:
        target[...] = node
    elif isinstance(where, Node):
        target[...] = np.where(cast("Any", where), node, present(target))
    else:
        mask = np.broadcast_to(where, target.shape)
        target[mask] = cast("Any", np.broadcast_to(node, target.shape))[mask]


def _at(ufunc: np.ufunc, target: Any, key: Index, value: Any = None) -> None:
    """ufunc.at: unbuffered, so that a repeated index counts repeatedly."""
    key, value = known_key(key), written(value)
    if not isinstance(target, Buffer) or not (is_traced_key(key) or is_symbolic(value) or target.is_traced):
        ufunc.at(target.numbers if isinstance(target, Buffer) else target, key, *(() if value is None else (value,)))
        return
    if ufunc not in (np.add, np.subtract):
        raise fault(f"np.{ufunc.__name__}.at with traced values", "np.add.at or np.subtract.at")
    if target.dtype.kind == "c":
        raise fault(f"np.{ufunc.__name__}.at of complex numbers", "two real arrays, then re + 1j * im")
    more = as_node(value)
    target.rewrite(at_add(as_node(target), key, UFUNCS["negative"](more) if ufunc is np.subtract else more))


def _presents(x: object) -> Any:
    """Arguments with arrays replaced by their present contents."""
    if type(x) is tuple or type(x) is list:
        parts = [_presents(item) for item in cast("Sequence[Any]", x)]
        return parts if type(cast("Any", x)) is list else tuple(parts)
    if type(x) is dict:
        return {k: _presents(v) for k, v in cast("Mapping[Any, Any]", x).items()}
    return present(x)


def _known(b: Buffer) -> Numbers:
    """Its memory, if nothing of it is traced."""
    if b.is_traced:
        raise fault("a pickle of an array that holds traced values, which have no numbers yet", "the array as it is")
    return b.numbers


def _reads(name: str) -> Function:
    """A method of ndarray that reads."""
    plain = getattr(np.ndarray, name)

    def method(self: Buffer, *args: Any, **kwargs: Any) -> Any:
        out = kwargs.pop("out", None)
        if isinstance(out, Buffer) or self.is_traced or any(is_symbolic(present(a)) for a in args):
            result = getattr(held(self), name)(*_presents(args), **_presents(kwargs))
            if out is None:
                return result
            _store(out, result, True, plain)
            return out
        options = kwargs if out is None else {**kwargs, "out": out}
        return fresh(plain(self.numbers, *_presents(args), **_presents(options)))

    return method


def _gives_view(name: str) -> Function:
    """A method of ndarray that returns a view if possible."""
    plain = getattr(np.ndarray, name)

    def method(self: Buffer, *args: Any, **kwargs: Any) -> Any:
        result = plain(self, *args, **kwargs)
        return getattr(held(self), name)(*args, **kwargs) if self.is_traced and result.root is not self.root else result

    return method


def _needs_number(name: str) -> Function:
    """A method that needs the number of an array of one element."""
    plain = getattr(np.ndarray, name)

    def method(self: Buffer, *args: Any) -> Any:
        return getattr(held(self), name)(*args) if self.is_traced else plain(self, *args)

    return method


for _kind, _names in {
    _reads: "all any argmax argmin argsort choose clip compress conj conjugate cumprod cumsum dot item max mean min "
    "nonzero prod repeat round searchsorted std sum take tobytes tolist trace var astype flatten dump dumps tofile",
    _gives_view: "transpose reshape ravel squeeze swapaxes diagonal",
    _needs_number: "__float__ __int__ __index__ __bool__ __complex__",
}.items():
    for _name in _names.split():
        setattr(Buffer, _name, _kind(_name))
