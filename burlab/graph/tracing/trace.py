"""Tracing: a function of arrays is called once with nodes in place of arrays, and its result is its graph."""

import inspect
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from burlab.errors import AllocationError, BurlabError, DTypeError, TraceError
from burlab.graph import tree
from burlab.graph.faults import behind, blamed, forget_fault
from burlab.graph.graph import Graph, topological
from burlab.graph.node import Node, as_node, native_dtype, widened
from burlab.graph.signatures import ALL
from burlab.runtime.checks.callable import check_function
from burlab.runtime.checks.numbers import shown
from burlab.runtime.dtypes import is_narrow_float
from burlab.runtime.plain import as_array, lends_array
from burlab.typing import Tree

from .chance import watched
from .einops_backend import join_einops
from .standins import traced_arrays


class _Active(threading.local):
    """The inputs of the traces under way, outermost first: a node over any other input has leaked out of its trace."""

    inputs: tuple[tuple[Node, ...], ...] = ()


_active = _Active()


@dataclass(frozen=True, slots=True)
class Spec:
    """Specification of a traced argument: shape, dtype, and whether it is a Python scalar (`weak`)."""

    shape: tuple[int, ...]
    dtype: "np.dtype[Any]"
    weak: bool = False

    def __str__(self) -> str:
        return f"{self.dtype.name}{list(self.shape)}"


@dataclass(frozen=True, slots=True)
class Static:
    """An argument that is part of the program: an int, bool, str or any other hashable object."""

    kind: type
    value: Any


@dataclass(frozen=True)
class Traced:
    """A traced call.

    graph: of the traced leaves, in order; result: the structure of what the function returned. open: whether the graph
    needs values of a surrounding trace, which the function captured: then no kernel can be made of it.
    """

    graph: Graph
    result: tree.TreeDef
    open: bool


def is_tracing() -> bool:
    """Return True while this thread traces."""
    return bool(_active.inputs)


def depth() -> int:
    """Return the number of nested traces on this thread."""
    return len(_active.inputs)


def spec_of(leaf: Tree, name: str = "an argument") -> Spec | Static:
    """Return the specification of a leaf that is traced, else the leaf. Raises DTypeError for arrays that cannot be."""
    if type(leaf) is float:
        return Spec((), np.dtype(np.float64), weak=True)
    if type(leaf) is np.ndarray and leaf.dtype in ALL:  # of native byte order: most leaves are
        return Spec(leaf.shape, leaf.dtype)
    if isinstance(leaf, Node):
        return Spec(leaf.shape, leaf.dtype, leaf.weak)
    if type(leaf) is not np.ndarray and (isinstance(leaf, np.ndarray) or lends_array(leaf)):
        leaf = as_array(leaf, name)
    if isinstance(leaf, np.ndarray):
        array: np.ndarray[Any, np.dtype[Any]] = cast("Any", leaf)
        dtype = native_dtype(array.dtype)
        if dtype not in ALL and not is_narrow_float(dtype):
            raise DTypeError(
                f"{name} has dtype {array.dtype}; float32, float64, complex64, complex128, integers and bool can be "
                "traced. Convert it with x.astype(np.float64)."
            )
        return Spec(array.shape, dtype)
    try:
        if type(leaf) is memoryview:
            raise TypeError
        hash(leaf)
    except TypeError:
        raise TraceError(
            f"{name} is a {type(leaf).__name__}: neither an array nor hashable, so it can be neither traced nor be "
            "part of the program. Pass arrays (np.asarray of a memory, x.toarray() of a sparse one), numbers, strings, "
            "or tuples, lists and dicts of them."
        ) from None
    return Static(cast("Any", type(leaf)), leaf)


def specs_of(leaves: Sequence[Any], names: Callable[[], list[str]]) -> list[Spec | Static]:
    """The spec of every leaf; `names` is called only for a message."""
    try:
        return [spec_of(leaf) for leaf in leaves]
    except (DTypeError, TraceError):
        for leaf, name in zip(leaves, names(), strict=True):
            spec_of(leaf, f"argument {name}")
        raise


def trace(
    f: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any] | None = None,
    like: Callable[..., Any] | None = None,
) -> Traced:
    """Call f with nodes for its float and array arguments, which serve as examples of shape and dtype.

    like: the function whose parameters name the inputs, f itself if not given.

    Raises TraceError if f cannot be recorded, or if its result depends on a node of another trace.
    """
    check_function(f)
    kwargs = kwargs or {}
    leaves, structure = tree.flatten((args, kwargs))
    names = argument_names(like or f, args, kwargs)
    specs = specs_of(leaves, lambda: names)
    values: list[Any] = [
        Node("input", (), name, spec.shape, spec.dtype, spec.weak) if isinstance(spec, Spec) else leaf
        for leaf, spec, name in zip(leaves, specs, names, strict=True)
    ]
    inputs = tuple(v for v, spec in zip(values, specs, strict=True) if isinstance(spec, Spec))
    forget_fault()
    join_einops()
    before, _active.inputs = _active.inputs, (*_active.inputs, inputs)
    try:
        with traced_arrays(f) as current:
            current.inputs = inputs
            values = [widened(v) if isinstance(v, Node) else v for v in values]
            node_args, node_kwargs = tree.unflatten(structure, values)
            result = watched(f, node_args, node_kwargs)
            outputs, shape = _outputs(f, result)
        inputs = tuple(
            current.replaced.get(x, x) for x in inputs
        )  # an in-place operator makes an argument another node
        _active.inputs = (*before, inputs)
        captures = _captures(f, outputs, inputs)
    except (TypeError, ValueError, AttributeError, OverflowError, MemoryError) as error:
        if isinstance(error, BurlabError):
            raise
        if large := _too_large(f, error):
            raise large from None
        if cause := behind(error):
            raise cause from None
        if listed := _list_of_numbers(args, error):
            raise TraceError(f"{_name(f)} was called with {listed}; it raised {shown(error)}.") from None
        if isinstance(error, TypeError) and ("ufunc" in str(error) or "dtype('O')" in str(error)):
            raise TraceError(
                f"{blamed(error)}{error}. np.array of traced numbers is an array of objects, with which few functions "
                "of NumPy work: use np.stack, or np.where for what depends on a comparison."
            ) from None
        if (static := _no_array(args, specs, names)) and not isinstance(error, ValueError):
            raise TraceError(f"{_name(f)} was called with {static}; it raised {shown(error)}.") from None
        raise
    finally:
        _active.inputs = before
    return Traced(Graph(inputs, outputs), shape, captures)


_BEYOND_SIZES = ("Maximum allowed", "array is too big", "too large to convert to C", "index-sized integer")
"""What NumPy and Python say of sizes that an int64 cannot hold."""


def _too_large(f: Callable[..., Any], error: Exception) -> AllocationError | None:
    """The error if NumPy could not allocate an array that f requested, or None if it raised another."""
    if isinstance(error, MemoryError):
        why = f"NumPy found no memory for a constant of {_name(f)}"
    elif any(text in str(error) for text in _BEYOND_SIZES):
        why = f"a size in {_name(f)} is beyond what NumPy can count"
    else:
        return None
    message = f": {error}".rstrip(".: ")
    return AllocationError(f"{blamed(error)}{why}{message}. Use smaller sizes.")


def _no_array(args: tuple[Any, ...], specs: Sequence[Spec | Static], names: Sequence[str]) -> str:
    """The first argument that is neither array nor number, in words: what a function of arrays may not know."""
    if any(arg is None for arg in args):
        return "None for an argument; pass numbers or arrays"
    for spec, name in zip(specs, names, strict=True):
        if isinstance(spec, Static) and spec.kind not in (int, bool):
            advice = "np.asarray of it" if spec.kind is range else "numbers or arrays"
            return f"{name} = {shown(spec.value)}, a {spec.kind.__name__} that is part of the program; pass {advice}"
    return ""


def _list_of_numbers(args: tuple[Any, ...], error: Exception) -> str:
    """The first argument that was meant as an array and is a list, in words: the function got a list of nodes."""
    if isinstance(error, ValueError) and "sequence" not in str(error):  # NumPy's own; others are the function's
        return ""
    for k, arg in enumerate(args):
        if isinstance(arg, list) and arg and all(isinstance(x, (int, float, Node)) for x in cast("list[Any]", arg)):
            length = len(cast("list[Any]", arg))
            return f"a list of {length} numbers as argument {k}, a tree and no array; pass np.array of it"
    return ""


def argument_names(f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[str]:
    """Return the user's name of each leaf: `x`, `params['w']`."""
    inner = inspect.unwrap(f)
    code = getattr(inner, "__code__", None)
    known = code.co_varnames[inspect.ismethod(inner) : code.co_argcount] if code is not None else ()
    names = [f"{known[k]}{path}" if k < len(known) else f"arg{k}{path}"
             for k, arg in enumerate(args) for path in tree.leaf_names(arg)]  # fmt: skip
    return names + [f"{key}{path}" for key in sorted(kwargs) for path in tree.leaf_names(kwargs[key])]


def _outputs(f: Callable[..., Any], result: Tree) -> tuple[tuple[Node, ...], tree.TreeDef]:
    leaves, structure = tree.flatten(result)
    outputs: list[Node] = []
    for leaf in leaves:
        if not isinstance(leaf, (Node, int, float, np.ndarray, np.generic)):
            raise TraceError(
                f"{_name(f)} returned a {type(leaf).__name__}; arrays and numbers, in tuples, lists or dicts, are "
                "what a traced function can return."
            )
        outputs.append(as_node(leaf))
    return tuple(outputs), structure


def _captures(f: Callable[..., Any], outputs: Sequence[Node], inputs: Sequence[Node]) -> bool:
    """Return True if outputs need values of a trace around this one. Raises TraceError for those of a finished one."""
    alive = {x for row in _active.inputs for x in row}
    used = [n for n in topological(outputs) if n.is_input]
    for n in used:
        if n not in alive:
            raise TraceError(
                f"{_name(f)} uses a traced value ({n.params}, shape {n.shape}) that was kept from an earlier trace. "
                "Return it from the function that made it and pass it in as an argument."
            )
    return not set(used) <= set(inputs)


def _name(f: Callable[..., Any]) -> str:
    return getattr(f, "__name__", type(f).__name__)
