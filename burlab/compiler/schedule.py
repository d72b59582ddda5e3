"""The order of work, and which elementwise nodes share one loop.

A stage is either one node that a library kernel computes, or a group of elementwise nodes of one shape: inside a group
a value passes from node to node in a register. Library kernels go first when they can, so that groups grow as large as
they may.
"""

import heapq
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from burlab.graph import Graph, Node
from burlab.graph.control import executions

from .layout import LEAVES, Ref, Shape, loop_shape

LARGEST_GROUP = 256  # nodes of one loop: beyond, registers spill and compile time grows faster than the group


class Stage(NamedTuple):
    """Nodes computed together: `fused` in one loop over their shape, or by the library: one node, or one execution."""

    nodes: tuple[Node, ...]
    fused: bool


@dataclass(slots=True)
class _Queue:
    """Nodes whose operands are known, by what may compute them; lowest number first."""

    number: dict[Node, int]
    kernels: list[tuple[int, Node]] = field(default_factory=list[tuple[int, Node]])
    groups: dict[Shape, list[tuple[int, Node]]] = field(default_factory=lambda: defaultdict(list))

    def push(self, n: Node, fused: bool) -> None:
        heapq.heappush(self.groups[loop_shape(n)] if fused else self.kernels, (self.number[n], n))

    def next_group(self) -> Shape | None:
        """Numbers first: a loop that waits for them can be one instead of two. Then the oldest."""
        waiting = [(bool(shape), heap[0][0], shape) for shape, heap in self.groups.items() if heap]
        return min(waiting)[2] if waiting else None


def schedule(graph: Graph, refs: dict[Node, Ref], fuses: Callable[[Node], bool]) -> list[Stage]:
    """The stages of a graph in an order in which every operand is ready before it is used."""
    waits: dict[Node, int] = {}
    users: dict[Node, list[Node]] = defaultdict(list)
    queue = _Queue(graph.index)
    for n in graph.nodes:
        if n.op in LEAVES or refs[n].root is not n:
            continue
        roots = {refs[x].root for x in n.inputs}
        waits[n] = sum(root.op not in LEAVES for root in roots)
        for root in roots:
            users[root].append(n)
        if not waits[n]:
            queue.push(n, fuses(n))
    together = {n: execution.nodes for execution in executions(graph) for n in execution.nodes}
    return list(_stages(queue, waits, users, fuses, refs, together))


def _stages(
    queue: _Queue,
    waits: dict[Node, int],
    users: dict[Node, list[Node]],
    fuses: Callable[[Node], bool],
    refs: dict[Node, Ref],
    together: dict[Node, tuple[Node, ...]],
) -> Iterator[Stage]:
    done: set[Node] = set()
    while True:
        if queue.kernels:
            n = heapq.heappop(queue.kernels)[1]
            if n in done:
                continue
            nodes = together.get(n, (n,))  # they have the same inputs, so all are ready with the first
            done.update(nodes)
            yield Stage(nodes, fused=False)
            for user in (user for n in nodes for user in users[n]):
                waits[user] -= 1
                if not waits[user]:
                    queue.push(user, fuses(user))
            continue
        shape = queue.next_group()
        if shape is None:
            return
        yield _group(queue, shape, waits, users, fuses, refs)


def _group(
    queue: _Queue,
    shape: Shape,
    waits: dict[Node, int],
    users: dict[Node, list[Node]],
    fuses: Callable[[Node], bool],
    refs: dict[Node, Ref],
) -> Stage:
    """All nodes of the shape that are ready, or that become ready inside the group itself."""
    heap, group, later = queue.groups[shape], list[Node](), list[Node]()
    barred: set[Node] = set()  # they read a member through a view, so they need its whole array
    while heap and (len(group) < LARGEST_GROUP or not shape):
        n = heapq.heappop(heap)[1]
        group.append(n)
        for user in users[n]:
            waits[user] -= 1
            if not (fuses(user) and loop_shape(user) == shape) or (shape and _looks_at(user, n, refs)):
                barred.add(user)
            if not waits[user]:
                if user in barred:
                    later.append(user)
                else:
                    queue.push(user, fused=True)
    for n in later:
        queue.push(n, fuses(n))
    return Stage(tuple(group), fused=True)


def _looks_at(user: Node, n: Node, refs: dict[Node, Ref]) -> bool:
    """Whether some input of `user` is a view of `n`."""
    return any(x is not n and refs[x].root is n for x in user.inputs)
