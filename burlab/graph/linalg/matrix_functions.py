"""Functions of symmetric matrices: V diag(f) V', where f is a function of the eigenvalues.

They are smooth where eigenvalues are repeated, while eigenvalues and eigenvectors by themselves are not: the entries of
the derivative, in the basis V, are those of the change of the matrix times divided differences of f, which are f' where
two eigenvalues are equal: Daleckii and Krein 1965; Higham 2008, "Functions of Matrices", theorem 3.11. A product that
`scaled.py` recognizes as such gets this derivative, whose own derivative is made of second divided differences. That
one is made of eigenvectors, which have no derivatives where eigenvalues are repeated.
"""
# ruff: noqa: D102 - MatrixFunction documents the methods

from burlab.errors import BurlabError
from burlab.graph.implied import implied
from burlab.graph.node import Node

from .divided import differences, second_differences, second_order
from .function_rules import MatrixFunction, register
from .matrices import diagonal, mT, row, symmetric


class EigenvalueFunction(MatrixFunction):
    """V diag(f) V'. Matrices change as symmetric ones."""

    name = "function by eigenvalues"

    def on_values(self, f: Node) -> Node:
        (v,) = self.vectors
        return v * row(f) @ mT(v)

    def per_value(self, g: Node) -> Node:
        (v,) = self.vectors
        return diagonal(mT(v) @ (g @ v))

    def first(self, x: Node, ratios: Node, adjoint: bool) -> Node:
        found = self._out_of_basis(ratios * self._in_basis(x))
        return symmetric(found) if adjoint else found

    def second(self, one: Node, other: Node, cotangents: tuple[bool, bool]) -> Node:
        given = second_differences(self.w, self.f, self.ratios)
        found = self._out_of_basis(second_order(given, self._in_basis(one), self._in_basis(other)))
        return symmetric(found) if any(cotangents) else found

    def _in_basis(self, change: Node) -> Node:
        """Return the symmetric part of a change, in the basis of eigenvectors."""
        (v,) = self.vectors
        return mT(v) @ (symmetric(change) @ v)

    def _out_of_basis(self, inner: Node) -> Node:
        """Return v inner v', which undoes `_in_basis`."""
        (v,) = self.vectors
        return v @ (inner @ mT(v))


def spectral(value: Node, v: Node, f: Node) -> Node | None:
    """Return v diag(f) v' with its derivative, or None if f is not recognized as a function of the eigenvalues.

    v: the node of the eigenvectors of a matrix, as columns. f: one number for each of them.
    """
    a, values, vectors = v.inputs[1:]
    w = implied("eigenvalues", values, a, values, vectors)
    try:
        found = differences(w, f)
    except BurlabError:  # a derivative of f is not known
        return None
    return None if found is None else EigenvalueFunction(a, w, v, found.f, found.ratios).node(value)


register(EigenvalueFunction.name, EigenvalueFunction)
