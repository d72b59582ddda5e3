"""Gradients of functions of arrays at their points in turn, by a loop of C++: burlab's kernels, and those by hand."""

import ctypes
from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

import burlab as bl
from burlab.bench.namespace import BURLAB
from burlab.bench.problem import Answer, Array, ArrayObjective
from burlab.compiler.executable import Executable, build
from burlab.runtime import address, declare
from burlab.runtime.gate import Workspace

from .task import HERE, Gradient, timed


class _Loop(Gradient):
    """Memory of each point: parameters in the order of their names, value and gradients."""

    def __init__(self, problem: ArrayObjective) -> None:
        self.problem = problem
        self.names = sorted(problem.points[0])
        self.points = [[np.ascontiguousarray(point[name]) for name in self.names] for point in problem.points]
        self.data = [np.ascontiguousarray(problem.data[name]) for name in sorted(problem.data)]
        self.results = [[np.zeros(()), *map(np.zeros_like, row)] for row in self.points]
        self.jit = timed(self.open)

    @abstractmethod
    def open(self) -> None:
        """Make what computes, and compute once."""

    @abstractmethod
    def run(self, count: int) -> None:
        """So many gradients, at the points in turn."""

    def answer(self, point: int, dtype: str) -> Answer:
        """See Task."""
        del dtype
        for array in (x for row in self.results for x in row):
            array[...] = np.nan
        self.run(point + 1)
        value, *gradients = self.results[point]
        return Answer(float(value), {n: g.copy() for n, g in zip(self.names, gradients, strict=True)})

    def repeat(self, count: int) -> float:
        """See Task."""
        return timed(lambda: self.run(count))


class Compiled(_Loop):
    """The kernel's C++ function, called through its address."""

    def open(self) -> None:
        """See _Loop."""
        text = """extern "C" std::int64_t @unit_run(std::int64_t count, void* run, const void* context,
            const void* const* in, std::int64_t inputs, void* const* out, std::int64_t outputs, void* workspace) {
          std::int64_t outcome = 0;
          burlab::bench::in_turn(count, 2, [&](std::int64_t row) {
            const auto call = reinterpret_cast<burlab::bench::Run>(run);
            outcome |= call(context, in + row * inputs, out + row * outputs, workspace);
          });
          return outcome;
        }"""
        number, pointer = ctypes.c_int64, ctypes.c_void_p
        kinds = (number, pointer, pointer, pointer, number, pointer, number, pointer)
        self._call = _function(text, "variants/loop.hpp", number, kinds)
        function = partial(self.problem.function, BURLAB)
        graph = bl.compile(function, dict(self.problem.points[0]), dict(self.problem.data)).gradient_graph
        self._executable: Executable = build(graph)
        self._workspace = Workspace(self._executable.workspace_bytes)
        self.arrays = float(sum(self._executable.memory.values()))
        self.run(1)

    def run(self, count: int) -> None:
        """See _Loop."""
        run, inputs, outputs = self._executable, len(self.names) + len(self.data), 1 + len(self.names)
        given, to = _addresses([[*row, *self.data] for row in self.points]), _addresses(self.results)
        places = given.ctypes.data, inputs, to.ctypes.data, outputs, self._workspace.address
        if outcome := self._call(count, run.address, run.context, *places):
            raise run.error(outcome)


class ByHand(_Loop):
    """A kernel of golden/objectives.hpp."""

    def open(self) -> None:
        """See _Loop."""
        text = f"""extern "C" void @unit_run(std::int64_t count, const double* const* p, std::int64_t arrays,
                                             const double* const* data, double* const* out) {{
          burlab::bench::in_turn(count, 2, [&](std::int64_t row) {{
            double* const* to = out + row * (arrays + 1);
            *to[0] = burlab::bench::{self.problem.kind}(p + row * arrays, data, to + 1);
          }});
        }}"""
        number, pointer = ctypes.c_int64, ctypes.c_void_p
        self._call = _function(text, "golden/objectives.hpp", None, (number, pointer, number, pointer, pointer))
        self.run(1)

    def run(self, count: int) -> None:
        """See _Loop."""
        p, data, out = map(_addresses, (self.points, [self.data], self.results))
        self._call(count, p.ctypes.data, len(self.names), data.ctypes.data, out.ctypes.data)


def _function(text: str, header: str, result: Any, kinds: Sequence[Any]) -> Callable[..., Any]:
    unit = declare(text, (str(HERE.parent / header),))
    return ctypes.CFUNCTYPE(result, *kinds)(address(f"{unit}_run"))


def _addresses(rows: Sequence[Sequence[Array]]) -> Array:
    return np.array([x.ctypes.data for row in rows for x in row], np.uint64)
