"""Derivatives of functions of matrices, by eigenvalues or by singular values, as rules of nodes.

A node of a function holds its value, the matrix, eigenvalues or singular values w, vectors, f of each w, and divided
differences of f. That of a derivative holds a direction behind the matrix. Three rules belong to a function: its own,
that of its derivative along a direction, and that of the adjoint, which gives cotangents of the matrix.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial

from burlab.graph import hooks
from burlab.graph.implied import RULES, ImplicitRule, implied
from burlab.graph.linear_nodes import broadcast, convert, reshape, sum_over
from burlab.graph.node import Node, constant
from burlab.graph.operation import Shares, Tangents, total

from .eigenvalue_reader import shared_by
from .matrices import off_diagonal

_DERIVATIVE, _ADJOINT = "derivative of a ", "adjoint derivative of a "


class MatrixFunction(ABC):
    """A function of a matrix, as its node has it, and what f reads beside w: `shared`.

    `shared` is None where a batch has the matrix repeated. Changes of w come by f then.
    """

    name: str

    def __init__(self, a: Node, w: Node, *others: Node) -> None:
        self.a, self.w = a, w
        *self.vectors, self.f, self.ratios = others
        self.shared = shared_by(w, self.f) if w.op == "implied" else None

    @abstractmethod
    def on_values(self, f: Node) -> Node:
        """Return the function of the matrix whose values for w are f."""

    @abstractmethod
    def per_value(self, g: Node) -> Node:
        """Return the cotangents of f for a cotangent of the function."""

    @abstractmethod
    def first(self, x: Node, ratios: Node, adjoint: bool) -> Node:
        """Return the derivative along a change of the matrix, or its adjoint of a cotangent of the function.

        ratios: divided differences of f, or these with zeros on the diagonal where changes of w come by f.
        """

    @abstractmethod
    def second(self, one: Node, other: Node, cotangents: tuple[bool, bool]) -> Node:
        """Return the second derivative along two changes of the matrix.

        If one of both is a cotangent of the function, return the cotangent of the matrix for the other change.
        """

    def node(self, value: Node) -> Node:
        """Return the value as a node that has the derivative of the function."""
        return implied(self.name, value, self.a, self.w, *self.vectors, self.f, self.ratios)

    def derivative(self, x: Node, adjoint: bool = False) -> Node:
        """Return `first` as a node that has the second derivative of the function."""
        rule = (_ADJOINT if adjoint else _DERIVATIVE) + self.name
        value = self.first(x, self.ratios, adjoint)
        return implied(rule, value, self.a, x, self.w, *self.vectors, self.f, self.ratios)

    def along_shared(self, x: Node, tangents: Tangents, *more: Node) -> Node | None:
        """Return the tangent of x by what f shares, where w, vectors and more are constant."""
        known = [self.w, *self.vectors, *more]
        pushed = [tangents.get(y) for y in self.shared or ()]
        if all(y is None for y in pushed):
            return None
        return hooks.sweeps.jvp([x], [*known, *(self.shared or ())], [*(None for _ in known), *pushed])[0]

    def shares(self, x: Node, g: Node, *more: Node) -> Shares:
        """Return the cotangents of what f shares, where w, vectors and more are constant."""
        known, shared = [self.w, *self.vectors, *more], self.shared or ()
        return list(zip(shared, hooks.sweeps.vjp([x], [*known, *shared], [g])[len(known) :], strict=True))

    def share(self, number: Node, g: Node) -> Node:
        """Return the cotangent of a number that f reads, smooth where the function is."""
        along = self.along_shared(self.f, {number: broadcast(constant(1.0, number.dtype), number.shape)})
        assert along is not None  # f reads the number
        product = g * self.on_values(along)
        return convert(reshape(sum_over(product, tuple(range(g.ndim))), number.shape), number.dtype)


Maker = Callable[..., MatrixFunction]


def register(name: str, of: Maker) -> None:
    """Register the rules of a function, which `of` builds from a matrix and the other inputs of a node."""
    back = partial(_reverse, of)
    RULES[name] = ImplicitRule(back, back, partial(_reverse_others, of), _moving, partial(_along, of))
    for prefix, adjoint in ((_DERIVATIVE, False), (_ADJOINT, True)):
        back = partial(_derivative_reverse, of, adjoint)
        others, along = partial(_derivative_others, of, adjoint), partial(_derivative_along, of, adjoint)
        RULES[prefix + name] = ImplicitRule(back, back, others, _derivative_moving, along)


def _moving(n: Node) -> tuple[int, ...]:
    """Return the numbers of the matrix and of f."""
    return 1, len(n.inputs) - 2


def _derivative_moving(n: Node) -> tuple[int, ...]:
    """Return the numbers of the matrix, of the direction and of f."""
    return 1, 2, len(n.inputs) - 2


def _along(of: Maker, n: Node, tangents: Tangents) -> Node | None:
    function = of(*n.inputs[1:])
    change = tangents.get(function.a)
    parts: list[Node] = []
    if function.shared is None:
        if change is not None:
            parts.append(function.first(change, off_diagonal(function.ratios), False))
        if function.f in tangents:
            parts.append(function.on_values(tangents[function.f]))
        return total(parts)
    if change is not None:
        parts.append(function.derivative(change))
    moved = function.along_shared(function.f, tangents)
    return total(parts if moved is None else [*parts, function.on_values(moved)])


def _reverse(of: Maker, n: Node, g: Node) -> Node:
    function = of(*n.inputs[1:])
    if function.shared is None:
        return function.first(g, off_diagonal(function.ratios), True)
    return function.derivative(g, True)


def _reverse_others(of: Maker, n: Node, g: Node, active: set[Node]) -> Shares:
    function = of(*n.inputs[1:])
    if function.shared is None:
        return [(function.f, function.per_value(g))] if function.f in active else []
    moving = [x for x in function.shared if x in active]
    if all(x.size == 1 for x in moving):
        return [(x, function.share(x, g)) for x in moving]
    return function.shares(function.f, function.per_value(g))


def _derivative_of(of: Maker, n: Node) -> MatrixFunction:
    return of(n.inputs[1], *n.inputs[3:])


def _derivative_along(of: Maker, adjoint: bool, n: Node, tangents: Tangents) -> Node | None:
    function = _derivative_of(of, n)
    value, a, direction = n.inputs[:3]
    if function.shared is None:
        return tangents.get(value)
    parts: list[Node] = []
    if a in tangents:
        parts.append(function.second(direction, tangents[a], (adjoint, False)))
    if direction in tangents:
        parts.append(function.derivative(tangents[direction], adjoint))
    moved = function.along_shared(value, tangents, direction)
    return total(parts if moved is None else [*parts, moved])


def _derivative_reverse(of: Maker, adjoint: bool, n: Node, g: Node) -> Node | None:
    function = _derivative_of(of, n)
    return None if function.shared is None else function.second(n.inputs[2], g, (adjoint, not adjoint))


def _derivative_others(of: Maker, adjoint: bool, n: Node, g: Node, active: set[Node]) -> Shares:
    function = _derivative_of(of, n)
    value, _, direction = n.inputs[:3]
    if function.shared is None:
        return [(value, g)] if value in active else []
    shares = [(direction, function.derivative(g, not adjoint))] if direction in active else []
    return shares if active.isdisjoint(function.shared) else [*shares, *function.shares(value, g, direction)]
