"""Facts about the numbers of nodes that follow from their operations."""

import numpy as np

from burlab.graph.node import Node

from .roots import is_root

MAX_COMPARED_PAIRS = 200  # pairs of nodes that are compared before two expressions count as different


def same(x: Node, y: Node) -> bool:
    """Return True if two nodes of one trace are seen to compute the same."""
    waiting, seen = [(x, y)], set[tuple[Node, Node]]()
    while waiting:
        pair = a, b = waiting.pop()
        if a is b or pair in seen:
            continue
        seen.add(pair)
        if a.is_constant and b.is_constant and a.dtype == b.dtype and np.array_equal(a.params, b.params):
            continue
        if a.row.leaf:
            return False
        alike = (
            a.params == b.params if a.op != "call" else is_root(a) and is_root(b) and a.params.order == b.params.order
        )
        if len(seen) > MAX_COMPARED_PAIRS or (a.op, a.shape, a.dtype) != (b.op, b.shape, b.dtype) or not alike:
            return False
        waiting += [(a.inputs[0], b.inputs[0])] if a.op == "call" else zip(a.inputs, b.inputs, strict=True)
    return True


def known_number(x: Node) -> float | None:
    """The one number that a node is known to be."""
    return None if (known := x.known) is None or known.shape else float(known)


def least_known(x: Node) -> float | None:
    """The least number of a known array; nan counts as none of them."""
    while x.op in ("broadcast", "reshape", "convert"):
        (x,) = x.inputs
    return float(np.fmin.reduce(x.params, axis=None)) if x.is_constant and x.size else None


def sizes_above_one(x: Node) -> list[int]:
    """The sizes of the axes that have more than one entry."""
    return [size for size in x.shape if size != 1]
