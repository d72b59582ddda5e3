"""Clusters of points by k-means."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from burlab.errors import ArgumentError, ShapeError
from burlab.runtime.checks.numbers import shown, whole
from burlab.runtime.extras import late
from burlab.runtime.plain import as_floats
from burlab.typing import ArrayLike, Numbers

scipy_sparse: Any = late("scipy.sparse")
_BLOCK_BYTES = 1 << 19  # of the distances that are in memory at one time: they stay in the cache of a core
_Labels = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True, slots=True, eq=False)
class Clusters:
    """Result of `kmeans`.

    centers: shape (k, d), float64. labels: the nearest center of each point, shape (n,), int64. inertia: sum of the
    squared distances to them. steps: of Lloyd's algorithm. converged: True if the last one changed no label, or
    moved no center.
    """

    centers: Numbers
    labels: _Labels
    inertia: float
    steps: int
    converged: bool

    def nearest(self, points: ArrayLike) -> _Labels:
        """Return the nearest center of each point.

        Args:
            points: Shape (n, d).

        Returns:
            Numbers of centers, shape (n,), int64; the lowest one where two are as near.

        Raises:
            ShapeError: For points of another dimension.
        """
        return _assigned(_checked(points, self.centers.shape[1]), self.centers)

    def __repr__(self) -> str:
        sizes = np.bincount(self.labels, minlength=len(self.centers)).tolist()
        end = "" if self.converged else ", not converged"
        return f"<Clusters of {shown(sizes)} points, inertia {self.inertia:.6g}, {self.steps} steps{end}>"


def kmeans(
    points: ArrayLike,
    clusters: int,
    *,
    start: ArrayLike | None = None,
    restarts: int = 10,
    steps: int = 300,
    seed: int = 0,
) -> Clusters:
    """Divide points into clusters around their means, so that the sum of squared distances is small.

    Lloyd 1982, Least squares quantization in PCM, from the starts of k-means++ (Arthur and Vassilvitskii 2007,
    SODA): each further center is a point, drawn with probability in proportion to its squared distance from the nearest
    center so far. A cluster that is left without points gets the point that is farthest from its center.

    Args:
        points: Shape (n, d); a tree of parameters or samples is stacked before.
        clusters: Number k of clusters, from 1 to n.
        start: Centers to start from, shape (k, d), in place of k-means++.
        restarts: Number of starts, of which the result with the lowest inertia is returned; one if `start` is given.
        steps: Steps of Lloyd's algorithm at most.
        seed: Of k-means++.

    Returns:
        Centers, labels and inertia.

    Raises:
        ArgumentError: For more clusters than points, or points that are not finite.
        ShapeError: For points or a start of another shape.

    >>> import burlab as bl
    >>> bl.analysis.kmeans([[0.0], [1.0], [9.0], [10.0], [11.0]], 2)
    <Clusters of [2, 3] points, inertia 2.5, 2 steps>
    """
    x = _checked(points)
    count = whole(clusters, "clusters", 1, len(x))
    steps, restarts = whole(steps, "steps", 1), whole(restarts, "restarts", 1)
    shift = x.mean(axis=0)  # small numbers lose fewer digits in |x|^2 - 2 x c + |c|^2
    x = x - shift
    if start is None:
        generator = np.random.default_rng(whole(seed, "seed", 0))
        starts = (_spread_centers(x, count, generator) for _ in range(restarts))
    else:
        given = _checked(start, x.shape[1], "start")
        if len(given) != count:
            raise ShapeError(
                f"start has shape {given.shape}, expected ({count}, {x.shape[1]}): a row for each cluster."
            )
        starts = (given - shift,)
    best = min((_lloyd(x, centers, steps) for centers in starts), key=lambda found: found.inertia)
    order = np.arange(count) if start is not None else np.lexsort(best.centers.T[::-1])
    places = np.argsort(order)
    return Clusters(best.centers[order] + shift, places[best.labels], best.inertia, best.steps, best.converged)


def _spread_centers(x: Numbers, count: int, generator: np.random.Generator) -> Numbers:
    """Return centers of k-means++, shape (count, d)."""
    chosen = [int(generator.integers(len(x)))]
    nearest = _squares(x - x[chosen[0]])
    while len(chosen) < count:
        total = nearest.sum()
        place = generator.choice(len(x), p=nearest / total) if total > 0 else generator.integers(len(x))
        chosen.append(int(place))
        nearest = np.minimum(nearest, _squares(x - x[chosen[-1]]))
    return x[chosen]


def _squares(x: Numbers) -> Numbers:
    """Return the squared norm of each row."""
    return np.einsum("ij,ij->i", x, x)


def _lloyd(x: Numbers, centers: Numbers, steps: int) -> Clusters:
    labels = np.full(len(x), -1)
    step = 0
    for step in range(1, steps + 1):
        before, labels = labels, _assigned(x, centers)
        last, centers = centers, _means(x, labels, centers)
        if np.array_equal(labels, before) or np.array_equal(centers, last):
            return Clusters(centers, labels, _inertia(x, labels, centers), step, True)
    labels = _assigned(x, centers)
    return Clusters(centers, labels, _inertia(x, labels, centers), step, False)


def _assigned(x: Numbers, centers: Numbers) -> _Labels:
    """Return the nearest center of each point, by |c|^2 - 2 x c."""
    block = max(_BLOCK_BYTES // (8 * len(centers)), 1)
    squares, factors = _squares(centers), np.ascontiguousarray(-2 * centers.T)
    labels, table = np.empty(len(x), np.int64), np.empty((min(block, len(x)), len(centers)))
    for first in range(0, len(x), block):
        rows = x[first : first + block]
        scores = np.matmul(rows, factors, out=table[: len(rows)])
        scores += squares
        np.argmin(scores, axis=1, out=labels[first : first + block])
    return labels


def _means(x: Numbers, labels: _Labels, centers: Numbers) -> Numbers:
    """Return the mean of each cluster; an empty one takes the point that is farthest from its center."""
    count = len(centers)
    sizes = np.bincount(labels, minlength=count)
    empty = np.flatnonzero(sizes == 0)
    if empty.size:
        distances, labels = _squares(x - centers[labels]), labels.copy()
        labels[np.argsort(-distances, kind="stable")[: empty.size]] = empty
        sizes = np.bincount(labels, minlength=count)
    members = scipy_sparse.csr_array((np.ones(len(x)), labels, np.arange(len(x) + 1)), shape=(len(x), count))
    return (members.T @ x) / np.maximum(sizes, 1)[:, None]


def _inertia(x: Numbers, labels: _Labels, centers: Numbers) -> float:
    return float(_squares(x - centers[labels]).sum())


def _checked(points: ArrayLike, dim: int | None = None, name: str = "points") -> Numbers:
    found = as_floats(points, f"{name} of kmeans")
    if found.ndim != 2 or not found.size or (dim is not None and found.shape[1] != dim):
        raise ShapeError(f"{name} of kmeans has shape {found.shape}, expected (n, {'d' if dim is None else dim}).")
    if not np.isfinite(found).all():
        row = int(np.flatnonzero(~np.isfinite(found).all(axis=1))[0])
        raise ArgumentError(
            f"row {row} of {name} of kmeans is {shown(found[row])}, expected finite numbers. Remove it."
        )
    return found
