"""The walk through a graph that gives each number its error: a shadow in double-double arithmetic beside the graph.

Numbers are those that the graph computes, and so are masks, indices and the branches that are taken. An error is a
float64: of a number in float64 by the rules of `scalar_shadows` and `tensor_shadows`, of one in float32 by the same
operation in float64. Where an operation has no rule, its own rounding errors are not known: errors that come in go
through its derivative (Langlois 2001, Automatic linear correction of rounding errors).
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from burlab.errors import BurlabError
from burlab.graph.autodiff import sweep
from burlab.graph.graph import Call, Graph, topological
from burlab.graph.linear_nodes import convert, zeros
from burlab.graph.node import Node, as_node
from burlab.graph.operation import make_node
from burlab.graph.origin import derived_from
from burlab.graph.rewrite.simplify import without_calls
from burlab.graph.substitute import inline, keep
from burlab.graph.tracing.trace import trace
from burlab.typing import ArrayLike

from . import doubled as d
from .doubled import Doubled
from .exact_operations import is_exact
from .expand_partials import without_partials
from .pairs import op
from .scalar_shadows import SCALAR
from .several_nodes import Executed, Parts, spread_choice, spread_loop
from .system_shadows import system_error
from .tensor_shadows import tensor_error

Value = Node | Doubled
"""A value without an error is one node."""
FLOAT64, FLOAT32 = np.dtype(np.float64), np.dtype(np.float32)
_INLINED = ("checkpoint", "checkpoint_contractions", "halves")
_LOOPS = ("scan", "while", "cond")
SYSTEMS = ("lu_solve", "solve_triangular", "cholesky")


def with_errors(f: Callable[..., Any], *args: ArrayLike) -> Doubled:
    """Return the floating result of a function of arrays with its error, while another function is traced."""
    return _walked(trace(f, args, {}).graph, [as_node(x) for x in args])


class Shadowed(NamedTuple):
    """A value, and whether all rounding errors that led to it are known."""

    value: Value
    complete: bool = True


class Shadow:
    """The errors of the nodes of a graph. known: what was found of each node."""

    def __init__(self) -> None:
        self.known: dict[Node, Shadowed] = {}
        self._executions: dict[Any, tuple[Executed, bool]] = {}

    def of(self, graph: Graph, inputs: Sequence[Value]) -> list[Shadowed]:
        """Return the outputs with their errors, for inputs with theirs."""
        self.known |= {x: Shadowed(value) for x, value in zip(graph.inputs, inputs, strict=True)}
        for n in topological(graph.outputs, self.known):
            with derived_from(n):
                self.known[n] = self._of(n, [self.known[x] for x in n.inputs])
        return [self.known[y] for y in graph.outputs]

    def _of(self, n: Node, given: Sequence[Shadowed]) -> Shadowed:
        xs = [x.value for x in given]
        complete = all(x.complete for x in (given[:2] if n.op == "lu_solve" else given))  # factors come from the matrix
        if isinstance(n.params, Call) or n.op in _INLINED:
            return _inlined(n, xs, complete)
        if n.op in _LOOPS:
            return self._executed(n, xs, complete)
        z = keep(n, tuple(_value(x) for x in xs))
        if z.dtype not in (FLOAT64, FLOAT32) or _exact(n, xs):
            return Shadowed(z, complete or z.dtype.kind != "f")
        error, own = _error(n, z, xs)
        return Shadowed(Doubled(z, error), complete and own)

    def _executed(self, n: Node, xs: Sequence[Value], complete: bool) -> Shadowed:
        key = (n.op, *map(id, xs), n.params.region, n.params.batch)
        if key not in self._executions:
            rooms: list[bool] = []

            def inner(graph: Graph, inputs: Sequence[Parts]) -> list[Parts]:
                found = Shadow().of(graph, [_from_parts(x) for x in inputs])
                rooms.extend(y.complete for y in found)
                return [_parts(y.value) for y in found]

            inputs = [_parts(x) for x in xs]
            spread = spread_choice if n.op == "cond" else spread_loop
            self._executions[key] = spread(n, inputs, inner, _widened), all(rooms)
        executed, whole = self._executions[key]
        return Shadowed(_from_parts(executed.result(n.params.item)), complete and whole)


def _exact(n: Node, xs: Sequence[Value]) -> bool:
    """Return True if neither the operands nor the result has an error."""
    return is_exact(n) and not any(isinstance(x, Doubled) for x in xs)


def _error(n: Node, z: Node, xs: Sequence[Value]) -> tuple[Node, bool]:
    """Return the error of a result in float64, and whether its own rounding error is known."""
    doubled = [_widened(x) if isinstance(x, Node) else x for x in xs]
    if n.dtype == FLOAT32 or any(x.dtype == FLOAT32 for x in z.inputs):
        return _in_float64(n, z, doubled), True
    try:
        if n.op in SCALAR:
            return SCALAR[n.op](z, *doubled), True
        if n.row.order:
            return _partial(n, z, doubled)
        if n.op in SYSTEMS:
            return system_error(z, doubled, _walked), True
        return tensor_error(n, z, doubled), True
    except KeyError:
        return _first_order(n, z, xs), False


def _walked(graph: Graph, inputs: Sequence[Value]) -> Doubled:
    (found,) = Shadow().of(graph, inputs)
    return found.value if isinstance(found.value, Doubled) else _widened(found.value)


def _in_float64(n: Node, z: Node, xs: Sequence[Doubled]) -> Node:
    """The same operation in float64, less the result."""
    wide = [_wide(x) for x in xs]
    y = wide[0] if n.op == "convert" else make_node(n.op, n.params, *wide)
    y = y if y.dtype == FLOAT64 else convert(y, FLOAT64)
    return d.finite(op("sub", y, convert(z, FLOAT64)))


def _wide(x: Doubled) -> Node:
    if x.value.dtype.kind != "f":
        return x.value
    value = convert(x.value, FLOAT64)
    corrected = op("add", value, x.error)
    return op("where", op("isfinite", value), corrected, value)


def _partial(n: Node, z: Node, xs: Sequence[Doubled]) -> tuple[Node, bool]:
    """A partial derivative, by its formula."""
    fresh = [_fresh(x.value) for x in xs]
    try:
        outputs = without_partials([make_node(n.op, None, *fresh)])
    except BurlabError:
        raise KeyError(n.op) from None
    ((value, complete),) = Shadow().of(Graph(tuple(fresh), tuple(outputs)), xs)
    pair = value if isinstance(value, Doubled) else _widened(value)
    return d.finite(d.error_of(pair, z)), complete and not any(map(_is_rounded, topological(outputs, fresh)))


def _is_rounded(n: Node) -> bool:
    """Return True for a constant of many digits, which stands for another number, as 1.1283791670955126 does."""
    return (
        n.op == "constant" and n.dtype.kind == "f" and bool(np.any(n.params * 2.0**20 != np.rint(n.params * 2.0**20)))
    )


def _first_order(n: Node, z: Node, xs: Sequence[Value]) -> Node:
    """The derivatives of an operation along the errors of its operands; where it has none, they are lost."""
    fresh = [_fresh(x) for x in n.inputs]
    found = zeros(z.shape, FLOAT64)
    for x, value in zip(fresh, xs, strict=True):
        if not isinstance(value, Doubled) or n.row.constant:
            continue
        try:
            (tangent,) = sweep.jvp([make_node(n.op, n.params, *fresh)], [x], [value.error])
        except BurlabError:
            continue
        found = op("add", found, *inline(Graph(tuple(fresh), (tangent,)), [_value(x) for x in xs]))
    return d.finite(found)


def _inlined(n: Node, xs: Sequence[Value], complete: bool) -> Shadowed:
    """A call: what its graph gives."""
    fresh = [_fresh(x) for x in n.inputs]
    outputs = without_calls([keep(n, tuple(fresh))])
    value, own = Shadow().of(Graph(tuple(fresh), tuple(outputs)), xs)[0]
    return Shadowed(value, complete and own)


def _fresh(x: Node) -> Node:
    return Node("input", (), None, x.shape, x.dtype)


def _value(x: Value) -> Node:
    return x.value if isinstance(x, Doubled) else x


def _widened(x: Node) -> Doubled:
    """A value that has no error; one that is no float stands for its error, too."""
    return Doubled(x, zeros(x.shape, FLOAT64) if x.dtype.kind == "f" else x)


def _parts(x: Value) -> Parts:
    return tuple(x) if isinstance(x, Doubled) else (x,)


def _from_parts(parts: Parts) -> Value:
    return Doubled(*parts) if len(parts) == 2 else parts[0]
