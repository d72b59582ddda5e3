"""Runs that step in the lanes of one kernel. Between two chunks of steps each is a run like any other, at rest."""

import ctypes
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from burlab.problems.kernels.sum_abi import kernel_of
from burlab.run.loop.loop import RunLoop
from burlab.runtime.exports import exports
from burlab.runtime.gate import Workspace
from burlab.runtime.structs import CLanes
from burlab.runtime.wait import SLICE

from .lane_kernel import WIDTH, LaneKernel

_CHUNK = 128  # steps, of which rows and states are kept for the runs to take: they stay in the second cache
_DRAWN = 2  # numbers of x at most, for a run to have a path


@cache
def _exports() -> dict[str, Callable[..., Any]]:
    """The functions of `cpp/burlab/run/abi/lanes.hpp`, by name."""
    pointer, integer = ctypes.c_void_p, ctypes.c_int64
    signature = (integer, ctypes.POINTER(CLanes), pointer, integer, integer, ctypes.c_double)
    return exports("burlab/run/abi/lanes.hpp", "burlab::run", {"lanes_step": signature})


class KernelLanes:
    """At most `WIDTH` runs, at rest at one step; other threads leave them alone meanwhile."""

    def __init__(self, kernel: LaneKernel, loops: Sequence[RunLoop]) -> None:
        """kernel: serves all of them. Lanes without a run repeat the last one; their results are unused."""
        self.step = loops[0].view().step
        every = [*loops, *[loops[-1]] * (WIDTH - len(loops))]
        hyper = np.array([[loop.hyper(k) for loop in every] for k in range(kernel.hypers)])
        shapes = [shape for shape, _ in kernel.setup.buffers]
        state = [[loop.read(k).reshape(-1) for loop in every] for k in range(len(shapes))]
        states = np.empty((1 + _CHUNK, kernel.numbers, WIDTH))
        states[0] = np.concatenate([np.stack(rows, axis=1) for rows in state])
        dimension = kernel.setup.dimension
        points = dimension if dimension <= _DRAWN else 0
        taken, record = (np.empty(_CHUNK * rows * WIDTH) for rows in (kernel.columns, kernel.columns + points))
        least = np.empty((1 + kernel.columns, WIDTH))
        tables = [
            (ctypes.c_void_p * count)()
            for count in (1 + kernel.hypers + kernel.numbers, kernel.columns + kernel.numbers)
        ]
        workspace = Workspace(kernel.executable.workspace_bytes)
        self._keep = kernel, loops, hyper, states, taken, record, least, tables, workspace
        self._lanes = CLanes(
            kernel=kernel_of(kernel.executable),
            hypers=kernel.hypers,
            columns=kernel.columns,
            numbers=kernel.numbers,
            points=points,
            most=_CHUNK,
            hyper=hyper.ctypes.data,
            taken=taken.ctypes.data,
            states=states.ctypes.data,
            least=least.ctypes.data,
            record=record.ctypes.data,
            in_=ctypes.addressof(tables[0]),
            out=ctypes.addressof(tables[1]),
            workspace=workspace.address,
        )
        self._places = (ctypes.c_void_p * WIDTH)(*(loop.place for loop in loops))

    @property
    def runs(self) -> int:
        """The number of runs in the lanes; a run leaves before its end and before inf or nan."""
        return sum(place is not None for place in self._places)

    def advance(self, target: int) -> None:
        """Steps up to `target`, for about 50 ms at most; a run that leaves is at rest, and is to go on by itself."""
        self.step = _exports()["lanes_step"](self._lanes, self._places, self.step, target, SLICE * 1e9)
