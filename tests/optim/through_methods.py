"""Methods that are an optimizer through a T, each in about ten lines, and the problem that they are tried on."""

from dataclasses import dataclass
from typing import Any

import numpy as np

import burlab as bl
from burlab.optim import GD, Hyper, Momentum, through

RNG = np.random.default_rng(7)
A, B = RNG.normal(size=(30, 6)), RNG.normal(size=(30, 4))
START = {"b": RNG.normal(size=4), "w": RNG.normal(size=(6, 4))}


def loss(p: Any, a: Any, b: Any) -> Any:
    return np.sum((a @ p["w"] + p["b"] - b) ** 2) / 2


def largest(w: Any, density: float) -> Any:
    """1 at the largest entries by absolute value, else 0."""
    size = np.sort(np.abs(np.reshape(w, -1)))[-round(density * w.size)]
    return np.abs(w) >= size


@dataclass(frozen=True)
class TopKAST:
    """Jayakumar et al. 2020: forward with the largest weights, backward into a larger set."""

    decay: Hyper = 0.1
    density: float = 0.25
    backward: float = 0.5

    def __call__(self, x: Any) -> Any:
        return {"b": x["b"], "w": x["w"] * largest(x["w"], self.density)}

    def gradient(self, g: Any, x: Any) -> Any:
        inner, outer = largest(x["w"], self.density), largest(x["w"], self.backward)
        decay = self.decay * np.where(inner, 1.0, 1 / self.density) * x["w"]
        return {"b": g["b"], "w": outer * (g["w"] + decay)}


@dataclass(frozen=True)
class SAM:
    """Foret et al. 2021: the gradient at the steepest point at a distance rho."""

    rho: Hyper = 0.1

    def __call__(self, x: Any, f: Any) -> Any:
        g = f.grad(x)
        norm = np.sqrt(sum(np.sum(leaf**2) for leaf in bl.tree.leaves(g)))
        return bl.tree.map(lambda a, b: a + self.rho * b / norm, x, g)


def quantized(x: Any) -> Any:
    """Weights of 4 bits, with the largest as the scale: quantization-aware training."""
    scale = np.max(np.abs(x["w"])) / 7
    return {"b": x["b"], "w": scale * np.rint(x["w"] / scale)}


@dataclass(frozen=True)
class Lookahead:
    """Zhang et al. 2019. x is the sum of all fast steps; fast weights are x + shift."""

    pull: Hyper = 0.5
    every: int = 5

    def init(self, x: Any) -> Any:
        return {"slow": x, "shift": bl.tree.map(np.zeros_like, x)}

    def __call__(self, x: Any, state: Any, t: Any) -> Any:
        ends = (t > 0) & (t % self.every == 0)
        fast = bl.tree.map(np.add, x, state["shift"])
        slow = bl.tree.map(lambda s, q: np.where(ends, s + self.pull * (q - s), s), state["slow"], fast)
        y = bl.tree.map(lambda s, q: np.where(ends, s, q), slow, fast)
        return y, {"slow": slow, "shift": bl.tree.map(np.subtract, y, x)}


class Sliced:
    """Yu et al. 2019, slimmable networks: at each step the first columns, of a random number."""

    def __call__(self, x: Any, key: Any) -> Any:
        kept = np.arange(4) <= bl.random.randint(key, (), 0, 4)
        return {"b": x["b"] * kept, "w": x["w"] * kept}

    def gradient(self, g: Any, x: Any, key: Any) -> Any:
        return self(g, key)


def halved(x: Any) -> Any:
    return bl.tree.map(lambda a: a / 2, x)


def low_rank(x: Any) -> Any:
    """The nearest matrix of rank 2."""
    u, s, v = np.linalg.svd(x["w"], full_matrices=False)
    return {"b": x["b"], "w": (u[:, :2] * s[:2]) @ v[:2]}


@dataclass(frozen=True)
class Sparse:
    """DSL, arXiv:2402.02855: at some steps the smallest weights leave, those of the largest gradients come, from 0."""

    density: float = 0.5
    moved: int = 3
    every: int = 4

    def init(self, x: Any) -> Any:
        return {"mask": largest(x["w"], self.density), "zero": np.zeros_like(x["w"])}

    def __call__(self, x: Any, state: Any) -> Any:
        return {"b": x["b"], "w": np.where(state["mask"], x["w"] - state["zero"], 0.0)}, state

    def gradient(self, g: Any, x: Any, state: Any, t: Any) -> Any:
        mask, w, due = state["mask"], np.abs(x["w"] - state["zero"]), (t > 0) & (t % self.every == 0)
        out = w <= np.sort(np.reshape(np.where(mask, w, np.inf), -1))[self.moved - 1]
        new = np.abs(g["w"]) >= np.sort(np.reshape(np.where(mask, 0.0, np.abs(g["w"])), -1))[-self.moved]
        after = np.where(due, (mask & ~out) | (~mask & new), mask)
        zero = np.where(after & ~mask, x["w"], state["zero"])
        return {"b": g["b"], "w": np.where(after & mask, g["w"], 0.0)}, {"mask": after, "zero": zero}


@dataclass(frozen=True)
class Averaged:
    """Izmailov et al. 2018: the mean of the points of some steps, with gradients at x."""

    start: int = 4
    every: int = 3

    def init(self, x: Any) -> Any:
        return {"mean": x, "count": 0}

    def __call__(self, x: Any, state: Any, t: Any) -> Any:
        taken = (t >= self.start) & ((t - self.start) % self.every == 0)
        count = state["count"] + taken
        share = np.where(taken, 1 / np.maximum(count, 1), 0.0)
        return x, {"mean": bl.tree.map(lambda m, a: m + share * (a - m), state["mean"], x), "count": count}


def mean(x: Any, state: Any) -> Any:
    return state["mean"]


METHODS: dict[str, Any] = {
    "Top-KAST": through(GD(0.05), TopKAST(), at="T(x)"),
    "SAM": through(Momentum(0.05, mu=0.5), SAM()),
    "quantized": through(Momentum(0.05, mu=0.5), quantized, at="T(x)"),
    "quantized, at x": through(Momentum(0.05, mu=0.5), quantized),
    "Lookahead": through(Momentum(0.05, mu=0.5), Lookahead(), at="T(x)"),
    "sliced": through(GD(0.05), Sliced()),
    "sliced, at another point": through(GD(0.05), Sliced(), at=halved),
    "low rank": through(GD(0.05), low_rank, at="T(x)"),
    "sparse": through(GD(0.05), Sparse(), at="T(x)"),
    "averaged": through(Momentum(0.05, mu=0.5), Averaged(), at=mean),
    "averaged, at x": through(Momentum(0.05, mu=0.5), Averaged()),
}


def run_of(name: str, batch: int = 8, **options: Any) -> bl.Run:
    """A run of a method, on batches."""
    return bl.minimize(bl.FiniteSum(loss, (A, B)), START, METHODS[name], batch=batch, seed=5, **options)
