"""Dependence of elements in products with rows of a sparse matrix: `graph/sparse/row_operations.py`."""

from collections.abc import Callable
from typing import Any

import numpy as np

from burlab.graph import Node
from burlab.runtime.extras import late
from burlab.typing import Array

sparse: Any = late("scipy.sparse")
Links = Callable[[Node, int, dict[Node, Any]], Any]


def _entries(n: Node, values: dict[Node, Any]) -> tuple[Array, Array, Array]:
    """For each entry of each row: the row, the entry, and the row of x that belongs to it."""
    columns, starts, ends = (np.asarray(values[x]).reshape(-1).astype(np.int64) for x in n.inputs[2:])
    counts = ends - starts
    rows = np.repeat(np.arange(len(starts)), counts)
    entries: Any = (
        np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts) + np.repeat(starts, counts)
    )
    size, _, apart = n.params
    return rows, entries, columns[entries] + (rows * size if apart else 0)


def _wide(places: Array, width: int) -> Array:
    """The elements of rows of an array."""
    return (places[:, None] * width + np.arange(width)).reshape(-1)


def _rule(value: int, *inputs: int) -> Links:
    """A rule by what the value and the two arrays are numbered by: 0 rows, 1 entries, 2 rows of x."""

    def links(n: Node, k: int, values: dict[Node, Any]) -> Any:
        found = _entries(n, values)
        counts = n.inputs[3].size, n.inputs[2].size, n.params[0] * (n.inputs[3].size if n.params[2] else 1)
        wide = next(c for c in (value, *inputs) if c != 1)
        sizes = {value: n.size, **dict(zip(inputs, (x.size for x in n.inputs), strict=False))}
        width = sizes[wide] // max(counts[wide], 1)
        to, source = (np.repeat(found[c], width) if c == 1 else _wide(found[c], width) for c in (value, inputs[k]))
        return sparse.csr_array((np.ones(len(to), bool), (to, source)), (n.size, n.inputs[k].size))

    return links


ROW_PATTERNS: dict[str, Links] = {
    "row_products": _rule(0, 1, 2),
    "spread_rows": _rule(2, 1, 0),
    "row_samples": _rule(1, 2, 0),
}
