"""Lowering of contractions: which letters the kernel's inner loops take, which are walked around them."""

from collections.abc import Iterable

from burlab.graph import Node

from .layout import POINT, Axis, Ref, box, dense_strides, joined
from .library import kernel
from .reductions import zero
from .spelling import C_TYPES, NAMES
from .steps import Task


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


def _take(axes: list[Axis], wanted: Iterable[bool]) -> Axis:
    """Remove the last axis that is wanted, and give it; none: the axis of size 1."""
    for k, good in reversed(list(enumerate(wanted))):
        if good:
            return axes.pop(k)
    return POINT


def contract(n: Node, refs: dict[Node, Ref], strict: bool) -> list[Task]:
    """Rows of the result along its last letter, if only one operand has it: that one becomes the second."""
    kept, summed = _axes(n, refs)
    operands = [(refs[x].root, refs[x].offset) for x in n.inputs]
    if kept and kept[-1].b == 0:
        kept, summed = _swapped(kept), _swapped(summed)
        operands.reverse()
    columns = _take(kept, [x.out == 1 for x in kept])
    rows = _take(kept, [x.b == 0 for x in kept])
    depth = _take(summed, [True] * len(summed))
    descriptor = (
        *(rows.size, columns.size, depth.size),
        *(rows.a, columns.a, depth.a),
        *(rows.b, columns.b, depth.b),
        *(rows.out, columns.out, int(bool(summed))),
    )
    dtype, size = NAMES[n.dtype], n.itemsize
    strict = strict and n.dtype.kind == "f"
    made = kernel(
        f"contract_{dtype}{'_strict' * strict}", f"Contract<{C_TYPES[n.dtype]}, {str(strict).lower()}>", "contraction"
    )
    task = Task(made, descriptor, tuple(operands), box([*kept, *summed], size, size, size))
    return [zero(n), task] if summed else [task]
