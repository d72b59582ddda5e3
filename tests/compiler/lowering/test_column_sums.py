"""Sums down columns: in which order rows are added, whatever the columns are, and that nothing else is touched."""

from typing import Any

import numpy as np
import pytest

from burlab.compiler import build
from burlab.graph import Graph, Node
from burlab.graph.linear_nodes import slice_, sum_over
from tests.compiler.pages import at_the_end_of_a_page

RNG = np.random.default_rng(0)


def summed(x: Any, strict: bool) -> Any:
    """Return the library's sums of all but the first of each axis, in arrays that end at a page."""
    node = Node("input", (), None, x.shape, x.dtype)
    part = slice_(node, (1,) * x.ndim, (1,) * x.ndim, tuple(size - 1 for size in x.shape))
    exe = build(Graph((node,), (sum_over(part, tuple(range(x.ndim - 1))),)), gear="replay", strict=strict)
    out = at_the_end_of_a_page(np.empty(x.shape[-1] - 1, exe.outputs[0].dtype))
    exe(at_the_end_of_a_page(x), out=(out,))
    return out


def row_by_row(x: Any, strict: bool) -> Any:
    """The same in NumPy: rows in their order, floats in double, 64 of them at a time."""
    rows = x.reshape(-1, x.shape[-1])
    block = len(rows) if strict else 64
    kind = x.dtype if strict or x.dtype.kind == "i" else np.dtype(np.float64)
    total = np.zeros(x.shape[-1], kind)
    for first in range(0, len(rows), block):
        part = np.zeros_like(total)
        for row in rows[first : first + block]:
            part += row.astype(kind)
        total += part
    return total.astype(x.dtype)


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
@pytest.mark.parametrize("width", [4, 7, 8, 15, 16, 17, 24, 33, 65, 200])
def test_rows_are_added_in_their_order(width, dtype, strict):
    for rows in [(1,), (8,), (63,), (64,), (65,), (130,), (5, 27)]:
        x = (100 * RNG.normal(size=[size + 1 for size in (*rows, width)])).astype(dtype)
        np.testing.assert_array_equal(summed(x, strict), row_by_row(x[(slice(1, None),) * x.ndim], strict))
