"""Data made with a seed, of known truth and conditioning."""

import math

import numpy as np

from burlab.errors import ArgumentError
from burlab.runtime.checks.numbers import shown, whole
from burlab.runtime.memory import check_fits
from burlab.runtime.ranges import FINITE, NOT_NEGATIVE, Range, number_in

from .dataset import Dataset

_CONDITION = Range(1.0, math.inf)


def synthetic_regression(
    samples: int = 200, features: int = 10, *, condition: float = 10.0, noise: float = 0.1, seed: int = 0
) -> Dataset:
    """Numbers that depend linearly on random features, plus Gaussian noise.

    The eigenvalues of A^T A / n are exactly evenly spaced in their logarithms from 1 to `condition`, so least squares
    on these data has smoothness `condition` and strong convexity 1.

    Args:
        samples: Number n of rows, at least `features`.
        features: Number of columns.
        condition: Largest eigenvalue, at least 1.
        noise: Standard deviation.
        seed: The same seed gives the same data.

    Returns:
        The samples, with the coefficients as `truth`.

    >>> import burlab as bl
    >>> data = bl.data.synthetic_regression(50, 3, condition=100.0)
    >>> f = bl.problems.least_squares(data.features, data.targets)
    >>> round(f.smoothness, 9), round(f.strong_convexity, 9)
    (100.0, 1.0)
    """
    _check(samples, features, least=features)
    condition = number_in(_CONDITION, condition, "condition")
    noise = number_in(NOT_NEGATIVE, noise, "noise")
    rng = np.random.default_rng(whole(seed, "seed", 0))
    left, _ = np.linalg.qr(rng.normal(size=(samples, features)))
    right, _ = np.linalg.qr(rng.normal(size=(features, features)))
    a = left * np.sqrt(samples * np.geomspace(1.0, condition, features)) @ right.T
    truth = rng.normal(size=features)
    targets = a @ truth + noise * rng.normal(size=samples)
    return Dataset(a, targets, _names(features), (), f"synthetic regression, seed {shown(seed)}", truth)


def synthetic_classes(
    samples: int = 200, features: int = 10, *, classes: int = 2, separation: float = 3.0, seed: int = 0
) -> Dataset:
    """Classes that are Gaussian clouds of unit variance around random centres.

    Args:
        samples: Number of rows; the classes have equal sizes, up to one sample.
        features: Number of columns.
        classes: Number of classes, at least 2.
        separation: Root mean square of the distance between two centres.
        seed: The same seed gives the same data.

    Returns:
        The samples, with the centres as `truth`.

    >>> import burlab as bl
    >>> bl.data.synthetic_classes(6, 2, classes=3).targets
    array([0, 0, 1, 1, 2, 2])
    """
    _check(samples, features, least=whole(classes, "classes", 2))
    separation = number_in(FINITE, separation, "separation")
    rng = np.random.default_rng(whole(seed, "seed", 0))
    centres = rng.normal(size=(classes, features))
    gaps = centres[:, None] - centres
    centres *= separation / np.sqrt(np.sum(gaps**2) / (classes * (classes - 1)))
    targets = np.sort(np.arange(samples) % classes)
    a = centres[targets] + rng.normal(size=(samples, features))
    names = tuple(f"class {k}" for k in range(classes))
    return Dataset(a, targets, _names(features), names, f"synthetic classes, seed {shown(seed)}", centres)


def _check(samples: int, features: int, least: int) -> None:
    whole(features, "features", 1)
    if whole(samples, "samples", 1) < least:
        raise ArgumentError(
            f"{shown(samples)} samples of {shown(features)} features are too few: pass samples >= {shown(least)}."
        )
    check_fits(8 * max(samples, features) * features, f"{shown(samples)} samples of {shown(features)} features")


def _names(features: int) -> tuple[str, ...]:
    return tuple(f"x{k}" for k in range(features))
