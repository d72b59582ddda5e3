"""The tree of branched runs: a run holds its parent, and lists its children while other code holds them."""

import weakref
from typing import TYPE_CHECKING

from burlab.graph.tree import Tree

if TYPE_CHECKING:
    from .run import Run


class Family:
    """The relatives of a run. parent: the run that it branched from, at: the step at which it did, None for the first.

    x0: where it began instead, None if it began where its parent did.

    >>> import numpy as np, burlab as bl
    >>> run = bl.minimize(lambda x: np.sum(x**2), np.ones(1), bl.optim.GD(0.25), steps=2)
    >>> other = run.fork(lr=0.5)
    >>> run.family.children == (other,), other.family.parent is run, other.family.at
    (True, True, 2)
    """

    def __init__(self, run: "Run") -> None:
        self.run = weakref.ref(run)
        self.parent: Run | None = None
        self.at: int | None = None
        self.x0: Tree | None = None
        self.known: list[weakref.ref[Run]] = []

    @property
    def children(self) -> "tuple[Run, ...]":
        """The runs that branched from this one, in order, if other code still holds them."""
        return tuple(run for reference in self.known if (run := reference()) is not None)

    def adopt(self, child: "Run", x0: Tree | None = None) -> None:
        """Take a run that has just branched off as a child. x0: where it began, if elsewhere."""
        child.family.parent, child.family.at, child.family.x0 = self.run(), child.t, x0
        self.known = [*map(weakref.ref, self.children), weakref.ref(child)]

    def inherit(self, other: "Family") -> None:
        """Take the place of a run whose record is this one's now: under its parent, and over its children."""
        self.parent, self.at, self.x0 = other.parent, other.at, other.x0
        if self.parent is not None:
            line = self.parent.family
            line.known = [self.run if known() is other.run() else known for known in line.known]
        self.known, other.known = other.known, []
        for child in self.children:
            child.family.parent = self.run()

    def leave(self) -> None:
        """Belong to no family any more: a helper of computations is no branch."""
        if self.parent is not None:
            line, run = self.parent.family, self.run()
            line.known = [known for known in line.known if known() is not run]
        self.parent = self.at = self.x0 = None
