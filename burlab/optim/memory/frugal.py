"""FRUGAL."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from burlab.graph.buffers.buffer_functions import at_add
from burlab.optim.adam import along, moments
from burlab.optim.arithmetic import arange, where
from burlab.optim.optimizer import Hyper, Optimizer, State, Vector
from burlab.optim.queries import Queries
from burlab.runtime.checks.numbers import whole
from burlab.transforms import cond, random


@dataclass(frozen=True)
class FRUGAL(Optimizer):
    """Zmushko et al. 2025, Algorithm 1 with random coordinates (RandK), AdamW and signSGD, arXiv:2411.07837.

    round(density d) coordinates move as in AdamW, whose moments are all that is kept; the others by
    -lr (scale sign(g) + weight_decay x). At every so-many-th step other coordinates are drawn, and their moments begin
    at zero, unless reset is False: then they go on with the moments of those before them. With density 0 it is SignSGD
    for scale 1, with density 1 and reset=False AdamW.
    lr: step size of both. b1, b2, eps: of Adam. scale: of the signs; 0.1 to fine-tune. weight_decay: of all.
    density: from 0 to 1. every: steps between two draws. Cost: one gradient; keeps 3 density d numbers.

    >>> import numpy as np, burlab as bl
    >>> run = bl.minimize(lambda x: np.sum(x**2), np.ones(8), bl.optim.FRUGAL(0.01), steps=50)
    >>> run.state["m"].shape, bool(np.abs(run.x - 0.5).max() < 0.1)
    ((2,), True)
    """

    lr: Hyper = 1e-3
    b1: Hyper = 0.9
    b2: Hyper = 0.999
    eps: Hyper = 1e-8
    scale: Hyper = 1.0
    weight_decay: Hyper = 0.0
    density: float = 0.25
    every: int = 200
    reset: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        whole(self.every, "every", 1)

    def init(self, x: Vector) -> State:
        """No coordinates are chosen before the first step."""
        count = round(self.density * x.shape[0])
        zeros = np.zeros(count, x.dtype)
        return {"chosen": np.zeros(count, np.int64), "m": zeros, "v": zeros}

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Queries) -> tuple[Vector, State]:
        """A step of signs, and of Adam at the chosen coordinates."""
        count, age = state["chosen"].shape[0], t % self.every
        chosen: Any = state["chosen"]
        if 0 < count < x.shape[0]:
            chosen = cond(age == 0, lambda: random.permutation(f.key, x.shape[0])[:count], lambda: state["chosen"])
        elif count:
            chosen = arange(count)
        begin = (age == 0) if self.reset else (t < 0)
        before = {name: where(begin, np.zeros_like(state[name]), state[name]) for name in ("m", "v")}
        slopes = g[chosen]
        m, v = moments(slopes, before, self.b1, self.b2)
        step = along(m, v, age if self.reset else t, 1.0, self.b1, self.b2, self.eps)
        signs = self.scale * np.sign(g)
        whole_step = at_add(signs, chosen, step - signs[chosen]) if count else signs
        return x - self.lr * (whole_step + self.weight_decay * x), {"chosen": chosen, "m": m, "v": v}
