"""Planes through the space of parameters, over which a loss is drawn."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from burlab.errors import ArgumentError, NonFiniteError, ShapeError
from burlab.typing import Numbers

from .coordinate_names import coordinate_names
from .flat_objective import FlatObjective
from .lanczos import lanczos

_STEPS = 60  # Hessian-vector products for the eigenvectors of a plane


class Directions(NamedTuple):
    """Two directions.

    vectors: float64, shape (2, d). labels: of the axes. shares: of the path's variation that each explains, shape (2,);
    None for directions that do not come from a path.
    """

    vectors: Numbers
    labels: tuple[str, str]
    shares: Numbers | None = None


def axes(objective: FlatObjective) -> Directions:
    """The two parameters themselves."""
    x, y = coordinate_names(objective.point.tree)
    return Directions(np.eye(2), (x, y))


def random(objective: FlatObjective, seed: int) -> Directions:
    """Two normal random directions, each filter as long as that of the point: Li et al. 2018, arXiv:1712.09913, 4.

    A filter is a row along the first axis of a leaf with two axes or more. As in the paper's code, leaves with one axis
    or none (biases, gains) do not move, unless there are no others: then each is one filter.
    """
    rng = np.random.default_rng(seed)
    only_vectors = all(leaf.ndim < 2 for leaf in objective.point.leaves)
    found: list[Numbers] = []
    for _ in range(2):
        pieces: list[Numbers] = []
        for leaf in objective.point.leaves:
            filters = np.asarray(leaf, np.float64).reshape(leaf.shape[0] if leaf.ndim > 1 else 1, -1)
            d = rng.standard_normal(filters.shape)
            lengths = np.linalg.norm(filters, axis=1) / np.maximum(np.linalg.norm(d, axis=1), 1e-300)
            still = leaf.ndim < 2 and not only_vectors
            pieces.append(np.zeros(leaf.size) if still else (d * lengths[:, None]).ravel())
        found.append(np.concatenate(pieces))
    vectors = np.stack(found)
    if not vectors.any():  # the point is 0: there is no length to follow
        vectors = rng.standard_normal(vectors.shape) / np.sqrt(max(vectors.shape[1], 1))
    return Directions(vectors, ("random direction 1", "random direction 2"))


def curvature(objective: FlatObjective, seed: int) -> Directions:
    """The eigenvectors of the Hessian with the largest absolute eigenvalues, by Lanczos' method."""
    start = np.random.default_rng(seed).standard_normal(objective.x.size)
    found = lanczos(objective.hvp, start, _STEPS)
    if not np.isfinite(found.values).all():
        raise NonFiniteError("the Hessian is not finite at this point. Pass another point, or plane='random'.")
    first, second = np.argsort(-np.abs(found.values))[:2] if found.values.size > 1 else (0, 0)
    if first == second:
        raise ArgumentError("the Hessian is a multiple of the identity here: all planes are alike. Use plane='random'.")
    labels = [f"eigenvector, λ = {found.values[k]:.4g}" for k in (first, second)]
    return Directions(found.vectors[[first, second]], (labels[0], labels[1]))


def path(points: Numbers) -> Directions:
    """The principal axes of a path seen from its end. points: shape (n, d), n > 2. Li et al. 2018, 7."""
    if len(points) < 3:
        raise ArgumentError("the run has not gone far enough for axes of its path. Do some steps first.")
    _, lengths, vectors = np.linalg.svd(points - points[-1], full_matrices=False)
    total = float((lengths**2).sum())
    if not total > 0:
        raise ArgumentError("all points of the run are equal, so its path has no axes. Use plane='random'.")
    shares = lengths[:2] ** 2 / total
    labels = [f"principal axis {k + 1}, {shares[k]:.1%}" for k in range(2)]
    return Directions(vectors[:2], (labels[0], labels[1]), shares)


def given(objective: FlatObjective, pair: Sequence[Any]) -> Directions:
    """Two trees or vectors of a user's own."""
    if len(pair) != 2:
        raise ArgumentError(f"plane has {len(pair)} directions, expected two of x's structure, or a name.")
    vectors: list[Numbers] = []
    for direction in pair:
        vector = objective.flat(direction)
        if vector.shape != objective.x.shape:
            raise ShapeError(f"a direction has {vector.size} entries, but x has {objective.x.size}.")
        vectors.append(vector)
    if np.linalg.matrix_rank(np.stack(vectors)) < 2:
        raise ArgumentError("the two directions are parallel, or one is 0: they span no plane.")
    return Directions(np.stack(vectors), ("direction 1", "direction 2"))
