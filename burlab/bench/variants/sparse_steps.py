"""Steps of sparse networks as a user of burlab takes them: `bl.nn.SparseLinear` and `bl.optim.rewire`."""

from collections.abc import Mapping
from dataclasses import replace
from time import perf_counter
from typing import Any, cast

import numpy as np

import burlab as bl
from burlab.bench.problem import Answer, Array, SparseTraining

from .task import timed

CHECKED = 5  # steps that are compared, with a change of links after every other one
CANDIDATES = {"SET": 1, "RigL": None}


class SparseSteps:
    """`run.step(n)` of a run over layers of links, or over dense ones, whose batches are the samples in their order."""

    def __init__(self, problem: SparseTraining, variant: str) -> None:
        self._problem, self._variant = problem, variant
        self._jit = timed(self._open)

    def _open(self) -> None:
        self._run = self._started(self._problem)
        self._run.step(1)

    def _started(self, problem: SparseTraining) -> Any:
        """A run before its first step."""
        rule: Any = bl.optim.Momentum(problem.lr, problem.momentum)
        if self._variant in CANDIDATES:
            candidates = CANDIDATES[self._variant]
            rule = bl.optim.rewire(rule, every=problem.every, fraction=problem.fraction, candidates=candidates)
        data = problem.inputs.astype(problem.dtype), problem.targets.astype(problem.dtype)
        layers = _layers(problem, self._variant == "dense")
        return bl.minimize(bl.FiniteSum(_loss, data), layers, rule, batch=problem.batch, sampler="sequential")

    def answer(self, point: int, dtype: str) -> Answer:
        """See Task."""
        problem = replace(self._problem, dtype=dtype)
        data = problem.inputs.astype(dtype), problem.targets.astype(dtype)
        layers, batch = _layers(problem, self._variant == "dense"), problem.batch_of(point)
        rows = np.arange(int(batch.start), int(batch.stop))
        value, gradients = bl.FiniteSum(_loss, data).value_and_grad(layers, rows)
        found = {f"w{k}": np.asarray(layer.weight) for k, layer in enumerate(gradients)}
        if self._variant == "dense":
            found = problem.by_links(found)
        return Answer(float(value), found | {f"b{k}": np.asarray(layer.bias) for k, layer in enumerate(gradients)})

    def displacements(self) -> Mapping[str, Array] | None:
        """See Task; in float64, with changes of links that are closer to each other."""
        problem = replace(self._problem, every=2, dtype="float64")
        run = self._started(problem)
        run.step(CHECKED)
        after = {f"w{k}": np.asarray(x.dense() if hasattr(x, "rows") else x.weight) for k, x in enumerate(run.x)}
        after |= {f"b{k}": np.asarray(layer.bias) for k, layer in enumerate(run.x)}
        return {name: after[name] - start for name, start in problem.parameters.items()}

    def repeat(self, count: int) -> float:
        """See Task."""
        start = perf_counter()
        self._run.step(count * self._problem.steps)
        return perf_counter() - start

    def facts(self) -> Mapping[str, float]:
        """See Task."""
        memory = dict(self._run.memory)
        recorded = ("history", "events", "keyframes", "path")
        return {"jit": self._jit, "arrays": float(memory["total"] - sum(memory[kind] for kind in recorded))}


def _loss(layers: Any, x: Array, y: Array) -> Any:
    for layer in layers[:-1]:
        x = np.tanh(layer(x))
    return cast("Any", np.mean)((layers[-1](x) - y) ** 2)


def _layers(problem: SparseTraining, dense: bool) -> list[Any]:
    """The network before its first step."""
    found = list[Any]()
    for k, (w, links) in enumerate(zip(problem.weights, problem.links, strict=True)):
        key, weight = bl.random.key(k), w.astype(problem.dtype)
        bias = np.zeros(w.shape[1], problem.dtype)
        if links is None or dense:
            layer: Any = bl.nn.Linear(*w.shape, key=key, dtype=problem.dtype)
            found.append(layer.replace(weight=weight, bias=bias))
            continue
        layer = bl.nn.SparseLinear(*w.shape, density=len(links) / w.size, key=key, dtype=problem.dtype)
        rows, columns = np.divmod(links, w.shape[1])
        kept = {"rows": rows.astype(np.int32), "columns": columns.astype(np.int32)}
        found.append(layer.replace(weight=weight.reshape(-1)[links], bias=bias, **kept))
    return found
