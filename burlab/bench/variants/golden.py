"""Kernels written by hand (golden/*.hpp), as a limit for all others. They go through the gate as well."""

import ctypes
from collections.abc import Callable

import numpy as np

from burlab.bench.problem import Answer, ArrayObjective, Problem, Scalar, Task, Training, Transfer, Unavailable
from burlab.runtime import address, declare

from .task import HERE, Gradient, answer_of, timed

_FOLDER = HERE.parent / "golden"


def open_task(problem: Problem, variant: str) -> Task:
    """The task of a problem that has a kernel written by hand."""
    if isinstance(problem, Scalar) and problem.names == ("a", "b"):
        return {"straight line, loop in C++": StraightLine, "lanes, loop in C++": GoldenLanes}[variant](problem)
    if isinstance(problem, Training):
        from .golden_mlp import GoldenMlp

        return GoldenMlp(problem)
    if isinstance(problem, Transfer):
        from .file_transfer import CppTransfer

        return CppTransfer(problem)
    if isinstance(problem, ArrayObjective):
        from .objective_loop import ByHand

        return ByHand(problem)
    raise Unavailable("nobody has written this by hand")


class StraightLine(Gradient):
    """One point after the other."""

    def __init__(self, problem: Scalar) -> None:
        self._names, self._points = problem.names, np.ascontiguousarray(problem.points)
        self._out = np.zeros((len(self._points), 3))
        text = """extern "C" void @unit_run(std::int64_t count, const double* points, std::int64_t m, double* out) {
          burlab::bench::tiny_line(count, points, m, out);
        }"""
        unit = declare(text, (str(_FOLDER / "tiny.hpp"),))
        kinds = (ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p)
        self._call: Callable[..., None] = ctypes.CFUNCTYPE(None, *kinds)(address(f"{unit}_run"))

    def _run(self, count: int) -> None:
        self._call(count, self._points.ctypes.data, len(self._points), self._out.ctypes.data)

    def answer(self, point: int, dtype: str) -> Answer:
        """See Task."""
        del dtype
        self._out[:] = np.nan
        self._run(point + 1)
        return answer_of(self._names, self._out[point])

    def repeat(self, count: int) -> float:
        """See Task."""
        return timed(lambda: self._run(count))


class GoldenLanes(Gradient):
    """Kernel that computes as many points at once as the CPU has lanes."""

    def __init__(self, problem: Scalar) -> None:
        self._names = problem.names
        self._columns = [np.ascontiguousarray(column) for column in problem.points.T]
        self._out = [np.zeros(len(problem.points)) for _ in range(3)]
        text = """extern "C" void @unit_run(std::int64_t count, const double* a, const double* b, std::int64_t m,
                                            double* g, double* ga, double* gb) {
          burlab::bench::tiny_lanes(count, a, b, m, g, ga, gb);
        }"""
        unit = declare(text, (str(_FOLDER / "tiny.hpp"),))
        i64, ptr = ctypes.c_int64, ctypes.c_void_p
        self._call: Callable[..., None] = ctypes.CFUNCTYPE(None, i64, ptr, ptr, i64, ptr, ptr, ptr)(
            address(f"{unit}_run")
        )

    def _run(self, count: int) -> None:
        a, b = (x.ctypes.data for x in self._columns)
        self._call(count, a, b, len(self._columns[0]), *(y.ctypes.data for y in self._out))

    def answer(self, point: int, dtype: str) -> Answer:
        """See Task."""
        del dtype
        for y in self._out:
            y[:] = np.nan
        self._run(point + 1)
        return answer_of(self._names, np.array([y[point] for y in self._out]))

    def repeat(self, count: int) -> float:
        """See Task."""
        return timed(lambda: self._run(count))
