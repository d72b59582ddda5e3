"""The reverse sweep of both branches of a `cond`, and the residuals that they leave for it."""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from burlab.graph.graph import Graph, Region, topological
from burlab.graph.linear_nodes import zeros
from burlab.graph.node import Node
from burlab.graph.signatures import form_of
from burlab.graph.substitute import keep, rebuild

from .scan_forward import like
from .stored_residuals import residuals
from .sweep import vjp


class PulledChoice(NamedTuple):
    """The choice of the cotangents of some inputs.

    region: its sub-graphs take the inputs numbered in `read`, then the results of `forward` numbered in `residuals`,
    then cotangents. forward: the choice itself, with more results.
    """

    region: Region
    forward: Region
    read: tuple[int, ...]
    residuals: tuple[int, ...]


@lru_cache(maxsize=256)
def pulled_back(region: Region, items: tuple[int, ...], wanted: tuple[int, ...]) -> PulledChoice:
    """The cotangents of the inputs `wanted`, from those of the results `items`."""
    sides = [_swept(graph, items, wanted) for graph in region.graphs]
    slots = _slots(region, sides)
    shapes = [_some(slot) for slot in slots]
    kept = [set(side.stored) for side in sides]
    used = [k for k, slot in enumerate(slots) if any(x in stored for x, stored in zip(slot, kept, strict=True))]
    back: list[tuple[Graph, set[Node]]] = []
    for at, (graph, side) in enumerate(zip(region.graphs, sides, strict=True)):
        stored = {k: like(shapes[k]) for k in used}
        known = {x: stored[k] for k in used if (x := slots[k][at]) is not None and x in kept[at]}
        outputs = tuple(rebuild(side.shares, known, keep))
        back.append((Graph((*graph.inputs, *stored.values(), *side.cotangents), outputs), set(topological(outputs))))
    count = len(region.graphs[0].inputs)
    read = [k for k in range(count) if any(graph.inputs[k] in needed for graph, needed in back)]
    graphs = (Graph((*(g.inputs[k] for k in read), *g.inputs[count:]), g.outputs) for g, _ in back)
    forward = (
        Graph(
            graph.inputs,
            tuple(zeros(*form_of(x)) if (y := slot[at]) is None else y for slot, x in zip(slots, shapes, strict=True)),
        )
        for at, graph in enumerate(region.graphs)
    )
    return PulledChoice(Region(tuple(graphs)), Region(tuple(forward)), tuple(read), tuple(used))


class _Swept(NamedTuple):
    """The reverse sweep of a branch: what its inputs receive, from cotangents and from stored values."""

    shares: list[Node]
    cotangents: list[Node]
    stored: list[Node]


def _swept(graph: Graph, items: tuple[int, ...], wanted: tuple[int, ...]) -> _Swept:
    ys = [graph.outputs[item] for item in items]
    cotangents = [like(y) for y in ys]
    shares = vjp(ys, [graph.inputs[k] for k in wanted], cotangents)
    return _Swept(shares, cotangents, residuals(graph, len(graph.inputs), shares, cotangents))


def _slots(region: Region, sides: Sequence[_Swept]) -> list[tuple[Node | None, ...]]:
    """The results of the forward choice, in each branch: its own ones, then residuals.

    Residuals of one form share a result, and so its memory. None: a branch has no value there.
    """
    slots: list[list[Node | None]] = [[*ys] for ys in zip(*(graph.outputs for graph in region.graphs), strict=True)]
    first = len(slots)
    for at, (graph, side) in enumerate(zip(region.graphs, sides, strict=True)):
        results = set(graph.outputs)
        for x in side.stored:
            if x in results:
                continue
            free = (slot for slot in slots[first:] if slot[at] is None and form_of(_some(slot)) == form_of(x))
            slot = next(free, None)
            if slot is None:
                slot = list[Node | None]([None] * len(sides))
                slots.append(slot)
            slot[at] = x
    return [tuple(slot) for slot in slots]


def _some(slot: Sequence[Node | None]) -> Node:
    """A value of a slot."""
    return next(x for x in slot if x is not None)
