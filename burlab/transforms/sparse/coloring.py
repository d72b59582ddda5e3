"""Colours of columns and rows: what may be computed in one product, because it can be told apart afterwards."""

from typing import Any

import numpy as np

from burlab.typing import Array


def distinct(pattern: Any) -> "np.ndarray[Any, np.dtype[np.int64]]":
    """A colour for each column of a CSR pattern, so that columns of one colour share no row.

    Curtis, Powell and Reid 1974, On the estimation of sparse Jacobian matrices: each column gets the first colour that
    is free, the fullest columns first.
    """
    by_column = pattern.tocsc()
    starts, rows = by_column.indptr, by_column.indices
    colors = np.zeros(pattern.shape[1], np.int64)
    used = np.zeros((pattern.shape[0], 8), bool)
    for j in np.argsort(-np.diff(starts), kind="stable"):
        mine = rows[starts[j] : starts[j + 1]]
        taken = used[mine].any(0)
        color = _first_free(taken)
        if color == used.shape[1]:
            used = np.pad(used, ((0, 0), (0, color)))
        used[mine, color] = True
        colors[j] = color
    return colors


def star(pattern: Any) -> "np.ndarray[Any, np.dtype[np.int64]]":
    """A colour for each column of a symmetric CSR pattern: neighbours differ, and each path of four has three colours.

    Then an entry stands alone in the product of its column's colour, or of its row's. Gebremedhin, Manne and Pothen
    2005, What color is your Jacobian?, section 4: each vertex gets the first colour that closes no path of two colours,
    those with the most neighbours first, or last, whichever needs fewer colours.
    """
    order = np.argsort(-np.diff(pattern.indptr), kind="stable")
    return min((_star(pattern, order), _star(pattern, order[::-1])), key=lambda colors: colors.max(initial=-1))


def _star(pattern: Any, order: Array) -> "np.ndarray[Any, np.dtype[np.int64]]":
    starts, neighbors = pattern.indptr, pattern.indices
    n = pattern.shape[0]
    colors = np.full(n, -1, np.int64)
    around = np.zeros((n, 8), np.int32)  # how many neighbours of each vertex have each colour
    for v in order:
        mine = neighbors[starts[v] : starts[v + 1]]
        mine = mine[mine != v]
        colored = mine[colors[mine] >= 0]
        taken = around[v] > 0
        for w in colored:
            beyond = neighbors[starts[w] : starts[w + 1]]
            beyond = beyond[(colors[beyond] >= 0) & (beyond != w)]
            # v, w, x and a second neighbour of v, or of x, in the colour of w: x may not have the colour of v.
            closes = (around[v, colors[w]] > 1) | (around[beyond, colors[w]] > 1)
            taken[colors[beyond[closes]]] = True
        color = _first_free(taken)
        if color == around.shape[1]:
            around = np.pad(around, ((0, 0), (0, color)))
        around[mine, color] += 1
        colors[v] = color
    return colors


def _first_free(taken: Any) -> int:
    """The first colour that is not taken, or one more than there are."""
    return int(np.argmin(taken)) if not taken.all() else len(taken)
