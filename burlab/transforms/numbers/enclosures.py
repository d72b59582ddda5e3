"""The walk through a graph that gives each value its enclosure."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from burlab.errors import TraceError
from burlab.graph.graph import Graph, topological
from burlab.graph.node import Node
from burlab.graph.operation import make_node
from burlab.graph.origin import Origin, derived_from, place
from burlab.graph.rewrite.simplify import without_calls
from burlab.graph.substitute import keep

from .enclosing.enclosure_rules import IMPLIED_RULES, LIMITED, REFUSED, SCALAR_RULES, STRUCTURAL_RULES
from .enclosing.position_enclosures import gathered, scattered
from .expand_partials import without_partials
from .pairs import Pair, Value, choose, op, pair
from .several_nodes import Executed, Parts, spread_choice, spread_loop
from .tensor_enclosures import extreme_of, tensor, ties

_OF_WHOLE_NUMBERS = frozenset(
    ("where", "maximum", "minimum", "less", "less_equal", "greater", "greater_equal", "equal", "not_equal")
)
MAX_SHIFT = 2**31  # of an integer that depends on an interval
_IDENTITIES = frozenset(("surrogate", "after", "implied", "stop_gradient"))


class Refused(NamedTuple):
    """A value without an enclosure: the operation that has none. It is no fault while nothing needs the value."""

    node: Node
    what: str


class Check(NamedTuple):
    """A check of a domain. left: a mask of where an operation, made on a line of the user's, has left it."""

    left: Node
    origin: Origin | None
    op: str


class Enclosures:
    """The values of a graph as intervals.

    checks: of all operations that are not defined everywhere, of a loop as one.
    """

    def __init__(self) -> None:
        self.checks: list[Check] = []
        self._executions: dict[Any, Executed] = {}

    def of(self, graph: Graph, inputs: Sequence[Value]) -> list[Value]:
        """The enclosures of the outputs. Raises TraceError, with the user's line, where an operation has none."""
        known: dict[Node, Value | Refused] = dict(zip(graph.inputs, inputs, strict=True))
        outputs = without_partials(without_calls(graph.outputs))
        for n in topological(outputs, known):
            with derived_from(n):
                known[n] = self._value(n, [known[x] for x in n.inputs])
        found: list[Value] = []
        for y in (known[y] for y in outputs):
            if isinstance(y, Refused):
                raise _no_enclosure(y)
            found.append(y)
        return found

    def _value(self, n: Node, given: list[Value | Refused]) -> Value | Refused:
        used = _used(n, given)
        xs: list[Value] = []
        for x in used:
            if isinstance(x, Refused):
                return x
            xs.append(x)
        if not any(isinstance(x, Pair) for x in xs):
            if len(xs) == len(given):
                return keep(n, tuple(x for x in xs if isinstance(x, Node)))
            if n.op in _IDENTITIES:
                return xs[0]
        try:
            found = self._executed(n, xs) if n.row.parts else _enclosed(n, xs)
        except KeyError as error:
            return Refused(n, str(error.args[0]))
        if n.op in LIMITED and isinstance(found, Pair) and found.low.dtype.kind == "f" and found.low.size:
            self.checks.append(Check(op("isnan", found.low), n.origin, n.op))
        return found

    def nans(self, outputs: Sequence[Value], name: str) -> list[tuple[Node, str]]:
        """The outputs that may be nan though no domain was left: each as a mask, with what to say then."""
        message = (
            f"the bounds of {name} are nan: ends that are infinite, or beyond the largest number, met in a sum or a "
            "product. Pass a smaller box."
        )
        floats = [y for y in map(pair, outputs) if y.low.dtype.kind == "f" and y.low.size]
        return [(op("isnan", y.low), message) for y in floats]

    def _executed(self, n: Node, xs: list[Value]) -> Value:
        if n.op == "cond" and isinstance(xs[0], Pair):
            return self._both(n, xs)
        if n.op not in ("scan", "cond", "while"):
            raise KeyError(n.op)
        key = (n.op, *map(id, xs), n.params.region, n.params.batch)
        if key not in self._executions:
            spread = spread_choice if n.op == "cond" else spread_loop
            self._executions[key] = spread(n, [_parts(x) for x in xs], _inner, lambda x: (x, x))
        return _from_parts(self._executions[key].result(n.params.item))

    def _both(self, n: Node, xs: list[Value]) -> Value:
        """A choice that depends on an interval: of both branches, as `where` has it."""
        if n.params.batch:
            raise KeyError("bl.cond in bl.vmap")
        item: int = n.params.item
        graphs: tuple[Graph, ...] = n.params.region.graphs
        yes, no = (self.of(graph, xs[1:])[item] for graph in graphs)
        mask = pair(xs[0])
        shape = n.shape
        wide = Pair(*(make_node("broadcast", (shape, ()), end) if shape else end for end in mask))
        return choose(wide, yes, no)


def _used(n: Node, given: list[Value | Refused]) -> list[Value | Refused]:
    """The inputs that an enclosure reads. The factors of a matrix are not: they may jump where what they give does not.

    Of an implied value with a rule of its own that is the matrix.
    """
    if all(isinstance(x, Node) for x in given):
        return given
    if n.op == "implied" and n.params in IMPLIED_RULES:
        return given[1:2]
    if n.op == "lu_solve":
        return given[:2]
    return given[:1] if n.op in _IDENTITIES else given


def _enclosed(n: Node, xs: list[Value]) -> Value:
    if n.op == "implied" and n.params in IMPLIED_RULES:
        return IMPLIED_RULES[n.params](xs[0])
    if n.op == "equal" and extreme_of(n) is not None:
        return ties(n, xs)
    if n.op in SCALAR_RULES:
        return _scalar(n, xs)
    if n.op in STRUCTURAL_RULES:
        return STRUCTURAL_RULES[n.op](n, xs)
    if n.op in ("gather", "scatter") and isinstance(xs[1], Pair):
        return (gathered if n.op == "gather" else scattered)(n, xs)
    return tensor(n, xs)


def _scalar(n: Node, xs: list[Value]) -> Value:
    if any(isinstance(x, Pair) and x.low.dtype.kind in "iu" for x in xs) and n.op not in _OF_WHOLE_NUMBERS:
        return _shifted(n, xs)
    if len(n.inputs) == 2 and n.inputs[0] is n.inputs[1]:
        if n.op == "mul":
            return SCALAR_RULES["square"](xs[0])
        if n.op in ("not_equal", "less", "greater"):  # of one number with itself: as nan is looked for
            return pair(SCALAR_RULES["isnan"](xs[0]))
    return SCALAR_RULES[n.op](*xs)


def _shifted(n: Node, xs: list[Value]) -> Pair:
    """The sum or difference of an integer and a known one, which is small enough that no integer overflows."""
    known = [x for x in xs if isinstance(x, Node)]
    if n.op not in ("add", "sub") or n.dtype.itemsize < 8 or not known or (value := known[0].known) is None:
        raise KeyError(f"{n.op} of integers that depend on an interval")
    if value.size and np.max(np.abs(value)) > MAX_SHIFT:
        raise KeyError(f"{n.op} of integers above {MAX_SHIFT}")
    (a, b), (c, d) = map(pair, xs)
    if n.op == "sub":
        c, d = d, c
    return Pair(op(n.op, a, c), op(n.op, b, d))


def _inner(graph: Graph, inputs: Sequence[Parts]) -> list[Parts]:
    return [_parts(y) for y in Enclosures().of(graph, [_from_parts(x) for x in inputs])]


def _parts(x: Value) -> Parts:
    return tuple(x) if isinstance(x, Pair) else (x,)


def _from_parts(parts: Parts) -> Value:
    return Pair(*parts) if len(parts) == 2 else parts[0]


def _no_enclosure(refused: Refused) -> TraceError:
    n, what = refused
    line = f"{place(n.origin)}: " if n.origin else ""
    reason = f", because {REFUSED[what]}" if what in REFUSED else ""
    return TraceError(
        f"{line}bl.interval has no enclosure of {what}{reason}. Use functions that have one "
        "(docs/internals/intervals.md), or bl.interval of the part before it."
    )
