"""Documents of existing objects: a function and its arguments, a Graph, a Value on a tape."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from burlab.errors import ArgumentError, GraphError
from burlab.graph import Graph, Node, tree
from burlab.graph.rewrite.simplify import without_calls
from burlab.graph.scalar import scalar_ops
from burlab.graph.tracing.trace import Spec, spec_of, trace
from burlab.runtime.checks.numbers import shown

from .block_palette import SCALAR_GROUPS, palette
from .document import Document

if TYPE_CHECKING:
    from burlab.eager import Value
    from burlab.eager.ancestry import Recorded

_EXACT = ("float64", "float32", "int64", "bool")


def of_function(f: Callable[..., Any], args: tuple[Any, ...]) -> Document:
    """The graph of f, with its arguments as the values of the inputs."""
    traced = trace(f, args)
    if not traced.graph.outputs:
        raise GraphError("the function must return an array, whose graph is shown; it returns none.")
    leaves = [leaf for leaf in tree.flatten(args)[0] if isinstance(spec_of(leaf), Spec)]
    return of_graph(traced.graph, leaves)


def of_graph(graph: Graph, values: Sequence[Any] = ()) -> Document:
    """A block for each node. values: of the inputs; ones by default.

    Raises GraphError where the graph has control flow or random numbers in it, for which there are no blocks.
    """
    outputs = without_calls(graph.outputs)
    whole = Graph(graph.inputs, tuple(outputs))
    given = list(values) or [np.ones(x.shape, x.dtype) for x in graph.inputs]
    if len(given) != len(graph.inputs):
        raise ArgumentError(f"the graph has {len(graph.inputs)} inputs, got {len(given)} values. Pass one for each.")
    silent, value_of = _silent(whole), dict(zip(graph.inputs, given, strict=True))
    draft = _Draft()
    for n in whole.nodes:
        if n in silent:
            draft.keys[n] = draft.keys[n.inputs[0]]
        elif n.is_input:
            if n.dtype.name not in _EXACT:
                raise GraphError(f"the input {n.params} is {n.dtype}, which a builder has not: {', '.join(_EXACT)}.")
            options = {"value": np.asarray(value_of[n]), "dtype": n.dtype.name}
            draft.keys[n] = draft.add("input", label=str(n.params or ""), options=options)
        elif n.is_constant:
            draft.keys[n] = draft.add("constant", options=_constant(n))
        else:
            kind, options = _operation(n)
            draft.keys[n] = draft.add(kind, [draft.keys[x] for x in n.inputs], options=options)
    return draft.document.choose(draft.keys[outputs[0]])


def _constant(n: Node) -> dict[str, Any]:
    plain = n.weak or (n.params.ndim > 0 and n.dtype.name in ("float64", "int64", "bool"))
    return {"value": n.params} if plain else {"value": n.params, "dtype": n.dtype.name}


def _operation(n: Node) -> tuple[str, dict[str, Any]]:
    """The kind of block for a node, and its options: NumPy's function if it is one, else the operation itself."""
    row = palette().get(n.op)
    if row is not None and (row.group in SCALAR_GROUPS or n.op == "stop_gradient"):
        return n.op, {}
    if n.op == "sum":
        return "sum", {"axis": None if len(n.params) == n.inputs[0].ndim else n.params}
    if n.op in _NAMED:
        kind, option = _NAMED[n.op]
        return kind, {option: n.params}
    if n.op == "contract" and n.params in _MATRIX_PRODUCTS:
        return "matmul", {}
    if f"graph.{n.op}" not in palette():
        raise GraphError(
            f"the graph has a node {shown(n.op)}, for which a builder has no block: it has no loops, branches, random "
            "numbers or derivatives. Show such graphs with bl.GraphView."
        )
    return f"graph.{n.op}", {} if n.params is None else {"params": n.params}


_NAMED = {"reshape": ("reshape", "shape"), "transpose": ("transpose", "axes"), "concatenate": ("concatenate", "axis")}
_MATRIX_PRODUCTS = ("ab,bc->ac", "ab,b->a", "a,ab->b", "a,a->")


def _silent(graph: Graph) -> set[Node]:
    """Broadcasts that scalar operations do by themselves, as NumPy's do: no blocks are needed for them."""
    scalar = {name for name, row in palette().items() if row.group in SCALAR_GROUPS}
    outputs, found = set(graph.outputs), set[Node]()
    for n in graph.nodes:
        if n.op == "broadcast" and n not in outputs and n.params[1] == tuple(range(n.ndim - n.inputs[0].ndim, n.ndim)):
            others = [[x for x in user.inputs if x.op != "broadcast"] for user in graph.users[n]]
            if all(user.op in scalar for user in graph.users[n]) and all(others):
                found.add(n)
    return found


# What an operation of the tape over a sequence is, after `stack`.
_WIDE: Mapping[str, tuple[str, ...]] = {
    "sum": ("sum",),
    "mean": ("mean",),
    "negative_mean": ("mean", "neg"),
    "sum_of_squares": ("square", "sum"),
    "mean_of_squares": ("square", "mean"),
    "prod": ("prod",),
    "logsumexp": ("logsumexp",),
}


def of_value(root: "Value") -> Document:
    """The record behind a Value, with its labels; the leaves are inputs."""
    draft = _Draft()
    for n in _record(root):
        operands = [draft.keys[parent] if parent else draft.number(number) for parent, number in n.operands]
        if n.operation == "leaf":
            key = draft.add("input", label=n.label or "", options={"value": n.data})
        elif n.operation in _WIDE:
            key = draft.add("stack", operands)
            for kind in _WIDE[n.operation]:
                key = draft.add(kind, [key])
        elif n.operation in scalar_ops():
            key = draft.add(n.operation, operands, label=n.label or "")
        else:  # a product of two sequences, a variance: as the graph has it
            return of_graph(root.tape.graph(root), [m.data for m in _record(root) if m.operation == "leaf"])
        draft.keys[n.index] = key
    return draft.document.choose(draft.keys[max(draft.keys)])


class _Draft:
    """A document that is being written; keys: the blocks of nodes."""

    def __init__(self) -> None:
        self.document = Document()
        self.keys: dict[Any, int] = {}
        self._numbers: dict[float, int] = {}

    def add(self, kind: str, operands: Sequence[int] = (), **fields: Any) -> int:
        self.document, key = self.document.add(kind, operands, **fields)
        return key

    def number(self, number: float) -> int:
        """The constant of a number: an integer if possible, as it was probably written."""
        if number not in self._numbers:
            value = int(number) if number.is_integer() and abs(number) < 2**53 else number
            self._numbers[number] = self.add("constant", options={"value": value})
        return self._numbers[number]


def _record(root: "Value") -> "list[Recorded]":
    """The nodes behind a Value, in the order of the tape."""
    from burlab.eager.ancestry import ancestors

    return sorted(ancestors(root), key=lambda n: n.index)
