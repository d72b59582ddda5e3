"""Signatures of operations: dtypes, the form of a value, and its requirements.

Tracing makes nodes by the `form` of their row (`operation.py`), and `verify` holds the nodes of a file against it.
"""

import re
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from burlab.errors import GraphError
from burlab.runtime.dtypes import DTYPES

from .node import Node

Form = tuple[tuple[int, ...], "np.dtype[Any]"]
"""Shape and dtype of a value."""
ALL = frozenset(DTYPES.values())
BOOL = DTYPES["bool"]
FLOATS, NUMBERS, WHOLE = (frozenset(dtype for dtype in ALL if dtype.kind in kinds) for kinds in ("f", "fiu", "iu"))


def require(fits: bool, what: str) -> None:
    """Raise GraphError with this message unless a condition holds."""
    if not fits:
        raise GraphError(what)


def form_of(n: Node) -> Form:
    """Return the form of a node."""
    return n.shape, n.dtype


def forms_of(nodes: Sequence[Node]) -> list[Form]:
    """Return the forms of nodes."""
    return [(n.shape, n.dtype) for n in nodes]


@cache
def letters_of(spec: str) -> tuple[str, str, str]:
    """Return the letters of both operands of a contraction, and of its result."""
    left, right, out = re.split(",|->", spec)
    return left, right, out


def letter_sizes(n: Node) -> dict[str, int]:
    """Return the sizes of the axes of a contraction, by letter."""
    left, right, _ = letters_of(n.params)
    return dict(zip(left + right, n.inputs[0].shape + n.inputs[1].shape, strict=True))
