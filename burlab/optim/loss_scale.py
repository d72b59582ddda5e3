"""The dynamic scale of a loss whose gradient is kept in a narrow format."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from burlab.errors import ArgumentError
from burlab.runtime.checks.numbers import real, shown, whole


@dataclass(frozen=True, slots=True)
class LossScale:
    """A factor of the loss that keeps small gradients of a narrow format from becoming 0, and divides them afterwards.

    Micikevicius et al. 2018, Mixed precision training, arXiv:1710.03740, section 3.2; numbers as
    torch.amp.GradScaler's. A step whose scaled gradient is not finite is left out, and the scale shrinks; after so many
    steps in a row that are not, it grows. A format that saturates, as those of 6 and 4 bits, has nothing that is not
    finite: there the step is left out if the gradient exceeds the largest number, unless the scale does not shrink.

    Args:
        start: The first scale.
        growth: Factor after `interval` steps without overflow; 1.0 keeps the scale.
        backoff: Factor after a step that was left out; 1.0 keeps the scale.
        interval: Steps from one growth to the next.

    >>> import burlab as bl
    >>> bl.optim.LossScale().start, bl.optim.LossScale(2.0**10, growth=1.0, backoff=1.0).start
    (65536.0, 1024.0)
    """

    start: float = 2.0**16
    growth: float = 2.0
    backoff: float = 0.5
    interval: int = 2000

    def __post_init__(self) -> None:
        whole(self.interval, "interval of LossScale", 1)
        for name in ("start", "growth", "backoff"):
            number = real(getattr(self, name), f"{name} of LossScale")
            if not 0.0 < number < np.inf:
                raise ArgumentError(f"{name} of LossScale must be a positive number, got {shown(number)}.")
        if self.growth < 1.0 or self.backoff > 1.0:
            raise ArgumentError(
                f"growth of LossScale is {shown(self.growth)} and backoff {shown(self.backoff)}, expected at least 1 "
                "and at most 1."
            )

    @staticmethod
    def of(scale: "LossScale | float | str | None") -> "LossScale | None":
        """Return a scale as users give it: "dynamic", a number that stays, or None. Raises ArgumentError."""
        if scale is None or isinstance(scale, LossScale):
            return scale
        if isinstance(scale, str):
            if scale == "dynamic":
                return LossScale()
            raise ArgumentError(f'scale is {shown(scale)}, expected "dynamic", a number, a bl.optim.LossScale or None.')
        return LossScale(real(scale, "scale"), growth=1.0, backoff=1.0)

    def init(self, dtype: "np.dtype[Any]") -> dict[str, Any]:
        """Return the state at step 0: scale, steps since it changed, and how many were left out.

        Raises ArgumentError if the scale is 0 or infinite in this dtype.
        """
        with np.errstate(over="ignore", under="ignore"):
            scale = np.asarray(self.start, dtype)
        if not 0.0 < scale < np.inf:
            raise ArgumentError(f"start of LossScale is {shown(self.start)}, expected a positive number of {dtype}.")
        return {"scale": scale, "good": np.asarray(0), "skipped": np.asarray(0)}

    def after(self, state: dict[str, Any], finite: Any) -> dict[str, Any]:
        """Return the state after a step, given whether its gradient was finite."""
        choose: Any = np.where  # of arrays, or of nodes
        good, grown = choose(finite, state["good"] + 1, 0), state["scale"] * self.growth
        grows, shrunk = good == self.interval, state["scale"] * self.backoff
        scale = choose(grows & np.isfinite(grown), grown, state["scale"])
        return {
            "scale": choose(finite, scale, choose(shrunk > 0.0, shrunk, state["scale"])),
            "good": choose(grows, 0, good),
            "skipped": state["skipped"] + choose(finite, 0, 1),
        }
