"""Errors of solutions of linear systems and of Cholesky's factors: by what is left of the equation, in many digits.

Iterative refinement: Wilkinson 1963, Rounding Errors in Algebraic Processes; Higham 2002, Accuracy and Stability of
Numerical Algorithms, chapter 12. An error has some 16 digits less those that the condition of the matrix costs, and a
second pass has twice as many.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from burlab.graph.graph import Graph
from burlab.graph.linalg.matrices import mT
from burlab.graph.linear_nodes import broadcast
from burlab.graph.node import Node, constant

from . import doubled as d
from .doubled import Doubled
from .pairs import number, op

Walk = Callable[[Graph, Sequence[Doubled]], Doubled]
"""The output of a graph with its error."""
_PASSES = 2


def system_error(z: Node, xs: Sequence[Doubled], walk: Walk) -> Node:
    """Return the error of solutions or factors z, whose node has the values of xs as its inputs."""
    fresh = [Node("input", (), None, x.shape, x.dtype) for x in (*z.inputs, z)]
    rule: Any = z.row
    if z.op == "cholesky":
        a, factor = fresh
        left = a - factor @ mT(factor)
    else:
        b, a, *_, solution = fresh
        matrix = _triangle(z, a) if z.op == "solve_triangular" else a
        left = b - (mT(matrix) if rule.transposed(z) else matrix) @ solution
    error = number(0.0, z)
    for _ in range(_PASSES):
        residual = d.whole(walk(Graph(tuple(fresh), (left,)), [*xs, Doubled(z, error)]))
        if z.op == "cholesky":
            more = rule.forward(z, {z.inputs[0]: residual})
        else:
            more = rule.solved(z, residual, rule.transposed(z))
        error = d.finite(op("add", error, more))
    return error


def _triangle(z: Node, a: Node) -> Node:
    """The triangle that is read, with ones on the diagonal where it has them."""
    rule: Any = z.row
    triangle = rule.read(z, a)
    if not z.params[2]:
        return triangle
    return triangle + broadcast(constant(np.eye(a.shape[-1]), a.dtype), a.shape)
