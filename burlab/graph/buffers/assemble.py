"""One node for entries of many nodes: adjacent slices if they lie in rows, else one gather."""

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from burlab.graph.linear_nodes import broadcast, concatenate, gather, reshape, slice_, transpose
from burlab.graph.node import Node, constant
from burlab.graph.numpy_api.promotion import INT64

Numbers = np.ndarray[Any, np.dtype[Any]]
MAX_RUNS_PER_NODE = 2  # stretches for each node that takes part: with more, one gather is less work


@dataclass(frozen=True)
class Pieces:
    """Entries by address, and what is known of them.

    addresses: shape of the value, -1 for a known number; numbers: the same shape, read where the address is -1.
    nodes: what was written; node k has the addresses from bases[k].
    """

    addresses: Numbers
    numbers: Numbers
    nodes: list[Node]
    bases: Numbers

    @cached_property
    def owners(self) -> Numbers:
        """For each entry the node that it comes from, -1 for known numbers."""
        return np.searchsorted(self.bases, self.addresses, side="right") - 1

    def permuted(self, order: tuple[int, ...]) -> "Pieces":
        """Return the same entries under another order of axes."""
        return Pieces(self.addresses.transpose(order), self.numbers.transpose(order), self.nodes, self.bases)


def assemble(pieces: Pieces) -> Node:
    """The node of the entries."""
    owners = np.unique(pieces.owners)
    if len(owners) == 1:
        k = int(owners[0])
        if k < 0:
            return known(pieces.numbers)
        return picked(pieces.nodes[k], pieces.addresses - pieces.bases[k])
    best, order = pieces, tuple(range(pieces.addresses.ndim))
    cuts = _cuts(pieces)
    for axis in range(1, len(order)):  # whole columns are rows of the transposed array
        leading = (axis, *(a for a in range(len(order)) if a != axis))
        other = pieces.permuted(leading)
        if len(found := _cuts(other)) < len(cuts):
            best, order, cuts = other, leading, found
    if len(cuts) + 1 > MAX_RUNS_PER_NODE * len(owners):
        return _gathered(pieces, owners)
    flat = _joined(best, cuts)
    value = reshape(flat, best.addresses.shape)
    return transpose(value, tuple(int(a) for a in np.argsort(order)))


def _cuts(pieces: Pieces) -> Numbers:
    """Return the places, in row-major order, of entries that come from another node than the one before."""
    owners = pieces.owners.ravel()
    return np.flatnonzero(owners[1:] != owners[:-1]) + 1


def _joined(pieces: Pieces, cuts: Numbers) -> Node:
    """The stretches between the cuts, side by side."""
    addresses, owners, numbers = (x.ravel() for x in (pieces.addresses, pieces.owners, pieces.numbers))
    ends = [0, *cuts.tolist(), addresses.size]
    parts: list[Node] = []
    for first, last in pairwise(ends):
        k = int(owners[first])
        if k < 0:
            parts.append(known(numbers[first:last]))
        else:
            parts.append(picked(pieces.nodes[k], addresses[first:last] - pieces.bases[k]))
    return concatenate(parts, 0)


def _gathered(pieces: Pieces, owners: Numbers) -> Node:
    """All nodes that take part, and the known numbers, in one row; then one gather from it."""
    index = np.empty(pieces.addresses.shape, np.int64)
    parts: list[Node] = []
    end = 0
    for k in map(int, owners):
        mask = pieces.owners == k
        part = known(pieces.numbers[mask]) if k < 0 else _flat(pieces.nodes[k])
        index[mask] = end + (np.arange(part.size) if k < 0 else pieces.addresses[mask] - pieces.bases[k])
        parts.append(part)
        end += part.size
    return gather(concatenate(parts, 0), constant(index, INT64))


def known(numbers: Numbers) -> Node:
    """Known numbers as a node, which takes no memory if all of them are equal."""
    first = numbers.ravel()[:1]
    if numbers.size > 1 and numbers.tobytes() == first.tobytes() * numbers.size:
        return broadcast(constant(first[0], numbers.dtype), numbers.shape)
    return constant(numbers, numbers.dtype)


def picked(x: Node, index: Numbers) -> Node:
    """The elements of x at flat positions: x itself, a part of it with other strides, or a gather."""
    if index.size == x.size and np.array_equal(index.ravel(), np.arange(x.size)):
        return reshape(x, index.shape)
    part = _strided(x, index)
    return gather(_flat(x), constant(index, INT64)) if part is None else part


def _strided(x: Node, index: Numbers) -> Node | None:
    """The elements as a slice of x with axes exchanged, new or repeated; None if that is impossible."""
    if not index.size:
        return None
    first = np.unravel_index(int(index.flat[0]), x.shape)
    sizes = [math.prod(x.shape[a + 1 :]) for a in range(x.ndim)]  # of one step along each axis
    start, step, shape = [int(i) for i in first], [1] * x.ndim, [1] * x.ndim
    along: list[int | None] = []  # the axis of x that each axis of the value walks on
    for axis in range(index.ndim):
        length = index.shape[axis]
        stride = 0 if length == 1 else int(np.moveaxis(index, axis, 0)[1].flat[0] - index.flat[0])
        found = next((a for a in range(x.ndim) if sizes[a] and stride and stride % sizes[a] == 0), None)
        if stride and (found is None or shape[found] != 1):
            return None
        along.append(found)
        if found is not None:
            step[found], shape[found] = stride // sizes[found], length
    ends = [s + t * (n - 1) for s, t, n in zip(start, step, shape, strict=True)]
    if not all(0 <= end < size for end, size in zip(ends, x.shape, strict=True)):
        return None
    spans = tuple(slice(s, None if e + (t > 0) * 2 - 1 < 0 else e + (1 if t > 0 else -1), t)
                  for s, e, t in zip(start, ends, step, strict=True))  # fmt: skip
    walked = [a for a in along if a is not None]
    order = (*walked, *(a for a in range(x.ndim) if a not in walked))
    places = np.arange(x.size).reshape(x.shape)[spans].transpose(order).reshape([shape[a] for a in walked])
    axes = tuple(k for k, a in enumerate(along) if a is not None)
    lead = [index.shape[k] if k in axes else 1 for k in range(index.ndim)]
    if not np.array_equal(np.broadcast_to(places.reshape(lead), index.shape), index):
        return None
    y = transpose(slice_(x, tuple(start), tuple(step), tuple(shape)), order)
    return broadcast(reshape(y, tuple(shape[a] for a in walked)), index.shape, axes)


def _flat(x: Node) -> Node:
    return reshape(x, (x.size,))
