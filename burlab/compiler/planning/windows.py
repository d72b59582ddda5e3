"""Windows of arrays, as convolutions have them: rows taken at known places that lie evenly, and may overlap.

Such a `gather` is a view for a contraction, which reads it through strides, so that no window is stored.
"""

from typing import Any, NamedTuple, cast

import numpy as np

from burlab.compiler.ir.strides import Shape, StridedView
from burlab.graph import Graph, Node

_VIEWS = frozenset(("transpose", "broadcast", "slice"))  # of windows, which strides express


class EvenIndex(NamedTuple):
    """A known index whose number at i is `first` + sum(steps * i)."""

    first: int
    steps: Shape

    def ends(self, shape: Shape) -> tuple[int, int]:
        """Return the smallest and the largest number of an index of this shape, which is not empty."""
        ends = [step * (size - 1) for step, size in zip(self.steps, shape, strict=True)]
        return self.first + sum(min(end, 0) for end in ends), self.first + sum(max(end, 0) for end in ends)


def even_index(index: Node) -> EvenIndex | None:
    """Return the steps of an index that is known, and even along each axis; None for others.

    >>> from burlab.graph.node import constant
    >>> even_index(constant(np.arange(3)[:, None] * 2 + np.arange(2), np.int64))
    EvenIndex(first=0, steps=(2, 1))
    """
    axes: Shape = tuple(range(index.ndim))
    steps = [0] * index.ndim
    if index.op == "broadcast":
        axes, index = index.params[1], index.inputs[0]
    if not index.is_constant or index.size == 0:
        return None
    numbers = cast("np.ndarray[Any, np.dtype[np.int64]]", index.params)
    first = int(numbers.flat[0])
    own = [
        int(numbers[tuple(int(j == k and size > 1) for j in range(index.ndim))]) - first
        for k, size in enumerate(index.shape)
    ]
    last = first + sum(step * (size - 1) for step, size in zip(own, index.shape, strict=True))
    if numbers.flat[-1] != last:
        return None
    even = np.full((1,) * index.ndim, first)
    for k, size in enumerate(index.shape):
        steps[axes[k]] = own[k]
        even = even + own[k] * np.arange(size).reshape([size if j == k else 1 for j in range(index.ndim)])
    return EvenIndex(first, tuple(steps)) if np.array_equal(even, numbers) else None


def window_views(graph: Graph) -> dict[Node, EvenIndex]:
    """The gathers of even places in range that nothing but contractions read, and their indices."""
    even = {n: steps for n in graph.nodes if n.op == "gather" and (steps := _even_in_range(n))}
    if not even:
        return even
    users: dict[Node, list[Node]] = {}
    for n in graph.nodes:
        for x in n.inputs:
            users.setdefault(x, []).append(n)
    stored = set(graph.outputs)
    strided: set[Node] = set()  # what is read through strides
    found: dict[Node, EvenIndex] = {}
    for n in reversed(graph.nodes):
        if n not in users or n in stored or not all(r.row.multiplies or r in strided for r in users[n]):
            continue
        if n in even:
            found[n] = even[n]
        if n.op in _VIEWS or n in found:
            strided.add(n)
    return found


def _even_in_range(n: Node) -> EvenIndex | None:
    table, index = n.inputs
    even = even_index(index) if n.size else None
    if not even:
        return None
    low, high = even.ends(index.shape)
    return even if low >= 0 and high < table.shape[n.params] else None


def windows_of(n: Node, even: EvenIndex, source: StridedView) -> StridedView:
    """A gather as a view of its table."""
    batch: int = n.params
    row = source.strides[batch]
    lead = tuple(own + step * row for own, step in zip(source.strides[:batch], even.steps, strict=False))
    inner = tuple(step * row for step in even.steps[batch:])
    return StridedView(source.base, source.offset + even.first * row, (*lead, *inner, *source.strides[batch + 1 :]))
