"""Where our own functions of doubles change their formula or their range, and arguments on both sides of that."""

from typing import Any

import numpy as np

HALF_LN2 = np.log(2) / 2  # e^x = 2^n e^r, |r| <= ln 2 / 2
REDUCED = HALF_LN2 * np.array([1, 3, 5, 41])
ROOTS = np.sqrt(2) * 2.0 ** np.array([-1, 0, 1, 60, -1000])  # log x = n ln 2 + log m, m between sqrt(1/2) and sqrt(2)
QUARTERS = np.pi / 4 * np.array([1, 2, 3, 4, 5, 7])

EDGES: dict[str, Any] = {  # all of them positive; those of odd functions hold on the other side too
    "exp": [*REDUCED, 710, 708.3964, 745.1332, 746],
    "log": [1, *ROOTS, np.finfo(float).tiny],
    "sin": [1e-8, *QUARTERS],
    "cos": QUARTERS,
    "tan": [1e-8, *QUARTERS],
    "sinh": [1, *REDUCED, 710.4758, 711],
    "cosh": [*REDUCED, 710.4758, 711],
    "tanh": [0.625, *REDUCED / 2, 19.06],
    "arctan": [np.tan(np.pi / 8), np.tan(3 * np.pi / 8)],
    "arctanh": [1e-16, 5e-17, 0.17157287525381, 0.5, 1 - 1e-10],  # 2 a / (1 - a) around sqrt(2) - 1
    "sigmoid": [*REDUCED, 37, 708.3964, 745.1332, 746],
    "erf": [0.5, 0.9, 1, 5.92, 6.5],
    "expm1": [1e-16, *REDUCED, 37.4, 50, 709.7827, 710],
    "log1p": [1e-16, 1 - np.sqrt(0.5), *(ROOTS[1:4] - 1)],
    "erfc": [0.5, 5.86, 26.5432, 27.23],
    "softplus": [*REDUCED, -np.log(np.sqrt(2) - 1), 36.05, 37, 745.1332],
}


def near_edges(op: str, count: int) -> "np.ndarray[Any, Any]":
    """For each edge the numbers beside it, and some within 10% of it, both signs; as many on either side."""
    rng = np.random.default_rng(12)
    edges = np.array(EDGES[op], np.float64)
    close = edges * (1 + rng.uniform(-0.1, 0.1, (count, edges.size)))
    x = np.concatenate([edges, np.nextafter(edges, 0), np.nextafter(edges, np.inf), close.ravel()])
    return np.concatenate([x, -x])
