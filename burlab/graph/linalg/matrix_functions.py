"""Functions of symmetric matrices: V diag(f) V', where f is a function of the eigenvalues.

They are smooth where eigenvalues are repeated, while eigenvalues and eigenvectors by themselves are not: the entries of
the derivative, in the basis V, are those of the change of the matrix times divided differences of f, which are f' where
two eigenvalues are equal: Daleckii and Krein 1965; Higham 2008, "Functions of Matrices", theorem 3.11. A product that
`scaled.py` recognizes as such gets this derivative, whose own derivative is made of second divided differences. That
one is made of eigenvectors, which have no derivatives where eigenvalues are repeated.
"""

from collections.abc import Sequence
from typing import NamedTuple

from burlab.errors import BurlabError
from burlab.graph import hooks
from burlab.graph.implied import RULES, ImplicitRule, implied
from burlab.graph.linear_nodes import broadcast, convert, reshape, sum_over
from burlab.graph.node import Node, constant
from burlab.graph.operation import Shares, Tangents, total

from .divided import differences, explained, quotient, second_differences, shared_by
from .matrices import column, diagonal, mT, off_diagonal, row, symmetric

NAME, DERIVATIVE = "function by eigenvalues", "derivative of a function by eigenvalues"


class _Function(NamedTuple):
    """A function of a matrix: nodes of its eigenvalues and eigenvectors, f of each, and other arguments of f."""

    a: Node
    w: Node
    v: Node
    f: Node
    ratios: Node
    shared: tuple[Node, ...]

    def derivative(self, change: Node) -> Node:
        """Return the derivative along a change of the matrix."""
        inner = self.ratios * self.in_basis(change)
        return implied(DERIVATIVE, self.out_of_basis(inner), self.a, change, self.w, self.v, self.f, self.ratios)

    def second(self, one: Node, other: Node) -> Node:
        """Return sum_k f[w_i, w_k, w_j] (E_ik H_kj + H_ik E_kj) for changes E and H, in the basis of eigenvectors.

        f[w_i, w_k, w_j] is the difference of two ratios by w_j - w_i. Where this is 0 or small, it is the mean of
        f[w_i, w_i, w_k] and f[w_j, w_j, w_k] wherever these explain the difference.
        """
        e, h = self.in_basis(one), self.in_basis(other)
        size = [abs(x) for x in (self.ratios, e, h)]
        ends = second_differences(self.w, self.f, self.ratios)
        steps, total, means = (_both(*x) for x in ((self.ratios, e, h), size, (ends, e, h)))
        gap = column(self.w) - row(self.w)
        step, mean = steps - mT(steps), symmetric(means)
        smooth = explained(step, gap * mean, total + mT(total))
        return self.out_of_basis(quotient(smooth, mean, step, gap))

    def in_basis(self, change: Node) -> Node:
        """Return the symmetric part of a change, in the basis of eigenvectors."""
        return mT(self.v) @ (symmetric(change) @ self.v)

    def out_of_basis(self, inner: Node) -> Node:
        """Return v inner v', which undoes `in_basis`."""
        return self.v @ (inner @ mT(self.v))

    def values_tangent(self, x: Node, tangents: Sequence[Node | None]) -> Node:
        """Return the tangent of a function of constant eigenvalues along its other arguments."""
        return hooks.sweeps.jvp([x], [self.w, *self.shared], [None, *tangents])[0]

    def argument_tangent(self, tangents: Sequence[Node | None]) -> Node:
        """Return the tangent of the function for a constant matrix, which is a function of the matrix again."""
        return self.v * row(self.values_tangent(self.f, tangents)) @ mT(self.v)

    def share(self, number: Node, g: Node) -> Node:
        """Return the cotangent of a number that f reads, smooth where the function is."""
        one = broadcast(constant(1.0, number.dtype), number.shape)
        product = g * self.argument_tangent([one if x is number else None for x in self.shared])
        return convert(reshape(sum_over(product, tuple(range(g.ndim))), number.shape), number.dtype)

    def shares(self, x: Node, g: Node) -> Shares:
        """Return the cotangents of the arguments other than eigenvalues of a function of them."""
        return list(zip(self.shared, hooks.sweeps.vjp([x], [self.w, *self.shared], [g])[1:], strict=True))


def _both(ratios: Node, e: Node, h: Node) -> Node:
    """Return sum_k ratio_ik (E_ik H_kj + H_ik E_kj)."""
    return ratios * e @ h + ratios * h @ e


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
    return None if found is None else implied(NAME, value, a, w, v, found.f, found.ratios)


def _function(n: Node) -> _Function | None:
    """Return the function that a node applies; None where a batch has repeated the matrix."""
    w, v, f, ratios = n.inputs[-4:]
    shared = shared_by(w, f) if w.op == "implied" else None
    return None if shared is None else _Function(n.inputs[1], w, v, f, ratios, shared)


def _shared_tangents(shared: Sequence[Node], tangents: Tangents) -> list[Node | None] | None:
    found = [tangents.get(x) for x in shared]
    return found if any(x is not None for x in found) else None


def _along(n: Node, tangents: Tangents) -> Node | None:
    a, _, v, f, ratios = n.inputs[1:]
    function, change = _function(n), tangents.get(a)
    parts: list[Node] = []
    if function is None:  # the change of eigenvalues comes by f
        if change is not None:
            parts.append(_between(v, off_diagonal(ratios), change))
        if f in tangents:
            parts.append(v * row(tangents[f]) @ mT(v))
        return total(parts)
    if change is not None:
        parts.append(function.derivative(change))
    if along := _shared_tangents(function.shared, tangents):
        parts.append(function.argument_tangent(along))
    return total(parts)


def _between(v: Node, ratios: Node, change: Node) -> Node:
    return v @ (ratios * (mT(v) @ (symmetric(change) @ v)) @ mT(v))


def _reverse(n: Node, g: Node) -> Node:
    function = _function(n)
    _, v, _, ratios = n.inputs[-4:]
    return symmetric(function.derivative(g) if function else _between(v, off_diagonal(ratios), g))


def _reverse_shares(n: Node, g: Node, active: set[Node]) -> Shares:
    _, v, f, _ = n.inputs[-4:]
    function = _function(n)
    if function is None:
        return [(f, diagonal(mT(v) @ (g @ v)))] if f in active else []
    moving = [x for x in function.shared if x in active]
    if all(x.size == 1 for x in moving):
        return [(x, function.share(x, g)) for x in moving]
    return function.shares(f, diagonal(mT(v) @ (g @ v)))


def _derivative_along(n: Node, tangents: Tangents) -> Node | None:
    function = _function(n)
    if function is None:
        return tangents.get(n.inputs[0])
    a, direction = n.inputs[1:3]
    parts: list[Node] = []
    if a in tangents:
        parts.append(function.second(direction, tangents[a]))
    if direction in tangents:
        parts.append(function.derivative(tangents[direction]))
    if along := _shared_tangents(function.shared, tangents):
        tangent = function.values_tangent(function.ratios, along)
        parts.append(function.out_of_basis(tangent * function.in_basis(direction)))
    return total(parts)


def _derivative_reverse(n: Node, g: Node) -> Node | None:
    function = _function(n)
    return symmetric(function.second(n.inputs[2], g)) if function else None


def _derivative_shares(n: Node, g: Node, active: set[Node]) -> Shares:
    function = _function(n)
    value, _, direction = n.inputs[:3]
    if function is None:
        return [(value, g)] if value in active else []
    shares = [(direction, symmetric(function.derivative(g)))] if direction in active else []
    if active.isdisjoint(function.shared):
        return shares
    inner = function.in_basis(direction) * function.in_basis(g)
    return [*shares, *function.shares(function.ratios, inner)]


def _moving(n: Node) -> tuple[int, ...]:
    """Return the numbers of the matrix, of a direction if there is one, and of f."""
    return (1, 4) if n.params == NAME else (1, 2, 5)


RULES[NAME] = ImplicitRule(_reverse, _reverse, _reverse_shares, _moving, _along)
RULES[DERIVATIVE] = ImplicitRule(
    _derivative_reverse, _derivative_reverse, _derivative_shares, _moving, _derivative_along
)
