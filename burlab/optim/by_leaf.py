"""The base of rules that do the same with every leaf of x on its own, where the shapes of leaves matter."""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from burlab.graph import tree
from burlab.transforms import random
from burlab.typing import Tree

from .adam import along, moments
from .optimizer import Optimizer, State, Vector

Draw = Callable[[], Any]  # gives the key of this leaf at this step, of shape (2,)


@dataclass(frozen=True)
class ByLeaf(Optimizer):
    """An optimizer of leaves one by one. Its state is a tuple with the state of each leaf. Abstract.

    >>> from dataclasses import dataclass
    >>> import numpy as np, burlab as bl
    >>> from burlab.optim.by_leaf import ByLeaf
    >>> @dataclass(frozen=True)
    ... class Normalized(ByLeaf):
    ...     def init_leaf(self, x):
    ...         return {}
    ...     def update_leaf(self, g, state, x, t, draw):
    ...         return x - 0.5 * g / np.linalg.norm(g), state
    >>> bl.minimize(lambda p: p["a"] ** 2 + 9 * p["b"] ** 2, {"a": 1.0, "b": 1.0}, Normalized(), steps=1).x["b"].item()
    0.5
    """

    per_leaf = True

    def init(self, x: Tree) -> State:
        """The state of every leaf."""
        return tuple(self.init_leaf(leaf) for leaf in tree.flatten(x)[0])

    @abstractmethod
    def init_leaf(self, x: Vector) -> State:
        """The state at step 0 of a leaf x, of any shape."""

    def update(self, g: Tree, state: State, x: Tree, t: int, *, f: Any = None) -> tuple[Any, State]:
        """The step of every leaf."""
        leaves, structure = tree.flatten(x)
        pairs: list[tuple[Any, State]] = []
        for k, (slope, before, leaf) in enumerate(zip(tree.flatten(g)[0], state, leaves, strict=True)):
            pairs.append(self.update_leaf(slope, before, leaf, t, lambda k=k: random.fold_in(f.key, k)))
        return tree.unflatten(structure, [x for x, _ in pairs]), tuple(after for _, after in pairs)

    @abstractmethod
    def update_leaf(self, g: Vector, state: State, x: Vector, t: int, draw: Draw) -> tuple[Vector, State]:
        """The next leaf and its state, from its gradient g of the same shape."""


def adam_init(x: Vector) -> State:
    """Both moments of a leaf are zero."""
    return {"m": np.zeros_like(x), "v": np.zeros_like(x)}


def adam_step(g: Vector, state: State, t: int, b1: float, b2: float, eps: float) -> tuple[Vector, State]:
    """The step of Adam with lr = 1, and the moments after it."""
    m, v = moments(g, state, b1, b2)
    return along(m, v, t, 1.0, b1, b2, eps), {"m": m, "v": v}
