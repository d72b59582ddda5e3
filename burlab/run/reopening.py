"""A run of the same kind that begins at another point."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from burlab.errors import ShapeError, StatusError
from burlab.graph import tree

if TYPE_CHECKING:
    from .run import Run


def reopened(run: "Run", opener: "Callable[[tree.Tree], Run] | None", x0: tree.Tree) -> "Run":
    """Return a run at step 0 of another start, with the hyperparameters as they are; those on a schedule follow it.

    Args:
        run: The run whose place it takes.
        opener: Opens a run at a start; None of a loaded run.
        x0: The start.

    Raises:
        StatusError: There is no opener.
        ShapeError: x0 has other shapes.
    """
    if opener is None:
        raise StatusError("a loaded run cannot begin at another point. Use a run of bl.minimize(problem, x0, ...).")
    other = opener(x0)
    if (new := _shapes(other.x)) != (old := _shapes(run.x)):
        raise ShapeError(f"x0 has arrays of shapes {new}, but the run has {old}. Open another run for that.")
    for name in run.hyper:
        if not run.hyper.follows(name) and (value := run.hyper[name]) != other.hyper[name]:
            other.hyper[name] = value
    return other


def _shapes(x: tree.Tree) -> list[tuple[int, ...]]:
    return [np.shape(leaf) for leaf in tree.flatten(x)[0]]
