"""EM."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from burlab.errors import ShapeError
from burlab.graph import tree
from burlab.typing import Tree

from .optimizer import Hyper, Optimizer, State


@dataclass(frozen=True)
class EM(Optimizer):
    """Dempster, Laird and Rubin 1977 for logarithms of probabilities, each a row of the last axis of a leaf of x.

    With n the number of samples and g the gradient of the mean of -log p, -n g are the expected counts, and
    x <- log of the row (max(-g, 0) + smoothing) / its sum; lr below 1 mixes the probabilities with those before, as
    in stepwise EM on batches (Liang and Klein 2009). For sums and products it is the flow of a circuit: Liu, Mandt and
    Van den Broeck 2022, arXiv:2111.11632. The loss takes x as log-probabilities as they are: it must not normalize
    them, and all leaves must be such. Every full step with lr = 1 and smoothing = 0 lowers the loss or leaves it.
    lr: share of the new probabilities. smoothing: added to expected counts per sample. Cost: one gradient; keeps
    nothing.

    Raises:
        ShapeError: For a leaf that is one number.

    >>> import numpy as np, burlab as bl
    >>> coins = lambda x: -np.mean(x[np.array([0, 1, 1, 1])])  # four throws
    >>> run = bl.minimize(coins, np.log(np.array([0.5, 0.5])), bl.optim.EM(smoothing=0.0), steps=1)
    >>> np.exp(run.x)
    array([0.25, 0.75])
    """

    lr: Hyper = 1.0
    smoothing: Hyper = 1e-6

    per_leaf = True

    def init(self, x: Tree) -> State:
        """Nothing, for leaves that have rows."""
        for name, leaf in zip(tree.leaf_names(x), tree.flatten(x)[0], strict=True):
            if not np.shape(leaf):
                raise ShapeError(f"x0{name} is one number, but EM needs rows of log-probabilities: shape (..., k).")
        return {}

    def update(self, g: Tree, state: State, x: Tree, t: int, *, f: Any = None) -> tuple[Any, State]:  # noqa: ARG002
        """The probabilities of expected counts."""
        leaves, structure = tree.flatten(x)
        return tree.unflatten(structure, [*map(self._new, leaves, tree.flatten(g)[0])]), state

    def _new(self, x: Any, g: Any) -> Any:
        """The new log-probabilities of a leaf. In shares, whose logarithm is finite where a count is."""
        counts = np.maximum(-g, 0.0) + self.smoothing
        shares = counts / np.sum(counts, axis=-1, keepdims=True)
        return np.log((1.0 - self.lr) * np.exp(x) + self.lr * shares)
