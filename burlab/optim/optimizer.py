"""What an optimizer is: fields, a state, and the rule that makes the next point from a gradient."""

import inspect
from abc import ABC, abstractmethod
from typing import Annotated, Any, ClassVar, cast

import numpy as np

from .ranges import check_numbers

Vector = np.ndarray[Any, np.dtype[Any]]
State = Any  # a tree of arrays

Hyper = Annotated[Any, "live"]
"""The type of a field that may change between two steps: a number, or a schedule of the step (`lr=cosine(...)`).

In the rule it is a number, a weak float64: it never widens float32. A field typed `Hyper | None` may be left out: None
is no number that can change but a part of the program.
"""


class Optimizer(ABC):
    """A frozen dataclass with an update rule. Fields of type `Hyper` are live; all others are part of the program.

    The rule is plain NumPy on one flat vector `x` of shape (d,) and one dtype: all leaves, ravelled in order. It is
    traced once per run. A branch on a hyperparameter cannot be traced: use np.where.

    >>> from dataclasses import dataclass
    >>> import numpy as np, burlab as bl
    >>> @dataclass(frozen=True)
    ... class SignDescent(bl.optim.Optimizer):
    ...     lr: bl.optim.Hyper = 1e-3
    ...     def update(self, g, state, x, t):
    ...         return x - self.lr * np.sign(g), state
    >>> bl.minimize(lambda x: np.sum(x**2), np.array([1.0, -1.0]), SignDescent(0.25), steps=3).x
    array([ 0.25, -0.25])
    """

    per_leaf: ClassVar[bool] = False
    """Whether the rule needs the shapes of x's leaves: then x and g are trees as x0 was, and the new x is one.

    The queries of the rule are about flat vectors all the same.
    """

    def __post_init__(self) -> None:
        check_numbers(self)

    def init(self, x: Vector) -> State:  # noqa: ARG002 - what most rules start from
        """The state at step 0: any tree of arrays. x: the start, shape (d,)."""
        return {}

    @abstractmethod
    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Any) -> tuple[Vector, State]:
        """The next point and state.

        g: gradient of this step's batch at x, shape (d,). t: the step, from 0. f: the problem, for rules that
        need more than g, see `Queries`; a rule that needs only g may leave it out of its signature.
        """


def advance(optimizer: Optimizer, g: Vector, state: State, x: Vector, t: int, f: Any) -> tuple[Vector, State]:
    """The update of an optimizer, which gets f only if it has such a parameter."""
    extra = {"f": f} if "f" in inspect.signature(optimizer.update).parameters else {}
    return cast("Any", optimizer).update(g, state, x, t, **extra)
