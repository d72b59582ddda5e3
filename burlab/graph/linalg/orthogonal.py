"""Q R factors of matrices, with the signs of LAPACK.

Derivatives as in Walter and Lehmann 2018, "Algorithmic differentiation of linear algebra functions", and Seeger et al.
2017, arXiv:1710.08717, for matrices of full rank.
"""
# ruff: noqa: D102 - Operation documents the methods

from collections.abc import Sequence
from operator import le

from burlab.graph.implied import RULES, Factorization, ImplicitRule, implied, without_derivative
from burlab.graph.linear_nodes import concatenate, pad
from burlab.graph.node import Node
from burlab.graph.operation import make_node, structural
from burlab.graph.signatures import Form, require
from burlab.graph.tally import Tally, halves
from burlab.runtime.checks.stored import flag

from .matrices import masked, mT, part, require_matrices, strictly_lower
from .singular import with_complement
from .systems import solve_triangular


@structural
class Qr(Factorization):
    """Q, which is square if the parameter says so, then R."""

    name = "qr"
    parameters = flag

    def form(self, complete: bool, inputs: Sequence[Node]) -> Form:
        require(len(inputs) == 1, "it needs one input")
        (a,) = inputs
        require_matrices(a)
        m, n = a.shape[-2:]
        return (*a.shape[:-2], (m if complete else min(m, n)) * (m + n)), a.dtype

    def tally(self, n: Node) -> Tally:
        """Return 2 m n^2 - 2/3 n^3 flops for R, and for Q as many, or 4 (m^2 n - m n^2 + n^3/3) for a square one.

        Golub and Van Loan 2013, section 5.2.
        """
        (a,) = n.inputs
        m, k = a.shape[-2:]
        upper = 2 * m * k**2 - 2 / 3 * k**3
        basis = 4 * (m**2 * k - m * k**2 + k**3 / 3) if n.params else upper
        return halves(upper + basis).times(a.size // max(m * k, 1))


def qr(a: Node, complete: bool) -> tuple[Node, Node]:
    """Return Q and R. Where a matrix has more columns than rows, Q is that of the first ones."""
    m, n = a.shape[-2:]
    if m < n:
        q, r = qr(a[..., :, :m], False)
        return q, concatenate([r, mT(q) @ a[..., :, m:]], a.ndim - 1)
    width = m if complete else n
    packed = make_node("qr", complete, without_derivative(a))
    basis, upper = part(packed, 0, (m, width)), part(packed, m * width, (width, n))
    known = basis[..., :, :n], upper[..., :n, :]
    q, r = (implied(name, value, a, *known) for name, value in zip(("q", "r"), known, strict=True))
    if width == n:
        return q, r
    zero, one = (0,) * r.ndim, (1,) * r.ndim
    return with_complement(q, basis[..., :, n:]), pad(r, zero, one, (*r.shape[:-2], m, n))


def _factors(n: Node) -> tuple[Node, Node]:
    """Return Q and R of the matrix of a node, as functions of it."""
    _, a, q, r = n.inputs
    return implied("q", q, a, q, r), implied("r", r, a, q, r)


def _times_inverse(x: Node, r: Node) -> Node:
    """Return x R^-1."""
    return mT(solve_triangular(r, mT(x), is_lower=False, transposed=True))


def _times_inverse_transposed(x: Node, r: Node) -> Node:
    """Return x R^-T."""
    return mT(solve_triangular(r, mT(x), is_lower=False))


def _folded(x: Node) -> Node:
    """Return the upper triangle plus the transpose of the strictly lower one: the part of Q' dA R^-1 that changes R."""
    return masked(x, le) + mT(strictly_lower(x))


def _folded_transposed(x: Node) -> Node:
    """Apply the transpose of the linear map `_folded`."""
    return masked(x, le) + strictly_lower(mT(x))


def _q_forward(n: Node, change: Node) -> Node:
    q, r = _factors(n)
    x = _times_inverse(change, r)
    return x - q @ _folded(mT(q) @ x)


def _q_reverse(n: Node, g: Node) -> Node:
    q, r = _factors(n)
    return _times_inverse_transposed(g - q @ _folded_transposed(mT(q) @ g), r)


def _r_forward(n: Node, change: Node) -> Node:
    q, r = _factors(n)
    return _folded(mT(q) @ _times_inverse(change, r)) @ r


def _r_reverse(n: Node, g: Node) -> Node:
    q, r = _factors(n)
    return _times_inverse_transposed(q @ _folded_transposed(g @ mT(r)), r)


RULES["q"] = ImplicitRule(_q_forward, _q_reverse)
RULES["r"] = ImplicitRule(_r_forward, _r_reverse)
