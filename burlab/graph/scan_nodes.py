"""`scan` in a graph: a sub-graph executed for one element of some sequences after the other.

Inputs are the carries at the start, the sequences with the length as leading axis, then values that the body reads from
around it. The body takes the carries, one element of each sequence, and those values; it gives the next carries, then
what is stacked along a new leading axis. With c carries and n outputs of the body, result k < c is carry k at the end,
results c to n - 1 are stacked, and result n + k is the trail of carry k: what it was when each iteration began. Unused
results are not stored, so trails, which reverse mode reads, cost nothing where no derivative is taken.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from .control_nodes import ControlOperation
from .graph import Graph, Region, Result, ScanIterations
from .linear_nodes import transpose
from .node import Node
from .operation import Batching, make_node, repeated, structural
from .signatures import Form, forms_of, require


def result(inputs: tuple[Node, ...], region: Region, item: int) -> Node:
    """One result of an execution."""
    weak = item < iterations_of(region).carries and region.graphs[0].outputs[item].weak
    return make_node("scan", Result(region, item), *inputs, weak=weak)


def iterations_of(region: Region) -> ScanIterations:
    """Return the bounds of the loop of a `scan`."""
    assert region.iterations is not None
    return region.iterations


@dataclass(frozen=True)
class _Many:
    """A scan over samples in lockstep: one execution, whose body has a leading axis of samples.

    flags: which results of the body have that axis; the others are the same for all samples.
    """

    inputs: tuple[Node, ...]
    region: Region
    flags: tuple[bool, ...]

    def result(self, item: int) -> Node:
        """A result with the axis of samples in front, or without one."""
        count, iterations = len(self.region.graphs[0].outputs), iterations_of(self.region)
        n = result(self.inputs, self.region, item)
        many = self.flags[item if item < count else item - count]
        return _swapped(n) if many and item >= iterations.carries else n


@structural
class ScanOperation(ControlOperation):
    """Iterations over the elements of sequences."""

    name = "scan"
    parts = ("turn",)

    def form(self, result: Result, inputs: Sequence[Node]) -> Form:
        """Return the form of a result."""
        region, item, batch = result
        require(
            len(region.graphs) == 1 and region.iterations is not None and not batch, "it does not say what it repeats"
        )
        (body,), iterations = region.graphs, iterations_of(region)
        carries, first_captured, count = (
            iterations.carries,
            iterations.carries + iterations.sequences,
            len(body.outputs),
        )
        fits = carries <= count and first_captured <= len(body.inputs) == len(inputs)
        require(fits and item < count + carries, "it has no such result, or its body has other inputs or outputs")
        same = forms_of(body.inputs[:carries]) == forms_of(body.outputs[:carries])
        require(same, "its body changes the form of a carry")
        rows = [
            (iterations.length, *x.shape) if carries <= k < first_captured else x.shape
            for k, x in enumerate(body.inputs)
        ]
        given = [(shape, x.dtype) for shape, x in zip(rows, body.inputs, strict=True)]
        require(given == forms_of(inputs), "its body has other inputs")
        y = body.outputs[item] if item < count else body.inputs[item - count]
        return y.shape if item < carries else (iterations.length, *y.shape), y.dtype

    def batched(self, n: Node, xs: Sequence[Node], flags: Sequence[bool], many: Batching) -> Node:
        """One execution computes all of its results, with the axis of samples if they need one."""
        key = (n.inputs, n.params.region)
        found = many.executions.get(key) or many.executions.setdefault(key, _batched(n, xs, flags, many))
        return found.result(n.params.item)


def _batched(n: Node, xs: Sequence[Node], flags: Sequence[bool], many: Batching) -> _Many:
    """A scan for many samples."""
    (body,), iterations = n.params.region.graphs, iterations_of(n.params.region)
    carries, first_captured = iterations.carries, iterations.carries + iterations.sequences
    inside = list(flags)
    while True:  # a carry has the axis as soon as anything that enters it has
        inputs, outputs, found = many.graph(body, inside, many.size)
        grown = [a or b for a, b in zip(inside, found[:carries], strict=False)]
        if grown == inside[:carries]:
            break
        inside[:carries] = grown
    ends = [
        repeated(y, many.size) if a and not b else y for y, a, b in zip(outputs, inside[:carries], found, strict=False)
    ]
    region = Region((Graph(inputs, (*ends, *outputs[carries:])),), iterations)
    outer = [
        repeated(x, many.size) if k < carries and inside[k] and not flag
        else _swapped(x) if carries <= k < first_captured and flag
        else x
        for k, (x, flag) in enumerate(zip(xs, flags, strict=True))
    ]  # fmt: skip
    return _Many(tuple(outer), region, (*inside[:carries], *found[carries:]))


def _swapped(x: Node) -> Node:
    """The axes of samples and iterations exchanged."""
    return transpose(x, (1, 0, *range(2, x.ndim)))
