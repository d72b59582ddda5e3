"""The C++ text of a loop that ends in sums of its columns: one for each index but the first.

As the library does (`SumColumns` of kernels/reduce/reduce.hpp), it adds 64 rows one after the other, and then these
sums; floats in double.
"""

from collections.abc import Sequence

from burlab.compiler.ir.spelling import C_TYPES
from burlab.compiler.ir.strides import dense_strides, elements
from burlab.graph import Node

from .loops import for_loop, stores, values
from .nest import LoopNest, Span
from .simd import in_lanes, innermost_pragma, lane_pieces, lanes_pragma

_BLOCK = 64  # rows


def column_loop(nest: LoopNest) -> list[str]:
    """The text: blocks of rows, the rows of a block, and their elements."""
    rows, columns = nest.sizes[0], elements(nest.sizes[1:])
    sums = {n: f"t{k}" for k, n in enumerate(n for n in nest.step.nodes if n.row.epilogue)}
    pragma = lanes_pragma(columns, 8)

    def each(statement: str) -> list[str]:
        return [pragma, f"for (std::int64_t j = 0; j < {columns}; ++j) {statement}"]

    end = f"b + {_BLOCK}" if rows % _BLOCK == 0 else f"b + {_BLOCK} < {rows} ? b + {_BLOCK} : {rows}"
    block = [
        *nest.counted(min(_BLOCK, rows) * columns),
        f"const std::int64_t e = {end};",
        *(f"alignas(64) double {t}_part[{columns}] = {{}};" for t in sums.values()),
        *for_loop("i0", "b", "e", _inside(nest, [(0, rows)], sums)),
        *(line for t in sums.values() for line in each(f"{t}_total[j] += {t}_part[j];")),
    ]
    results = {n: f"y{k}" for k, n in enumerate(nest.step.stores)}
    return [
        *nest.counter,
        *(f"alignas(64) double {t}_total[{columns}] = {{}};" for t in sums.values()),
        *for_loop("b", 0, rows, block, step=_BLOCK),
        *(line for n, t in sums.items() for line in each(f"{results[n]}[j] = ({C_TYPES[n.dtype]}){t}_total[j];")),
    ]


def _inside(nest: LoopNest, spans: list[Span], sums: dict[Node, str]) -> list[str]:
    """The nest inside of the loops with these spans."""
    axis = len(spans)
    if axis == len(nest.sizes):
        return _element(nest, spans, sums)
    lines: list[str] = []
    for span in lane_pieces(nest, spans):
        inner = [*spans, span]
        lines += for_loop(f"i{axis}", *span, _inside(nest, inner, sums), pragma=innermost_pragma(nest, inner))
    return lines


def _element(nest: LoopNest, spans: Sequence[Span], sums: dict[Node, str]) -> list[str]:
    """One element: its values, its stores, and its terms of the sums."""
    indices = [f"i{axis}" for axis in range(len(spans))]
    lines, names = values(nest, indices, spans, in_lanes(nest, spans))
    strides = dense_strides(tuple(nest.sizes[1:]))
    column = " + ".join(i if s == 1 else f"{s} * {i}" for i, s in zip(indices[1:], strides, strict=True))
    added = [f"{t}_part[{column}] += (double){nest.named(n.inputs[0], names)};" for n, t in sums.items()]
    return [*lines, *stores(nest, indices, spans, names), *added]
