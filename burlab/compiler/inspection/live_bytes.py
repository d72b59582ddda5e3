"""Memory of a call: its bytes by kind, in all and at each of its steps."""

from collections.abc import Collection, Sequence

from burlab.compiler.executable import Executable
from burlab.compiler.ir.plan import KernelPlan, MemoryKind, nodes_of
from burlab.compiler.planning.residuals import covered, residuals, written
from burlab.graph import Node

KINDS = ("inputs", "constants", "outputs", "activations", "temporaries")
LiveBytes = dict[str, tuple[int, ...]]


def footprint(executable: Executable, differentiated: Collection[int]) -> dict[str, int]:
    """Bytes by kind, which add up to all memory of a call. differentiated: which inputs are, by their numbers.

    parameters: the differentiated inputs, where there is a gradient; inputs: the others. outputs: the value, gradients:
    all other results. constants: known arrays. activations: the part of the workspace that a forward step writes and a
    backward step reads; scratch: the rest of the workspace.
    """
    plan = executable.plan
    sizes = [x.nbytes for x in plan.graph.inputs]
    chosen = sum(size for k, size in enumerate(sizes) if k in differentiated)
    value, *others = (y.nbytes for y in plan.graph.outputs) if plan.graph.outputs else (0,)
    activations = _covered(plan, residuals(plan))
    return {
        "parameters": chosen,
        "inputs": sum(sizes) - chosen,
        "outputs": value,
        "gradients": sum(others),
        "constants": plan.memory["constants"],
        "activations": activations,
        "scratch": executable.workspace_bytes - activations,
    }


def live_bytes(plan: KernelPlan) -> LiveBytes:
    """For each kind of bytes how many live while each step of a plan runs.

    inputs, constants: all the time. outputs: from the step that first writes to them. activations: what the forward
    pass has left in the workspace and the backward pass has yet to read; temporaries: what else is in the workspace,
    from the step that writes it to the last one that reads it. Memory that sub-graphs of control flow use for
    themselves does not count.

    >>> import numpy as np, burlab as bl
    >>> live = live_bytes(bl.compile(lambda x: np.sum(np.tanh(x @ x)), np.ones((8, 8))).executable.plan)
    >>> max(live["inputs"]), live["outputs"][-1]
    (512, 520)
    """
    steps = range(len(plan.steps))
    lives = _lives(plan)
    stored = set(residuals(plan))
    outputs = {n: span for n, span in lives.items() if plan.allocations[n].kind is MemoryKind.OUTPUT}
    own = {n: span for n, span in lives.items() if plan.allocations[n].kind is MemoryKind.WORKSPACE}
    present = [[n for n, (born, dies) in own.items() if born <= k <= dies] for k in steps]
    whole = [_covered(plan, nodes) for nodes in present]
    activations = [_covered(plan, [n for n in nodes if n in stored]) for nodes in present]
    return {
        "inputs": tuple(sum(x.nbytes for x in plan.graph.inputs) for _ in steps),
        "constants": tuple(plan.memory["constants"] for _ in steps),
        "outputs": tuple(sum(n.nbytes for n, (born, _) in outputs.items() if born <= k) for k in steps),
        "activations": tuple(activations),
        "temporaries": tuple(every - left for every, left in zip(whole, activations, strict=True)),
    }


def _covered(plan: KernelPlan, nodes: Sequence[Node]) -> int:
    return covered([(plan.allocations[n].offset, n.nbytes) for n in nodes])


def _lives(plan: KernelPlan) -> dict[Node, tuple[int, int]]:
    """The first and the last step that touches each array that steps write."""
    lives: dict[Node, tuple[int, int]] = {}
    for k, step in enumerate(plan.steps):
        for n in written(step):
            if n in plan.allocations:
                lives[n] = lives.get(n, (k, k))[0], k
        for n in nodes_of(step):
            for base in (plan.views[x].base for x in n.inputs):
                if base in lives:
                    lives[base] = lives[base][0], k
    return lives
