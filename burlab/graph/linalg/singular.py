"""Singular values and vectors, and pseudoinverses.

Derivatives as in Townsend 2016, "Differentiating the singular value decomposition", and of the pseudoinverse as in
Golub and Pereyra 1973, for matrices whose rank stays. Those of vectors are inf or nan where singular values are
repeated, while functions of the values alone have first and second derivatives, and functions of the matrix that are
seen to be such, `generalized.py`, have first ones. Bases of spaces that singular vectors leave free turn no more than
they have to.
"""
# ruff: noqa: D102 - Operation documents the methods

from collections.abc import Sequence

from burlab.graph.implied import RULES, Factorization, Rule, implied, unmoved
from burlab.graph.linear import concatenate
from burlab.graph.node import Node, constant
from burlab.graph.numpy_api.extremes import extreme
from burlab.graph.numpy_api.products import matmul
from burlab.graph.numpy_api.promotion import apply
from burlab.graph.operation import made, structural
from burlab.graph.signatures import Form, require
from burlab.runtime.checks.stored import whole

from .matrices import column, diagonal, part, require_matrices, row, turned
from .spectral import reciprocal_off_diagonal

VALUES, REDUCED, FULL = range(3)


@structural
class Svd(Factorization):
    """Singular values, the largest first, then left vectors as columns and right ones as rows.

    Parameter: whether there are no vectors, as many as values, or whole bases.
    """

    name = "svd"
    parameters = whole(VALUES, FULL)

    def form(self, option: int, inputs: Sequence[Node]) -> Form:
        require(len(inputs) == 1, "it needs one input")
        (a,) = inputs
        require_matrices(a)
        m, n = a.shape[-2:]
        k = min(m, n)
        vectors = (0, (m + n) * k, m * m + n * n)[option]
        return (*a.shape[:-2], k + vectors), a.dtype


def singular_values(a: Node) -> Node:
    """The singular values alone: a derivative computes the vectors as well."""
    return implied("singular values", made("svd", VALUES, unmoved(a)), a, *_factors(a, REDUCED))


def svd(a: Node, full: bool) -> tuple[Node, Node, Node]:
    """Left vectors as columns, values, right vectors as rows."""
    m, n = a.shape[-2:]
    if not full or m == n:
        return _all_of(a, *_factors(a, REDUCED))
    k = min(m, n)
    s0, u0, vt0 = _factors(a, FULL)
    u, s, vt = _all_of(a, s0, u0[..., :, :k], vt0[..., :k, :])
    return with_complement(u, u0[..., :, k:]), s, turned(with_complement(turned(vt), turned(vt0[..., k:, :])))


def with_complement(q: Node, rest: Node) -> Node:
    """Orthonormal columns, and the rest of a basis, which turns with them as little as it can."""
    return concatenate([q, implied("complement", rest, q)], q.ndim - 1) if rest.shape[-1] else q


def pinv(a: Node, cutoff: float) -> Node:
    """Pseudoinverses, where singular values up to cutoff times the largest count as 0."""
    s, u, vt = _factors(a, REDUCED)
    one, zero = constant(1.0, a.dtype), constant(0.0, a.dtype)
    kept = counted(s, cutoff)
    inverse = apply("where", kept, apply("div", one, apply("where", kept, s, one)), zero)
    return implied("pinv", matmul(turned(vt), apply("mul", column(inverse), turned(u))), a)


def counted(s: Node, cutoff: float | Node) -> Node:
    """Which singular values are above cutoff times the largest."""
    largest = extreme("reduce_max", s, -1, keepdims=True)
    return apply("greater", s, apply("mul", largest, cutoff))


def _factors(a: Node, option: int) -> tuple[Node, Node, Node]:
    m, n = a.shape[-2:]
    k = min(m, n)
    left, right = (m, n) if option == FULL else (k, k)
    packed = made("svd", option, unmoved(a))
    return part(packed, 0, (k,)), part(packed, k, (m, left)), part(packed, k + m * left, (right, n))


def _all_of(a: Node, s: Node, u: Node, vt: Node) -> tuple[Node, Node, Node]:
    """Left vectors, values and right vectors as functions of the matrix."""
    known = s, u, vt
    values = implied("singular values", s, a, *known)
    return implied("left vectors", u, a, *known), values, implied("right vectors", vt, a, *known)


def _of(n: Node) -> tuple[Node, Node, Node]:
    """Left vectors, values, and right vectors as columns, of the matrix of a node."""
    _, a, *known = n.inputs
    u, s, vt = _all_of(a, *known)
    return u, s, turned(vt)


def _apart(s: Node) -> Node:
    """1 / (s_j^2 - s_i^2), and 0 where i is j."""
    difference = apply("sub", row(s), column(s))
    return reciprocal_off_diagonal(apply("mul", difference, apply("add", row(s), column(s))), s.shape[-1])


def _values_forward(n: Node, change: Node) -> Node:
    u, _, v = _of(n)
    return diagonal(matmul(turned(u), matmul(change, v)))


def _values_reverse(n: Node, g: Node) -> Node:
    u, _, v = _of(n)
    return matmul(apply("mul", u, row(g)), turned(v))


def _turning(u: Node, s: Node, v: Node, change: Node) -> Node:
    """How the columns of u move with a change of u s v'."""
    moved = matmul(change, v)
    inner = matmul(turned(u), moved)
    scaled = apply("mul", inner, row(s))
    turns = matmul(u, apply("mul", _apart(s), apply("add", scaled, turned(scaled))))
    if u.shape[-2] == u.shape[-1]:
        return turns
    return apply("add", turns, apply("div", apply("sub", moved, matmul(u, inner)), row(s)))


def _turned_by(u: Node, s: Node, v: Node, g: Node) -> Node:
    """The transpose of `_turning`: what u s v' receives from a cotangent of u."""
    inner = matmul(turned(u), g)
    turns = apply("mul", _apart(s), inner)
    back = matmul(u, apply("mul", apply("add", turns, turned(turns)), row(s)))
    if u.shape[-2] != u.shape[-1]:
        free = apply("div", g, row(s))
        back = apply("add", back, apply("sub", free, matmul(u, matmul(turned(u), free))))
    return matmul(back, turned(v))


def _left_forward(n: Node, change: Node) -> Node:
    return _turning(*_of(n), change)


def _left_reverse(n: Node, g: Node) -> Node:
    return _turned_by(*_of(n), g)


def _right_forward(n: Node, change: Node) -> Node:
    u, s, v = _of(n)
    return turned(_turning(v, s, u, turned(change)))


def _right_reverse(n: Node, g: Node) -> Node:
    u, s, v = _of(n)
    return turned(_turned_by(v, s, u, turned(g)))


def _complement_forward(n: Node, change: Node) -> Node:
    return apply("neg", matmul(n.inputs[1], matmul(turned(change), n)))


def _complement_reverse(n: Node, g: Node) -> Node:
    return apply("neg", matmul(n, matmul(turned(g), n.inputs[1])))


def _pinv_forward(n: Node, change: Node) -> Node:
    a = n.inputs[1]
    shrinks = matmul(n, matmul(change, n))
    left = matmul(matmul(n, turned(n)), turned(change))
    right = matmul(turned(change), matmul(turned(n), n))
    left = apply("sub", left, matmul(matmul(left, a), n))
    right = apply("sub", right, matmul(n, matmul(a, right)))
    return apply("sub", apply("add", left, right), shrinks)


def _pinv_reverse(n: Node, g: Node) -> Node:
    a = n.inputs[1]
    shrinks = matmul(turned(n), matmul(g, turned(n)))
    left = matmul(turned(g), matmul(n, turned(n)))
    right = matmul(matmul(turned(n), n), turned(g))
    left = apply("sub", left, matmul(a, matmul(n, left)))
    right = apply("sub", right, matmul(matmul(right, n), a))
    return apply("sub", apply("add", left, right), shrinks)


RULES.update({
    "singular values": Rule(_values_forward, _values_reverse),
    "left vectors": Rule(_left_forward, _left_reverse),
    "right vectors": Rule(_right_forward, _right_reverse),
    "complement": Rule(_complement_forward, _complement_reverse),
    "pinv": Rule(_pinv_forward, _pinv_reverse),
})  # fmt: skip
