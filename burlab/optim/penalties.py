"""Penalties that are not smooth: the loss gives the gradient, the penalty its proximal step."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from burlab.errors import ArgumentError
from burlab.runtime.checks.numbers import shown

from .field_ranges import check_numbers
from .optimizer import Hyper, State, Vector
from .queries import Queries
from .wrappers import Wrapper, step_size


class Penalty(ABC):
    """A function h of x that is added to the loss; `proximal` computes argmin_y h(y) + |y - x|^2 / (2 step).

    >>> from dataclasses import dataclass
    >>> import numpy as np, burlab as bl
    >>> @dataclass(frozen=True)
    ... class l0(bl.optim.Penalty):  # how many entries are not 0
    ...     l0: bl.optim.Hyper
    ...     def prox(self, x, step):
    ...         return np.where(x**2 > 2 * step * self.l0, x, 0.0)
    >>> l0(0.5).prox(np.array([0.5, 2.0]), 1.0)
    array([0., 2.])
    """

    def __post_init__(self) -> None:
        check_numbers(self)

    @abstractmethod
    def prox(self, x: Vector, step: float) -> Vector:
        """Return argmin_y h(y) + |y - x|^2 / (2 step).

        Args:
            x: Point, shape (d,).
            step: Step size of the optimizer.

        Returns:
            The minimizer, shape (d,).
        """


@dataclass(frozen=True)
class proximal(Wrapper):
    """After the step of the optimizer inside, the proximal step of a penalty with the same lr: forward and backward.

    Around GD it is ISTA: Combettes and Wajs 2005; around an optimizer that scales each coordinate the penalty is still
    scaled by lr alone.
    Cost: that of the optimizer inside, and the proximal step.

    Args:
        inner: The optimizer.
        penalty: `l1`, `l2`, `elastic_net`, a set such as `nonnegative`, or one of your own.

    >>> import numpy as np, burlab as bl
    >>> sparse = bl.optim.proximal(bl.optim.GD(0.5), bl.optim.l1(1.0))
    >>> bl.minimize(lambda x: np.sum((x - np.array([2.0, 0.3])) ** 2) / 2, np.zeros(2), sparse, steps=40).x.round(6)
    array([1., 0.])
    """

    penalty: Penalty

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.penalty, Penalty):  # pyright: ignore[reportUnnecessaryIsInstance] - users pass anything
            raise ArgumentError(
                f"proximal takes a bl.optim.Penalty, got {shown(self.penalty)}. Pass one such as bl.optim.l1(0.1)."
            )

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Queries) -> tuple[Vector, State]:
        """The step of the loss, then that of the penalty."""
        after, state = self.advance(g, state, x, t, f)
        return self.penalty.prox(after, step_size(self.inner, "a penalty")), state


@dataclass(frozen=True)
class l1(Penalty):
    """l1 |x|_1: soft thresholding, Donoho 1995. l1: weight.

    >>> import numpy as np, burlab as bl
    >>> bl.optim.l1(0.5).prox(np.array([-3.0, 0.5, 2.0]), step=2.0)
    array([-2.,  0.,  1.])
    """

    l1: Hyper

    def prox(self, x: Vector, step: float) -> Vector:
        """Every entry moved towards 0 by step l1, and not beyond."""
        return shrink(x, step * self.l1)


@dataclass(frozen=True)
class l2(Penalty):
    """l2 / 2 |x|^2, as a step of its own: weight decay by implicit gradient descent. l2: weight.

    >>> import numpy as np, burlab as bl
    >>> bl.optim.l2(0.5).prox(np.array([-3.0, 2.0]), step=2.0)
    array([-1.5,  1. ])
    """

    l2: Hyper

    def prox(self, x: Vector, step: float) -> Vector:
        """x / (1 + step l2)."""
        return x / (1 + step * self.l2)


@dataclass(frozen=True)
class elastic_net(Penalty):
    """l1 |x|_1 + l2 / 2 |x|^2, Zou and Hastie 2005 without the factor of their corrected form. l1, l2: weights.

    >>> import numpy as np, burlab as bl
    >>> bl.optim.elastic_net(0.5, 0.5).prox(np.array([-3.0, 0.5, 2.0]), step=2.0)
    array([-1. ,  0. ,  0.5])
    """

    l1: Hyper
    l2: Hyper

    def prox(self, x: Vector, step: float) -> Vector:
        """The threshold, then the scaling: Parikh and Boyd 2014, section 6.5.3."""
        return shrink(x, step * self.l1) / (1 + step * self.l2)


def shrink(x: Vector, by: float) -> Vector:
    """sign(x) max(|x| - by, 0)."""
    return x - np.clip(x, -by, by)
