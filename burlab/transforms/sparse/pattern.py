"""Dependence of elements of a node on elements of an input: index sets, propagated through the graph.

A pattern is a boolean CSR matrix of SciPy: a row for each element of the node, a column for each element of the input.
Where an operation has no rule here, each element of its value depends on all that its inputs depend on: a pattern may
have too many entries, never too few.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from burlab.graph import Node
from burlab.graph.autodiff.sweep import between
from burlab.graph.numpy_api.roots import Root
from burlab.graph.scalar import load_partials, partials
from burlab.graph.signatures import letter_sizes, letters_of
from burlab.runtime.extras import late
from burlab.typing import Array

from .row_patterns import ROW_PATTERNS

sparse: Any = late("scipy.sparse")
Matrix = Any  # of SciPy, CSR, bool
Values = dict[Node, Any]


def indices(x: Node, y: Node) -> list[Node]:
    """The nodes whose values decide where elements come from and go to: the indices of gathers and scatters."""
    found = (i for n in between([x], [y]) if n.row.indexed for i in n.inputs[2 if n.op in ROW_PATTERNS else -1 :])
    return list(dict.fromkeys(found))


def pattern(x: Node, y: Node, values: Values) -> Matrix:
    """The pattern of dy/dx, shape (y.size, x.size). values: those of the `indices`."""
    order = between([x], [y])
    load_partials(n.op for n in order if n.row.differentiable)
    known: dict[Node, Matrix] = {x: sparse.eye_array(x.size, dtype=bool, format="csr")}
    last = {n: k for k, node in enumerate(order) for n in node.inputs}
    for k, n in enumerate(order):
        if n is not x:
            known[n] = _of(n, known, values, x.size)
        for source in n.inputs:
            if last[source] == k and source is not y:
                known.pop(source, None)
    return known[y] if y in known else sparse.csr_array((y.size, x.size), dtype=bool)


def _of(n: Node, known: dict[Node, Matrix], values: Values, size: int) -> Matrix:
    sources = [(k, known[x]) for k, x in enumerate(n.inputs) if x in known]
    if n.row.differentiable:
        forms = partials(n.op)
        sources = [(k, p) for k, p in sources if forms[k].constant != 0]
        return _either([p for _, p in sources], (n.size, size))
    varying = n.row.differentiable_inputs(n)
    sources = [(k, p) for k, p in sources if k in varying]
    rule = _root if isinstance(n.params, Root) else _RULES.get(n.op)
    if rule is not None:
        return _either([rule(n, k, values) @ p for k, p in sources], (n.size, size))
    if n.row.elementwise or n.op == "surrogate":
        return _either([p for _, p in sources], (n.size, size))
    reached = np.unique(np.concatenate([p.indices for _, p in sources] or [np.zeros(0, np.int64)]))
    starts = np.arange(n.size + 1) * len(reached)
    return sparse.csr_array((np.ones(starts[-1], bool), np.tile(reached, n.size), starts), (n.size, size))


def _either(parts: Sequence[Matrix], shape: tuple[int, int]) -> Matrix:
    if not parts:
        return sparse.csr_array(shape, dtype=bool)
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


# For each operation: which elements of its value read which elements of its k-th input, as a matrix.


def _links(to: Array, source: Array, n: Node, k: int) -> Matrix:
    """Element to[i] of a node reads element source[i] of its k-th input."""
    to, source = np.ravel(to), np.ravel(source)
    return sparse.csr_array((np.ones(len(to), bool), (to, source)), (n.size, n.inputs[k].size))


def _numbered(shape: tuple[int, ...]) -> Any:
    return np.arange(math.prod(shape)).reshape(shape)


def _region(start: Sequence[int], step: Sequence[int], count: Sequence[int]) -> Any:
    return np.ix_(*(a + s * np.arange(d) for a, s, d in zip(start, step, count, strict=True)))


def _broadcast(n: Node, k: int, _: Values) -> Matrix:
    shape, axes = n.params
    x = _numbered(n.inputs[0].shape).reshape([d if a in axes else 1 for a, d in enumerate(shape)])
    return _links(_numbered(shape), np.broadcast_to(x, shape), n, k)


def _reshape(n: Node, k: int, _: Values) -> Matrix:
    return _links(np.arange(n.size), np.arange(n.size), n, k)


def _transpose(n: Node, k: int, _: Values) -> Matrix:
    return _links(_numbered(n.shape), _numbered(n.inputs[0].shape).transpose(n.params), n, k)


def _slice(n: Node, k: int, _: Values) -> Matrix:
    start, step, count = n.params
    return _links(_numbered(n.shape), _numbered(n.inputs[0].shape)[_region(start, step, count)], n, k)


def _pad(n: Node, k: int, _: Values) -> Matrix:
    start, step, _shape = n.params
    x = n.inputs[0]
    return _links(_numbered(n.shape)[_region(start, step, x.shape)], _numbered(x.shape), n, k)


def _concatenate(n: Node, k: int, _: Values) -> Matrix:
    axis: int = n.params
    x = n.inputs[k]
    start = [0] * n.ndim
    start[axis] = sum(other.shape[axis] for other in n.inputs[:k])
    return _links(_numbered(n.shape)[_region(start, [1] * n.ndim, x.shape)], _numbered(x.shape), n, k)


def _reduced(n: Node, k: int, _: Values) -> Matrix:
    x = n.inputs[0]
    to = np.expand_dims(_numbered(n.shape), n.params)
    return _links(np.broadcast_to(to, x.shape), _numbered(x.shape), n, k)


def _root(n: Node, k: int, _: Values) -> Matrix:
    """A norm reads its total, and those of its entries that were added up in it: the second of their three axes."""
    to = _numbered(n.shape) if k == 0 else np.expand_dims(_numbered((n.inputs[k].shape[0], n.inputs[k].shape[2])), 1)
    return _links(np.broadcast_to(to, n.inputs[k].shape), _numbered(n.inputs[k].shape), n, k)


def _cumsum(n: Node, k: int, _: Values) -> Matrix:
    axis, reverse = cast("tuple[int, bool]", n.params)
    size = int(n.shape[axis])
    lines = np.moveaxis(_numbered(n.shape), axis, -1).reshape(-1, size)
    to, source = np.triu_indices(size) if reverse else np.tril_indices(size)
    return _links(lines[:, to], lines[:, source], n, k)


def _flat_indices(batch: int, table: tuple[int, ...], index: Array) -> Any:
    """For each element that an index picks from a table its number there, shape of the index and of a row."""
    places = _numbered(table[: batch + 1])
    picked = np.take_along_axis(
        places.reshape(-1, table[batch]), index.reshape(math.prod(table[:batch]), -1), axis=1
    ).reshape(index.shape)
    row = math.prod(table[batch + 1 :])
    return picked[..., None] * row + np.arange(row)


def _gather(n: Node, k: int, values: Values) -> Matrix:
    source = _flat_indices(n.params, n.inputs[0].shape, values[n.inputs[1]])
    return _links(np.arange(n.size), source, n, k)


def _scatter(n: Node, k: int, values: Values) -> Matrix:
    to = _flat_indices(n.params[0], n.shape, values[n.inputs[1]])
    return _links(to, np.arange(n.inputs[0].size), n, k)


def _put(n: Node, k: int, values: Values) -> Matrix:
    """Return the links of an assignment: what is overwritten reads the rows alone, of which any may be the last."""
    batch, adds = n.params
    to = _flat_indices(batch, n.shape, values[n.inputs[2]])
    if k == 1:
        return _links(to, np.arange(n.inputs[1].size), n, k)
    retained = np.arange(n.size) if adds else np.setdiff1d(np.arange(n.size), to)
    return _links(retained, retained, n, k)


def _contract(n: Node, k: int, _: Values) -> Matrix:
    """Elements that share the letters that both have; a zero of a known factor reads nothing."""
    *terms, out = letters_of(n.params)
    mine, other = terms[k], terms[1 - k]
    sizes = letter_sizes(n)
    factor = _constant(n.inputs[1 - k])
    letters = sorted({*mine, *out, *(other if factor is not None else "")})
    shape = tuple(sizes[c] for c in letters)

    def spread(term: str, array: Array) -> Any:
        order = sorted(range(len(term)), key=lambda a: term[a])
        wide = array.transpose(order).reshape([sizes[c] if c in term else 1 for c in letters])
        return np.broadcast_to(wide, shape)

    to, source = spread(out, _numbered(n.shape)), spread(mine, _numbered(n.inputs[k].shape))
    if factor is None:
        return _links(to, source, n, k)
    retained = spread(other, factor != 0)
    return _links(to[retained], source[retained], n, k)


def _constant(n: Node) -> Any:
    """The array of a node that is one, seen through transpositions and reshapes; None for all others."""
    if n.is_constant:
        return n.params
    if n.op in ("transpose", "reshape"):
        array = _constant(n.inputs[0])
        return None if array is None else (array.transpose if n.op == "transpose" else array.reshape)(n.params)
    return None


_RULES: dict[str, Callable[[Node, int, Values], Matrix]] = {
    "broadcast": _broadcast,
    "reshape": _reshape,
    "transpose": _transpose,
    "slice": _slice,
    "pad": _pad,
    "concatenate": _concatenate,
    "sum": _reduced,
    "cumsum": _cumsum,
    "gather": _gather,
    "scatter": _scatter,
    "put": _put,
    "contract": _contract,
    **ROW_PATTERNS,
}
