"""Test functions for optimizers, with their known minima and constants."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from burlab.errors import ArgumentError, ShapeError
from burlab.graph.node import Node
from burlab.runtime.checks.numbers import shown, whole
from burlab.runtime.plain import as_array, as_floats
from burlab.runtime.ranges import Range, number_in
from burlab.typing import ArrayLike

Points = np.ndarray[Any, np.dtype[np.float64]]
Formula = Callable[[Any], Any]


MAX_DIMENSION = 1 << 28  # two gigabytes a vector


def dimension(dim: object, least: int, name: str = "dim") -> int:
    """Return the number of dimensions, or of other parts, at least `least`. Raises ArgumentError for others."""
    if isinstance(dim, Node):
        raise ArgumentError(
            f"{name} is a traced value, expected a whole number. Pass an int; a function of the library is called "
            "first: f = bl.problems.rosenbrock(), then bl.minimize(f, ...)."
        )
    return whole(dim, name, least, MAX_DIMENSION)


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True, repr=False)
class TestFunction:
    """A function of a vector with its known minima and constants; a `problem` of `bl.minimize`.

    Called with x, shape (dim,), it returns f(x). It is plain NumPy, so `bl.grad`, `bl.hessian` and `bl.vmap` take it.
    Its points are float64 and read-only.

    Args:
        name: Its name in the literature.
        formula: f in NumPy.
        start: The usual starting point, shape (dim,); if there is none, one that shows the difficulty of f.
        domain: Lower and upper bound of each coordinate of the usual domain, shape (dim, 2).
        minima: All global minimizers, shape (k, dim); k = 0 if f is unbounded below, k = 1 if they are a continuum.
        minimum: f at the minima, or -inf.
        source: The publication that defines f.
        saddles: Known saddle points, shape (k, dim).
        smooth: True if f is differentiable at its minima.
        smoothness: Upper bound of the curvature of f, or None.
        strong_convexity: Lower bound of the curvature of f, or None.

    Raises:
        ShapeError: For points of another dimension than `start`.

    >>> import burlab as bl
    >>> f = bl.problems.rosenbrock()
    >>> f, float(f(f.start)), f.minima
    (<rosenbrock in 2 dimensions, minimum 0>, 24.199999999999996, array([[1., 1.]]))
    """

    __test__: ClassVar[bool] = False  # or pytest would take a class of this name for one of its own

    name: str
    formula: Formula
    start: Points
    domain: Points
    minima: Points
    minimum: float
    source: str
    saddles: Points = field(default_factory=lambda: np.empty((0, 0)))
    smooth: bool = True
    smoothness: float | None = None
    strong_convexity: float | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):  # pyright: ignore[reportUnnecessaryIsInstance] - users pass anything
            raise ArgumentError(f"name={shown(self.name)}, expected a str such as 'rosenbrock'.")
        if not callable(self.formula):  # pyright: ignore[reportUnnecessaryIsInstance] - users pass anything
            raise ArgumentError(f"formula of {self.name} is a {type(self.formula).__name__}, expected a function of x.")
        number_in(Range(-np.inf, np.inf, infinite=True), self.minimum, f"minimum of {self.name}")
        dim = as_floats(self.start, f"start of {self.name}").size
        for name, shape in {"start": (dim,), "domain": (dim, 2), "minima": (-1, dim), "saddles": (-1, dim)}.items():
            given = as_floats(getattr(self, name), f"{name} of {self.name}").copy()
            if not dim or given.size % dim or (name == "domain" and given.size != 2 * dim):
                wanted = str(shape).replace("-1", "n")
                raise ShapeError(f"{name} of {self.name} has shape {given.shape}, expected {wanted}.")
            points = given.reshape(shape)
            points.setflags(write=False)
            object.__setattr__(self, name, points)

    def __call__(self, x: ArrayLike) -> Any:
        """Return f(x), a number. x: shape (dim,). Raises ShapeError for another shape."""
        point = x if isinstance(x, Node) else np.asarray(as_array(x, "x"), np.float64)
        if point.shape != (self.dim,):
            raise ShapeError(
                f"x has shape {point.shape}, but this {self.name} needs ({self.dim},). "
                "Pass one point, or map it over many with bl.vmap."
            )
        return self.formula(point)

    @property
    def dim(self) -> int:
        """The number of coordinates."""
        return len(self.start)

    @property
    def __name__(self) -> str:
        return self.name

    @property
    def __burlab_reads__(self) -> tuple[Formula]:
        """The object that a trace depends on: the formula alone."""
        return (self.formula,)

    def __repr__(self) -> str:
        return f"<{self.name} in {self.dim} dimensions, minimum {self.minimum:.6g}>"


def like(x: Any, constant: Points) -> Any:
    """Return a constant in the dtype of x, so that a float32 point is not widened."""
    return np.asarray(constant, x.dtype)


def box(low: float, high: float, dim: int) -> Points:
    """Return the same bounds for every coordinate, shape (dim, 2)."""
    return np.tile([low, high], (dim, 1))
