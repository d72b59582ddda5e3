"""Signs of numbers that are known when a function is traced: products and quotients of such bounds take fewer ends."""

import numpy as np

from burlab.graph.node import Node

_DEPTH = 8  # of operations that are looked through
_POSITIVE = frozenset("square exp exp2 abs sigmoid softplus cosh erfc".split())
"""Operations whose result is 0, above it, or nan."""
_ALL = frozenset(
    "add mul div lower_bound upper_bound minimum fmin broadcast reshape slice transpose sum concatenate".split()
)
"""Operations whose result is not below 0 if none of their operands is, and not -0 either."""


def is_nonnegative(n: Node, depth: int = _DEPTH) -> bool:
    """Return True if a float is known to be 0, above it, or nan, and never -0."""
    known = n.known
    if known is not None:
        return not np.signbit(known).any()
    if n.op in _POSITIVE:
        return True
    if not depth or n.dtype.kind != "f":
        return False
    if n.op == "where":
        return all(is_nonnegative(x, depth - 1) for x in n.inputs[1:])
    return n.op in _ALL and all(is_nonnegative(x, depth - 1) for x in n.inputs)


def is_positive(n: Node) -> bool:
    """Return True for known finite numbers above 0."""
    known = n.known
    return known is not None and known.dtype.kind == "f" and bool((known > 0).all() and np.isfinite(known).all())
