"""GaLore and Natural GaLore: Adam on gradients that are projected to a low rank."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from burlab.graph.buffers.buffer_functions import at_set
from burlab.optim.arithmetic import solve
from burlab.optim.by_leaf import ByLeaf, Draw, adam_init, adam_step
from burlab.optim.optimizer import Hyper, State, Vector
from burlab.runtime.checks.numbers import one_of, whole
from burlab.transforms import cond

SIDES = ("short", "long")


@dataclass(frozen=True)
class GaLore(ByLeaf):
    """Zhao et al. 2024, Algorithm 2, arXiv:2403.03507.

    A matrix has its gradient projected to its first singular vectors P, which are made anew at every so-many-th step:
    R = P'g, N the step of Adam for R, x <- x - lr scale P N. Adam's moments are those of R, and go on when P changes.
    All other leaves: Adam. side: which side of the matrix becomes rank long. "short" is the authors' code and keeps
    2 rank max(m, n) + rank min(m, n) numbers for a matrix m x n, "long" is optax.contrib.galore and keeps
    2 rank min(m, n) + rank max(m, n); of a square matrix "short" projects columns. The paper has P'g for m <= n.
    lr: step size. b1, b2, eps: of Adam. scale: 0.25 in the paper, 1 in optax, for matrices alone. rank: at most
    min(m, n). every: steps between two projections. Cost: one gradient, two products per matrix, and at some steps a
    singular value decomposition, O(m n min(m, n)).

    >>> import numpy as np, burlab as bl
    >>> run = bl.minimize(lambda w: np.sum((w - 1) ** 2), np.zeros((6, 4)), bl.optim.GaLore(0.05, rank=1), steps=400)
    >>> run.state[0]["m"].shape, bool(np.abs(run.x - 1).max() < 0.1)
    ((6, 1), True)
    """

    lr: Hyper = 1e-2
    b1: Hyper = 0.9
    b2: Hyper = 0.999
    eps: Hyper = 1e-8
    scale: Hyper = 0.25
    rank: int = 128
    every: int = 200
    side: str = "short"

    def __post_init__(self) -> None:
        super().__post_init__()
        whole(self.rank, "rank", 1)
        whole(self.every, "every", 1)
        one_of(self.side, SIDES, f"side of {type(self).__name__}")

    def init_leaf(self, x: Vector) -> State:
        """The moments of the projected gradient."""
        if len(x.shape) != 2:
            return adam_init(x)
        rank, (m, n) = min(self.rank, *x.shape), x.shape
        shape = (m, rank) if self.right(x) else (rank, n)
        basis = np.zeros((rank, n) if self.right(x) else (m, rank), x.dtype)
        return {"basis": basis, **adam_init(np.zeros(shape, x.dtype))}

    def update_leaf(self, g: Vector, state: State, x: Vector, t: int, draw: Draw) -> tuple[Vector, State]:  # noqa: ARG002
        """A step of Adam in the subspace."""
        if len(x.shape) != 2:
            step, state = adam_step(g, state, t, self.b1, self.b2, self.eps)
            return x - self.lr * step, state
        basis = cond(t % self.every == 0, lambda: self.singular_vectors(g), lambda: state["basis"])
        projected = g @ basis.T if self.right(x) else basis.T @ g
        step, after = self.inside(projected, state, t)
        whole_step = step @ basis if self.right(x) else basis @ step
        return x - self.lr * self.scale * whole_step, {"basis": basis, **after}

    def inside(self, projected: Vector, state: State, t: int) -> tuple[Vector, State]:
        """The step for the projected gradient, and the state without the basis."""
        return adam_step(projected, state, t, self.b1, self.b2, self.eps)

    def right(self, x: Vector) -> bool:
        """True if the projection reduces the columns, not the rows."""
        return (x.shape[0] >= x.shape[1]) == (self.side == "short")

    def singular_vectors(self, g: Vector) -> Any:
        """The first ones: as rows from the right, as columns from the left."""
        u, _, vt = np.linalg.svd(g, full_matrices=False)
        rank = min(self.rank, *g.shape)
        return vt[:rank] if self.right(g) else u[:, :rank]


@dataclass(frozen=True)
class NaturalGaLore(GaLore):
    """Das 2024, Natural GaLore, arXiv:2410.16029: GaLore on natural gradients of the projected ones.

    With C the last `history` projected gradients as columns, this step's among them, R of GaLore is replaced by
    (damping I + C C')^-1 R = R / damping - C (I + C'C / damping)^-1 C'R / damping^2. history=0 is GaLore on
    R / damping, whose steps differ by eps alone. All other leaves and fields as in GaLore.
    damping: curvature where no gradient was. history: at least 0. Cost: that of GaLore, O(history) products of R and
    O(history^3); keeps history numbers for every entry of R more.

    >>> import numpy as np, burlab as bl
    >>> rule = bl.optim.NaturalGaLore(0.1, rank=1, history=2)
    >>> bl.minimize(lambda w: np.sum((w - 1) ** 2), np.zeros((6, 4)), rule, steps=2).state[0]["C"].shape
    (2, 6)
    """

    damping: Hyper = 1.0
    history: int = 10

    def __post_init__(self) -> None:
        super().__post_init__()
        whole(self.history, "history", 0)

    def init_leaf(self, x: Vector) -> State:
        """GaLore's, and no gradients."""
        state = super().init_leaf(x)
        if len(x.shape) != 2:
            return state
        return {**state, "C": np.zeros((self.history, state["m"].size), x.dtype)}

    def inside(self, projected: Vector, state: State, t: int) -> tuple[Vector, State]:
        """The step of Adam for the natural gradient."""
        flat: Any = np.reshape(projected, (-1,))
        columns = state["C"]
        natural = flat / self.damping
        if self.history:
            columns = at_set(columns, t % self.history, flat)
            gram = np.eye(self.history, dtype=flat.dtype) + columns @ columns.T / self.damping
            natural = natural - solve(gram, columns @ flat) @ columns / self.damping**2
        step, after = super().inside(np.reshape(natural, projected.shape), state, t)
        return step, {**after, "C": columns}
