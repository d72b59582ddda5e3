"""The number that a step uses of a live field: of its schedule, unless another one has been set."""

from typing import Any, cast

import numpy as np

from burlab.errors import ArgumentError, DTypeError, TraceError
from burlab.graph import Node
from burlab.graph.complex.array import Complex
from burlab.graph.node import as_node
from burlab.graph.numpy_api.promotion import as_dtype
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


def described(value: object) -> str:
    """Describe a value that is not a real number."""
    return "complex numbers" if isinstance(value, (complex, Complex)) else f"a {type(value).__name__}"
