"""The two sweeps, graph to graph: forward mode (`jvp`) and reverse mode (`vjp`).

Both add nodes to the graph they walk, so a sweep can be swept again. Scalar operations multiply by the partials that
their C++ structs state. Structural operations have rules in their rows (`operation.py`): linear ones go through
themselves (forward) or through their transpose (reverse). Operations that hold sub-graphs need the sweep for their own
rules: `calls.py`, `cond.py` and `scan.py` of this folder put these into `RULES`.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from burlab.graph.faults import no_derivative
from burlab.graph.graph import topological
from burlab.graph.linear_nodes import broadcast, zeros
from burlab.graph.node import Node, constant
from burlab.graph.numpy_api.promotion import node
from burlab.graph.operation import Shares, Tangents, total
from burlab.graph.origin import derived_from
from burlab.graph.scalar import load_partials, partials
from burlab.runtime.gc_pause import gc_paused

from .cotangents import summed

Executions = dict[Any, Any]  # what a sweep made of an execution whose results are several nodes


class SweepRule(NamedTuple):
    """The derivatives of an operation that holds sub-graphs.

    passes(n, reached): whether a derivative by what is reached passes to the node. forward(n, tangents, executions):
    its tangent, None where that is zero. reverse(given, active): the active inputs, each with its share; given: nodes
    with their cotangents: all results of one execution where `execution` names it, else one node.
    """

    passes: Callable[[Node, set[Node]], bool]
    forward: Callable[[Node, Tangents, Executions], Node | None]
    reverse: Callable[[Sequence[tuple[Node, Node]], set[Node]], Shares]
    execution: Callable[[Node], Any] | None = None


RULES: dict[str, SweepRule] = {}


def jvp(outputs: Sequence[Node], inputs: Sequence[Node], tangents: Sequence[Node | None]) -> list[Node]:
    """The tangents of the outputs where the inputs move along `tangents`, None where one stays: J v for each output."""
    known: Tangents = {x: t for x, t in zip(inputs, tangents, strict=True) if t is not None}
    given = set(inputs)
    order = [n for n in between(inputs, outputs) if n not in given]
    _prefetch(order)
    executions: Executions = {}
    for n in order:
        with derived_from(n):
            tangent = _forward(n, known, executions)
        if tangent is not None:
            known[n] = tangent
    return [known[y] if y in known else zeros(y.shape, y.dtype) for y in outputs]


def vjp(outputs: Sequence[Node], inputs: Sequence[Node], cotangents: Sequence[Node]) -> list[Node]:
    """The cotangents of the inputs: the sum over outputs of J' g."""
    received = pull(outputs, inputs, cotangents)[1]
    return [summed(received[x]) if x in received else zeros(x.shape, x.dtype) for x in inputs]


class Pulled(NamedTuple):
    """A step of the reverse sweep: the results of an execution with their cotangents, and what its inputs receive."""

    given: list[tuple[Node, Node]]
    shares: Shares


@gc_paused()
def pull(
    outputs: Sequence[Node], inputs: Sequence[Node], cotangents: Sequence[Node]
) -> tuple[list[Pulled], dict[Node, list[Node]]]:
    """The reverse sweep step by step, and all shares that each node has received."""
    order = between(inputs, outputs)
    _prefetch(order)
    active, wanted = set(order), set(inputs)
    executed = _executed(n for n in order if n not in wanted)
    steps: list[Pulled] = []
    received: dict[Node, list[Node]] = {}
    for y, g in zip(outputs, cotangents, strict=True):
        received.setdefault(y, []).append(g)
    for n in reversed(order):
        if n in wanted:
            continue
        given = [(y, summed(received[y])) for y in executed.get(n, (n,)) if y in received]
        if given:
            with derived_from(n):
                shares = _reverse(given, active)
            steps.append(Pulled(given, shares))
            for x, g in shares:
                received.setdefault(x, []).append(g)
    return steps, received


def _executed(order: Iterable[Node]) -> dict[Node, tuple[Node, ...]]:
    """For the first result of an execution all of them, since its reverse rule waits for them; for the others none."""
    groups: dict[Any, list[Node]] = {}
    for n in order:
        rule = RULES.get(n.op)
        if rule and rule.execution:
            groups.setdefault(rule.execution(n), []).append(n)
    return {n: tuple(rows) if n is rows[0] else () for rows in groups.values() for n in rows}


def between(inputs: Sequence[Node], outputs: Sequence[Node]) -> list[Node]:
    """The nodes that a derivative of the outputs by the inputs passes, inputs included, in topological order."""
    wanted = set(inputs)
    reached = set(inputs)
    order: list[Node] = []
    for n in topological(outputs):
        if n in reached:
            order.append(n)
        elif n.dtype.kind == "f" and any(x in reached for x in n.inputs) and _passes(n, reached):
            reached.add(n)
            order.append(n)
    needed = reached.intersection(outputs)
    for n in reversed(order):  # what lies before a stop_gradient is reached, and not needed
        if n in needed and n not in wanted:
            needed.update(x for x in n.inputs if x in reached)
    return [n for n in order if n in needed]


def _passes(n: Node, reached: set[Node]) -> bool:
    """A derivative stops at integers and booleans, and at constant operations."""
    rule = RULES.get(n.op)
    return rule.passes(n, reached) if rule else not n.row.constant


def _prefetch(nodes: Iterable[Node]) -> None:
    load_partials(n.op for n in nodes if n.row.differentiable)


def _forward(n: Node, known: Tangents, executions: Executions) -> Node | None:
    if n.row.differentiable:
        terms = (_weighted(n, k, known[x]) for k, x in enumerate(n.inputs) if x in known)
        return total(term for term in terms if term is not None)
    rule = RULES.get(n.op)
    return rule.forward(n, known, executions) if rule else n.row.forward(n, known)


def _reverse(given: Sequence[tuple[Node, Node]], active: set[Node]) -> Shares:
    """The inputs of a node that matter, each with its share of the node's cotangent."""
    n, g = given[0]
    if n.row.differentiable:
        shares = [(x, _weighted(n, k, g)) for k, x in enumerate(n.inputs) if x in active]
        return [(x, share) for x, share in shares if share is not None]
    rule = RULES.get(n.op)
    return rule.reverse(given, active) if rule else n.row.reverse(n, g, active)


def _weighted(n: Node, k: int, g: Node) -> Node | None:
    """g times the k-th partial of a scalar operation, by the cheapest way that its form allows; None where it is 0."""
    forms = partials(n.op)
    form = forms[k]
    if form.unknown:
        what = f"{n.row.scalar.name} by its {('first', 'second', 'third')[k]} argument"
        raise no_derivative(n.origin, what, "bl.stop_gradient of that argument where it counts as constant")
    if form.constant == 0:
        return None
    if form.constant == 1:
        return g
    if form.constant == -1:
        return node("neg", g)
    if form.constant is not None:
        return node("mul", g, broadcast(constant(form.constant, g.dtype), g.shape))
    if n.row.chooses:  # no product: the entry that is not chosen may be infinite
        zero = zeros(g.shape, g.dtype)
        return node(n.op, n.inputs[0], g, zero) if k == 1 else node(n.op, n.inputs[0], zero, g)
    arguments = (*n.inputs, n)
    if form.argument is not None:
        return node("mul", g, arguments[form.argument])
    # What the partial does not read is not kept alive for it: any argument that it reads may stand there. It cannot
    # stand for a parameter, such as an order that has to be whole.
    held = any(f.unknown for f in forms)
    read = tuple(x if held or i in form.reads else arguments[form.reads[0]] for i, x in enumerate(arguments))
    return node("mul", g, Node(f"{n.op}'{k}", read, None, n.shape, n.dtype))
