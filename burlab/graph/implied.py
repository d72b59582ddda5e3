"""The row of values that a factorization gives: what they are computed of knows no derivative, and what they are does.

A determinant, an eigenvalue, a pseudoinverse is a function of the matrix by an equation that it solves. The node holds
the value, which some kernel has made of the matrix behind a `stop_gradient`, then the matrix, then whatever else the
rule needs; the equation, differentiated, is the rule.
"""
# ruff: noqa: D102 - Operation documents the methods

from collections.abc import Callable, Sequence
from typing import NamedTuple

from burlab.graph.node import Node
from burlab.graph.operation import Operation, Shares, Tangents, Together, make_node, structural
from burlab.graph.signatures import FLOATS, Form, form_of, require


def _matrix(_: Node) -> tuple[int, ...]:
    return (1,)


class ImplicitRule(NamedTuple):
    """The derivative of a value by the matrix: forward(n, tangent of the matrix), reverse(n, cotangent of n), or None.

    active_inputs(n): by which inputs the value has derivatives; the matrix, 1, is the first of them.
    forward(n, *tangents) gets one tangent for each, None where it is zero.
    reverse_others(n, g, active): the cotangents of the inputs after the matrix, given the active ones.
    forward_all(n, tangents): takes the place of forward where the tangents of other nodes are read as well.
    """

    forward: Callable[..., Node | None]
    reverse: Callable[[Node, Node], Node | None]
    reverse_others: Callable[[Node, Node, set[Node]], Shares] | None = None
    active_inputs: Callable[[Node], tuple[int, ...]] = _matrix
    forward_all: Callable[[Node, Tangents], Node | None] | None = None


RULES: dict[str, ImplicitRule] = {}


def _known(params: object) -> bool:
    return type(params) is str and params in RULES


@structural
class Implied(Together):
    """The value of the first input, with the derivative of a function of the second."""

    name = "implied"
    parameters = _known
    view = True
    moves_data = True
    identity = True

    def form(self, _: str, inputs: Sequence[Node]) -> Form:
        fits = len(inputs) > 1 and all(x.dtype == inputs[0].dtype and x.dtype in FLOATS for x in inputs)
        require(fits, "a value and the matrix that implies it are floats of one dtype")
        return form_of(inputs[0])

    def forward(self, n: Node, tangents: Tangents) -> Node | None:
        rule = RULES[n.params]
        if rule.forward_all:
            return rule.forward_all(n, tangents)
        pushed = tuple(tangents.get(n.inputs[k]) for k in rule.active_inputs(n))
        return None if all(x is None for x in pushed) else rule.forward(n, *pushed)

    def reverse(self, n: Node, g: Node, active: set[Node]) -> Shares:
        rule = RULES[n.params]
        a = n.inputs[1]
        share = rule.reverse(n, g) if a in active else None
        shares = [] if share is None else [(a, share)]
        return [*shares, *rule.reverse_others(n, g, active)] if rule.reverse_others else shares

    def differentiable_inputs(self, n: Node) -> tuple[int, ...]:
        return RULES[n.params].active_inputs(n)


def implied(rule: str, value: Node, a: Node, *known: Node) -> Node:
    """Return a value as a function of a matrix."""
    return make_node("implied", rule, value, a, *known)


def without_derivative(a: Node) -> Node:
    """Return the matrix for a kernel whose derivative is stated elsewhere."""
    return make_node("stop_gradient", None, a)


class Factorization(Operation):
    """The factors of matrices, packed into one array by a kernel: see `implied`."""

    dense_operands = True
    constant = True

    def batched(self, n: Node, xs: Sequence[Node], _flags: Sequence[bool], _many: object) -> Node:
        return make_node(n.op, n.params, *xs)

    def work(self, n: Node) -> int:
        (a,) = n.inputs
        return a.size * min(a.shape[-2:])
