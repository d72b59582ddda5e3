"""Operations that are sums and products, as multiply-adds.

Each gear rounds as the structs in `cpp/burlab/ops` do. A formula of `spelling.FORMULAS` that has only + - * and whole
numbers is split into steps x y + z, rounded twice, to the same bits: x + y is x 1 + y, x - y is y (-1) + x, and x y
is x y + (-0). So no operation is named here, and no derivative.
"""

import ast
from functools import cache
from typing import NamedTuple

from burlab.compiler.ir.spelling import FORMULAS

Operand = int | float  # an argument by its number, the result of an earlier step (counted after them), or a number


class MulAdd(NamedTuple):
    """x y + z. An int counts arguments, then results of the steps before; a float is itself."""

    x: Operand
    y: Operand
    z: Operand

    @property
    def is_sum(self) -> bool:
        """Return True if it is x + z."""
        return isinstance(self.y, float) and self.y == 1.0


@cache
def multiply_adds(op: str, arguments: int) -> tuple[MulAdd, ...] | None:
    """The steps of an operation, the last of which gives its result; None where its formula is not of this kind.

    >>> multiply_adds("sub", 2)
    (MulAdd(x=1, y=-1.0, z=0),)
    >>> multiply_adds("tanh'0", 2)
    (MulAdd(x=1, y=1, z=-0.0), MulAdd(x=2, y=-1.0, z=1.0))
    """
    text = FORMULAS.get(op)
    if text is None or not set(text) <= set("{}()+-* 0123456789"):
        return None
    steps: list[MulAdd] = []

    def value(e: ast.expr | float) -> Operand:
        if isinstance(e, float | int):
            return e
        if isinstance(e, ast.Constant):
            return float(ast.literal_eval(e))
        if isinstance(e, ast.Name):
            return int(e.id[1:])
        x, y, z = map(value, _parts(e))
        steps.append(MulAdd(x, y, z))
        return arguments + len(steps) - 1

    value(ast.parse(text.format(*(f"x{k}" for k in range(arguments))), mode="eval").body)
    return tuple(steps)


def _parts(e: ast.expr) -> tuple[ast.expr | float, ast.expr | float, ast.expr | float]:
    """x, y and z of a sum, a difference, a product or a negation."""
    match e:
        case ast.BinOp(left=x, op=ast.Mult(), right=y):
            return x, y, -0.0
        case ast.BinOp(left=z, op=ast.Sub(), right=x):
            return x, -1.0, z
        case ast.BinOp(left=ast.BinOp(left=x, op=ast.Mult(), right=y), op=ast.Add(), right=z):
            return x, y, z
        case ast.BinOp(left=z, op=ast.Add(), right=ast.BinOp(left=x, op=ast.Mult(), right=y)):
            return x, y, z
        case ast.BinOp(left=x, op=ast.Add(), right=z):
            return x, 1.0, z
        case ast.UnaryOp(op=ast.USub(), operand=x):
            return x, -1.0, -0.0
        case _:
            raise AssertionError(f"a formula with {ast.dump(e)}")  # `multiply_adds` has checked its characters
