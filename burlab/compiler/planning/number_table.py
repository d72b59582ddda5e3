"""Known numbers that compiled code reads from a table: with another number it is the same text, compiled already.

What remains text: numbers that code of the compiler's depends on (0, 1, 2, a half; the power of two that divides, which
becomes a product), exponents and orders of functions, whole numbers and bits. No number changes a bit by where it
stands.
"""

import math
from collections.abc import Iterator

from burlab.graph import Graph, Node

_TEXT = frozenset({0.0, 0.5, 1.0, 2.0})  # and what is negative, infinite or nan of them
_MAX_NUMBERS = 256  # more make a table of their own, and long lists of arguments


def numbers_in(graph: Graph) -> tuple[Node, ...]:
    """The known numbers of a graph that need not stand in its text, in order."""
    text = set(_in_text(graph))
    found = tuple(n for n in graph.nodes if _is_any(n) and n not in text)
    return found if len(found) <= _MAX_NUMBERS else ()


def _is_any(n: Node) -> bool:
    """Return True if a node is one known number like any other."""
    if not n.is_constant or n.size != 1 or n.dtype.kind != "f":
        return False
    value = abs(n.params.item())
    return math.isfinite(value) and value not in _TEXT


def _in_text(graph: Graph) -> Iterator[Node]:
    for n in graph.nodes:
        literal = n.row.scalar.literal
        if literal >= 0:
            yield from map(_source, n.inputs[literal:] if literal else n.inputs[:1])
        elif n.op == "div" and _is_power_of_two(_source(n.inputs[1])):
            yield _source(n.inputs[1])


def _source(n: Node) -> Node:
    """The number that is repeated in an array, if it is one."""
    return n.inputs[0] if n.op == "broadcast" else n


def _is_power_of_two(n: Node) -> bool:
    return n.is_constant and n.size == 1 and n.dtype.kind == "f" and abs(math.frexp(n.params.item())[0]) == 0.5
