"""The replayed and the compiled gear on scalar problems: calls from Python, calls from C++, a loop in C++."""

import ctypes
from functools import cache
from time import perf_counter
from typing import Any

import numpy as np

import burlab as bl
from burlab.bench.namespace import BURLAB
from burlab.bench.problem import Answer, Array, Scalar
from burlab.compiler.executable import Executable, build
from burlab.compiler.faults.values import Replay
from burlab.compiler.ir.options import Gear
from burlab.compiler.kernel import Kernel
from burlab.runtime import address, declare
from burlab.runtime.gate import Workspace

from .task import HERE, Gradient, answer_of, timed

_CANARY = 0xA5


def kernel_of(problem: Scalar, gear: Gear) -> Kernel:
    """The function of the problem's numbers as a Kernel of that gear."""

    def function(*x: Any) -> Any:
        return problem.function(BURLAB, *x)

    example = problem.points[0].tolist()
    return bl.compile(function, *example, argnums=tuple(range(len(example))), gear=gear)


def count_visits(replay: Replay, point: Array) -> tuple[int, int]:
    """Return the number of nodes of a gradient's graph that a replay computes, and of those that it should compute."""
    inputs = [np.asarray(x) for x in point]
    outputs = [np.zeros((), y.dtype) for y in replay.graph.outputs]
    workspace = Workspace(replay.function.workspace_bytes)
    workspace.bytes[:] = _CANARY
    for y in outputs:
        y.reshape(-1).view(np.uint8)[:] = _CANARY
    replay.function(inputs, outputs, workspace)
    nodes = {r for n in replay.graph.nodes if (r := replay.plan.views[n].base) in replay.plan.allocations}
    nodes = {n for n in nodes if not n.row.leaf}
    untouched = 0
    for n in nodes:
        place = replay.plan.allocations[n]
        memory = outputs[place.number] if place.kind.name == "OUTPUT" else workspace.bytes[place.offset :]
        untouched += bool(np.all(memory.reshape(-1).view(np.uint8)[: n.nbytes] == _CANARY))
    return len(nodes) - untouched, len(nodes)


class KernelCalls(Gradient):
    """`kernel.value_and_grad(a, b)`: one call from Python each."""

    def __init__(self, problem: Scalar, gear: Gear) -> None:
        self._problem, self._points = problem, problem.points.tolist()
        self.jit = timed(lambda: self._open(gear))
        self._visited = (
            count_visits(Replay(self._kernel.gradient_graph), problem.points[0]) if gear == "replay" else None
        )

    def _open(self, gear: Gear) -> None:
        self._kernel = kernel_of(self._problem, gear)
        self._kernel.value_and_grad(*self._points[0])

    def answer(self, point: int, dtype: str) -> Answer:
        """See Task."""
        del dtype
        value, gradients = self._kernel.value_and_grad(*self._points[point])
        pairs = zip(self._problem.names, gradients, strict=True)
        return Answer(float(value), {n: np.asarray(g) for n, g in pairs}, self._visited)

    def repeat(self, count: int) -> float:
        """See Task."""
        points, size, call = self._points, len(self._points), self._kernel.value_and_grad
        call(*points[0])
        call = self._kernel.value_and_grad  # from the second call on: what goes straight to C++
        start = perf_counter()
        for k in range(count):
            call(*points[k % size])
        return perf_counter() - start


@cache
def _loop() -> Any:
    text = """extern "C" std::int64_t @unit_loop(std::int64_t count, void* run, const void* context, void* workspace,
        const double* points, std::int64_t m, std::int64_t k, double* out) {
      return burlab::bench::call_in_turn(count, run, context, workspace, points, m, k, out);
    }"""
    i64, ptr = ctypes.c_int64, ctypes.c_void_p
    unit = declare(text, (str(HERE / "loop.hpp"),))
    return ctypes.CFUNCTYPE(i64, i64, ptr, ptr, ptr, ptr, i64, i64, ptr)(address(f"{unit}_loop"))


class KernelLoop(Gradient):
    """The kernel's C++ function, called through its address by a loop in C++."""

    def __init__(self, problem: Scalar, gear: Gear) -> None:
        self._problem, self._points = problem, np.ascontiguousarray(problem.points)
        self._out = np.zeros((len(self._points), 1 + len(problem.names)))
        loop = _loop()
        self.jit = timed(lambda: self._open(gear, loop))
        self.arrays = float(sum(self._executable.memory.values()))
        self._visited = count_visits(Replay(self._graph), problem.points[0]) if gear == "replay" else None

    def _open(self, gear: Gear, loop: Any) -> None:
        self._graph = kernel_of(self._problem, gear).gradient_graph
        self._executable: Executable = build(self._graph, gear=gear)
        self._workspace = Workspace(self._executable.workspace_bytes)
        self._call = loop
        self._run(1)

    def _run(self, count: int) -> None:
        run, (m, k) = self._executable, self._points.shape
        fixed = run.address, run.context, self._workspace.address, self._points.ctypes.data
        if outcome := self._call(count, *fixed, m, k, self._out.ctypes.data):
            raise run.error(outcome)

    def answer(self, point: int, dtype: str) -> Answer:
        """See Task."""
        del dtype
        self._out[:] = np.nan
        self._run(point + 1)
        return answer_of(self._problem.names, self._out[point], self._visited)

    def repeat(self, count: int) -> float:
        """See Task."""
        return timed(lambda: self._run(count))


class KernelBatch(Gradient):
    """`bl.vmap` of the gradient over all points: the loop is in the kernel, and the compiler may use lanes."""

    def __init__(self, problem: Scalar) -> None:
        self._problem = problem
        self._columns: list[Any] = [np.ascontiguousarray(column) for column in problem.points.T]
        self._out: list[Array] = []
        self.jit = timed(self._open)
        self.arrays = float(sum(self._kernel.memory.values()))

    def _open(self) -> None:
        def function(*x: Any) -> Any:
            return self._problem.function(BURLAB, *x)

        gradient = bl.vmap(bl.value_and_grad(function, tuple(range(len(self._columns)))))
        self._kernel = bl.compile(gradient, *self._columns)
        self._run()

    def _run(self) -> None:
        value, gradients = self._kernel(*self._columns)
        self._out = [value, *gradients]

    def answer(self, point: int, dtype: str) -> Answer:
        """See Task."""
        del dtype
        self._run()
        return answer_of(self._problem.names, np.array([column[point] for column in self._out]))

    def repeat(self, count: int) -> float:
        """Seconds for `count` gradients: whole passes over the points, in proportion."""
        size = len(self._problem.points)
        passes = -(-count // size)
        return timed(lambda: [self._run() for _ in range(passes)]) * count / (passes * size)
