"""Sparse networks in NumPy as dense ones with masks, their gradients and changes of links by hand.

The random numbers of changes are those that burlab draws, and are drawn before the clock starts.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

import burlab as bl
from burlab.bench.problem import Answer, Array, SparseTraining
from burlab.bench.variants.python_loop import PythonLoop
from burlab.bench.variants.sparse_steps import CHECKED

_DRAWN = 4  # changes of links whose random numbers are drawn; then they come again


class MaskedSteps(PythonLoop):
    """Steps of momentum on dense matrices, whose gradients are multiplied with masks."""

    def __init__(self, problem: SparseTraining, variant: str) -> None:
        self._problem, self._variant = problem, variant
        self._open(problem)

    def _open(self, problem: SparseTraining) -> None:
        self._at = problem
        self._data = problem.inputs.astype(problem.dtype), problem.targets.astype(problem.dtype)
        self._masks = [
            None if links is None else _mask(links, w) for w, links in zip(problem.weights, problem.links, strict=True)
        ]
        if self._variant == "dense":
            self._masks = [None for _ in self._masks]
        sizes = [w.size for w, mask in zip(problem.weights, self._masks, strict=True) if mask is not None]
        self._chances = [
            [_chance(k * problem.every - 1, number, size) for number, size in enumerate(sizes)]
            for k in range(1, _DRAWN + 1)
            if self._variant == "SET"
        ]
        self._moments = {name: np.zeros(a.shape, problem.dtype) for name, a in problem.parameters.items()}
        self.start({name: a.astype(problem.dtype) for name, a in problem.parameters.items()}, self._next)

    def _next(self, x: Mapping[str, Array], t: int) -> Mapping[str, Array]:
        """A step, and perhaps other links."""
        problem = self._at
        gradients = self._gradient(x, *(a[problem.batch_of(t)] for a in self._data))[1]
        after = dict[str, Array]()
        for name, g in gradients.items():
            mask = self._masks[int(name[1:])] if name[0] == "w" else None
            self._moments[name] *= problem.momentum
            self._moments[name] += g if mask is None else g * mask
            after[name] = x[name] - problem.lr * self._moments[name]
        if self._variant in ("SET", "RigL") and (t + 1) % problem.every == 0:
            self._change(after, t)
        return after

    def _change(self, x: dict[str, Array], t: int) -> None:
        """Prune the smallest weights, and grow links with random places or with the largest gradients."""
        problem, pruned = self._at, dict[int, Array]()
        for k, mask in enumerate(self._masks):
            if mask is not None:
                links = np.flatnonzero(mask)
                n = max(round(problem.fraction * links.size), 1)
                pruned[k] = links[np.argpartition(np.abs(x[f"w{k}"].reshape(-1)[links]), n)[:n]]
                for array in (x[f"w{k}"], self._moments[f"w{k}"]):
                    array.reshape(-1)[pruned[k]] = 0
        scores = self._scores(x, t)
        for (k, places), score in zip(pruned.items(), scores, strict=True):
            mask = self._masks[k]
            assert mask is not None  # as in the loop above
            flat = mask.reshape(-1)
            grown = np.argpartition(np.where(flat, np.inf, -score), places.size)[: places.size]
            flat[places], flat[grown] = False, True

    def _scores(self, x: Mapping[str, Array], t: int) -> list[Array]:
        """A number for each place of a matrix: the largest ones grow."""
        if self._variant == "SET":
            return self._chances[((t + 1) // self._at.every - 1) % _DRAWN]
        gradients = self._gradient(x, *(a[self._at.batch_of(t)] for a in self._data))[1]
        return [np.abs(gradients[f"w{k}"]).reshape(-1) for k, mask in enumerate(self._masks) if mask is not None]

    @staticmethod
    def _gradient(x: Mapping[str, Array], a: Array, y: Array) -> tuple[float, dict[str, Array]]:
        """The mean loss of a batch, and its gradients by all entries."""
        last, inputs = len(x) // 2 - 1, [a]
        for k in range(last):
            inputs.append(np.tanh(inputs[-1] @ x[f"w{k}"] + x[f"b{k}"]))
        error = inputs[-1] @ x[f"w{last}"] + x[f"b{last}"] - y
        back, found = error * (2 / y.size), dict[str, Array]()
        for k in range(last, -1, -1):
            found[f"w{k}"], found[f"b{k}"] = inputs[k].T @ back, back.sum(axis=0)
            if k:
                back = (back @ x[f"w{k}"].T) * (1 - inputs[k] ** 2)
        return float(np.mean(error**2)), found

    def answer(self, point: int, dtype: str) -> Answer:
        """See Task."""
        problem = self._problem
        x = {name: a.astype(dtype) for name, a in problem.parameters.items()}
        batch = problem.batch_of(point)
        value, gradients = self._gradient(x, problem.inputs[batch].astype(dtype), problem.targets[batch].astype(dtype))
        return Answer(value, problem.by_links(gradients))

    def displacements(self) -> Mapping[str, Array] | None:
        """See Task; in float64, with changes of links that are closer to each other."""
        self._open(replace(self._problem, every=2, dtype="float64"))
        self.repeat_steps(CHECKED)
        moved = {name: self.x[name] - a for name, a in self._problem.parameters.items()}
        self._open(self._problem)
        return moved

    def repeat_steps(self, count: int) -> float:
        """Seconds of so many steps."""
        return super().repeat(count)

    def repeat(self, count: int) -> float:
        """See Task."""
        return self.repeat_steps(count * self._problem.steps)

    def facts(self) -> Mapping[str, float]:
        """See Task."""
        return {"arrays": float(sum(a.nbytes for a in (*self.x.values(), *self._moments.values())))}


def _mask(links: Array, like: Array) -> Array:
    mask: Array = np.zeros(like.size, bool)
    mask[links] = True
    return mask.reshape(like.shape)


def _chance(t: int, number: int, size: int) -> Array:
    """Numbers that burlab draws for the places of a layer at a step of a run with the seed 0."""
    key = bl.random.fold_in(bl.random.fold_in(bl.random.key(0), t), number)
    return np.asarray(bl.random.uniform(key, (size,)))
