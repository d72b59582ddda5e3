"""Taylor coefficients of the values of a graph, where its inputs are polynomials of t.

A coefficient is computed when it is asked for, from lower ones. So a value may depend on its own lower coefficients, as
the solution of a differential equation does, and one rule serves all functions: the coefficients of y follow from those
of its derivative along the curve, y' = f'(x, y) x', which is a graph that forward mode writes (Griewank and Walther
2008, Evaluating Derivatives, chapter 13; Moore 1966). Sums, products, quotients and linear operations have rules of
their own, which are the convolutions that one expects.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from burlab.errors import TraceError
from burlab.graph.autodiff import sweep
from burlab.graph.graph import Graph, topological
from burlab.graph.implied import Implied
from burlab.graph.linear_nodes import broadcast, zeros
from burlab.graph.node import Node, constant
from burlab.graph.operation import Linearity, total
from burlab.graph.origin import derived_from, place
from burlab.graph.rewrite.simplify import without_calls
from burlab.graph.substitute import keep

from .expand_partials import without_partials
from .several_nodes import Executed, Parts, spread_choice, spread_loop

Coefficient = Node | None
"""None: known to be 0."""


class Series:
    """The coefficients of t^0, t^1 and so on of a value, of which those that were asked for are known."""

    __slots__ = ("_known", "_rule")

    def __init__(self, first: Node, rule: Callable[[int], Coefficient] | None = None) -> None:
        self._known: list[Coefficient] = [first]
        self._rule = rule

    @property
    def primal(self) -> Node:
        """The coefficient of t^0."""
        first = self._known[0]
        assert first is not None
        return first

    @property
    def is_constant(self) -> bool:
        """True if it does not depend on t."""
        return self._rule is None

    def __getitem__(self, k: int) -> Coefficient:
        if self._rule is None:
            return self._known[0] if k == 0 else None
        while len(self._known) <= k:
            self._known.append(self._rule(len(self._known)))
        return self._known[k]

    def dense(self, count: int) -> Parts:
        """The first coefficients, with nodes for zeros."""
        first = self.primal
        return tuple(c if (c := self[k]) is not None else zeros(first.shape, first.dtype) for k in range(count))


class SeriesWalk:
    """The series of the nodes of a graph.

    order: the highest coefficient that will be asked for; None: one after the other, of a solution that depends on
    itself. Loops then run again for each.
    """

    def __init__(self, order: int | None) -> None:
        self._order = order
        self._known: dict[Node, Series] = {}
        self._made: dict[Any, Series] = {}
        self._executions: dict[Any, dict[int, Executed]] = {}

    def of(self, graph: Graph, inputs: Sequence[Series]) -> list[Series]:
        """The series of the outputs of a graph, from those of its inputs."""
        outputs = without_partials(without_calls(graph.outputs))
        return self._walked(outputs, dict(zip(graph.inputs, inputs, strict=True)))

    def _walked(self, outputs: Sequence[Node], known: dict[Node, Series]) -> list[Series]:
        for n in topological(outputs, known):
            with derived_from(n):
                known[n] = self._series(n, [known[x] for x in n.inputs])
        return [known[y] for y in outputs]

    def _series(self, n: Node, xs: list[Series]) -> Series:
        """The series of a node, made once for equal operations on the same series: so sine and cosine meet."""
        key = _key(n, xs)
        found = self._made.get(key)
        if found is None:
            found = self._made[key] = self._new(n, xs)
        return found

    def _new(self, n: Node, xs: list[Series]) -> Series:
        primal = keep(n, tuple(x.primal for x in xs))
        _check_order(n)
        if all(x.is_constant for x in xs) or n.dtype.kind != "f" or n.row.constant:
            return Series(primal)
        if n.op in ("scan", "cond"):
            return self._executed(n, primal, xs)
        rule = _RULES.get(n.op)
        if rule is not None:
            series = Series(primal, lambda k: rule(primal, xs, series, k))
            return series
        if n.row.linearity is Linearity.EACH and not n.row.differentiable:
            return Series(primal, lambda k: _convolution(primal, xs[0], xs[1], k))
        if not n.row.differentiable and _is_linear(n):
            return Series(primal, lambda k: _linear(primal, xs, k))
        return self._by_derivative(primal, xs)

    def _by_derivative(self, primal: Node, xs: list[Series]) -> Series:
        """y_k = e_(k-1) / k, where e is the series of the derivative of y along the curve."""
        varying = {x: s for x, s in zip(primal.inputs, xs, strict=True) if not s.is_constant and x.dtype.kind == "f"}
        slopes: list[Series] = []

        def rule(k: int) -> Coefficient:
            if not slopes:
                slopes.append(self._slope(primal, xs, series, varying))
            return scaled(slopes[0][k - 1], 1 / k)

        series = Series(primal, rule)
        return series

    def _slope(self, primal: Node, xs: list[Series], series: Series, varying: dict[Node, Series]) -> Series:
        along = {x: Node("input", (), None, x.shape, x.dtype) for x in varying}
        with derived_from(primal):
            tangents = sweep.jvp([primal], [*along], [*along.values()])
            (slope,) = without_partials(without_calls(tangents))
        known = {**dict(zip(primal.inputs, xs, strict=True)), primal: series}
        known |= {v: derivative(s) for s, v in zip(varying.values(), along.values(), strict=True)}
        return self._walked([slope], known)[0]

    def _executed(self, n: Node, primal: Node, xs: list[Series]) -> Series:
        """A result of a loop or a choice, whose sub-graphs carry all coefficients along."""
        made = self._executions.setdefault((n.op, tuple(map(id, xs)), n.params.region, n.params.batch), {})

        def rule(k: int) -> Coefficient:
            order = k if self._order is None else self._order
            if order not in made:
                made[order] = _spread(primal, xs, order)
            parts = made[order].result(n.params.item)
            return parts[k] if k < len(parts) else None

        return Series(primal, rule)


_ORDERS = {
    "gammainc_by": 1, "gamma_density_by": 1, "betainc_by": 2, "beta_density_by": 2, "zeta_derivative": 1,
    "riemann_zeta": 1,
}  # fmt: skip
"""Derivatives by a parameter: how many of the first arguments are orders."""
MAX_ORDER = 4  # up to which they are computed (`numbers/incomplete.hpp`, `numbers/gamma.hpp`)


def _check_order(n: Node) -> None:
    """Raise TraceError for a derivative by a parameter that is not computed, which would be nan."""
    orders = [_order(x) for x in n.inputs[: _ORDERS.get(n.op, 0)]]
    if sum(orders) > MAX_ORDER:
        line = f"{place(n.origin)}: " if n.origin else ""
        name = n.op.removesuffix("_by").removesuffix("_derivative")
        raise TraceError(
            f"{line}derivatives of {name} by its parameters are computed up to order {MAX_ORDER}, expected no more. "
            f"Pass an order of taylor of at most {MAX_ORDER}, or bl.stop_gradient of the parameter."
        )


def _order(n: Node) -> float:
    """A known number, as sums of ones are; 0 for others."""
    if n.op == "broadcast":
        return _order(n.inputs[0])
    if n.op == "add":
        return sum(map(_order, n.inputs))
    return 0.0 if n.known is None else float(np.max(n.known, initial=0.0))


def derivative(x: Series) -> Series:
    """The series of the derivative by t."""
    first = x[1]
    zero = zeros(x.primal.shape, x.primal.dtype)
    return Series(zero if first is None else first, lambda k: scaled(x[k + 1], k + 1))


def _spread(n: Node, xs: list[Series], order: int) -> Executed:
    def inner(graph: Graph, inputs: Sequence[Parts]) -> list[Parts]:
        outputs = SeriesWalk(order).of(graph, [polynomial(x) for x in inputs])
        return [(y.primal,) if y.is_constant else y.dense(order + 1) for y in outputs]

    def widen(x: Node) -> Parts:
        return Series(x).dense(order + 1 if x.dtype.kind == "f" else 1)

    parts = [(x.primal,) if x.is_constant else x.dense(order + 1) for x in xs]
    return (spread_loop if n.op == "scan" else spread_choice)(n, parts, inner, widen)


def scaled(x: Coefficient, factor: float) -> Coefficient:
    """A coefficient times a number."""
    return x if x is None or factor == 1 else _product(x, broadcast(constant(factor, x.dtype), x.shape))


def polynomial(parts: Parts) -> Series:
    """The series with these coefficients, and no more."""
    if len(parts) == 1:
        return Series(parts[0])
    return Series(parts[0], lambda k: parts[k] if k < len(parts) else None)


def _key(n: Node, xs: Sequence[Series]) -> Any:
    if n.known is not None:
        return "constant", n.known.tobytes(), n.shape, n.dtype
    if not xs or n.row.parts:
        return n
    return n.op, n.params, n.shape, n.dtype, tuple(map(id, xs))


# Rules of operations: (node, series of its inputs, its own series, k) -> coefficient k.


def _product(x: Coefficient, y: Coefficient) -> Coefficient:
    return None if x is None or y is None else Node("mul", (x, y), None, x.shape, x.dtype)


def _sum(terms: Sequence[Coefficient]) -> Coefficient:
    return total(x for x in terms if x is not None)


def _is_linear(n: Node) -> bool:
    """Return True if the derivative of an operation is one linear map, which depends on the values of the inputs only.

    Sorting moves the coefficients as it moves the values. An `implied` value has another derivative than it says.
    """
    return n.row.linearity in (Linearity.FIRST, Linearity.ALL) or (n.row.moves_data and not isinstance(n.row, Implied))


def _linear(n: Node, xs: list[Series], k: int) -> Coefficient:
    """The coefficients of a linear operation are the operation on coefficients."""
    tangents = {x: c for x, s in zip(n.inputs, xs, strict=True) if x.dtype.kind == "f" and (c := s[k]) is not None}
    if not tangents:
        return None
    return sweep.jvp([n], [*tangents], [*tangents.values()])[0]


def _convolution(n: Node, x: Series, y: Series, k: int) -> Coefficient:
    pairs = ((x[i], y[k - i]) for i in range(k + 1))
    return _sum([keep(n, (a, b)) for a, b in pairs if a is not None and b is not None])


def _square(n: Node, xs: list[Series], _own: Series, k: int) -> Coefficient:
    (x,) = xs
    cross = scaled(_sum([_product(x[i], x[k - i]) for i in range((k + 1) // 2)]), 2)
    middle = x[k // 2] if k % 2 == 0 else None
    return _sum([cross, None if middle is None else keep(n, (middle,))])


def _mul(n: Node, xs: list[Series], _own: Series, k: int) -> Coefficient:
    x, y = xs
    return _convolution(n, x, y, k)


def _div(n: Node, xs: list[Series], own: Series, k: int) -> Coefficient:
    """From x = y z: z_k = (x_k - sum over j >= 1 of y_j z_(k - j)) / y_0."""
    x, y = xs
    rest = _sum([_product(y[j], own[k - j]) for j in range(1, k + 1)])
    negative = None if rest is None else Node("neg", (rest,), None, rest.shape, rest.dtype)
    numerator = _sum([x[k], negative])
    return None if numerator is None else keep(n, (numerator, y.primal))


def _each(n: Node, xs: list[Series], _own: Series, k: int) -> Coefficient:
    return _linear(n, xs, k)


_RULES: dict[str, Callable[[Node, list[Series], Series, int], Coefficient]] = {
    **dict.fromkeys(("add", "sub", "neg", "where"), _each), "mul": _mul, "square": _square, "div": _div,
}  # fmt: skip
