"""Samples with targets: numbers, or classes."""

from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True, slots=True, eq=False)
class Dataset:
    """Samples and their targets.

    Args:
        features: Shape (n, d), float64.
        targets: Shape (n,): float64, or the number of a class, int64.
        feature_names: d words.
        class_names: A word per class, none where the targets are numbers.
        source: Origin of the data.
        truth: Of synthetic data: coefficients, shape (d,), or the centres of classes, shape (k, d).
    """

    features: Array
    targets: Array
    feature_names: tuple[str, ...]
    class_names: tuple[str, ...]
    source: str
    truth: Array | None = None

    def __repr__(self) -> str:
        n, d = self.features.shape
        what = f"{len(self.class_names)} classes" if self.class_names else "numbers"
        return f"<Dataset of {n} samples, {d} features, {what}: {self.source}>"
