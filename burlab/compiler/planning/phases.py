"""The two phases of a call: forward, which the value needs, and backward, which only the gradient needs."""

from burlab.compiler.ir.plan import Invoke, Step
from burlab.graph import Graph, Node
from burlab.graph.order import topological


def forward_of(graph: Graph) -> set[Node]:
    """Return the nodes that the first output, the value, depends on. All others are there for the gradient only."""
    return set(topological(graph.outputs[:1]))


def nodes_of(step: Step) -> tuple[Node, ...]:
    """Return the nodes that a step computes, or helps to compute."""
    return (step.node,) if isinstance(step, Invoke) else step.nodes
