"""Two classes in a plane that no line parts: test beds for classifiers that can be looked at."""

from collections.abc import Callable

import numpy as np

from burlab.runtime.checks.numbers import one_of, shown, whole
from burlab.runtime.memory import check_fits
from burlab.runtime.ranges import NOT_NEGATIVE, number_in
from burlab.typing import Numbers

from .dataset import Dataset

_RADIUS = 2.5  # of the circle or half the side of the square that holds the points without noise
_REVOLUTIONS = 1.4  # of each arm of a spiral
Drawn = Callable[[np.random.Generator, Numbers], Numbers]
"""From a generator and the class of each row, shape (n,), to points, shape (n, 2)."""


def _disc(rng: np.random.Generator, inner: float, outer: float, count: int) -> Numbers:
    """Points spread evenly over a ring."""
    angle, square = rng.uniform(0, 2 * np.pi, count), rng.uniform(inner**2, outer**2, count)
    return np.sqrt(square)[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)


def _clouds(rng: np.random.Generator, classes: Numbers) -> Numbers:
    return _disc(rng, 0.0, 0.5 * _RADIUS, classes.size) + (0.5 * _RADIUS * (2 * classes - 1))[:, None]


def _circles(rng: np.random.Generator, classes: Numbers) -> Numbers:
    inside, outside = _disc(rng, 0.0, 0.45, classes.size), _disc(rng, 0.75, 1.0, classes.size)
    return _RADIUS * np.where(classes[:, None] == 0, inside, outside)


def _spirals(rng: np.random.Generator, classes: Numbers) -> Numbers:
    along = np.sqrt(rng.uniform(0.01, 1.0, classes.size))
    angle = np.pi * (2 * _REVOLUTIONS * along + classes)
    return _RADIUS * along[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)


def _quadrants(rng: np.random.Generator, classes: Numbers) -> Numbers:
    size = rng.uniform(0.08, 1.0, (classes.size, 2))
    side = rng.choice([-1.0, 1.0], classes.size)
    return _RADIUS * size * np.stack([side, side * (2 * classes - 1)], axis=1)


def _moons(rng: np.random.Generator, classes: Numbers) -> Numbers:
    angle, sign = rng.uniform(0, np.pi, classes.size), 1 - 2 * classes
    x, y = np.cos(angle) * sign - 0.5 * sign, np.sin(angle) * sign - 0.25 * sign
    return _RADIUS / 1.5 * np.stack([x, y], axis=1)


KINDS: dict[str, Drawn] = {
    "circles": _circles,
    "clouds": _clouds,
    "moons": _moons,
    "quadrants": _quadrants,
    "spirals": _spirals,
}


def synthetic_plane(kind: str = "circles", samples: int = 200, *, noise: float = 0.1, seed: int = 0) -> Dataset:
    """Points of two classes in the plane, each coordinate between -2.5 and 2.5 before noise.

    Args:
        kind: "clouds": two discs; "circles": a disc inside of a ring; "moons": two half circles, each reaching into the
            other; "quadrants": the class is the sign of the product of the coordinates; "spirals": two arms.
        samples: Number of rows; the classes have equal sizes, up to one sample.
        noise: Standard deviation of what is added to each coordinate.
        seed: The same seed gives the same data.

    Returns:
        The samples, with targets 0 and 1.

    Raises:
        ArgumentError: For another kind, or a number outside of its range.

    >>> import burlab as bl
    >>> data = bl.data.synthetic_plane("spirals", 100, noise=0.0)
    >>> data, int(data.targets.sum())
    (<Dataset of 100 samples, 2 features, 2 classes: synthetic spirals, seed 0>, 50)
    """
    one_of(kind, KINDS, "kind")
    count = whole(samples, "samples", 2)
    check_fits(16 * count, f"{shown(samples)} samples of 2 features")
    spread = number_in(NOT_NEGATIVE, noise, "noise")
    rng = np.random.default_rng(whole(seed, "seed", 0))
    targets = np.arange(count) % 2
    points = KINDS[kind](rng, targets.astype(np.float64)) + spread * rng.normal(size=(count, 2))
    return Dataset(
        points,
        targets,
        tuple(f"x{k}" for k in range(2)),
        ("class 0", "class 1"),
        f"synthetic {kind}, seed {shown(seed)}",
    )
