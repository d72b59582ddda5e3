"""The step of a run as a kernel that does it for several runs at once."""

from dataclasses import dataclass

import numpy as np

from burlab.compiler.executable import Executable, build
from burlab.graph import Graph
from burlab.graph.node import constant
from burlab.graph.substitute import keep, rebuild
from burlab.run.loop.fused import FusedStep
from burlab.run.loop.setup import Setup

from .lane_graph import in_rows

WIDTH = 16  # lanes, as in C++: some registers of each number, so that no operation waits for the one before


@dataclass(frozen=True)
class LaneKernel:
    """executable: see `Lanes` in `cpp/burlab/run/lanes/lanes.hpp`. setup: of one of the runs that it is for.

    hypers, columns, numbers: rows of each kind of its inputs and outputs.
    """

    executable: Executable
    setup: Setup
    hypers: int
    columns: int
    numbers: int

    @staticmethod
    def of(setup: Setup) -> "LaneKernel | None":
        """The kernel; None if runs would have other bits, or need more work than their steps."""
        step = setup.update
        if not isinstance(step, FusedStep) or step.halves or not _is_plain(setup) or not step.has_units:
            return None
        graph = _in_plain_units(step.executable.plan.graph)
        t = graph.inputs[step.leaves]
        rows = in_rows(graph, {t}, WIDTH)
        if rows is None or any(y.dtype != np.float64 for y in rows.outputs):
            return None
        hypers, dimension = len(setup.rule.hyper), setup.dimension
        x, rest = rows.inputs[:dimension], rows.inputs[dimension + 1 + hypers :]
        ordered = (*rows.inputs[dimension : dimension + 1 + hypers], *x, *rest)
        numbers = len(x) + len(rest)
        columns = len(rows.outputs) - numbers
        return LaneKernel(build(Graph(ordered, rows.outputs)), setup, hypers, columns, numbers)

    def serves(self, setup: Setup) -> bool:
        """Return True if it also serves a run of this setup."""
        return setup.update is self.setup.update and _is_plain(setup) and setup.stop == self.setup.stop


def _in_plain_units(graph: Graph) -> Graph:
    """The step with the last input, the units of the gradient's norm, as 1: a run that needs others steps alone."""
    *inputs, unit = graph.inputs
    one = constant(1.0, unit.dtype)
    known = {**{x: x for x in inputs}, unit: one}
    return Graph(tuple(inputs), tuple(rebuild(graph.outputs, known, keep)))


def _is_plain(setup: Setup) -> bool:
    """Return True if a run is a function of numbers alone, and its record is the outputs of its steps."""
    more = (setup.validation, setup.full, setup.output, setup.size, setup.sampler, setup.stop.when, setup.stop.seconds)
    step = setup.update
    draws = isinstance(step, FusedStep) and step.given != step.leaves
    return (
        not draws
        and all(one is None for one in more)
        and not setup.totals
        and not setup.rule.logs_value
        and not setup.rule.logs_norm
        and setup.numbers is None
        and all(dtype == np.float64 for _, dtype in setup.buffers)
    )
