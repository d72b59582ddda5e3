"""Functions of matrices by singular values: U diag(f) V', U diag(f) U', V diag(f) V', where f is one of each value.

They are smooth where singular values are repeated, while singular vectors by themselves are not. In the bases U and V
the derivative of U diag(f) V' is that of the symmetric part of a change times (f_j - f_i) / (s_j - s_i), that of the
antisymmetric part times (f_j + f_i) / (s_j + s_i), and f / s outside of them: Noferini 2017, "A formula for the Frechet
derivative of a generalized matrix function"; those of the others follow from A A' and A' A. Products that `scaled.py`
recognizes as such get these derivatives, which are made of singular vectors again.
"""

from functools import partial

import numpy as np

from burlab.errors import BurlabError
from burlab.graph.implied import RULES, ImplicitRule, implied
from burlab.graph.node import Node, constant
from burlab.graph.numpy_api.elementwise import where
from burlab.graph.numpy_api.promotion import apply
from burlab.graph.operation import Shares

from .divided import differences
from .matrices import column, diagonal, mT, off_diagonal, on_diagonal, row, symmetric

SIDES = ("left vectors", "right vectors")


def by_singular_values(value: Node, p: Node, q: Node, f: Node) -> Node | None:
    """Return p diag(f) q' with its derivative, or None if f is not recognized as a function of the singular values.

    p, q: the nodes of left or right vectors of a matrix. f: one number for each of them.
    """
    a, *known = p.inputs[1:]
    try:
        found = differences(implied("singular values", known[0], a, *known), f)
    except BurlabError:  # a derivative of f is not known
        return None
    return None if found is None else implied(_name(p.params, q.params), value, a, f, found.ratios, *known)


def _name(p: str, q: str) -> str:
    return f"function between {p} and {q}"


class _Factors:
    """Factors of the matrix of a node, or of the transposed matrix if `swapped`, and coefficients of the derivative."""

    def __init__(self, n: Node, swapped: bool = False) -> None:
        _, a, self.f, self.ratios, *known = n.inputs
        u, vt = (implied(side, x, a, *known) for side, x in zip(SIDES, known[1:], strict=True))
        self.s = implied("singular values", known[0], a, *known)
        self.u, self.v = (mT(vt), u) if swapped else (u, mT(vt))

    def complement(self, change: Node) -> Node:
        """Return the part of a change that is orthogonal to the columns of u."""
        return change - self.u @ (mT(self.u) @ change)

    def per_value(self, flat: bool) -> Node:
        """Return f / s. At s = 0 it is f', which must be 0 if `flat`."""
        slope = diagonal(self.ratios)
        return _quotient(self.f, self.s, _zero_or_nan(slope) if flat else slope)

    def sums(self) -> Node:
        """Return (f_j + f_i) / (s_j + s_i)."""
        f, s = (row(x) + column(x) for x in (self.f, self.s))
        return _quotient(f, s, self.ratios)

    def within(self) -> Node:
        """Return s_j (f_j - f_i) / (s_j^2 - s_i^2)."""
        total = row(self.s) + column(self.s)
        is_zero = total == 0.0
        share = row(self.s) / where(is_zero, 1.0, total)
        ratios = off_diagonal(self.ratios)
        return where(is_zero, _zero_or_nan(ratios), ratios * share)


def _quotient(x: Node, y: Node, limit: Node) -> Node:
    """Return x / y, and the limit where both are 0."""
    is_zero = (x == 0.0) & (y == 0.0)
    return where(is_zero, limit, x / where(is_zero, 1.0, y))


def _zero_or_nan(x: Node) -> Node:
    """Return 0 where x is 0, and nan elsewhere."""
    return where(x == 0.0, 0.0, constant(np.nan, x.dtype))


def _between(n: Node, change: Node) -> Node:
    """Return the change of u diag(f) v' with the matrix. This map is its own transpose: the reverse rule, too."""
    factors = _Factors(n)
    u, v = factors.u, factors.v
    inner = mT(u) @ (change @ v)
    even = symmetric(inner)
    odd = factors.sums() * (inner - even)
    value = u @ ((off_diagonal(factors.ratios) * even + odd) @ mT(v))
    if u.shape[-2] > u.shape[-1]:
        across = factors.complement(change @ v * row(factors.per_value(False)))
        return value + across @ mT(v)
    if v.shape[-2] > v.shape[-1]:
        along = column(factors.per_value(False)) * (mT(u) @ change)
        rest = along - along @ v @ mT(v)
        return value + u @ rest
    return value


def _between_forward(n: Node, change: Node | None, along: Node | None) -> Node:
    factors = _Factors(n)
    parts = [] if change is None else [_between(n, change)]
    if along is not None:
        parts.append(factors.u @ (on_diagonal(along) @ mT(factors.v)))
    return parts[0] if len(parts) == 1 else apply("add", *parts)


def _between_shares(n: Node, g: Node, active: set[Node]) -> Shares:
    factors = _Factors(n)
    return [(factors.f, diagonal(mT(factors.u) @ (g @ factors.v)))] if factors.f in active else []


def _within_forward(n: Node, change: Node | None, along: Node | None, swapped: bool) -> Node:
    """Return the change of u diag(f) u' with the matrix, and with f."""
    factors = _Factors(n, swapped)
    u, v = factors.u, factors.v
    parts: list[Node] = []
    if change is not None:
        x = (mT(change) if swapped else change) @ v
        half = u @ (factors.within() * (mT(u) @ x))
        if u.shape[-2] > u.shape[-1]:
            half = half + factors.complement(x * row(factors.per_value(True)))
        half = half @ mT(u)
        parts.append(half + mT(half))
    if along is not None:
        parts.append(u @ (on_diagonal(along) @ mT(u)))
    return parts[0] if len(parts) == 1 else apply("add", *parts)


def _within_reverse(n: Node, g: Node, swapped: bool) -> Node:
    factors = _Factors(n, swapped)
    u, v = factors.u, factors.v
    g = (g + mT(g)) @ u
    back = u @ (factors.within() * (mT(u) @ g))
    if u.shape[-2] > u.shape[-1]:
        back = back + factors.complement(g * row(factors.per_value(True)))
    back = back @ mT(v)
    return mT(back) if swapped else back


def _within_shares(n: Node, g: Node, active: set[Node], swapped: bool) -> Shares:
    factors = _Factors(n, swapped)
    return [(factors.f, diagonal(mT(factors.u) @ (g @ factors.u)))] if factors.f in active else []


def _across_forward(n: Node, change: Node | None, along: Node | None) -> Node:
    return mT(_between_forward(n, change, along))


def _across_reverse(n: Node, g: Node) -> Node:
    return _between(n, mT(g))


def _across_shares(n: Node, g: Node, active: set[Node]) -> Shares:
    return _between_shares(n, mT(g), active)


def _moving(_: Node) -> tuple[int, ...]:
    return 1, 2


_LEFT, _RIGHT = SIDES
RULES.update({
    _name(_LEFT, _RIGHT): ImplicitRule(_between_forward, _between, _between_shares, _moving),
    _name(_RIGHT, _LEFT): ImplicitRule(_across_forward, _across_reverse, _across_shares, _moving),
    **{_name(side, side): ImplicitRule(partial(_within_forward, swapped=k), partial(_within_reverse, swapped=k),
                               partial(_within_shares, swapped=k), _moving)
       for side, k in ((_LEFT, False), (_RIGHT, True))},
})  # fmt: skip
