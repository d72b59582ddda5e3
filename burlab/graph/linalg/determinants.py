"""Determinants and their logarithms, by the LU factors of matrices.

d det A = det A tr(A^-1 dA), d log |det A| = tr(A^-1 dA): Giles 2008, section 2.2.4. A determinant is a polynomial of
the entries, differentiable also where the matrix is singular. Up to three rows it is expanded as one; from four rows
on its derivatives at singular matrices are made of cofactors. With A = U S V' and B = U' A V, det A = det(U V) det B,
and B is diagonal with the singular values s. The first derivatives of det B are p_i = prod of s but s_i, at B_ii, the
second ones p_ij = prod of s but s_i and s_j, at B_ii B_jj, and -p_ij at B_ij B_ji. They contain no quotient.
"""

from typing import Any

import numpy as np

from burlab.graph.graph import Graph
from burlab.graph.implied import RULES, ImplicitRule, implied
from burlab.graph.linear_nodes import broadcast, concatenate
from burlab.graph.node import Node, constant
from burlab.graph.numpy_api.accumulating import cumprod
from burlab.graph.numpy_api.elementwise import log, sign, square, where
from burlab.graph.numpy_api.extremes import extreme
from burlab.graph.numpy_api.reduction import prod, sum_
from burlab.graph.numpy_api.roots import root
from burlab.graph.operation import make_node
from burlab.graph.origin import recording
from burlab.graph.regions import cond_nodes

from .matrices import column, diagonal, eye, mT, on_diagonal, part, row
from .singular import svd
from .systems import factored, solve_by_factors

MAX_EXPANDED_ROWS = 3


def det(a: Node) -> Node:
    """Return determinants."""
    n = a.shape[-1]
    if n == 0:
        return broadcast(constant(1.0, a.dtype), a.shape[:-2])
    if n <= MAX_EXPANDED_ROWS:
        return _expanded([[a[..., i, j] for j in range(n)] for i in range(n)])
    factors = factored(a)
    return implied("det", prod(_pivots(factors, n), -1) * _parity(factors, n), a, factors)


def sign_and_log(a: Node) -> tuple[Node, Node]:
    """Return signs of determinants and logarithms of their absolute values: 0 and -inf for singular matrices."""
    n = a.shape[-1]
    factors = factored(a)
    pivots = _pivots(factors, n)
    signs = prod(sign(pivots), -1) * _parity(factors, n)
    return implied("sign of det", signs, a), implied("log_det", sum_(log(abs(pivots)), -1), a, factors)


def _expanded(rows: list[list[Node]]) -> Node:
    """Return the determinant by cofactors of the first row."""
    if len(rows) == 1:
        return rows[0][0]
    total: Node | None = None
    for k, entry in enumerate(rows[0]):
        term = entry * _expanded([[*row[:k], *row[k + 1 :]] for row in rows[1:]])
        total = term if total is None else total - term if k % 2 else total + term
    assert total is not None
    return total


def _pivots(factors: Node, n: int) -> Node:
    return part(factors, 0, (n,), n + 1)


def _parity(factors: Node, n: int) -> Node:
    """Return 1 for an even number of exchanged rows, -1 for an odd one."""
    unchanged = part(factors, n * n, (n,)) == constant(np.arange(n), factors.dtype)
    return prod(where(unchanged, constant(1.0, factors.dtype), constant(-1.0, factors.dtype)), -1)


def _inverse_transposed(n: Node) -> Node:
    """Return A^-T of the matrix of a node."""
    _, a, factors = n.inputs
    return _inverses_transposed(a, factors)


def _inverses_transposed(a: Node, factors: Node) -> Node:
    return solve_by_factors(broadcast(eye(a.shape[-1], a), a.shape), a, factors, transposed=True)


def _log_det_forward(n: Node, change: Node) -> Node:
    """Return tr(A^-1 dA)."""
    return sum_(_inverse_transposed(n) * change, (-2, -1))


def _log_det_reverse(n: Node, g: Node) -> Node:
    """Return g A^-T."""
    return _inverse_transposed(n) * column(column(g))


def _det_forward(n: Node, change: Node) -> Node:
    return sum_(_cofactors(n) * change, (-2, -1))


def _det_reverse(n: Node, g: Node) -> Node:
    return _cofactors(n) * column(column(g))


def _cofactors(n: Node) -> Node:
    """Return the derivatives of determinants by the entries: det A A^-T, or cofactors where A is nearly singular.

    Regular matrices are inverted by elimination. Singular values are computed only if a matrix is nearly singular.
    """
    _, a, known = n.inputs
    size = a.shape[-1]
    pivots = abs(_pivots(known, size))
    largest, smallest = (extreme(f"reduce_{end}", pivots, -1, keepdims=False) for end in ("max", "min"))
    is_singular = smallest <= largest * (SINGULAR_ROUNDINGS * size * float(np.finfo(a.dtype).eps))
    safe = where(column(column(is_singular)), eye(size, a), a)
    factors = where(column(is_singular), _factors_of_identity(size, a.dtype), known)
    regular = column(column(n)) * _inverses_transposed(safe, factors)
    return where(column(column(is_singular)), _rarely(is_singular, a), regular)


def _factors_of_identity(size: int, dtype: "np.dtype[Any]") -> Node:
    return constant(np.concatenate([np.eye(size).ravel(), np.arange(size)]), dtype)


SINGULAR_ROUNDINGS = 64.0  # up to which the smallest pivot may consist of rounding errors alone


def _rarely(is_singular: Node, a: Node) -> Node:
    """Return `_expansion` of matrices if any of them is singular, else zeros."""
    given = Node("input", (), "a", a.shape, a.dtype)
    if not is_singular.size:
        return a * 0.0
    any_singular = extreme("reduce_max", is_singular, None, keepdims=False) if is_singular.ndim else is_singular
    with recording() as recorded:
        graphs = Graph((given,), (_expansion(given),)), Graph((given,), (given * 0.0,))
    return cond_nodes(any_singular, *graphs, [a], recorded)[0]


def _expansion(a: Node) -> Node:
    """Return cofactors with their first derivatives, in the basis of the singular vectors of the matrix."""
    constant_a = make_node("stop_gradient", None, a)
    u, s, vt = svd(constant_a, False)
    v = mT(vt)
    change = mT(u) @ ((a - constant_a) @ v)  # 0, with a derivative
    one, two = _products(s)
    on = one + sum_(two * row(diagonal(change)), -1)
    inner = on_diagonal(on) - two * mT(change)
    second_order = root(sum_(square(change), (-2, -1), keepdims=True))  # 0; the derivative of its derivative is nan
    parity = sign_and_log(u)[0] * sign_and_log(v)[0]
    return u @ ((inner + second_order) @ mT(v)) * column(column(parity))


def _products(s: Node) -> tuple[Node, Node]:
    """Return the products of all numbers but one, and of all but two, 0 where these two are the same."""
    n = s.shape[-1]
    one = broadcast(constant(1.0, s.dtype), (*s.shape[:-1], 1))
    before = cumprod(concatenate([one, s[..., :-1]], s.ndim - 1), -1)
    after = cumprod(concatenate([one, s[..., :0:-1]], s.ndim - 1), -1)[..., ::-1]
    later = constant(np.arange(n)[None, :] > np.arange(n)[:, None])
    between = cumprod(where(later, row(s), 1.0), -1)
    between = concatenate([broadcast(constant(1.0, s.dtype), (*s.shape, 1)), between[..., :-1]], s.ndim)
    upper = column(before) * between * row(after)
    upper = where(later, upper, 0.0)
    return before * after, upper + mT(upper)


def _zero(_n: Node, _change: Node) -> None:
    """Return no change: a sign is constant where it has a derivative."""


RULES["sign of det"] = ImplicitRule(_zero, _zero)
RULES["log_det"] = ImplicitRule(_log_det_forward, _log_det_reverse)
RULES["det"] = ImplicitRule(_det_forward, _det_reverse)
