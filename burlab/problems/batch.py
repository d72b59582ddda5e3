"""Batches whose size changes while a run goes on, and batches of samples that lie near each other."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from burlab.errors import ArgumentError
from burlab.runtime.checks.callable import check_takes
from burlab.runtime.checks.numbers import real, whole

MAX_BATCH = 2**62  # samples


@dataclass(frozen=True, slots=True)
class Batch:
    """The size of a batch as a live hyperparameter: `run.hyper["batch"] = 64` counts from the next step on.

    The kernels are the same for all sizes. A step draws a subset (`sampler="nice"`) unless another sampler is given;
    "reshuffle" and "sequential", which go through whole epochs, are refused. The column "batch" of the history has the
    size of each step, and "samples" counts it. In an update `f.batch` is traced, and `f.indices`, `f.weights` and
    `f.per_sample_grads(x)` have `most` rows: the first `f.batch` are the step's, and gradients behind them are 0.

    Args:
        size: Samples of a step: an int, or a schedule of t, rounded and clipped to [1, most]. A rule that chooses
            sizes itself, as `AdAdaGrad` does, begins with it.
        most: The largest size, for which memory is reserved. None: all samples.

    Raises:
        ArgumentError: For a size that is not between 1 and `most`.

    >>> import numpy as np, burlab as bl
    >>> problem = bl.FiniteSum(lambda x, a: np.sum((x - a) ** 2), np.arange(8.0))
    >>> run = bl.minimize(problem, np.zeros(1), bl.optim.GD(0.1), batch=bl.Batch(lambda t: 2.0**t), steps=4)
    >>> run.hyper["batch"] = 3; run.step(2)
    >>> run.history["batch"], run.history["samples"]
    (array([1., 2., 4., 8., 3., 3.]), array([ 1,  3,  7, 15, 18, 21]))
    """

    size: int | Callable[[Any], Any]
    most: int | None = None

    def __post_init__(self) -> None:
        if self.most is not None:
            whole(self.most, "Batch.most", 1, MAX_BATCH)
        if callable(self.size):
            check_takes(
                self.size, "Batch.size", "the step alone", "A schedule takes t, such as lambda t: 8 + t // 100."
            )
            return
        whole(self.size, "Batch.size", 1)
        if self.most is not None and self.size > self.most:
            raise ArgumentError(f"Batch.size={self.size} is more than most={self.most}. Pass a larger most.")

    def of(self, samples: int) -> "Batch":
        """Return the batch for a sum of so many samples. Raises ArgumentError if it has fewer."""
        most = samples if self.most is None else self.most
        if not callable(self.size) and self.size > most:
            raise ArgumentError(f"Batch.size={self.size} is more than the {samples} samples. Pass a smaller one.")
        return Batch(self.size, most)

    @property
    def first(self) -> int:
        """The size of the first step."""
        planned, most = self._planned(), self.most or MAX_BATCH
        return int(max(1, min(most, np.floor(planned + 0.5))))

    def _planned(self) -> float:
        """Return the size at t = 0, before rounding."""
        if not callable(self.size):
            return self.size
        number = np.asarray(self.size(0))
        if number.shape:
            raise ArgumentError(f"Batch.size gave shape {number.shape} for t = 0, expected a number for each t.")
        return real(number.item(), "the first size of Batch")


@dataclass(frozen=True, slots=True)
class BlockShuffle:
    """A sampler that goes through blocks of neighbours: `bl.minimize(..., sampler=bl.BlockShuffle(4096))`.

    In every epoch each sample comes once: blocks of `size` consecutive samples in a new order, and the samples of each
    block in a new order. So data on a disk are read a block at a time, where "reshuffle" reads a page for every sample.
    With one block of all samples it is such a reshuffle; samples of one block that resemble each other make the
    gradients of neighbouring steps resemble each other, so shuffle sorted data once when they are written.

    Args:
        size: Samples of a block: as many as make some megabytes. The last n modulo `size` samples are a shorter block.

    Raises:
        ArgumentError: For a size that is not a whole number of at least 1.

    >>> import numpy as np, burlab as bl
    >>> problem = bl.FiniteSum(lambda x, a: 0.5 * (x - a) ** 2, np.arange(1000.0))
    >>> run = bl.minimize(problem, 0.0, bl.optim.GD(0.5), batch=10, sampler=bl.BlockShuffle(100), steps=300)
    >>> bool(abs(run.x - 499.5) < 500)
    True
    """

    size: int

    def __post_init__(self) -> None:
        whole(self.size, "BlockShuffle.size", 1, MAX_BATCH)
