"""The replay gear: a plan as a list of kernel calls that one C++ loop carries out (`kernels/replay/program.hpp`)."""

import ctypes
from typing import Any

import numpy as np

from burlab.compiler.ir import library
from burlab.compiler.ir.descriptor_table import Contexts, Descriptor, descriptor_of, descriptors_of
from burlab.compiler.ir.interrupts import is_interruptible
from burlab.compiler.ir.library import LibraryKernel
from burlab.compiler.ir.plan import Execute, Invoke, KernelPlan, LoopStep, MemoryPlace, Runnable
from burlab.compiler.ir.poison import poisoned
from burlab.runtime.coerce import Array
from burlab.runtime.gate import NativeFunction, pointers
from burlab.runtime.kernel_structs import COperand, CProgram, CRecord

from .bytecode import SegmentCode, kernels_of
from .instructions import ReplayPlan


def runner(symbol: str, function: str, header: str) -> LibraryKernel:
    """A function of `burlab::kernels` with the binary interface of an executable, exported as `symbol`."""
    return LibraryKernel(
        symbol,
        f'extern "C" std::int64_t {symbol}(const void* context, const void* const* in, void* const* out,'
        f" void* workspace) noexcept {{ return burlab::kernels::{function}(context, in, out, workspace); }}\n",
        f"burlab/kernels/{header}.hpp",
    )


_RUN = runner("burlab_run_program", "run_program", "replay/program")
_RUN_ALONE = runner("burlab_run_alone", "run_alone", "replay/program")
_RUN_TIMED = runner("burlab_run_program_timed", "run_program<true>", "replay/program")
_RECORD = np.dtype(CRecord)
_NO_BOX = Descriptor(())
_OPERAND = np.dtype(COperand)


def tabulate(plan: KernelPlan) -> Runnable:
    """Write a plan as a table of kernel calls that C++ walks; only kernels that no graph has used are compiled."""
    ticks = plan.options.ticks
    alone = len(plan.steps) == 1 and isinstance(plan.steps[0], LoopStep)
    run = _RUN_TIMED if ticks is not None else _RUN_ALONE if alone else _RUN
    codes = _codes(plan)
    calls = {k: step for k, step in enumerate(plan.steps) if not isinstance(step, LoopStep)}
    library.require([run, *(step.kernel for step in calls.values())], by_name=False)
    pairs = {
        k: descriptors_of(step) if isinstance(step, Invoke) else (descriptor_of(step), _NO_BOX)
        for k, step in calls.items()
    }
    records, operands = _records(plan, calls, codes)
    constants = plan.tables
    table = pointers(constants)

    def bind(addresses: dict[Descriptor, int]) -> tuple[int, Any]:
        bound = records.copy()
        bound["descriptor"][[*calls]] = [addresses[descriptor] for descriptor, _ in pairs.values()]
        bound["box"][[*calls]] = [addresses[box] if box.integers else 0 for _, box in pairs.values()]
        program = CProgram(
            records=bound.ctypes.data,
            operands=operands.ctypes.data,
            constants=ctypes.addressof(table),
            length=len(bound),
            clock=None if ticks is None else ticks.ctypes.data,
        )
        return ctypes.addressof(program), (program, bound)

    contexts = Contexts([d for pair in pairs.values() for d in pair], bind)
    retained = (operands, constants, table, plan.linked, ticks, codes)
    address = library.address(run.symbol)
    function = NativeFunction(address, contexts, plan.workspace_bytes, retained, is_interruptible(plan.steps))
    return Runnable(poisoned(plan, function), str(plan))


def _records(plan: KernelPlan, calls: dict[int, Invoke | Execute], codes: list[SegmentCode]) -> tuple[Array, Array]:
    """The record of each step, without its descriptors, and the places of all operands."""
    records: Array = np.zeros(len(plan.steps), _RECORD)
    loops = [k for k in range(len(plan.steps)) if k not in calls]
    records["kernel"][loops] = [code.address for code in codes]
    records["count"][loops] = -1
    steps = calls.values()
    index = plan.graph.index
    allocations = [_places(step) for step in steps]
    counts = [len(row) for row in allocations]
    at = [*calls]
    records["kernel"][at] = [library.address(step.kernel.symbol) for step in steps]
    records["first"][at] = np.cumsum([0, *counts])[:-1]
    records["count"][at] = counts
    records["node"][at] = [index[step.node] if isinstance(step, Invoke) else 0 for step in steps]
    records["results"][at] = [0 if isinstance(step, Invoke) else len(step.results) for step in steps]
    records["table"][at] = [0 if isinstance(step, Invoke) else step.table for step in steps]
    places = [place for row in allocations for place in row]
    operands: Array = np.zeros(len(places), _OPERAND)
    operands["table"] = [place.kind for place in places]
    operands["index"] = [place.number for place in places]
    operands["offset"] = [place.offset for place in places]
    return records, operands


def _codes(plan: KernelPlan) -> list[SegmentCode]:
    """The segments of a plan in memory."""
    if not isinstance(plan, ReplayPlan):
        return []
    segments, allocations, literals = plan.replay
    library.require(kernels_of(segments), by_name=False)
    return [SegmentCode(segment, allocations, None if k else literals) for k, segment in enumerate(segments)]


def _places(step: Invoke | Execute) -> tuple[MemoryPlace, ...]:
    if isinstance(step, Invoke):
        return step.result, *step.operands
    return step.scratch, *step.results, *step.operands
