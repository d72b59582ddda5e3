"""Which derivatives reach what in a `scan`, and forward mode: another scan, with tangents beside all values."""

from collections.abc import Container, Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from burlab.graph.graph import Graph, Region, Turns
from burlab.graph.node import Node
from burlab.graph.numpy_api.composites import zeros
from burlab.graph.scan import result, turns_of


class Parts(NamedTuple):
    """Numbers of inputs of a body by kind: carries, sequences, values from around it."""

    carries: tuple[int, ...]
    sequences: tuple[int, ...]
    captured: tuple[int, ...]

    @property
    def all(self) -> tuple[int, ...]:
        """All of them, in order."""
        return (*self.carries, *self.sequences, *self.captured)


def flows(n: Node, reached: set[Node]) -> bool:
    """Whether a derivative by what is reached passes to this result."""
    region, item = n.params.region, n.params.item
    moving, active = moving_of(region, seeds_of(n.inputs, reached))
    count = len(region.graphs[0].outputs)
    if item >= count:
        return item - count in moving
    return item in moving if item < turns_of(region).carries else item in active


def seeds_of(inputs: Sequence[Node], reached: Container[Node]) -> frozenset[int]:
    """Which inputs are reached."""
    return frozenset(k for k, x in enumerate(inputs) if x in reached)


@lru_cache(maxsize=256)
def moving_of(region: Region, seeds: frozenset[int]) -> tuple[frozenset[int], frozenset[int]]:
    """The inputs of the body that a derivative reaches in some turn, and the outputs."""
    from .sweep import between

    body, carries = region.graphs[0], turns_of(region).carries
    moving = set(seeds)
    while True:
        reached = set(between([body.inputs[k] for k in sorted(moving)], body.outputs))
        active = {k for k, y in enumerate(body.outputs) if y in reached}
        new = {k for k in active if k < carries} - moving
        if not new:
            return frozenset(moving), frozenset(active)
        moving |= new


def split(numbers: Iterable[int], turns: Turns) -> Parts:
    """Numbers of inputs by kind, in order."""
    order = sorted(numbers)
    end = turns.carries + turns.sequences
    return Parts(
        tuple(k for k in order if k < turns.carries),
        tuple(k for k in order if turns.carries <= k < end),
        tuple(k for k in order if k >= end),
    )


# Forward mode.


class Pushed(NamedTuple):
    """The execution that carries tangents along, and the number of each result's tangent in it."""

    inputs: tuple[Node, ...]
    region: Region
    items: dict[int, int]

    def tangent(self, n: Node) -> Node:
        """The tangent of a result of the execution that was pushed."""
        return result(self.inputs, self.region, self.items[n.params.item])


def pushed(n: Node, tangents: dict[Node, Node]) -> Pushed:
    """The execution that gives the tangents of all results of a node's execution."""
    turns = turns_of(n.params.region)
    region, moving, items = _pushed(n.params.region, seeds_of(n.inputs, tangents))
    end = turns.carries + turns.sequences
    starts = [tangents[x] if x in tangents else zeros(x.shape, x.dtype) for x in (n.inputs[k] for k in moving.carries)]
    along = [[tangents[n.inputs[k]] for k in part] for part in (moving.sequences, moving.captured)]
    xs = n.inputs
    inputs = (*xs[: turns.carries], *starts, *xs[turns.carries : end], *along[0], *xs[end:], *along[1])
    return Pushed(inputs, region, items)


@lru_cache(maxsize=256)
def _pushed(region: Region, seeds: frozenset[int]) -> tuple[Region, Parts, dict[int, int]]:
    from .sweep import jvp

    body, turns = region.graphs[0], turns_of(region)
    reached, active = moving_of(region, seeds)
    moving = split(reached, turns)
    stacks = [k for k in sorted(active) if k >= turns.carries]
    tangent = {k: like(body.inputs[k]) for k in moving.all}
    moves = jvp(body.outputs, [body.inputs[k] for k in moving.all], [tangent[k] for k in moving.all])
    end = turns.carries + turns.sequences
    inputs = (
        *(*body.inputs[: turns.carries], *(tangent[k] for k in moving.carries)),
        *(*body.inputs[turns.carries : end], *(tangent[k] for k in moving.sequences)),
        *(*body.inputs[end:], *(tangent[k] for k in moving.captured)),
    )
    outputs = (*body.outputs[: turns.carries], *(moves[k] for k in moving.carries), *(moves[k] for k in stacks))
    carries = turns.carries + len(moving.carries)
    more = Turns(carries, turns.sequences + len(moving.sequences), turns.length, turns.reverse)
    items = {k: turns.carries + at for at, k in enumerate(moving.carries)}
    items |= {k: carries + at for at, k in enumerate(stacks)}
    trails = len(outputs) + turns.carries
    items |= {len(body.outputs) + k: trails + at for at, k in enumerate(moving.carries)}
    return Region((Graph(inputs, outputs),), more), moving, items


def like(x: Node) -> Node:
    """An input of the form of a node."""
    return Node("input", (), None, x.shape, x.dtype)
