"""Dependence of a scan's results on its inputs, and forward mode: another scan, with tangents next to all values."""

from collections.abc import Container, Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from burlab.graph.graph import Graph, Region, ScanIterations
from burlab.graph.linear_nodes import zeros
from burlab.graph.node import Node
from burlab.graph.operation import Tangents
from burlab.graph.scan_nodes import iterations_of, result

from .sweep import Executions, between, jvp


class Parts(NamedTuple):
    """Numbers of inputs of a body by kind: carries, sequences, values from around it."""

    carries: tuple[int, ...]
    sequences: tuple[int, ...]
    captured: tuple[int, ...]

    @property
    def all(self) -> tuple[int, ...]:
        """All of them, in order."""
        return (*self.carries, *self.sequences, *self.captured)


def passes(n: Node, reached: set[Node]) -> bool:
    """Return True if this result depends on the reached inputs."""
    region, item = n.params.region, n.params.item
    varying, active = varying_numbers(region, seeds_of(n.inputs, reached))
    count = len(region.graphs[0].outputs)
    if item >= count:
        return item - count in varying
    return item in varying if item < iterations_of(region).carries else item in active


def seeds_of(inputs: Sequence[Node], reached: Container[Node]) -> frozenset[int]:
    """Return the numbers of the reached inputs."""
    return frozenset(k for k, x in enumerate(inputs) if x in reached)


@lru_cache(maxsize=256)
def varying_numbers(region: Region, seeds: frozenset[int]) -> tuple[frozenset[int], frozenset[int]]:
    """Return the numbers of the body's inputs, then of its outputs, that a derivative reaches in some iteration."""
    body, carries = region.graphs[0], iterations_of(region).carries
    varying = set(seeds)
    while True:
        reached = set(between([body.inputs[k] for k in sorted(varying)], body.outputs))
        active = {k for k, y in enumerate(body.outputs) if y in reached}
        new = {k for k in active if k < carries} - varying
        if not new:
            return frozenset(varying), frozenset(active)
        varying |= new


def split(numbers: Iterable[int], iterations: ScanIterations) -> Parts:
    """Numbers of inputs by kind, in order."""
    order = sorted(numbers)
    end = iterations.carries + iterations.sequences
    return Parts(
        tuple(k for k in order if k < iterations.carries),
        tuple(k for k in order if iterations.carries <= k < end),
        tuple(k for k in order if k >= end),
    )


# Forward mode.


def forward(n: Node, tangents: Tangents, executions: Executions) -> Node:
    """The tangent of a result; one execution computes those of all results."""
    key = execution(n)
    if key not in executions:
        executions[key] = _pushed(n, tangents)
    return executions[key].tangent(n)


def execution(n: Node) -> tuple[tuple[Node, ...], Region]:
    """Return the key that all results of one execution share."""
    return n.inputs, n.params.region


class _Pushed(NamedTuple):
    """The execution that carries tangents along, and the number of each result's tangent in it."""

    inputs: tuple[Node, ...]
    region: Region
    items: dict[int, int]

    def tangent(self, n: Node) -> Node:
        """The tangent of a result of the execution that was pushed."""
        return result(self.inputs, self.region, self.items[n.params.item])


def _pushed(n: Node, tangents: Tangents) -> _Pushed:
    """The execution that computes the tangents of all results of a node's execution."""
    iterations = iterations_of(n.params.region)
    region, varying, items = _with_tangents(n.params.region, seeds_of(n.inputs, tangents))
    end = iterations.carries + iterations.sequences
    starts = [tangents[x] if x in tangents else zeros(x.shape, x.dtype) for x in (n.inputs[k] for k in varying.carries)]
    along = [[tangents[n.inputs[k]] for k in part] for part in (varying.sequences, varying.captured)]
    xs = n.inputs
    inputs = (*xs[: iterations.carries], *starts, *xs[iterations.carries : end], *along[0], *xs[end:], *along[1])
    return _Pushed(inputs, region, items)


@lru_cache(maxsize=256)
def _with_tangents(region: Region, seeds: frozenset[int]) -> tuple[Region, Parts, dict[int, int]]:
    body, iterations = region.graphs[0], iterations_of(region)
    reached, active = varying_numbers(region, seeds)
    varying = split(reached, iterations)
    stacks = [k for k in sorted(active) if k >= iterations.carries]
    tangent = {k: like(body.inputs[k]) for k in varying.all}
    pushed = jvp(body.outputs, [body.inputs[k] for k in varying.all], [tangent[k] for k in varying.all])
    end = iterations.carries + iterations.sequences
    inputs = (
        *(*body.inputs[: iterations.carries], *(tangent[k] for k in varying.carries)),
        *(*body.inputs[iterations.carries : end], *(tangent[k] for k in varying.sequences)),
        *(*body.inputs[end:], *(tangent[k] for k in varying.captured)),
    )
    outputs = (*body.outputs[: iterations.carries], *(pushed[k] for k in varying.carries), *(pushed[k] for k in stacks))
    carries = iterations.carries + len(varying.carries)
    more = ScanIterations(carries, iterations.sequences + len(varying.sequences), iterations.length, iterations.reverse)
    items = {k: iterations.carries + at for at, k in enumerate(varying.carries)}
    items |= {k: carries + at for at, k in enumerate(stacks)}
    trails = len(outputs) + iterations.carries
    items |= {len(body.outputs) + k: trails + at for at, k in enumerate(varying.carries)}
    return Region((Graph(inputs, outputs),), more), varying, items


def like(x: Node) -> Node:
    """An input of the form of a node."""
    return Node("input", (), None, x.shape, x.dtype)
