"""Rounded arithmetic on the nodes of a graph: what `bl.precision` makes of each."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from burlab.compiler.executable import build
from burlab.graph.graph import Graph
from burlab.graph.linear_nodes import concatenate, slice_
from burlab.graph.node import Node, constant
from burlab.graph.rewrite.interpret import NodeRule
from burlab.graph.substitute import keep
from burlab.transforms.random.hashed_numbers import hashed_node
from burlab.transforms.random.keys import fold_in

from .exact_operations import adds_up, chooses
from .roundings import Rounding

_SIGNS = ("abs", "neg")
_MAX_CONSTANT = 1 << 16  # numbers of an array that is rounded when a function is traced


@dataclass(frozen=True)
class RoundedScopes:
    """Formats of a function: of everything, of additions before that, and of modules by the names of their scopes."""

    all: Rounding | None
    accumulate: Rounding | None
    scopes: tuple[tuple[str, Rounding | None], ...]

    def of(self, scope: str) -> Rounding | None:
        """Return the rounding of a scope: of the first pattern that matches it, else that of everything."""
        return next((rounding for pattern, rounding in self.scopes if matches(pattern, scope)), self.all)

    @property
    def is_drawn(self) -> bool:
        """True if any rounding needs a key."""
        return any(r is not None and r.is_drawn for r in (self.all, *(rounding for _, rounding in self.scopes)))


def matches(pattern: str, scope: str) -> bool:
    """Return True if a pattern is the name of a scope, of one around it, or of a path between the two."""
    names = scope.split("/") if scope else []
    ends = ((first, last) for first in range(len(names)) for last in range(first + 1, len(names) + 1))
    return any(fnmatchcase("/".join(names[first:last]), pattern) for first, last in ends)


@dataclass
class Rounder(NodeRule):
    """Rule of rounded arithmetic for nodes.

    key: of the random numbers, None where none are drawn. known: the rounding of each node so far.
    """

    formats: RoundedScopes
    key: Any = None
    scopes: set[str] = field(default_factory=set[str])
    _known: dict[Node, Rounding] = field(default_factory=dict[Node, Rounding])
    _operands: dict[tuple[Node, Rounding], Node] = field(default_factory=dict[tuple[Node, Rounding], Node])
    _draws: int = 0

    def of(self, n: Node, xs: Sequence[Node]) -> Node:
        """The operation on operands of the format, rounded to it."""
        self.scopes.add(n.scope)
        rounding = self.formats.of(n.scope)
        if rounding is None or n.row.leaf:
            return keep(n, tuple(xs))
        first = 1 if n.op == "round_to" else len(xs)  # what follows is no number of the program's
        operands = (*(self._operand(x, rounding) for x in xs[:first]), *xs[first:])
        y = keep(n, operands)
        if y.dtype.kind != "f":
            return y
        ready = all(x in self._known or x.is_zero for x in operands if x.dtype.kind == "f")
        if ready and (chooses(n) or (n.op in _SIGNS and rounding.format.is_symmetric)):
            self._known[y] = rounding
            return y
        return y if chooses(n) else self._result(n, y, rounding)

    def _operand(self, x: Node, rounding: Rounding) -> Node:
        """A number in the format of the operation that reads it; one that stands in the program is exact."""
        if x.dtype.kind != "f" or self._known.get(x) == rounding or (x.known is not None and x.known.size == 1):
            return x
        key = (x, rounding)
        if key not in self._operands:
            self._operands[key] = self._rounded(x, rounding)
        return self._operands[key]

    def _result(self, n: Node, y: Node, rounding: Rounding) -> Node:
        wide = self.formats.accumulate
        if adds_up(n) and wide is not None and wide.format.fits(y.dtype):
            y = wide.rounded(y)
        if n.op == "lu":  # behind the factors are the numbers of rows
            return self._factors(n, y, rounding)
        return self._rounded(y, rounding)

    def _factors(self, n: Node, y: Node, rounding: Rounding) -> Node:
        count = n.inputs[0].shape[-1] ** 2
        lead, unit = (0,) * (y.ndim - 1), (1,) * y.ndim
        factors = slice_(y, (*lead, 0), unit, (*y.shape[:-1], count))
        rows = slice_(y, (*lead, count), unit, (*y.shape[:-1], y.shape[-1] - count))
        return concatenate([self._rounded(factors, rounding), rows], y.ndim - 1)

    def _rounded(self, x: Node, rounding: Rounding) -> Node:
        y = rounding.rounded(x, self._draw() if rounding.is_drawn else None, hashed_node)
        if not rounding.is_drawn and x.is_constant and 0 < x.size <= _MAX_CONSTANT:
            y = constant(build(Graph((), (y,)), gear="replay")()[0], x.dtype)  # once, not in every call
        self._known[y] = rounding
        return y

    def _draw(self) -> Any:
        self._draws += 1
        return fold_in(self.key, self._draws)

    def threaded(self) -> tuple[Node, ...]:
        """A key for the sub-graph."""
        return (self._draw(),) if self.formats.is_drawn else ()

    def within(self, threaded: tuple[Node, ...]) -> "Rounder":
        """The same, drawing by a key that the sub-graph gets."""
        return Rounder(self.formats, threaded[0] if threaded else None, self.scopes)

    def handed_on(self) -> tuple[Node, ...]:
        """The key of the next iteration."""
        return self.threaded()
