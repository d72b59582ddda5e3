"""The steps of a plan in the user's terms: forward or backward, operations, shape, lines, bytes read and written."""

from collections import Counter
from collections.abc import Iterable, Set
from typing import Literal, NamedTuple

from burlab.compiler.ir.interrupts import is_halt_check
from burlab.compiler.ir.plan import Execute, Invoke, KernelPlan, LoopStep, Step, nodes_of
from burlab.compiler.ir.spill_hints import is_spill_hint
from burlab.compiler.ir.strides import StridedView, elements
from burlab.compiler.lowering.descriptors import Bytes, StridedRows
from burlab.compiler.lowering.lower import note_kernel
from burlab.compiler.planning.fusion import is_in_memory
from burlab.compiler.planning.residuals import forward_of
from burlab.graph import Node
from burlab.graph.origin import short_place

Phase = Literal["forward", "backward", "update", "residual"]


class Entry(NamedTuple):
    """A step. nbytes: what it reads and writes, each element of an array once; lines: the user's, as model.py:7.

    name: empty for a check for an interrupt, which is no row of a profile.
    """

    phase: Phase
    name: str
    shape: tuple[int, ...]
    nbytes: int
    lines: tuple[str, ...]
    scope: str


def accounts(plan: KernelPlan, update: Set[Node] = frozenset()) -> list[Entry]:
    """An entry for each step. A loop with nodes of both phases is forward: the value has to wait for it.

    update: nodes of a further phase, to which the loops with any of them belong.
    """
    forward = forward_of(plan.graph)
    return [_entry(plan, step, forward, update) for step in plan.steps]


def _entry(plan: KernelPlan, step: Step, forward: set[Node], update: Set[Node]) -> Entry:
    nodes = nodes_of(step)
    phase = "backward" if forward.isdisjoint(nodes) else "forward"
    phase = phase if update.isdisjoint(nodes) else "update"
    shape = step.shape if isinstance(step, LoopStep) else nodes[0].shape
    lines = dict.fromkeys(line for n in nodes if (line := short_place(n.origin)))
    scopes = dict.fromkeys(n.scope for n in nodes if n.scope)
    return Entry(phase, _name(step), shape, _bytes(plan, step), tuple(lines), " ".join(scopes))


def _name(step: Step) -> str:
    if is_halt_check(step) or is_spill_hint(step):
        return ""
    if isinstance(step, Invoke):
        return _call_name(step)
    counts = Counter(n.op for n in nodes_of(step)) or Counter(["copy"])
    return " ".join(op if count == 1 else f"{op}*{count}" for op, count in counts.items())


def _call_name(step: Invoke) -> str:
    """The operation; with the library's word for it where that is another: a `pad` is a zero and a copy."""
    op, symbol = step.node.op, step.kernel.symbol.removeprefix("burlab_")
    if op == "contract":
        return f"contract {step.node.params}"
    return op if symbol.startswith(op.replace("'", "_")) else f"{op}: {symbol.partition('_')[0]}"


def _bytes(plan: KernelPlan, step: Step) -> int:
    if isinstance(step, LoopStep):
        members = set(step.nodes)
        outside = (x for n in step.nodes for x in n.inputs if plan.views[x].base not in members)
        return _read(plan, outside) + sum(n.nbytes for n in step.stores) + sum(n.nbytes for n, *_ in step.extra_stores)
    if isinstance(step, Execute):
        return _read(plan, step.nodes[0].inputs) + sum(n.nbytes for n in step.nodes)
    n, symbol, descriptor = step.node, step.kernel.symbol, step.descriptor
    if isinstance(descriptor, Bytes):
        return descriptor.nbytes
    if isinstance(descriptor, StridedRows) and symbol.startswith("burlab_copy_"):
        box = step.box[1 : 1 + step.box[0]] if step.box else ()
        return 2 * n.itemsize * descriptor.rows * descriptor.size * elements(box)
    if n.dtype.kind == "f" and symbol == note_kernel(n).symbol:
        return n.nbytes
    if n.op == "put":  # the copy is another step
        return 2 * n.inputs[1].nbytes + _read(plan, n.inputs[2:])
    if n.row.selects:  # only the rows that the index names
        return 2 * n.nbytes + _read(plan, n.inputs[1:])
    if (touched := n.row.touched(n)) is not None:
        return touched
    added = n.nbytes if step.samples is not None else 0  # to what is there
    return _read(plan, n.inputs) + n.nbytes + added


def _read(plan: KernelPlan, values: Iterable[Node]) -> int:
    """Bytes of these values in memory; equal views count once, and repeated elements too."""
    found: dict[StridedView, int] = {}
    for x in values:
        ref = plan.views[x]
        if is_in_memory(ref.base):
            found[ref] = _elements(x, ref) * x.itemsize
    return sum(found.values())


def _elements(x: Node, ref: StridedView) -> int:
    """Return the number of elements of its base that a view shows."""
    spans = [window or (0, size) for window, size in zip(ref.window or (None,) * x.ndim, x.shape, strict=True)]
    return elements(
        high - low if stride else min(high - low, 1) for (low, high), stride in zip(spans, ref.strides, strict=True)
    )
