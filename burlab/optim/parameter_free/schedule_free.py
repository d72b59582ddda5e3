"""No schedule: gradients between a point and the mean of its path."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from burlab.optim.arithmetic import number, root_of_squares
from burlab.optim.optimizer import Hyper, Optimizer, State, Vector
from burlab.optim.queries import Queries
from burlab.runtime.checks.numbers import whole


def initial_state(x: Vector) -> State:
    """Return the state at step 0: z and the mean are the start."""
    return {"z": x, "mean": x, "largest": number(x, 0.0), "weights": number(x, 0.0)}


def warmed(lr: float, t: int, warmup: int) -> Any:
    """lr, on a straight line up to it for the first steps."""
    return lr * np.minimum((t + 1) / warmup, 1.0) if warmup else lr


def averaged(z: Vector, state: State, lr: float, t: int, rule: Any) -> State:
    """z taken into the mean, with weight (t + 1)^r (the largest lr so far)^power."""
    largest = np.maximum(state["largest"], lr)
    weight = (t + 1.0) ** rule.r * largest**rule.power
    weights = state["weights"] + weight
    share = weight / weights
    return {"z": z, "mean": (1 - share) * state["mean"] + share * z, "largest": largest, "weights": weights}


@dataclass(frozen=True)
class ScheduleFreeSGD(Optimizer):
    """Defazio et al. 2024, equations 3 to 5, arXiv:2405.15682; as schedulefree.SGDScheduleFree 1.4.1.

    z <- z - lr g;  mean <- (1 - c) mean + c z;  x <- mu mean + (1 - mu) z, where gradients are taken. `run.x` is the
    mean. c is the share of this step's weight (t+1)^r (largest lr)^power in all weights so far.
    lr: step size, about 10 times SGD's. mu: how near to the mean gradients are taken. r, power: of the weights.
    warmup: steps until lr is whole. Cost: one gradient; keeps 2 d + 2 numbers.

    >>> import numpy as np, burlab as bl
    >>> run = bl.minimize(lambda x: np.sum(np.abs(x - 3)), np.zeros(1), bl.optim.ScheduleFreeSGD(0.5), steps=300)
    >>> bool(abs(run.x[0] - 3) < 0.1)
    True
    """

    lr: Hyper = 1.0
    mu: Hyper = 0.9
    r: Hyper = 0.0
    power: Hyper = 2.0
    warmup: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        whole(self.warmup, "warmup", 0)

    def init(self, x: Vector) -> State:
        """No path yet."""
        return initial_state(x)

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Queries | None = None) -> tuple[Vector, State]:  # noqa: ARG002
        """A step of z, and the point between it and the mean."""
        lr = warmed(self.lr, t, self.warmup)
        after = averaged(state["z"] - lr * g, state, lr, t, self)
        return self.mu * after["mean"] + (1 - self.mu) * after["z"], after

    def output(self, x: Vector, state: State) -> Vector:  # noqa: ARG002
        """The mean."""
        return state["mean"]


@dataclass(frozen=True)
class ScheduleFreeAdamW(Optimizer):
    """Defazio et al. 2024, Algorithm 1, arXiv:2405.15682; as schedulefree.AdamWScheduleFree.

    v <- b2 v + (1 - b2) g^2;  z <- z - lr (g / (sqrt(v / (1 - b2^(t+1))) + eps) + weight_decay x);
    mean <- (1 - c) mean + c z;  x <- b1 mean + (1 - b1) z, where gradients are taken. `run.x` is the mean, c as in
    `ScheduleFreeSGD`. lr: step size. b1: how near to the mean gradients are taken. b2, eps: as in Adam. weight_decay:
    of the decoupled decay. r, power: of the weights. warmup: steps until lr is whole.
    Cost: one gradient; keeps 3 d + 2 numbers.

    >>> import numpy as np, burlab as bl
    >>> run = bl.minimize(lambda x: np.sum((x - 3) ** 2), np.zeros(1), bl.optim.ScheduleFreeAdamW(0.2), steps=300)
    >>> bool(abs(run.x[0] - 3) < 0.1)
    True
    """

    lr: Hyper = 2.5e-3
    b1: Hyper = 0.9
    b2: Hyper = 0.999
    eps: Hyper = 1e-8
    weight_decay: Hyper = 0.0
    r: Hyper = 0.0
    power: Hyper = 2.0
    warmup: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        whole(self.warmup, "warmup", 0)

    def init(self, x: Vector) -> State:
        """No path and no moment yet."""
        return {**initial_state(x), "v": np.zeros_like(x)}

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Queries | None = None) -> tuple[Vector, State]:  # noqa: ARG002
        """A step of z by Adam without momentum, and the point between it and the mean."""
        lr = warmed(self.lr, t, self.warmup)
        v = self.b2 * state["v"] + (1 - self.b2) * g**2
        step = g / (root_of_squares(v / (1 - self.b2 ** (t + 1)), g) + self.eps) + self.weight_decay * x
        after = averaged(state["z"] - lr * step, state, lr, t, self)
        return self.b1 * after["mean"] + (1 - self.b1) * after["z"], {**after, "v": v}

    def output(self, x: Vector, state: State) -> Vector:  # noqa: ARG002
        """The mean."""
        return state["mean"]
