"""Values as people type them: `1/3`, `pi`, `1, 2, 3`, `ones(3)`, `3x4`.

Python's parser reads them, and nothing is evaluated.
"""

import ast
import math
import operator
import re
from collections.abc import Callable
from typing import Any, cast

import numpy as np

from burlab.errors import ArgumentError

from .literals import MAX_NUMBERS, Literal, frozen, parse

NAMES: dict[str, float] = {"pi": math.pi, "e": math.e, "tau": math.tau, "inf": math.inf, "nan": math.nan}
"""Names of numbers."""
_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: lambda x, y: x / y,
}
_FILLED: dict[str, float] = {"ones": 1.0, "zeros": 0.0}
_MAX_EXPONENT = 1000
_MAX_TEXT = 10_000  # characters
_SIZES = re.compile(r"\s*\d+(\s*[x×]\s*\d+)+\s*")


class NoValue(ArgumentError):
    """A text that is neither a number nor a list of numbers."""


def read_typed(text: str, *, filled: bool = False) -> Literal:
    """Return the value of a text: a literal, or arithmetic of numbers.

    Args:
        text: A literal; numbers, `pi` and `e` under + - * / **; `1, 2, 3`; `ones(3)`, `zeros(2, 3)`; sizes such as 3x4.
        filled: Whether sizes mean an array of ones, as for values, and not the sizes themselves, as for shapes.

    Returns:
        A number, a word, or tuples of these in one another.

    Raises:
        ArgumentError: The text is something else.

    >>> read_typed("1/4"), read_typed("1, 2, -3"), read_typed("ones(2)"), read_typed("2x1")
    (0.25, (1, 2, -3), (1.0, 1.0), (2, 1))
    >>> read_typed("2x1", filled=True)
    ((1.0,), (1.0,))
    """
    try:
        value = parse(text)
    except ArgumentError as refused:
        if _SIZES.fullmatch(text):
            sizes = tuple(int(size) for size in re.findall(r"\d+", text))
            return _filled(1.0, sizes) if filled else sizes
        tree = _tree(text)
        if tree is None:
            raise
        try:
            return value_of_node(tree)
        except NoValue as error:
            raise (refused if _is_foreign(tree) else error) from error
    return NAMES[value] if isinstance(value, str) and value in NAMES else value


def _tree(text: str) -> ast.expr | None:
    """Return the expression that a text is; None for others."""
    if len(text) > _MAX_TEXT:
        return None
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _is_foreign(tree: ast.expr) -> bool:
    """Return True if an expression holds anything but arithmetic: then its literal is what could not be read."""
    known = (ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop, ast.Constant, ast.List, ast.Tuple, ast.expr_context)
    parts = list(ast.walk(tree))
    calls = {part.func for part in parts if isinstance(part, ast.Call)}
    return not all(
        isinstance(part, (*known, ast.Call)) or (isinstance(part, ast.Name) and part.id in {*NAMES, *_FILLED})
        for part in parts
    ) or any(not isinstance(called, ast.Name) for called in calls)


def value_of_node(node: ast.expr) -> Literal:
    """Return the value of a part of a formula, in which no variable occurs. Raises NoValue for others."""
    match node:
        case ast.Constant(value=bool() | int() | float() as value):
            return value
        case ast.Name(id=name) if name in NAMES:
            return NAMES[name]
        case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=inner):
            return _on_numbers(operator.neg if isinstance(node.op, ast.USub) else operator.pos, value_of_node(inner))
        case ast.BinOp(left=left, op=ast.Pow(), right=right):
            return _on_numbers(_power, value_of_node(left), value_of_node(right))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return _on_numbers(_OPERATORS[type(op)], value_of_node(left), value_of_node(right))
        case ast.List(elts=parts) | ast.Tuple(elts=parts):
            return tuple(value_of_node(part) for part in parts)
        case ast.Call(func=ast.Name(id=name), args=sizes, keywords=[]) if name in _FILLED:
            return _filled(_FILLED[name], _sizes(tuple(value_of_node(size) for size in sizes)))
        case _:
            raise NoValue(f'"{ast.unparse(node):.40}" is neither a number nor a list of numbers.')


def _sizes(given: tuple[Any, ...]) -> tuple[Any, ...]:
    """`ones(2, 3)` and `ones((2, 3))` are the same."""
    return cast("tuple[Any, ...]", given[0]) if len(given) == 1 and isinstance(given[0], tuple) else given


def _filled(value: float, sizes: tuple[Any, ...]) -> Literal:
    if not all(type(size) is int and size >= 0 for size in sizes) or len(sizes) > 16:
        raise NoValue(f"sizes must be whole numbers, such as ones(2, 3); got {sizes}.")
    if math.prod(sizes) > MAX_NUMBERS:
        raise NoValue(f"an array of {math.prod(sizes):,} numbers is too large for a block: at most {MAX_NUMBERS:,}.")
    return frozen(np.full(sizes, value))


def _on_numbers(rule: Callable[..., Any], *operands: Literal) -> Literal:
    """Apply arithmetic to single numbers."""
    if not all(type(operand) in (int, float) for operand in operands):
        raise NoValue("arithmetic of values takes single numbers; use blocks for arrays.")
    try:
        found = rule(*operands)
    except (ZeroDivisionError, OverflowError) as error:
        raise NoValue(f"this number cannot be computed: {error}.") from error
    if type(found) not in (int, float):
        raise NoValue("a value must be a real number.")
    return found


def _power(base: float, exponent: float) -> Any:
    if abs(exponent) > _MAX_EXPONENT:
        raise NoValue(f"an exponent must be at most {_MAX_EXPONENT:,} in a value; got {exponent}.")
    return base**exponent
