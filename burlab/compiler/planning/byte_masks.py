"""Comparisons for the backward pass are stored as bytes, in place of the numbers that are compared.

The derivatives of relu, abs, maximum and minimum, and so those of clip, are 0 or 1, 1/2 or -1. They read numbers of the
forward pass, or were stored as numbers. Where nothing else of the backward pass reads these, a mask or two of one byte
for each number take less, and are read faster.
"""

from collections.abc import Callable
from typing import NamedTuple

from burlab.compiler.ir.options import After
from burlab.compiler.ir.plan import KernelPlan
from burlab.graph import Graph, Node
from burlab.graph.linear_nodes import broadcast, zeros
from burlab.graph.node import constant
from burlab.graph.operation import make_node
from burlab.graph.origin import derived_from
from burlab.graph.substitute import keep, rebuild

from .residuals import forward_of, residuals

Planner = Callable[[Graph, frozenset[Node], After], KernelPlan]

MIN_BYTES = 1 << 16  # of numbers that are worth masks
_PARTS = 64  # masks save at least one of so many parts of the workspace


class _Test(NamedTuple):
    """The number that a derivative is where a comparison of operands holds: of two, or of one with zero."""

    op: str
    operands: tuple[int, ...]
    value: float


TESTS: dict[str, tuple[_Test, ...]] = {
    "relu'0": (_Test("greater", (1,), 1.0),),
    "abs'0": (_Test("greater", (0,), 1.0), _Test("less", (0,), -1.0)),
    **{
        f"{op}'{k}": (_Test(first if k == 0 else second, (0, 1), 1.0), _Test("equal", (0, 1), 0.5))
        for op, first, second in (("maximum", "greater", "less"), ("minimum", "less", "greater"))
        for k in (0, 1)
    },
}  # the structs of these operations in C++ say the same: the first test that holds, else 0


def byte_masks(plan: KernelPlan, make: Planner) -> KernelPlan:
    """Return the plan, or one whose backward pass reads masks, if its workspace is smaller.

    make: plans a graph in which some nodes are computed as soon as they can be, and others after others.
    """
    chosen = _chosen(plan)
    if not chosen:
        return plan
    made = _Masks()
    known = {x: x for x in plan.graph.inputs}

    def rule(n: Node, inputs: tuple[Node, ...]) -> Node:
        return made.derivative(n, inputs) if n in chosen else keep(n, inputs)

    graph = Graph(plan.graph.inputs, tuple(rebuild(plan.graph.outputs, known, rule)))
    after: dict[Node, tuple[Node, ...]] = {known[n]: tuple(known[x] for x in xs) for n, xs in plan.after.items()}
    index = plan.graph.index
    for n, choices in made.choices.items():  # when the cotangents are known, not before
        others = (x for user in plan.graph.users[n] for x in user.inputs if index[x] < index[n] and x not in chosen)
        after |= dict.fromkeys(choices, tuple(known[x] for x in others))
    less = make(graph, frozenset(made.masks.values()), after)
    return less if less.workspace_bytes * _PARTS <= plan.workspace_bytes * (_PARTS - 1) else plan


def _chosen(plan: KernelPlan) -> set[Node]:
    """The derivatives for which numbers are stored that the backward pass reads for nothing else."""
    tests = [n for n in plan.graph.nodes if n.op in TESTS and n.nbytes >= MIN_BYTES]
    if not tests:
        return set()
    forward, stored = forward_of(plan.graph), set(residuals(plan))
    tests = [n for n in tests if n not in forward]
    chosen, read = set(tests), set[Node]()
    for n in plan.graph.nodes:
        if n not in forward and n not in chosen and not n.row.view:
            read.update(plan.views[x].base for x in n.inputs)
    return {n for n in tests if n in stored or any(base in stored and base not in read for base in _compared(plan, n))}


def _compared(plan: KernelPlan, n: Node) -> set[Node]:
    """The arrays of the numbers that a derivative compares."""
    return {plan.views[n.inputs[k]].base for test in TESTS[n.op] for k in test.operands}


class _Masks:
    """Masks by comparison and operands, and the choices that make a derivative of them."""

    def __init__(self) -> None:
        self.masks: dict[tuple[str, tuple[Node, ...]], Node] = {}
        self.choices: dict[Node, list[Node]] = {}

    def derivative(self, n: Node, inputs: tuple[Node, ...]) -> Node:
        """A derivative, chosen by masks."""
        with derived_from(n):
            result = zero = zeros(n.shape, n.dtype)
            for test in reversed(TESTS[n.op]):
                values = tuple(inputs[k] for k in test.operands)
                mask = self.masks.get((test.op, values))
                if mask is None:
                    mask = self.masks[test.op, values] = make_node(test.op, None, *(*values, zero)[:2])
                result = make_node("where", None, mask, broadcast(constant(test.value, n.dtype), n.shape), result)
                self.choices.setdefault(n, []).append(result)
            return result
