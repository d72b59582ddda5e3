"""Clients of logistic regressions in NumPy: gradients and Hessians of each, from the formulas."""

import numpy as np

from burlab.typing import Array

Data = list[tuple[Array, Array]]


def gradients(clients: Data, x: Array, l2: float) -> Array:
    """Of the mean of log(1 + exp(-b a.x)) plus l2 |x|^2, of every client: shape (clients, d)."""
    return np.array([-(b / (1 + np.exp(b * (a @ x)))) @ a / len(a) + 2 * l2 * x for a, b in clients])


def hessians(clients: Data, x: Array, l2: float) -> Array:
    """Shape (clients, d, d)."""
    shares = [1 / (1 + np.exp(-b * (a @ x))) for a, b in clients]
    curved = [(a.T * (s * (1 - s))) @ a / len(a) for (a, _), s in zip(clients, shares, strict=True)]
    return np.array(curved) + 2 * l2 * np.eye(len(x))
