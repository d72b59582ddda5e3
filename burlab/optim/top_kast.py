"""Top-KAST: networks that are sparse in every product of training."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from burlab.errors import ArgumentError
from burlab.functions import top_k
from burlab.graph.buffers.buffer_functions import at_set
from burlab.runtime.checks.numbers import shown
from burlab.runtime.ranges import PROBABILITY, number_in
from burlab.transforms import tree

from .gradient_place import PlaceRule
from .layout import Layout
from .optimizer import Hyper, State, Vector
from .place_step import T_OF_X
from .queries import Queries

Array = Any  # traced
_MATRIX = 2  # axes


@dataclass(frozen=True)
class TopKAST(PlaceRule):
    """Jayakumar et al. 2020, NeurIPS, arXiv:2106.03517: gradients at the largest weights, steps of a larger set.

    Of each leaf with two axes or more, A are the entries of largest size, a share `density` of all, and B a share
    `backward`. The gradient is taken where weights outside of A are 0, and B alone moves, by the step of the optimizer
    inside for the gradient + decay (1 on A, 1 / density on B without A) x: the regularizer of exploration, |x|^2 / 2.
    Both sets are chosen at every step. Leaves with fewer axes, as biases, are dense and do not decay. The point of the
    run is the sparse one; `run.iterate` has all weights. Cost: one gradient, and the choice of two sets.

    Args:
        inner: The optimizer.
        density: Share of weights that the network uses, above 0, at most 1.
        backward: Share of weights that may move, from density to 1.
        decay: 1e-4 in the paper.

    >>> import numpy as np, burlab as bl
    >>> w, goal = np.array([[3.0, 2.0, 1.0, 0.5]]), np.array([[1.0, 1.0, 1.0, 4.0]])
    >>> rule = bl.optim.TopKAST(bl.optim.GD(0.1), density=0.25, backward=0.5, decay=0.0)
    >>> run = bl.minimize(lambda w: np.sum((w - goal) ** 2) / 2, w, rule, steps=1)
    >>> run.iterate, run.x
    (array([[2.8, 2.1, 1. , 0.5]]), array([[2.8, 0. , 0. , 0. ]]))
    """

    density: float = 0.2
    backward: float = 0.5
    decay: Hyper = 1e-4

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("density", "backward"):
            number_in(PROBABILITY, getattr(self, name), f"{name} of TopKAST")
        if self.backward < self.density:
            raise ArgumentError(
                f"backward of TopKAST must be at least its density; got {shown(self.backward)} for a density of "
                f"{shown(self.density)}."
            )

    @property
    def place(self) -> Any:
        """The map to the sparse network."""
        return _Largest(self.density, self.backward, self.decay)

    @property
    def run_point(self) -> Any:
        """The sparse network."""
        return T_OF_X

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Queries) -> tuple[Vector, State]:
        """The step of the optimizer inside, on the larger set."""
        after, state = super().update(g, state, x, t, f=f)
        return np.where(_moving(x, self.layout, self.backward), after, x), state


@dataclass(frozen=True)
class _Largest:
    density: float
    backward: float
    decay: Any

    def __call__(self, x: Any) -> Any:
        def used(leaf: Array) -> Array:
            return leaf * _largest(leaf, self.density)

        return tree.map(used, x)

    def gradient(self, g: Any, x: Any) -> Any:
        def slope(g: Array, x: Array) -> Array:
            if np.ndim(x) < _MATRIX:
                return g
            used, moved = _largest(x, self.density), _largest(x, self.backward)
            return moved * (g + self.decay * (used + (1 - used) / self.density) * x)

        return tree.map(slope, g, x)


def _largest(leaf: Array, share: float) -> Array:
    """1 at the entries of largest size of a matrix, else 0; of other leaves 1."""
    if np.ndim(leaf) < _MATRIX:
        return np.ones_like(leaf)
    flat = np.reshape(leaf, (-1,))
    chosen = top_k(np.abs(flat), max(round(share * flat.shape[0]), 1))[1]
    return np.reshape(at_set(np.zeros_like(flat), chosen, 1.0), leaf.shape)


def _moving(x: Vector, layout: Layout, share: float) -> Array:
    """Return which entries of x move."""

    def largest(leaf: Array) -> Array:
        return _largest(leaf, share)

    return layout.flat(tree.map(largest, layout.tree(x)), "TopKAST") > 0
