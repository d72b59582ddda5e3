"""PyTorch (Paszke et al. 2019), eager; steps of training on a GPU too."""

from time import perf_counter
from types import ModuleType
from typing import Any

import numpy as np

from burlab.bench.namespace import Namespace
from burlab.bench.problem import (
    Answer,
    Array,
    ArrayObjective,
    BatchObjective,
    Method,
    Problem,
    Scalar,
    Start,
    Task,
    Training,
    Transfer,
    Unavailable,
)
from burlab.bench.variants.file_transfer import TransferTask
from burlab.bench.variants.first_gradient import Process
from burlab.bench.variants.objective import ObjectiveTask
from burlab.bench.variants.task import CastTask, Gradient, threads

from .optional_import import load
from .torch_contrast import batch_gradient
from .torch_methods import METHODS, TorchMethod
from .torch_training import GraphTraining, TorchTraining


def open_task(problem: Problem, variant: str) -> Task:
    """The task of a problem; a second variant, of a step of training, is a CUDA graph."""
    torch = load("torch")
    torch.set_num_threads(threads())
    if isinstance(problem, Start):
        return Process(problem, "torch eager")
    if isinstance(problem, Scalar):
        return TorchScalar(problem, torch)
    if isinstance(problem, Training):
        return (GraphTraining if variant == "CUDA graph" else TorchTraining)(problem, torch)
    if isinstance(problem, ArrayObjective):
        return ObjectiveTask(problem, lambda _p, _data: _swept(problem, torch), torch.as_tensor)
    if isinstance(problem, BatchObjective):
        chunks = problem.chunks if variant == "by chunks" else None
        return CastTask(problem, lambda _p, _data: batch_gradient(problem, torch, chunks), torch.as_tensor)
    if isinstance(problem, Transfer):
        return TorchTransfer(problem, torch)
    if isinstance(problem, Method) and problem.name in METHODS:
        return TorchMethod(problem, torch)
    raise Unavailable("PyTorch does nothing of this kind")


def _swept(problem: ArrayObjective, torch: ModuleType) -> Any:
    """A gradient by one sweep; the leaves share the memory of the parameters."""

    def logsumexp(x: Any) -> Any:
        return torch.logsumexp(x, -1)

    namespace = Namespace(torch, logsumexp=logsumexp, grad=torch.func.grad)

    def gradient(p: dict[str, Any], data: dict[str, Any]) -> Any:
        leaves = {name: x.detach().requires_grad_() for name, x in p.items()}
        value = problem.function(namespace, leaves, data)
        value.backward()
        return value.detach(), {name: x.grad for name, x in leaves.items()}

    return gradient


class TorchScalar(Gradient):
    """Tensors of one number; each gradient records its graph. The leaves are made once."""

    def __init__(self, problem: Scalar, torch: ModuleType) -> None:
        self._problem, self._points = problem, problem.points.tolist()
        self._leaves = [torch.tensor(x, dtype=torch.float64, requires_grad=True) for x in self._points[0]]
        self._namespace = Namespace(torch, relu=torch.relu)
        self._no_grad = torch.no_grad

    def _sweep(self, point: list[float]) -> Any:
        for leaf, x in zip(self._leaves, point, strict=True):
            leaf.data.fill_(x)
            leaf.grad = None
        root = self._problem.function(self._namespace, *self._leaves)
        root.backward()
        return root

    def answer(self, point: int, dtype: str) -> Answer:
        """See Task."""
        del dtype
        root = self._sweep(self._points[point])
        pairs = zip(self._problem.names, self._leaves, strict=True)
        return Answer(root.item(), {name: np.asarray(leaf.grad) for name, leaf in pairs})

    def repeat(self, count: int) -> float:
        """Seconds for `count` gradients at one point, whose numbers are in the leaves already."""
        function, leaves, namespace_ = self._problem.function, self._leaves, self._namespace
        start = perf_counter()
        for _ in range(count):
            for leaf in leaves:
                leaf.grad = None
            function(namespace_, *leaves).backward()
        return perf_counter() - start


class TorchTransfer(TransferTask):
    """`torch.save` and `torch.load`."""

    def __init__(self, problem: Transfer, torch: ModuleType) -> None:
        super().__init__(problem)
        self._torch = torch

    def prepared(self, numbers: Array) -> Any:
        """A tensor."""
        return self._torch.tensor(numbers)

    def save(self, numbers: Array) -> None:
        """See TransferTask."""
        self._torch.save(numbers, self._path)

    def load(self) -> Any:
        """See TransferTask."""
        return self._torch.load(self._path)
