"""The rows of its inputs that make a row of a value, operation by operation."""

import math
from collections.abc import Callable, Mapping
from typing import Any

from burlab.compiler.ir.strides import Shape
from burlab.graph import Node
from burlab.graph.operation import Ending
from burlab.graph.signatures import letters_of
from burlab.graph.substitute import copy

Axes = tuple[int | None, ...]


def axes_of_inputs(n: Node, k: int) -> Axes | None:
    """For each input the axis of what row i along axis k of a value reads: row i there, or all where it is None.

    None if the value has no such rows, or they are unknown.

    >>> import numpy as np
    >>> from burlab.graph.linear_nodes import contract
    >>> a, b = (Node("input", (), None, shape, np.dtype(float)) for shape in ((2, 3), (3, 4)))
    >>> axes_of_inputs(contract("ab,bc->ac", a, b), 0), axes_of_inputs(contract("ab,bc->ac", a, b), 1)
    ((0, None), (None, 1))
    """
    row = n.row
    if row.leaf:
        return None
    if row.elementwise:
        return (k,) * len(n.inputs)
    if row.reduction:
        return _remaining(n, k, n.params)
    rule = _RULES.get(n.op)
    return rule(n, k) if rule else None


def axes_of_sum(n: Node, axes: Mapping[Node, int]) -> Axes | None:
    """The axes along which a sum, or a product of matrices, adds up the rows of its inputs; None where it does not.

    axes: of those inputs whose rows are known.
    """
    if n.dtype.kind != "f":
        return None
    if n.row.epilogue is Ending.SUM:
        return (axes[n.inputs[0]],) if axes.get(n.inputs[0]) in n.params else None
    if not n.row.multiplies:
        return None
    *terms, out = letters_of(n.params)
    for x, term in zip(n.inputs, terms, strict=True):
        if x in axes and term[axes[x]] not in out:
            found = tuple(t.index(term[axes[x]]) for t in terms)
            return found if all(axes.get(y, j) == j for y, j in zip(n.inputs, found, strict=True)) else None
    return None


def resized(n: Node, k: int, size: int, inputs: tuple[Node, ...]) -> Node:
    """The same operation on inputs with so many rows; k: the axis of its own rows."""
    new = copy(n, inputs)
    new.shape = _with(n.shape, k, size)
    if n.op == "reshape":
        new.params = new.shape
    elif n.op == "broadcast":
        new.params = (new.shape, n.params[1])
    elif n.op in ("slice", "pad"):
        new.params = (*n.params[:2], new.shape)
    return new


def _remaining(n: Node, k: int, gone: Shape) -> Axes:
    return ([a for a in range(n.inputs[0].ndim) if a not in gone][k],)


def _with(shape: Shape, k: int, size: int) -> Shape:
    return (*shape[:k], size, *shape[k + 1 :])


def _contract(n: Node, k: int) -> Axes:
    *terms, out = letters_of(n.params)
    return tuple(term.index(out[k]) if out[k] in term else None for term in terms)


def _broadcast(n: Node, k: int) -> Axes:
    axes: Shape = n.params[1]
    return (axes.index(k) if k in axes else None,)


def _reshape(n: Node, k: int) -> Axes | None:
    """The axis of the same size with as many elements before it."""
    shape = n.inputs[0].shape
    before = math.prod(n.shape[:k])
    found = (j for j, d in enumerate(shape) if d == n.shape[k] and math.prod(shape[:j]) == before)
    return next(((j,) for j in found), None)


def _window(n: Node, k: int) -> Axes | None:
    """Of a slice or its transpose, an axis that it leaves alone."""
    start, step, _ = n.params
    return (k,) if start[k] == 0 and step[k] == 1 and n.inputs[0].shape[k] == n.shape[k] else None


def _gather(n: Node, k: int) -> Axes:
    index = n.inputs[1]
    batch: int = n.params
    if k < batch:
        return (k, k)
    return (None, k) if k < index.ndim else (batch + 1 + k - index.ndim, None)


def _scatter(n: Node, k: int) -> Axes | None:
    return (k, k) if k < n.params[0] else None


def _along(axis_of: Callable[[Any], int]) -> Callable[[Node, int], Axes | None]:
    """Operations along one axis: all others are rows."""

    def rule(n: Node, k: int) -> Axes | None:
        return None if k == axis_of(n) else (k,) * len(n.inputs)

    return rule


_RULES: dict[str, Callable[[Node, int], Axes | None]] = {
    "contract": _contract,
    "broadcast": _broadcast,
    "reshape": _reshape,
    "transpose": lambda n, k: (n.params[k],),
    "slice": _window,
    "pad": _window,
    "gather": _gather,
    "scatter": _scatter,
    "concatenate": _along(lambda n: n.params),
    "cumsum": _along(lambda n: n.params[0]),
    "sort": _along(lambda n: n.ndim - 1),
    "argmax": lambda n, k: _remaining(n, k, (n.params,)),
    "argmin": lambda n, k: _remaining(n, k, (n.params,)),
    "argsort": _along(lambda n: n.ndim - 1),
    **dict.fromkeys(("partition", "argpartition", "kth", "argkth", "argtop"), _along(lambda n: n.ndim - 1)),
}
