"""Tools with which the C++ text of all kinds of loops is written."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from burlab.compiler.ir.spelling import C_TYPES, spelled
from burlab.graph import Node

from .nest import Array, LoopNest, Span

MAX_WRITTEN_TERMS = 4  # of a sum that `sum_of_few` of kernels/reduce/few.hpp writes out


def block(head: str, body: Iterable[str], pragma: str = "") -> list[str]:
    """A C++ statement with a body."""
    return [*([pragma] if pragma else []), f"{head} {{", *body, "}"]


def for_loop(
    index: str, first: int | str, end: int | str, body: Iterable[str], *, step: int = 1, pragma: str = ""
) -> list[str]:
    """A loop from the first index to the one before the end."""
    move = f"++{index}" if step == 1 else f"{index} += {step}"
    return block(f"for (std::int64_t {index} = {first}; {index} < {end}; {move})", body, pragma)


def indented(lines: Iterable[str]) -> list[str]:
    """Lines of the body of a function, indented by the blocks that they are in.

    >>> indented(["for (;;) {", "f();", "}"])
    ['  for (;;) {', '    f();', '  }']
    """
    written, space = list[str](), "  "
    for line in lines:
        space = space[2:] if line.startswith("}") else space
        written.append(space + line)
        space += "  " if line.endswith("{") or line.startswith("{ ") else ""
    return written


def unfit(names: Iterable[str]) -> str:
    """1 if one of the floating variables is inf or nan, else 0."""
    return " | ".join(f"({v} - {v} == 0 ? 0 : 1)" for v in names) or "0"


class LoopValues(NamedTuple):
    """The text that loads and computes the values of one element, and the names of their variables."""

    lines: list[str]
    names: dict[Node, str]


def values(nest: LoopNest, indices: Sequence[str], spans: Sequence[Span], lanes: bool) -> LoopValues:
    """One element, but for its stores: loads, and a variable for each node."""
    lines: list[str] = []
    names = dict(nest.values)
    loaded: dict[Array, str] = {}
    for x, array in nest.arrays.items():
        if array not in loaded:
            loaded[array] = f"a{len(loaded)}"
            lines.append(f"const {C_TYPES[x.dtype]} {loaded[array]} = {array.at(indices, spans)};")
        names[x] = loaded[array]
    for k, n in enumerate(nest.members):
        text = spelled(n, [nest.named(x, names) for x in n.inputs], lanes)
        names[n] = f"v{k}"
        lines.append(f"const {C_TYPES[n.dtype]} {names[n]} = {text};")
    if nest.plan.note:
        lines.append(f"bad |= {unfit(names[n] for n in nest.members if n.dtype.kind == 'f')};")
    return LoopValues(lines, names)


def stores(nest: LoopNest, indices: Sequence[str], spans: Sequence[Span], names: Mapping[Node, str]) -> list[str]:
    """The stores of one element."""
    return [f"{a.at(indices, spans)} = {names[n]};" for n, a in nest.results.items() if n in names]
