"""Export of a tape as a `burlab.graph.Graph` of scalars, for the compiler, the display and files."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from burlab.graph import Graph, Node
from burlab.graph.node import constant
from burlab.graph.numpy_api import composites
from burlab.graph.numpy_api.promotion import node as scalar

from .native import tools_of

_np: Any = np  # whose stubs know nothing of nodes


def _stack(nodes: Sequence[Node]) -> Any:
    return _np.stack(list(nodes))


def _dot(xs: Sequence[Node]) -> Any:
    return _np.sum(_stack(xs[:-1:2]) * _stack(xs[1:-1:2])) + xs[-1] if len(xs) > 1 else xs[-1]


def _variance(xs: Sequence[Node]) -> Any:
    x = _stack(xs[:-1])
    return _np.sum((x - _np.mean(x)) ** 2) / xs[-1]


# An operation over a sequence, as the composition that it is one node of.
_WIDE: dict[str, Callable[[Sequence[Node]], Any]] = {
    "sum": lambda xs: _np.sum(_stack(xs)),
    "mean": lambda xs: _np.mean(_stack(xs)),
    "negative_mean": lambda xs: -_np.mean(_stack(xs)),
    "sum_of_squares": lambda xs: _np.sum(_stack(xs) ** 2),
    "mean_of_squares": lambda xs: _np.mean(_stack(xs) ** 2),
    "prod": lambda xs: _np.prod(_stack(xs)),
    "dot": _dot,
    "variance": _variance,
    "logsumexp": lambda xs: composites.logsumexp(_stack(xs)),
}


def to_graph(tape: Any, roots: Sequence[int]) -> Graph:
    """The graph of the nodes `roots` of a tape; of every node that nothing was computed from, where there are none."""
    recorded = _recorded(tape, roots)
    used = {parent for _, _, _, _, operands in recorded.values() for parent, _ in operands}
    made: dict[int, Node] = {}
    inputs: list[Node] = []
    for index, (operation, _, _, label, operands) in sorted(recorded.items()):
        if operation == "leaf":
            inputs.append(Node("input", (), label or f"x{len(inputs)}", (), tape.dtype))
            made[index] = inputs[-1]
            continue
        xs = [made[parent] if parent else constant(number, tape.dtype) for parent, number in operands]
        made[index] = _WIDE[operation](xs) if operation in _WIDE else scalar(operation, *xs)
    outputs = roots or [index for index in recorded if index not in used]
    return Graph(tuple(inputs), tuple(made[index] for index in sorted(outputs)))


def _recorded(tape: Any, roots: Sequence[int]) -> dict[int, Any]:
    """The nodes that are needed, by number: operation, data, grad, label, operands."""
    node = tools_of(tape).node
    if not roots:
        return {index: node(tape, index) for index in range(1, len(tape) + 1)}
    found: dict[int, Any] = {}
    stack = list(roots)
    while stack:
        index = stack.pop()
        if index not in found:
            found[index] = node(tape, index)
            stack.extend(parent for parent, _ in found[index][4] if parent)
    return found
