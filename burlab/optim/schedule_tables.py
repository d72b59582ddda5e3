"""Schedules from tables, and the refined schedule of a run that is over."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from burlab.errors import ArgumentError
from burlab.graph import Node
from burlab.graph.numpy_api.indexing import asarray
from burlab.runtime.checks.numbers import shown
from burlab.runtime.ranges import POSITIVE, SHARE, number_in
from burlab.typing import ArrayLike


@dataclass(frozen=True)
class table:
    """A value for each step, then the last one. values: at least one finite number.

    >>> import numpy as np, burlab as bl
    >>> bl.optim.table((3.0, 2.0, 1.0))(np.arange(5))
    array([3., 2., 1., 1., 1.])
    """

    values: tuple[float, ...]

    def __post_init__(self) -> None:
        numbers = _numbers(self.values)
        if numbers.ndim != 1 or not numbers.size or not np.all(np.isfinite(numbers)):
            raise ArgumentError(f"values of table are {shown(self.values)}, expected finite numbers, at least one.")
        object.__setattr__(self, "values", tuple(numbers.tolist()))

    def __call__(self, t: float) -> Any:
        """The value at step t."""
        values = np.array(self.values)
        if isinstance(t, Node):
            return asarray(values)[np.clip(t, 0, len(values) - 1).astype(np.int64)]
        return values[np.clip(t, 0, len(values) - 1).astype(np.int64)]


@dataclass(frozen=True)
class refined:
    """The schedule that would have been best for a run of these gradient norms, to repeat it with.

    Defazio, Cutkosky, Mehta and Mishchenko 2023, Algorithm 1, arXiv:2310.07831: with w_t = 1 / |g_t|^2, norms smoothed
    by a median, lr_t is proportional to w_t times the sum of w_p over p > t. It warms up where gradients begin large,
    and falls to 0; constant norms give a straight line down.
    norms: of every step, shape (T,), `run.history["gradient_norm"]` of a run that kept every step; above 0. peak: the
    largest lr. smoothing: width of the median, as a part of T. power: 2 for |g|_2 and SGD, 1 for |g|_1 and Adam.

    >>> import burlab as bl
    >>> bl.optim.refined([2.0, 2.0, 2.0], peak=0.5).values
    (0.5, 0.25, 0.0)
    """

    norms: tuple[float, ...]
    peak: float
    smoothing: float = 0.1
    power: float = 2.0

    def __post_init__(self) -> None:
        given = _numbers(self.norms)
        if given.ndim != 1 or len(given) < 2 or not np.all(np.isfinite(given) & (given > 0)):
            raise ArgumentError(
                "norms of refined hold at least two finite numbers above 0, one for each step. Pass the gradient norms "
                "of a run that kept every step."
            )
        number_in(POSITIVE, self.peak, "peak of refined")
        number_in(SHARE, self.smoothing, "smoothing of refined")
        number_in(POSITIVE, self.power, "power of refined")
        object.__setattr__(self, "norms", tuple(given.tolist()))

    @property
    def values(self) -> tuple[float, ...]:
        """The lr of every step."""
        given = np.array(self.norms)
        half = min(int(self.smoothing * len(given) / 2), len(given) - 1)
        windows = np.lib.stride_tricks.sliding_window_view(np.pad(given, half, mode="reflect"), 2 * half + 1)
        weights = np.median(windows, axis=1) ** -self.power
        rates = weights * (np.cumsum(weights[::-1])[::-1] - weights)
        return tuple((self.peak * (rates / rates.max())).tolist())

    def __call__(self, t: float) -> Any:
        """The value at step t."""
        return table(self.values)(t)


def _numbers(values: ArrayLike) -> "np.ndarray[Any, np.dtype[np.float64]]":
    """The values as an array; an empty one where they are no numbers."""
    try:
        return np.asarray(values, np.float64)
    except (TypeError, ValueError, OverflowError):
        return np.empty(0)
