"""Singular values and vectors, and pseudoinverses.

Derivatives as in Townsend 2016, "Differentiating the singular value decomposition", and of the pseudoinverse as in
Golub and Pereyra 1973, for matrices of constant rank. Those of vectors are inf or nan where singular values are
repeated, while functions of the values alone have first to third derivatives, and functions of the matrix that are
seen to be such, `generalized.py`, have first and second ones. Bases of the orthogonal complements turn as little as
possible.
"""
# ruff: noqa: D102 - Operation documents the methods

from collections.abc import Sequence

from burlab.graph.implied import RULES, Factorization, ImplicitRule, implied, without_derivative
from burlab.graph.linear_nodes import concatenate
from burlab.graph.node import Node, constant
from burlab.graph.numpy_api.elementwise import where
from burlab.graph.numpy_api.extremes import extreme
from burlab.graph.operation import make_node, structural
from burlab.graph.signatures import Form, require
from burlab.graph.tally import Tally, halves
from burlab.runtime.checks.stored import whole

from .matrices import column, diagonal, mT, part, require_matrices, row
from .spectral import reciprocal_off_diagonal

VALUES, REDUCED, FULL = range(3)


@structural
class Svd(Factorization):
    """Singular values, the largest first, then left vectors as columns and right ones as rows.

    Parameter: no vectors (VALUES), as many as values (REDUCED), or whole bases (FULL).
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

    def tally(self, n: Node) -> Tally:
        """Return 4 m n^2 - 4/3 n^3 flops, m >= n, with vectors 14 m n^2 + 8 n^3, with bases 4 m^2 n + 8 m n^2 + 9 n^3.

        Golub and Van Loan 2013, figure 8.6.1, the algorithm of Golub and Reinsch.
        """
        (a,) = n.inputs
        k, m = min(a.shape[-2:]), max(a.shape[-2:])
        bases = 4 * m**2 * k + 8 * m * k**2 + 9 * k**3
        flops = (4 * m * k**2 - 4 / 3 * k**3, 14 * m * k**2 + 8 * k**3, bases)
        return halves(flops[int(n.params)]).times(a.size // max(m * k, 1))


def singular_values(a: Node) -> Node:
    """Return the singular values alone. Their derivative computes the vectors as well."""
    return implied("singular values", make_node("svd", VALUES, without_derivative(a)), a, *_factors(a, REDUCED))


def svd(a: Node, full: bool) -> tuple[Node, Node, Node]:
    """Return left vectors as columns, values, right vectors as rows."""
    m, n = a.shape[-2:]
    if not full or m == n:
        return _all_of(a, *_factors(a, REDUCED))
    k = min(m, n)
    s0, u0, vt0 = _factors(a, FULL)
    u, s, vt = _all_of(a, s0, u0[..., :, :k], vt0[..., :k, :])
    return with_complement(u, u0[..., :, k:]), s, mT(with_complement(mT(vt), mT(vt0[..., k:, :])))


def with_complement(q: Node, rest: Node) -> Node:
    """Return orthonormal columns and the rest of a basis, which turns with them as little as possible."""
    return concatenate([q, implied("complement", rest, q)], q.ndim - 1) if rest.shape[-1] else q


def pinv(a: Node, cutoff: float | Node | Node) -> Node:
    """Return pseudoinverses, where singular values up to cutoff times the largest count as 0."""
    s, u, vt = _factors(a, REDUCED)
    one, zero = constant(1.0, a.dtype), constant(0.0, a.dtype)
    nonzero = is_counted(s, cutoff)
    inverse = where(nonzero, one / where(nonzero, s, one), zero)
    return implied("pinv", mT(vt) @ (column(inverse) * mT(u)), a)


def is_counted(s: Node, cutoff: float | Node) -> Node:
    """Return True where a singular value is above cutoff times the largest."""
    largest = extreme("reduce_max", s, -1, keepdims=True)
    return s > largest * cutoff


def _factors(a: Node, option: int) -> tuple[Node, Node, Node]:
    m, n = a.shape[-2:]
    k = min(m, n)
    left, right = (m, n) if option == FULL else (k, k)
    packed = make_node("svd", option, without_derivative(a))
    return part(packed, 0, (k,)), part(packed, k, (m, left)), part(packed, k + m * left, (right, n))


def _all_of(a: Node, s: Node, u: Node, vt: Node) -> tuple[Node, Node, Node]:
    """Return left vectors, values and right vectors as functions of the matrix."""
    known = s, u, vt
    values = implied("singular values", s, a, *known)
    return implied("left vectors", u, a, *known), values, implied("right vectors", vt, a, *known)


def _factors_of(n: Node) -> tuple[Node, Node, Node]:
    """Return left vectors, values, and right vectors as columns, of the matrix of a node."""
    _, a, *known = n.inputs
    u, s, vt = _all_of(a, *known)
    return u, s, mT(vt)


def _reciprocal_gaps(s: Node) -> Node:
    """Return 1 / (s_j^2 - s_i^2), 0 where i = j."""
    return reciprocal_off_diagonal((row(s) - column(s)) * (row(s) + column(s)), s.shape[-1])


def _values_forward(n: Node, change: Node) -> Node:
    u, _, v = _factors_of(n)
    return diagonal(mT(u) @ (change @ v))


def _values_reverse(n: Node, g: Node) -> Node:
    u, _, v = _factors_of(n)
    return u * row(g) @ mT(v)


def _vectors_forward(u: Node, s: Node, v: Node, change: Node) -> Node:
    """Return the change of the columns of u with that of u s v'."""
    x = change @ v
    inner = mT(u) @ x
    scaled = inner * row(s)
    within = u @ (_reciprocal_gaps(s) * (scaled + mT(scaled)))
    if u.shape[-2] == u.shape[-1]:
        return within
    return within + (x - u @ inner) / row(s)


def _vectors_reverse(u: Node, s: Node, v: Node, g: Node) -> Node:
    """Return the cotangent of u s v' for a cotangent of u: the transpose of `_vectors_forward`."""
    inner = mT(u) @ g
    scaled = _reciprocal_gaps(s) * inner
    back = u @ ((scaled + mT(scaled)) * row(s))
    if u.shape[-2] != u.shape[-1]:
        free = g / row(s)
        back = back + (free - u @ (mT(u) @ free))
    return back @ mT(v)


def _left_forward(n: Node, change: Node) -> Node:
    return _vectors_forward(*_factors_of(n), change)


def _left_reverse(n: Node, g: Node) -> Node:
    return _vectors_reverse(*_factors_of(n), g)


def _right_forward(n: Node, change: Node) -> Node:
    u, s, v = _factors_of(n)
    return mT(_vectors_forward(v, s, u, mT(change)))


def _right_reverse(n: Node, g: Node) -> Node:
    u, s, v = _factors_of(n)
    return mT(_vectors_reverse(v, s, u, mT(g)))


def _complement_forward(n: Node, change: Node) -> Node:
    return -(n.inputs[1] @ (mT(change) @ n))


def _complement_reverse(n: Node, g: Node) -> Node:
    return -(n @ (mT(g) @ n.inputs[1]))


def _pinv_forward(n: Node, change: Node) -> Node:
    a = n.inputs[1]
    shrinks = n @ (change @ n)
    left = n @ mT(n) @ mT(change)
    right = mT(change) @ (mT(n) @ n)
    left = left - left @ a @ n
    right = right - n @ (a @ right)
    return left + right - shrinks


def _pinv_reverse(n: Node, g: Node) -> Node:
    a = n.inputs[1]
    shrinks = mT(n) @ (g @ mT(n))
    left = mT(g) @ (n @ mT(n))
    right = mT(n) @ n @ mT(g)
    left = left - a @ (n @ left)
    right = right - right @ n @ a
    return left + right - shrinks


RULES.update({
    "singular values": ImplicitRule(_values_forward, _values_reverse),
    "left vectors": ImplicitRule(_left_forward, _left_reverse),
    "right vectors": ImplicitRule(_right_forward, _right_reverse),
    "complement": ImplicitRule(_complement_forward, _complement_reverse),
    "pinv": ImplicitRule(_pinv_forward, _pinv_reverse),
})  # fmt: skip
