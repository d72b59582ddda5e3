"""The gradients of single samples, compared with their mean."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from burlab.charts.chart import Axis, Chart, Dots, Mark, Plot
from burlab.errors import ArgumentError
from burlab.graph import tree
from burlab.problems.sampling import as_indices
from burlab.runtime.checks.text_table import aligned
from burlab.runtime.displayed import Displayed
from burlab.runtime.plain import is_sparse
from burlab.typing import ArrayLike, Indices, Numbers, Tree

from .flat_objective import FlatObjective, Subject

_BYTES = 2**26  # of per-sample gradients at once


@dataclass(frozen=True, slots=True, eq=False)
class Samples(Displayed):
    """Gradients of n samples at a point; the regularizer, which belongs to none, is left out.

    indices: int64, shape (n,). norms: float64, (n,), their Euclidean norms. cosines: (n,), to their mean; NaN for
    a gradient that is 0. mean_norm: of the mean. variance: the sum over the entries of the samples' variance,
    tr(Sigma), unbiased.
    """

    indices: Indices
    norms: Numbers
    cosines: Numbers
    mean_norm: float
    variance: float

    @property
    def noise_scale(self) -> float:
        """tr(Sigma) / |g|^2: the batch size at which the noise of a gradient is as large as the gradient.

        McCandlish et al. 2018, An empirical model of large-batch training, arXiv:1812.06162, B_simple, with the
        unbiased estimate of |g|^2; inf where that is not positive.
        """
        square = self.mean_norm**2 - self.variance / len(self.norms)
        return self.variance / square if square > 0 else np.inf

    @property
    def against(self) -> Any:
        """The samples that push against the step, int64: those of negative cosine to the mean, the lowest first."""
        order = np.argsort(self.cosines, kind="stable")
        return self.indices[order][self.cosines[order] < 0]

    def __str__(self) -> str:
        low, middle, high = np.quantile(self.norms, (0.0, 0.5, 1.0)) if len(self.norms) else (np.nan,) * 3
        return aligned([
            ("samples", f"{len(self.norms):,}"),
            ("norms", f"{low:.4g} to {high:.4g}, median {middle:.4g}"),
            ("norm of the mean", f"{self.mean_norm:.4g}"),
            ("variance", f"{self.variance:.4g}"),
            ("noise scale", f"{self.noise_scale:.4g}"),
            ("against the step", f"{len(self.against):,}"),
        ])  # fmt: skip

    __repr__ = __str__

    def chart(self) -> Chart:
        """Every sample as a dot: its norm, and its cosine to the mean.

        >>> import burlab as bl
        >>> problem = bl.FiniteSum(lambda x, a: 0.5 * np.sum((x - a) ** 2), np.eye(3))
        >>> [part.name for part in samples(problem, np.zeros(3)).chart().parts]
        ['cosine']
        """
        hints = tuple(f"sample {k}" for k in self.indices)
        dots = Dots(self.norms, self.cosines, "samples", 0, "dot", hints)
        scale, many = self.noise_scale, len(self.against)
        noise = f"noise scale {scale:.4g}" if np.isfinite(scale) else "the mean is lost in the noise"
        note = f"{noise}; {many:,} of {len(self.norms):,} push against the step"
        log = bool((self.norms > 0).all()) and float(self.norms.max()) > 100 * float(self.norms.min())
        part = Plot(
            "cosine",
            "gradients of single samples",
            Axis("norm", log=log),
            Axis("cosine to the mean", low=-1.05, high=1.05),
            dots=(dots,),
            marks=(Mark(0.0, axis="y"), Mark(self.mean_norm, "norm of the mean")),
            note=note,
            tall=2.0,
        )
        return Chart((part,), about=note)


def samples(problem: Subject, x: Tree = None, *, indices: ArrayLike | None = None) -> Samples:
    """Norms of per-sample gradients, their cosines to the mean, and the noise scale.

    problem: a `FiniteSum`, or a run of one, at its point. indices: at least two samples; None for all.
    Gradients are computed twice, in blocks of 64 MB: once for their mean, once for the rest.

    >>> import burlab as bl
    >>> problem = bl.FiniteSum(lambda x, a: 0.5 * np.sum((x - a) ** 2), np.array([[1.0, 0.0], [3.0, 0.0], [-1.0, 0.0]]))
    >>> found = samples(problem, np.zeros(2))
    >>> found.norms, found.cosines, found.mean_norm, found.against
    (array([1., 3., 1.]), array([ 1.,  1., -1.]), 1.0, array([2]))
    """
    objective = FlatObjective.of(problem, x)
    summed = objective.finite_sum
    chosen = np.arange(len(summed)) if indices is None else as_indices(indices, len(summed))
    if len(chosen) < 2:
        raise ArgumentError(f"{len(chosen)} samples have no variance. Pass at least two indices.")
    blocks = blocks_of(chosen, objective)
    total = sum((gradients(objective, block).sum(axis=0) for block in blocks), np.zeros(objective.x.size))
    mean = total / len(chosen)
    squares, products, apart = (np.empty(len(chosen)) for _ in range(3))
    at = 0
    for block in blocks:
        rows = gradients(objective, block)
        part = slice(at, at + len(block))
        squares[part], products[part] = (rows**2).sum(axis=1), rows @ mean
        apart[part] = ((rows - mean) ** 2).sum(axis=1)
        at += len(block)
    norms, length = np.sqrt(squares), float(np.linalg.norm(mean))
    with np.errstate(invalid="ignore", divide="ignore"):
        cosines = np.where(norms * length > 0, products / (norms * length), np.nan)
    return Samples(chosen, norms, np.clip(cosines, -1, 1), length, float(apart.sum() / (len(chosen) - 1)))


def blocks_of(indices: Indices, objective: FlatObjective) -> list[Indices]:
    """The samples in blocks, whose gradients take 64 MB at most."""
    return np.array_split(indices, max(-(-indices.size * objective.x.size * 8 // _BYTES), 1))


def gradients(objective: FlatObjective, indices: Indices) -> Numbers:
    """The gradients of some samples, float64, shape (n, d)."""
    found: Any = objective.finite_sum.per_sample_grads(objective.point.tree, indices)
    if is_sparse(found):
        return np.asarray(found.toarray(), np.float64)
    rows = tree.flatten(found)[0]
    return np.concatenate([np.asarray(leaf, np.float64).reshape(len(indices), -1) for leaf in rows], axis=1)
