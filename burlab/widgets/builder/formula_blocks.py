"""A formula as blocks: Python's parser reads it, operations are those of the palette, and nothing is evaluated."""

import ast
import difflib
from collections.abc import Iterable, Iterator
from typing import Any, cast

from burlab.errors import ArgumentError

from .block_palette import palette
from .document import Document
from .kinds import Kind
from .typed_values import NAMES, NoValue, value_of_node

EXAMPLES = {
    "BurTorch's tiny graph": "a = -41; b = 2; (a + b - (a*b + b**3))**2 / 2",
    "a neuron": "w = [0.5, -1]; x = [1, 2]; b = 0.1; tanh(dot(w, x) + b)",
    "a logistic loss": "X = [[1, 2], [3, -1]]; y = [1, -1]; w = [0, 0]; mean(softplus(-y * (X @ w)))",
}
"""Formulas to begin with, by name."""
_OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "div",
    ast.Pow: "power",
    ast.MatMult: "matmul",
}
_COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Lt: "less",
    ast.LtE: "less_equal",
    ast.Gt: "greater",
    ast.GtE: "greater_equal",
    ast.Eq: "equal",
    ast.NotEq: "not_equal",
}
_ALIASES = {
    "subtract": "sub", "multiply": "mul", "divide": "div", "negative": "neg", "absolute": "abs", "pow": "power",
    "linalg.norm": "norm", "ln": "log", "atan": "arctan", "logistic": "sigmoid",
}  # fmt: skip
_MODULES = {"np", "numpy", "bl", "burlab", "math", "jnp", "torch"}  # whose functions are those of the palette
_PRODUCTS = {"matmul", "dot", "inner", "outer", "transpose"}  # whose arguments are arrays
_MAX_LENGTH = 10_000  # characters of a formula


class FormulaError(ArgumentError):
    """A formula that cannot be read; the text says where, and what was expected there."""


def add_formula(document: Document, text: str) -> Document:
    """Return a document with the blocks of a formula, whose result is its output.

    Args:
        document: What there is already; names in the formula are its labels.
        text: Expressions of NumPy's kind. `name = expression`, with `;` or a new line after it, labels a block, or
            gives an input its value; a name that nothing has is an input of ones.

    Raises:
        FormulaError: A part of it is not an expression, or names an operation that the palette lacks.

    >>> from .evaluate import evaluate
    >>> made = add_formula(Document(), EXAMPLES["BurTorch's tiny graph"])
    >>> float(evaluate(made).values[made.root])
    612.5
    """
    if len(text) > _MAX_LENGTH:
        raise FormulaError(f"a formula has at most {_MAX_LENGTH:,} characters; got {len(text):,}.")
    source = text.strip()
    try:
        statements = ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        where = f" at character {error.offset}" if isinstance(error, SyntaxError) and error.offset else ""
        raise FormulaError(f'"{source:.60}" cannot be read{where}. Write a formula such as (a + b)**2 / 2.') from error
    if not statements:
        raise FormulaError("the formula is empty. Write one such as (a + b)**2 / 2.")
    reader = _Reader(document, source)
    for statement in statements:
        reader.statement(statement)
    return reader.document.choose(reader.last)


class _Reader:
    """Adds the blocks of a formula to a document."""

    def __init__(self, document: Document, source: str) -> None:
        self.document = document
        self.last: int | None = None
        self._lines = source.splitlines()
        self._named = {block.label: key for key, block in document.blocks.items() if block.label}

    def statement(self, statement: ast.stmt) -> None:
        """Add `name = expression`, or an expression."""
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                self._named[name] = self.last = self._assigned(name, value)
            case ast.Expr(value=value):
                self.last = self._block(value)
            case _:
                raise self._refused(statement, "is not an expression. Write one, or name = expression.")

    def _assigned(self, name: str, value: ast.expr) -> int:
        try:
            number = value_of_node(value)
        except NoValue:
            key = self._block(value)
            self.document = self.document.rename(key, name)
            return key
        return self._add("input", label=name, value=_as_floats(number))

    def _block(self, node: ast.expr) -> int:
        """Return the block of an expression."""
        if (spelled := _spelled(node)) is not None:
            kind, operands = spelled
            return self._applied(node, kind, *operands)
        match node:
            case ast.Name(id=name) if name in self._named or name not in NAMES:
                if name not in self._named:
                    self._named[name] = self._add("input", label=name, value=1.0)
                return self._named[name]
            case ast.BinOp():
                raise self._refused(node, "uses an operator that has no block. There are + - * / ** @.")
            case ast.Subscript(value=value, slice=index):
                return self._add("element", self._block(value), at=node, index=self._literal(index))
            case ast.Call(func=called, args=args, keywords=keywords):
                return self._called(node, called, args, keywords)
            case _:
                return self._add("constant", at=node, value=self._literal(node))

    def _called(self, node: ast.Call, called: ast.expr, args: list[ast.expr], keywords: list[ast.keyword]) -> int:
        """Return the block of a call: arguments of the kind first, its options after them, or by name."""
        kind = self._kind(called)
        if kind.is_leaf:
            raise self._refused(node, "is made by a name or a number, and not by a call.")
        taken = len(args) if kind.many else min(len(args), len(kind.ports))
        if taken < len(kind.ports):
            missing = ", ".join(kind.ports[taken:])
            raise self._refused(node, f"lacks {missing}: {kind.name} takes {', '.join(kind.ports)}.")
        options = dict(zip((option.name for option in kind.options), args[taken:], strict=False))
        options |= {word.arg: word.value for word in keywords if word.arg is not None}
        if len(args) - taken > len(kind.options):
            raise self._refused(node, f"has {len(args)} arguments, and {kind.name} takes {len(kind.ports)}.")
        values = {name: self._literal(value) for name, value in options.items()}
        return self._applied(node, kind.name, *args[:taken], **values)

    def _kind(self, called: ast.expr) -> Kind:
        """Return the kind of block that a function is: `np.exp` and `exp` are the same."""
        name = ast.unparse(called)
        first, _, rest = name.partition(".")
        name = rest if rest and first in _MODULES else name
        kinds, name = palette(), _ALIASES.get(name, name)
        for known in (name, f"nn.{name}"):
            if known in kinds:
                return kinds[known]
        near = difflib.get_close_matches(name, _known(kinds.values()), 3, 0.5)
        similar = f" Similar are: {', '.join(near)}." if near else ""
        raise self._refused(called, f"is an unknown operation.{similar}")

    def _make_array(self, node: ast.expr) -> None:
        """Make a new name in a matrix product an array: a capital letter is a matrix, all others are vectors."""
        if isinstance(node, ast.Name) and node.id not in self._named:
            value = ((1.0, 1.0), (1.0, 1.0)) if node.id[0].isupper() else (1.0, 1.0)
            self._named[node.id] = self._add("input", label=node.id, value=value)

    def _literal(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Constant) and (node.value is None or isinstance(node.value, str)):
            return node.value
        try:
            return value_of_node(node)
        except NoValue as error:
            raise self._refused(node, f"cannot be used here: {error}") from error

    def _applied(self, node: ast.expr, kind: str, *operands: ast.expr, **options: Any) -> int:
        if kind in _PRODUCTS:
            for operand in operands:
                self._make_array(operand)
        return self._add(kind, *map(self._block, operands), at=node, **options)

    def _add(self, kind: str, *operands: int, label: str = "", at: ast.expr | None = None, **options: Any) -> int:
        try:
            self.document, key = self.document.add(kind, operands, label=label, options=options)
        except FormulaError:
            raise
        except ArgumentError as error:
            if at is None:
                raise
            raise self._refused(at, f"does not fit: {error}") from error
        return key

    def _refused(self, node: ast.expr | ast.stmt, why: str) -> FormulaError:
        """Return the error that says where the formula is wrong, and why."""
        where = f"line {node.lineno}, character" if len(self._lines) > 1 else "character"
        text = ast.unparse(node).partition("\n")[0]
        return FormulaError(f'"{text:.40}" ({where} {node.col_offset + 1}) {why}')


def _spelled(node: ast.expr) -> tuple[str, tuple[ast.expr, ...]] | None:
    """Return the kind of block that an operator is, and its operands; None where there is no operator."""
    match node:
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)], (left, right)
        case ast.UnaryOp(op=ast.USub(), operand=inner) if not isinstance(inner, ast.Constant):
            return "neg", (inner,)
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _COMPARISONS:
            return _COMPARISONS[type(op)], (left, right)
        case ast.IfExp(test=test, body=body, orelse=other):
            return "where", (test, body, other)
        case ast.Attribute(value=value, attr="T"):
            return "transpose", (value,)
        case _:
            return None


def _known(kinds: Iterable[Kind]) -> Iterator[str]:
    for kind in kinds:
        if not kind.is_leaf and kind.group != "graph":
            yield kind.name.removeprefix("nn.")


def _as_floats(value: Any) -> Any:
    """Return whole numbers as floats: gradients are by these."""
    if isinstance(value, tuple):
        return tuple(map(_as_floats, cast("tuple[Any, ...]", value)))
    return float(value) if type(value) is int and abs(value) < 2**53 else value
