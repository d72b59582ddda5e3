"""Sums of products that a branch gives, as products outside of it: how a choice of gradients waits for a sum.

A gradient of weights in a branch is a product of two factors, or zero in the other branch. The branches can give the
factors instead, zero in the other branch, and one product after a loop, or over samples, sums them up: its array is
then not one for each iteration or sample.
"""

from typing import Any, NamedTuple

from .graph import Graph, Region, Result
from .linear_nodes import LinearOp, linear, zeros
from .node import Node
from .operation import make_node, total
from .signatures import form_of


class Waiting(NamedTuple):
    """A value as linear operations, first ones first, on another one: they can be done once with a sum of it."""

    inner: Node
    after: tuple[Node, ...]

    def of(self, inner: Node) -> Node:
        """The same operations on another value."""
        for n in self.after:
            inner = linear(n.op, n.params, inner)
        return inner


def waiting(n: Node) -> Waiting:
    """Return a value without the linear operations on one input at its end."""
    after: list[Node] = []
    while isinstance(n.row, LinearOp) and n.row.follows_sums and len(n.inputs) == 1:
        after.append(n)
        n = n.inputs[0]
    return Waiting(n, tuple(reversed(after)))


def grows(n: Node) -> bool:
    """Return True for a sum that takes one over iterations or samples along, and is larger than its operands."""
    return n.row.sums_along(n) and sum(x.size for x in n.inputs) < n.size


def spread(n: Node) -> list[Node] | None:
    """Return nodes whose sum is a result of `cond`, or None where no branch gives a product that grows."""
    region, item, batch = n.params
    sides = [_addends(graph.outputs[item]) for graph in region.graphs]
    if batch or not any(side.products for side in sides):
        return None
    slots = _slots(sides)
    ends = [_ends(slots, k, side.rest) for k, side in enumerate(sides)]
    if all(end[-1].is_zero for end in ends):
        ends = [end[:-1] for end in ends]
    chosen = Region(tuple(Graph(g.inputs, tuple(end)) for g, end in zip(region.graphs, ends, strict=True)))
    results = iter([make_node("cond", Result(chosen, k), *n.inputs) for k in range(len(ends[0]))])
    found: list[Node] = []
    for slot in slots:
        one = next(iter(slot.values()))
        factors = [next(results) for _ in one.inner.inputs]
        found.append(one.of(make_node(one.inner.op, one.inner.params, *factors)))
    return [*found, *results]


class _Addends(NamedTuple):
    """The products of a sum, and all else, zeros if there is nothing."""

    products: list[Waiting]
    rest: Node


def _addends(y: Node) -> _Addends:
    products: list[Waiting] = []
    rest: list[Node] = []
    stack = [y]
    while stack:
        n = stack.pop()
        if n.op == "add":
            stack += n.inputs
            continue
        found = waiting(n)
        inner = spread(found.inner) if found.inner.op == "cond" else None
        if inner is not None:
            stack += map(found.of, inner)
        elif grows(found.inner):
            products.append(found)
        elif not n.is_zero:
            rest.append(n)
    plain = total(rest)
    return _Addends(products, zeros(y.shape, y.dtype) if plain is None else plain)


_Slot = dict[int, Waiting]  # by branch: products of the same form, of which one is computed outside


def _slots(sides: list[_Addends]) -> list[_Slot]:
    """The products to compute outside: branches share one where theirs have the same form."""
    slots: dict[Any, list[_Slot]] = {}
    for k, side in enumerate(sides):
        for found in side.products:
            of_form = slots.setdefault(_form(found), [])
            if all(k in slot for slot in of_form):
                of_form.append({})
            next(slot for slot in of_form if k not in slot)[k] = found
    return [slot for of_form in slots.values() for slot in of_form]


def _form(found: Waiting) -> Any:
    """Equal for what differs by operands alone."""
    n = found.inner
    return n.op, n.params, *map(form_of, n.inputs), *((x.op, x.params) for x in found.after)


def _ends(slots: list[_Slot], k: int, rest: Node) -> list[Node]:
    """The results of a branch: the factors of each product, zeros where it has none, and the rest."""
    ends: list[Node] = []
    for slot in slots:
        like = next(iter(slot.values())).inner.inputs
        ends += slot[k].inner.inputs if k in slot else (zeros(x.shape, x.dtype) for x in like)
    return [*ends, rest]
