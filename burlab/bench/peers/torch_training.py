"""Steps of training in PyTorch: eager, or recorded once as a CUDA graph and played again."""

from collections.abc import Callable, Mapping
from time import perf_counter
from types import ModuleType
from typing import Any

import numpy as np

from burlab.bench.problem import Answer, Array, Training, Unavailable
from burlab.bench.variants.task import Gradient, timed

from . import torch_models


class TorchTraining(Gradient):
    """The model in PyTorch's own functions, and `torch.optim.SGD`."""

    def __init__(self, problem: Training, torch: ModuleType) -> None:
        self._problem, self._torch = problem, torch
        self._gpu = None if problem.device == "cpu" else torch.cuda
        if self._gpu is not None and not self._gpu.is_available():
            raise Unavailable(f"PyTorch {torch.__version__} sees no GPU")
        self._model = torch_models.MODELS[problem.kind](torch)
        self._inputs, self._targets = (
            torch.as_tensor(a.astype(np.int64), device=problem.device) for a in (problem.inputs, problem.targets)
        )
        self.jit = timed(self._start)

    def _start(self) -> None:
        """Parameters after the first step."""
        self._p = self._parameters(self._problem.dtype)
        self._optimizer = self._torch.optim.SGD(self._p.values(), lr=self._problem.lr)
        self._step = self._step_function()
        self._t = 0
        self.repeat(1)

    def _step_function(self) -> Callable[[slice], object]:
        """The function that does a step on some samples; the parameters are those of the start."""

        def step(batch: slice) -> None:
            self._swept(self._inputs[batch], self._targets[batch])

        return step

    def _swept(self, inputs: Any, targets: Any) -> None:
        self._optimizer.zero_grad()
        self._model(self._p, inputs, targets).backward()
        self._optimizer.step()

    def _parameters(self, dtype: str) -> dict[str, Any]:
        """Leaves; weights of linear layers are [outputs, inputs], as PyTorch keeps them."""
        p = {n: np.ascontiguousarray(torch_models.transposed(n, a)) for n, a in self._problem.parameters.items()}
        place = self._problem.device
        return {n: self._torch.tensor(a.astype(dtype), device=place, requires_grad=True) for n, a in p.items()}

    def answer(self, point: int, dtype: str) -> Answer:
        """See Task."""
        p, batch = self._parameters(dtype), self._problem.batch_of(point)
        loss = self._model(p, self._inputs[batch], self._targets[batch])
        loss.backward()
        return Answer(loss.item(), {n: torch_models.transposed(n, a.grad.cpu().numpy()) for n, a in p.items()})

    def displacements(self) -> Mapping[str, Array] | None:
        """See Task."""
        before = {name: a.astype(self._problem.dtype) for name, a in self._problem.parameters.items()}
        self._start()
        self.repeat(1)
        after = {n: torch_models.transposed(n, a.detach().cpu().numpy()) for n, a in self._p.items()}
        return {name: after[name].astype(np.float64) - a for name, a in before.items()}

    def repeat(self, count: int) -> float:
        """See Task."""
        step, problem = self._step, self._problem
        start = perf_counter()
        for _ in range(count):
            step(problem.batch_of(self._t))
            self._t += 1
        if self._gpu is not None:
            self._gpu.synchronize()
        return perf_counter() - start


class GraphTraining(TorchTraining):
    """A whole step as a CUDA graph, as PyTorch's documentation records it; its samples are copied to one place.

    On a CPU, where there are no graphs, the same step is called.
    """

    def _step_function(self) -> Callable[[slice], object]:
        inputs, targets = (a[self._problem.batch_of(0)].clone() for a in (self._inputs, self._targets))

        def whole() -> None:
            self._optimizer.zero_grad(set_to_none=True)
            self._swept(inputs, targets)

        play = whole if self._gpu is None else self._recorded(whole, self._gpu)

        def step(batch: slice) -> None:
            inputs.copy_(self._inputs[batch])
            targets.copy_(self._targets[batch])
            play()

        return step

    def _recorded(self, whole: Callable[[], None], cuda: Any) -> Callable[[], None]:
        """Return what plays the graph of a step. Steps before the recording, which choose kernels, leave no trace."""
        with self._torch.no_grad():
            before = {name: a.clone() for name, a in self._p.items()}
        side = cuda.Stream()
        side.wait_stream(cuda.current_stream())
        with cuda.stream(side):
            for _ in range(3):
                whole()
        cuda.current_stream().wait_stream(side)
        graph = cuda.CUDAGraph()
        with cuda.graph(graph):
            whole()
        with self._torch.no_grad():
            for name, a in self._p.items():
                a.copy_(before[name])
        return graph.replay
