"""Processes that take one gradient of the tiny graph, each as a user of that engine would write it."""

import resource
import subprocess
import sys
from collections.abc import Mapping
from time import perf_counter

import numpy as np

from burlab.bench.problem import Answer, Start

from .task import Gradient, answer_of

_TINY = "e = (a + b) - (a * b + b**3)\ng = e**2 / 2\n"
_FUNCTION = "def f(a, b):\n    e = (a + b) - (a * b + b**3)\n    return e**2 / 2\n"
_POINT = "import sys\nx = [float(word) for word in sys.argv[1:]]\n"
_KERNEL = f"import burlab as bl\n{_FUNCTION}k = bl.compile(f, *x, argnums=(0, 1), gear='GEAR')\n"
_PRINT = "print(float(value), *map(float, gradient), flush=True)\n"
SCRIPTS = {
    "burlab eager": "import burlab as bl\na, b = map(bl.Value, x)\n" + _TINY + "g.backward()\n"
    "value, gradient = g.data, (a.grad, b.grad)\n",
    "burlab replay": _KERNEL.replace("GEAR", "replay") + "value, gradient = k.value_and_grad(*x)\n",
    "burlab compiled": _KERNEL.replace("GEAR", "compiled") + "value, gradient = k.value_and_grad(*x)\n",
    "torch eager": "import torch\na, b = (torch.tensor(v, dtype=torch.float64, requires_grad=True) for v in x)\n"
    + _TINY
    + "g.backward()\nvalue, gradient = g.item(), (a.grad, b.grad)\n",
    "jax jit": "import jax\njax.config.update('jax_enable_x64', True)\n"
    + _FUNCTION
    + "value, gradient = jax.jit(jax.value_and_grad(f, (0, 1)))(*x)\n",
    "autograd eager": "import autograd\n" + _FUNCTION + "value, gradient = autograd.value_and_grad(f, (0, 1))(*x)\n",
    "micrograd eager": "from micrograd.engine import Value\na, b = map(Value, x)\n" + _TINY + "g.backward()\n"
    "value, gradient = g.data, (a.grad, b.grad)\n",
}


class Process(Gradient):
    """`repeat` counts the seconds from the start of each process until it has told its gradient."""

    def __init__(self, problem: Start, script: str) -> None:
        self._scalar, self._script = problem.scalar, _POINT + SCRIPTS[script] + _PRINT

    def _run(self, point: int) -> tuple[float, str]:
        numbers = map(repr, self._scalar.points[point].tolist())
        start = perf_counter()
        with subprocess.Popen([sys.executable, "-c", self._script, *numbers], stdout=subprocess.PIPE, text=True) as one:
            line = one.stdout.readline() if one.stdout else ""
            return perf_counter() - start, line

    def answer(self, point: int, dtype: str) -> Answer:
        """See Task."""
        del dtype
        row = np.array([float(word) for word in self._run(point)[1].split()])
        return answer_of(self._scalar.names, row)

    def repeat(self, count: int) -> float:
        """See Task."""
        return sum(self._run(k % len(self._scalar.points))[0] for k in range(count))

    def facts(self) -> Mapping[str, float]:
        """The most memory that one of the processes had."""
        return {"peak_rss": 1024.0 * resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss}
