"""Steps on a surrogate of the loss that is made in the space of targets."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from burlab.optim.arithmetic import number
from burlab.optim.optimizer import Hyper, Optimizer, State, Vector
from burlab.optim.queries import Queries
from burlab.runtime.checks.numbers import whole
from burlab.transforms import fori_loop, while_loop


@dataclass(frozen=True)
class SSO(Optimizer):
    """Lavington, Vaswani, Babanezhad, Schmidt and Le Roux 2023, Algorithm 1, arXiv:2302.02607, for expensive losses.

    With targets z_i = model(x) and slopes a_i = grad l(z_i) of the batch, some steps of gradient descent go from x down
    the mean of <a_i, model(w) - z_i> + |model(w) - z_i|^2 / (2 eta), which is |model(w) - (z_i - eta a_i)|^2 / (2 eta)
    up to a constant. Each is halved until Armijo's condition with c = 1/2 holds. One step that is never halved is SGD.
    The problem says where its model ends: bl.FiniteSum(l, data, model=f). A regularizer is part of the surrogate.
    eta: step in the space of targets; 1 / L is safe for an l that is L-smooth. lr: first length of an inner step.
    inner: how many. trials: halvings at most; 0: no search.
    Cost: one gradient of l for each sample of the batch, and surrogates, which evaluate the model alone; keeps nothing.

    >>> import numpy as np, burlab as bl
    >>> def model(x, a, b): return a @ x
    >>> def squared(z, a, b): return (z - b) ** 2 / 2
    >>> data = np.array([[1.0, 0.0], [1.0, 1.0]]), np.array([1.0, 3.0])
    >>> problem = bl.FiniteSum(squared, data, model=model)
    >>> run = bl.minimize(problem, np.zeros(2), bl.optim.SSO(inner=50), batch=1, steps=100)
    >>> run.x.round(3), run.counts["samples"]
    (array([1., 2.]), 100)
    """

    eta: Hyper = 1.0
    lr: Hyper = 1.0
    inner: int = 10
    trials: int = 20

    def __post_init__(self) -> None:
        super().__post_init__()
        whole(self.inner, "inner", 1)
        whole(self.trials, "trials", 0)

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Queries) -> tuple[Vector, State]:  # noqa: ARG002
        """The steps on the surrogate of this batch."""
        z, a = f.targets(x)
        goals = z - self.eta * a

        def step(_: object, w: Vector) -> Any:
            value, slope = f.surrogate(w, goals, self.eta)
            fall = slope @ slope / 2

            def too_long(c: dict[str, Any]) -> Any:
                there = f.surrogate(w - c["lr"] * slope, goals, self.eta)[0]
                return (c["k"] < self.trials) & (there > value - c["lr"] * fall)

            def shorter(c: dict[str, Any]) -> Any:
                return {"lr": c["lr"] / 2, "k": c["k"] + 1}

            first: Any = {"lr": self.lr * number(x, 1.0), "k": np.asarray(0)}
            found = while_loop(too_long, shorter, first) if self.trials else first
            return w - found["lr"] * slope

        return fori_loop(0, self.inner, step, x), state
