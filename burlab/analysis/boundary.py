"""The scores of a classifier over the plane of its data."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from burlab.charts.chart import Chart, Dots, Map
from burlab.charts.grid import axes, grid
from burlab.errors import ArgumentError, ShapeError
from burlab.runtime.checks.numbers import whole
from burlab.runtime.checks.text_table import aligned
from burlab.runtime.displayed import Displayed
from burlab.runtime.plain import as_array, as_floats
from burlab.transforms import vmap
from burlab.typing import Numbers

_MARGIN = 0.15  # around the data, in their extent
_SHAPES = ("dot", "triangle", "cross", "ring", "star")


@dataclass(frozen=True, slots=True, eq=False)
class Boundary(Displayed):
    """Scores on a grid, and the data.

    a: float64, shape (columns,). b: (rows,). score: (rows, columns), the class with the highest score, or the score
    itself where there is one. features: (n, 2). labels: (n,).
    """

    a: Numbers
    b: Numbers
    score: Numbers
    features: Numbers
    labels: Any

    def __str__(self) -> str:
        names, counts = np.unique(self.labels, return_counts=True)
        classes = ", ".join(f"{name}: {count:,}" for name, count in zip(names, counts, strict=True))
        return aligned([
            ("boundary", f"{len(self.a):,} x {len(self.b):,} points"),
            ("feature 0", f"{self.a[0]:.4g} to {self.a[-1]:.4g}"),
            ("feature 1", f"{self.b[0]:.4g} to {self.b[-1]:.4g}"),
            ("score", f"{np.nanmin(self.score):.4g} to {np.nanmax(self.score):.4g}"),
            ("data", f"{len(self.labels):,} in classes {classes}"),
        ])  # fmt: skip

    __repr__ = __str__

    def chart(self) -> Chart:
        """A map of the scores, with the data as dots, one shape and colour for each class.

        Where there are two classes, the map has their colours, which part where the score changes sides.
        """
        dots: list[Dots] = []
        for k, label in enumerate(sorted(set(self.labels.tolist()))):
            mine = self.features[self.labels == label]
            dots.append(Dots(mine[:, 0], mine[:, 1], f"class {label}", k, _SHAPES[k % len(_SHAPES)]))
        x, y = axes((self.a[[0, -1]], self.b[[0, -1]]), ("feature 0", "feature 1"))
        middle = self._middle() if len(dots) <= 2 else None
        part = Map("boundary", "decision boundary", x, y, self.score, dots=tuple(dots), equal=True, middle=middle)
        return Chart((part,), about="Decision boundary")

    def _middle(self) -> float:
        """The score between two classes: a half of probabilities, and of their numbers; 0 of logits."""
        known = self.score[np.isfinite(self.score)]
        return 0.5 if np.all((known >= 0) & (known <= 1)) else 0.0


def boundary(
    predict: Callable[[Any], Any], features: ArrayLike, labels: ArrayLike, *, resolution: int = 81
) -> Boundary:
    """Evaluate a classifier on a grid around two-dimensional data.

    Args:
        predict: (2,) -> a number, such as a logit or a probability, or a vector of one score per class; it is traced.
        features: shape (n, 2).
        labels: shape (n,), the class of each row.
        resolution: points along each axis.

    Raises:
        ShapeError: where features, labels or a score have another shape.
        ArgumentError: where features are not finite.

    >>> data = np.array([[0.0, 0.0], [1.0, 1.0]])
    >>> boundary(lambda p: p[0] + 2.0 * p[1], data, [0, 1], resolution=2).score.round(2)
    array([[-0.45,  0.85],
           [ 2.15,  3.45]])
    """
    points = as_floats(features, "features")
    classes = as_array(labels, "labels")
    if points.ndim != 2 or points.shape[1] != 2 or not len(points):
        raise ShapeError(f"features have shape {points.shape}, expected (n, 2): a plane has two of them.")
    if classes.shape != points.shape[:1]:
        raise ShapeError(f"labels have shape {classes.shape}, expected ({len(points)},), one for each row of features.")
    if not np.isfinite(points).all():
        raise ArgumentError("features must be finite; they hold nan or inf. Leave these rows out.")
    size = whole(resolution, "resolution", 2, 10_000)
    low, high = points.min(axis=0), points.max(axis=0)
    spare = _MARGIN * np.where(high > low, high - low, 1.0)
    a, b, at = grid(np.stack([low - spare, high + spare], axis=1), size)
    scores: Any = np.asarray(vmap(predict)(at), np.float64)
    if scores.ndim == 2:
        scores = scores.argmax(axis=1).astype(np.float64) if scores.shape[1] > 1 else scores[:, 0]
    if scores.shape != (len(at),):
        raise ShapeError(f"predict gave shape {scores.shape[1:]} for one point, expected a number or a vector.")
    return Boundary(a, b, scores.reshape(size, size), points, classes)
