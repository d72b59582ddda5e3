"""The plane of a run with two parameters: how high the function is there, and the path of the run."""

import threading
from typing import Any

import numpy as np

from burlab.analysis.height_map import HeightMap, PathBox, height_map
from burlab.graph import tree
from burlab.typing import Numbers

from .background_work import in_background

_REACH = 20.0  # times the first box: a run that diverges is not followed further


class PanelLandscape:
    """The contour of a panel. `refresh` is quick; heights are computed in a thread and come later.

    heights: None as long as there are none; version: how often they were computed. why: what went wrong with them.
    """

    def __init__(self, run: Any) -> None:
        self.heights: HeightMap | None = None
        self.version = 0
        self.why = ""
        points = run.path[1]
        self._box = PathBox(run.problem, points[0] if len(points) else flat(run.x), _REACH)
        self._followed: Numbers | None = None  # the path that was looked at last
        self._wanted: Numbers | None = None  # the box of the heights that are there or being computed
        self._thread: threading.Thread | None = None

    @property
    def box(self) -> Numbers:
        """The bounds of both parameters, shape (2, 2)."""
        return self._box.bounds

    def refresh(self, run: Any, points: Numbers) -> None:
        """Follow a path, shape (n, 2), out of the box, and start to compute heights for a new one."""
        if points is not self._followed:
            self._followed = points
            self._box.follow(points)
        if not self.computing and run.problem is not None and self.box is not self._wanted:
            self._wanted = box = self.box
            problem, x = run.problem, run.x
            self._thread = in_background(lambda: self._compute(problem, x, box), "landscape")

    @property
    def computing(self) -> bool:
        """Return True while heights are computed."""
        return self._thread is not None and self._thread.is_alive()

    def wait(self) -> None:
        """Wait for heights that are being computed."""
        if self._thread is not None:
            self._thread.join()

    def _compute(self, problem: Any, x: tree.Tree, box: Numbers) -> None:
        try:
            self.heights = height_map(problem, x, box)
            self.version += 1
        except Exception as error:
            self.why = f"no contour: {error}"


def flat(x: tree.Tree) -> Numbers:
    """All entries of a point."""
    return np.concatenate([np.ravel(np.asarray(leaf, np.float64)) for leaf in tree.flatten(x)[0]])
