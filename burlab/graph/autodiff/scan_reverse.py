"""Reverse mode of `scan`: a scan over the same elements from the other end.

It reads the trails of the carries, computes each iteration again, but for the residuals that products of matrices go
into (`chosen_residuals`), and carries the cotangents of the carries. What the body reads from around it gets a share
from every iteration. A share that is a product of smaller factors, as that of a weight is, is not summed one iteration
after the other: the factors are stacked, and one product after the loop sums over iterations as well. A scatter of rows
into a table waits in the same way. All other shares are summed in carries.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from burlab.graph.executions import every_node
from burlab.graph.graph import Graph, Region, ScanIterations, topological
from burlab.graph.linear_nodes import zeros
from burlab.graph.node import Node
from burlab.graph.numpy_api.promotion import node
from burlab.graph.operation import Shares
from burlab.graph.scan_nodes import result
from burlab.graph.spread_choices import Waiting
from burlab.graph.substitute import keep, rebuild

from . import scan_forward
from .scan_forward import like, seeds_of, split
from .scan_sweep import ReversedScan, ScanSweep, added, swept
from .stored_residuals import executed, residuals
from .sweep import RULES, SweepRule


def chosen_residuals(body: Graph, varying: int, outputs: Sequence[Node], cotangents: Iterable[Node] = ()) -> list[Node]:
    """Values of a body to be stacked, so that its reverse sweep, which gives `outputs`, needs no product of matrices.

    varying: how many of the body's first inputs differ from iteration to iteration. What is cheap is computed again,
    unless it is no larger than what it is computed of; and so is everything where there is no such product, as in
    recurrences of a few numbers, for which the trails of the carries are enough.
    """
    again = {*topological(body.outputs), *executed(outputs, cotangents)}
    if not any(n in again and _has_product(n) for n in topological(outputs)):
        return []
    return residuals(body, varying, outputs, cotangents)


def _has_product(n: Node) -> bool:
    graphs = n.params.region.graphs if n.row.parts else ()
    return n.row.multiplies or any(x.row.multiplies for graph in graphs for x in every_node(graph))


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
    made = list(dict.fromkeys(x for _, term in sweep.terms for x in term.inner.inputs if x not in known))
    chosen = chosen_residuals(body, scan.first_captured, [*own, *made], (*sweep.ends.values(), *sweep.pulled.values()))
    stacked = _stacked(scan, sweep, chosen)
    stored = {n: like(n) for n in chosen}
    factors = [x for x in made if x not in stored]
    outputs = tuple(rebuild([*own, *factors], dict(stored), keep))
    needed = {n for n in topological(outputs) if n.is_input}
    read = split((k for k, x in enumerate(body.inputs) if x in needed), scan.iterations)
    starts = (*(cotangents[k] if k in cotangents else _zeros(body.inputs[k]) for k in sweep.ends), *map(_zeros, sums))
    elements = (*(body.inputs[k] for k in read.carries), *chosen, *(body.inputs[k] for k in read.sequences))
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


def _stacked(scan: ReversedScan, sweep: ScanSweep, chosen: list[Node]) -> dict[Node, Node]:
    """Return the stacked values, by the nodes of the body that are elements of a sequence or trail, or residuals."""
    body, inputs, iterations = scan.body, scan.inputs, scan.iterations
    region = Region((Graph(body.inputs, (*body.outputs, *chosen)),), iterations) if chosen else scan.region
    first = len(body.outputs)
    trails = first + len(chosen)
    found = {body.inputs[k]: inputs[k] for k in range(iterations.carries, scan.first_captured)}
    found |= {body.inputs[k]: result(inputs, region, trails + k) for k in range(iterations.carries)}
    found |= {n: result(inputs, region, first + k) for k, n in enumerate(chosen)}
    return found | {x: scan.cotangents[k] for k, x in sweep.pulled.items()}


def _after(back: _Back, term: Waiting) -> Node:
    """A term, summed over all iterations at once."""
    factors = [back.stacked[x] if x in back.stacked else back.result(back.factors[x]) for x in term.inner.inputs]
    return term.of(term.inner.row.summed(term.inner, factors))


def _zeros(x: Node) -> Node:
    return zeros(x.shape, x.dtype)


RULES["scan"] = SweepRule(scan_forward.passes, scan_forward.forward, backward, scan_forward.execution)
