"""Some entries of an array, computed without the others: an index moves through the graph towards the inputs.

A `Pick` is an index of shape (k,) along some axes of a node, all of which move together, as in NumPy: what it picks has
k as its axis 0, then the other axes. Of a product of matrices it picks rows of one factor; of an elementwise function,
the entries of its arguments. Where it costs no less than all of the array, or where that is needed anyway, it picks
from the whole.
"""

import math
import string
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from burlab.graph.graph import topological
from burlab.graph.linear_nodes import broadcast, concatenate, contract, gather, reshape, slice_, sum_over, transpose
from burlab.graph.node import Node, as_node
from burlab.graph.origin import derived_from
from burlab.graph.signatures import letters_of
from burlab.typing import ArrayLike

from .simplify import without_calls

Index = Any  # int64, shape (k,), a node or an array
Pick = dict[int, Index]

_DEARER = 32  # times as much as one of all entries costs one that is picked: rows are copied, tiles do not apply


def entries(x: Node, index: Node) -> Node:
    """x[index] of a vector x, for an index of shape (k,) inside of it."""
    (x,) = without_calls([x])
    every = _Entries(set(), index.size)(x, {0: index})
    whole = {n for n in topological([every]) if n.inputs} & set(topological([x]))
    return _Entries(whole, index.size)(x, {0: index})


class _Entries:
    """whole: nodes that are computed in any case. count: entries that are picked."""

    def __init__(self, whole: set[Node], count: int) -> None:
        self._whole, self.count = whole, count
        self._known: dict[Any, tuple[Node, Pick]] = {}

    def __call__(self, n: Node, pick: Pick) -> Node:
        """Return the picked entries of a node, shape (k, *other axes); the node itself where the pick is empty."""
        if not pick:
            return n
        key = n, *((axis, id(index)) for axis, index in sorted(pick.items(), key=lambda item: item[0]))
        if key not in self._known:
            with derived_from(n):
                self._known[key] = self._picked(n, pick), pick  # which retains the object of id()
        return self._known[key][0]

    def _picked(self, n: Node, pick: Pick) -> Node:
        rule = _elementwise if n.row.elementwise else _RULES.get(n.op)
        few = _DEARER * self.count <= math.prod(n.shape[axis] for axis in pick)
        found = rule(self, n, pick) if rule is not None and few and n not in self._whole else None
        return _from_whole(n, pick) if found is None else found


def _from_whole(n: Node, pick: Pick) -> Node:
    axes = sorted(pick)
    rest = [d for axis, d in enumerate(n.shape) if axis not in pick]
    if axes == list(range(len(axes))):
        return gather(reshape(n, (math.prod(n.shape[: len(axes)]), *rest)), as_node(_flat(pick, n.shape)))
    strides = [math.prod(n.shape[axis + 1 :]) for axis in range(n.ndim)]
    places: Any = np.zeros(rest, np.int64)
    for place, axis in zip(np.indices(rest, sparse=True), (a for a in range(n.ndim) if a not in pick), strict=True):
        places = places + strides[axis] * place
    first: Any = sum(index * strides[axis] for axis, index in pick.items())
    return gather(reshape(n, (n.size,)), as_node(np.reshape(first, (-1, *(1 for _ in rest))) + places))


def _flat(pick: Pick, shape: Sequence[int]) -> Index:
    """The index into the axes of a pick as one."""
    flat: Any = 0
    for axis in sorted(pick):
        flat = flat * shape[axis] + pick[axis]
    return flat


def _elementwise(at: _Entries, n: Node, pick: Pick) -> Node:
    shape = (at.count, *(d for axis, d in enumerate(n.shape) if axis not in pick))
    inputs = tuple(at(x, pick) if x.shape == n.shape else broadcast(x, shape) for x in n.inputs)
    return Node(n.op, inputs, n.params, shape, n.dtype)


def _broadcast(at: _Entries, n: Node, pick: Pick) -> Node:
    shape, axes = n.params
    others = [axis for axis in range(n.ndim) if axis not in pick]
    inner = {k: pick[axis] for k, axis in enumerate(axes) if axis in pick}
    places = tuple(1 + others.index(axis) for axis in axes if axis not in pick)
    at_last = (at.count, *(shape[axis] for axis in others))
    return broadcast(at(n.inputs[0], inner), at_last, ((0,) if inner else ()) + places)


def _reshape(at: _Entries, n: Node, pick: Pick) -> Node | None:
    (x,) = n.inputs
    inner: Pick = {}
    for ours, theirs in _groups(n.shape, x.shape):
        chosen = [axis for axis in ours if axis in pick]
        if chosen != ours and any(n.shape[axis] > 1 for axis in chosen):
            if chosen:
                return None
            continue
        if not chosen:
            continue
        rest = _flat({axis: pick[axis] for axis in ours}, n.shape)
        for axis in reversed(theirs):
            inner[axis] = rest % x.shape[axis] if axis != theirs[0] else rest
            rest = rest // x.shape[axis]
    found = at(x, inner)
    shape = (at.count, *(d for axis, d in enumerate(n.shape) if axis not in pick))
    return reshape(found, shape) if inner else broadcast(reshape(x, shape[1:]), shape, tuple(range(1, len(shape))))


def _groups(ours: Sequence[int], theirs: Sequence[int]) -> list[tuple[list[int], list[int]]]:
    """Axes of two shapes of one size that hold the same elements."""
    found: list[tuple[list[int], list[int]]] = []
    a = b = 0
    while a < len(ours) or b < len(theirs):
        left, right = [*range(a, min(a + 1, len(ours)))], [*range(b, min(b + 1, len(theirs)))]
        a, b = a + len(left), b + len(right)
        while math.prod(ours[i] for i in left) != math.prod(theirs[i] for i in right):
            if math.prod(ours[i] for i in left) < math.prod(theirs[i] for i in right):
                left.append(a)
                a += 1
            else:
                right.append(b)
                b += 1
        found.append((left, right))
    return found


def _transpose(at: _Entries, n: Node, pick: Pick) -> Node:
    inner = {n.params[axis]: index for axis, index in pick.items()}
    rest = [axis for axis in range(n.ndim) if axis not in inner]
    order = [rest.index(axis) + 1 for axis in n.params if axis not in inner]
    return transpose(at(n.inputs[0], inner), (0, *order))


def _slice(at: _Entries, n: Node, pick: Pick) -> Node:
    start, step, shape = n.params
    inner = {axis: index * step[axis] + start[axis] for axis, index in pick.items()}
    rest = [axis for axis in range(n.ndim) if axis not in pick]
    region = (tuple(part[axis] for axis in rest) for part in (start, step, shape))
    firsts, steps, sizes = region
    return slice_(at(n.inputs[0], inner), (0, *firsts), (1, *steps), (at.count, *sizes))


def _pad(at: _Entries, n: Node, pick: Pick) -> Node | None:
    (x,), (start, step, _) = n.inputs, n.params
    if any(start[a] or step[a] != 1 or x.shape[a] != n.shape[a] for a in range(n.ndim) if a not in pick) or not x.size:
        return None
    inside: Any = True
    inner: Pick = {}
    for axis, index in pick.items():
        steps: Any = (index - start[axis]) * (1 if step[axis] > 0 else -1)
        place = steps // abs(step[axis])
        fits = (steps % abs(step[axis]) == 0) & (place >= 0) & (place < x.shape[axis])
        inside, inner[axis] = inside & fits, np.clip(place, 0, x.shape[axis] - 1)
    return _where(inside, at(x, inner), 0)


def _where(mask: Index, x: Node, y: ArrayLike) -> Node:
    wide = np.reshape(mask, (-1, *(1 for _ in x.shape[1:])))
    return cast("Node", np.where(wide, x, np.asarray(y, x.dtype) if not isinstance(y, Node) else y))


def _concatenate(at: _Entries, n: Node, pick: Pick) -> Node:
    axis: int = n.params
    if axis not in pick:
        return concatenate([at(x, pick) for x in n.inputs], 1 + sum(a < axis and a not in pick for a in range(n.ndim)))
    found, first = None, 0
    for x in n.inputs:
        if size := x.shape[axis]:
            part = at(x, {**pick, axis: np.clip(pick[axis] - first, 0, size - 1)})
            found = part if found is None else _where(pick[axis] < first, found, part)
            first += size
    return cast("Node", found)


def _sum(at: _Entries, n: Node, pick: Pick) -> Node:
    (x,) = n.inputs
    remaining = [axis for axis in range(x.ndim) if axis not in n.params]
    inner = {remaining[axis]: index for axis, index in pick.items()}
    rest = [axis for axis in range(x.ndim) if axis not in inner]
    return sum_over(at(x, inner), tuple(1 + rest.index(axis) for axis in n.params))


def _contract(at: _Entries, n: Node, pick: Pick) -> Node:
    *terms, out = letters_of(n.params)
    chosen = {out[axis]: index for axis, index in pick.items()}
    many = next(c for c in string.ascii_letters if c not in n.params)
    specs, inputs = list[str](), list[Node]()
    for term, x in zip(terms, n.inputs, strict=True):
        inner = {axis: chosen[c] for axis, c in enumerate(term) if c in chosen}
        inputs.append(at(x, inner))
        specs.append((many if inner else "") + "".join(c for c in term if c not in chosen))
    return contract(f"{','.join(specs)}->{many}{''.join(c for c in out if c not in chosen)}", *inputs)


_RULES: dict[str, Callable[[_Entries, Node, Pick], Node | None]] = {
    "broadcast": _broadcast, "reshape": _reshape, "transpose": _transpose, "slice": _slice, "pad": _pad,
    "concatenate": _concatenate, "sum": _sum, "contract": _contract,
}  # fmt: skip
