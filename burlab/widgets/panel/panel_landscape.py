"""The plane of a run with two parameters: how high the function is there, and the path of the run."""

import threading
from collections.abc import Sequence
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
        self._parent: Any = run.parent
        self._box = self._first_box(run)
        self._followed: Numbers | None = None  # the path that was looked at last
        self._wanted: Numbers | None = None  # the box of the heights that are there or being computed
        self._thread: threading.Thread | None = None

    @property
    def box(self) -> Numbers:
        """The bounds of both parameters, shape (2, 2)."""
        return self._box.bounds

    def refresh(self, run: Any, points: Numbers) -> None:
        """Follow a path, shape (n, 2), out of the box, and start to compute heights for a new one.

        A run that has branched off begins with a new box: the old path may have gone far.
        """
        if run.parent is not self._parent:
            self._parent, self._followed, self._box = run.parent, None, self._first_box(run)
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

    def _first_box(self, run: Any) -> PathBox:
        points = run.path[1]
        return PathBox(run.problem, points[0] if len(points) else flat(run.x), _REACH)

    def _compute(self, problem: Any, x: tree.Tree, box: Numbers) -> None:
        try:
            self.heights = height_map(problem, x, box)
            self.version += 1
        except Exception as error:
            self.why = f"no contour: {error}"


def flat(x: tree.Tree) -> Numbers:
    """All entries of a point."""
    return np.concatenate([np.ravel(np.asarray(leaf, np.float64)) for leaf in tree.flatten(x)[0]])


def point_like(x: tree.Tree, numbers: Sequence[float]) -> tree.Tree:
    """Return a point of the form of x that holds these numbers.

    >>> point_like({"a": np.float32(0.0), "b": np.zeros(1)}, [1.0, 2.0])
    {'a': array(1., dtype=float32), 'b': array([2.])}
    """
    leaves, structure = tree.flatten(x)
    arrays = [np.asarray(leaf) for leaf in leaves]
    ends = np.cumsum([array.size for array in arrays])[:-1]
    parts = np.split(np.asarray(numbers, np.float64), ends)
    return tree.unflatten(
        structure, [part.reshape(a.shape).astype(a.dtype) for part, a in zip(parts, arrays, strict=True)]
    )
