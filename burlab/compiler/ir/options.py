"""Options of a build: the gear that executes a graph, and further requirements."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from burlab.graph import Node
from burlab.runtime.coerce import Array

Gear = Literal["compiled", "replay"]
Remat = Literal["sqrt"] | int
"""The limit of what the backward pass reads: as many segments as the square root of the residuals, or bytes."""
Aliases = frozenset[tuple[int, int]]
NO_ALIASES: Aliases = frozenset()
"""Numbers of an input and of the output that has its memory."""
After = Mapping[Node, tuple[Node, ...]]
"""Nodes that wait for others besides their operands."""

MAX_CUT_THREADS = 4  # so many have cuts of their own


def team_of(threads: int) -> int:
    """Return for how many threads steps are cut: so many, or 16 if they are more than a few.

    Few share a product best by rows, which later steps go on with; many by columns, each of which reads its own
    weights. Cuts change no bit.

    >>> team_of(2), team_of(5)
    (2, 16)
    """
    return threads if threads <= MAX_CUT_THREADS else 16


@dataclass(frozen=True, slots=True)
class PlanOptions:
    """All that decides a plan besides its graph.

    Args:
        gear: "compiled", for generated loops that read through views; "replay", for library kernels on dense arrays,
            where single numbers and short lanes share loops; "kernels", for library kernels alone, one for each node.
        strict: sums are in plain order, with the same bits in each gear.
        check_finite: a call ends with NonFinite if any value was inf or nan.
        in_place: inputs and outputs to which callers give the same memory, see `planning/in_place.py`.
        lends: arrays may lie in the memory of results until these are written; not with in_place.
        remat: values that the backward pass computes again, see `planning/rematerialize.py`; None: none.
        accumulate: how many of the first outputs are added to the contents of their arrays.
        keep: every value stays in the workspace to the end, so that all of them can be inspected.
        written_out: every known number stands in the text, as in exported code.
        after: nodes that wait for others besides their operands.
        early: nodes that are computed as soon as they can be; views among them are copied.
        spill: the folder of the file that holds the workspace, see `planning/spill.py`; None: memory does.
        shared: 0, or the number of samples of a tile (1 where there is none): several threads compute each step, see
            `codegen/sections.py`.
        threads: how many of them at most; 0: as many as the thread that calls may use.
        team: for how many threads steps are cut, see `team_of`.
        ticks: int64 array to which each call adds the nanoseconds of its steps, see `inspection/timed.py`.
    """

    gear: Gear | Literal["kernels"] = "compiled"
    strict: bool = False
    check_finite: bool = False
    in_place: Aliases = NO_ALIASES
    lends: bool = False
    remat: Remat | None = None
    accumulate: int = 0
    keep: bool = False
    written_out: bool = False
    after: After = field(default_factory=dict[Node, tuple[Node, ...]])
    early: frozenset[Node] = frozenset()
    spill: str | None = None
    shared: int = 0
    threads: int = 0
    team: int = 16
    ticks: Array | None = None

    @property
    def compiled(self) -> bool:
        """Return True if loops are generated, which read through views."""
        return self.gear == "compiled"

    def of_parts(self, accumulate: int, in_place: Aliases) -> "PlanOptions":
        """Return the options of sub-graphs' plans, of which this many first outputs are added to their arrays.

        in_place: the arrays that a loop can give its body in place; none where each node has a kernel of its own.
        """
        pairs = NO_ALIASES if self.gear == "kernels" else in_place
        own = PlanOptions(self.gear, self.strict, in_place=pairs, accumulate=accumulate, written_out=self.written_out)
        return replace(own, shared=self.shared, threads=self.threads, team=self.team)
