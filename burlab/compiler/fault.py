"""What went wrong in a kernel, said in the user's terms: which operation, on which line of their code."""

from collections.abc import Sequence

import numpy as np

from burlab.errors import BurlabError, NonFiniteError
from burlab.graph import Graph, Node
from burlab.graph.control import every_node
from burlab.graph.origin import place as line_of
from burlab.runtime.coerce import Array
from burlab.runtime.status import Status, error, split


def fault(graph: Graph, outcome: int) -> BurlabError:
    """The exception for an outcome: a Status, and above its low 8 bits the number of the node at fault."""
    status, number = split(outcome)
    if status == Status.INDEX_OUT_OF_RANGE:
        return error(status, place(every_node(graph)[number]))
    return error(status)


def place(n: Node) -> str:
    """Where a node comes from: file, line, module scope, operation and shapes."""
    at = line_of(n.origin) if n.origin else "An unknown line"
    scope = f" in {n.scope}" if n.scope else ""
    operands = ", ".join(f"{x.dtype.name}{list(x.shape)}" for x in n.inputs)
    return f"{at}{scope}, {n.op}({operands})"


def culprit(graph: Graph, values: Sequence[Array]) -> BurlabError | None:
    """The error that names the first node that made a nan out of numbers, or an infinity out of finite numbers.

    values: of every node of the graph. None where there is no such node: infinities that the user wrote as constants,
    such as a mask of -inf, are no fault.
    """
    value_of = dict(zip(graph.nodes, values, strict=True))
    for n, value in value_of.items():
        if n.op != "constant" and n.dtype.kind == "f":
            found = _made(value, [value_of[x] for x in n.inputs if x.dtype.kind == "f"])
            if found:
                return _not_finite(n, value, found)
    return None


def _made(value: Array, inputs: list[Array]) -> str:
    """`nan` or `inf` where a value has one that the inputs do not explain, else nothing."""
    if np.isnan(value).any() and not any(np.isnan(x).any() for x in inputs):
        return "nan"
    if np.isinf(value).any() and all(np.isfinite(x).all() for x in inputs):
        return "inf"
    return ""


def _not_finite(n: Node, value: Array, found: str) -> NonFiniteError:
    first = np.argwhere(np.isnan(value) if found == "nan" else np.isinf(value))[0]
    at = f"[{', '.join(map(str, first))}]" if n.shape else ""
    if n.op == "input":
        return NonFiniteError(f"argument {n.params}{at} is {found}. Pass finite numbers, or leave out check_finite.")
    return NonFiniteError(
        f"{place(n)}: element {at or '()'} of the result of shape {n.shape} is the first {found}. "
        "Check the numbers that this line gets, or guard it with np.where on its argument."
    )
