"""The C++ text of loops: tools for all kinds of loops, and the loops that go element by element."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from burlab.compiler.ir.spelling import C_TYPES, spelled
from burlab.compiler.ir.strides import elements
from burlab.graph import Node

from .nest import Array, LoopNest, Span
from .simd import in_lanes, innermost_pragma

_MAX_UNROLLED = 3  # iterations that are written out: cheaper to compile than a loop
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


def stores(nest: LoopNest, indices: Sequence[str], spans: Sequence[Span], names: dict[Node, str]) -> list[str]:
    """The stores of one element."""
    return [f"{a.at(indices, spans)} = {names[n]};" for n, a in nest.results.items() if n in names]


def element_loop(nest: LoopNest) -> list[str]:
    """The text of a loop whose nodes are computed element by element; unrolled if that is shorter."""
    if elements(nest.sizes) > _MAX_UNROLLED or nest.each:
        return _loops(nest, [])
    bodies = (_element(nest, [str(i) for i in index], nest.spans, False) for index in np.ndindex(*nest.sizes))
    return [line for body in bodies for line in ("{", *body, "}")]


def _element(nest: LoopNest, indices: Sequence[str], spans: Sequence[Span], lanes: bool) -> list[str]:
    """One element; no store before a load, so that bytes may be reused."""
    lines, names = values(nest, indices, spans, lanes)
    return [*lines, *stores(nest, indices, spans, names)]


def _loops(nest: LoopNest, spans: list[Span]) -> list[str]:
    """The nest inside of the loops with these spans."""
    axis = len(spans)
    if axis == len(nest.sizes):
        return _element(nest, [f"i{k}" for k in range(axis)], spans, in_lanes(nest, spans))
    return [line for span in nest.pieces(axis) for line in _loop(nest, [*spans, span])]


def _loop(nest: LoopNest, spans: list[Span]) -> list[str]:
    """The last of the loops with these spans; a long one checks for an interrupt between chunks."""
    axis, body, pragma = len(spans) - 1, _loops(nest, spans), innermost_pragma(nest, spans)
    low, high = nest.ends(axis, spans[-1])
    size = _chunk(nest, axis)
    if size == 0:
        return for_loop(f"i{axis}", low, high, body, pragma=pragma)
    end = f"const std::int64_t d = {high} - c < {size} ? {high} : c + {size};"
    chunk = for_loop(f"i{axis}", "c", "d", body, pragma=pragma)
    return for_loop("c", low, high, [nest.halt_check, end, *chunk], step=size)


def _chunk(nest: LoopNest, axis: int) -> int:
    """Iterations along an axis between two checks; 0 on all axes but the outermost whose iterations are short."""
    sizes, patience = nest.sizes, nest.patience
    if not patience:
        return 0
    inside = [elements(sizes[k + 1 :]) <= patience for k in range(len(sizes))]
    return max(patience // elements(sizes[axis + 1 :]), 1) if axis == inside.index(True) else 0
