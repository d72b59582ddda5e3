"""Where a value lies: views are index arithmetic on the array they look at, and are copied only where that cannot be said."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from burlab.graph import Graph, Node

Shape = tuple[int, ...]

LEAVES = ("input", "constant")


@dataclass(frozen=True, slots=True)
class Ref:
    """Element i of a value is element `offset + sum(strides * i)` of the dense array of `root`; counted in elements."""

    root: Node
    offset: int
    strides: Shape


def dense_strides(shape: Shape) -> Shape:
    """Strides of row-major order.

    >>> dense_strides((2, 3, 4))
    (12, 4, 1)
    """
    strides: list[int] = []
    step = 1
    for size in reversed(shape):
        strides.append(step)
        step *= size
    return tuple(reversed(strides))


def is_dense(shape: Shape, strides: Shape) -> bool:
    """Whether elements follow each other in row-major order without gaps."""
    step = 1
    for size, stride in zip(reversed(shape), reversed(strides), strict=True):
        if size == 0:
            return True
        if size != 1 and stride != step:
            return False
        step *= size
    return True


def reshaped(shape: Shape, strides: Shape, new: Shape) -> Shape | None:
    """Strides that read the same elements in the same order under the shape `new`, or None where there are none.

    >>> reshaped((4, 6), (6, 1), (4, 2, 3)), reshaped((4, 6), (1, 4), (24,))
    ((6, 3, 1), None)
    """
    if 0 in shape:
        return dense_strides(new)
    runs: list[list[int]] = []  # [elements, stride of the last] of axes that one index can walk together
    for size, stride in zip(shape, strides, strict=True):
        if size == 1:
            continue
        if runs and runs[-1][1] == stride * size:
            runs[-1] = [runs[-1][0] * size, stride]
        else:
            runs.append([size, stride])
    result: list[int] = []
    step, left = 1, 1  # stride and elements that remain of the run being split, from the last axis to the first
    for size in reversed(new):
        if size > 1:
            if left == 1:
                left, step = runs.pop()
            if left % size:
                return None
            left //= size
        result.append(step)
        step *= size
    return tuple(reversed(result))


def _broadcast(n: Node, x: Node, offset: int, strides: Shape) -> tuple[int, Shape]:
    shape, axes = n.params
    result = [0] * len(shape)
    for axis, stride in zip(axes, strides, strict=True):
        result[axis] = stride
    return offset, tuple(result)


def _transpose(n: Node, x: Node, offset: int, strides: Shape) -> tuple[int, Shape]:
    return offset, tuple(strides[a] for a in n.params)


def _slice(n: Node, x: Node, offset: int, strides: Shape) -> tuple[int, Shape]:
    start, step, _ = n.params
    if n.size == 0:
        return offset, strides  # where nothing is read, the start may lie outside
    offset += sum(a * s for a, s in zip(start, strides, strict=True))
    return offset, tuple(a * s for a, s in zip(step, strides, strict=True))


def _reshape(n: Node, x: Node, offset: int, strides: Shape) -> tuple[int, Shape] | None:
    new = reshaped(x.shape, strides, n.shape)
    return None if new is None else (offset, new)


VIEWS: dict[str, Callable[[Node, Node, int, Shape], tuple[int, Shape] | None]] = {
    "broadcast": _broadcast,
    "transpose": _transpose,
    "slice": _slice,
    "reshape": _reshape,
}


def locate(graph: Graph, wants_dense: Callable[[Node], bool]) -> dict[Node, Ref]:
    """Where each node's value lies. A view that a consumer `wants_dense` is a copy of its own unless it is dense anyway."""
    refs: dict[Node, Ref] = {}
    dense: set[Node] = set()
    for n in graph.nodes:
        if wants_dense(n):
            dense.update(n.inputs)
    for n in graph.nodes:
        refs[n] = _view(n, refs, n in dense) or Ref(n, 0, dense_strides(n.shape))
    return refs


def _view(n: Node, refs: dict[Node, Ref], dense: bool) -> Ref | None:
    if n.op not in VIEWS:
        return None
    x = n.inputs[0]
    source = refs[x]
    seen = VIEWS[n.op](n, x, source.offset, source.strides)
    if seen is None or (dense and not is_dense(n.shape, seen[1])):
        return None
    return Ref(source.root, *seen)


def merged(shape: Shape, *strides: Shape) -> tuple[list[int], list[list[int]]]:
    """The fewest axes that walk all operands in the same order: sizes, and strides for each operand.

    >>> merged((4, 1, 6), (6, 6, 1), (0, 0, 0)), merged((4, 6), (6, 1), (0, 1))
    (([24], [[1], [0]]), ([4, 6], [[6, 1], [0, 1]]))
    """
    sizes: list[int] = []
    rows: list[list[int]] = [[] for _ in strides]
    for axis, size in enumerate(shape):
        if size == 1:
            continue
        if sizes and all(row[-1] == s[axis] * size for row, s in zip(rows, strides, strict=True)):
            sizes[-1] *= size
            for row, s in zip(rows, strides, strict=True):
                row[-1] = s[axis]
        else:
            sizes.append(size)
            for row, s in zip(rows, strides, strict=True):
                row.append(s[axis])
    return sizes, rows


def is_whole(ref: Ref, n: Node) -> bool:
    """Whether the value is all of its root's array, in order."""
    return ref.offset == 0 and n.size == ref.root.size and is_dense(n.shape, ref.strides)


def elements(shape: Iterable[int]) -> int:
    """Number of elements."""
    return math.prod(shape)


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis that a kernel call walks: its size, and the stride of the result and both operands along it, in elements.

    A stride is 0 where an array lacks the axis.
    """

    size: int
    out: int
    a: int
    b: int = 0


POINT = Axis(1, 0, 0)  # stands where a kernel has an axis and the call needs none


def joined(axes: Iterable[Axis]) -> list[Axis]:
    """The fewest axes that walk the same elements in the same order: none of size 1, no two that one index could walk."""
    result: list[Axis] = []
    for x in axes:
        if x.size == 1:
            continue
        last = result[-1] if result else None
        if last and (last.out, last.a, last.b) == (x.out * x.size, x.a * x.size, x.b * x.size):
            result[-1] = Axis(last.size * x.size, x.out, x.a, x.b)
        else:
            result.append(x)
    return result


def box(axes: Sequence[Axis], out: int, a: int, b: int = 0) -> Shape:
    """The descriptor of `each` in `kernels/kernel.hpp`, empty where no axis is left; out, a, b: bytes of an element."""
    if not axes:
        return ()
    strides = (*(x.out * out for x in axes), *(x.a * a for x in axes), *(x.b * b for x in axes))
    return (len(axes), *(x.size for x in axes), *strides)
