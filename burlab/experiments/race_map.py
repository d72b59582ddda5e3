"""The map of a race in two dimensions: the heights of the problem, and the paths of the racers over it."""

from collections.abc import Mapping, Sequence

import numpy as np

from burlab.analysis.coordinate_names import coordinate_names
from burlab.analysis.height_map import HeightMap, PathBox, height_map, known_points, map_over
from burlab.charts import Curve, Dots, Map
from burlab.charts.limits import along
from burlab.charts.palette import dash_of
from burlab.problems import FiniteSum
from burlab.problems.point import as_start
from burlab.run import Run
from burlab.typing import Indices, Numbers

from .racer import Racer
from .setting import Setting

_REACH = 3.0  # sizes of the first box beyond which no path is followed


class RaceMap:
    """Heights over a box that follows the paths, computed at first use."""

    def __init__(self, setting: Setting) -> None:
        self._problem = setting.problem
        start = as_start(setting.start(setting.seeds[0]), "x0")
        self._start = start.tree
        self._box = PathBox(self._problem, np.concatenate([leaf.ravel() for leaf in start.leaves]), _REACH)
        self._labels = coordinate_names(start.tree)
        self._heights: HeightMap | None = None
        self._version = 0

    def chart(self, racers: Sequence[Racer], firsts: Mapping[str, int] | None = None) -> Map:
        """The map with the path of every racer: that of its first seed, and those of others faintly.

        firsts: the step from which the path of a racer is drawn, by name; else all of it is.
        """
        firsts = firsts or {}
        paths = {r.name: [_from(run, firsts.get(r.name, 0)) for run in r.runs if run.path is not None] for r in racers}
        every = [path for found in paths.values() for path in found]
        if self._box.follow(np.concatenate([np.empty((0, 2)), *every])):
            self._heights = None
        curves: list[Curve] = []
        dots: list[Dots] = []
        for racer in racers:
            for k, path in reversed(list(enumerate(paths[racer.name]))):
                seen = path[self._seen(path)]
                label = "" if k else racer.name
                curves.append(Curve(seen[:, 0], seen[:, 1], label, racer.colour, k > 0, dash_of(racer.colour)))
                if not k and len(seen) and np.isfinite(path[-1]).all():
                    dots.append(Dots(path[-1:, 0], path[-1:, 1], "", racer.colour, hints=(racer.name,)))
        heights, known = self._known_heights(), known_points(self._problem)
        return map_over(
            self._box.bounds, heights, "paths", tuple(curves), (*known, *dots), name="paths", version=self._version,
            labels=self._labels,
        )  # fmt: skip

    def _known_heights(self) -> HeightMap | None:
        """Return the heights over the box; None where values depend on random numbers."""
        random = isinstance(self._problem, FiniteSum) and self._problem.oracle.keyed
        if self._heights is None and not random:
            self._heights = height_map(self._problem, self._start, self._box.bounds)
            self._version += 1
        return self._heights

    def _seen(self, path: Numbers) -> Indices:
        """Positions of the points of a path that can be seen apart, both ends among them."""
        near = np.flatnonzero(np.isfinite(path).all(axis=1))
        return near[along(path[near], box=self._box.bounds)]


def _from(run: Run, first: int) -> Numbers:
    """The points of a path from a step on."""
    steps, points = run.path or (np.empty(0), np.empty((0, 2)))
    return points[max(int(np.searchsorted(steps, first, side="right")) - 1, 0) :]
