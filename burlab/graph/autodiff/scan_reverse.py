"""Reverse mode of `scan`: a scan over the same elements from the other end.

It reads the trails of the carries, computes each iteration again, but for the residuals that products of matrices go
into (`chosen_residuals`), and carries the cotangents of the carries. What the body reads from around it gets a share
from every iteration. A share that is a product of smaller factors, as that of a weight is, is not summed one iteration
after the other: the factors are stacked, and one product after the loop sums over iterations as well. A scatter of rows
into a table waits in the same way. All other shares are summed in carries.
"""

from collections.abc import Sequence
from typing import NamedTuple

from burlab.graph.graph import Graph, Region, ScanIterations, topological
from burlab.graph.linear_nodes import linear, zeros
from burlab.graph.node import Node
from burlab.graph.numpy_api.promotion import node
from burlab.graph.operation import Shares
from burlab.graph.scan_nodes import result
from burlab.graph.substitute import keep, rebuild

from . import scan_forward
from .scan_forward import like, seeds_of, split
from .scan_sweep import ReversedScan, ScanSweep, Term, added, swept
from .sweep import RULES, SweepRule


def chosen_residuals(body: Graph, varying: int, outputs: Sequence[Node]) -> list[Node]:
    """Values of a body to be stacked, so that its reverse sweep, which gives `outputs`, needs no product of matrices.

    varying: how many of the body's first inputs differ from iteration to iteration. What is cheap is computed again,
    unless it is no larger than what it is computed of; and so is everything where there is no such product, as in
    recurrences of a few numbers, for which the trails of the carries are enough.
    """
    forward = topological(body.outputs)
    within = set(forward)
    again = topological(outputs)
    if not any(n.row.multiplies and n in within for n in again):
        return []
    stacks = _stacks(body, varying, forward)
    read = [x for n in again if n not in within for x in n.inputs if x in within]
    chosen = {n for x in (*read, *(y for y in outputs if y in within)) for n in stacks[x]}
    return [n for n in forward if n in chosen]


def _stacks(body: Graph, varying: int, forward: Sequence[Node]) -> dict[Node, frozenset[Node]]:
    """For each value the values to stack so that it is available, or cheap to compute."""
    nothing = frozenset[Node]()
    differs = set(body.inputs[:varying])
    stacks: dict[Node, frozenset[Node]] = {}
    for n in forward:
        stacks[n] = nothing.union(*(stacks[x] for x in n.inputs))
        if n.inputs and not differs.isdisjoint(n.inputs):
            differs.add(n)
        elif n not in differs:
            stacks[n] = nothing  # the same in every iteration
            continue
        row = n.row
        if not n.inputs or row.view:
            continue
        if not row.cheap or 0 < n.nbytes <= sum(x.nbytes for x in stacks[n]):
            stacks[n] = frozenset([n])
    return stacks


def backward(given: Sequence[tuple[Node, Node]], active: set[Node]) -> Shares:
    """The inputs of one execution that matter, each with its share.

    given: all results of the execution that have a cotangent, with it.
    """
    first = given[0][0]
    region, inputs = first.params.region, first.inputs
    cotangents: dict[int, Node] = {}
    for n, g in given:  # a result may stand in the graph as several nodes
        cotangents[n.params.item] = added(g, cotangents.get(n.params.item))
    scan = ReversedScan(region, inputs, seeds_of(inputs, active), cotangents)
    sweep = swept(scan)
    back = _back(scan, sweep)
    summed = [*sweep.ends, *sweep.plain]
    found = [
        *((k, back.result(at)) for at, k in enumerate(sweep.ends)),
        *((k, back.result(len(summed) + at)) for at, k in enumerate(sweep.sequences)),
        *((k, back.result(len(sweep.ends) + at)) for at, k in enumerate(sweep.plain)),
        *((k, _after(back, term)) for k, term in sweep.terms),
    ]
    return [(inputs[k], share) for k, share in found if k in scan.seeds]


class _Back(NamedTuple):
    """The reverse scan.

    stacked: what is stacked already, for the nodes of the body that are elements of it. factors: which results stack
    what terms are made of besides.
    """

    inputs: tuple[Node, ...]
    region: Region
    stacked: dict[Node, Node]
    factors: dict[Node, int]

    def result(self, item: int) -> Node:
        """One result."""
        return result(self.inputs, self.region, item)


def _back(scan: ReversedScan, sweep: ScanSweep) -> _Back:
    """Its inputs are carries, sequences, and values that are the same in every iteration."""
    body, inputs, cotangents = scan.body, scan.inputs, scan.cotangents
    sums = [like(n) for n in sweep.plain.values()]
    totals = [node("add", total, n) for total, n in zip(sums, sweep.plain.values(), strict=True)]
    own = [*sweep.carry_shares, *totals, *sweep.sequences.values()]
    known = {*body.inputs[: scan.first_captured], *sweep.pulled.values()}
    made = list(dict.fromkeys(x for _, term in sweep.terms for x in term.product.inputs if x not in known))
    residuals = chosen_residuals(body, scan.first_captured, [*own, *made])
    stacked = _stacked(scan, sweep, residuals)
    stored = {n: like(n) for n in residuals}
    factors = [x for x in made if x not in stored]
    outputs = tuple(rebuild([*own, *factors], dict(stored), keep))
    needed = {n for n in topological(outputs) if n.is_input}
    read = split((k for k, x in enumerate(body.inputs) if x in needed), scan.iterations)
    starts = (*(cotangents[k] if k in cotangents else _zeros(body.inputs[k]) for k in sweep.ends), *map(_zeros, sums))
    elements = (*(body.inputs[k] for k in read.carries), *residuals, *(body.inputs[k] for k in read.sequences))
    rows = (*(stacked[x] for x in elements), *(cotangents[k] for k in sweep.pulled))
    within = (
        *(*sweep.ends.values(), *sums),
        *(stored.get(x, x) for x in elements),
        *sweep.pulled.values(),
        *(body.inputs[k] for k in read.captured),
    )
    iterations = ScanIterations(len(starts), len(rows), scan.iterations.length, not scan.iterations.reverse)
    return _Back(
        (*starts, *rows, *(inputs[k] for k in read.captured)),
        Region((Graph(within, outputs),), iterations),
        stacked,
        {x: len(own) + at for at, x in enumerate(factors)},
    )


def _stacked(scan: ReversedScan, sweep: ScanSweep, residuals: list[Node]) -> dict[Node, Node]:
    """Return the stacked values, by the nodes of the body that are elements of a sequence or trail, or residuals."""
    body, inputs, iterations = scan.body, scan.inputs, scan.iterations
    region = Region((Graph(body.inputs, (*body.outputs, *residuals)),), iterations) if residuals else scan.region
    first = len(body.outputs)
    trails = first + len(residuals)
    found = {body.inputs[k]: inputs[k] for k in range(iterations.carries, scan.first_captured)}
    found |= {body.inputs[k]: result(inputs, region, trails + k) for k in range(iterations.carries)}
    found |= {n: result(inputs, region, first + k) for k, n in enumerate(residuals)}
    return found | {x: scan.cotangents[k] for k, x in sweep.pulled.items()}


def _after(back: _Back, term: Term) -> Node:
    """A term, summed over all iterations at once."""
    factors = [back.stacked[x] if x in back.stacked else back.result(back.factors[x]) for x in term.product.inputs]
    total = term.product.row.summed(term.product, factors)
    for n in term.afterwards:
        total = linear(n.op, n.params, total)
    return total


def _zeros(x: Node) -> Node:
    return zeros(x.shape, x.dtype)


RULES["scan"] = SweepRule(scan_forward.passes, scan_forward.forward, backward, scan_forward.execution)
