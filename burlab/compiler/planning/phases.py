"""Which phase of a call a step belongs to: forward, what the value needs, or backward, what the gradient needs."""

from burlab.compiler.ir.plan import Invoke, Step
from burlab.graph import Graph, Node
from burlab.graph.order import topological


def forward_of(graph: Graph) -> set[Node]:
    """What the first output, the value, depends on. All else is there for the gradient only."""
    return set(topological(graph.outputs[:1]))


def nodes_of(step: Step) -> tuple[Node, ...]:
    """What a step computes, or helps to compute."""
    return (step.node,) if isinstance(step, Invoke) else step.nodes
