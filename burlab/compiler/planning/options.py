"""What a plan is made for: the gear that carries it out, and what else is required of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from burlab.graph import Node

from .in_place import Pairs

Gear = Literal["compiled", "replay"]


@dataclass(frozen=True, slots=True)
class PlanOptions:
    """What decides a plan besides its graph.

    gear: "compiled", for generated loops that read through views; "replay", for library kernels on dense arrays, where
    single numbers and short lanes share loops; "kernels", for library kernels alone, one for each node. strict: sums in
    plain order. check_finite: the call ends with NonFinite if any value was inf or nan. accumulate: how many outputs,
    the first ones, are added to what their arrays hold. keep: every value stays in the workspace to the end, so that
    all of them can be looked at. written_out: every known number stands in the text, as in exported code. after: nodes
    that wait for others besides their operands. in_place: see `in_place.py`.
    """

    gear: Gear | Literal["kernels"] = "compiled"
    strict: bool = False
    check_finite: bool = False
    accumulate: int = 0
    keep: bool = False
    written_out: bool = False
    after: Mapping[Node, tuple[Node, ...]] = field(default_factory=dict[Node, tuple[Node, ...]])
    in_place: Pairs = frozenset()

    @property
    def compiled(self) -> bool:
        """Whether loops are generated, which read through views."""
        return self.gear == "compiled"

    def of_parts(self, accumulate: int) -> "PlanOptions":
        """The options of the plans of sub-graphs."""
        return PlanOptions(self.gear, self.strict, accumulate=accumulate, written_out=self.written_out)
