"""Arrays that depend on whole arrays of the data alone, such as functions of entries of a matrix: computed once."""

from typing import NamedTuple

from burlab.compiler.executable import build
from burlab.graph import Graph, Node
from burlab.graph.origin import derived_from
from burlab.graph.structural_hash import structural_keys
from burlab.graph.substitute import keep, rebuild
from burlab.problems.data import Data
from burlab.runtime.coerce import Array


class Derived(NamedTuple):
    """A graph in two parts. once: from whole arrays to what depends on nothing else. rest: takes these behind them."""

    once: Graph
    rest: Graph

    def arrays(self, data: Data) -> tuple[Array, ...]:
        """Return the values for data, which keep them for other queries."""
        keys = structural_keys(self.once, {x: str(k) for k, x in enumerate(self.once.inputs)})
        missing = [y for y in self.once.outputs if keys[y] not in data.derived]
        if missing:
            values = build(Graph(self.once.inputs, tuple(missing)))(*data.wholes)
            data.derived.update(zip([keys[y] for y in missing], values, strict=True))
        return tuple(data.derived[keys[y]] for y in self.once.outputs)


def derived(graph: Graph, points: int, wholes: int) -> Derived | None:
    """Split the graph of a sample; None where nothing depends on whole arrays alone.

    points: number of inputs before the whole ones; wholes: number of these.
    """
    given = graph.inputs[points : points + wholes]
    own, constants = set(given), set[Node]()
    for n in graph.nodes:
        if n.row.leaf:
            if n.is_constant:
                constants.add(n)
        elif all(x in own or x in constants for x in n.inputs):
            (own if own.intersection(n.inputs) else constants).add(n)
    users = graph.users
    ends = [n for n in graph.nodes if n in own - set(given) and not all(u in own for u in users[n])]
    ends += [n for n in dict.fromkeys(graph.outputs) if n in own - set(given) and n not in ends]
    if not ends:
        return None
    inputs: list[Node] = []
    for n in ends:
        with derived_from(n):
            inputs.append(Node("input", (), "", n.shape, n.dtype))
    known = dict(zip(ends, inputs, strict=True)) | {x: x for x in graph.inputs}
    first, second = graph.inputs[: points + wholes], graph.inputs[points + wholes :]
    rest = Graph((*first, *inputs, *second), tuple(rebuild(graph.outputs, known, keep)))
    return Derived(Graph(given, tuple(ends)), rest)
