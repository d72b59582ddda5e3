"""The MLP step written by hand, on the parameters of a problem."""

import ctypes
from collections.abc import Mapping
from time import perf_counter
from typing import Any

import numpy as np

from burlab.bench.problem import Answer, Array, Training, Unavailable
from burlab.runtime import address, declare

from .task import HERE, Gradient

_STEP = 1024.0  # of `answer`: a power of two so large that x - lr g keeps all bits of g
_SIZES = {"float64": 8, "float32": 4}
_C = {"float64": "double", "float32": "float"}


class _Mlp(ctypes.Structure):
    _fields_ = (
        *((name, ctypes.c_int64) for name in ("batch", "context", "embedding_width", "width", "tokens")),
        *((name, ctypes.c_void_p) for name in ("embedding", "hidden", "hidden_bias", "output", "output_bias")),
        *((name, ctypes.c_void_p) for name in ("x", "dx", "h", "dz", "scores", "panel")),
    )


class _State:
    """Parameters and scratch memory in the kernel's layout, all on cache lines."""

    def __init__(self, problem: Training, dtype: str) -> None:
        self._lanes = 64 // _SIZES[dtype]
        self._dtype, self._stored = dtype, dict[str, Array]()
        p, (batch, context) = problem.parameters, (problem.batch, problem.inputs.shape[1])
        (tokens, embedding), units = p["embedding"].shape, p["hidden"].shape[1]
        width = -(-units // self._lanes) * self._lanes
        self._units = units
        inputs, padded = context * embedding, -(-tokens // 16) * 16
        wide, stride = inputs + self._lanes, width + self._lanes
        self.step = _Mlp(batch, context, embedding, width, tokens)
        self._place("embedding", p["embedding"], (tokens, embedding))
        self._place("hidden", p["hidden"], (inputs, width))
        self._place("hidden_bias", p["hidden_bias"], (width,))
        self._place("output", p["output"].T, (padded, width))
        self._place("output_bias", p["output_bias"], (padded,))
        for name, columns in {"x": wide, "dx": wide, "h": stride, "dz": stride, "scores": padded}.items():
            self._place(name, np.zeros((0, 0)), (batch, columns))
        self._place("panel", np.zeros((0, 0)), (max(wide, 512), self._lanes))

    def _place(self, name: str, values: Array, shape: tuple[int, ...]) -> None:
        size = int(np.prod(shape))
        memory = np.zeros(size + self._lanes, self._dtype)
        first = -memory.ctypes.data % 64 // memory.itemsize
        array = self._stored[name] = memory[first : first + size].reshape(shape)
        array[tuple(slice(0, n) for n in values.shape)] = values
        setattr(self.step, name, array.ctypes.data)

    def parameters(self) -> dict[str, Array]:
        """Copies, in the layout of the problem, float64."""
        found = {name: self._stored[name] for name in ("embedding", "hidden", "hidden_bias", "output", "output_bias")}
        tokens = self.step.tokens
        found |= {"output": found["output"][:tokens, : self._units].T, "output_bias": found["output_bias"][:tokens]}
        found |= {"hidden": found["hidden"][:, : self._units], "hidden_bias": found["hidden_bias"][: self._units]}
        return {name: a.astype(np.float64) for name, a in found.items()}

    @property
    def nbytes(self) -> float:
        """Bytes of parameters and scratch memory."""
        return float(sum(a.nbytes for a in self._stored.values()))


class GoldenMlp(Gradient):
    """Gradient descent in a loop of C++ over the batches."""

    def __init__(self, problem: Training) -> None:
        if problem.kind != "mlp":
            raise Unavailable("nobody has written this by hand")
        self._problem = problem
        self._inputs = np.ascontiguousarray(problem.inputs, np.int32)
        self._targets = np.ascontiguousarray(problem.targets, np.int32)
        self._calls = {dtype: self._compile(dtype) for dtype in dict.fromkeys(("float64", problem.dtype))}
        self._start()

    def _compile(self, dtype: str) -> Any:
        text = f"""extern "C" double @unit_run(std::int64_t first, std::int64_t count, const void* what,
            const std::int32_t* tokens, const std::int32_t* targets, std::int64_t batches, double lr) {{
          using namespace burlab::bench;
          const MlpStep<{_C[dtype]}> step{{*static_cast<const Mlp<{_C[dtype]}>*>(what), {{}}}};
          double loss = 0;
          for (std::int64_t t = first; t < first + count; ++t) {{
            const std::int64_t sample = t % batches * step.batch;
            loss = double(step.step(tokens + sample * step.context, targets + sample, {_C[dtype]}(lr)));
          }}
          return loss;
        }}"""
        unit = declare(text, (str(HERE.parent / "golden" / "mlp.hpp"),))
        i64, ptr, double = ctypes.c_int64, ctypes.c_void_p, ctypes.c_double
        return ctypes.CFUNCTYPE(double, i64, i64, ptr, ptr, ptr, i64, double)(address(f"{unit}_run"))

    def _run(self, state: _State, dtype: str, first: int, count: int, lr: float) -> float:
        tokens, targets, batches = self._inputs, self._targets, len(self._inputs) // self._problem.batch
        step = ctypes.byref(state.step)
        return self._calls[dtype](first, count, step, tokens.ctypes.data, targets.ctypes.data, batches, lr)

    def _start(self) -> None:
        self._state, self._t = _State(self._problem, self._problem.dtype), 0

    def answer(self, point: int, dtype: str) -> Answer:
        """The gradient is how far one long step goes, divided by its length."""
        state = _State(self._problem, dtype)
        before = state.parameters()
        value = self._run(state, dtype, point, 1, _STEP)
        after = state.parameters()
        return Answer(value, {name: (before[name] - after[name]) / _STEP for name in after})

    def displacements(self) -> Mapping[str, Array] | None:
        """See Task."""
        self._start()
        before = self._state.parameters()
        self.repeat(2)
        return {name: a - before[name] for name, a in self._state.parameters().items()}

    def repeat(self, count: int) -> float:
        """See Task."""
        start = perf_counter()
        self._run(self._state, self._problem.dtype, self._t, count, self._problem.lr)
        self._t += count
        return perf_counter() - start

    def facts(self) -> Mapping[str, float]:
        """See Task."""
        return {"arrays": self._state.nbytes}
