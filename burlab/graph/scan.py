"""`scan` in a graph: a sub-graph executed for one element of some sequences after the other.

Inputs are the carries at the start, the sequences with the length as leading axis, then values that the body reads from
around it. The body takes the carries, one element of each sequence, and those values; it gives the next carries, then
what is stacked along a new leading axis. With c carries and n outputs of the body, result k < c is carry k at the end,
results c to n - 1 are stacked, and result n + k is the trail of carry k: what it was when each turn began. A result
that nobody asks for is not stored, so trails, which reverse mode reads, cost nothing where no derivative is taken.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .control import closed, is_result
from .graph import Graph, Region, Result, Turns
from .linear import spread, transpose
from .node import Node
from .signatures import SIGNATURES, Form, Signature, forms_of, made, require

Rows = Callable[[Graph, Sequence[bool], int], tuple[tuple[Node, ...], list[Node], list[bool]]]


def scan_nodes(
    body: Graph, turns: Turns, start: Sequence[Node], sequences: Sequence[Node], made: Sequence[Node]
) -> list[Node]:
    """The carries at the end, then what was stacked. made: the nodes that were born while the body was traced."""
    captured, graphs = closed((body,), set(made))
    region, inputs = Region(graphs, turns), (*start, *sequences, *captured)
    return [result(inputs, region, k) for k in range(len(body.outputs))]


def result(inputs: tuple[Node, ...], region: Region, item: int) -> Node:
    """One result of an execution."""
    weak = item < turns_of(region).carries and region.graphs[0].outputs[item].weak
    return made("scan", Result(region, item), *inputs, weak=weak)


def _form(result: Result, inputs: Sequence[Node]) -> Form:
    region, item, batch = result
    require(len(region.graphs) == 1 and region.turns is not None and not batch, "it does not say what it repeats")
    (body,), turns = region.graphs, turns_of(region)
    carries, first_captured, count = turns.carries, turns.carries + turns.sequences, len(body.outputs)
    fits = carries <= count and first_captured <= len(body.inputs) == len(inputs)
    require(fits and item < count + carries, "it has no such result, or its body has other inputs or outputs")
    same = forms_of(body.inputs[:carries]) == forms_of(body.outputs[:carries])
    require(same, "its body changes the form of a carry")
    rows = [(turns.length, *x.shape) if carries <= k < first_captured else x.shape for k, x in enumerate(body.inputs)]
    given = [(shape, x.dtype) for shape, x in zip(rows, body.inputs, strict=True)]
    require(given == forms_of(inputs), "its body has other inputs")
    y = body.outputs[item] if item < count else body.inputs[item - count]
    return y.shape if item < carries else (turns.length, *y.shape), y.dtype


SIGNATURES["scan"] = Signature(is_result, _form)


def turns_of(region: Region) -> Turns:
    """What a region of a `scan` repeats."""
    assert region.turns is not None
    return region.turns


@dataclass(frozen=True)
class Many:
    """A scan over samples in lockstep: one execution, whose body has a leading axis of samples.

    flags: which results of the body have that axis; the others are the same for all samples.
    """

    inputs: tuple[Node, ...]
    region: Region
    flags: tuple[bool, ...]

    def result(self, item: int) -> tuple[Node, bool]:
        """A result with the axis of samples in front, or without one."""
        count, turns = len(self.region.graphs[0].outputs), turns_of(self.region)
        n = result(self.inputs, self.region, item)
        many = self.flags[item if item < count else item - count]
        return (_swapped(n) if many and item >= turns.carries else n), many


def batched(n: Node, xs: Sequence[Node], flags: Sequence[bool], size: int, rows: Rows) -> Many:
    """A scan for `size` samples. rows: what batches a graph and says which of its outputs have the axis of samples."""
    (body,), turns = n.params.region.graphs, turns_of(n.params.region)
    carries, first_captured = turns.carries, turns.carries + turns.sequences
    inside = list(flags)
    while True:  # a carry has the axis as soon as anything that enters it has
        inputs, outputs, found = rows(body, inside, size)
        grown = [a or b for a, b in zip(inside, found[:carries], strict=False)]
        if grown == inside[:carries]:
            break
        inside[:carries] = grown
    ends = [spread(y, size) if a and not b else y for y, a, b in zip(outputs, inside[:carries], found, strict=False)]
    many = Region((Graph(inputs, (*ends, *outputs[carries:])),), turns)
    outer = [
        spread(x, size) if k < carries and inside[k] and not flag
        else _swapped(x) if carries <= k < first_captured and flag
        else x
        for k, (x, flag) in enumerate(zip(xs, flags, strict=True))
    ]  # fmt: skip
    return Many(tuple(outer), many, (*inside[:carries], *found[carries:]))


def _swapped(x: Node) -> Node:
    """The axes of samples and turns exchanged."""
    return transpose(x, (1, 0, *range(2, x.ndim)))
