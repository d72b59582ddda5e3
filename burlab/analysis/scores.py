"""Scores before training: the difficulty of samples, and how well a network will learn."""

from collections.abc import Iterable, Iterator

import numpy as np

from burlab.errors import ArgumentError, ShapeError
from burlab.runtime.checks.numbers import shown, whole
from burlab.runtime.plain import as_array, as_floats
from burlab.typing import ArrayLike, Numbers, Tree

from .clusters import kmeans
from .flat_objective import FlatObjective, Problem, Subject
from .herding import checked_rows
from .samples import blocks_of, gradients


def el2n(scores: ArrayLike, labels: ArrayLike) -> Numbers:
    """The error of every sample, |softmax(scores) - one-hot label|, float64 of shape (n,): large for hard samples.

    Paul, Ganguli and Dziugaite 2021, Deep learning on a data diet, arXiv:2107.07075. scores: (n, classes), before the
    softmax, of a network after a few epochs; take the mean over several networks. labels: (n,), integers. Raises
    ShapeError, ArgumentError.

    >>> el2n(np.array([[0.0, 0.0], [50.0, 0.0]]), np.array([1, 0])).round(3)
    array([0.707, 0.   ])
    """
    logits, classes = as_floats(scores, "scores of el2n"), as_array(labels, "labels of el2n")
    if logits.ndim != 2 or classes.shape != logits.shape[:1]:
        raise ShapeError(
            f"el2n got scores {logits.shape} and labels {classes.shape}, expected (n, classes) and (n,): "
            "the scores of n samples before the softmax, and their classes."
        )
    if classes.dtype.kind not in "iu" or not np.all((classes >= 0) & (classes < logits.shape[1])):
        raise ArgumentError(f"labels of el2n are not all integers from 0 to {logits.shape[1] - 1}.")
    shares = np.exp(logits - logits.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    shares[np.arange(len(classes)), classes] -= 1
    return np.linalg.norm(shares, axis=1)


def grand(problem: Problem, starts: Iterable[Tree]) -> Numbers:
    """The mean norm of every sample's gradient at several starts, float64 of shape (n,): large for samples that matter.

    GraNd, Paul, Ganguli and Dziugaite 2021, arXiv:2107.07075. problem: a `FiniteSum`. starts: points such as networks
    at different random initial parameters, at least one. Cost: one gradient of every sample at every start, in blocks
    of 64 MB.

    >>> import burlab as bl
    >>> problem = bl.FiniteSum(lambda x, a: 0.5 * np.sum((x - a) ** 2), np.array([1.0, 4.0]))
    >>> grand(problem, [np.zeros(1), np.ones(1)])
    array([0.5, 3.5])
    """
    if not isinstance(starts, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance] - users pass anything
        raise ArgumentError(f"starts must be a list of points, such as [x0, x1]; got {shown(starts)}.")
    norms = [np.concatenate([np.linalg.norm(rows, axis=1) for rows in _rows(problem, x)]) for x in starts]
    if not norms:
        raise ArgumentError("grand got no start. Pass at least one point.")
    return np.mean(norms, axis=0)


def data_scores(points: ArrayLike, prototypes: int, *, seed: int = 0) -> Numbers:
    """Return 1 - cos of the angle between each point and its nearest prototype: large for unusual points.

    Sorscher et al. 2022, Beyond neural scaling laws, arXiv:2206.14486, section 5: the score needs no labels. Prototypes
    are the directions of the centers of `kmeans` among the directions of the points (spherical k-means).

    Args:
        points: Shape (n, d), such as features of the last layer but one of a network.
        prototypes: Number of prototypes, from 1 to n.
        seed: Of `kmeans`, which starts ten times.

    Returns:
        Scores from 0 to 2, shape (n,), float64.

    Raises:
        ArgumentError: For more prototypes than points, and for points that are 0 or not finite.
        ShapeError: For points that are no matrix.

    >>> import burlab as bl
    >>> bl.analysis.data_scores([[1.0, 0.0], [2.0, 0.0], [0.0, 1.0], [0.0, -3.0]], 3).round(3)
    array([0., 0., 0., 0.])
    """
    x = checked_rows(points, "data_scores")
    prototypes = whole(prototypes, "prototypes", 1, len(x))
    largest = np.abs(x).max(axis=1, keepdims=True)
    if not largest.all():
        row = int(np.flatnonzero(largest == 0)[0])
        raise ArgumentError(f"row {row} of points of data_scores is 0, which has no direction. Remove it.")
    x = x / largest  # no square overflows
    x = x / np.linalg.norm(x, axis=1, keepdims=True)
    centers = kmeans(x, prototypes, seed=seed).centers
    lengths = np.linalg.norm(centers, axis=1, keepdims=True)
    cosines = x @ (centers / np.where(lengths > 0, lengths, 1)).T
    return np.clip(1 - cosines.max(axis=1), 0, 2)


def grad_sign(problem: Subject, x: Tree = None) -> float:
    """Return the agreement of the samples on the sign of every parameter's gradient: mean_k |sum_i sign dl_i / dx_k|.

    GradSign, Zhang and Jia 2022, arXiv:2110.08616: of several networks at their start, the one with the largest score
    is expected to train best. From 0 to n. problem: a `FiniteSum`, or a run of one, at its point. Cost: one gradient
    of every sample, in blocks of 64 MB.

    >>> import burlab as bl
    >>> problem = bl.FiniteSum(lambda x, a: np.sum(a * x), np.array([[1.0, 1.0], [2.0, -1.0], [3.0, 0.5]]))
    >>> grad_sign(problem, np.zeros(2))  # |1 + 1 + 1| and |1 - 1 + 1|
    2.0
    """
    signs = np.zeros(1)
    for rows in _rows(problem, x):
        signs = signs + np.sign(rows).sum(axis=0)
    return float(np.mean(np.abs(signs)))


def _rows(problem: Subject, x: Tree) -> Iterator[Numbers]:
    """The gradients of all samples, block by block, float64 of shape (n, d)."""
    objective = FlatObjective.of(problem, x)
    for block in blocks_of(np.arange(len(objective.finite_sum)), objective):
        yield gradients(objective, block)
