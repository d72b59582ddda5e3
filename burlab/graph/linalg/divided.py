"""Divided differences of a function of eigenvalues, which is given by the nodes that compute it."""

from functools import partial, reduce
from typing import NamedTuple

import numpy as np

from burlab.graph import hooks
from burlab.graph.linear_nodes import broadcast, convert, pad, slice_
from burlab.graph.node import Node, constant
from burlab.graph.numpy_api.elementwise import where
from burlab.graph.numpy_api.promotion import apply, node
from burlab.graph.operation import ScalarOperation, make_node

from .matrices import column, diagonal, eye, mT, row

_POINTS, _WEIGHTS = np.polynomial.legendre.leggauss(3)
MAX_ROUNDINGS = 64  # by which a difference and the integral of a derivative may differ where they are equal


class Differences(NamedTuple):
    """The function of each eigenvalue, made of the node of these, and its divided differences."""

    f: Node
    ratios: Node


def differences(w: Node, f: Node) -> Differences | None:
    """Return (f_j - f_i) / (w_j - w_i), and f' on the diagonal; None where f is not a function of each w.

    Differences cancel where two eigenvalues are close. There the mean of f' between them is taken, by Gauss's rule,
    wherever it equals the difference up to rounding, so that derivatives of every order are right where eigenvalues are
    equal. Elsewhere equal eigenvalues give 0 / 0 or 1 / 0, as f depends on more than w.
    """
    own = _Reader(w, w).at(f)
    if own is None:
        return None
    f = own  # reads no other node of the eigenvalues, by which what it shares could reach it
    (mean, _), indexed = _means(w, f, 1)
    gap = row(w) - column(w)
    step = row(f) - column(f)
    size = abs(row(f)) + abs(column(f))
    smooth = explained(step, gap * mean, size)
    if indexed:  # f_i and f_j may be different functions: their slopes agree where one can't tell
        smooth = node("logical_and", smooth, _agrees(mean))
    return Differences(f, quotient(smooth, mean, step, gap))


def shared_by(w: Node, f: Node) -> tuple[Node, ...] | None:
    """Return the nodes, the same for all w, that f reads next to each w; None if it is not a function of each w."""
    reader = _Reader(w, w)
    return None if reader.at(f) is None else tuple(reader.shared)


def second_differences(w: Node, f: Node, ratios: Node) -> Node:
    """Return (ratio_ij - f_i') / (w_j - w_i), which is f[w_i, w_i, w_j], and f'' / 2 on the diagonal."""
    (mean, half), indexed = _means(w, f, 2)
    gap = row(w) - column(w)
    slope = column(diagonal(ratios))
    size = abs(ratios) + abs(slope)
    step = ratios - slope
    smooth = explained(step, gap * half, size)
    if indexed:
        smooth = node("logical_and", smooth, _agrees(mean))
    return quotient(smooth, half, step, gap)


def explained(step: Node, change: Node, size: Node) -> Node:
    """Return True where a difference of numbers of a size equals a change, up to rounding."""
    eps = float(np.finfo(step.dtype).eps)
    return abs(step - change) <= size * (MAX_ROUNDINGS * eps)


def quotient(smooth: Node, mean: Node, step: Node, gap: Node) -> Node:
    """Return the mean on the diagonal and where a function is smooth, elsewhere step / gap."""
    is_mean = smooth | (eye(gap.shape[-1], gap) == constant(1.0, gap.dtype))
    return where(is_mean, mean, step / where(is_mean, 1.0, gap))


def _means(w: Node, f: Node, order: int) -> tuple[tuple[Node, Node], bool]:
    """The integrals of d and (1 - t) d, d a derivative of f_i from w_i to w_j; whether f_i depends on i."""
    terms: list[tuple[Node, Node]] = []
    reader = None
    for t, weight in zip((_POINTS + 1) / 2, _WEIGHTS / 2, strict=True):
        x = column(w) * float(1 - t) + row(w) * float(t)
        reader = _Reader(w, x)
        y = reader.at(f)
        assert y is not None  # f was read before
        one = broadcast(constant(1.0, w.dtype), x.shape)
        for _ in range(order):
            (y,) = hooks.sweeps.jvp([y], [x], [one])
        terms.append((y * float(weight), y * float(weight * (1 - t))))
    assert reader is not None  # there are three points
    mean, first = (reduce(partial(apply, "add"), xs) for xs in zip(*terms, strict=True))
    return (mean, first), reader.indexed


def _agrees(mean: Node) -> Node:
    """Return True where the functions of i and of j have the same mean derivative."""
    other = mT(mean)
    most = (abs(mean) + abs(other)) * float(np.finfo(mean.dtype).eps) ** 0.5
    return abs(mean - other) <= most


class _Reader:
    """Reads f as a function of each eigenvalue: entry i as that of index i, at one point or a row of points."""

    def __init__(self, w: Node, points: Node) -> None:
        self.w, self.points = w, points
        self.indexed = False
        self.shared: dict[Node, None] = {}  # what may move and is the same for all indices
        self._more = points.shape[w.ndim :]
        self._known: dict[Node, Node | None] = {}

    def at(self, f: Node) -> Node | None:
        """f_i at points[..., i] or points[..., i, :]; None where it reads more than that and what all indices share."""
        f = settled(f)
        if f not in self._known:
            self._known[f] = self._read(f)
        return self._known[f]

    def _read(self, n: Node) -> Node | None:
        if (n.op, n.params) == (self.w.op, self.w.params) and n.inputs[1] is self.w.inputs[1]:
            return self.points
        wide = (*n.shape, *self._more)
        if n.op == "broadcast" and n.ndim - 1 not in n.params[1]:
            if not n.inputs[0].is_constant:
                self.shared[n.inputs[0]] = None
            return broadcast(n.inputs[0], wide, n.params[1])
        if _is_known(n):
            self.indexed = True
            return broadcast(n, wide, tuple(range(n.ndim)))
        scalar = isinstance(n.row, ScalarOperation)
        if not n.ndim or not (scalar or n.op in _MOVES or n.op == "convert"):
            return None
        parts = [self.at(x) for x in n.inputs]
        if any(x is None for x in parts):
            return None
        inputs = [x for x in parts if x is not None]
        if scalar:
            return make_node(n.op, n.params, *inputs)
        return convert(inputs[0], n.dtype) if n.op == "convert" else self._along_axis(n, inputs[0])

    def _along_axis(self, n: Node, x: Node) -> Node | None:
        """Return a slice of eigenvalues, or eigenvalues with zeros between them."""
        start, step, shape = n.params
        if shape[:-1] != n.inputs[0].shape[:-1] or any(start[:-1]) or any(s != 1 for s in step[:-1]):
            return None
        self.indexed |= n.op == "pad"
        more = len(self._more)
        return _MOVES[n.op](x, (*start, *(0,) * more), (*step, *(1,) * more), (*shape, *self._more))


_MOVES = {"slice": slice_, "pad": pad}


def _is_known(n: Node) -> bool:
    """Return True if a node is made of constants alone."""
    left, met = [n], set[Node]()
    while left:
        x = left.pop()
        if not (x.inputs or x.is_constant):
            return False
        left += (y for y in x.inputs if y not in met)
        met.update(x.inputs)
    return True


def settled(x: Node) -> Node:
    """Return the node, or an earlier one of the same shape that it only reshapes."""
    found, base = x, x
    while base.op == "reshape":
        (base,) = base.inputs
        if base.shape == x.shape:
            found = base
    return found
