"""`schedule`: the order of work, and which nodes share one loop.

A stage is either one node that a library kernel computes, or a group of nodes of one iteration space: inside a group a
value passes from node to node in a register, or in a row of the stack. Library kernels go first when they can, so that
groups grow as large as they may.
"""

import heapq
from collections import defaultdict
from collections.abc import Container, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from burlab.compiler.ir.iteration import IterationSpace
from burlab.compiler.ir.strides import Shape, StridedView, elements, is_whole
from burlab.graph import Graph, Node
from burlab.graph.operation import Ending

from .fusion import FusionGroups, find_fusion, stacked
from .locate import Located

MAX_GROUP = 256  # nodes of one loop: beyond, registers spill and compile time grows faster than the group
_MIN_LARGE = 64  # elements that had better spill than go through memory
_MAX_LARGE_GROUP = 1024  # nodes of one loop over so many


class Stage(NamedTuple):
    """Nodes computed together in one loop nest over a space; without one by the library: one, or one execution."""

    nodes: tuple[Node, ...]
    space: IterationSpace | None


@dataclass(frozen=True, slots=True)
class Scheduled:
    """Stages in an order in which every operand is ready before it is used. Printed, it has one line per stage."""

    located: Located
    stages: tuple[Stage, ...]

    def __str__(self) -> str:
        index = self.located.graph.index
        names = (" ".join(f"%{index[n]} {n.op}" for n in stage.nodes) for stage in self.stages)
        kinds = ("kernel" if stage.space is None else f"loop {list(stage.space.shape)}" for stage in self.stages)
        return "\n".join(f"{kind}: {nodes}" for kind, nodes in zip(kinds, names, strict=True))


def schedule(located: Located) -> Scheduled:
    """Group nodes into loops and kernel calls, in an order of work."""
    alone = _numbers_alone(located) if located.options.gear == "replay" else None
    return Scheduled(located, (alone,) if alone else tuple(_Scheduler(located).stages()))


def _numbers_alone(located: Located) -> Stage | None:
    """One stage of all nodes where these are single numbers: the graph's order serves, and segments get their own."""
    graph, views = located.graph, located.views
    work = tuple(n for n in graph.nodes if not n.row.leaf and views[n].base is n)
    if not work or not all(n in located.loops and (not n.shape or stacked(n) == 1) for n in work):
        return None
    read = {views[x].base for n in work for x in n.inputs}
    return None if any(n.shape and n in read for n in work) else Stage(work, IterationSpace(()))


class _Home(NamedTuple):
    """The groups that may take a node. reduces, ends: it reduces a value of the shape to rows, or ends the loop."""

    shape: Shape
    reduces: bool = False
    ends: bool = False


@dataclass(slots=True)
class _Queue:
    """Nodes whose operands are known, by what may compute them; what ends chains first, then the lowest number.

    early: what comes at once, so that its operands need not stay.
    """

    number: dict[Node, int]
    spaces: dict[Shape, IterationSpace]
    homes: dict[Node, _Home | None]
    early: Container[Node]
    kernels: list[tuple[int, Node]] = field(default_factory=list[tuple[int, Node]])
    groups: dict[_Home, list[tuple[int, Node]]] = field(default_factory=lambda: defaultdict(list))

    def push(self, n: Node) -> None:
        home = self.homes[n]
        later = -1 if n in self.early else int(home is None and not n.row.adds_up)
        heap = self.kernels if home is None else self.groups[home]
        heapq.heappush(heap, (self.number[n] + later * len(self.number), n))

    def next_group(self) -> IterationSpace | None:
        """Numbers first: a loop that waits for them can be one instead of two. Then where rows are reduced."""
        waiting = [
            (bool(home.shape), home.shape not in self.spaces, heap[0][0], home.shape)
            for home, heap in self.groups.items()
            if heap
        ]
        if not waiting:
            return None
        shape = min(waiting)[-1]
        return self.spaces.get(shape) or IterationSpace(shape)

    def heaps(self, space: IterationSpace) -> list[list[tuple[int, Node]]]:
        """Return the waiting nodes that a group over this space can take: those of its shape, and row values."""
        return [heap for home, heap in self.groups.items() if heap and takes(space, home)]


def takes(space: IterationSpace, home: _Home) -> bool:
    """Return True if nodes of this home are elements, reductions or row values of a space, or can end its loop."""
    if home.ends:
        return home.shape == space.shape and not space.reduced
    return home.shape == space.shape or (space.has_row(home.shape) and not home.reduces)


def _fusion_groups(graph: Graph, views: dict[Node, StridedView], shapes: set[Shape]) -> dict[Node, Node]:
    """For values of these shapes, one that stands for all those that are computed of each other, or of equal ones.

    A loop then takes no more than one leaf of x: equal leaves share a function, which is compiled once. Values that no
    sum ends are free, as those of rows are.
    """
    groups = FusionGroups()
    for n in graph.nodes if shapes else ():
        shape = n.inputs[0].shape if n.row.epilogue else n.shape
        if shape in shapes:
            for x in n.inputs:
                base = views[x].base
                if base.shape == shape and not base.row.reduction:
                    groups.join(base, n)
    ended = {groups.of(n) for n in list(groups) if n.row.epilogue}
    return {n: groups.of(n) for n in list(groups) if groups.of(n) in ended}


class _Scheduler:
    """waits: how many operands of a node are not done. missing: of these, those that are not deferred either."""

    def __init__(self, located: Located) -> None:
        graph, views = located.graph, located.views
        self.views = views
        self.loops = located.loops
        self.after = located.after
        self.early = located.options.early
        fusion = find_fusion(graph, views, located.loops)
        self.reductions = {n for n in fusion.reductions if not _is_apart(n, located)}
        self.epilogues = {n for n in fusion.epilogues if not _is_apart(n, located)}
        self.fusion_group = _fusion_groups(
            graph, views, {n.inputs[0].shape for n in self.epilogues if n.row.epilogue is Ending.SQUARES}
        )
        self.waits: dict[Node, int] = {}
        self.missing: dict[Node, int] = {}
        self.users: dict[Node, list[Node]] = defaultdict(list)
        self.once_deferred: set[Node] = set()  # ready, but not needed when they could have been computed
        self.deferred: set[Node] = set()  # of these, those that are not needed yet
        self.outputs = {views[y].base for y in graph.outputs}
        self.together = {n: execution.nodes for execution in located.executions for n in execution.nodes}
        leaves = {n for n in graph.nodes if n.row.leaf}
        self.homes = {n: self._home(n) for n in graph.nodes if n not in leaves and views[n].base is n}
        self.queue = _Queue(graph.index, fusion.spaces, self.homes, located.options.early)
        for n in self.homes:
            bases = self.needs(n)
            self.waits[n] = self.missing[n] = len(bases - leaves)
            for base in bases:
                self.users[base].append(n)
            if not self.waits[n]:
                self.queue.push(n)

    def needs(self, n: Node) -> set[Node]:
        """The bases that a node waits for."""
        return {self.views[x].base for x in (*n.inputs, *self.after.get(n, ()))}

    def _home(self, n: Node) -> _Home | None:
        """Return the groups that may take a node; None for the library's."""
        if n in self.reductions:
            return _Home(n.inputs[0].shape, reduces=True)
        if n in self.epilogues:
            return _Home(n.inputs[0].shape, ends=True)
        return _Home(self.loops[n]) if n in self.loops else None

    def stages(self) -> Iterator[Stage]:
        done: set[Node] = set()
        while True:
            if self.queue.kernels:
                n = heapq.heappop(self.queue.kernels)[1]
                if n in done:
                    continue
                nodes = self.together.get(n, (n,))  # they have the same inputs, so all are ready with the first
                done.update(nodes)
                yield Stage(nodes, None)
                for user in (user for n in nodes for user in self.finish(n)):
                    if not self.waits[user]:
                        self.queue.push(user)
                continue
            space = self.queue.next_group()
            if space is None:
                assert not any(self.waits.values()), "`after` goes round in a circle"
                return
            stage = self.group(space)
            if stage.nodes:
                yield stage

    def group(self, space: IterationSpace) -> Stage:
        """All nodes of the space that are ready, or become ready inside the group itself, but for deferred ones."""
        group, later = list[Node](), list[Node]()
        barred: set[Node] = set()  # they need the whole array of a member
        most = _MAX_LARGE_GROUP if elements(space.shape) >= _MIN_LARGE else MAX_GROUP
        while len(group) < most or not space.shape:
            waiting = self.queue.heaps(space)
            if not waiting:
                break
            n = heapq.heappop(min(waiting))[1]
            if space.shape and self.defers(n):
                continue
            if group and self.fusion_group.get(n) is not self.fusion_group.get(group[0]):
                later.append(n)
                continue
            group.append(n)
            for user in self.finish(n):
                if not self.joins(user, n, space):
                    barred.add(user)
                if not self.waits[user]:
                    if user in barred:
                        later.append(user)
                    else:
                        self.queue.push(user)
        for n in later:
            self.queue.push(n)
        sums = self.reductions | self.epilogues
        whole = any(n in sums for n in group) or len({self.loops[n] for n in group}) != 1
        return Stage(tuple(group), space if whole else IterationSpace(self.loops[group[0]]))

    def finish(self, n: Node) -> list[Node]:
        """Count a node as done; its users."""
        users = self.users[n]
        for user in users:
            self.waits[user] -= 1
            self.missing[user] -= 1
            self.wake(user)
        return users

    def defers(self, n: Node) -> bool:
        """Defer an elementwise node while each of its users waits for something else, if that costs no memory.

        So what a backward pass needs is computed there, in the loop that uses it, and not stored in between.
        """
        users = self.users[n]
        far = users and n not in self.outputs and n not in self.once_deferred and n in self.loops
        far = far and n not in self.early
        if not far or any(self.missing[user] < 2 for user in users) or self.freed_by(n) > n.nbytes:
            return False
        self.once_deferred.add(n)
        self.deferred.add(n)
        for user in users:
            self.missing[user] -= 1
        return True

    def freed_by(self, n: Node) -> int:
        """Bytes of the operands that no other node waits for."""
        bases = {self.views[x].base for x in n.inputs}
        return sum(
            base.nbytes
            for base in bases
            if not base.row.leaf and not any(self.waits[user] for user in self.users[base] if user is not n)
        )

    def wake(self, user: Node) -> None:
        """Queue the deferred operands of a node that waits for nothing else."""
        if self.missing[user] or not self.waits[user]:
            return
        for n in self.needs(user) & self.deferred:
            self.deferred.remove(n)
            self.queue.push(n)

    def joins(self, user: Node, n: Node, space: IterationSpace) -> bool:
        """Return True if a user of a member may be a member too: of the space, and reading its own element or row."""
        home = self.homes[user]
        if home is None or not takes(space, home):
            return False
        if n.row.joins:  # it is in memory when the loop is done
            return False
        if not space.shape:
            return True
        views = [x for x in user.inputs if self.views[x].base is n]
        if user.row.joins:
            return all(is_whole(self.views[x], x) for x in views)
        return all(space.sees(x, self.views[x]) for x in views)


def _is_apart(n: Node, located: Located) -> bool:
    """Return True if a reduction must be the library's."""
    options = located.options
    return not options.compiled or located.is_added(n) or (options.strict and not n.shape)
