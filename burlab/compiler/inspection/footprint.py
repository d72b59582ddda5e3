"""The bytes of a call by their use: parameters, gradients, residuals of the forward pass, scratch."""

from collections.abc import Collection

from burlab.compiler.executable import Executable
from burlab.compiler.planning.residuals import covered, residuals


def footprint(executable: Executable, differentiated: Collection[int]) -> dict[str, int]:
    """Bytes by kind, which add up to what a call touches. differentiated: which inputs are, by their numbers.

    parameters: the differentiated inputs, where there is a gradient; inputs: the others. outputs: the value, gradients:
    all other results. constants: known arrays. activations: the part of the workspace that a forward step writes and a
    backward step reads; scratch: the rest of the workspace.
    """
    plan = executable.plan
    sizes = [x.nbytes for x in plan.graph.inputs]
    chosen = sum(size for k, size in enumerate(sizes) if k in differentiated)
    value, *others = (y.nbytes for y in plan.graph.outputs) if plan.graph.outputs else (0,)
    activations = covered([(plan.allocations[n].offset, n.nbytes) for n in residuals(plan)])
    return {
        "parameters": chosen,
        "inputs": sum(sizes) - chosen,
        "outputs": value,
        "gradients": sum(others),
        "constants": plan.memory["constants"],
        "activations": activations,
        "scratch": executable.workspace_bytes - activations,
    }
