"""Schedules: a hyperparameter as a function of the step, given as a field's value, `Adam(lr=cosine(1e-3, steps=1000))`.

They are small functions with parameters, so they have small letters. Any other function of t in NumPy words, such as
`lambda t: 0.1 / (t + 1)`, is a schedule as well. t is the step, from 0: a number, an array to plot, or traced. A live
number takes over from a schedule, `run.hyper["lr"] = 1e-2`, and None gives back to it.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from burlab.errors import ArgumentError
from burlab.runtime.checks.numbers import real, shown

from .field_ranges import check_numbers


class Schedule:
    """Base class of schedules, whose numbers are checked when one is built."""

    def __post_init__(self) -> None:
        check_numbers(self, every=True)


@dataclass(frozen=True)
class constant(Schedule):
    """The same value at every step; torch's ConstantLR with factor 1.

    >>> import burlab as bl
    >>> bl.optim.constant(0.5)(7)
    0.5
    """

    value: float

    def __call__(self, t: float) -> Any:
        """The value."""
        return self.value + 0.0 * t


@dataclass(frozen=True)
class step(Schedule):
    """start factor^k, with k growing by one every so many steps: torch's StepLR, optax's exponential_decay in stairs.

    Args:
        start: First value.
        every: Steps of one stair.
        factor: Ratio of a stair to the one before.

    >>> import numpy as np, burlab as bl
    >>> bl.optim.step(8.0, every=2, factor=0.5)(np.arange(6))
    array([8., 8., 4., 4., 2., 2.])
    """

    start: float
    every: int
    factor: float = 0.1

    def __call__(self, t: float) -> Any:
        """The value at step t."""
        return self.start * self.factor ** np.divide(t, self.every).astype(np.int64)


@dataclass(frozen=True)
class exponential(Schedule):
    """start factor^(t / every): torch's ExponentialLR, optax's exponential_decay.

    Args:
        start: First value.
        factor: Ratio of two values `every` steps apart.
        every: Steps.

    >>> import numpy as np, burlab as bl
    >>> bl.optim.exponential(8.0, factor=0.25, every=2)(np.arange(4))
    array([8., 4., 2., 1.])
    """

    start: float
    factor: float
    every: float = 1.0

    def __call__(self, t: float) -> Any:
        """The value at step t."""
        return self.start * self.factor ** (t / self.every)


@dataclass(frozen=True)
class polynomial(Schedule):
    """end + (start - end) (1 - t / steps)^power, then end: torch's PolynomialLR, optax's polynomial_schedule.

    Args:
        start, end: First and last value.
        steps: Steps from one to the other.
        power: 1 for a straight line.

    >>> import numpy as np, burlab as bl
    >>> bl.optim.polynomial(9.0, steps=3, power=2.0)(np.arange(5))
    array([9., 4., 1., 0., 0.])
    """

    start: float
    steps: float
    power: float
    end: float = 0.0

    def __call__(self, t: float) -> Any:
        """The value at step t."""
        return self.end + (self.start - self.end) * (1 - np.minimum(t / self.steps, 1.0)) ** self.power


@dataclass(frozen=True)
class linear(Schedule):
    """A straight line from start to end, and then end: torch's LinearLR, optax's linear_schedule.

    Args:
        start, end: First and last value.
        steps: Steps from one to the other.

    >>> import numpy as np, burlab as bl
    >>> bl.optim.linear(4.0, steps=2)(np.arange(4))
    array([4., 2., 0., 0.])
    """

    start: float
    steps: float
    end: float = 0.0

    def __call__(self, t: float) -> Any:
        """The value at step t."""
        return self.end + (self.start - self.end) * (1 - np.minimum(t / self.steps, 1.0))


@dataclass(frozen=True)
class cosine(Schedule):
    """Half a cosine wave from start to end, and then end: Loshchilov and Hutter 2017, equation 5, arXiv:1608.03983.

    torch's CosineAnnealingLR is the same up to `steps` and then rises again; optax's is cosine_decay_schedule.

    Args:
        start, end: First and last value.
        steps: Steps from one to the other.

    >>> import numpy as np, burlab as bl
    >>> bl.optim.cosine(4.0, steps=2)(np.arange(4))
    array([4., 2., 0., 0.])
    """

    start: float
    steps: float
    end: float = 0.0

    def __call__(self, t: float) -> Any:
        """The value at step t."""
        wave = 1 + np.cos(math.pi * np.minimum(t / self.steps, 1.0))
        return self.end + 0.5 * (self.start - self.end) * wave


@dataclass(frozen=True)
class inverse_sqrt(Schedule):
    """start / sqrt(1 + t / steps). Vaswani et al. 2017, section 5.3, is `warmup(w, then=inverse_sqrt(peak, steps=w))`.

    Args:
        start: First value.
        steps: Steps after which it has fallen to start / sqrt(2).

    >>> import numpy as np, burlab as bl
    >>> bl.optim.inverse_sqrt(2.0)(np.array([0, 3, 15]))
    array([2. , 1. , 0.5])
    """

    start: float
    steps: float = 1.0

    def __call__(self, t: float) -> Any:
        """The value at step t."""
        return self.start / np.sqrt(1 + t / self.steps)


@dataclass(frozen=True)
class warmup(Schedule):
    """A straight line to the first value of another schedule, in so many steps, and then that schedule from its start.

    optax: join_schedules of a linear_schedule and the other; torch: SequentialLR.

    Args:
        steps: Steps of the line.
        then: A schedule, or a number to stay at.
        start: First value of the line.

    >>> import numpy as np, burlab as bl
    >>> bl.optim.warmup(2, then=bl.optim.linear(4.0, steps=4))(np.arange(7))
    array([0., 2., 4., 3., 2., 1., 0.])
    """

    steps: float
    then: Any
    start: float = 0.0

    def __call__(self, t: float) -> Any:
        """The value at step t."""
        done = np.minimum(t / self.steps, 1.0)
        then = self.then if callable(self.then) else constant(self.then)
        return (1 - done) * self.start + done * then(np.maximum(t - self.steps, 0.0))


@dataclass(frozen=True)
class one_cycle(Schedule):
    """Up to the peak and down to almost nothing: Smith and Topin 2018, arXiv:1708.07120, in torch's form, half waves.

    As torch's OneCycleLR. The paper has straight lines and a third phase; it also lets the momentum go the other way:
    give that field a schedule of its own.

    Args:
        peak: Largest value.
        steps: Steps of all.
        rise: Part of the steps before the peak.
        start_factor: The first value is peak / start_factor.
        end_factor: The value at the last step, where it stays, is peak / start_factor / end_factor.

    >>> import numpy as np, burlab as bl
    >>> bl.optim.one_cycle(8.0, steps=5, rise=0.6, start_factor=4.0, end_factor=2.0)(np.arange(6)).round(3)
    array([2. , 5. , 8. , 4.5, 1. , 1. ])
    """

    peak: float
    steps: float
    rise: float = 0.3
    start_factor: float = 25.0
    end_factor: float = 1e4

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 1 < real(self.rise, "rise") * real(self.steps, "steps") < self.steps:
            raise ArgumentError(
                f"one_cycle rises in {self.rise} of {shown(self.steps)} steps, expected more than one step and less "
                "than all. Choose a rise between 1 / steps and 1."
            )

    def __call__(self, t: float) -> Any:
        """The value at step t."""
        top, low = self.rise * self.steps - 1, self.peak / self.start_factor
        down = cosine(self.peak, self.steps - 1 - top, end=low / self.end_factor)
        return np.minimum(cosine(low, top, end=self.peak)(t), down(np.maximum(t - top, 0.0)))
