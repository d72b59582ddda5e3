"""Making a graph smaller without changing a bit of what it computes.

Known arithmetic is done now where IEEE arithmetic is exact about it (no libm function is folded: that is the C++
library's to compute), equal nodes become one, views of views one view, and what the outputs do not need is gone. A
product with zero stays: zero times infinity is not zero.
"""

from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import Any

import numpy as np

from burlab.graph.checkpoint_nodes import Checkpoint, after
from burlab.graph.control_nodes import with_graphs
from burlab.graph.graph import Call, Graph, Region, Result, topological
from burlab.graph.halves_nodes import Halves
from burlab.graph.linear_nodes import broadcast, contract, convert, reshape, slice_, transpose
from burlab.graph.node import Node, constant
from burlab.graph.origin import derived_from
from burlab.graph.signatures import letters_of
from burlab.graph.substitute import inline, keep, rebuild
from burlab.runtime.coerce import Array
from burlab.runtime.dtypes import is_narrow_float
from burlab.runtime.gc_pause import gc_paused

from .merge_choices import merged_choices
from .merge_scans import merged

_FOLDED: dict[str, Callable[..., Any]] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "neg": np.negative, "square": np.square,
    "sqrt": np.sqrt, "abs": np.abs, "where": np.where, "less": np.less, "less_equal": np.less_equal,
    "greater": np.greater, "greater_equal": np.greater_equal, "equal": np.equal, "not_equal": np.not_equal,
    "logical_and": np.logical_and, "logical_or": np.logical_or, "logical_not": np.logical_not, "isfinite": np.isfinite,
}  # fmt: skip
_LARGEST_FOLD = 4096  # elements: larger known arrays are computed by the kernel, not carried in its text


@gc_paused()
def simplify(graph: Graph, *, derivable: bool = False) -> Graph:
    """Return the same function with fewer nodes. Inputs keep their order, even if they are unused.

    derivable: whether what only derivatives see stays: the surrogate of a largest value, a `stop_gradient`.
    """
    unique: dict[Any, Node] = {}
    known = {x: x for x in graph.inputs}
    settled = set(graph.inputs)
    regions: dict[Region, Region] = {}
    control = set[str]()  # operations with sub-graphs
    calls = any(map(_executes_graph, graph.nodes))
    outputs = without_calls(graph.outputs) if calls else graph.outputs
    order = topological(outputs, graph.inputs) if calls else graph.nodes
    transposed_only = _only_transposed(outputs, order)

    def intern(n: Node) -> Node:
        """The one node that computes this; rules make a few new inputs at once, which are looked up as well."""
        if n in settled:
            return n
        inputs = tuple([x if x in settled else intern(x) for x in n.inputs])
        identity = _identity(n, inputs)
        one = unique.setdefault(identity, n)
        if one is n:
            one = unique[identity] = keep(n, inputs)
        settled.add(one)
        return one

    def rule(n: Node, inputs: tuple[Node, ...]) -> Node:
        if n.op == "transpose" and n.inputs[0] in transposed_only and inputs[0].op == "contract":
            return intern(_contract_transposed(inputs[0], n.params))
        with derived_from(n):
            new = keep(n, inputs)
            if derivable and new.row.identity:
                return intern(new)
            if not new.row.parts:
                return intern(_reduce(new))
            control.add(new.op)
            return intern(_inside(new, regions, derivable))

    for n in order:
        if n not in known:
            known[n] = rule(n, tuple([known[x] for x in n.inputs]))
    new = [known[y] for y in outputs]
    fewer = ("scan" in control and merged(new)) or ("cond" in control and merged_choices(new))
    return (
        simplify(Graph(graph.inputs, tuple(fewer)), derivable=derivable) if fewer else Graph(graph.inputs, tuple(new))
    )


def without_calls(outputs: Sequence[Node]) -> list[Node]:
    """The outputs with every `call`, `checkpoint` and half of a `custom_vjp` replaced by the graph that it executes."""
    order = topological(outputs)
    if not any(map(_executes_graph, order)):
        return list(outputs)
    in_halves = {(n.params.region, n.inputs) for n in order if isinstance(n.row, Halves) and n.params.item}
    executed: dict[Any, list[Node]] = {}

    def rule(n: Node, inputs: tuple[Node, ...]) -> Node:
        if isinstance(n.params, Call):
            return without_calls(inline(n.params.graph, inputs))[0]
        if not isinstance(n.row, (Checkpoint, Halves)):
            return keep(n, inputs)
        result: Result = n.params
        graph = result.region.graphs[(result.region, n.inputs) in in_halves]
        if (graph, inputs) not in executed:
            executed[graph, inputs] = without_calls(inline(graph, inputs))
        return executed[graph, inputs][result.item]

    return rebuild(outputs, {}, rule)


def _executes_graph(n: Node) -> bool:
    """Return True for a `call`, a `checkpoint` and a half of a `custom_vjp`."""
    return isinstance(n.params, Call) or isinstance(n.row, (Checkpoint, Halves))


def _only_transposed(outputs: Sequence[Node], order: Sequence[Node]) -> set[Node]:
    """Nodes that nothing but one `transpose` uses. order: all nodes."""
    users: dict[Node, int] = dict.fromkeys(outputs, 2)
    found: list[Node] = []
    for n in order:
        if n.op == "transpose":
            found.append(n.inputs[0])
        for x in n.inputs:
            users[x] = users.get(x, 0) + 1
    return {x for x in found if users[x] == 1}


def _contract_transposed(n: Node, permutation: tuple[int, ...]) -> Node:
    """The result with its axes in the order of a transpose, so that it need not be copied later."""
    left, right, out = letters_of(n.params)
    with derived_from(n):
        return contract(f"{left},{right}->{''.join(out[a] for a in permutation)}", *n.inputs)


def _identity(n: Node, inputs: tuple[Node, ...]) -> Any:
    """Equal for nodes that compute the same. A constant counts by its bytes, so that -0.0 and 0.0 differ."""
    if n.is_input:
        return n
    if n.is_constant:
        return n.op, n.dtype, n.shape, n.weak, _content(n.params)
    return n.op, inputs, n.params, n.dtype, n.shape


def _content(array: Array) -> bytes:
    """The bytes of an array, or of a large one a hash of them."""
    if array.size <= _LARGEST_FOLD:
        return array.tobytes()
    return blake2b(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data).digest()


def _inside(n: Node, known: dict[Region, Region], derivable: bool) -> Node:
    """A control-flow node with its sub-graphs simplified: once, so that the results of one execution stay together."""
    region: Region = n.params.region
    if region not in known:
        known[region] = Region(
            tuple([simplify(part, derivable=derivable) for part in region.graphs]), region.iterations
        )
    return with_graphs(n, known[region])


def _reduce(n: Node) -> Node:
    if n.row.identity:
        return n.inputs[0]
    if n.op in _RULES and (reduced := _RULES[n.op](n)) is not None:
        return reduced
    if n.row.order and (reduced := _partial(n)) is not None:
        return _reduce(reduced)
    if n.op in _FOLDED and n.size <= _LARGEST_FOLD:
        values = [x.known for x in n.inputs]
        if all(v is not None for v in values):
            return _folded(n, values)
    return n


def _folded(n: Node, values: list[Any]) -> Node:
    with np.errstate(all="ignore"):
        value = np.asarray(_FOLDED[n.op](*values), n.dtype)
    return broadcast(constant(value, n.dtype), n.shape)


def _is(n: Node, number: float) -> bool:
    value = n.known
    return value is not None and value.shape == () and bool(value == number) and not (number == 0 and np.signbit(value))


def _multiply(n: Node) -> Node | None:
    x, y = n.inputs
    for one, other in ((x, y), (y, x)):
        if _is(one, 1.0):
            return other
        if _is(one, -1.0):
            return _reduce(Node("neg", (other,), None, n.shape, n.dtype))
    return None


def _divide(n: Node) -> Node | None:
    return n.inputs[0] if _is(n.inputs[1], 1.0) else None


def _negate(n: Node) -> Node | None:
    return n.inputs[0].inputs[0] if n.inputs[0].op == "neg" else None


def _add(n: Node) -> Node | None:
    """x + -y is x - y, to the bit; so is a negative known number on the right."""
    x, y = n.inputs
    if y.op == "neg":
        return Node("sub", (x, y.inputs[0]), None, n.shape, n.dtype)
    if x.op == "neg":
        return Node("sub", (y, x.inputs[0]), None, n.shape, n.dtype)
    return None


def _subtract(n: Node) -> Node | None:
    x, y = n.inputs
    return Node("add", (x, y.inputs[0]), None, n.shape, n.dtype) if y.op == "neg" else None


def _where(n: Node) -> Node | None:
    mask = n.inputs[0].known
    if mask is None or mask.size == 0 or mask.all() != mask.any():
        return None
    return n.inputs[1] if mask.all() else n.inputs[2]


def _broadcast(n: Node) -> Node | None:
    x = n.inputs[0]
    if x.op != "broadcast":
        return None
    shape, axes = n.params
    return broadcast(x.inputs[0], shape, tuple(axes[a] for a in x.params[1]))


def _reshape(n: Node) -> Node | None:
    x = n.inputs[0]
    if x.op == "reshape":
        return reshape(x.inputs[0], n.shape)
    if x.is_constant and x.size <= _LARGEST_FOLD:
        return constant(x.params.reshape(n.shape), n.dtype)
    return _repeated(x, n.shape)


def _transpose(n: Node) -> Node | None:
    x = n.inputs[0]
    if x.op == "transpose":
        return transpose(x.inputs[0], tuple(x.params[a] for a in n.params))
    if x.is_constant and x.size <= _LARGEST_FOLD:
        return constant(x.params.transpose(n.params), n.dtype)
    return _repeated(x, n.shape)


def _of_narrow(n: Node) -> Node | None:
    """Entries of converted data are entries of the data, converted: not all of these are wanted. None for others."""
    x = n.inputs[0]
    if x.op != "convert" or n.dtype.kind != "f" or n.size >= x.size:
        return None
    data = x.inputs[0]
    if not (data.row.leaf or data.row.view) or data.itemsize > 2:
        return None
    return convert(Node(n.op, (data, *n.inputs[1:]), n.params, n.shape, data.dtype), n.dtype)


def _slice(n: Node) -> Node | None:
    x = n.inputs[0]
    if (entries := _of_narrow(n)) is not None:
        return entries
    start, step, shape = n.params
    if x.op == "slice":
        first, stride, _ = x.params
        at = tuple(f + s * k for f, s, k in zip(first, stride, start, strict=True))
        return slice_(x.inputs[0], at, tuple(a * b for a, b in zip(stride, step, strict=True)), shape)
    if x.op == "pad" and x.params[:2] == (start, step) and x.inputs[0].shape == shape:
        return x.inputs[0]
    return _repeated(x, shape)


def _repeated(x: Node, shape: tuple[int, ...]) -> Node | None:
    """One number repeated in another shape; None if x is none."""
    return broadcast(x.inputs[0], shape, ()) if x.op == "broadcast" and x.inputs[0].shape == () else None


def _after(n: Node) -> Node | None:
    """Leaves come before everything; where nothing else does, computing again would only repeat what was just done."""
    x, *before = n.inputs
    left = [g for g in dict.fromkeys(before) if not g.row.leaf and g.known is None]
    return None if len(left) == len(before) else after(x, left)


def _convert(n: Node) -> Node | None:
    value = n.inputs[0].known
    if value is None or n.size > _LARGEST_FOLD or is_narrow_float(n.dtype):
        return None
    return broadcast(constant(value.astype(n.dtype), n.dtype), n.shape)


def _constant(n: Node) -> Node | None:
    """One number everywhere is a number repeated."""
    bits = n.params.reshape(-1).view(f"u{n.itemsize}")
    if n.size < 2 or is_narrow_float(n.dtype) or (bits != bits[0]).any():
        return None
    return broadcast(constant(n.params.reshape(-1)[0], n.dtype), n.shape)


_NEXT = {"sin": ("cos", 1), "cos": ("sin", -1), "sinh": ("cosh", 1), "cosh": ("sinh", 1)}


def _inverse(n: Node) -> Node | None:
    """Return the factor of a cotangent behind a division by a known number: the IEEE division is done now."""
    value = n.inputs[1].known
    if value is None or n.dtype.kind != "f" or value.size > _LARGEST_FOLD:
        return None
    with np.errstate(all="ignore"):
        inverse = np.asarray(np.divide(n.dtype.type(1), value), n.dtype)
    return broadcast(constant(inverse, n.dtype), n.shape)


def _partial(n: Node) -> Node | None:
    """Partials that are operations themselves, as their structs in C++ have it.

    Where a function has the sine and the cosine of an angle, its gradient then computes no further ones.
    """
    op, *numbers = n.op.split("'")
    if op not in _NEXT or any(number != "0" for number in numbers):
        return None
    sign = 1
    for _ in numbers:
        op, factor = _NEXT[op]
        sign *= factor
    node = Node(op, n.inputs[:1], None, n.shape, n.dtype)
    return node if sign > 0 else Node("neg", (node,), None, n.shape, n.dtype)


_RULES: dict[str, Callable[[Node], Node | None]] = {
    "constant": _constant, "mul": _multiply, "div": _divide, "neg": _negate, "add": _add, "sub": _subtract,
    "where": _where, "broadcast": _broadcast, "reshape": _reshape, "transpose": _transpose, "slice": _slice,
    "gather": _of_narrow, "convert": _convert, "div'0": _inverse,
    "after": _after,
}  # fmt: skip
