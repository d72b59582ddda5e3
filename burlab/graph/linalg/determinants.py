"""Determinants, and their logarithms, of the factors of matrices.

d det A = det A tr(A^-1 dA), d log |det A| = tr(A^-1 dA): Giles 2008, section 2.2.4. A determinant is a polynomial of
the entries, differentiable also where the matrix is singular. Up to three rows it is one here, too; from four rows on
there its derivatives are made of cofactors. With A = U S V' and B = U' A V, det A = det(U V) det B, and B is diagonal
with the singular values s. So the first derivatives of det B are p_i = prod of s but s_i, at B_ii, and the second ones
p_ij = prod of s but s_i and s_j, at B_ii B_jj, and -p_ij at B_ij B_ji. No quotient is in them.
"""

import numpy as np

from burlab.graph.graph import Graph
from burlab.graph.implied import RULES, Rule, implied
from burlab.graph.linear import broadcast, concatenate
from burlab.graph.node import Node, constant
from burlab.graph.numpy_api.accumulating import cumprod
from burlab.graph.numpy_api.extremes import extreme
from burlab.graph.numpy_api.products import matmul
from burlab.graph.numpy_api.promotion import apply
from burlab.graph.numpy_api.reduction import prod, sum_
from burlab.graph.numpy_api.roots import root
from burlab.graph.operation import made
from burlab.graph.origin import recording
from burlab.graph.regions import cond_nodes

from .matrices import column, diagonal, eye, on_diagonal, part, row, turned
from .singular import svd
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
    return sum_(apply("mul", _cofactors(n), change), (-2, -1))


def _det_spread(n: Node, g: Node) -> Node:
    return apply("mul", _cofactors(n), column(column(g)))


def _cofactors(n: Node) -> Node:
    """The derivatives of determinants by the entries: det A A^-T, and cofactors where a matrix is nearly singular.

    Matrices that are not are left to the elimination, to the bit, and others to singular values, which are computed
    only if there is such a matrix.
    """
    _, a, factors = n.inputs
    size = a.shape[-1]
    pivots = apply("abs", _pivots(factors, size))
    largest, least = (extreme(f"reduce_{end}", pivots, -1, keepdims=False) for end in ("max", "min"))
    lost = apply("less_equal", least, apply("mul", largest, _LOST * size * float(np.finfo(a.dtype).eps)))
    safe = apply("where", column(column(lost)), eye(size, a), a)
    known = factored(safe)
    regular = turned(solve_by_factors(broadcast(eye(size, a), a.shape), safe, known))
    regular = apply("mul", column(column(n)), regular)
    return apply("where", column(column(lost)), _rarely(lost, a), regular)


_LOST = 64.0  # roundings that may be all there is of the least pivot


def _rarely(lost: Node, a: Node) -> Node:
    """`_expansion` of matrices if any of them is lost; else zeros."""
    given = Node("input", (), "a", a.shape, a.dtype)
    if not lost.size:
        return apply("mul", a, 0.0)
    any_lost = extreme("reduce_max", lost, None, keepdims=False) if lost.ndim else lost
    with recording() as recorded:
        graphs = Graph((given,), (_expansion(given),)), Graph((given,), (apply("mul", given, 0.0),))
    return cond_nodes(any_lost, *graphs, [a], recorded)[0]


def _expansion(a: Node) -> Node:
    """Cofactors, and what they change by to the first order: in the singular vectors of the matrix as it is now."""
    still = made("stop_gradient", None, a)
    u, s, vt = svd(still, False)
    v = turned(vt)
    moved = matmul(turned(u), matmul(apply("sub", a, still), v))  # 0, with a derivative
    one, two = _products(s)
    straight = apply("add", one, sum_(apply("mul", two, row(diagonal(moved))), -1))
    inner = apply("sub", on_diagonal(straight), apply("mul", two, turned(moved)))
    beyond = root(sum_(apply("square", moved), (-2, -1), keepdims=True))  # 0; the derivative of its derivative is nan
    sign = apply("mul", sign_and_log(u)[0], sign_and_log(v)[0])
    return apply("mul", matmul(u, matmul(apply("add", inner, beyond), turned(v))), column(column(sign)))


def _products(s: Node) -> tuple[Node, Node]:
    """The products of all numbers but one, and of all but two, 0 where these two are the same."""
    n = s.shape[-1]
    one = broadcast(constant(1.0, s.dtype), (*s.shape[:-1], 1))
    before = cumprod(concatenate([one, s[..., :-1]], s.ndim - 1), -1)
    after = cumprod(concatenate([one, s[..., :0:-1]], s.ndim - 1), -1)[..., ::-1]
    later = constant(np.arange(n)[None, :] > np.arange(n)[:, None])
    between = cumprod(apply("where", later, row(s), 1.0), -1)
    between = concatenate([broadcast(constant(1.0, s.dtype), (*s.shape, 1)), between[..., :-1]], s.ndim)
    upper = apply("mul", apply("mul", column(before), between), row(after))
    upper = apply("where", later, upper, 0.0)
    return apply("mul", before, after), apply("add", upper, turned(upper))


RULES["log_det"] = Rule(_along, _spread)
RULES["det"] = Rule(_det_along, _det_spread)
