"""The two sweeps, graph to graph: forward mode (`jvp`) and reverse mode (`vjp`).

Both add nodes to the graph they walk, so a sweep can be swept again. Scalar operations multiply by the partials that
their C++ structs state, linear operations go through themselves (forward) or through their transpose (reverse); the few
operations below have a tangent of their own. Everything else has no derivative.
"""

from collections.abc import Iterable, Sequence

from burlab.graph.control import CONTROL
from burlab.graph.graph import Region
from burlab.graph.linear import LINEAR, broadcast
from burlab.graph.node import Node, constant
from burlab.graph.numpy_api.composites import zeros
from burlab.graph.numpy_api.promotion import node
from burlab.graph.order import topological
from burlab.graph.origin import derived_from, no_derivative
from burlab.graph.scalar import is_differentiable, load_partials, partials
from burlab.graph.substitute import inline
from burlab.runtime.gc_pause import gc_paused

from . import cond, scan_forward, scan_reverse
from .cotangents import total

Tangents = dict[Node, Node]
Execution = tuple[tuple[Node, ...], Region]  # what the results of one scan have in common


def jvp(outputs: Sequence[Node], inputs: Sequence[Node], tangents: Sequence[Node]) -> list[Node]:
    """The tangents of the outputs where the inputs move along `tangents`: J v for each output."""
    known: Tangents = dict(zip(inputs, tangents, strict=True))
    order = [n for n in between(inputs, outputs) if n not in known]
    _prefetch(order)
    scans: dict[Execution, scan_forward.Pushed] = {}
    for n in order:
        with derived_from(n):
            tangent = _scan_forward(n, known, scans) if n.op == "scan" else _forward(n, known)
        if tangent is not None:
            known[n] = tangent
    return [known[y] if y in known else zeros(y.shape, y.dtype) for y in outputs]


@gc_paused()
def vjp(outputs: Sequence[Node], inputs: Sequence[Node], cotangents: Sequence[Node]) -> list[Node]:
    """The cotangents of the inputs: the sum over outputs of J' g."""
    order = between(inputs, outputs)
    _prefetch(order)
    active, wanted = set(order), set(inputs)
    scans = _scans(n for n in order if n not in wanted)
    received: dict[Node, list[Node]] = {}
    for y, g in zip(outputs, cotangents, strict=True):
        received.setdefault(y, []).append(g)
    for n in reversed(order):
        if n in wanted:
            continue
        given = [(y, total(received[y])) for y in scans.get(n, (n,)) if y in received]
        if given:
            with derived_from(n):
                for x, g in scan_reverse.backward(given, active) if n.op == "scan" else _backward(*given[0], active):
                    received.setdefault(x, []).append(g)
    return [total(received[x]) if x in received else zeros(x.shape, x.dtype) for x in inputs]


def _scans(order: Iterable[Node]) -> dict[Node, tuple[Node, ...]]:
    """For the first result of every scan all of them, since its reverse sweep waits for them; for the others none."""
    groups: dict[Execution, list[Node]] = {}
    for n in order:
        if n.op == "scan":
            groups.setdefault((n.inputs, n.params.region), []).append(n)
    return {n: tuple(rows) if n is rows[0] else () for rows in groups.values() for n in rows}


def _scan_forward(n: Node, known: Tangents, scans: "dict[Execution, scan_forward.Pushed]") -> Node:
    key = (n.inputs, n.params.region)
    if key not in scans:
        scans[key] = scan_forward.pushed(n, known)
    return scans[key].tangent(n)


def between(inputs: Sequence[Node], outputs: Sequence[Node]) -> list[Node]:
    """The nodes that depend on the inputs and that the outputs depend on, inputs included, in topological order."""
    reached = set(inputs)
    order: list[Node] = []
    for n in topological(outputs):
        if n in reached:
            order.append(n)
        elif n.dtype.kind == "f" and any(x in reached for x in n.inputs) and _passes(n, reached):
            reached.add(n)
            order.append(n)
    return order


def _passes(n: Node, reached: set[Node]) -> bool:
    if n.op == "scan":
        return scan_forward.flows(n, reached)
    return cond.flows(n, reached) if n.op in CONTROL else n.op not in _CONSTANT


# A derivative stops at what is integer or boolean, and at these.
_CONSTANT = {"stop_gradient", "uniform", "reduce_max", "reduce_min"}
_LOOP_REMEDY = (
    "bl.stop_gradient on what it is given, bl.custom_vjp(..., surrogate=True) for a rule of your own, or a Python for "
    "loop of fixed length"
)


def _underivable(n: Node, mode: str) -> Exception:
    if n.op == "while":
        return no_derivative(n.origin, "bl.while_loop", _LOOP_REMEDY)
    if n.op == "ask":
        return no_derivative(n.origin, f"f.{n.params}", "f.grad and f.hvp, which are the problem's derivatives")
    return AssertionError(f"the operation {n.op} has no {mode} rule")  # a row without a rule is a defect of ours


def _prefetch(nodes: Iterable[Node]) -> None:
    load_partials(n.op for n in nodes if is_differentiable(n.op))


# Forward mode.


def _forward(n: Node, known: Tangents) -> Node | None:
    if is_differentiable(n.op):
        terms = [term for k, x in enumerate(n.inputs) if x in known and (term := _weighted(n, k, known[x])) is not None]
        return _total(terms)
    if n.op == "contract":
        return _total([_contract_forward(n, k, known[x]) for k, x in enumerate(n.inputs) if x in known])
    if n.op == "concatenate":
        return _same(n, [known[x] if x in known else zeros(x.shape, x.dtype) for x in n.inputs])
    if n.op in LINEAR:
        return _same(n, [known[n.inputs[0]], *n.inputs[1:]]) if n.inputs[0] in known else None
    if n.op == "surrogate":
        return known.get(n.inputs[1])
    if n.op == "call":
        return _call_forward(n, known)
    if n.op == "cond":
        return cond.forward(n, known)
    raise _underivable(n, "forward")


def _same(n: Node, inputs: Sequence[Node]) -> Node:
    return Node(n.op, tuple(inputs), n.params, n.shape, n.dtype)


def _contract_forward(n: Node, k: int, tangent: Node) -> Node:
    """A contraction with its k-th input replaced."""
    inputs = list(n.inputs)
    inputs[k] = tangent
    return _same(n, inputs)


def _total(terms: list[Node]) -> Node | None:
    result = None
    for term in terms:
        result = term if result is None else node("add", result, term)
    return result


def _weighted(n: Node, k: int, g: Node) -> Node | None:
    """g times the k-th partial of a scalar operation, by the cheapest way that its form allows; None where it is 0."""
    form = partials(n.op)[k]
    if form.constant == 0:
        return None
    if form.constant == 1:
        return g
    if form.constant == -1:
        return node("neg", g)
    if form.constant is not None:
        return node("mul", g, broadcast(constant(form.constant, g.dtype), g.shape))
    if n.op == "where":  # a choice, not a product: what was not chosen may be infinite
        zero = zeros(g.shape, g.dtype)
        return node("where", n.inputs[0], g, zero) if k == 1 else node("where", n.inputs[0], zero, g)
    arguments = (*n.inputs, n)
    if form.argument is not None:
        return node("mul", g, arguments[form.argument])
    # What the partial does not read is not kept alive for it: any argument that it reads may stand there.
    read = tuple(x if i in form.reads else arguments[form.reads[0]] for i, x in enumerate(arguments))
    return node("mul", g, Node(f"{n.op}'{k}", read, None, n.shape, n.dtype))


# Reverse mode.


def _backward(n: Node, g: Node, active: set[Node]) -> list[tuple[Node, Node]]:
    """The inputs of a node that matter, each with its share of the node's cotangent."""
    if is_differentiable(n.op):
        shares = [(x, _weighted(n, k, g)) for k, x in enumerate(n.inputs) if x in active]
        return [(x, share) for x, share in shares if share is not None]
    if n.op in LINEAR:
        row = LINEAR[n.op]
        count = len(n.inputs) if row.linear_inputs is None else row.linear_inputs
        return [(x, row.transpose(g, n, k)) for k, x in enumerate(n.inputs[:count]) if x in active]
    if n.op == "surrogate":
        return [(n.inputs[1], g)] if n.inputs[1] in active else []
    if n.op == "call":
        return _call_backward(n, g, active)
    if n.op == "cond":
        return cond.backward(n, g, active)
    raise _underivable(n, "reverse")


# Calls of sub-graphs: through the rule that came with them, else through what they contain.


def _call_backward(n: Node, g: Node, active: set[Node]) -> list[tuple[Node, Node]]:
    rule = n.params.backward
    if rule is None:
        (body,) = inline(n.params.graph, n.inputs)
        floats = [x for x in dict.fromkeys(n.inputs) if x in active]
        return list(zip(floats, vjp([body], floats, [g]), strict=True))
    shares = inline(rule, (*n.inputs, n, g))
    floats = [x for x in n.inputs if x.dtype.kind == "f"]
    return [(x, share) for x, share in zip(floats, shares, strict=True) if x in active]


def _call_forward(n: Node, known: Tangents) -> Node | None:
    moving = [x for x in dict.fromkeys(n.inputs) if x in known]
    if not moving:
        return None
    if n.params.backward is None:
        (body,) = inline(n.params.graph, n.inputs)
        return jvp([body], moving, [known[x] for x in moving])[0]
    # The rule g -> J'g is linear in g, so its own reverse sweep by g gives J v.
    g = zeros(n.shape, n.dtype)
    shares = inline(n.params.backward, (*n.inputs, n, g))
    floats = [x for x in n.inputs if x.dtype.kind == "f"]
    pairs = [(share, known[x]) for x, share in zip(floats, shares, strict=True) if x in known]
    return vjp([s for s, _ in pairs], [g], [v for _, v in pairs])[0]
