"""Methods in PyTorch as a researcher writes them: a loop in Python over its automatic gradient of one sample."""

from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

import numpy as np

from burlab.bench.problem import Answer, Array, Method
from burlab.bench.variants.method import CHECKED
from burlab.bench.variants.python_loop import PythonLoop

Step = Callable[[Any, int], Any]


class TorchMethod(PythonLoop):
    """Steps of a method from Python, on one sample each, in their order."""

    def __init__(self, problem: Method, torch: ModuleType) -> None:
        self._torch, self._problem = torch, problem
        self._data = torch.as_tensor(problem.features), torch.as_tensor(problem.labels)
        self._make = METHODS[problem.name]
        self._open()

    def _open(self) -> None:
        zeros = self._torch.zeros(self._problem.points.shape[1], dtype=self._torch.float64)
        self.start(zeros, self._make(self._torch, self._gradient, self._problem.options))

    def _loss(self, x: Any, a: Any, b: Any) -> Any:
        torch = self._torch
        return torch.mean(torch.nn.functional.softplus(-b * (a @ x))) + self._problem.l2 / 2 * (x @ x)

    def _gradient(self, x: Any, t: int) -> Any:
        (a, b), leaf = self._data, x.detach().requires_grad_()
        i = t % len(a)
        return self._torch.autograd.grad(self._loss(leaf, a[i], b[i]), leaf)[0]

    def answer(self, point: int, dtype: str) -> Answer:
        """See Task."""
        del dtype
        x = self._torch.as_tensor(self._problem.points[point]).requires_grad_()
        value = self._loss(x, *self._data)
        return Answer(float(value.detach()), {"x": self._torch.autograd.grad(value, x)[0].numpy()})

    def displacements(self) -> Mapping[str, Array] | None:
        """See Task."""
        self._open()
        self.repeat(CHECKED)
        return {"x": np.asarray(self.x)}

    def facts(self) -> Mapping[str, float]:
        """See Task."""
        return {}


def sam(torch: ModuleType, grad: Step, options: Mapping[str, Any]) -> Step:
    """Foret et al. 2021, Algorithm 1."""
    lr, rho = options["lr"], options["rho"]

    def step(x: Any, t: int) -> Any:
        g = grad(x, t)
        return x - lr * grad(x + rho * g / torch.linalg.vector_norm(g), t)

    return step


def masked_momentum(torch: ModuleType, grad: Step, options: Mapping[str, Any]) -> Step:
    """Momentum with the gradient at the largest entries."""
    lr, momentum, kept = options["lr"], options["momentum"], options["kept"]
    velocity: Any = 0.0

    def step(x: Any, t: int) -> Any:
        nonlocal velocity
        size = torch.abs(x)
        masked = torch.where(size >= torch.sort(size).values[-kept], x, 0.0)
        velocity = momentum * velocity + grad(masked, t)
        return x - lr * velocity

    return step


METHODS: Mapping[str, Callable[[ModuleType, Step, Mapping[str, Any]], Step]] = {
    "SAM": sam,
    "masked momentum": masked_momentum,
}
