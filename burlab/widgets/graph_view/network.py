"""A viewed graph as plain data: the nodes of a `Graph` or behind a `Value`, their labels, and their inputs."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from burlab.graph import Graph, Node, topological
from burlab.graph.origin import Origin, short_place
from burlab.graph.show import label

from .inside import Inside, Spot, insides, unfolded

if TYPE_CHECKING:
    from burlab.eager.ancestry import Recorded

Kind = Literal["input", "operation", "output"]
_INFIX = ("+", "-", "*", "/", "**")
_KEY = re.compile(r"\['([^']+)'\]|\[(\d+)\]")


@dataclass(frozen=True, slots=True)
class Vertex:
    """A node as it is shown.

    head: the operation with the numbers that are known, or a name. form: dtype and shape. operands: what it is computed
    from, by number, as often as it takes each. scope: the parts of the model that it lies in, outermost first.
    moves: whether it only moves numbers. backward: whether it is there for the gradient only. name: of a gradient.
    nbytes: of its value. origin: the user's line. inside: of which control flow: "scan", "while" or "cond"; else "".
    """

    head: str
    operation: str
    form: str
    operands: tuple[int, ...]
    kind: Kind = "operation"
    scope: tuple[str, ...] = ()
    moves: bool = False
    backward: bool = False
    name: str = ""
    nbytes: int = 8
    origin: Origin | None = None
    inside: str = ""

    @property
    def place(self) -> str:
        """The user's line as a table shows it."""
        return short_place(self.origin)

    @property
    def search_text(self) -> str:
        """The text that a search reads."""
        return f"{self.head} {self.operation} {self.name} {self.place} {'/'.join(self.scope)}"


@dataclass(frozen=True)
class Network:
    """Vertices, each after its dependencies.

    nodes: of a graph, one per vertex; () where a Value was looked at. insides: the executions of the graph, opened.
    rules: formulas of the inputs of sub-graphs.
    """

    vertices: tuple[Vertex, ...]
    title: str = ""
    nodes: tuple[Node, ...] = ()
    index: dict[Node, int] = field(default_factory=dict[Node, int])
    insides: tuple[Inside, ...] = ()
    rules: dict[Node, str] = field(default_factory=dict[Node, str])


def network_of(graph: Graph, title: str = "", gradients: dict[int, str] | None = None) -> Network:
    """The vertices of a graph. Numbers that are known stand inside of the operation that takes them.

    gradients: names of the outputs that are gradients, by their position: what only they need is the backward pass.

    >>> import numpy as np, burlab as bl
    >>> [v.head for v in network_of(bl.compile(lambda x: np.tanh(x) * 2, 0.5).graph).vertices]
    ['x', 'tanh', 'mul(·, 2)']
    """
    found = insides(graph)
    spots = list(unfolded(graph, found))
    writer = _Writer(graph, gradients or {}, spots)
    rules = {spot.node: spot.rule.format(known(spot.operands[0]) or "a") for spot in spots if spot.rule}
    return Network(tuple(writer.vertices), title, tuple(writer.nodes), writer.index, found, rules)


class _Writer:
    """Vertices in the making. What depends on no input is written beside each part of the model that reads it."""

    def __init__(self, graph: Graph, gradients: dict[int, str], spots: Sequence[Spot]) -> None:
        self.vertices: list[Vertex] = []
        self.nodes: list[Node] = []
        self.index: dict[Node, int] = {}
        self._outputs = set(graph.outputs)
        self._fixed = _fixed(spots) - self._outputs
        self._spots = {spot.node: spot for spot in spots}
        self._forward = set(topological([y for k, y in enumerate(graph.outputs) if k not in gradients]))
        self._named = {graph.outputs[k]: name for k, name in gradients.items()}
        self._differentiated = bool(gradients)
        self._copies: dict[tuple[Node, tuple[str, ...], bool], int] = {}
        for spot in spots:
            if spot.node not in self._fixed:
                self._add(spot.node, spot.node)

    def _add(self, n: Node, reader: Node) -> int | None:
        """The number of the vertex of a node for who reads it; None where it is a number inside of the reader."""
        if n not in self._outputs and known(n) is not None:
            return None
        if n not in self._fixed:
            if n not in self.index:
                self.index[n] = self._append(n, n)
            return self.index[n]
        key = (n, self._spots[reader].scope, self._backward(reader))
        if key not in self._copies:
            self._copies[key] = self._append(n, reader)
            self.index.setdefault(n, self._copies[key])
        return self._copies[key]

    def _append(self, n: Node, reader: Node) -> int:
        spot = self._spots[n]
        operands = [self._add(x, reader if x in self._fixed and n in self._fixed else n) for x in spot.operands]
        self.nodes.append(n)
        self.vertices.append(
            Vertex(
                head=_inner_head(spot) if spot.inside and n.is_input else head(n),
                operation=n.op,
                form=f"{n.dtype.name}{list(n.shape) if n.shape else ''}",
                operands=tuple(k for k in operands if k is not None),
                kind="input" if n.is_input else "output" if n in self._outputs else "operation",
                scope=self._spots[reader].scope,
                moves=n.row.moves_data,
                backward=self._backward(reader),
                name=self._named.get(n, ""),
                nbytes=0 if n.row.view else n.nbytes,
                origin=n.origin,
                inside=spot.inside,
            )
        )
        return len(self.vertices) - 1

    def _backward(self, n: Node) -> bool:
        owner = self._spots[n].owner
        return self._differentiated and owner not in self._forward and not owner.is_input


def _inner_head(spot: Spot) -> str:
    """An input of a sub-graph: its name, and the number that it is at first where that is known."""
    name, numbers = pretty(str(spot.node.params or "carry")), [known(x) for x in spot.operands]
    return f"{name}, first {numbers[0]}" if any(numbers) else name


def _fixed(spots: Sequence[Spot]) -> set[Node]:
    """The nodes that depend on no input: known arrays, and what only moves them."""
    found: set[Node] = set()
    for n, operands in ((spot.node, spot.operands) for spot in spots):
        if n.is_constant or (not n.is_input and operands and n.row.moves_data and found.issuperset(operands)):
            found.add(n)
    return found


def recorded_network(nodes: Sequence["Recorded"], title: str = "") -> Network:
    """The vertices behind a Value, from `ancestors`, nearest first."""
    rows = sorted(nodes, key=lambda n: n.index)
    index = {n.index: k for k, n in enumerate(rows)}
    root = nodes[0].index
    return Network(
        tuple(
            Vertex(
                head=recorded_head(n),
                operation=n.operation,
                form="",
                operands=tuple(index[parent] for parent, _ in n.operands if parent in index),
                kind="output" if n.index == root else "operation" if n.symbol else "input",
            )
            for n in rows
        ),
        title,
    )


def gradient_names(graph: Graph) -> dict[int, str]:
    """The names of the outputs that look like gradients: those after a single number, shaped as some of the inputs.

    {} where the outputs do not look like a value and its gradient, or come out of one execution. An input that more
    than one could belong to is not named.
    """
    value, *others = graph.outputs or (None,)
    if value is None or not others or value.shape or value.dtype.kind != "f":
        return {}
    inputs = [x for x in graph.inputs if x.dtype.kind == "f"]
    if value.row.parts and any(y.op == value.op and y.params.region is value.params.region for y in others):
        return {}  # they are results of one loop
    first, last = _matched(others, inputs), _matched(others[::-1], inputs[::-1])
    if first is None or last is None:
        return {}
    names = [pretty(str(x.params)) if x is y else "" for x, y in zip(first, reversed(last), strict=True)]
    return {k + 1: name or f"argument, gradient {k}" for k, name in enumerate(names)}


def _matched(outputs: Sequence[Node], inputs: Sequence[Node]) -> list[Node] | None:
    """For each output, in order, the next input of its form."""
    left = iter(inputs)
    found: list[Node] = []
    for y in outputs:
        x = next((x for x in left if (x.shape, x.dtype) == (y.shape, y.dtype)), None)
        if x is None:
            return None
        found.append(x)
    return found


def pretty(name: str) -> str:
    """A readable path into a tree.

    >>> pretty("gpt['blocks'][0]['norm1']['weight']")
    'gpt.blocks.0.norm1.weight'
    """
    return _KEY.sub(lambda m: f".{m[1] or m[2]}", name)


def known(n: Node) -> str | None:
    """The number that a node is known to be, in short."""
    value = n.known
    return f"{value.item():.4g}" if value is not None and value.size == 1 else None


def head(n: Node) -> str:
    """A node in a few words: a name, or an operation with the numbers that it takes."""
    operands = [known(x) for x in n.inputs]
    if n.is_input:
        return pretty(str(n.params))
    if n.is_constant or n.row.parts:
        return label(n)
    spec = f" {n.params}" if n.row.multiplies else ""
    return f"{n.op}({', '.join(text or '·' for text in operands)})" if any(operands) else n.op + spec


def recorded_head(n: "Recorded") -> str:
    """A node of a tape in a few words: its label and its operation."""
    return " = ".join(filter(None, (n.label, expression(n)))) or "value"


def expression(n: "Recorded") -> str:
    """The operation as micrograd writes it, with the constants that it takes: "· * 2"; empty for a leaf."""
    if all(parent for parent, _ in n.operands) or n.symbol not in {*_INFIX, n.operation}:
        return n.symbol  # nothing is hidden, or the symbol says it: "**2"
    operands = ["·" if parent else f"{number:.4g}" for parent, number in n.operands]
    return f" {n.symbol} ".join(operands) if n.symbol in _INFIX else f"{n.symbol}({', '.join(operands)})"
