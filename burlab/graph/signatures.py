"""The signature of every operation: its parameters, what it takes, and the form of what it makes of that.

Tracing makes nodes by these (`made`), and `verify` holds the nodes of a file against the same ones. The signature of an
operation stands beside the functions that make its nodes: of linear ones in `linear_table.py`, scalar ones in
`elementwise.py`, the others in a module of their own.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from burlab.errors import GraphError
from burlab.runtime.checks import Check

from .node import Node

Form = tuple[tuple[int, ...], "np.dtype[Any]"]
"""Shape and dtype of a value."""
DTYPES = {name: np.dtype(name) for name in ("float32", "float64", "int32", "int64", "uint64", "bool")}
ALL = frozenset(DTYPES.values())
FLOATS, NUMBERS = (frozenset(dtype for dtype in ALL if dtype.kind in kinds) for kinds in ("f", "fiu"))


class Signature(NamedTuple):
    """What is known of an operation.

    params: whether its parameters are of the types and within the ranges that they may have. form: what it makes, from
    parameters and inputs; raises GraphError where they do not fit each other.
    """

    params: Check
    form: Callable[[Any, Sequence[Node]], Form]


SIGNATURES: dict[str, Signature] = {}  # of operations that are neither scalar nor linear


def made(op: str, params: Any, *inputs: Node, weak: bool = False) -> Node:
    """A node of such an operation."""
    return Node(op, inputs, params, *SIGNATURES[op].form(params, inputs), weak)


def require(fits: bool, what: str) -> None:
    """Raise GraphError, unless something fits."""
    if not fits:
        raise GraphError(what)


def form_of(n: Node) -> Form:
    """The form of a node."""
    return n.shape, n.dtype


def forms_of(nodes: Sequence[Node]) -> list[Form]:
    """The forms of nodes."""
    return [(n.shape, n.dtype) for n in nodes]
