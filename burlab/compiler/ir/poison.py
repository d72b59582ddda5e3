"""Memory that holds nan before a kernel writes it, so that tests see elements that it does not write.

With `BURLAB_POISON=1` in the environment when burlab is imported, every function of a graph is called through
`kernels/poison.hpp`: it fills the workspace and the outputs, in both gears, and for the parts of control flow, tiles of
a sum and steps of a run too. Outputs that a function adds to, or that have the memory of an input, stay as they are.
Without the variable no function knows of this.
"""

import ctypes

import numpy as np

from burlab.runtime import memory
from burlab.runtime.gate import NativeFunction
from burlab.runtime.kernel_structs import CPoisoned

from . import library
from .library import LibraryKernel
from .plan import KernelPlan

_RUN = LibraryKernel(
    "burlab_run_poisoned",
    'extern "C" std::int64_t burlab_run_poisoned(const void* context, const void* const* in, void* const* out,'
    " void* workspace) noexcept { return burlab::kernels::run_poisoned(context, in, out, workspace); }\n",
    "burlab/kernels/poison.hpp",
)


def poisoned(plan: KernelPlan, function: NativeFunction) -> NativeFunction:
    """The function of a plan; for tests, wrapped in one that fills its memory first."""
    if not memory.poisons():
        return function
    library.require([_RUN], by_name=False)
    read = np.array([x.nbytes for x in plan.graph.inputs] or [0], np.int64)
    added = plan.options.accumulate
    written = np.array([0 if k < added else y.nbytes for k, y in enumerate(plan.graph.outputs)] or [0], np.int64)
    counts = len(plan.graph.inputs), len(plan.graph.outputs)
    known: dict[int | None, CPoisoned] = {}

    def contexts(samples: int | None) -> int:
        if samples not in known:
            inner = function.address, function.contexts(samples), function.workspace_bytes
            made = CPoisoned(*inner, *counts, read.ctypes.data, written.ctypes.data)
            known.setdefault(samples, made)  # if another thread was first, its stays
        return ctypes.addressof(known[samples])

    keep = (function, known, read, written)
    return NativeFunction(library.address(_RUN.symbol), contexts, function.workspace_bytes, keep, function.loops)
