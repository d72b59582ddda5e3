"""`order_updates`: arrays of the caller that a kernel updates in place come after all that reads them."""

from dataclasses import replace

from burlab.compiler.ir.in_place_updates import readers, update_of
from burlab.graph import Node

from .locate import Located


def order_updates(located: Located) -> Located:
    """Make each update of an input wait for all others that read the input."""
    graph = located.graph
    found: dict[Node, tuple[Node, ...]] = dict(located.after)
    for source, target in located.options.in_place:
        if graph.outputs[target] is graph.inputs[source]:
            continue
        nodes = update_of(graph, source, target)
        assert nodes, "an output that is no update of its input cannot have the memory of it"
        before = readers(graph, graph.inputs[source], nodes)
        for n in nodes:
            found[n] = (*found.get(n, ()), *before)
    return replace(located, after=found)
