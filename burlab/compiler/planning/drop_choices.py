"""Choices whose outcome is known where their value is used.

Where x is 0, a norm takes 0 for its slope; elsewhere it divides by x. To divide by no zero, it divides by
`where(x == 0, 1, x)`, and chooses by `x == 0` what it uses of the quotient. Inside of the outer choice the inner one is
x itself, and its root or its reciprocal may be one that is there already.
"""

from burlab.graph import Graph, Node
from burlab.graph.rewrite.simplify import simplify
from burlab.graph.substitute import keep, rebuild

_Facts = frozenset[tuple[Node, bool]]  # masks, with what they are at the elements for which a value is used
_NONE: _Facts = frozenset()


def drop_choices(graph: Graph) -> Graph:
    """Return the graph without inner choices that outer ones by the same mask decide; the same graph if it has none.

    Not a bit of a result changes, but values that no result uses may become infinite or nan.

    >>> import numpy as np
    >>> x = Node("input", (), None, (9,), np.dtype(np.float64))
    >>> zero = x == 0.0
    >>> graph = Graph((x,), (np.where(zero, x, 1.0 / np.where(zero, 1.0, x)),))
    >>> [n.op for n in drop_choices(graph).nodes if n.op == "where"]
    ['where']
    """
    if sum(n.op == "where" for n in graph.nodes) < 2:
        return graph
    taken = _taken(graph)
    if not taken:
        return graph
    outputs = rebuild(graph.outputs, {}, lambda n, inputs: inputs[taken[n]] if n in taken else keep(n, inputs))
    return simplify(Graph(graph.inputs, tuple(outputs)))


def _taken(graph: Graph) -> dict[Node, int]:
    """For each choice that is decided, which of its inputs it takes.

    A value counts where all its users use it. Only floats are looked at: to compute one in vain has no effect.
    """
    facts: dict[Node, _Facts] = dict.fromkeys(graph.outputs, _NONE)
    taken: dict[Node, int] = {}
    for n in reversed(graph.nodes):
        own = facts.get(n, _NONE)
        if n.op == "where" and n.dtype.kind == "f":
            mask = n.inputs[0]
            given = (own, own | {(mask, True)}, own | {(mask, False)})
            for k, chosen in ((1, True), (2, False)):
                if (mask, chosen) in own:
                    taken[n] = k
        else:
            given = (own if n.row.elementwise and n.dtype.kind == "f" else _NONE,) * len(n.inputs)
        for x, known in zip(n.inputs, given, strict=True):
            here = known if x.shape == n.shape else _NONE
            facts[x] = facts[x] & here if x in facts else here
    return taken
