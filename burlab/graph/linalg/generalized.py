"""Functions of matrices by singular values: U diag(f) V', U diag(f) U', V diag(f) V', where f is one of each value.

They are smooth where singular values are repeated, while singular vectors by themselves are not. In the bases U and V
the derivative of U diag(f) V' is that of the symmetric part of a change times (f_j - f_i) / (s_j - s_i), that of the
antisymmetric part times (f_j + f_i) / (s_j + s_i), and f / s outside of them: Noferini 2017, "A formula for the Frechet
derivative of a generalized matrix function"; those of the others follow from A A' and A' A. Products that are seen to
be of these forms, `scaled.py`, get these derivatives, which are made of singular vectors again.
"""

from functools import partial

import numpy as np

from burlab.errors import BurlabError
from burlab.graph.implied import RULES, Rule, implied
from burlab.graph.node import Node, constant
from burlab.graph.numpy_api.products import matmul
from burlab.graph.numpy_api.promotion import apply
from burlab.graph.operation import Shares

from .divided import differences
from .matrices import column, diagonal, off_diagonal, on_diagonal, row, symmetric, turned

SIDES = ("left vectors", "right vectors")


def by_singular_values(value: Node, p: Node, q: Node, f: Node) -> Node | None:
    """The value p diag(f) q' with its derivative; None where f is not seen to be a function of the singular values.

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


class _Known:
    """The factors of the matrix of a node, and what its rules multiply by. swapped: those of the transposed matrix."""

    def __init__(self, n: Node, swapped: bool = False) -> None:
        _, a, self.f, self.ratios, *known = n.inputs
        u, vt = (implied(side, x, a, *known) for side, x in zip(SIDES, known[1:], strict=True))
        self.s = implied("singular values", known[0], a, *known)
        self.u, self.v = (turned(vt), u) if swapped else (u, turned(vt))

    def beside(self, change: Node) -> Node:
        """What a change adds to the space of u: nothing where u is a whole basis."""
        return apply("sub", change, matmul(self.u, matmul(turned(self.u), change)))

    def per_value(self, flat: bool) -> Node:
        """f / s. At 0 it is f', and must be 0 where flat."""
        slope = diagonal(self.ratios)
        return _quotient(self.f, self.s, _zero_or_nan(slope) if flat else slope)

    def sums(self) -> Node:
        """(f_j + f_i) / (s_j + s_i)."""
        f, s = (apply("add", row(x), column(x)) for x in (self.f, self.s))
        return _quotient(f, s, self.ratios)

    def shares(self) -> Node:
        """(f_j - f_i) / (s_j^2 - s_i^2) times s_j."""
        total = apply("add", row(self.s), column(self.s))
        none = apply("equal", total, 0.0)
        share = apply("div", row(self.s), apply("where", none, 1.0, total))
        ratios = off_diagonal(self.ratios)
        return apply("where", none, _zero_or_nan(ratios), apply("mul", ratios, share))


def _quotient(x: Node, y: Node, both: Node) -> Node:
    """x / y, and `both` where both are 0."""
    none = apply("logical_and", apply("equal", x, 0.0), apply("equal", y, 0.0))
    return apply("where", none, both, apply("div", x, apply("where", none, 1.0, y)))


def _zero_or_nan(x: Node) -> Node:
    """0 where it is 0; elsewhere nothing is known."""
    return apply("where", apply("equal", x, 0.0), 0.0, constant(np.nan, x.dtype))


def _between(n: Node, change: Node) -> Node:
    """How u diag(f) v' moves with the matrix, and what the matrix receives from it: this map is its own transpose."""
    known = _Known(n)
    u, v = known.u, known.v
    inner = matmul(turned(u), matmul(change, v))
    even = symmetric(inner)
    odd = apply("mul", known.sums(), apply("sub", inner, even))
    moved = matmul(u, matmul(apply("add", apply("mul", off_diagonal(known.ratios), even), odd), turned(v)))
    if u.shape[-2] > u.shape[-1]:
        across = known.beside(apply("mul", matmul(change, v), row(known.per_value(False))))
        return apply("add", moved, matmul(across, turned(v)))
    if v.shape[-2] > v.shape[-1]:
        along = apply("mul", column(known.per_value(False)), matmul(turned(u), change))
        rest = apply("sub", along, matmul(matmul(along, v), turned(v)))
        return apply("add", moved, matmul(u, rest))
    return moved


def _between_forward(n: Node, change: Node | None, along: Node | None) -> Node:
    known = _Known(n)
    parts = [] if change is None else [_between(n, change)]
    if along is not None:
        parts.append(matmul(known.u, matmul(on_diagonal(along), turned(known.v))))
    return parts[0] if len(parts) == 1 else apply("add", *parts)


def _between_beside(n: Node, g: Node, active: set[Node]) -> Shares:
    known = _Known(n)
    return [(known.f, diagonal(matmul(turned(known.u), matmul(g, known.v))))] if known.f in active else []


def _within_forward(n: Node, change: Node | None, along: Node | None, swapped: bool) -> Node:
    """How u diag(f) u' moves with the matrix."""
    known = _Known(n, swapped)
    u, v = known.u, known.v
    parts: list[Node] = []
    if change is not None:
        moved = matmul(turned(change) if swapped else change, v)
        half = matmul(u, apply("mul", known.shares(), matmul(turned(u), moved)))
        if u.shape[-2] > u.shape[-1]:
            half = apply("add", half, known.beside(apply("mul", moved, row(known.per_value(True)))))
        half = matmul(half, turned(u))
        parts.append(apply("add", half, turned(half)))
    if along is not None:
        parts.append(matmul(u, matmul(on_diagonal(along), turned(u))))
    return parts[0] if len(parts) == 1 else apply("add", *parts)


def _within_reverse(n: Node, g: Node, swapped: bool) -> Node:
    known = _Known(n, swapped)
    u, v = known.u, known.v
    g = matmul(apply("add", g, turned(g)), u)
    back = matmul(u, apply("mul", known.shares(), matmul(turned(u), g)))
    if u.shape[-2] > u.shape[-1]:
        back = apply("add", back, known.beside(apply("mul", g, row(known.per_value(True)))))
    back = matmul(back, turned(v))
    return turned(back) if swapped else back


def _within_beside(n: Node, g: Node, active: set[Node], swapped: bool) -> Shares:
    known = _Known(n, swapped)
    return [(known.f, diagonal(matmul(turned(known.u), matmul(g, known.u))))] if known.f in active else []


def _across_forward(n: Node, change: Node | None, along: Node | None) -> Node:
    return turned(_between_forward(n, change, along))


def _across_reverse(n: Node, g: Node) -> Node:
    return _between(n, turned(g))


def _across_beside(n: Node, g: Node, active: set[Node]) -> Shares:
    return _between_beside(n, turned(g), active)


def _moving(_: Node) -> tuple[int, ...]:
    return 1, 2


_LEFT, _RIGHT = SIDES
RULES.update({
    _name(_LEFT, _RIGHT): Rule(_between_forward, _between, _between_beside, _moving),
    _name(_RIGHT, _LEFT): Rule(_across_forward, _across_reverse, _across_beside, _moving),
    **{_name(side, side): Rule(partial(_within_forward, swapped=k), partial(_within_reverse, swapped=k),
                               partial(_within_beside, swapped=k), _moving)
       for side, k in ((_LEFT, False), (_RIGHT, True))},
})  # fmt: skip
