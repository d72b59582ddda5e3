"""The domain of the unknowns of a least squares problem: anywhere, within bounds, or on a manifold."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from burlab.errors import ArgumentError, ShapeError
from burlab.optim.arithmetic import where
from burlab.optim.optimizer import Vector
from burlab.optim.sets import box
from burlab.runtime.checks.callable import check_takes
from burlab.runtime.checks.numbers import shown, whole
from burlab.transforms import jacfwd


@dataclass(frozen=True, slots=True)
class StepDomain:
    """bounds: of each unknown, or None. retract: the point of a manifold that p, shape (t,), leads to from x, or None.

    directions: t, or None for as many as unknowns.
    """

    bounds: box | None = None
    retract: Callable[[Any, Any], Any] | None = None
    directions: int | None = None

    def along(self, x: Vector, g: Vector, rows: Vector) -> tuple[Any, Any]:
        """Return gradient and Jacobian by the directions: on a manifold by p at 0."""
        if self.retract is None or self.directions is None:
            return g, rows

        def retracted(p: Vector) -> Any:
            return self._retracted(x, p)

        columns: Any = jacfwd(retracted)(np.zeros(self.directions, x.dtype))
        return g @ columns, rows @ columns

    def free(self, x: Vector, g: Vector) -> Any:
        """Return True for each direction but those at a bound which f falls towards."""
        if self.bounds is None:
            return np.ones(g.shape, bool)
        low, high = np.asarray(self.bounds.low, x.dtype), np.asarray(self.bounds.high, x.dtype)
        return ~(((x <= low) & (g > 0)) | ((x >= high) & (g < 0)))

    def after(self, x: Vector, p: Vector) -> tuple[Vector, Vector]:
        """Return the point that a step leads to, and the step that leads there: within bounds a shorter one."""
        if self.retract is not None:
            return self._retracted(x, p), p
        if self.bounds is None:
            return x + p, p
        to = self.bounds.project(x + p)
        return to, to - x

    def inside(self, x: Vector, after: Vector) -> Vector:
        """Return the next point: of a start that is out of bounds the nearest within them."""
        if self.bounds is None:
            return after
        nearest = self.bounds.project(x)
        return where(np.all(nearest == x), after, nearest)

    def _retracted(self, x: Vector, p: Vector) -> Any:
        assert self.retract is not None
        to = self.retract(x, p)
        if np.shape(to) != x.shape:
            raise ShapeError(f"retract returned shape {np.shape(to)}, expected {x.shape}, as x is.")
        return to


def check_domain(domain: StepDomain, kind: str) -> None:
    """Raise ArgumentError for fields that do not fit each other. kind: the optimizer."""
    if not (domain.bounds is None or isinstance(domain.bounds, box)):  # pyright: ignore[reportUnnecessaryIsInstance] - users pass anything
        raise ArgumentError(f"bounds of {kind} is {shown(domain.bounds)}, expected bl.optim.box(low, high) or None.")
    if (domain.retract is None) != (domain.directions is None):
        raise ArgumentError(f"{kind} takes retract= and directions= together: x after a step p of so many numbers.")
    if domain.retract is not None:
        check_takes(domain.retract, "retract", "x and a step", "It is retract(x, p), which is x for p = 0.", 2)
        whole(domain.directions, "directions", 1)
        if domain.bounds is not None:
            raise ArgumentError(f"{kind} takes either bounds= or retract=. Leave one out.")
