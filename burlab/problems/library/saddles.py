"""Test functions with saddle points, where the gradient vanishes and no minimum is."""

import numpy as np

from .benchmark_function import TestFunction, box


def saddle() -> TestFunction:
    """Nesterov's example: x^2 / 2 - y^2 / 2 + y^4 / 4. From y = 0, gradient descent ends between its two minima.

    Returns:
        The function of 2 numbers.

    >>> import burlab as bl
    >>> run = bl.minimize(bl.problems.saddle(), bl.problems.saddle().start, bl.optim.GD(0.5), steps=100)
    >>> run.x.round(9)
    array([0., 0.])
    """
    return TestFunction(
        "saddle",
        lambda x: 0.5 * x[0] ** 2 + 0.25 * x[1] ** 4 - 0.5 * x[1] ** 2,
        start=np.array([1.0, 0.0]),
        domain=box(-1.6, 1.6, 2),
        minima=np.array([[0.0, -1.0], [0.0, 1.0]]),
        minimum=-0.25,
        source="Nesterov 2004, Introductory Lectures on Convex Optimization, Example 1.2.2",
        saddles=np.zeros((1, 2)),
    )


def monkey_saddle() -> TestFunction:
    """The monkey saddle: x^3 - 3 x y^2. Three directions descend, for two legs and a tail; unbounded, Hessian 0.

    Returns:
        The function of 2 numbers.

    >>> import numpy as np, burlab as bl
    >>> abs(bl.hessian(bl.problems.monkey_saddle())(np.zeros(2)))
    array([[0., 0.],
           [0., 0.]])
    """
    return TestFunction(
        "monkey_saddle",
        lambda x: x[0] ** 3 - 3 * x[0] * x[1] ** 2,
        start=np.array([1.0, 0.01]),
        domain=box(-1.5, 1.5, 2),
        minima=np.empty((0, 2)),
        minimum=-np.inf,
        source="Hilbert and Cohn-Vossen 1932, Anschauliche Geometrie",
        saddles=np.zeros((1, 2)),
    )
