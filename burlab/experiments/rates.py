"""A learning rate from one short run in which it grows until the loss does."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from burlab.charts import Axis, Chart, Curve, Dots, Mark, Plot
from burlab.errors import ArgumentError
from burlab.graph import tree
from burlab.optim import Optimizer
from burlab.optim.live_fields import live_fields, with_values
from burlab.problems import FiniteSum
from burlab.run import minimize
from burlab.runtime.checks.numbers import MAX_STEPS, real, shown, whole
from burlab.runtime.displayed import Displayed
from burlab.typing import Numbers

_MEMORY = 0.9  # share of a smoothed loss that stays from one step to the next, where batches are drawn
_DIVERGENCE_RATIO = 4.0  # times the way down from the start to the lowest loss, above which it has diverged
MIN_FALL = 0.02  # of the first loss: a smaller fall does not count
MIN_FALL_IN_NOISE = 3.0  # times the noise of the smoothed loss: a smaller fall does not count


@dataclass(frozen=True, slots=True, eq=False)
class LearningRates(Displayed):
    """Result of `burlab.find_lr`. rates, loss, smooth: float64, shape (n,), of the steps until it diverged.

    suggestion: the rate where the smoothed loss fell most per factor of the rate (Smith 2017), None where it never fell
    for certain. lowest: where the smoothed loss was lowest. diverged: the rate at which the loss rose above the start
    by four times what it had fallen, or was not finite; None where that did not happen. message: the result in words.
    """

    rates: Numbers
    loss: Numbers
    smooth: Numbers
    suggestion: float | None
    lowest: float
    diverged: float | None
    message: str

    def chart(self) -> Chart:
        """The loss over the learning rate, raw and smoothed, with what is suggested."""
        top = _ceiling(self.smooth)
        loss = np.where(self.loss <= top, self.loss, np.nan)
        smooth = np.where(self.smooth <= top, self.smooth, np.nan)
        same = np.array_equal(self.loss, self.smooth)
        raw = () if same else (Curve(self.rates, loss, "loss", 0, faint=True),)
        marks = () if self.diverged is None else (Mark(self.diverged, "diverges"),)
        dots: tuple[Dots, ...] = ()
        if self.suggestion is not None:
            k = int(np.argmin(np.abs(np.log(self.rates / self.suggestion))))
            dots = (
                Dots(self.rates[k : k + 1], smooth[k : k + 1], "suggestion", 1, hints=(f"lr {self.rates[k]:.3g}",)),
            )
        curves = (*raw, Curve(self.rates, smooth, "loss" if same else "smoothed", 0))
        positive = bool(np.nanmin(smooth) > 0)
        axis = Axis("learning rate", log=True)
        plot = Plot("rates", "loss", axis, Axis(log=positive), curves, (), dots, marks, self.message, tall=3.0)
        return Chart((plot,), about=self.message)

    def __repr__(self) -> str:
        return f"<LearningRates: {self.message}>"


def find_lr(
    problem: FiniteSum | Callable[..., Any],
    x0: tree.Tree,
    optimizer: Optimizer,
    *,
    low: float = 1e-6,
    high: float = 10.0,
    steps: int = 200,
    batch: int | None = None,
    seed: int = 0,
) -> LearningRates:
    """The learning-rate range test: one run whose rate grows from `low` to `high`, exponentially, until it diverges.

    Smith 2017, Cyclical Learning Rates, arXiv:1506.01186, section 3.3, with the exponential growth and the suggestion
    at the steepest descent of Gugger 2018. Where batches are drawn the loss is smoothed by a running mean with bias
    correction. The rates of one run start where the rates before have ended, so take the suggestion as an order of
    magnitude.

    Args:
        problem: As for `minimize`; so are x0, batch and seed.
        optimizer: A rule with a learning rate `lr`, whose value is not used.
        low, high: The first and the last rate, positive.
        steps: Steps of the run, at least 10.

    Returns:
        Rates, losses and the suggestion.

    Raises:
        ArgumentError: if an argument is wrong, or if the optimizer has no learning rate.

    >>> import numpy as np, burlab as bl
    >>> rates = bl.find_lr(bl.problems.booth(), np.array([-5.0, -5.0]), bl.optim.GD())
    >>> rates.suggestion < 2 / 18 < rates.diverged  # the largest stable rate is 2 / L, and L = 18
    True
    """
    if not isinstance(optimizer, Optimizer):  # pyright: ignore[reportUnnecessaryIsInstance] - users
        raise ArgumentError(f"optimizer is {shown(optimizer)}, expected a rule of bl.optim with a learning rate.")
    steps = whole(steps, "steps", 10, MAX_STEPS)
    low, high = real(low, "low"), real(high, "high")
    if not 0 < low < high < math.inf:
        raise ArgumentError(f"low={low:g} and high={high:g} must be positive and finite, the lower one first.")
    paths = {live.name: live.path for live in live_fields(optimizer)}
    if "lr" not in paths:
        raise ArgumentError(f"{type(optimizer).__name__} has no learning rate; its fields are {', '.join(paths)}.")
    growing = with_values(optimizer, {paths["lr"]: _growth(low, high, steps)})
    run = minimize(problem, x0, growing, batch=batch, seed=seed)
    run.start(steps)
    while not run.rests(1.0):
        pass  # an interrupt is raised here
    stopped = run.stopped
    if stopped is not None and stopped.reason == "error":
        run.wait()  # raises it
    history = run.history
    rates = low * (high / low) ** (history["step"] / (steps - 1))
    drawn = batch is not None and isinstance(problem, FiniteSum) and batch < len(problem)
    return judged(rates, history["value"], _MEMORY if drawn else 0.0)


def judged(rates: Numbers, loss: Numbers, memory: float) -> LearningRates:
    """Return what a loss over growing rates suggests. memory: of the running mean; 0 for none.

    The first steps of a running mean are those of too few batches: what is judged begins after them.
    """
    smooth = smoothed(loss, memory)
    begin = min(round(2 / (1 - memory)) if memory else 0, loss.size - 1)
    first = float(smooth[begin])
    best = np.minimum.accumulate(np.where(np.isfinite(smooth[begin:]), smooth[begin:], np.inf))
    least = max(MIN_FALL * abs(first), MIN_FALL_IN_NOISE * noise(loss, smooth, memory), np.finfo(np.float64).tiny)
    with np.errstate(over="ignore", invalid="ignore"):
        blown = ~(smooth[begin:] - first <= _DIVERGENCE_RATIO * np.maximum(first - best, least))
    end = begin + int(np.argmax(blown)) if blown.any() else None
    diverged = None if end is None else float(rates[end])
    judged = smooth[begin:end]
    lowest = int(np.argmin(judged)) if judged.size else 0
    suggestion = None
    if lowest > 0 and first - judged[lowest] > least:
        reach = max(1, loss.size // 10) if memory else 1
        slopes = slope(judged[: lowest + 1], reach)
        sure = min(reach if memory else 0, lowest)  # from where on a slope is that of a whole window
        suggestion = float(rates[begin + sure + int(np.argmin(slopes[sure:]))])
    message = _message(suggestion, diverged, float(rates[0]), float(rates[-1]))
    return LearningRates(rates, loss, smooth, suggestion, float(rates[begin + lowest]), diverged, message)


def noise(loss: Numbers, smooth: Numbers, memory: float) -> float:
    """The standard deviation of the running mean, from the median deviation of the first quarter of the losses."""
    early = slice(max(loss.size // 4, 1))
    deviation = 1.4826 * float(np.median(np.abs(loss[early] - smooth[early]))) if memory else 0.0
    return deviation * math.sqrt((1 - memory) / (1 + memory))


def slope(y: Numbers, reach: int) -> Numbers:
    """The slope of the line fitted to each point and up to so many neighbours on both sides, by least squares.

    >>> slope(np.array([0.0, 1.0, 2.0, 6.0]), 1)
    array([1. , 1. , 2.5, 4. ])
    """
    found = np.empty(y.size)
    for k in range(y.size):
        near = y[max(k - reach, 0) : k + reach + 1]
        x = np.arange(near.size) - (near.size - 1) / 2
        found[k] = x @ near / max(x @ x, 1e-300)
    return found


def smoothed(loss: Numbers, memory: float) -> Numbers:
    """A running mean that forgets, with bias correction: after n steps the weights of what was seen add up to 1.

    >>> smoothed(np.array([1.0, 1.0, 4.0]), 0.5).round(3)
    array([1.   , 1.   , 2.714])
    """
    mean, found = 0.0, np.empty(loss.size)
    for k, value in enumerate(loss.tolist()):
        mean = memory * mean + (1 - memory) * value
        found[k] = mean / (1 - memory ** (k + 1))
    return found


def _growth(low: float, high: float, steps: int) -> Callable[[Any], Any]:
    factor = math.log(high / low) / (steps - 1)

    def rate(t: Any) -> Any:
        return low * np.exp(factor * t)

    return rate


def _ceiling(smooth: Numbers) -> float:
    """Return the top of the picture of losses: twice as far above the start as it is above the lowest."""
    finite = smooth[np.isfinite(smooth)]
    return float(finite[0] + max(finite[0] - finite.min(), MIN_FALL * abs(finite[0])))


def _message(suggestion: float | None, diverged: float | None, low: float, high: float) -> str:
    if suggestion is None and diverged is not None and diverged <= 10 * low:
        return f"it diverges at once, from {diverged:.2g} on: try a smaller low"
    if suggestion is None:
        return "the loss never fell for certain: no rate is suggested"
    if diverged is None:
        return f"lr {suggestion:.2g}; it never diverged: try a larger high than {high:.2g}"
    return f"lr {suggestion:.2g}; it diverges at {diverged:.2g}"
