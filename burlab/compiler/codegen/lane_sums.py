"""The C++ text of a loop of plain arithmetic along one axis that ends in sums: each is added up in its lanes at once.

The library sums number k of a block of 512 in lane k mod 16, and adds the lanes by halves; so does this loop, to the
bit, without a buffer between. A pack is as many numbers as fill a register. Where sums are many, as in the gradient of
a function of points that all see the same parameters, a buffer for each would not fit into the first cache.
"""

from dataclasses import replace

import numpy as np

from burlab.compiler.ir.library import LibraryKernel, register
from burlab.compiler.ir.spelling import is_own, spelled
from burlab.graph import Node
from burlab.graph.operation import Ending

from .loops import for_loop, stores, values
from .nest import Array, LoopNest
from .partial_sums import left_at
from .simd import ONE_BY_ONE, in_lanes, lanes_pragma

LANE_SUMS = LibraryKernel("burlab_lane_sums", "", "burlab/kernels/reduce/epilogue.hpp")
_BLOCK, _LANES = 512, 16  # of a sum
_DOUBLE = np.dtype(np.float64)
_PACK = 4  # numbers of a pack at least: of a loop of two the compiler makes no lanes, and warns


def sums_in_lanes(nest: LoopNest) -> bool:
    """Return True if a loop can add its last sums in their lanes: doubles along one axis, nothing but arithmetic."""
    ends = [n for n in nest.step.nodes if n.row.epilogue]
    return (
        len(nest.sizes) == 1
        and nest.sizes[0] >= _LANES
        and nest.widest == 8
        and not nest.plan.note
        and not any(map(is_own, nest.members))
        and not any(a.bounds for a in nest.all_arrays)
        and all(n.row.epilogue is Ending.SUM and n.dtype == n.inputs[0].dtype == _DOUBLE for n in ends)
        and in_lanes(nest, nest.spans)
    )


def lane_sums(nest: LoopNest) -> list[str]:
    """The text: blocks of 512, packs of a block, one after the other, and the numbers of a pack in lanes."""
    (size,), width, dense = nest.sizes, max(register() // 8, _PACK), _dense(nest)
    apart = {a: dense[a] for a in dense if a is not dense[a]}
    low, high = nest.ends(0, (0, size))
    nest = replace(nest, arrays={x: dense[a] for x, a in nest.arrays.items()})
    products = _products(nest)
    nest = replace(nest, members=tuple(n for n in nest.members if n not in products))
    sums = {n: f"t{k}" for k, n in enumerate(n for n in nest.step.nodes if n.row.epilogue)}
    body, names = values(nest, ["i0"], nest.spans, True)
    body += stores(nest, ["i0"], nest.spans, names)
    body += [f"{t}_lanes[o + l]{_added(nest, n, names, f'{t}_lanes[o + l]')};" for n, t in sums.items()]
    count = str(width) if size % width == 0 else "m"
    pack = [f"const std::int64_t o = i & {_LANES - 1};"]
    pack += [f"const std::int64_t m = e - i < {width} ? e - i : {width};"] if count == "m" else []
    pack += for_loop("l", 0, count, ["const std::int64_t i0 = i + l;", *body], pragma=lanes_pragma(width, 8))
    lines = [
        *nest.counted(_BLOCK),
        f"const std::int64_t e = {size} - b < {_BLOCK} ? {size} : b + {_BLOCK};",
        *(line for a, b in apart.items() for line in _copied(a, b, size)),
        *(f"alignas(64) double {t}_lanes[{_LANES}] = {{}};" for t in sums.values()),
        *for_loop("i", "b", "e", pack, step=width, pragma=ONE_BY_ONE),
    ]
    added = {n: f"burlab::kernels::sum_of_lanes({t}_lanes)" for n, t in sums.items()}
    if nest.each:
        left = (f"{left_at(nest, n, 'double')}[b / {_BLOCK}] = {text};" for n, text in added.items())
        return [*nest.counter, *for_loop("b", low, high, [*lines, *left], step=_BLOCK)]
    lines += [f"{t}.add({added[n]});" for n, t in sums.items()]
    return [
        *nest.counter,
        *(f"burlab::kernels::CompensatedSum<double, false> {t}(0);" for t in sums.values()),
        *for_loop("b", 0, size, lines, step=_BLOCK),
        *(f"*y{k} = {sums[n]}.value();" for k, n in enumerate(nest.step.stores) if n in sums),
    ]


def _dense(nest: LoopNest) -> dict[Array, Array]:
    """For each array that is read the one to read in its place: of numbers that lie apart, a block is copied first."""
    read = dict.fromkeys(nest.arrays.values())
    return {a: a if a.is_number or a.strides[0] in (0, 1) else Array(f"({a.name}_block - b)", (1,)) for a in read}


def _copied(array: Array, block: Array, size: int) -> list[str]:
    name = block.name.partition(" ")[0].strip("(")
    return [
        f"alignas(64) double {name}[{min(size, _BLOCK)}];",
        lanes_pragma(min(size, _BLOCK), 8),
        f"for (std::int64_t i = b; i < e; ++i) {name}[i - b] = {array.at(['i'], [(0, size)])};",
    ]


def _added(nest: LoopNest, n: Node, names: dict[Node, str], lane: str) -> str:
    """The end of the statement that adds a number to its lane: a product that has no variable is fused with it."""
    base = nest.plan.views[n.inputs[0]].base
    if base in names:
        return f" += {names[base]}"
    if n.inputs[0] in names:
        return f" += {names[n.inputs[0]]}"
    x, y, _ = base.inputs
    return f" = {spelled(base, [nest.named(x, names), nest.named(y, names), lane], True)}"


def _products(nest: LoopNest) -> set[Node]:
    """The products that nothing but sums of this loop read, with which they are fused."""
    read = {nest.plan.views[x].base for n in nest.members for x in n.inputs}.union(nest.results)
    ended = {nest.plan.views[n.inputs[0]].base for n in nest.step.nodes if n.row.epilogue}
    return {n for n in ended - read if n.op == "multiply_add" and n.inputs[2].is_zero}
