"""Writing to results of traced operations: item assignment and in-place operators.

A node is immutable, and may be used by others already. When a result is written to for the first time, a copy of its
node takes its place in all that was computed from it; the object that the user holds becomes a `Written`, which stands
for a buffer with the same entries. What shares memory with it, by NumPy's rules, becomes a view of that buffer.
"""

import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any, cast

import numpy as np

from burlab.errors import DTypeError, ShapeError
from burlab.graph.faults import fault
from burlab.graph.handles import Level, level
from burlab.graph.linear_nodes import linear
from burlab.graph.node import METHODS, Node
from burlab.graph.numpy_api.promotion import as_dtype
from burlab.graph.origin import location, package_of
from burlab.graph.substitute import copy
from burlab.runtime.plain import is_complex
from burlab.typing import ArrayLike, Index, Tree

from .buffer import VIEWS, WRITERS, Buffer, buffer_of
from .written import Written

_Making = Callable[[Any], Any]
_VIEWING = frozenset("transpose reshape ravel squeeze swapaxes diagonal __getitem__".split())
"""Methods whose result shares memory with the array, where it can."""


def writable(x: Node) -> Buffer:
    """The buffer that a result becomes when it is written to. Raises TraceError for an argument of the function."""
    current = level()
    root = x if current is None else _root(x, current)
    if root.is_input:
        raise fault(
            "an assignment into an argument of the function that is traced, or into a view of it",
            "y = x.copy() or np.array(x), and assign into y; or np.where",
        )
    return _written(x, root, current)


def _root(x: Node, current: Level) -> Node:
    """Return the base array of x: x itself, if NumPy would have copied."""
    chain, root = list[Node](), x
    while root in current.views:
        chain.append(root)
        root = current.views[root][0]
    memory = np.empty(root.shape, np.int8)
    for n in reversed(chain):
        view = current.views[n][1](memory)
        if not np.may_share_memory(view, memory):
            del current.views[n]
            root = n
        memory = view
    return root


def _written(x: Node, root: Node, current: Level | None) -> Buffer:
    if current is None or not _is_of(root, current):
        raise fault(
            "an assignment into an array that was made outside of the function that is traced",
            "an array made inside, and return it: an assignment here would be done once, not in every call",
        )
    _become(root, buffer_of(_apart(root, current)), current)
    return cast("Written", x).params


def _is_of(x: Node, current: Level) -> bool:
    return _is(x, current.inputs) or _is(x, reversed(current.nodes))


def _is(x: Node, nodes: Iterable[Any]) -> bool:
    return any(n is x for n in nodes)


def _apart(x: Node, current: Level) -> Node:
    """A copy of a node, which takes its place in everything that was made from it so far."""
    held = current.holders.pop(x, [])
    if any(map(is_complex, held)):
        raise fault("an assignment into a part of a complex array", "y = z.real.copy(), and assign into y")
    old = copy(x, x.inputs)
    for n in reversed(current.nodes):
        if n is x:
            break
        if any(i is x for i in n.inputs):
            n.inputs = tuple(old if i is x else i for i in n.inputs)
    for holder in held:
        holder.exchange(x, old)
    if _is(x, current.inputs):
        current.replaced.setdefault(x, old)
    return old


def _become(x: Node, memory: Buffer, current: Level) -> None:
    """Make x represent a memory from now on, and its views represent views of it."""
    children = [(child, make) for child, (base, make) in current.views.items() if base is x]
    current.views.pop(x, None)
    object.__setattr__(x, "__class__", Written)
    x.op, x.inputs, x.params = "written", (), memory
    for child, make in children:
        view = make(memory)
        if isinstance(view, Buffer) and view.root is memory.root:
            _apart(child, current)
            _become(child, view, current)
        else:
            del current.views[child]  # NumPy has copied


def in_place(name: str, x: Node, other: ArrayLike) -> Any:
    """x op= other: x itself with other entries, or another number where x is one."""
    current = level()
    result = getattr(x, f"__{name}__")(other)
    if result is NotImplemented or not x.shape or current is None or not _is_of(x, current) or _by_burlab():
        return result
    if is_complex(result) or not np.can_cast(result.dtype, x.dtype, "same_kind"):
        raise DTypeError(
            f"{location()}cannot put the result of __{name}__, {result.dtype}, into an array of {x.dtype} "
            "(NumPy's casting rule 'same_kind'). Use x = x.astype(float) before, or write x = x + ... ."
        )
    if result.shape != x.shape:
        raise ShapeError(
            f"{location()}an in-place operator cannot change the shape {x.shape} to {result.shape}. "
            "Write x = x + ... instead of x += ... ."
        )
    result = as_dtype(result, x.dtype)
    root = _root(x, current)
    if root is x and not any(base is x for base, _ in current.views.values()) and not result.is_input:
        _redefine(x, result, current)
        return x
    _written(x, root, current)[...] = result
    return x


def _redefine(x: Node, new: Node, current: Level) -> None:
    """x has the value of another node from now on."""
    _apart(x, current)
    x.op, x.row, x.inputs, x.params = new.op, new.row, new.inputs, new.params
    x.weak, x.origin, x.scope = False, new.origin, new.scope
    current.nodes.append(x)


def _by_burlab() -> bool:
    """Return True if burlab's own code used the operator, which then means a new value."""
    frame = sys._getframe(3)  # noqa: SLF001 # pyright: ignore[reportPrivateUsage] - inspect's own way takes longer
    return package_of(frame) == "burlab"


def own(result: Tree, *operands: Any) -> Any:
    """The result of an operator, which is none of its operands."""
    return settled(result, operands) if any(result is x for x in operands) else result


def settled(result: Tree, sources: tuple[Any, ...]) -> Any:
    """The result of a NumPy function that returns a new array: a copy if it returned its argument.

    Whoever writes into one of the two does not write into the other.
    """
    if level() is None:
        return result
    if isinstance(result, (list, tuple)):
        parts = [settled(part, sources) for part in cast("list[Any]", result)]
        kind: Any = type(cast("object", result))
        return kind(*parts) if hasattr(kind, "_fields") else kind(parts)
    if type(result) is not Node or not result.shape or not _among(result, sources):
        return result
    return linear("reshape", result.shape, result) if result.is_input else copy(result, result.inputs)


def _among(x: Node, sources: Sequence[Any]) -> bool:
    return any(x is s or (isinstance(s, (list, tuple)) and _among(x, cast("Any", s))) for s in sources)


def viewed(result: Tree, base: object, make: _Making) -> Any:
    """The result of a function that returns a view if possible. make: computes it from its base."""
    current = level()
    if current is None or type(base) is not Node:
        return result
    if isinstance(result, (list, tuple)):
        for k, part in enumerate(cast("list[Any]", result)):
            viewed(part, base, lambda memory, k=k: make(memory)[k])
    elif type(result) is Node and result.shape and result is not base and result not in current.views:
        current.views[result] = base, make
    return cast("Any", result)


def of_method(result: Tree, name: str, x: Node, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The result of a method of an array."""
    if name in _VIEWING and not (name == "__getitem__" and not _is_basic(args[0])):
        return viewed(result, x, lambda memory: getattr(memory, name)(*args, **kwargs))
    return settled(result, (x, *args))


def _is_basic(key: Index) -> bool:
    """Return True if an index selects a view."""
    parts = cast("tuple[Any, ...]", key if isinstance(key, tuple) else (key,))
    return all(part is None or part is Ellipsis or isinstance(part, (int, np.integer, slice)) for part in parts)


def of_function(result: Tree, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The result of a function of NumPy's."""
    if func in VIEWS and args:
        return viewed(result, args[0], lambda memory: func(memory, *args[1:], **kwargs))
    return settled(result, args)


def call_ufunc(ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
    """A call of a ufunc that writes into results: by `out`, or as ufunc.at."""
    if method == "at":
        return ufunc.at(writable(inputs[0]), *inputs[1:])
    outs = kwargs.pop("out")
    memories = tuple(writable(o) if type(o) is Node else o for o in outs)
    getattr(ufunc, method)(*inputs, out=memories, **kwargs)
    return outs[0] if len(outs) == 1 else outs


def is_writer(func: Callable[..., Any]) -> bool:
    """Return True if a function of NumPy's writes into its first argument."""
    return func in WRITERS


def _writes(name: str) -> Callable[..., None]:
    def method(x: Node, *args: Any, **kwargs: Any) -> None:
        getattr(writable(x), name)(*args, **kwargs)

    return method


METHODS.update({name: _writes(name) for name in ("fill", "sort", "put")})


def _operator(name: str) -> Callable[..., Any]:
    def method(x: Node, other: ArrayLike) -> Any:
        return in_place(name, x, other)

    return method


for _name in "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift".split():
    setattr(Node, f"__i{_name}__", _operator(_name))
