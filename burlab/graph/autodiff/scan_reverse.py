"""Reverse mode of `scan`: a scan over the same elements from the other end.

It reads the trails of the carries, computes each iteration again, but for the residuals that products of matrices go
into (`scan_residuals.py`), and carries the cotangents of the carries. What the body reads from around it gets a share
from every iteration. A share that is a product of smaller factors, as that of a weight is, is not summed one iteration
after the other: the factors are stacked, and one product after the loop sums over iterations as well. A scatter of rows
into a table waits in the same way. All other shares are summed in carries.
"""

import string
from collections.abc import Sequence
from typing import NamedTuple

from burlab.graph.graph import Graph, Iterations, Region
from burlab.graph.linear import LinearOp, contract, linear, scatter, zeros
from burlab.graph.node import Node
from burlab.graph.numpy_api.promotion import node
from burlab.graph.operation import Shares, operation
from burlab.graph.order import topological
from burlab.graph.scan import iterations_of, result
from burlab.graph.substitute import keep, rebuild

from .scan_forward import like, moving_of, seeds_of, split
from .scan_residuals import chosen_residuals
from .sweep import vjp


def backward(given: Sequence[tuple[Node, Node]], active: set[Node]) -> Shares:
    """The inputs of one execution that matter, each with its share.

    given: all results of the execution that have a cotangent, with it.
    """
    first = given[0][0]
    region, inputs = first.params.region, first.inputs
    cotangents: dict[int, Node] = {}
    for n, g in given:  # a result may stand in the graph as several nodes
        cotangents[n.params.item] = _added(g, cotangents.get(n.params.item))
    return _Back(region, inputs, seeds_of(inputs, active), cotangents).shares()


class _Term(NamedTuple):
    """A part of the share of a captured input that is computed after the loop: from factors, and what follows them."""

    product: Node
    afterwards: tuple[Node, ...]


class _Back:
    """A reverse scan.

    carries: the forward carries whose cotangents are carried. stacks: the stacked results (trails among them) that have
    a cotangent. plain: what is summed in carries, for the captured inputs that need it. terms: what is not.
    """

    def __init__(
        self, region: Region, inputs: tuple[Node, ...], seeds: frozenset[int], cotangents: dict[int, Node]
    ) -> None:
        self.region, self.inputs, self.cotangents = region, inputs, cotangents
        self.body, self.iterations = region.graphs[0], iterations_of(region)
        body, carries, count = self.body, self.iterations.carries, len(self.body.outputs)
        moving, active = moving_of(region, seeds)
        self.seeds, self.wanted = seeds, split(seeds, self.iterations)
        self.carries = split(moving, self.iterations).carries
        stacked = [k for k in sorted(cotangents) if carries <= k < count and k in active]
        self.stacks = [*stacked, *(k for k in sorted(cotangents) if k >= count)]
        self.ends = [like(body.inputs[k]) for k in self.carries]
        self.pulled = {k: like(body.outputs[k] if k < count else body.inputs[k - count]) for k in self.stacks}
        shares = vjp(
            [body.outputs[k] for k in (*self.carries, *stacked)],
            [body.inputs[k] for k in (*self.carries, *self.wanted.sequences, *self.wanted.captured)],
            [*self.ends, *(self.pulled[k] for k in stacked)],
        )
        at = len(self.carries) + len(self.wanted.sequences)
        self.carried = [_added(g, self.pulled.get(count + k)) for k, g in zip(self.carries, shares, strict=False)]
        self.sequences = shares[len(self.carries) : at]
        self.residuals: list[Node] = []
        self.plain: dict[int, Node] = {}
        self.terms: dict[int, list[_Term]] = {}
        for k, share in zip(self.wanted.captured, shares[at:], strict=True):
            self.part(k, share)

    def part(self, k: int, share: Node) -> None:
        """Sort the addends of a share."""
        addends = [share]
        self.terms[k] = []
        while addends:
            n = addends.pop()
            if n.op == "add":
                addends += n.inputs
            elif n.op == "broadcast" and _is_zero(n.inputs[0]):
                continue
            elif term := self.term(n):
                self.terms[k].append(term)
            else:
                self.plain[k] = _added(n, self.plain.get(k))

    def term(self, n: Node) -> _Term | None:
        afterwards: list[Node] = []
        while _can_wait(n):
            afterwards.append(n)
            n = n.inputs[0]
        if not (n.op == "contract" or (n.op == "scatter" and n.params[0] == 0)):
            return None
        same = {*self.body.inputs[self.iterations.carries + self.iterations.sequences :]}  # in every iteration
        if sum(x.size for x in n.inputs) >= n.size or any(x in same or x.is_constant for x in n.inputs):
            return None
        return _Term(n, tuple(reversed(afterwards)))

    def shares(self) -> Shares:
        """The inputs that matter, each with its share."""
        self.close()
        found = [
            *((k, self.outer(at)) for at, k in enumerate(self.carries)),
            *((k, self.outer(len(self.starts) + at)) for at, k in enumerate(self.wanted.sequences)),
            *((k, self.outer(len(self.carries) + at)) for at, k in enumerate(self.plain)),
            *((k, self.after(term)) for k, terms in self.terms.items() for term in terms),
        ]
        return [(self.inputs[k], share) for k, share in found if k in self.seeds]

    def close(self) -> None:
        """Make the region and its inputs: carries, sequences, and what is the same in every iteration."""
        body, inputs, count = self.body, self.inputs, len(self.body.outputs)
        sums = [like(n) for n in self.plain.values()]
        outside = self.outside()
        factors = [x for terms in self.terms.values() for t in terms for x in t.product.inputs if x not in outside]
        factors = list(dict.fromkeys(factors))
        totals = [node("add", total, n) for total, n in zip(sums, self.plain.values(), strict=True)]
        self.residuals = chosen_residuals(
            body,
            self.iterations.carries + self.iterations.sequences,
            [*self.carried, *totals, *self.sequences, *factors],
        )
        if self.residuals:
            self.region = Region((Graph(body.inputs, (*body.outputs, *self.residuals)),), self.iterations)
        there = {n: like(n) for n in self.residuals}
        self.factors = {x: at for at, x in enumerate(x for x in factors if x not in there)}
        outputs = tuple(rebuild([*self.carried, *totals, *self.sequences, *self.factors], dict(there), keep))
        needed = {n for n in topological(outputs) if n.is_input}
        read = split((k for k, x in enumerate(body.inputs) if x in needed), self.iterations)
        self.starts = [
            *(self.cotangents[k] if k in self.cotangents else _zeros(body.inputs[k]) for k in self.carries),
            *map(_zeros, sums),
        ]
        rows = [
            *(self.trail(k) for k in read.carries),
            *(result(inputs, self.region, count + k) for k in range(len(there))),
            *(inputs[k] for k in read.sequences),
            *(self.cotangents[k] for k in self.stacks),
        ]
        self.around = (*self.starts, *rows, *(inputs[k] for k in read.captured))
        within = (
            *(*self.ends, *sums),
            *(body.inputs[k] for k in read.carries),
            *there.values(),
            *(body.inputs[k] for k in read.sequences),
            *(self.pulled[k] for k in self.stacks),
            *(body.inputs[k] for k in read.captured),
        )
        iterations = Iterations(len(self.starts), len(rows), self.iterations.length, not self.iterations.reverse)
        self.back = Region((Graph(within, outputs),), iterations)

    def outer(self, item: int) -> Node:
        """A result of the reverse scan."""
        return result(self.around, self.back, item)

    def trail(self, k: int) -> Node:
        """The trail of a carry."""
        return result(self.inputs, self.region, len(self.region.graphs[0].outputs) + k)

    def outside(self) -> dict[Node, Node]:
        """What is stacked already, for the nodes of the body that are elements of a sequence or trail, or residuals."""
        end, count = self.iterations.carries + self.iterations.sequences, len(self.body.outputs)
        found = {self.body.inputs[k]: self.inputs[k] for k in range(self.iterations.carries, end)}
        found |= {self.body.inputs[k]: self.trail(k) for k in range(self.iterations.carries)}
        found |= {n: result(self.inputs, self.region, count + k) for k, n in enumerate(self.residuals)}
        return found | {self.pulled[k]: self.cotangents[k] for k in self.stacks}

    def after(self, term: _Term) -> Node:
        """A term, summed over all iterations at once."""
        outside, first = self.outside(), len(self.starts) + len(self.sequences)
        rows = [outside[x] if x in outside else self.outer(first + self.factors[x]) for x in term.product.inputs]
        if term.product.op == "scatter":
            total = scatter(rows[0], rows[1], 0, term.product.params[1])
        else:
            ins, out = term.product.params.split("->")
            letter = next(c for c in string.ascii_letters if c not in term.product.params)
            left, right = (letter + part for part in ins.split(","))
            total = contract(f"{left},{right}->{out}", rows[0], rows[1])
        for n in term.afterwards:
            total = linear(n.op, n.params, total)
        return total


def _can_wait(n: Node) -> bool:
    """Whether a node is a linear operation on one input, which can be done once with the sum over iterations."""
    row = operation(n)
    return isinstance(row, LinearOp) and row.follows_sums and len(n.inputs) == 1


def _is_zero(x: Node) -> bool:
    return x.is_constant and not x.shape and not x.params


def _zeros(x: Node) -> Node:
    return zeros(x.shape, x.dtype)


def _added(x: Node, y: Node | None) -> Node:
    return x if y is None else node("add", x, y)
