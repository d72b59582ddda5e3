"""Test functions that are sums of convex functions of one coordinate each."""

import numpy as np

from .benchmark_function import TestFunction, box, dimension, like
from .sources import ANDREI, CUTEST


def quartc(dim: int = 10) -> TestFunction:
    """QUARTC: the sum of (x_i - i)^4, whose Hessian at the minimum is 0.

    Args:
        dim: Number d of coordinates, at least 1.

    Returns:
        The function of d numbers.

    >>> import burlab as bl
    >>> bl.problems.quartc(dim=3).minima
    array([[1., 2., 3.]])
    """
    dim = dimension(dim, 1)
    lowest = np.arange(1.0, dim + 1)
    return TestFunction(
        "quartc",
        lambda x: np.sum((x - like(x, lowest)) ** 4),
        start=np.full(dim, 2.0),
        domain=box(0.0, dim + 2.0, dim),
        minima=lowest[None],
        minimum=0.0,
        source=f"the problem QUARTIC of Liu and Nocedal 1989, Mathematical Programming 45; {CUTEST}",
    )


def raydan(dim: int = 10) -> TestFunction:
    """Raydan's first function: the sum of i (exp(x_i) - x_i) / 10, strictly convex.

    Args:
        dim: Number d of coordinates, at least 1.

    Returns:
        The function of d numbers.

    >>> import burlab as bl
    >>> bl.problems.raydan(dim=4).minimum
    1.0
    """
    dim = dimension(dim, 1)
    weights = np.arange(1, dim + 1) / 10
    return TestFunction(
        "raydan",
        lambda x: np.sum(like(x, weights) * (np.exp(x) - x)),
        start=np.ones(dim),
        domain=box(-2.0, 2.0, dim),
        minima=np.zeros((1, dim)),
        minimum=dim * (dim + 1) / 20,
        source=f"Raydan 1997, SIAM Journal on Optimization 7(1); {ANDREI}",
    )


def hager(dim: int = 10) -> TestFunction:
    """Hager's function: the sum of exp(x_i) - sqrt(i) x_i, strictly convex.

    Args:
        dim: Number d of coordinates, at least 1.

    Returns:
        The function of d numbers.

    >>> import burlab as bl
    >>> bl.problems.hager(dim=3).minima.round(6).tolist()
    [[0.0, 0.346574, 0.549306]]
    """
    dim = dimension(dim, 1)
    roots = np.sqrt(np.arange(1.0, dim + 1))
    lowest = np.log(roots)
    return TestFunction(
        "hager",
        lambda x: np.sum(np.exp(x) - like(x, roots) * x),
        start=np.ones(dim),
        domain=box(-1.0, 3.0 + lowest[-1], dim),
        minima=lowest[None],
        minimum=float(np.sum(roots - roots * lowest)),
        source=ANDREI,
    )
