"""Test functions whose wells stand in a published table."""

from typing import Any

import numpy as np

from burlab.errors import ArgumentError
from burlab.runtime.checks.numbers import shown
from burlab.typing import Vector

from .benchmark_function import TestFunction, box, dimension, like
from .sources import DIXON_SZEGO


def hartmann(dim: int = 3) -> TestFunction:
    """Hartmann's functions of 3 or 6 variables: four Gaussian wells in the unit cube.

    Args:
        dim: 3 or 6.

    Returns:
        The function of that many numbers: minus the sum of c_i exp(-sum_j A_ij (x_j - P_ij)^2).

    Raises:
        ArgumentError: For another number of variables.

    >>> import burlab as bl
    >>> round(bl.problems.hartmann(6).minimum, 6)
    -3.322368
    """
    if dimension(dim, 1) not in _HARTMANN:
        raise ArgumentError(f"dim={shown(dim)} of hartmann, expected 3 or 6: there are two of these functions.")
    scale, place, lowest, minimum = _HARTMANN[dim]
    tables = np.array(scale), np.array(place), np.array([1.0, 1.2, 3.0, 3.2])

    def formula(x: Vector) -> Any:
        a, p, c = (like(x, table) for table in tables)
        return -np.sum(c * np.exp(-np.sum(a * (x - p) ** 2, axis=1)))

    return TestFunction(
        "hartmann",
        formula,
        start=np.full(dim, 0.5),
        domain=box(0.0, 1.0, dim),
        minima=np.array([lowest]),
        minimum=minimum,
        source=DIXON_SZEGO,
    )


def shekel(terms: int = 10) -> TestFunction:
    """Shekel's foxholes in four dimensions: minus the sum over holes a_i of 1 / (c_i + |x - a_i|^2).

    Args:
        terms: Number of holes: 5, 7 or 10.

    Returns:
        The function of 4 numbers.

    Raises:
        ArgumentError: For another number of holes.

    >>> import burlab as bl
    >>> round(bl.problems.shekel(5).minimum, 4)
    -10.1532
    """
    if dimension(terms, 1, "terms") not in _SHEKEL:
        raise ArgumentError(f"terms={shown(terms)} of shekel, expected 5, 7 or 10.")
    lowest, minimum = _SHEKEL[terms]
    tables = np.array(_HOLES[:terms]), np.array([0.1, 0.2, 0.2, 0.4, 0.4, 0.6, 0.3, 0.7, 0.5, 0.5][:terms])

    def formula(x: Vector) -> Any:
        holes, c = (like(x, table) for table in tables)
        return -np.sum(1 / (c + np.sum((x - holes) ** 2, axis=1)))

    return TestFunction(
        "shekel",
        formula,
        start=np.array([5.0, 5.5, 4.5, 5.2]),
        domain=box(0.0, 10.0, 4),
        minima=np.array([lowest]),
        minimum=minimum,
        source=f"Shekel 1971, Test functions for multimodal search techniques; {DIXON_SZEGO}",
    )


_Table = list[list[float]]
_HARTMANN: dict[int, tuple[_Table, _Table, list[float], float]] = {
    3: (
        [[3.0, 10.0, 30.0], [0.1, 10.0, 35.0], [3.0, 10.0, 30.0], [0.1, 10.0, 35.0]],
        [[0.3689, 0.117, 0.2673], [0.4699, 0.4387, 0.747], [0.1091, 0.8732, 0.5547], [0.03815, 0.5743, 0.8828]],
        [0.11461433858967198, 0.5556488499718569, 0.8525469535208657],
        -3.8627821478207554,
    ),
    6: (
        [
            [10.0, 3.0, 17.0, 3.5, 1.7, 8.0],
            [0.05, 10.0, 17.0, 0.1, 8.0, 14.0],
            [3.0, 3.5, 1.7, 10.0, 17.0, 8.0],
            [17.0, 8.0, 0.05, 10.0, 0.1, 14.0],
        ],
        [
            [0.1312, 0.1696, 0.5569, 0.0124, 0.8283, 0.5886],
            [0.2329, 0.4135, 0.8307, 0.3736, 0.1004, 0.9991],
            [0.2348, 0.1451, 0.3522, 0.2883, 0.3047, 0.665],
            [0.4047, 0.8828, 0.8732, 0.5743, 0.1091, 0.0381],
        ],
        [
            0.20168951100670543, 0.15001069182345797, 0.476873974221897, 0.2753324304940561, 0.31165161660011326,
            0.6573005340656203,
        ],
        -3.3223680114155147,
    ),
}  # fmt: skip
_HOLES: _Table = [
    [4.0, 4.0, 4.0, 4.0], [1.0, 1.0, 1.0, 1.0], [8.0, 8.0, 8.0, 8.0], [6.0, 6.0, 6.0, 6.0], [3.0, 7.0, 3.0, 7.0],
    [2.0, 9.0, 2.0, 9.0], [5.0, 5.0, 3.0, 3.0], [8.0, 1.0, 8.0, 1.0], [6.0, 2.0, 6.0, 2.0], [7.0, 3.6, 7.0, 3.6],
]  # fmt: skip
_SHEKEL: dict[int, tuple[list[float], float]] = {
    5: ([4.000037152819676, 4.00013327659156, 4.000037152819676, 4.00013327659156], -10.153199679058227),
    7: ([4.000572916185823, 4.000689366185305, 3.9994897088591506, 3.9996061588586316], -10.40294056681866),
    10: ([4.000746531592046, 4.000592934138532, 3.9996633980403224, 3.9995098005868077], -10.536409816692043),
}
