"""Computing values again for the backward pass instead of keeping them from the forward pass.

Chen et al. 2016, arXiv:1604.06174, on the order of a plan instead of a chain: the forward steps are cut into segments;
what passes from one segment to a later one stays, all else of a segment is computed again when the backward pass comes
to it. The same operations on the same numbers give the same bits. A copy of a node computes it again; `after` keeps
copies from being computed at once.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass, field

from burlab.compiler.ir.options import After, Remat
from burlab.compiler.ir.plan import KernelPlan, nodes_of
from burlab.errors import ArgumentError
from burlab.graph import Graph, Node
from burlab.graph.substitute import copy, keep
from burlab.runtime.checks.numbers import shown

from .residuals import forward_of, residuals

Planner = Callable[[Graph, After], KernelPlan]


def check_remat(remat: object) -> Remat | None:
    """Return the user's `remat`. Raises ArgumentError if it is neither "sqrt", nor bytes, nor None."""
    if (
        remat is None
        or (isinstance(remat, str) and remat == "sqrt")
        or (isinstance(remat, int) and not isinstance(remat, bool) and remat >= 0)
    ):
        return remat
    raise ArgumentError(f'remat must be "sqrt", a number of bytes, or None, got {shown(remat)}.')


def rematerialize(plan: KernelPlan, make: Planner) -> KernelPlan:
    """Plan the graph again, so that its backward pass computes values again instead of reading residuals.

    With `options.remat` "sqrt" there are as many segments as the square root of the number of residuals; with a number
    of bytes for the workspace, nothing is computed again that need not be, elementwise operations before all others,
    and segments as few as suffice. make: plans a graph in which nodes come after others. Raises ArgumentError where no
    plan fits.
    """
    how = plan.options.remat
    assert how is not None
    lazy = make(plan.graph, {**plan.after, **_deferred(plan)})
    values = residuals(lazy)
    if how == "sqrt":
        less = _segmented(lazy, math.ceil(math.sqrt(len(values))), make) if values else plan
        return min(plan, less, key=lambda p: p.workspace_bytes)
    least = plan
    for attempt in _attempts(plan, lazy, len(values), make):
        least = min(least, attempt, key=lambda p: p.workspace_bytes)
        if attempt.workspace_bytes <= how:
            return attempt
    raise ArgumentError(
        f"remat={how}: no way to compute values again needs less than {least.workspace_bytes} bytes of workspace. "
        f"Give at least that many, or {plan.workspace_bytes} to keep them all."
    )


def _attempts(plan: KernelPlan, lazy: KernelPlan, count: int, make: Planner) -> Iterable[KernelPlan]:
    """Plans, in the order of the values that they compute again."""
    yield plan
    yield lazy
    if count:
        yield _without(lazy, _cheap(lazy), make)
    segments = 2
    while segments <= 2 * count:
        yield _segmented(lazy, segments, make)
        segments += max(segments // 2, 1)


def _deferred(plan: KernelPlan) -> dict[Node, tuple[Node, ...]]:
    """Backward nodes whose operands are known long before their first use wait until just before it.

    Else a partial derivative would be computed in the forward pass, a residual besides the value that it is made of.
    """
    at, users = _positions(plan), _users(plan)
    forward = forward_of(plan.graph)
    firsts: dict[Node, int] = {}
    for n in reversed(plan.graph.nodes):
        if n in forward or n not in at or n.size == 1 or not n.row.elementwise:
            continue
        first = min((at[user] for user in users[n]), default=0)
        ending = {
            base
            for x in n.inputs
            if not _is_free(base := plan.views[x].base) and max(at[user] for user in users[base]) < first
        }
        if first - 1 > at[n] and len(ending) <= 1:  # it takes no more to wait than to be there
            at[n] = firsts[n] = first
    tokens = _tokens(plan, set(firsts))
    return {n: tokens[first - 1] for n, first in firsts.items()}


def _is_free(base: Node) -> bool:
    """Return True if a value needs hardly any memory of the workspace."""
    return base.row.leaf or base.size == 1


def _positions(plan: KernelPlan) -> dict[Node, int]:
    """The step of each node that is computed; the first one if there are several."""
    at: dict[Node, int] = {}
    for k, step in enumerate(plan.steps):
        for n in nodes_of(step):
            at.setdefault(n, k)
    return at


def _users(plan: KernelPlan) -> dict[Node, list[Node]]:
    """The nodes that read the array of each node, through any views."""
    users: dict[Node, list[Node]] = defaultdict(list)
    for n in plan.graph.nodes:
        if plan.views[n].base is n:
            for base in {plan.views[x].base for x in n.inputs}:
                users[base].append(n)
    return users


def _tokens(plan: KernelPlan, displaced: Container[Node] = ()) -> list[tuple[Node, ...]]:
    """For each step a node that stands for it, or for the last one before that has one; not one that is to move."""
    tokens: list[tuple[Node, ...]] = []
    for step in plan.steps:
        own = [n for n in nodes_of(step) if not n.row.leaf and plan.views[n].base is n and n not in displaced]
        tokens.append(tuple(own[:1]) or (tokens[-1] if tokens else ()))
    return tokens


def _segmented(plan: KernelPlan, segments: int, make: Planner) -> KernelPlan:
    """Keep residuals that pass between segments of about equal bytes, and all of the last segment."""
    values = residuals(plan)
    at, users, forward = _positions(plan), _users(plan), forward_of(plan.graph)
    total = sum(n.nbytes for n in values)
    cuts: list[int] = []
    seen = 0
    for n in values:
        seen += n.nbytes
        if seen * segments >= total * (len(cuts) + 1) and len(cuts) < segments - 1:
            cuts.append(at[n])
    last = cuts[-1] if cuts else -1

    def stays(n: Node) -> bool:
        """Return True if a forward step reads it behind a cut."""
        ends = [at[user] for user in users[n] if user in forward]
        return any(at[n] <= cut < max(ends, default=-1) for cut in cuts)

    return _without(plan, {n for n in values if at[n] <= last and n in forward and not stays(n)}, make, stays)


def _cheap(plan: KernelPlan) -> set[Node]:
    """The residuals that elementwise operations alone make of others."""
    values, forward = residuals(plan), forward_of(plan.graph)
    dropped: set[Node] = set()
    for n in values:
        residual = set(values) - dropped - {n}
        if n in forward and all(x.row.elementwise for x in _closure(plan, n, residual)):
            dropped.add(n)
    return dropped


def _closure(plan: KernelPlan, value: Node, residual: set[Node]) -> set[Node]:
    """The computed nodes between residuals and a value."""
    found: set[Node] = set()
    stack = [value]
    while stack:
        n = stack.pop()
        base = plan.views[n].base
        if base in found or base in residual or _is_free(base):
            continue
        found.add(base)
        stack += base.inputs
    return found


@dataclass(slots=True)
class _Copier:
    """Copies what computes values again. dropped: residuals that are not stored; is_stored: for other values."""

    plan: KernelPlan
    dropped: set[Node]
    is_stored: Callable[[Node], bool]
    copies: dict[Node, Node] = field(default_factory=dict[Node, Node])

    def again(self, n: Node) -> Node:
        """A node of the forward pass, computed again unless its value is there; without recursion."""
        stack = [n]
        while stack:
            top = stack[-1]
            missing = [] if self._has(top) else [x for x in top.inputs if x not in self.copies]
            if missing:
                stack += missing
                continue
            stack.pop()
            if top not in self.copies:
                self.copies[top] = top if self._has(top) else copy(top, tuple(self.copies[x] for x in top.inputs))
        return self.copies[n]

    def _has(self, n: Node) -> bool:
        base = self.plan.views[n].base
        return base not in self.dropped and (_is_free(base) or base.row.unbounded or self.is_stored(base))


def _without(
    plan: KernelPlan, dropped: set[Node], make: Planner, stays: Callable[[Node], bool] = lambda _: False
) -> KernelPlan:
    """The plan in which the backward pass computes dropped values again. stays: further stored values."""
    values, forward = set(residuals(plan)), forward_of(plan.graph)
    copier = _Copier(plan, {n for n in dropped if not n.row.unbounded}, lambda n: n in values or stays(n))
    at, tokens = _positions(plan), _tokens(plan)
    early = [not forward.isdisjoint(nodes_of(step)) for step in plan.steps]
    new: dict[Node, Node] = {}
    for n in plan.graph.nodes:
        if n in forward or n.row.leaf:
            new[n] = n
        elif n in at and early[at[n]]:  # in a loop of the forward pass
            new[n] = keep(n, tuple(new[x] for x in n.inputs))
        else:
            again = [x in forward and plan.views[x].base in copier.dropped for x in n.inputs]
            inputs = zip(n.inputs, again, strict=True)
            new[n] = keep(n, tuple(copier.again(x) if lost else new[x] for x, lost in inputs))
    graph = Graph(plan.graph.inputs, tuple(new[y] for y in plan.graph.outputs))
    first = _first_uses(graph, {new[n]: k for n, k in at.items() if plan.views[n].base is n})
    after = {new[n]: tuple(new[t] for t in before) for n, before in plan.after.items()}
    for n, made in copier.copies.items():
        if n is not made and plan.views[n].base is n and first.get(made, 0) > 0:
            after[made] = tuple(new[t] for t in tokens[first[made] - 1])
    return make(graph, after)


def _first_uses(graph: Graph, at: dict[Node, int]) -> dict[Node, int]:
    """The step at which each node that has none yet is used first, given the steps of the others."""
    first = dict(at)
    for n in reversed(graph.nodes):
        for x in n.inputs:
            if x not in at and n in first:
                first[x] = min(first.get(x, first[n]), first[n])
    return first
