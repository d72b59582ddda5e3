"""The reverse sweep of one iteration of a `scan`, and the work after the loop: see `scan_reverse.py`."""

from typing import NamedTuple

from burlab.graph.graph import Graph, Region, ScanIterations
from burlab.graph.node import Node
from burlab.graph.numpy_api.promotion import node
from burlab.graph.scan_nodes import iterations_of
from burlab.graph.spread_choices import Waiting, grows, spread, waiting

from .scan_forward import like, split, varying_numbers
from .sweep import vjp


class ReversedScan(NamedTuple):
    """The forward scan. seeds: the inputs that matter; cotangents: of its results, by number."""

    region: Region
    inputs: tuple[Node, ...]
    seeds: frozenset[int]
    cotangents: dict[int, Node]

    @property
    def body(self) -> Graph:
        """One iteration."""
        return self.region.graphs[0]

    @property
    def iterations(self) -> ScanIterations:
        """The bounds of the loop."""
        return iterations_of(self.region)

    @property
    def first_captured(self) -> int:
        """Inputs from here on are the same in every iteration."""
        return self.iterations.carries + self.iterations.sequences


class _Share(NamedTuple):
    """The share of a captured input. plain: the part that is summed in a carry, if any.

    terms: the other parts, which are computed after the loop from their factors.
    """

    plain: Node | None
    terms: list[Waiting]


class ScanSweep(NamedTuple):
    """The reverse sweep of one iteration.

    ends: the cotangents of the carries at its end, by the carries that have one. pulled: those of the stacked results,
    trails among them, that have one. carry_shares: cotangents of the carries at its start; sequences: of the elements
    that it reads; captured: what it adds to the shares of captured inputs.
    """

    ends: dict[int, Node]
    pulled: dict[int, Node]
    carry_shares: list[Node]
    sequences: dict[int, Node]
    captured: dict[int, _Share]

    @property
    def plain(self) -> dict[int, Node]:
        """The sums that carries hold, by the captured inputs that need one."""
        return {k: share.plain for k, share in self.captured.items() if share.plain is not None}

    @property
    def terms(self) -> list[tuple[int, Waiting]]:
        """The terms that are computed after the loop, each with the number of its captured input."""
        return [(k, term) for k, share in self.captured.items() for term in share.terms]


def swept(scan: ReversedScan) -> ScanSweep:
    """The reverse sweep of one iteration, and its shares sorted."""
    body, iterations, count = scan.body, scan.iterations, len(scan.body.outputs)
    varying, active = varying_numbers(scan.region, scan.seeds)
    wanted, carries = split(scan.seeds, iterations), split(varying, iterations).carries
    stacked = [k for k in sorted(scan.cotangents) if iterations.carries <= k < count and k in active]
    trails = [k for k in sorted(scan.cotangents) if k >= count]
    ends = {k: like(body.inputs[k]) for k in carries}
    pulled = {k: like(body.outputs[k] if k < count else body.inputs[k - count]) for k in (*stacked, *trails)}
    shares = iter(
        vjp(
            [body.outputs[k] for k in (*carries, *stacked)],
            [body.inputs[k] for k in (*carries, *wanted.sequences, *wanted.captured)],
            [*ends.values(), *(pulled[k] for k in stacked)],
        )
    )
    carry_shares = [added(next(shares), pulled.get(count + k)) for k in carries]
    sequences = {k: next(shares) for k in wanted.sequences}
    return ScanSweep(ends, pulled, carry_shares, sequences, {k: _share(scan, next(shares)) for k in wanted.captured})


def _share(scan: ReversedScan, share: Node) -> _Share:
    """The addends of a share, sorted."""
    plain: Node | None = None
    terms: list[Waiting] = []
    same = {*scan.body.inputs[scan.first_captured :]}  # in every iteration
    addends = [share]
    while addends:
        n = addends.pop()
        if n.op == "add":
            addends += n.inputs
            continue
        term = waiting(n)
        inner = spread(term.inner) if term.inner.op == "cond" else None
        if inner is not None:
            addends += map(term.of, inner)
        elif grows(term.inner) and not any(x in same or x.is_constant for x in term.inner.inputs):
            terms.append(term)
        elif not n.is_zero:
            plain = added(n, plain)
    return _Share(plain, terms)


def added(x: Node, y: Node | None) -> Node:
    """The sum of the terms that exist."""
    return x if y is None else node("add", x, y)
