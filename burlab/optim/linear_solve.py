"""Dense linear systems inside of a rule: the Hessian by columns, and elimination."""

from typing import Any

import numpy as np

from burlab.transforms import while_loop

from .arithmetic import arange, where
from .optimizer import Vector
from .queries import Queries


def hessian(f: Queries, x: Vector) -> Vector:
    """The Hessian at x, shape (d, d): d Hessian-vector products."""
    d = x.shape[0]
    rows = arange(d)

    def column(s: dict[str, Any]) -> Any:
        unit = (rows == s["k"]).astype(x.dtype)
        return {"k": s["k"] + 1, "h": where(rows[:, None] == s["k"], f.hvp(x, unit), s["h"])}

    return while_loop(lambda s: s["k"] < d, column, {"k": np.asarray(0), "h": np.zeros((d, d), x.dtype)})["h"]


def solve(matrix: Vector, b: Vector, *, pivoting: bool) -> tuple[Vector, Any]:
    """The solution of matrix @ v = b by Gauss and Jordan's elimination, and the smallest pivot.

    matrix: shape (d, d); b: shape (d,). pivoting: exchange rows for the largest pivot (the smallest one is then an
    absolute value); without it, for a symmetric matrix, all pivots are positive just where it is positive definite.
    If the smallest pivot is 0, the solution has no meaning.
    """
    d = b.shape[0]
    rows = arange(d)

    def eliminate(s: dict[str, Any]) -> Any:
        k, table = s["k"], s["table"]
        column = table[:, k]
        p = np.argmax(where(rows >= k, np.abs(column), -1)) if pivoting else k
        pivot = column[p]
        scaled = table[p] / where(pivot == 0, np.ones_like(pivot), pivot)
        swapped = where((rows == p)[:, None], table[k], table)
        factors = where(rows == p, column[k], column)
        table = where((rows == k)[:, None], scaled, swapped - factors[:, None] * scaled)
        return {"k": k + 1, "table": table, "least": np.minimum(s["least"], np.abs(pivot) if pivoting else pivot)}

    start = {
        "k": np.asarray(0),
        "table": np.concatenate([matrix, b[:, None]], axis=1),
        "least": np.asarray(np.inf, b.dtype),
    }
    end = while_loop(lambda s: s["k"] < d, eliminate, start)
    return end["table"][:, d], end["least"]
