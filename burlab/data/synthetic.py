"""Data made with a seed, of known truth and conditioning."""

import numpy as np

from burlab.errors import ArgumentError

from .dataset import Dataset


def synthetic_regression(
    samples: int = 200, features: int = 10, *, condition: float = 10.0, noise: float = 0.1, seed: int = 0
) -> Dataset:
    """Numbers that depend linearly on random features, plus Gaussian noise.

    The eigenvalues of A^T A / n are exactly evenly spaced in their logarithms from 1 to `condition`, so least squares
    on these data has smoothness `condition` and strong convexity 1. samples: n, at least `features`. noise: standard
    deviation. The same seed gives the same data.

    >>> import burlab as bl
    >>> data = bl.data.synthetic_regression(50, 3, condition=100.0)
    >>> f = bl.problems.least_squares(data.features, data.targets)
    >>> round(f.smoothness, 9), round(f.strong_convexity, 9)
    (100.0, 1.0)
    """
    _check(samples, features, least=features)
    if not (1 <= condition < np.inf and 0 <= noise < np.inf):
        raise ArgumentError(f"condition={condition!r} must be at least 1, and noise={noise!r} at least 0.")
    rng = np.random.default_rng(seed)
    left, _ = np.linalg.qr(rng.normal(size=(samples, features)))
    right, _ = np.linalg.qr(rng.normal(size=(features, features)))
    a = left * np.sqrt(samples * np.geomspace(1.0, condition, features)) @ right.T
    truth = rng.normal(size=features)
    targets = a @ truth + noise * rng.normal(size=samples)
    return Dataset(a, targets, _names(features), (), f"synthetic regression, seed {seed}", truth)


def synthetic_classes(
    samples: int = 200, features: int = 10, *, classes: int = 2, separation: float = 3.0, seed: int = 0
) -> Dataset:
    """Classes that are Gaussian clouds of unit variance around random centres.

    separation: root mean square of the distance between two centres. The classes have equal sizes, up to one sample.
    The same seed gives the same data.

    >>> import burlab as bl
    >>> bl.data.synthetic_classes(6, 2, classes=3).targets
    array([0, 0, 1, 1, 2, 2])
    """
    if classes < 2:
        raise ArgumentError(f"classes={classes!r} must be at least 2.")
    _check(samples, features, least=classes)
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(classes, features))
    gaps = centres[:, None] - centres
    centres *= separation / np.sqrt(np.sum(gaps**2) / (classes * (classes - 1)))
    targets = np.sort(np.arange(samples) % classes)
    a = centres[targets] + rng.normal(size=(samples, features))
    names = tuple(f"class {k}" for k in range(classes))
    return Dataset(a, targets, _names(features), names, f"synthetic classes, seed {seed}", centres)


def _check(samples: int, features: int, least: int) -> None:
    if features < 1 or samples < least:
        raise ArgumentError(
            f"{samples} samples of {features} features are too few: pass features >= 1 and samples >= {least}."
        )


def _names(features: int) -> tuple[str, ...]:
    return tuple(f"x{k}" for k in range(features))
