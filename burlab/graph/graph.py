"""A computation graph: inputs, outputs, and everything between."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from burlab.runtime.displayed import Pictured

from . import hooks
from .node import Node


def topological(outputs: Sequence[Node], known: Iterable[Node] = ()) -> list[Node]:
    """Return all nodes that the outputs depend on, each after its inputs; deterministic. None lies behind `known`.

    Without recursion: a chain of a million nodes is fine.
    """
    order: list[Node] = []
    seen = set(known)
    stack: list[Node | None] = [*reversed(outputs)]
    while stack:
        n = stack.pop()
        if n is None:  # the node below is done: all its inputs came before
            order.append(stack.pop())  # pyright: ignore[reportArgumentType] - a mark lies on its node
        elif n not in seen:
            seen.add(n)
            if inputs := [x for x in reversed(n.inputs) if x not in seen]:
                stack += (n, None, *inputs)
            else:  # all its inputs came before
                order.append(n)
    return order


@dataclass(frozen=True)
class Graph(Pictured):
    """A traced computation. Printed, one line per node: number, operation, inputs, shape, dtype, the user's line.

    inputs: nodes of operation `input`, in the order of the arguments; outputs: any nodes, even one of them twice.
    """

    inputs: tuple[Node, ...]
    outputs: tuple[Node, ...]

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """Every node, inputs first, each after its dependencies."""
        inputs = set(self.inputs)
        return (*self.inputs, *(n for n in topological(self.outputs) if n not in inputs))

    @cached_property
    def index(self) -> dict[Node, int]:
        """The number of each node."""
        return {n: k for k, n in enumerate(self.nodes)}

    @cached_property
    def users(self) -> dict[Node, list[Node]]:
        """The nodes that read each node, once for each input that it is."""
        users: dict[Node, list[Node]] = {n: [] for n in self.nodes}
        for n in self.nodes:
            for x in n.inputs:
                users[x].append(n)
        return users

    @cached_property
    def key(self) -> str:
        """A hash of the graph's computation; names and lines of the user's code do not enter."""
        return hooks.formats.digest(self)

    def __len__(self) -> int:
        return len(self.nodes)

    def __hash__(self) -> int:
        return id(self)

    def __eq__(self, other: object) -> bool:
        return self is other

    def __str__(self) -> str:
        return hooks.formats.listing(self)

    def to_json(self) -> str:
        """The graph as versioned JSON; `Graph.from_json` reads it back."""
        return hooks.formats.to_json(self)

    @staticmethod
    def from_json(text: str) -> "Graph":
        """A graph from its JSON.

        Args:
            text: Result of `to_json`.

        Returns:
            The graph.

        Raises:
            GraphError: The text is no graph, or of a newer version.
        """
        return hooks.formats.from_json(text)

    def to_dot(self) -> str:
        """The graph in Graphviz's DOT language."""
        return hooks.formats.dot(self)


@dataclass(frozen=True, eq=False)
class Call:
    """The parameter of a `call` node: a sub-graph with one output, its name, its own reverse rule if it has one.

    backward: a graph from (inputs, output, cotangent) to the cotangents of the floating inputs, or one made later.
    """

    name: str
    graph: Graph
    backward: "Graph | Later | None" = None


class Later:
    """A reverse rule that is built when a derivative needs it: it may contain calls with such rules.

    It is no data: a graph that is written to a file keeps the called graph, without this rule.
    """

    def __init__(self, make: Callable[[], Graph]) -> None:
        self._make = make

    @cached_property
    def graph(self) -> Graph:
        """From (inputs, output, cotangent) to the cotangents of the floating inputs."""
        return self._make()


class ScanIterations(NamedTuple):
    """The bounds of a `scan`: numbers of carries and sequences, length, and whether it starts at the last element."""

    carries: int
    sequences: int
    length: int
    reverse: bool


@dataclass(frozen=True, eq=False)
class Region:
    """The sub-graphs of control flow. Nodes of one region with the same inputs are results of one execution of it."""

    graphs: tuple[Graph, ...]
    iterations: ScanIterations | None = None


class Result(NamedTuple):
    """The parameter of a control-flow node: which result of its region it is.

    batch: sizes of leading axes: the region is executed once for each of their rows, and an input has all of these axes
    or none.
    """

    region: Region
    item: int
    batch: tuple[int, ...] = ()
