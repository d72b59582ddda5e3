"""The nodes behind a Value, as plain data: for pictures, and for text."""

from collections import deque
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from .native import tools_of

if TYPE_CHECKING:
    from .value import Value

# micrograd's words for operations, where they are not ours.
_SYMBOLS = {"add": "+", "sub": "-", "mul": "*", "div": "/", "square": "**2", "cube": "**3", "relu": "ReLU", "leaf": ""}


def symbol(operation: str, operands: list[tuple[int, float]]) -> str:
    """An operation as micrograd writes it: "+", "**2", "ReLU", "" for a leaf; for what it does not know, our name.

    operands: as `tools_of(tape).node` gives them, (parent, partial) or (0, constant).

    >>> symbol("power", [(1, -0.25), (0, -1.0)])
    '**-1'
    """
    if operation == "power":
        parent, exponent = operands[1]
        return "**" if parent else f"**{exponent:.17g}"
    return _SYMBOLS.get(operation, operation)


@dataclass(frozen=True, slots=True)
class Recorded:
    """A node of a tape. operands: (index, partial derivative) of a node, (0, constant) of a constant."""

    index: int
    operation: str
    data: float
    grad: float
    label: str | None
    operands: tuple[tuple[int, float], ...]

    @property
    def symbol(self) -> str:
        """The operation as micrograd writes it, empty for a leaf."""
        return symbol(self.operation, list(self.operands))


def ancestors(root: "Value", limit: int | None = None) -> list[Recorded]:
    """The node of `root` and those that it was computed from, nearest first; `limit`: at most so many.

    >>> from burlab.eager import Value
    >>> x = Value(3.0)
    >>> [node.operation for node in ancestors(x * x + 1)]
    ['add', 'mul', 'leaf']
    """
    return list(islice(_walk(root), limit))


def _walk(root: Any) -> Any:
    tape, node = root.tape, tools_of(root.tape).node
    queue, seen = deque([tools_of(tape).index(root)]), set[int]()
    while queue:
        index = queue.popleft()
        if index in seen:
            continue
        seen.add(index)
        operation, data, grad, label, operands = node(tape, index)
        yield Recorded(index, operation, data, grad, label, tuple(operands))
        queue.extend(parent for parent, _ in operands if parent and parent not in seen)


def to_dot(root: "Value") -> str:
    r"""The graph behind a Value as text for Graphviz: one box per node with operation, label, value and gradient.

    A constant stands without a box beside what it enters, but for an exponent, which the operation names.

    >>> from burlab.eager import Value
    >>> x = Value(3.0, label="x")
    >>> print(to_dot(x**2))
    digraph {
      rankdir=LR
      node [shape=box]
      1 [label="x\ndata 3\ngrad 0"]
      2 [label="**2\ndata 9\ngrad 0"]
      1 -> 2
    }
    """
    nodes = sorted(ancestors(root), key=lambda node: node.index)
    number = {node.index: k for k, node in enumerate(nodes, 1)}
    lines = ["digraph {", "  rankdir=LR", "  node [shape=box]"]
    for node in nodes:
        words = [*filter(None, (node.label, node.symbol)), f"data {node.data:.6g}", f"grad {node.grad:.6g}"]
        text = "\\n".join(word.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ") for word in words)
        lines.append(f'  {number[node.index]} [label="{text}"]')
        for k, (parent, value) in enumerate(node.operands):
            if parent:
                lines.append(f"  {number[parent]} -> {number[node.index]}")
            elif (node.operation, k) != ("power", 1):
                name = f"constant_{number[node.index]}_{k}"
                lines.append(f'  {name} [label="{value:.6g}" shape=plaintext]')
                lines.append(f"  {name} -> {number[node.index]}")
    return "\n".join([*lines, "}"])
