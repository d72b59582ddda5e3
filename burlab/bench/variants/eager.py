"""The eager gear: a graph recorded and swept, point by point, from Python and from C++."""

import ctypes
from functools import cache
from time import perf_counter
from typing import Any

import numpy as np

import burlab as bl
from burlab.bench.namespace import BURLAB
from burlab.bench.problem import Answer, Scalar
from burlab.runtime import address, declare

from .task import HERE, Gradient, answer_of, timed

_HEADER = str(HERE / "tape.hpp")


class PythonEager(Gradient):
    """`bl.Value` on the default tape, as in micrograd: each gradient records its graph."""

    def __init__(self, problem: Scalar) -> None:
        self._problem = problem
        self._points = problem.points.tolist()

    def answer(self, point: int, dtype: str) -> Answer:
        """See Task."""
        del dtype
        leaves, root = self._sweep(self._points[point])
        seen = (ctypes.c_int64 * 2)()
        _count()(root, seen)
        return Answer(
            root.data,
            {n: np.asarray(x.grad) for n, x in zip(self._problem.names, leaves, strict=True)},
            (seen[0], seen[1]),
        )

    def repeat(self, count: int) -> float:
        """See Task."""
        points, size, function, Value = self._points, len(self._points), self._problem.function, bl.Value
        start = perf_counter()
        for k in range(count):
            function(BURLAB, *map(Value, points[k % size])).backward()
        return perf_counter() - start

    def _sweep(self, point: list[float]) -> tuple[list[Any], Any]:
        leaves = [bl.Value(x) for x in point]
        root = self._problem.function(BURLAB, *leaves)
        root.backward()
        return leaves, root


@cache
def _count() -> Any:
    """(a Value, int64[2]): the nodes that the last sweep of its tape visited, and those it can reach."""
    text = """extern "C" void @unit_count(PyObject* root, std::int64_t* out) {
      const auto* value = static_cast<burlab::eager::ValueObject*>(root);
      out[0] = burlab::bench::visited(*value->tape);
      out[1] = burlab::bench::reachable(*value->tape, value->index);
    }"""
    unit = declare(text, ("burlab/python/value_object.hpp", _HEADER))
    return ctypes.PYFUNCTYPE(None, ctypes.py_object, ctypes.c_void_p)(address(f"{unit}_count"))


class CppEager(Gradient):
    """`burlab::Value` in C++: each gradient records its graph through calls that no optimiser sees through."""

    def __init__(self, problem: Scalar) -> None:
        text = f"""template <class T> T formula(const T* x) {{ using namespace burlab::bench; {problem.formula} }}
        extern "C" std::int64_t @unit_run(std::int64_t count, const double* points, std::int64_t m, double* out,
                                          std::int64_t* visits) {{
          using namespace burlab::bench;
          static burlab::Tape tape;  // its memory stays for the next call
          return record_in_turn<{len(problem.names)}>(tape, count, points, m, out, visits,
                                                      [](const Opaque* x) {{ return formula(x); }});
        }}"""
        self._problem = problem
        self._points = np.ascontiguousarray(problem.points)
        self._out = np.zeros((len(self._points), 1 + len(problem.names)))
        self.jit = timed(lambda: self._compile(text))

    def _compile(self, text: str) -> None:
        unit = declare(text, (_HEADER,))
        kinds = (ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)
        self._call = ctypes.CFUNCTYPE(ctypes.c_int64, *kinds)(address(f"{unit}_run"))
        self._run(1)

    def _run(self, count: int, visits: Any = None) -> None:
        points, out = self._points.ctypes.data, self._out.ctypes.data
        if status := self._call(count, points, len(self._points), out, visits):
            raise RuntimeError(f"the tape reports status {status}")

    def answer(self, point: int, dtype: str) -> Answer:
        """See Task."""
        del dtype
        self._out[:] = np.nan
        visits = (ctypes.c_int64 * 2)()
        self._run(point + 1, visits)
        return answer_of(self._problem.names, self._out[point], (visits[0], visits[1]))

    def repeat(self, count: int) -> float:
        """See Task."""
        return timed(lambda: self._run(count))
