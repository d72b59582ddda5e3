"""Functions of symmetric matrices: V diag(f) V', where f is a function of the eigenvalues.

They are smooth where eigenvalues are repeated, while eigenvalues and eigenvectors by themselves are not: the entries of
the derivative, in the basis V, are those of the change of the matrix times divided differences of f, which are f' where
two eigenvalues are equal: Daleckii and Krein 1965; Higham 2008, "Functions of Matrices", theorem 3.11. A product that
is seen to be of this form, `scaled.py`, gets this derivative, and this again one, by second divided differences. That
one is made of eigenvectors, which have no derivatives where eigenvalues are repeated.
"""

from collections.abc import Sequence
from functools import partial, reduce
from typing import NamedTuple

from burlab.errors import BurlabError
from burlab.graph import hooks
from burlab.graph.implied import RULES, Rule, implied
from burlab.graph.node import Node
from burlab.graph.numpy_api.products import matmul
from burlab.graph.numpy_api.promotion import apply
from burlab.graph.operation import Shares

from .divided import differences, explained, quotient, second_differences
from .matrices import column, diagonal, row, symmetric, turned

NAME, DERIVATIVE = "function by eigenvalues", "derivative of a function by eigenvalues"


class _Function(NamedTuple):
    """A function of a matrix: nodes of its eigenvalues and eigenvectors, f of each, and what f has beside them."""

    a: Node
    w: Node
    v: Node
    f: Node
    ratios: Node
    shared: tuple[Node, ...]

    def derivative(self, change: Node) -> Node:
        """Along a change of the matrix."""
        inner = apply("mul", self.ratios, self.turned(change))
        *known, shared = self
        return implied(DERIVATIVE, self.back(inner), self.a, change, *known[1:], *shared)

    def second(self, one: Node, other: Node) -> Node:
        """Along two changes E and H: sum_k f[w_i, w_k, w_j] (E_ik H_kj + H_ik E_kj) in the basis of eigenvectors.

        f[w_i, w_k, w_j] is the difference of two ratios by w_j - w_i. Where this is 0 or small, it is the mean of
        f[w_i, w_i, w_k] and f[w_j, w_j, w_k] wherever these explain the difference.
        """
        e, h = self.turned(one), self.turned(other)
        size = [apply("abs", x) for x in (self.ratios, e, h)]
        ends = second_differences(self.w, self.f, self.ratios)
        steps, total, means = (_both(*x) for x in ((self.ratios, e, h), size, (ends, e, h)))
        gap = apply("sub", column(self.w), row(self.w))
        step, mean = apply("sub", steps, turned(steps)), symmetric(means)
        smooth = explained(step, apply("mul", gap, mean), apply("add", total, turned(total)))
        return self.back(quotient(smooth, mean, step, gap))

    def turned(self, change: Node) -> Node:
        """The symmetric part of a change, in the basis of eigenvectors."""
        return matmul(turned(self.v), matmul(symmetric(change), self.v))

    def back(self, inner: Node) -> Node:
        """A matrix in the basis of eigenvectors, as it is."""
        return matmul(self.v, matmul(inner, turned(self.v)))

    def moved(self, x: Node, tangents: Sequence[Node | None]) -> Node:
        """The tangent of a function of eigenvalues where these stay, and what it has beside them moves."""
        return hooks.sweeps.jvp([x], [self.w, *self.shared], [None, *tangents])[0]

    def shares(self, x: Node, g: Node) -> Shares:
        """What is beside eigenvalues in a function of them receives from its cotangent."""
        return list(zip(self.shared, hooks.sweeps.vjp([x], [self.w, *self.shared], [g])[1:], strict=True))


def _both(ratios: Node, e: Node, h: Node) -> Node:
    """sum_k ratio_ik (E_ik H_kj + H_ik E_kj)."""
    return apply("add", matmul(apply("mul", ratios, e), h), matmul(apply("mul", ratios, h), e))


def spectral(value: Node, v: Node, f: Node) -> Node | None:
    """The value v diag(f) v' with its derivative; None where f is not seen to be a function of the eigenvalues.

    v: the node of the eigenvectors of a matrix, as columns. f: one number for each of them.
    """
    a, values, vectors = v.inputs[1:]
    w = implied("eigenvalues", values, a, values, vectors)
    try:
        found = differences(w, f)
    except BurlabError:  # a derivative of f is not known
        return None
    return None if found is None else implied(NAME, value, a, w, v, found.f, found.ratios, *found.shared)


def _function(n: Node) -> _Function:
    known = n.inputs[_first(n) :]
    return _Function(n.inputs[1], *known[:4], shared=known[4:])


def _forward(n: Node, change: Node | None, *along: Node | None) -> Node:
    function = _function(n)
    parts = [] if change is None else [function.derivative(change)]
    if any(x is not None for x in along):
        moved = function.moved(function.f, along)
        parts.append(matmul(apply("mul", function.v, row(moved)), turned(function.v)))
    return reduce(partial(apply, "add"), parts)


def _reverse(n: Node, g: Node) -> Node:
    return symmetric(_function(n).derivative(g))


def _reverse_beside(n: Node, g: Node, active: set[Node]) -> Shares:
    function = _function(n)
    if active.isdisjoint(function.shared):
        return []
    return function.shares(function.f, diagonal(matmul(turned(function.v), matmul(g, function.v))))


def _derivative_forward(n: Node, change: Node | None, direction: Node | None, *along: Node | None) -> Node:
    function = _function(n)
    parts = [] if change is None else [function.second(n.inputs[2], change)]
    if direction is not None:
        parts.append(function.derivative(direction))
    if any(x is not None for x in along):
        moved = function.moved(function.ratios, along)
        parts.append(function.back(apply("mul", moved, function.turned(n.inputs[2]))))
    return reduce(partial(apply, "add"), parts)


def _derivative_reverse(n: Node, g: Node) -> Node:
    return symmetric(_function(n).second(n.inputs[2], g))


def _derivative_beside(n: Node, g: Node, active: set[Node]) -> Shares:
    function = _function(n)
    direction = n.inputs[2]
    shares = [(direction, symmetric(function.derivative(g)))] if direction in active else []
    if active.isdisjoint(function.shared):
        return shares
    inner = apply("mul", function.turned(direction), function.turned(g))
    return [*shares, *function.shares(function.ratios, inner)]


def _moving(n: Node) -> tuple[int, ...]:
    """The matrix, a direction where there is one, and what f has beside eigenvalues."""
    return tuple(k for k in range(1, len(n.inputs)) if k not in range(_first(n), _first(n) + 4))


def _first(n: Node) -> int:
    """From where on the nodes of the function stand among the inputs."""
    return 2 if n.params == NAME else 3


RULES[NAME] = Rule(_forward, _reverse, _reverse_beside, _moving)
RULES[DERIVATIVE] = Rule(_derivative_forward, _derivative_reverse, _derivative_beside, _moving)
