"""Partial derivatives of scalar operations in other operations of the table: `tanh'0` as 1 - y * y.

The formulas are those that the C++ structs write of themselves (`graph/formula.py`). So a transform that has a rule for
each operation of the table needs none for the partials of these.
"""

import ast
from collections.abc import Iterable, Mapping, Sequence
from functools import reduce

import numpy as np

from burlab.errors import TraceError
from burlab.graph.autodiff import sweep
from burlab.graph.formula import LETTERS, exact_formulas, load_formulas
from burlab.graph.graph import topological
from burlab.graph.linear_nodes import broadcast
from burlab.graph.node import Node, constant
from burlab.graph.operation import make_node
from burlab.graph.origin import derived_from, place
from burlab.graph.scalar import USERS, row_of
from burlab.graph.scalar_table import ROWS
from burlab.graph.substitute import keep, rebuild

_FORMULAS: dict[tuple[str, int], str] = {
    ("remainder", 1): "-floor(a / b)",
    ("mills", 0): "-(y * (a + y))",
    ("mills_excess", 0): "1 - y * (y - a)",
    ("erfcx", 0): "2 * a * y - 1.1283791670955126",
}
"""Partials whose structs call functions that are no operations. Those of `normal.hpp` lose digits far below 0."""
_BINARY: dict[type, str] = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div", ast.Pow: "power",
    ast.Lt: "less", ast.LtE: "less_equal", ast.Gt: "greater", ast.GtE: "greater_equal", ast.Eq: "equal",
    ast.NotEq: "not_equal", ast.And: "logical_and", ast.Or: "logical_or",
}  # fmt: skip
_NUMBERS = {"inf": np.inf, "nan": np.nan}


def _is_partial(op: str) -> bool:
    """Return True for the name of a partial derivative, such as `tanh'0`."""
    return "'" in op


def without_partials(outputs: Sequence[Node]) -> list[Node]:
    """Return the outputs with every partial derivative written in operations that are none.

    Raises TraceError, with the user's line, where a formula has a function that is no operation.
    """
    _load_formulas(n for n in topological(outputs) if _is_partial(n.op))
    return rebuild(outputs, {}, lambda n, inputs: _expanded(keep(n, inputs)) if _is_partial(n.op) else keep(n, inputs))


def _load_formulas(nodes: Iterable[Node]) -> None:
    """Have the compiler write the formulas that nodes need at once: those of whole tables, which are cached on disk."""
    rows = {n.row.scalar for n in nodes if n.row.differentiable}
    families = {row.family for row in rows}
    known = [row.name for row in ROWS if row.differentiable and row.family in families]
    load_formulas([*known, *sorted(row.name for row in rows if row.family == USERS)])


def _expanded(n: Node) -> Node:
    """Return a partial derivative as nodes of operations that are none, on the same inputs."""
    base, *by = n.op.split("'")
    with derived_from(n):
        if len(by) == 1:
            k = int(by[0])
            text = _FORMULAS.get((base, k)) or exact_formulas(base).partials[k]
            letters: list[str] = [*LETTERS[: len(n.inputs) - 1], "y"]
            return _Builder(dict(zip(letters, n.inputs, strict=True)), n).node(ast.parse(text, mode="eval").body)
        inner = [Node("input", (), None, x.shape, x.dtype) for x in n.inputs[:-1]]
        partial = without_partials([make_node("'".join((base, *by[:-1])), None, *inner)])
        along = inner[int(by[-1])]
        tangent = sweep.jvp(partial, [along], [_number(1.0, along)])
        return rebuild(without_partials(tangent), dict(zip(inner, n.inputs[:-1], strict=True)), keep)[0]


def _no_formula(n: Node) -> TraceError:
    line = f"{place(n.origin)}: " if n.origin else ""
    name = n.op.partition("'")[0]
    return TraceError(
        f"{line}higher derivatives of {name} have no rule here. Use a function of which there is one, "
        "or bl.stop_gradient of what counts as constant."
    )


def _number(value: float, like: Node) -> Node:
    return broadcast(constant(value, like.dtype), like.shape)


class _Builder:
    """A formula as nodes: equal parts become one node."""

    def __init__(self, letters: Mapping[str, Node], like: Node) -> None:
        self._letters, self._like = letters, like
        self._known: dict[str, Node] = {}

    def node(self, tree: ast.expr) -> Node:
        """The node of a part of the formula."""
        key = ast.dump(tree)
        if key not in self._known:
            self._known[key] = self._node_of(tree)
        return self._known[key]

    def _node_of(self, tree: ast.expr) -> Node:
        match tree:
            case ast.Constant(value=bool() | int() | float() as value):
                return _number(float(value), self._like)
            case ast.Name(id=name):
                return self._letters[name] if name in self._letters else _number(_NUMBERS[name], self._like)
            case ast.UnaryOp(op=op, operand=x):
                return self._op("logical_not" if isinstance(op, ast.Not) else "neg", x)
            case ast.BinOp(left=x, op=ast.Pow(), right=ast.Constant(value=2)):
                return self._op("square", x)
            case ast.BinOp(left=x, op=op, right=y) | ast.Compare(left=x, ops=[op], comparators=[y]):
                return self._op(_BINARY[type(op)], x, y)
            case _:
                return self._choice(tree)

    def _choice(self, tree: ast.expr) -> Node:
        match tree:
            case ast.BoolOp(op=op, values=values):
                return reduce(lambda x, y: make_node(_BINARY[type(op)], None, x, y), map(self.node, values))
            case ast.IfExp(test=mask, body=x, orelse=y):
                return self._op("where", mask, x, y)
            case ast.Call(func=ast.Name(id="ratio"), args=[x, y]):  # 0 where both are 0
                return self._ratio(self.node(x), self.node(y))
            case ast.Call(func=ast.Name(id=name), args=args) if row_of(name) is not None:
                return self._op(name, *args)
            case _:
                raise _no_formula(self._like)

    def _op(self, op: str, *parts: ast.expr) -> Node:
        return make_node(op, None, *map(self.node, parts))

    def _ratio(self, x: Node, y: Node) -> Node:
        zero = _number(0.0, x)
        nothing = make_node("logical_and", None, *(make_node("equal", None, z, zero) for z in (x, y)))
        return make_node("where", None, nothing, zero, make_node("div", None, x, y))
