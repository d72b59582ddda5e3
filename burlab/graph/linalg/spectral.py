"""Eigenvalues and eigenvectors of symmetric matrices.

Derivatives as in Giles 2008, section 3.1. Matrices change as symmetric ones. Where eigenvalues are repeated, those of
the eigenvectors do not exist: they are inf or nan, while functions of the eigenvalues alone have first to third
derivatives, and functions of the matrix that are seen to be such, `matrix_functions.py`, have first and second ones.
"""
# ruff: noqa: D102 - Operation documents the methods

from collections.abc import Sequence

from burlab.graph.implied import RULES, Factorization, ImplicitRule, implied, without_derivative
from burlab.graph.node import Node, constant
from burlab.graph.numpy_api.elementwise import where
from burlab.graph.operation import make_node, structural
from burlab.graph.signatures import Form, require
from burlab.graph.tally import Tally, halves
from burlab.runtime.checks.stored import flag

from .matrices import column, diagonal, eye, mT, part, require_matrices, row, symmetric


@structural
class Eigh(Factorization):
    """Eigenvalues from the lowest on, then, if its parameter says so, eigenvectors as rows; of lower triangles."""

    name = "eigh"
    parameters = flag

    def form(self, vectors: bool, inputs: Sequence[Node]) -> Form:
        require(len(inputs) == 1, "it needs one input")
        (a,) = inputs
        require_matrices(a, square=True)
        n = a.shape[-1]
        return (*a.shape[:-2], n + n * n * vectors), a.dtype

    def tally(self, n: Node) -> Tally:
        """Return 4/3 n^3 flops, with vectors 9 n^3: Golub and Van Loan 2013, section 8.3."""
        (a,) = n.inputs
        k = a.shape[-1]
        return halves((9 if n.params else 4 / 3) * k**3).times(a.size // max(k * k, 1))


def eigenvalues(a: Node) -> Node:
    """Return the eigenvalues alone. Their derivative computes the vectors as well."""
    return implied("eigenvalues", make_node("eigh", False, without_derivative(a)), a, *_factors(a))


def eigh(a: Node) -> tuple[Node, Node]:
    """Return eigenvalues, and eigenvectors as columns."""
    known = _factors(a)
    return implied("eigenvalues", known[0], a, *known), implied("eigenvectors", known[1], a, *known)


def _factors(a: Node) -> tuple[Node, Node]:
    n = a.shape[-1]
    packed = make_node("eigh", True, without_derivative(a))
    return part(packed, 0, (n,)), mT(part(packed, n, (n, n)))


def _factors_of(n: Node) -> tuple[Node, Node]:
    """Return eigenvalues and vectors of the matrix of a node, as functions of it."""
    _, a, *known = n.inputs
    return implied("eigenvalues", known[0], a, *known), implied("eigenvectors", known[1], a, *known)


def reciprocal_gaps(w: Node) -> Node:
    """Return 1 / (w_j - w_i), 0 where i = j."""
    return reciprocal_off_diagonal(row(w) - column(w), w.shape[-1])


def reciprocal_off_diagonal(x: Node, n: int) -> Node:
    """Return 1 / x, 0 on the diagonal."""
    on_diagonal = eye(n, x) == constant(1.0, x.dtype)
    one, zero = constant(1.0, x.dtype), constant(0.0, x.dtype)
    return where(on_diagonal, zero, one / where(on_diagonal, one, x))


def _values_forward(n: Node, change: Node) -> Node:
    _, v = _factors_of(n)
    return diagonal(mT(v) @ (symmetric(change) @ v))


def _values_reverse(n: Node, g: Node) -> Node:
    _, v = _factors_of(n)
    return v * row(g) @ mT(v)  # `scaled.py` recognizes it as a spectral function


def _vectors_forward(n: Node, change: Node) -> Node:
    w, v = _factors_of(n)
    return v @ (reciprocal_gaps(w) * (mT(v) @ (symmetric(change) @ v)))


def _vectors_reverse(n: Node, g: Node) -> Node:
    w, v = _factors_of(n)
    inner = reciprocal_gaps(w) * (mT(v) @ g)
    return symmetric(v @ (inner @ mT(v)))


RULES["eigenvalues"] = ImplicitRule(_values_forward, _values_reverse)
RULES["eigenvectors"] = ImplicitRule(_vectors_forward, _vectors_reverse)
