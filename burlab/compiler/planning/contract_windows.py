"""Products that are added to the places of windows, as a convolution's gradient has them, as a contraction.

It reads windows of one factor, with zeros between and around, and stores no product. See `windows.py`.
"""

import string
from collections.abc import Callable
from typing import Any

import numpy as np

from burlab.compiler.ir.strides import Shape
from burlab.graph import Graph, Node
from burlab.graph.linear_nodes import contract, gather, pad, slice_, transpose
from burlab.graph.node import constant
from burlab.graph.origin import derived_from
from burlab.graph.signatures import letters_of
from burlab.graph.substitute import keep, rebuild

from .windows import EvenIndex, even_index


def contract_windows(graph: Graph) -> Graph:
    """The graph with scatters of products to even places as contractions.

    >>> from burlab.graph.linear_nodes import scatter
    >>> y, w = (Node("input", (), None, shape, np.dtype(np.float64)) for shape in ((7, 4), (3, 4)))
    >>> index = constant(np.arange(7)[:, None] + np.arange(3), np.int64)
    >>> sums = scatter(contract("qo,jo->qj", y, w), index, 0, 9)
    >>> [n.op for n in contract_windows(Graph((y, w), (sums,))).nodes if n.shape == (9,)]
    ['contract']
    """
    if not any(n.op == "scatter" and _even_places(n, n.inputs[1]) for n in graph.nodes):
        return graph
    users: dict[Node, int] = dict.fromkeys(graph.outputs, 2)
    for n in graph.nodes:
        for x in n.inputs:
            users[x] = users.get(x, 0) + 1
    made: set[Node] = set()  # of which only what a view shows is computed, if nothing else reads it

    def rule(n: Node, inputs: tuple[Node, ...]) -> Node:
        alone = bool(inputs) and users[n.inputs[0]] == 1
        found = None
        with derived_from(n):
            if n.op == "scatter" and alone:
                found = _contraction(n, *inputs)
            elif n.op in _SHOWN and alone and (inputs[0] in made or (inputs[0].row.multiplies and n.op == "transpose")):
                found = _SHOWN[n.op](inputs[0], n.params)
        if found is None:
            return keep(n, inputs)
        made.add(found)
        return found

    return Graph(graph.inputs, tuple(rebuild(graph.outputs, {x: x for x in graph.inputs}, rule)))


def _contraction(n: Node, y: Node, index: Node) -> Node | None:
    """A scatter of products, each of a number per place with one per offset within a window, as a contraction.

    out[w] = sum over q, j of a[q] * b[j] if w = first + s q + d j, so it is the sum over j of b[j] times a[q] at the
    place d j before w.
    """
    batch: int = n.params[0]
    size: int = n.params[1]
    even = _even_places(n, index) if y.row.multiplies else None
    if not even:
        return None
    left, right, out = letters_of(y.params)
    (places, offsets), (step, dilation), (a, b) = out[batch : batch + 2], even.steps[batch:], y.inputs
    if y.shape[batch] < y.shape[batch + 1]:
        places, offsets, step, dilation = offsets, places, dilation, step
    if places in right:
        left, right, a, b = right, left, b, a
    low, high = even.ends(index.shape)
    if places in right or offsets in left or step < 1 or dilation < 1 or low < 0 or high >= size:
        return None
    axis, reach = left.index(places), dilation * (b.shape[right.index(offsets)] - 1)
    spread = _spread(a, axis, even.first + reach, step, size + reach)
    table = transpose(spread, (axis, *(k for k in range(a.ndim) if k != axis)))
    at = np.arange(size).reshape(-1, 1) + np.arange(reach, -1, -dilation)
    letter = next(c for c in string.ascii_letters if c not in left + right)
    windows = f"{letter}{offsets}{left.replace(places, '')}"
    result = out[:batch] + letter + out[batch + 2 :]
    return contract(f"{windows},{right}->{result}", gather(table, constant(at, np.int64)), b)


def _even_places(n: Node, index: Node) -> EvenIndex | None:
    """The steps of a scatter to an offset within a window at each place; None for others."""
    batch: int = n.params[0]
    even = even_index(index) if index.ndim == batch + 2 else None
    return None if even is None or any(even.steps[:batch]) else even


def _spread(x: Node, axis: int, start: int, step: int, size: int) -> Node:
    """Zeros around, and between, the numbers of an axis: within the windows of other axes, so that these stay views."""
    if x.op == "transpose":
        return transpose(_spread(x.inputs[0], x.params[axis], start, step, size), x.params)
    if x.op == "gather" and _windows_of_rows(x) and axis >= x.inputs[1].ndim:
        table, index = x.inputs
        return gather(_spread(table, axis - index.ndim + 1, start, step, size), index)
    first, steps, shape = [0] * x.ndim, [1] * x.ndim, list(x.shape)
    first[axis], steps[axis], shape[axis] = start, step, size
    if x.op == "pad":  # one for all axes
        inner, apart = _region(x)
        first = [a + b * c for a, b, c in zip(first, steps, inner, strict=True)]
        steps = [b * c for b, c in zip(steps, apart, strict=True)]
        x = x.inputs[0]
    return pad(x, tuple(first), tuple(steps), tuple(shape))


def _windows_of_rows(n: Node) -> bool:
    batch: int = n.params
    return batch == 0


def _region(n: Node) -> tuple[Shape, Shape]:
    start, step, _ = n.params
    return start, step


def _transposed(n: Node, permutation: Shape) -> Node:
    left, right, out = letters_of(n.params)
    return contract(f"{left},{right}->{''.join(out[a] for a in permutation)}", *n.inputs)


def _sliced(n: Node, region: tuple[Shape, Shape, Shape]) -> Node:
    *terms, out = letters_of(n.params)
    shown = dict(zip(out, zip(*region, strict=True), strict=True))

    def part(x: Node, term: str) -> Node:
        at = [shown.get(letter, (0, 1, size)) for letter, size in zip(term, x.shape, strict=True)]
        return slice_(x, tuple(p[0] for p in at), tuple(p[1] for p in at), tuple(p[2] for p in at))

    return contract(n.params, *(part(x, term) for x, term in zip(n.inputs, terms, strict=True)))


_SHOWN: dict[str, Callable[[Node, Any], Node]] = {"transpose": _transposed, "slice": _sliced}
