"""M-FAC: the inverse of the empirical Fisher matrix of the last gradients."""

from dataclasses import dataclass

import numpy as np

from burlab.graph.buffers.buffer_functions import at_set
from burlab.optim.arithmetic import solve
from burlab.optim.optimizer import Hyper, Optimizer, State, Vector
from burlab.optim.queries import Queries
from burlab.runtime.checks.numbers import whole

MAX_MEMORY = 10_000  # gradients


@dataclass(frozen=True)
class MFAC(Optimizer):
    """Frantar, Kurtic and Alistarh 2021, section 3.2 (the dynamic algorithm), arXiv:2107.03356.

    x <- x - lr F^-1 g with F = damping I + G'G / memory, where the rows of G are the last gradients, g among them,
    and zeros before there were so many. By Woodbury's identity F^-1 g = (g - G'(memory damping I + G G')^-1 G g) /
    damping; G G' is kept, so that a step costs O(memory d + memory^3). The paper has O(memory^2) for the second part.
    lr: step size. damping: multiple of the identity, the curvature where no gradient was. memory: 1024 in the paper.
    Cost: one gradient; keeps memory (d + memory) numbers.

    >>> import numpy as np, burlab as bl
    >>> run = bl.minimize(lambda x: np.sum(x**2), np.ones(2), bl.optim.MFAC(0.5, damping=1.0, memory=1), steps=1)
    >>> run.x.round(6)
    array([0.888889, 0.888889])
    """

    lr: Hyper = 1e-3
    damping: Hyper = 1e-5
    memory: int = 64

    def __post_init__(self) -> None:
        super().__post_init__()
        whole(self.memory, "memory", 1, MAX_MEMORY)

    def init(self, x: Vector) -> State:
        """No gradients."""
        return {"G": np.zeros((self.memory, x.shape[0]), x.dtype), "GG": np.zeros((self.memory,) * 2, x.dtype)}

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Queries | None = None) -> tuple[Vector, State]:  # noqa: ARG002
        """The oldest gradient is replaced by g, and g multiplied by the inverse."""
        oldest = t % self.memory
        rows = at_set(state["G"], oldest, g)
        products = rows @ g
        gram = at_set(at_set(state["GG"], oldest, products).T, oldest, products)
        shifted = gram + self.memory * self.damping * np.eye(self.memory, dtype=x.dtype)
        step = (g - solve(shifted, products) @ rows) / self.damping
        return x - self.lr * step, {"G": rows, "GG": gram}
