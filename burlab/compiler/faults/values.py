"""Every value of a graph: for displays, for stepping through nodes, and to find the source of nan and inf."""

from collections.abc import Sequence

import numpy as np
from numpy.lib.stride_tricks import as_strided

from burlab.compiler.ir.options import PlanOptions
from burlab.compiler.ir.plan import KernelPlan, MemoryKind
from burlab.compiler.passes import make_plan, make_runnable
from burlab.graph import Graph, Node
from burlab.runtime.coerce import Array, ArraySpec, check_count, coerce_input
from burlab.runtime.gate import NativeFunction, Workspace

from .fault import fault


class Replay:
    """A graph that keeps the value of every node. Nothing is compiled but kernels that no graph has used before.

    graph: as simplify gives it, or at least without `call` nodes; its numbering is that of the values.
    """

    def __init__(self, graph: Graph, *, strict: bool = False) -> None:
        self.graph = graph
        self.plan: KernelPlan = make_plan(graph, PlanOptions("kernels", strict, keep=True))
        self.function: NativeFunction = make_runnable(self.plan).function
        self._inputs = [ArraySpec(x.shape, x.dtype, f"argument {k}") for k, x in enumerate(graph.inputs)]
        self._outputs = [ArraySpec(y.shape, y.dtype, f"result {k}") for k, y in enumerate(graph.outputs)]

    def values(self, arrays: Sequence[Array]) -> list[Array]:
        """The value of each node of `graph.nodes`, in their order, for these inputs."""
        check_count(arrays, self._inputs, "arguments")
        ready = [coerce_input(x, spec) for x, spec in zip(arrays, self._inputs, strict=True)]
        buffers = [spec.empty() for spec in self._outputs]
        workspace = Workspace(self.function.workspace_bytes)
        outcome = self.function(ready, buffers, workspace)
        if outcome:
            raise fault(self.graph, outcome)
        return [self._value(n, ready, buffers, workspace.bytes) for n in self.graph.nodes]

    def _value(self, n: Node, inputs: list[Array], outputs: list[Array], memory: Array) -> Array:
        ref = self.plan.views[n]
        base = ref.base
        if base.is_constant:
            array = base.params
        else:
            place = self.plan.allocations[base]
            if place.kind is MemoryKind.INPUT:
                array = inputs[place.number]
            elif place.kind is MemoryKind.OUTPUT:
                array = outputs[place.number]
            else:
                array = memory[place.offset : place.offset + base.nbytes].view(base.dtype)
        if n.size == 0:
            return np.empty(n.shape, n.dtype)
        first = np.ravel(array)[ref.offset :]
        return as_strided(first, n.shape, [s * n.itemsize for s in ref.strides], writeable=False).copy()
