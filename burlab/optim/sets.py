"""Sets that x must stay in, and the wrapper that projects onto them after every step."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from burlab.errors import ArgumentError, ShapeError
from burlab.graph.numpy_api.arguments import broadcast_shape
from burlab.runtime.checks.numbers import shown
from burlab.runtime.plain import as_floats
from burlab.transforms import while_loop

from .live_fields import not_below
from .optimizer import Hyper, State, Vector
from .penalties import Penalty
from .queries import Queries
from .wrappers import Wrapper


class Set(Penalty):
    """A closed set. As a penalty it is 0 inside and infinite outside, and its proximal step is the projection.

    >>> from dataclasses import dataclass
    >>> import numpy as np, burlab as bl
    >>> @dataclass(frozen=True)
    ... class zero_sum(bl.optim.Set):
    ...     def project(self, x):
    ...         return x - np.mean(x)
    >>> zero_sum().project(np.array([1.0, 2.0]))
    array([-0.5,  0.5])
    """

    @abstractmethod
    def project(self, x: Vector) -> Vector:
        """Return the point of the set that is nearest to x.

        Args:
            x: Point, shape (d,).

        Returns:
            The nearest point in the Euclidean norm, shape (d,).
        """

    def prox(self, x: Vector, step: float) -> Vector:  # noqa: ARG002 - the nearest point, whatever the scale
        """The projection."""
        return self.project(x)


@dataclass(frozen=True)
class projected(Wrapper):
    """After the step of the optimizer inside, the nearest point of a set: Goldstein 1964, Levitin and Polyak 1966.

    Around an optimizer that scales each coordinate it is still the nearest point in the Euclidean norm. The start is
    not projected.
    Cost: that of the optimizer inside, and the projection.

    Args:
        inner: The optimizer.
        onto: `box`, `ball`, `simplex`, `nonnegative`, or a set of your own.

    >>> import numpy as np, burlab as bl
    >>> inside = bl.optim.projected(bl.optim.GD(0.25), bl.optim.box(0.0, 1.0))
    >>> bl.minimize(lambda x: np.sum((x - np.array([2.0, 0.5])) ** 2), np.zeros(2), inside, steps=60).x.round(6)
    array([1. , 0.5])
    """

    onto: Set

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.onto, Set):  # pyright: ignore[reportUnnecessaryIsInstance] - users pass anything
            raise ArgumentError(
                f"projected goes onto a bl.optim.Set, got {shown(self.onto)}. Pass one such as bl.optim.box(0.0, 1.0); "
                "a penalty such as bl.optim.l1(0.1) belongs to bl.optim.proximal."
            )

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Queries) -> tuple[Vector, State]:
        """The step, and back into the set."""
        after, state = self.advance(g, state, x, t, f)
        return self.onto.project(after), state


@dataclass(frozen=True, eq=False)
class box(Set):
    """low <= x <= high, entry by entry.

    Args:
        low, high: Numbers, or arrays of shape (d,); infinite for no bound.

    >>> import numpy as np, burlab as bl
    >>> bl.optim.box(-1.0, np.array([1.0, np.inf])).project(np.array([3.0, 3.0]))
    array([1., 3.])
    """

    low: Any
    high: Any

    def __post_init__(self) -> None:
        low, high = as_floats(self.low, "low of box"), as_floats(self.high, "high of box")
        if broadcast_shape(low.shape, high.shape) is None:
            raise ShapeError(f"low and high of box have shapes {low.shape} and {high.shape}. Pass two of one shape.")
        if not np.all(np.less_equal(low, high)):
            raise ArgumentError(f"a box has low <= high, got low = {shown(self.low)} and high = {shown(self.high)}.")

    def project(self, x: Vector) -> Vector:
        """Every entry at its nearest bound."""
        return np.clip(x, np.asarray(self.low, x.dtype), np.asarray(self.high, x.dtype))


@dataclass(frozen=True)
class nonnegative(Set):
    """x >= 0.

    >>> import numpy as np, burlab as bl
    >>> bl.optim.nonnegative().project(np.array([-1.0, 2.0]))
    array([0., 2.])
    """

    def project(self, x: Vector) -> Vector:
        """Negative entries at 0."""
        return np.maximum(x, 0.0)


@dataclass(frozen=True, eq=False)
class ball(Set):
    """|x - center| <= radius, in the Euclidean norm.

    Args:
        radius: A number, not negative.
        center: A number, or an array of shape (d,).

    >>> import numpy as np, burlab as bl
    >>> bl.optim.ball(1.0).project(np.array([3.0, 4.0]))
    array([0.6, 0.8])
    """

    radius: Hyper = 1.0
    center: Any = 0.0

    def __post_init__(self) -> None:
        not_below(self, 0.0, "radius")

    def project(self, x: Vector) -> Vector:
        """The nearest point on the line to the center."""
        center = np.asarray(self.center, x.dtype)
        distance = np.linalg.norm(x - center)
        outside = distance > self.radius
        return np.where(outside, center + self.radius / np.where(outside, distance, 1.0) * (x - center), x)


@dataclass(frozen=True)
class simplex(Set):
    """x >= 0 with sum(x) = total: probabilities where total is 1.

    Exact, by Michelot 1986 (the result equals that of Duchi et al. 2008, who sort): a few passes over x drop the
    entries that end at 0, until none is left to drop.

    Args:
        total: A number above 0.

    >>> import numpy as np, burlab as bl
    >>> bl.optim.simplex().project(np.array([0.5, 1.0, -1.0]))
    array([0.25, 0.75, 0.  ])
    """

    total: Hyper = 1.0

    def __post_init__(self) -> None:
        not_below(self, 0.0, "total", strict=True)

    def project(self, x: Vector) -> Vector:
        """max(x - shift, 0), where the entries above the shift sum to total + shift times their number."""
        y = x - np.max(x)  # moves the shift only, which then lies in [-total, 0)

        def drop(state: dict[str, Any]) -> Any:
            kept = (y > state["shift"]).astype(y.dtype)
            count = np.sum(kept)
            return {"shift": (np.sum(kept * y) - self.total) / count, "count": count, "before": state["count"]}

        start = drop({"shift": -self.total, "count": float(x.size + 1)})
        shift = while_loop(lambda state: state["count"] < state["before"], drop, start)["shift"]
        return np.maximum(y - shift, 0.0)
