"""The loss over a plane through the space of parameters, with the path of a run in it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast
from zlib import crc32

import numpy as np

from burlab.charts.chart import Chart, Curve, Dots, Map
from burlab.charts.grid import axes, grid, lowest, shade
from burlab.errors import ArgumentError
from burlab.problems import TestFunction
from burlab.run import Run
from burlab.runtime.checks.numbers import real, shown, whole
from burlab.runtime.checks.text_table import aligned
from burlab.runtime.displayed import Displayed
from burlab.typing import ArrayLike, Numbers, Tree

from . import directions
from .directions import Directions
from .flat_objective import FlatObjective, Subject

_MARGIN = 0.2  # around a path, in its extent
_SNAPSHOTS = 100  # points of a path


@dataclass(frozen=True, slots=True, eq=False)
class Landscape(Displayed):
    """f on a grid: value[j, i] is f at origin + a[i] * vectors[0] + b[j] * vectors[1].

    a: float64, shape (columns,). b: (rows,). value: (rows, columns), not finite where f is not. origin: (d,).
    centre: (2,), the place of x in coordinates of the plane. vectors: (2, d). labels: of the axes. shares: (2,), how
    much of the path's variation each axis explains, or None. path: (n, 2), the points of a run in coordinates of the
    plane, the nearest points for those outside of it. path_steps: (n,), their steps. path_values: (n,), f at the
    points themselves, not at their places in the plane.
    """

    a: Numbers
    b: Numbers
    value: Numbers
    origin: Numbers
    centre: Numbers
    vectors: Numbers
    labels: tuple[str, str]
    shares: Numbers | None
    path: Numbers
    path_steps: Numbers
    path_values: Numbers

    @property
    def shade(self) -> Numbers:
        """The logarithm of the height above the lowest value, for detail in valleys; NaN where it is not finite."""
        return shade(self.value, lowest(self.value))

    def holds(self, x: Numbers) -> bool:
        """Return True if the place of a point, shape (d,), in the plane lies on the grid."""
        a, b = self.places(x[None])[0]
        return bool(self.a[0] <= a <= self.a[-1] and self.b[0] <= b <= self.b[-1])

    def places(self, points: Numbers) -> Numbers:
        """The nearest points of the plane, in its coordinates, shape (n, 2). points: shape (n, d).

        >>> plane = landscape(lambda x: np.sum(x**2), np.zeros(3), plane=np.eye(3)[:2], resolution=2)
        >>> plane.places(np.array([[0.5, -0.25, 7.0]])).tolist()
        [[0.5, -0.25]]
        """
        return _places(points, self.origin, self.vectors)

    def along(self, steps: Numbers, places: Numbers, values: Numbers) -> "Landscape":
        """The same plane with another path. steps: shape (n,). places: (n, 2), see `places`. values: shape (n,)."""
        return replace(self, path=places, path_steps=steps, path_values=values)

    def __repr__(self) -> str:
        finite = self.value[np.isfinite(self.value)]
        heights = f"{finite.min():.6g} to {finite.max():.6g}" if finite.size else "nowhere finite"
        rows = [("points", " x ".join(map(str, self.value.shape))), ("value", heights)]
        rows += [
            (label, f"{at[0]:.6g} to {at[-1]:.6g}") for label, at in zip(self.labels, (self.a, self.b), strict=True)
        ]
        rows += [("path", f"{len(self.path):,} points")] if len(self.path) else []
        return f"<Landscape>\n{aligned(rows)}"

    def chart(self) -> Chart:
        """Return a map with the path, whose dots are labelled with the true value and the step.

        >>> landscape(lambda x: np.sum(x**2), np.ones(5), resolution=3).chart().parts[0].heights.shape
        (3, 3)
        """
        dots = Dots(self.centre[:1], self.centre[1:], "x", 1, "ring")
        curves: tuple[Curve, ...] = ()
        end: tuple[Dots, ...] = ()
        if len(self.path):
            hints = tuple(f"step {int(s):,}: {v:.6g}" for s, v in zip(self.path_steps, self.path_values, strict=True))
            dots = Dots(self.path[:, 0], self.path[:, 1], "the run, at its true values", 1, "dot", hints)
            curves = (Curve(self.path[:, 0], self.path[:, 1], colour=1),)
            end = (Dots(self.path[-1:, 0], self.path[-1:, 1], "here", -1, "ring"),)
        x, y = axes((self.a[[0, -1]], self.b[[0, -1]]), self.labels)
        note = "" if self.shares is None else f"{self.shares.sum():.1%} of the path lies in this plane"
        version = crc32(self.value.tobytes())  # a renderer reuses the heights while it is the same
        part = Map("landscape", "loss", x, y, self.value, version, curves, (dots, *end), note, shade=self.shade)
        return Chart((part,), about="The loss over a plane")


def landscape(
    problem: Subject,
    x: Tree = None,
    *,
    plane: str | Sequence[Tree] | None = None,
    span: float | None = None,
    resolution: int = 41,
    seed: int = 0,
    indices: ArrayLike | None = None,
) -> Landscape:
    """The loss over a plane through x: `resolution` squared values, computed in C++.

    problem: a function of x, a `FiniteSum`, or a run, whose point and path are then drawn. indices: of a finite sum,
    the samples that count. A run whose value is not finite is drawn around the lowest point of its path, and the plane
    need not hold the rest of the path. plane: "axes", the two parameters themselves (the default where there are
    two); "random", filter-normalised directions (Li et al. 2018, arXiv:1712.09913; the default for others); "path",
    the principal axes of a run's path; "curvature", the two strongest eigenvectors of the Hessian; or two directions
    with x's structure. span: how far the plane reaches from x along each direction; by default 1, or as far as the
    path.

    >>> f = landscape(lambda x: np.sum(x**2), np.zeros(3), plane=np.eye(3)[:2], span=2.0, resolution=3)
    >>> f.value
    array([[8., 4., 8.],
           [4., 0., 4.],
           [8., 4., 8.]])
    """
    *_, finest = refinements(problem, x, plane=plane, span=span, resolutions=(resolution,), seed=seed, indices=indices)
    return finest


def refinements(
    problem: Subject,
    x: Tree = None,
    *,
    plane: str | Sequence[Tree] | None = None,
    span: float | None = None,
    resolutions: tuple[int, ...] = (11, 31, 91),
    seed: int = 0,
    indices: ArrayLike | None = None,
) -> Iterator[Landscape]:
    """Yield the same plane, finer and finer, for a picture that is refined while it is shown; see `landscape`.

    >>> [f.value.shape for f in refinements(lambda x: np.sum(x**2), np.ones(4), resolutions=(3, 9))]
    [(3, 3), (9, 9)]
    """
    objective = FlatObjective.of(problem, x, indices)
    if objective.x.size < 2:
        raise ArgumentError("x has one entry, and a plane needs two. Plot the function over that number instead.")
    sizes = [whole(r, "resolution", 2) for r in resolutions]
    reach = None if span is None else real(span, "span", 1e-300)
    run = problem if isinstance(problem, Run) and x is None else None
    steps, points = (np.empty(0), np.empty((0, objective.x.size))) if run is None else snapshots(run)
    values = np.array([objective.value(point) for point in points])
    astray = len(values) > 0 and not np.isfinite(values[-1]) and bool(np.isfinite(values).any())
    if astray:
        lowest = points[int(np.argmin(np.where(np.isfinite(values), values, np.inf)))]
        objective = FlatObjective.of(problem, objective.tree(lowest), indices)
    if plane is None:
        plane = "axes" if objective.x.size == 2 else "random"
    named = plane if isinstance(plane, str) else ""
    chosen = _directions(objective, plane, whole(seed, "seed", 0), points)
    origin = np.zeros(2) if named == "axes" else objective.x
    centre = _places(objective.x[None], origin, chosen.vectors)[0]
    path: Any = _places(points, origin, chosen.vectors)
    ends = _ends(objective, named, reach, path[:0] if astray else path)
    for size in sizes:
        a, b, at = grid(ends, size)
        value = objective.values_on(origin, chosen.vectors, at).reshape(size, size)
        yield Landscape(a, b, value, origin, centre, *chosen, path, steps, values)


def snapshots(run: Run, count: int = _SNAPSHOTS) -> tuple[Numbers, Numbers]:
    """Return points of a run up to its step, evenly in steps: their steps, shape (n,), and (n, d).

    They are computed again in a fork, whose record is that of the run up to its step.
    """
    other = run.fork()
    other.family.leave()
    try:
        steps = np.unique(np.round(np.linspace(0.0, float(other.t), count)))
        flat = FlatObjective.of(other, None).flat
        points: list[Numbers] = []
        for step in steps:
            other.seek(int(step))
            points.append(flat(other.x))
        return steps, np.stack(points)
    finally:
        other.stop()


def _places(points: Numbers, origin: Numbers, vectors: Numbers) -> Numbers:
    """The nearest points of a plane, in its coordinates; what is not finite stays so, and its own."""
    with np.errstate(all="ignore"):
        return (points - origin) @ np.linalg.pinv(vectors)


def _directions(objective: FlatObjective, plane: str | Sequence[Tree], seed: int, points: Numbers) -> Directions:
    if not isinstance(plane, str):
        return directions.given(objective, plane)
    if plane == "axes" and objective.x.size == 2:
        return directions.axes(objective)
    if plane == "path":
        if not len(points):
            raise ArgumentError("plane='path' needs a run: pass it in place of the problem, and no x.")
        return directions.path(points)
    makers = {"random": directions.random, "curvature": directions.curvature}
    if plane not in makers:
        raise ArgumentError(
            f"plane={shown(plane)} is not known for x with {objective.x.size} entries. Pass 'random', "
            "'curvature', 'path' (of a run), 'axes' (of two entries), or two directions."
        )
    return makers[plane](objective, seed)


def _ends(objective: FlatObjective, plane: str, span: float | None, path: Numbers) -> Numbers:
    """Return the ends of the grid, shape (2, 2): the span around x, or a box around the path with a margin."""
    centre = objective.x if plane == "axes" else np.zeros(2)
    if span is None and plane == "axes" and isinstance(objective.problem, TestFunction):
        ends = np.asarray(cast("Any", objective.problem).domain, np.float64)
    else:
        reach = (np.maximum(1.0, np.abs(centre)) if plane == "axes" else np.ones(2)) if span is None else span
        ends = np.stack([centre - reach, centre + reach], axis=1)
    near = path[np.isfinite(path).all(axis=1)]
    if span is not None or not len(near):
        return ends
    low, high = near.min(axis=0), near.max(axis=0)
    spare = _MARGIN * np.maximum(high - low, 1e-12)
    around = np.stack([low - spare, high + spare], axis=1)
    if plane == "path":
        return around
    return np.stack([np.minimum(ends[:, 0], around[:, 0]), np.maximum(ends[:, 1], around[:, 1])], axis=1)
