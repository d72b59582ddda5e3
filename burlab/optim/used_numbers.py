"""The number that a step uses of a live field: of its schedule, unless another one has been set."""

from typing import Any, cast

import numpy as np

from burlab.errors import ArgumentError, DTypeError, ShapeError, TraceError
from burlab.graph import Node, tree
from burlab.graph.complex.array import Complex
from burlab.graph.graph import topological
from burlab.graph.node import as_node
from burlab.graph.numpy_api.promotion import as_dtype
from burlab.runtime.checks.numbers import shown
from burlab.typing import Operand

from .live_fields import Live


def used_number(field: Live, value: Node, t: Node) -> Node:
    """The number that a step uses: of the schedule, unless another one has been set."""
    if not callable(field.start):
        return value
    planned = real_number(field.start(t), f"what the schedule of {field.name} gave")
    if planned.shape or planned.dtype.kind not in "fi":
        raise ArgumentError(
            f"the schedule of {field.name} gave {planned.dtype} of shape {planned.shape}, expected a number for each t."
        )
    follow = cast("Node", np.isnan(cast("Any", value)))
    return Node("where", (follow, as_dtype(planned, value.dtype), value), None, (), value.dtype, weak=True)


def real_number(value: Operand, what: str) -> Node:
    """Return a rule's or schedule's value as a node. what: its description."""
    try:
        return as_node(value)
    except (DTypeError, TraceError):
        raise ArgumentError(f"{what} is {described(value)}, expected a real number.") from None


def reads(values: Any, results: Any) -> bool:
    """Return True if any of the results depends on any of the values. Both: trees."""
    known, nodes = ([leaf for leaf in tree.flatten(one)[0] if isinstance(leaf, Node)] for one in (values, results))
    return not set(known).isdisjoint(topological(nodes))


def logged_number(kind: str, name: str, number: Operand) -> Node:
    """Return a metric of an update as float64. kind: of its optimizer."""
    node = real_number(number, f"the metric {shown(name)} that {kind}.update logs")
    if node.shape:
        raise ShapeError(f"the metric {shown(name)} that {kind}.update logs has shape {node.shape}, expected ().")
    return as_dtype(node, np.dtype(np.float64))


def described(value: object) -> str:
    """Describe a value that is not a real number."""
    return "complex numbers" if isinstance(value, (complex, Complex)) else f"a {type(value).__name__}"
