"""Q R factors of matrices, with the signs of LAPACK.

Derivatives as in Walter and Lehmann 2018, "Algorithmic differentiation of linear algebra functions", and Seeger et al.
2017, arXiv:1710.08717, for matrices of full rank.
"""
# ruff: noqa: D102 - Operation documents the methods

from collections.abc import Sequence
from operator import le

from burlab.graph.implied import RULES, Factorization, Rule, implied, unmoved
from burlab.graph.linear import concatenate, pad
from burlab.graph.node import Node
from burlab.graph.numpy_api.products import matmul
from burlab.graph.numpy_api.promotion import apply
from burlab.graph.operation import made, structural
from burlab.graph.signatures import Form, require
from burlab.runtime.checks.stored import flag

from .matrices import masked, part, require_matrices, strictly_lower, turned
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


def qr(a: Node, complete: bool) -> tuple[Node, Node]:
    """Q and R. Of more columns than rows, the first ones make Q."""
    m, n = a.shape[-2:]
    if m < n:
        q, r = qr(a[..., :, :m], False)
        return q, concatenate([r, matmul(turned(q), a[..., :, m:])], a.ndim - 1)
    width = m if complete else n
    packed = made("qr", complete, unmoved(a))
    whole, upper = part(packed, 0, (m, width)), part(packed, m * width, (width, n))
    known = whole[..., :, :n], upper[..., :n, :]
    q, r = (implied(name, value, a, *known) for name, value in zip(("q", "r"), known, strict=True))
    if width == n:
        return q, r
    zero, one = (0,) * r.ndim, (1,) * r.ndim
    return with_complement(q, whole[..., :, n:]), pad(r, zero, one, (*r.shape[:-2], m, n))


def _factors(n: Node) -> tuple[Node, Node]:
    """Q and R of the matrix of a node, as functions of it."""
    _, a, q, r = n.inputs
    return implied("q", q, a, q, r), implied("r", r, a, q, r)


def _without_r(x: Node, r: Node) -> Node:
    """x R^-1."""
    return turned(solve_triangular(r, turned(x), is_lower=False, transposed=True))


def _without_r_turned(x: Node, r: Node) -> Node:
    """x R^-T."""
    return turned(solve_triangular(r, turned(x), is_lower=False))


def _folded(x: Node) -> Node:
    """The upper triangle, and on its other side what is below it: the part of Q' dA R^-1 that R takes."""
    return apply("add", masked(x, le), turned(strictly_lower(x)))


def _spread(x: Node) -> Node:
    """The transpose of `_folded`."""
    return apply("add", masked(x, le), strictly_lower(turned(x)))


def _q_forward(n: Node, change: Node) -> Node:
    q, r = _factors(n)
    moved = _without_r(change, r)
    return apply("sub", moved, matmul(q, _folded(matmul(turned(q), moved))))


def _q_reverse(n: Node, g: Node) -> Node:
    q, r = _factors(n)
    return _without_r_turned(apply("sub", g, matmul(q, _spread(matmul(turned(q), g)))), r)


def _r_forward(n: Node, change: Node) -> Node:
    q, r = _factors(n)
    return matmul(_folded(matmul(turned(q), _without_r(change, r))), r)


def _r_reverse(n: Node, g: Node) -> Node:
    q, r = _factors(n)
    return _without_r_turned(matmul(q, _spread(matmul(g, turned(r)))), r)


RULES["q"] = Rule(_q_forward, _q_reverse)
RULES["r"] = Rule(_r_forward, _r_reverse)
