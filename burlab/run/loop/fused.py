"""A step on one sample, or of a plain function, as one kernel: loss, gradient and update together, leaf by leaf.

A loop that computes a gradient, as the outer product of a layer's input and cotangent is, takes the step at once: no
gradient is stored that nobody reads, and the squares for the record's norms are added up on the way.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import cast

import numpy as np

from burlab.compiler.executable import Executable, build
from burlab.graph import Graph, Node
from burlab.graph.linear_nodes import broadcast, reshape
from burlab.graph.node import constant
from burlab.graph.numpy_api.promotion import node
from burlab.graph.numpy_api.reduction import sum_of_squares
from burlab.graph.operation import Ending
from burlab.graph.rewrite.simplify import simplify
from burlab.graph.substitute import inline
from burlab.optim.chunk import is_entrywise, resized
from burlab.optim.rule import UpdateRule
from burlab.problems.kernels.loss import Loss
from burlab.problems.point import Point
from burlab.runtime.dtypes import is_narrow_float

from .leaf_pieces import Known
from .placed_update import PlacedUpdate
from .step_halves import MIN_BYTES, StepHalves

STEP_UNITS = 1.0, 2.0**600, 2.0**-600
"""Factors of a step of float64, for its norm: the squares of one of these are in the range of a float64."""


@dataclass(frozen=True)
class FusedStep:
    """graph: the update of the whole vector. executable: of the step. pieces of x and the state: buffer, offset in it.

    leaves, given: how many of its inputs are x and numbers that the loss reads, and the loss's, which are these and the
    sample. halves: a long x is
    written by a second kernel, and `executable` is the first.
    """

    graph: Graph
    executable: Executable
    pieces: tuple[tuple[int, int], ...]
    leaves: int
    given: int
    halves: StepHalves | None = None

    @staticmethod
    def of(
        graph: Graph, rule: UpdateRule, loss: Loss, x: Point, threads: int = 1, asked: Loss | None = None
    ) -> "FusedStep | None":
        """The step of a simplified update; None if it mixes entries, makes queries, or is too large to compile.

        With `remat` it is None as well: one kernel needs memory for more values at a time. So it is for a narrow x.
        asked: the loss with its gradient, where the only query of the update is about that.
        """
        if loss.samples.options.remat is not None or is_narrow_float(x.leaves[0].dtype):
            return None
        parts = _parts(graph, rule, loss, x) if asked is None else _placed_parts(graph, rule, loss, x, asked)
        if parts is None:
            return None
        halves = parts.halves(threads) if parts.nbytes >= MIN_BYTES else None
        executable = build(parts.whole(), threads=threads) if halves is None else halves.first
        if executable.gear != "compiled":
            return None
        shared = len(x.leaves) + len(loss.samples.numbers)
        return FusedStep(graph, executable, parts.pieces(), shared, len(loss.samples.graph.inputs), halves)

    @property
    def executables(self) -> tuple[Executable, ...]:
        """The kernels of a step in order."""
        return (self.executable,) if self.halves is None else (self.executable, self.halves.second)

    @property
    def has_units(self) -> bool:
        """Return True if its last input is the units of the gradient's norm."""
        return self.executable.plan.graph.inputs[-1].params == "units"

    @property
    def updates(self) -> set[Node]:
        """The nodes of the update and the record, but not of the gradient."""
        graph = self.executable.plan.graph
        of_loss = set(graph.inputs[: self.given])
        squares = {n for n in graph.nodes if n.row.epilogue is Ending.SQUARES}
        written = graph.outputs[-len(self.pieces) :] if self.halves is None else ()
        return _dependents(graph, {*graph.inputs[self.given :], *written, *squares} - of_loss)

    def sees_sample(self, number: int) -> bool:
        """Return True if a node, by its number, depends on the sample of the step; always for sub-graphs."""
        graph = self.executable.plan.graph
        inside = number >= len(graph.nodes)
        return inside or graph.nodes[number] in _dependents(graph, set(graph.inputs[self.leaves : self.given]))


def _dependents(graph: Graph, seeds: set[Node]) -> set[Node]:
    """Return these nodes, and those that depend on any of them."""
    found = set(seeds)
    for n in graph.nodes:
        if not found.isdisjoint(n.inputs):
            found.add(n)
    return found


@dataclass(frozen=True)
class _StepNodes:
    """The nodes of a step. norms: the value, and squares of the gradient. numbers: metrics, schedules, what is logged.

    steps: the points minus the leaves. old, new: pieces of each buffer of the state. split: which have several.
    """

    inputs: tuple[Node, ...]
    norms: tuple[Node, Node]
    numbers: tuple[Node, ...]
    leaves: Sequence[Node]
    points: Sequence[Node]
    steps: Sequence[Node]
    old: Sequence[Sequence[Node]]
    new: Sequence[Sequence[Node]]
    split: Sequence[bool]

    @property
    def shared(self) -> list[Node]:
        """The new values of buffers that all entries share."""
        return [pieces[0] for pieces, split in zip(self.new, self.split, strict=True) if not split]

    def entries(self, pieces: Sequence[Sequence[Node]]) -> list[Node]:
        """Return the pieces of the other buffers."""
        return [piece for those, split in zip(pieces, self.split, strict=True) if split for piece in those]


class _Parts:
    """The graph of a step, made of those of the loss, the regularizer and the update."""

    def __init__(self, update: Graph, rule: UpdateRule, loss: Loss, x: Point) -> None:
        self.update, self.rule, self.loss, self.x = update, rule, loss, x
        dimension = sum(leaf.size for leaf in x.leaves)
        wide = x.leaves[0].dtype == np.float64  # squares of float32 are in its range
        self.units = (Node("input", (), "units", (), np.dtype(np.float64)),) if wide else ()
        self.split = [shape == (dimension,) for shape, _ in rule.state]  # which buffers come in pieces

    @property
    def nbytes(self) -> int:
        """The bytes of two buffers for x and for each buffer of the state that is as long."""
        return 2 * (1 + sum(self.split)) * sum(leaf.nbytes for leaf in self.x.leaves)

    def whole(self) -> Graph:
        """See `Fused` in `cpp/burlab/run/abi/plan.hpp`."""
        made = self._nodes()
        squares = _squares(made.steps)
        return simplify(Graph(made.inputs, (*made.norms, squares, *made.numbers, *made.points, *_flat(made.new))))

    def halves(self, threads: int) -> StepHalves | None:
        """Likewise in two kernels, see `StepHalves`."""
        if any(shape for (shape, _), split in zip(self.rule.state, self.split, strict=True) if not split):
            return None
        made = self._nodes()
        moves = Node("input", (), "moves", (), np.dtype(np.bool_))
        old, new = (*made.leaves, *made.entries(made.old)), (*made.points, *made.entries(made.new))
        written = [node("where", broadcast(moves, x.shape), y, x) for x, y in zip(old, new, strict=True)]
        factors = STEP_UNITS if self.units else STEP_UNITS[:1]
        norms = [
            _squares([node("mul", y, broadcast(constant(c, y.dtype), y.shape)) for y in made.steps]) for c in factors
        ]
        early = (*made.norms, *made.numbers, *made.shared)
        graph = simplify(Graph((*made.inputs, moves), (*early, *norms, *written)))
        places = {x: k for k, x in enumerate(made.inputs)}
        return StepHalves.of(graph, len(early), [places[x] for x in old], threads)

    def _nodes(self) -> "_StepNodes":
        leaves = self.loss.samples.graph.inputs[: len(self.x.leaves)]
        value, gradients, metrics = self._value(self.loss, self.loss.samples.graph.inputs)
        first, hypers, buffers = 2, len(self.rule.hyper), len(self.split)  # t, the hyperparameters, the state
        numbers = self.update.inputs[first : first + 1 + hypers]
        old = [self._inputs(k, first + 1 + hypers + k) for k in range(buffers)]
        new: list[Sequence[Node]] = []
        for k, (g, x) in enumerate(zip(gradients, leaves, strict=True)):
            state = [pieces[k if split else 0] for pieces, split in zip(old, self.split, strict=True)]
            known = (g, x, *numbers, *state, value)
            new.append(resized(self.update, dict(zip(self.update.inputs, known, strict=False)), x.shape))
        points = [outputs[0] for outputs in new]
        after = [[outputs[1 + c] for outputs in (new if split else new[:1])] for c, split in enumerate(self.split)]
        return self._step(value, gradients, (*metrics, *new[0][1 + buffers :]), points, old, after)

    def _step(
        self,
        value: Node,
        gradients: Sequence[Node],
        noted: tuple[Node, ...],
        points: Sequence[Node],
        old: Sequence[Sequence[Node]],
        new: Sequence[Sequence[Node]],
    ) -> "_StepNodes":
        """noted: metrics, and the numbers of the update."""
        given, first, hypers = self.loss.samples.graph.inputs, 2, len(self.rule.hyper)
        leaves, numbers = given[: len(self.x.leaves)], self.update.inputs[first : first + 1 + hypers]
        steps = [node("sub", a, b) for a, b in zip(points, leaves, strict=True)]
        norms = (value, _squares(self._in_units(gradients)))
        inputs = (*given, *numbers, *_flat(old), *self.units)
        return _StepNodes(inputs, norms, noted, leaves, points, steps, old, new, self.split)

    def _in_units(self, gradients: Sequence[Node]) -> Sequence[Node]:
        """Return the gradients in units, which differ from 1 if their squares exceed the range of a float64."""
        return [node("mul", g, broadcast(unit, g.shape)) for g in gradients for unit in self.units] or gradients

    def pieces(self) -> tuple[tuple[int, int], ...]:
        """Return the places of the leaves of x and the pieces of the state: buffer, offset."""
        sizes = [leaf.size for leaf in self.x.leaves]
        firsts = [sum(sizes[:k]) for k in range(len(sizes))]
        buffers = [(0, self.x.leaves[0].itemsize, True)]
        buffers += [(1 + k, dtype.itemsize, self.split[k]) for k, (_, dtype) in enumerate(self.rule.state)]
        return tuple((buffer, size * first) for buffer, size, split in buffers for first in (firsts if split else [0]))

    def _value(self, loss: Loss, given: Sequence[Node]) -> tuple[Node, list[Node], Sequence[Node]]:
        """Value, gradients and metrics, with the regularizer's. given: leaves, numbers of the loss, and a sample."""
        outputs = inline(loss.samples.graph, given)
        both = 1 + len(self.x.leaves)
        if loss.regularizer is not None:
            count = len(self.x.leaves) + len(loss.samples.numbers)
            terms = inline(loss.regularizer.graph, given[:count])
            both = min(both, len(terms))
            outputs[:both] = [node("add", a, b) for a, b in zip(outputs[:both], terms[:both], strict=True)]
        return outputs[0], outputs[1:both], outputs[both:]

    def _inputs(self, buffer: int, k: int) -> list[Node]:
        """The pieces of a buffer, which is input k of the update."""
        given = self.update.inputs[k]
        if not self.split[buffer]:
            return [given]
        return [Node("input", (), given.params, leaf.shape, given.dtype, given.weak) for leaf in self.x.leaves]


class _PlacedParts(_Parts):
    """The same for an update that asks about the loss at a point of its own."""

    def __init__(self, placed: PlacedUpdate, rule: UpdateRule, loss: Loss, x: Point, asked: Loss) -> None:
        super().__init__(placed.update, rule, loss, x)
        self.placed, self.asked = placed, asked

    def _nodes(self) -> "_StepNodes":
        return cast("_StepNodes", self.nodes)  # else there are no parts

    @cached_property
    def nodes(self) -> "_StepNodes | None":
        """The nodes, None where entries of leaves mix."""
        given, count, buffers = self.loss.samples.graph.inputs, len(self.x.leaves), len(self.split)
        shapes, first = [leaf.shape for leaf in self.x.leaves], 3 + len(self.rule.hyper)
        old = [self._inputs(k, first + k) for k in range(buffers)]
        known: Known = {n: n for n in self.update.inputs}
        known[self.update.inputs[1]] = tuple(given[:count])
        for k, pieces in enumerate(old):
            known[self.update.inputs[first + k]] = tuple(pieces) if self.split[k] else pieces[0]
        point = self.placed.place(known, shapes)
        if point is None:
            return None
        value, gradients, _ = self._value(self.asked, (*point, *given[count:]))
        after = self.placed.after(known, tuple(gradients), reshape(value, (1,)), shapes)
        if after is None:
            return None
        pieces = [n if isinstance(n, tuple) else (n,) for n in after]
        if not self.rule.logs_value:
            value = self._value(self.loss, given)[0]
        noted = tuple(n for numbers in pieces[1 + buffers :] for n in numbers)
        return self._step(value, gradients, noted, pieces[0], old, pieces[1 : 1 + buffers])


def _parts(update: Graph, rule: UpdateRule, loss: Loss, x: Point) -> _Parts | None:
    """The parts of a step; None for an update that mixes entries or makes queries."""
    entrywise = is_entrywise(update, sum(leaf.size for leaf in x.leaves))
    return _Parts(update, rule, loss, x) if entrywise and not rule.queries else None


def _placed_parts(update: Graph, rule: UpdateRule, loss: Loss, x: Point, asked: Loss) -> _Parts | None:
    """The same for an update with a question; None if it asks for more, or mixes entries of leaves."""
    placed = PlacedUpdate.of(update, rule)
    if placed is None or loss.samples.metrics:
        return None
    parts = _PlacedParts(placed, rule, loss, x, asked)
    return None if parts.nodes is None else parts


def _flat(pieces: Sequence[Sequence[Node]]) -> list[Node]:
    return [piece for those in pieces for piece in those]


def _squares(values: Sequence[Node]) -> Node:
    return reduce(lambda a, b: node("add", a, b), map(sum_of_squares, values))
