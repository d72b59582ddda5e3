"""Determinants, and their logarithms, of the factors of matrices.

d det A = det A tr(A^-1 dA), d log |det A| = tr(A^-1 dA): Giles 2008, section 2.2.4. Up to three rows a determinant is a
polynomial of the entries, differentiable also where the matrix is singular.
"""

import numpy as np

from burlab.graph.linear import broadcast
from burlab.graph.node import Node, constant
from burlab.graph.numpy_api.promotion import apply
from burlab.graph.numpy_api.reduction import prod, sum_

from .implied import RULES, Rule, implied
from .matrices import column, eye, part, turned
from .systems import factored, solve_by_factors

_EXPANDED = 3  # rows up to which a determinant is expanded


def det(a: Node) -> Node:
    """Determinants."""
    n = a.shape[-1]
    if n == 0:
        return broadcast(constant(1.0, a.dtype), a.shape[:-2])
    if n <= _EXPANDED:
        return _expanded([[a[..., i, j] for j in range(n)] for i in range(n)])
    factors = factored(a)
    return implied("det", apply("mul", prod(_pivots(factors, n), -1), _parity(factors, n)), a, factors)


def sign_and_log(a: Node) -> tuple[Node, Node]:
    """The signs of determinants, and the logarithms of their sizes: 0 and -inf where a matrix is singular."""
    n = a.shape[-1]
    factors = factored(a)
    pivots = _pivots(factors, n)
    sign = apply("mul", prod(apply("sign", pivots), -1), _parity(factors, n))
    return sign, implied("log_det", sum_(apply("log", apply("abs", pivots)), -1), a, factors)


def _expanded(rows: list[list[Node]]) -> Node:
    """By cofactors of the first row."""
    if len(rows) == 1:
        return rows[0][0]
    total: Node | None = None
    for k, entry in enumerate(rows[0]):
        term = apply("mul", entry, _expanded([[*row[:k], *row[k + 1 :]] for row in rows[1:]]))
        total = term if total is None else apply("sub" if k % 2 else "add", total, term)
    assert total is not None
    return total


def _pivots(factors: Node, n: int) -> Node:
    return part(factors, 0, (n,), n + 1)


def _parity(factors: Node, n: int) -> Node:
    """1 or -1: whether an even number of rows was exchanged."""
    stays = apply("equal", part(factors, n * n, (n,)), constant(np.arange(n), factors.dtype))
    return prod(apply("where", stays, constant(1.0, factors.dtype), constant(-1.0, factors.dtype)), -1)


def _inverse_turned(n: Node) -> Node:
    """A^-T of the matrix of a node."""
    _, a, factors = n.inputs
    return turned(solve_by_factors(broadcast(eye(a.shape[-1], a), a.shape), a, factors))


def _along(n: Node, change: Node) -> Node:
    """tr(A^-1 dA)."""
    return sum_(apply("mul", _inverse_turned(n), change), (-2, -1))


def _spread(n: Node, g: Node) -> Node:
    """g A^-T."""
    return apply("mul", _inverse_turned(n), column(column(g)))


def _det_along(n: Node, change: Node) -> Node:
    return apply("mul", n, _along(n, change))


def _det_spread(n: Node, g: Node) -> Node:
    return _spread(n, apply("mul", g, n))


RULES["log_det"] = Rule(_along, _spread)
RULES["det"] = Rule(_det_along, _det_spread)
