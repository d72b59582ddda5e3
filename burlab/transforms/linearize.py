"""`linearize`: the value of a function, and its derivative there as a compiled linear function."""

from collections.abc import Callable, Sequence
from typing import Any

from burlab.compiler.function import Function
from burlab.graph import Graph, Node, topological, tree
from burlab.graph.autodiff import sweep
from burlab.graph.node import as_node
from burlab.graph.substitute import keep, rebuild
from burlab.typing import Tree

from .call import TracedCall, match, name_of
from .memo import remembered


def linearize(f: Callable[..., Any], *primals: Tree) -> tuple[Any, Callable[..., Any]]:
    """Return the value f(*primals), and the linear function (*tangents) -> J tangents at that point.

    What the derivative needs of the point is computed once and stored: each further product costs the linear part
    alone.

    Args:
        f: a function of arrays, numbers and trees of them.
        primals: its arguments.

    Returns:
        The value, and a function that takes one tangent for each primal, of its structure, shapes and dtypes; None for
        an argument that is not floating.

    Raises:
        ShapeError, DTypeError: when the linear function is called, if a tangent differs from its primal.

    >>> import numpy as np, burlab as bl
    >>> y, push = bl.linearize(lambda x: np.exp(x) * x, np.array([0.0, 1.0]))
    >>> y.round(3), push(np.array([1.0, 0.0])), push(np.array([0.0, 1.0])).round(3)
    (array([0.   , 2.718]), array([1., 0.]), array([0.   , 5.437]))
    """

    def at(primals: tuple[Any, ...]) -> Any:
        call = TracedCall(f, primals, {})
        return call.place((call.result, tuple(_Derivative(call).residuals)))

    def push(primals: tuple[Any, ...], residuals: tuple[Any, ...], tangents: tuple[Any, ...]) -> Any:
        derivative = _Derivative(TracedCall(f, primals, {}))
        tangent_nodes = match(tangents, derivative.inputs, derivative.structure, "the tangents of linearize")
        known = dict(
            zip(
                (*derivative.residuals, *derivative.tangent_nodes),
                (*map(as_node, residuals), *tangent_nodes),
                strict=True,
            )
        )
        return tree.unflatten(derivative.result, rebuild(derivative.outputs, known, keep))

    def both() -> tuple[Any, Any]:
        name = f"linearize({name_of(f)})"
        return Function(at, name=name, reads=(f,)), Function(push, name=name, reads=(f,))

    prepare, apply = remembered(f, "linearize", both)
    y, residuals = prepare(primals)
    return y, lambda *tangents: apply(primals, residuals, tangents)


class _Derivative:
    """The tangents of a call's results, and what they need of its point.

    inputs: the floating leaves, of which `structure` is the tree; tangent_nodes: their tangents; outputs: the tangents
    of the results.
    residuals: nodes that only depend on the point and are read by nodes that depend on the tangents.
    """

    def __init__(self, call: TracedCall) -> None:
        floating = call.floating()
        self.inputs = [x for k in floating for x in call.by(k, "linearize")[0]]
        self.structure = tree.flatten(tuple(p if k in floating else None for k, p in enumerate(call.args)))[1]
        self.tangent_nodes = [Node("input", (), "tangent", x.shape, x.dtype) for x in self.inputs]
        results, self.result = tree.flatten(call.result)
        self.outputs = sweep.jvp(results, self.inputs, self.tangent_nodes)
        self.residuals = _residuals(Graph((*call.inputs, *self.tangent_nodes), tuple(self.outputs)), self.tangent_nodes)


def _residuals(graph: Graph, tangent_nodes: Sequence[Node]) -> list[Node]:
    linear = set(tangent_nodes)
    read: list[Node] = []
    fixed: set[Node] = set()  # what depends on the point, and on no tangent
    for n in topological(graph.outputs):
        if n.is_input:
            if n not in linear:
                fixed.add(n)
        elif not linear.isdisjoint(n.inputs):
            linear.add(n)
            read += (x for x in n.inputs if x in fixed)
        elif not fixed.isdisjoint(n.inputs):
            fixed.add(n)
    return list(dict.fromkeys(_base(n) for n in read))


def _base(n: Node) -> Node:
    """Return the array behind a view: it may be much smaller."""
    while n.row.view and n.inputs:
        n = n.inputs[0]
    return n
