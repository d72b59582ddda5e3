"""Functions of symmetric matrices: V diag(f) V', where f is a function of the eigenvalues.

They are smooth where eigenvalues are repeated, while eigenvalues and eigenvectors by themselves are not: the entries of
the derivative, in the basis V, are those of the change of the matrix times divided differences of f, which are f' where
two eigenvalues are equal: Daleckii and Krein 1965; Higham 2008, "Functions of Matrices", theorem 3.11. A product that
is seen to be of this form, `scaled.py`, gets this derivative. Its own derivative is made of eigenvectors again.
"""

from burlab.errors import BurlabError
from burlab.graph.implied import RULES, Rule, implied
from burlab.graph.node import Node
from burlab.graph.numpy_api.products import matmul
from burlab.graph.numpy_api.promotion import apply

from .divided import ratios_of
from .matrices import diagonal, off_diagonal, on_diagonal, symmetric, turned

NAME = "spectral function"


def spectral(value: Node, v: Node, f: Node) -> Node | None:
    """The value v diag(f) v' with its derivative; None where f is not seen to be a function of the eigenvalues.

    v: the node of the eigenvectors of a matrix, as columns. f: one number for each of them.
    """
    a, w, vectors = v.inputs[1:]
    try:
        ratios = ratios_of(implied("eigenvalues", w, a, w, vectors), f)
    except BurlabError:  # a derivative of f is not known
        return None
    return None if ratios is None else implied(NAME, value, a, f, off_diagonal(ratios), w, vectors)


def _forward(n: Node, change: Node | None, along: Node | None) -> Node:
    ratios, v = _known(n)
    inner: list[Node] = []
    if change is not None:
        inner.append(apply("mul", ratios, matmul(turned(v), matmul(symmetric(change), v))))
    if along is not None:
        inner.append(on_diagonal(along))
    return matmul(v, matmul(inner[0] if len(inner) == 1 else apply("add", *inner), turned(v)))


def _reverse(n: Node, g: Node) -> Node:
    ratios, v = _known(n)
    inner = apply("mul", ratios, matmul(turned(v), matmul(symmetric(g), v)))
    return symmetric(matmul(v, matmul(inner, turned(v))))


def _reverse_beside(n: Node, g: Node, _active: set[Node]) -> Node:
    _, v = _known(n)
    return diagonal(matmul(turned(v), matmul(g, v)))


def _known(n: Node) -> tuple[Node, Node]:
    _, a, _, ratios, w, vectors = n.inputs
    return ratios, implied("eigenvectors", vectors, a, w, vectors)


RULES[NAME] = Rule(_forward, _reverse, _reverse_beside)
