"""The place of a value: views are index arithmetic on the base array, and copied only if that is impossible."""

import math
from collections.abc import Callable, Container, Iterable, Sequence
from typing import NamedTuple

from burlab.graph import Node

Shape = tuple[int, ...]


class StridedView(NamedTuple):
    """Element i of a value is element `offset + sum(strides * i)` of the dense array of `base`; counted in elements.

    An axis of size 1 has stride 0. window: for each axis None, or the first index and the one behind the last at which
    this holds; elsewhere the value is 0. An empty window has no such axis.
    """

    base: Node
    offset: int
    strides: Shape
    window: tuple[tuple[int, int] | None, ...] = ()

    @property
    def is_number(self) -> bool:
        """Return True if all elements are one number in memory."""
        return not any(self.strides) and not self.window


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
    """Return True if elements follow each other in row-major order without gaps."""
    step = 1
    for size, stride in zip(reversed(shape), reversed(strides), strict=True):
        if size == 0:
            return True
        if size != 1 and stride != step:
            return False
        step *= size
    return True


def reshaped(shape: Shape, strides: Shape, new: Shape) -> Shape | None:
    """Strides that read the same elements in the same order under the shape `new`, or None.

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


def _broadcast(n: Node, source: StridedView) -> StridedView:
    shape, axes = n.params
    result = [0] * len(shape)
    for axis, stride in zip(axes, source.strides, strict=True):
        result[axis] = stride
    return StridedView(source.base, source.offset, tuple(result))


def _transpose(n: Node, source: StridedView) -> StridedView:
    permutation: Shape = n.params
    return StridedView(source.base, source.offset, tuple(source.strides[a] for a in permutation))


def _slice(n: Node, source: StridedView) -> StridedView:
    if n.size == 0:
        return source  # if nothing is read, the start may lie outside
    start: Shape = n.params[0]
    step: Shape = n.params[1]
    offset = source.offset + sum(a * s for a, s in zip(start, source.strides, strict=True))
    return StridedView(source.base, offset, tuple(a * s for a, s in zip(step, source.strides, strict=True)))


def _reshape(n: Node, source: StridedView) -> StridedView | None:
    strides = reshaped(n.inputs[0].shape, source.strides, n.shape)
    return None if strides is None else StridedView(source.base, source.offset, strides)


def _itself(_: Node, source: StridedView) -> StridedView:
    return source


# The View of a view of a value: None if no strides express it.
VIEWS: dict[str, Callable[[Node, StridedView], StridedView | None]] = {
    "broadcast": _broadcast,
    "transpose": _transpose,
    "slice": _slice,
    "reshape": _reshape,
    "stop_gradient": _itself,
    "surrogate": _itself,
    "implied": _itself,
    "after": _itself,
}


def grouped(shape: Shape, strides: Sequence[Shape], alone: Container[int] = ()) -> list[list[int]]:
    """The axes that one index can walk together in all operands; none of size 1, and those `alone` by themselves.

    >>> grouped((2, 3, 1, 4), [(12, 4, 4, 1)]), grouped((2, 3, 4), [(12, 4, 1)], alone=[1])
    ([[0, 1, 3]], [[0], [1], [2]])
    """
    groups: list[list[int]] = []
    for axis, size in enumerate(shape):
        if size == 1:
            continue
        last = groups[-1][-1] if groups else -1
        apart = last < 0 or last in alone or axis in alone
        if apart or any(s[last] != s[axis] * size for s in strides):
            groups.append([axis])
        else:
            groups[-1].append(axis)
    return groups


def merged(shape: Shape, *strides: Shape) -> tuple[list[int], list[list[int]]]:
    """The fewest axes that walk all operands in the same order: sizes, and strides for each operand.

    >>> merged((4, 1, 6), (6, 6, 1), (0, 0, 0)), merged((4, 6), (6, 1), (0, 1))
    (([24], [[1], [0]]), ([4, 6], [[6, 1], [0, 1]]))
    """
    groups = grouped(shape, strides)
    return [elements(shape[a] for a in g) for g in groups], [[s[g[-1]] for g in groups] for s in strides]


def is_whole(ref: StridedView, n: Node) -> bool:
    """Return True if the value is all of its base's array, in order."""
    return not ref.window and ref.offset == 0 and n.size == ref.base.size and is_dense(n.shape, ref.strides)


def elements(shape: Iterable[int]) -> int:
    """Number of elements."""
    return math.prod(shape)


class StrideAxis(NamedTuple):
    """An axis that a kernel call walks: its size, and the stride of the result and both operands along it, in elements.

    A stride is 0 if an array lacks the axis.
    """

    size: int
    out: int
    a: int
    b: int = 0


POINT = StrideAxis(1, 0, 0)  # stands where a kernel has an axis and the call needs none


def joined(axes: Iterable[StrideAxis]) -> list[StrideAxis]:
    """The fewest axes that walk the same elements in the same order: none of size 1, no two that one could walk."""
    result: list[StrideAxis] = []
    for x in axes:
        if x.size == 1:
            continue
        last = result[-1] if result else None
        if last and (last.out, last.a, last.b) == (x.out * x.size, x.a * x.size, x.b * x.size):
            result[-1] = StrideAxis(last.size * x.size, x.out, x.a, x.b)
        else:
            result.append(x)
    return result


def box(axes: Sequence[StrideAxis], out: int, a: int, b: int = 0) -> Shape:
    """The descriptor of `each` in `kernels/kernel.hpp`, empty where no axis is left; out, a, b: bytes of an element."""
    if not axes:
        return ()
    strides = (*(x.out * out for x in axes), *(x.a * a for x in axes), *(x.b * b for x in axes))
    return (len(axes), *(x.size for x in axes), *strides)
