"""Lowering of contractions: which letters the kernel's inner loops take, and which kernel that is.

Mirrors `cpp/burlab/kernels/contraction.hpp`, where the order of sums is told. Which kernel serves changes no bit.
"""

from burlab.graph import Node
from burlab.runtime.cpu import instruction_set

from .layout import POINT, Axis, Ref, dense_strides, elements, joined
from .library import Instance, kernel
from .reductions import zero
from .spelling import C_TYPES, NAMES
from .steps import Count, Task

# By instruction set: bytes of a register, and rows of a register block.
_BLOCKS = {"avx512": (64, 8), "avx2": (32, 4), "neon": (16, 8), "plain": (16, 4)}
# By instruction set and bytes of a number: rows by columns of a block of dot products, columns where there is one row.
_DOTS = {
    "avx512": {4: (4, 4, 8), 8: (4, 2, 4)},
    "avx2": {4: (2, 2, 4), 8: (2, 1, 2)},
    "neon": {4: (2, 2, 4), 8: (2, 1, 2)},
    "plain": {4: (2, 1, 2), 8: (1, 1, 1)},
}
_FEW_ROWS = 2  # up to which the general kernel streams through b as fast
_LITTLE = 512  # multiplications that are not worth compiling a tuned kernel for
_LONG = 256  # from which contiguous sums run in lanes
_HEAD = 13  # integers of a descriptor before its further axes


def _axes(n: Node, refs: dict[Node, Ref]) -> tuple[list[Axis], list[Axis]]:
    """The letters of the result in its order, and the summed letters in the order of the first operand."""
    ins, out = n.params.split("->")
    left, right = ins.split(",")
    a, b = n.inputs
    sizes = dict(zip(left + right, a.shape + b.shape, strict=True))
    strides = [
        dict(zip(letters, steps, strict=True))
        for letters, steps in ((out, dense_strides(n.shape)), (left, refs[a].strides), (right, refs[b].strides))
    ]

    def axis(letter: str) -> Axis:
        return Axis(sizes[letter], *(s.get(letter, 0) for s in strides))

    return joined(map(axis, out)), joined(axis(c) for c in left if c not in out)


def _swapped(axes: list[Axis]) -> list[Axis]:
    return [Axis(x.size, x.out, x.b, x.a) for x in axes]


def _columns_and_rows(kept: list[Axis]) -> tuple[Axis, Axis, list[Axis]]:
    """Along which the result is contiguous; the longest other one that only the first operand has; and the rest."""
    columns = next((x for x in reversed(kept) if x.out == 1), POINT)
    others = [x for x in kept if x is not columns]
    rows = max((x for x in others if x.b == 0), key=lambda x: x.size, default=POINT)
    return columns, rows, [x for x in others if x is not rows]


def contract(n: Node, refs: dict[Node, Ref], strict: bool, onto: bool = False) -> list[Task]:
    """Rows of the result along its last letter, if only one operand has it: that one becomes the second.

    onto: add to what the result holds, in plain order; the first summed letter counts samples of a tile.
    """
    kept, summed = _axes(n, refs)
    if n.size == 0 or any(x.size == 0 for x in summed):
        return [] if onto else [zero(n)]
    operands = [(refs[x].root, refs[x].offset) for x in n.inputs]
    if kept and kept[-1].b == 0:
        kept, summed = _swapped(kept), _swapped(summed)
        operands.reverse()
    columns, rows, walked = _columns_and_rows(kept)
    depth, around = (summed[-1], summed[:-1]) if summed else (POINT, [])
    descriptor = (
        *(rows.size, columns.size, depth.size),
        *(rows.a, columns.a, depth.a),
        *(rows.b, columns.b, depth.b),
        *(rows.out, columns.out, int(onto), len(walked) + len(around)),
        *(i for x in (*walked, *around) for i in (x.size, x.out, x.a, x.b)),
    )
    plain = n.dtype.kind != "f" or strict
    lanes = not onto and depth.a in (0, 1) and depth.b in (0, 1) and depth.size >= _LONG
    work = n.size * elements(x.size for x in summed)
    made = _general(n, plain)
    if work > _LITTLE and not plain and columns.a == 0 and columns.size > 1:
        if lanes and depth.a == depth.b == 1:
            made = _dots(n)
        elif not lanes and rows.size > _FEW_ROWS:
            made = _gemm(n)
    samples = None
    tile = n.inputs[0].shape[0] if onto else 1
    if tile > 1:
        index, size = (_HEAD + 4 * len(walked), around[0].size) if around else (2, depth.size)
        samples = Count(False, index, size // tile)
    return [Task(made, descriptor, tuple(operands), samples=samples)]


def _general(n: Node, plain: bool) -> Instance:
    strict = plain and n.dtype.kind == "f"
    name = f"contract_{NAMES[n.dtype]}{'_strict' * strict}"
    return kernel(name, f"Contract<{C_TYPES[n.dtype]}, {str(strict).lower()}>", "contraction")


def _gemm(n: Node) -> Instance:
    size, rows = _BLOCKS[instruction_set().name]
    return kernel(f"gemm_{NAMES[n.dtype]}", f"Gemm<{C_TYPES[n.dtype]}, {size}, {rows}>", "gemm")


def _dots(n: Node) -> Instance:
    blocks = ", ".join(map(str, _DOTS[instruction_set().name][n.itemsize]))
    return kernel(f"dots_{NAMES[n.dtype]}", f"Dots<{C_TYPES[n.dtype]}, {blocks}>", "dots")
