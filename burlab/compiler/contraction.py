"""Lowering of contractions: which letters the kernel's inner loops take, which are walked around them."""

from collections.abc import Iterable
from dataclasses import dataclass

from burlab.graph import Node
from .layout import Ref, dense_strides
from .library import kernel
from .spelling import C_TYPES
from .steps import Task


@dataclass(frozen=True, slots=True)
class _Axis:
    """One letter: its size, and the stride of each array along it (0 where the array lacks it)."""

    size: int
    a: int
    b: int
    c: int

    def swapped(self) -> "_Axis":
        return _Axis(self.size, self.b, self.a, self.c)


_NONE = _Axis(1, 0, 0, 0)


def _axes(n: Node, refs: dict[Node, Ref]) -> tuple[list[_Axis], list[_Axis]]:
    """The letters of the result in its order, and the summed letters in the order of the first operand."""
    ins, out = n.params.split("->")
    left, right = ins.split(",")
    sizes = dict(zip(left + right, n.inputs[0].shape + n.inputs[1].shape, strict=True))
    strides = [
        dict(zip(letters, steps, strict=True))
        for letters, steps in (
            (left, refs[n.inputs[0]].strides),
            (right, refs[n.inputs[1]].strides),
            (out, dense_strides(n.shape)),
        )
    ]

    def axis(letter: str) -> _Axis:
        return _Axis(sizes[letter], *(s.get(letter, 0) for s in strides))

    summed = [c for c in left if c not in out]
    return _joined(map(axis, out)), _joined(map(axis, summed))


def _joined(axes: Iterable[_Axis]) -> list[_Axis]:
    """Without axes of size 1, and with neighbours walked as one where all strides allow it."""
    result: list[_Axis] = []
    for x in axes:
        if x.size == 1:
            continue
        last = result[-1] if result else None
        if last and (last.a, last.b, last.c) == (x.a * x.size, x.b * x.size, x.c * x.size):
            result[-1] = _Axis(last.size * x.size, x.a, x.b, x.c)
        else:
            result.append(x)
    return result


def _take(axes: list[_Axis], wanted: Iterable[bool]) -> _Axis:
    """Remove the last axis that is wanted, and give it; none: the axis of size 1."""
    for k, good in reversed(list(enumerate(wanted))):
        if good:
            return axes.pop(k)
    return _NONE


def contract(n: Node, refs: dict[Node, Ref], strict: bool) -> list[Task]:
    """Rows of the result along its last letter, if only one operand has it: that one becomes the second."""
    kept, summed = _axes(n, refs)
    operands = [(refs[x].root, refs[x].offset) for x in n.inputs]
    if kept and kept[-1].b == 0:
        kept, summed = [x.swapped() for x in kept], [x.swapped() for x in summed]
        operands.reverse()
    columns = _take(kept, [x.c == 1 for x in kept])
    rows = _take(kept, [x.b == 0 for x in kept])
    depth = _take(summed, [True] * len(summed))
    descriptor = (
        *(rows.size, columns.size, depth.size),
        *(rows.a, columns.a, depth.a),
        *(rows.b, columns.b, depth.b),
        *(rows.c, columns.c),
        *(len(kept), *(x.size for x in kept), *(x.a for x in kept), *(x.b for x in kept), *(x.c for x in kept)),
        *(len(summed), *(x.size for x in summed), *(x.a for x in summed), *(x.b for x in summed)),
    )
    dtype = n.dtype.name
    strict = strict and n.dtype.kind == "f"
    made = kernel(
        f"contract_{dtype}{'_strict' * strict}", f"Contract<{C_TYPES[dtype]}, {str(strict).lower()}>", "contraction"
    )
    return [Task(made, descriptor, tuple(operands))]
