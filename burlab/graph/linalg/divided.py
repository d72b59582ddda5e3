"""Divided differences of a function of eigenvalues, which is given by the nodes that compute it."""

import numpy as np

from burlab.graph.linear import broadcast, convert, pad, slice_
from burlab.graph.node import Node, constant
from burlab.graph.numpy_api.promotion import apply, node
from burlab.graph.operation import ScalarOperation, made, operation
from burlab.graph.rules import SWEEPS

from .matrices import column, eye, row, turned

_POINTS, _WEIGHTS = np.polynomial.legendre.leggauss(3)
_ROUNDINGS = 64  # of f, in which a difference and the integral of f' may differ where they are the same


def ratios_of(w: Node, f: Node) -> Node | None:
    """(f_j - f_i) / (w_j - w_i), and f' on the diagonal; None where f is not a function of each w.

    Differences cancel where two are close. There the mean of f' between them is taken, by Gauss's rule, wherever it
    explains the difference as far as rounding lets this be known: so it is also right where they are equal, to every
    order. Where it does not, and they are equal, f depends on more than w, and 0 / 0 or 1 / 0 is what is left.
    """
    gap = apply("sub", row(w), column(w))
    step = apply("sub", row(f), column(f))
    indexed = False
    mean: Node | None = None
    one = broadcast(constant(1.0, w.dtype), gap.shape)
    for t, weight in zip((_POINTS + 1) / 2, _WEIGHTS / 2, strict=True):
        x = apply("add", apply("mul", column(w), float(1 - t)), apply("mul", row(w), float(t)))
        reader = _Reader(w, x)
        y = reader.at(f)
        if y is None:
            return None
        indexed = reader.indexed
        slope = apply("mul", SWEEPS["jvp"]([y], [x], [one])[0], float(weight))
        mean = slope if mean is None else apply("add", mean, slope)
    assert mean is not None  # there are three points
    eps = float(np.finfo(w.dtype).eps)
    size = apply("add", apply("abs", row(f)), apply("abs", column(f)))
    off = apply("abs", apply("sub", step, apply("mul", gap, mean)))
    smooth = apply("less_equal", off, apply("mul", size, _ROUNDINGS * eps))
    if indexed:  # f_i and f_j may be different functions: their slopes agree where one can't tell
        other = turned(mean)
        most = apply("mul", apply("add", apply("abs", mean), apply("abs", other)), eps**0.5)
        smooth = node("logical_and", smooth, apply("less_equal", apply("abs", apply("sub", mean, other)), most))
    own = apply("logical_or", smooth, apply("equal", eye(w.shape[-1], w), constant(1.0, w.dtype)))
    ratio = apply("div", step, apply("where", own, 1.0, gap))
    return apply("where", own, mean, ratio)


class _Reader:
    """Reads f as a function of each eigenvalue: entry i as the function of index i, at all points of a row."""

    def __init__(self, w: Node, points: Node) -> None:
        self.w, self.points = w, points
        self.indexed = False
        self._known: dict[Node, Node | None] = {}

    def at(self, f: Node) -> Node | None:
        """f_i at points[..., i, :]; None where it reads more than its eigenvalue, constants, and what indices share."""
        f = settled(f)
        if f not in self._known:
            self._known[f] = self._read(f)
        return self._known[f]

    def _read(self, n: Node) -> Node | None:
        if (n.op, n.params) == (self.w.op, self.w.params) and n.inputs[1] is self.w.inputs[1]:
            return self.points
        wide = (*n.shape, self.points.shape[-1])
        if n.op == "broadcast" and n.ndim - 1 not in n.params[1]:
            return broadcast(n.inputs[0], wide, n.params[1])
        if _is_known(n):
            self.indexed = True
            return broadcast(n, wide, tuple(range(n.ndim)))
        scalar = isinstance(operation(n), ScalarOperation)
        if not n.ndim or not (scalar or n.op in _MOVES or n.op == "convert"):
            return None
        parts = [self.at(x) for x in n.inputs]
        if any(x is None for x in parts):
            return None
        inputs = [x for x in parts if x is not None]
        if scalar:
            return made(n.op, n.params, *inputs)
        return convert(inputs[0], n.dtype) if n.op == "convert" else self._moved(n, inputs[0])

    def _moved(self, n: Node, x: Node) -> Node | None:
        """A slice of eigenvalues, or zeros between them."""
        start, step, shape = n.params
        if shape[:-1] != n.inputs[0].shape[:-1] or any(start[:-1]) or any(s != 1 for s in step[:-1]):
            return None
        self.indexed |= n.op == "pad"
        return _MOVES[n.op](x, (*start, 0), (*step, 1), (*shape, x.shape[-1]))


_MOVES = {"slice": slice_, "pad": pad}


def _is_known(n: Node) -> bool:
    """Whether it is made of constants alone."""
    left, met = [n], set[Node]()
    while left:
        x = left.pop()
        if not (x.inputs or x.is_constant):
            return False
        left += (y for y in x.inputs if y not in met)
        met.update(x.inputs)
    return True


def settled(x: Node) -> Node:
    """The node itself, or an earlier one of the same shape that it only reshapes."""
    found, base = x, x
    while base.op == "reshape":
        (base,) = base.inputs
        if base.shape == x.shape:
            found = base
    return found
