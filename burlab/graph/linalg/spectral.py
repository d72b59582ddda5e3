"""Eigenvalues and eigenvectors of symmetric matrices.

Derivatives as in Giles 2008, section 3.1. A matrix changes as a symmetric one. Where eigenvalues are repeated, those of
the eigenvectors do not exist: they are inf or nan, while functions of the eigenvalues alone have first and second
derivatives, and functions of the matrix that are seen to be such, `functions.py`, have first and second ones.
"""
# ruff: noqa: D102 - Operation documents the methods

from collections.abc import Sequence

from burlab.graph.implied import RULES, Factorization, Rule, implied, unmoved
from burlab.graph.node import Node, constant
from burlab.graph.numpy_api.products import matmul
from burlab.graph.numpy_api.promotion import apply
from burlab.graph.operation import made, structural
from burlab.graph.signatures import Form, require
from burlab.runtime.checks.stored import flag

from .matrices import column, diagonal, eye, part, require_matrices, row, symmetric, turned


@structural
class Eigh(Factorization):
    """Eigenvalues from the lowest on, then, if its parameter says so, eigenvectors as rows; of lower triangles."""

    name = "eigh"
    parameters = flag

    def form(self, vectors: bool, inputs: Sequence[Node]) -> Form:
        require(len(inputs) == 1, "it needs one input")
        (a,) = inputs
        require_matrices(a, square_=True)
        n = a.shape[-1]
        return (*a.shape[:-2], n + n * n * vectors), a.dtype


def eigenvalues(a: Node) -> Node:
    """The eigenvalues alone: a derivative computes the vectors as well."""
    return implied("eigenvalues", made("eigh", False, unmoved(a)), a, *_factors(a))


def eigh(a: Node) -> tuple[Node, Node]:
    """Eigenvalues and eigenvectors, these as columns."""
    known = _factors(a)
    return implied("eigenvalues", known[0], a, *known), implied("eigenvectors", known[1], a, *known)


def _factors(a: Node) -> tuple[Node, Node]:
    n = a.shape[-1]
    packed = made("eigh", True, unmoved(a))
    return part(packed, 0, (n,)), turned(part(packed, n, (n, n)))


def _both(n: Node) -> tuple[Node, Node]:
    """Eigenvalues and vectors of the matrix of a node, as functions of it."""
    _, a, *known = n.inputs
    return implied("eigenvalues", known[0], a, *known), implied("eigenvectors", known[1], a, *known)


def between(values: Node) -> Node:
    """1 / (value j - value i), and 0 where i is j."""
    n = values.shape[-1]
    differences = apply("sub", row(values), column(values))
    return reciprocal_off_diagonal(differences, n)


def reciprocal_off_diagonal(x: Node, n: int) -> Node:
    """1 / x, and 0 on the diagonal."""
    same = apply("equal", eye(n, x), constant(1.0, x.dtype))
    one, zero = constant(1.0, x.dtype), constant(0.0, x.dtype)
    return apply("where", same, zero, apply("div", one, apply("where", same, one, x)))


def _values_forward(n: Node, change: Node) -> Node:
    _, v = _both(n)
    return diagonal(matmul(turned(v), matmul(symmetric(change), v)))


def _values_reverse(n: Node, g: Node) -> Node:
    _, v = _both(n)
    return matmul(apply("mul", v, row(g)), turned(v))  # which is seen as a spectral function: see `scaled.py`


def _vectors_forward(n: Node, change: Node) -> Node:
    w, v = _both(n)
    turns = apply("mul", between(w), matmul(turned(v), matmul(symmetric(change), v)))
    return matmul(v, turns)


def _vectors_reverse(n: Node, g: Node) -> Node:
    w, v = _both(n)
    inner = apply("mul", between(w), matmul(turned(v), g))
    return symmetric(matmul(v, matmul(inner, turned(v))))


RULES["eigenvalues"] = Rule(_values_forward, _values_reverse)
RULES["eigenvectors"] = Rule(_vectors_forward, _vectors_reverse)
