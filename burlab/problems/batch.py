"""A batch whose size changes while a run goes on."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from burlab.errors import ArgumentError
from burlab.runtime.checks.callable import check_takes
from burlab.runtime.checks.numbers import real, whole

_MOST = 2**62


@dataclass(frozen=True, slots=True)
class Batch:
    """The size of a batch as a live number of a run: `run.hyper["batch"] = 64` counts from the next step on.

    size: samples of a step at first, or a schedule of t, which is rounded and kept between 1 and `most`. A rule that
    wishes for sizes itself, as `AdAdaGrad` does, begins with it. most: the largest size, for which memory is taken;
    None: all samples. Kernels are the same for all sizes: none is compiled as the size changes. A step draws a subset,
    `sampler="nice"`, unless another sampler says otherwise; orders of whole epochs ("reshuffle", "sequential") there
    are none. The column "batch" of the history has the size of each step, and "samples" counts it.

    In an update `f.batch` is traced, and `f.indices`, `f.weights` and `f.per_sample_grads(x)` have `most` rows, of
    which the first `f.batch` are the step's: gradients behind them are 0.

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
            whole(self.most, "Batch.most", 1, _MOST)
        if callable(self.size):
            check_takes(
                self.size, "Batch.size", "the step alone", "A schedule takes t, such as lambda t: 8 + t // 100."
            )
            return
        whole(self.size, "Batch.size", 1)
        if self.most is not None and self.size > self.most:
            raise ArgumentError(f"Batch.size={self.size} is more than most={self.most}. Pass a larger most.")

    def of(self, samples: int) -> "Batch":
        """The same for a sum of so many samples. Raises ArgumentError where there are not as many."""
        most = samples if self.most is None else self.most
        if not callable(self.size) and self.size > most:
            raise ArgumentError(f"Batch.size={self.size} is more than the {samples} samples. Pass a smaller one.")
        return Batch(self.size, most)

    @property
    def first(self) -> int:
        """The size of the first step."""
        planned, most = self._planned(), self.most or _MOST
        return int(max(1, min(most, np.floor(planned + 0.5))))

    def _planned(self) -> float:
        """The size at t = 0, as it is."""
        if not callable(self.size):
            return self.size
        number = np.asarray(self.size(0))
        if number.shape:
            raise ArgumentError(f"Batch.size gave shape {number.shape} for t = 0, expected a number for each t.")
        return real(number.item(), "the first size of Batch")
