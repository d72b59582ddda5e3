"""The C++ text of loops that go element by element."""

from collections.abc import Sequence

import numpy as np

from burlab.compiler.ir.strides import elements

from .loops import for_loop, stores, values
from .nest import LoopNest, Span
from .simd import in_lanes, innermost_pragma, lane_pieces
from .stages import Walk, has_stages, staged

_MAX_UNROLLED = 3  # iterations that are written out: cheaper to compile than a loop
_MAX_PIECE = 256  # elements of the buffers of a loop in stages


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
    return [line for span in lane_pieces(nest, spans) for line in _loop(nest, [*spans, span])]


def _loop(nest: LoopNest, spans: list[Span]) -> list[str]:
    """The last of the loops with these spans; a long one checks for an interrupt between chunks."""
    axis = len(spans) - 1
    low, high = nest.ends(axis, spans[-1])
    walk = _staged if len(spans) == len(nest.sizes) and has_stages(nest, spans) else _plain
    size = _chunk(nest, axis)
    if size == 0:
        return walk(nest, spans, low, high)
    end = f"const std::int64_t d = {high} - c < {size} ? {high} : c + {size};"
    return for_loop("c", low, high, [nest.halt_check, end, *walk(nest, spans, "c", "d")], step=size)


def _plain(nest: LoopNest, spans: list[Span], first: int | str, end: int | str) -> list[str]:
    """The last of the loops with these spans, or a part of it."""
    return for_loop(f"i{len(spans) - 1}", first, end, _loops(nest, spans), pragma=innermost_pragma(nest, spans))


def _staged(nest: LoopNest, spans: list[Span], first: int | str, end: int | str) -> list[str]:
    """The same in stages, by pieces of which buffers hold the values."""
    axis, (low, high) = len(spans) - 1, spans[-1]
    indices = [f"i{k}" for k in range(len(spans))]
    size = min(high - low, _MAX_PIECE)

    def walk(first: int | str, end: int | str) -> list[str]:
        steps = Walk(f"i{axis}", first, end, size, start=first)
        return staged(nest, spans, steps, lambda names: stores(nest, indices, spans, names))

    if size == high - low:
        return walk(first, end)
    piece = f"const std::int64_t h = {end} - g < {size} ? {end} : g + {size};"
    return for_loop("g", first, end, [piece, *walk("g", "h")], step=size)


def _chunk(nest: LoopNest, axis: int) -> int:
    """Iterations along an axis between two checks; 0 on all axes but the outermost whose iterations are short."""
    sizes, patience = nest.sizes, nest.patience
    if not patience:
        return 0
    inside = [elements(sizes[k + 1 :]) <= patience for k in range(len(sizes))]
    return max(patience // elements(sizes[axis + 1 :]), 1) if axis == inside.index(True) else 0
