"""Operations without lanes among others: they go element by element, in a stage between those that are SIMD code.

What one stage of a loop leaves for a later one lies in buffers on the stack. An operation that has lanes for common
arguments is computed in them, and then once more by the library's function if an argument was of another kind. All
stores belong to the last stage, so that a result may take the bytes of what is read.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from burlab.compiler.ir.spelling import C_TYPES, fits, has_common_lanes, has_lanes, is_own
from burlab.graph import Node

from .loops import block, for_loop, values
from .nest import Array, LoopNest, Span
from .simd import ONE_BY_ONE, lanes_pragma, may_have_lanes, widest_of

_MIN_OPERATIONS = 8  # operations with lanes, none of them a function, that are worth stages of their own


class Walk(NamedTuple):
    """A loop along the last axis of a nest.

    variable: its name, which goes from `first` to before `end`, `size` steps at most. before: lines that begin an
    iteration. start: the index along the axis of the first one.
    """

    variable: str
    first: int | str
    end: int | str
    size: int
    before: tuple[str, ...] = ()
    start: int | str = 0


def has_stages(nest: LoopNest, spans: Sequence[Span]) -> bool:
    """Return True if the innermost loop over these spans has operations without lanes, and others that are worth it."""
    apart = [n for n in nest.members if not has_lanes(n)]
    if not apart or nest.plan.note or not may_have_lanes(nest, spans):
        return False
    many = len(nest.members) - len(apart) >= _MIN_OPERATIONS
    return many or any(map(has_common_lanes, apart)) or any(map(is_own, nest.members))


def staged(
    nest: LoopNest, spans: Sequence[Span], walk: Walk, ending: Callable[[Mapping[Node, str]], list[str]]
) -> list[str]:
    """The stages of a walk of `walk.size` steps at most. ending: the last lines of a step, given all names."""
    phase = _phases(nest)
    last = max(phase.values())
    last += last % 2
    ended = {nest.plan.views[x].base for n in nest.step.nodes if n.row.epilogue for x in n.inputs}.union(nest.results)
    read = {n: last for n in nest.members if n in ended}
    for n in nest.members:
        for x in n.inputs:
            base = nest.plan.views[x].base
            read[base] = max(read.get(base, 0), phase[n])
    kept = [n for n in nest.members if read.get(n, 0) > phase[n]]
    strides = (*[0] * (len(nest.sizes) - 1), 1)
    buffers = {n: Array(f"(b{k} - {walk.start})" if walk.start else f"b{k}", strides) for k, n in enumerate(kept)}
    writer = _Stages(nest, spans, walk, buffers)
    lines = [f"alignas(64) {C_TYPES[n.dtype]} b{k}[{walk.size}];" for k, n in enumerate(kept)]
    for k in range(last + 1):
        nodes = [n for n in nest.members if phase[n] == k]
        lines += writer.apart(nodes) if k % 2 else writer.in_lanes(nodes, ending if k == last else None)
    return ["{", *lines, "}"]


def _phases(nest: LoopNest) -> dict[Node, int]:
    """The number of the stage of each node, as late as may be: odd without lanes."""
    inputs = {n: [nest.plan.views[x].base for x in n.inputs] for n in nest.members}
    depth: dict[Node, int] = {}  # stages without lanes that come before it
    for n in nest.members:
        depth[n] = max((depth[x] + (not has_lanes(x)) for x in inputs[n] if x in depth), default=0)
    most = max(depth[n] + (not has_lanes(n)) for n in nest.members)
    late = dict.fromkeys(nest.members, most)
    for n in reversed(nest.members):
        late[n] -= not has_lanes(n)
        for x in inputs[n]:
            if x in late:
                late[x] = min(late[x], late[n])
    return {n: 2 * k + (not has_lanes(n)) for n, k in late.items()}


@dataclass(frozen=True, slots=True)
class _Stages:
    """Writes the stages of a walk. buffers: of what a later stage reads."""

    nest: LoopNest
    spans: Sequence[Span]
    walk: Walk
    buffers: dict[Node, Array]

    @property
    def _indices(self) -> list[str]:
        return [f"i{axis}" for axis in range(len(self.nest.sizes))]

    def _of(self, nodes: Sequence[Node], others: Sequence[Node] = ()) -> LoopNest:
        """The nest that computes some nodes, and reads what these and the others take."""
        arrays, here = dict[Node, Array](), set(nodes)
        for x in (*(x for n in nodes for x in n.inputs), *others):
            base = self.nest.plan.views[x].base
            if x in self.nest.arrays:
                arrays[x] = self.nest.arrays[x]
            elif base in self.buffers and base not in here:
                arrays[base] = self.buffers[base]
        return replace(self.nest, arrays=arrays, members=tuple(nodes))

    def _loop(self, body: Sequence[str], pragma: str) -> list[str]:
        variable, first, end, _, before, _ = self.walk
        return for_loop(variable, first, end, [*before, *body], pragma=pragma)

    def _lanes(self, nodes: Sequence[Node]) -> str:
        return lanes_pragma(self.walk.size, widest_of(nodes) if nodes else self.nest.widest, nodes)

    def _stored(self, names: Mapping[Node, str], nodes: Sequence[Node]) -> list[str]:
        places = {n: self.buffers[n].at(self._indices, self.spans) for n in nodes if n in self.buffers}
        return [f"{place} = {names[n]};" for n, place in places.items()]

    def in_lanes(
        self, nodes: Sequence[Node], ending: Callable[[Mapping[Node, str]], list[str]] | None = None
    ) -> list[str]:
        """A stage of SIMD code; the last one stores and adds up."""
        if not nodes and not ending:
            return []
        ended = [x for n in self.nest.step.nodes if n.row.epilogue for x in n.inputs]
        others = [*ended, *self.nest.results] if ending else []
        lines, names = values(self._of(nodes, others), self._indices, self.spans, True)
        return self._loop([*lines, *self._stored(names, nodes), *(ending(names) if ending else [])], self._lanes(nodes))

    def apart(self, nodes: Sequence[Node]) -> list[str]:
        """A stage without lanes, but for common arguments."""
        common = [n for n in nodes if has_common_lanes(n)]
        lines = self._one_by_one([n for n in nodes if not has_common_lanes(n)])
        if not common:
            return lines
        nest = self._of(common)
        quick, names = values(nest, self._indices, self.spans, True)
        for n in common:
            arguments = ", ".join([*(nest.named(x, names) for x in n.inputs), names[n]])
            quick.append(f"rare |= {fits(n).symbol}({arguments}) ? 0 : 1;")
        walk = self._loop([*quick, *self._stored(names, common)], self._lanes(common))
        return [*lines, "{ std::int64_t rare = 0;", *walk, *block("if (rare)", self._one_by_one(common)), "}"]

    def _one_by_one(self, nodes: Sequence[Node]) -> list[str]:
        if not nodes:
            return []
        lines, names = values(self._of(nodes), self._indices, self.spans, False)
        return self._loop([*lines, *self._stored(names, nodes)], ONE_BY_ONE)
