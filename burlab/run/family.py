"""The tree of branched runs: a run holds its parent, and lists its children while other code holds them."""

import weakref
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .run import Run


class Family:
    """The relatives of a run. parent: the run that it branched from, at: the step at which it did, None for the first.

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
        self.known: list[weakref.ref[Run]] = []

    @property
    def children(self) -> "tuple[Run, ...]":
        """The runs that branched from this one, in order, if other code still holds them."""
        return tuple(run for reference in self.known if (run := reference()) is not None)

    def adopt(self, child: "Run") -> None:
        """Take a run that has just branched off as a child."""
        child.family.parent, child.family.at = self.run(), child.t
        self.known = [*map(weakref.ref, self.children), weakref.ref(child)]

    def inherit(self, other: "Family") -> None:
        """Take the place of a run whose record is this one's now: under its parent, and over its children."""
        self.parent, self.at = other.parent, other.at
        if self.parent is not None:
            line = self.parent.family
            line.known = [self.run if known() is other.run() else known for known in line.known]
        self.known, other.known = other.known, []
        for child in self.children:
            child.family.parent = self.run()
