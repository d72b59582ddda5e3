"""Methods that take one sample per step, in NumPy: `make(problem, state)` gives step(x, t) -> x.

state: arrays that a method keeps from step to step, by name; numbers are in its closure.
"""

from collections.abc import Callable
from math import exp, log1p, sqrt
from typing import Any

import numpy as np

import burlab as bl
from burlab.bench.problem import Array, Method

Step = Callable[[Array, int], Array]
State = dict[str, Array]
_DRAWN = 1024  # steps whose random numbers are drawn; then they come again


class Gradients:
    """Gradients of single samples, in their order, and of all of them."""

    def __init__(self, problem: Method) -> None:
        self.features, self.labels, self.l2 = problem.features, problem.labels, problem.l2
        self.n, self.d = self.features.shape

    def of(self, x: Array, t: int) -> Array:
        """The gradient of step t."""
        i = t % self.n
        a, b = self.features[i], self.labels[i]
        return (-b / (1 + exp(b * (a @ x)))) * a + self.l2 * x

    def value(self, x: Array, t: int) -> float:
        """The loss of step t."""
        i = t % self.n
        return float(log1p(exp(-self.labels[i] * (self.features[i] @ x))) + self.l2 / 2 * (x @ x))

    def full(self, x: Array) -> Array:
        """The gradient of all."""
        return (-self.labels / (1 + np.exp(self.labels * (self.features @ x)))) @ self.features / self.n + self.l2 * x


def gd(problem: Method, state: State) -> Step:  # noqa: ARG001 - no state
    """Stochastic gradient descent."""
    grad, lr = Gradients(problem).of, problem.options["lr"]
    return lambda x, t: x - lr * grad(x, t)


def adam(problem: Method, state: State) -> Step:
    """Kingma and Ba 2015."""
    grad, lr, b1, b2, eps = Gradients(problem).of, problem.options["lr"], 0.9, 0.999, 1e-8
    state.update(m=np.zeros(problem.features.shape[1]), v=np.zeros(problem.features.shape[1]))

    def step(x: Array, t: int) -> Array:
        g = grad(x, t)
        m = state["m"] = b1 * state["m"] + (1 - b1) * g
        v = state["v"] = b2 * state["v"] + (1 - b2) * g * g
        return x - lr / (1 - b1 ** (t + 1)) * m / (np.sqrt(v / (1 - b2 ** (t + 1))) + eps)

    return step


def lion(problem: Method, state: State) -> Step:
    """Chen et al. 2023."""
    grad, lr, b1, b2, decay = Gradients(problem).of, problem.options["lr"], 0.9, 0.99, 1e-3
    state["m"] = np.zeros(problem.features.shape[1])

    def step(x: Array, t: int) -> Array:
        g, m = grad(x, t), state["m"]
        state["m"] = b2 * m + (1 - b2) * g
        return x - lr * (np.sign(b1 * m + (1 - b1) * g) + decay * x)

    return step


def dog(problem: Method, state: State) -> Step:
    """Ivgi, Hinder and Carmon 2023."""
    grad, r, total = Gradients(problem).of, 1e-6, 0.0
    x0 = state["x0"] = np.zeros(problem.features.shape[1])

    def step(x: Array, t: int) -> Array:
        nonlocal r, total
        g, away = grad(x, t), x - x0
        r = max(r, sqrt(away @ away))
        total += g @ g
        return x - r / sqrt(total + 1e-8) * g

    return step


def prodigy(problem: Method, state: State) -> Step:
    """Mishchenko and Defazio 2024, with the bias correction of Adam."""
    grad, b1, b2, eps, first = Gradients(problem).of, 0.9, 0.999, 1e-8, 1e-6
    c, d, largest, r = sqrt(b2), first, first, 0.0
    state.update({name: np.zeros(problem.features.shape[1]) for name in ("x0", "m", "v", "s")})

    def step(x: Array, t: int) -> Array:
        nonlocal d, largest, r
        g = grad(x, t)
        length = d * sqrt(1 - b2 ** (t + 1)) / (1 - b1 ** (t + 1))
        m = state["m"] = b1 * state["m"] + (1 - b1) * d * g
        v = state["v"] = b2 * state["v"] + (1 - b2) * d * d * (g * g)
        weight = d / first * length
        r = c * r + weight * (g @ (state["x0"] - x))
        s = state["s"] = c * state["s"] + weight * g
        largest = max(largest, r / np.sum(np.abs(s)))
        after = x - length * m / (np.sqrt(v) + largest * eps)
        d = largest
        return after

    return step


def mezo(problem: Method, state: State) -> Step:  # noqa: ARG001 - no state
    """Malladi et al. 2023."""
    value, lr, eps = Gradients(problem).value, problem.options["lr"], 1e-3
    normal = drawn(lambda key: bl.random.normal(key, (problem.features.shape[1],)))

    def step(x: Array, t: int) -> Array:
        z = normal[t % _DRAWN]
        slope = (value(x + eps * z, t) - value(x - eps * z, t)) / (2 * eps)
        return x - lr * slope * z

    return step


def svrg(problem: Method, state: State) -> Step:
    """Johnson and Zhang 2013."""
    gradients, lr, every = Gradients(problem), problem.options["lr"], problem.options["every"]
    grad = gradients.of

    def step(x: Array, t: int) -> Array:
        if t % every == 0:
            state.update(w=x, full=gradients.full(x))
        return x - lr * (grad(x, t) - grad(state["w"], t) + state["full"])

    return step


def sarah(problem: Method, state: State) -> Step:
    """Nguyen, Liu, Scheinberg and Takac 2017."""
    gradients, lr, every = Gradients(problem), problem.options["lr"], problem.options["every"]
    grad = gradients.of

    def step(x: Array, t: int) -> Array:
        v = gradients.full(x) if t % every == 0 else state["v"] + grad(x, t) - grad(state["before"], t)
        state.update(v=v, before=x)
        return x - lr * v

    return step


def saga(problem: Method, state: State) -> Step:
    """Defazio, Bach and Lacoste-Julien 2014; the regularizer is no part of the table."""
    features, labels, l2, lr = problem.features, problem.labels, problem.l2, problem.options["lr"]
    n = len(labels)
    table = state["table"] = -labels[:, None] / 2 * features
    mean = state["mean"] = np.mean(table, axis=0)

    def step(x: Array, t: int) -> Array:
        i = t % n
        a, b = features[i], labels[i]
        row = (-b / (1 + exp(b * (a @ x)))) * a
        change = row - table[i]
        after = x - lr * (change + mean + l2 * x)
        table[i] = row
        np.add(mean, change / n, out=mean)
        return after

    return step


def mvr(problem: Method, state: State) -> Step:
    """Cutkosky and Orabona 2019, at fixed rates."""
    grad, lr, a = Gradients(problem).of, problem.options["lr"], problem.options["a"]

    def step(x: Array, t: int) -> Array:
        g = grad(x, t)
        v = g + (1 - a) * (state["v"] - grad(state["before"], t)) if t else g
        state.update(v=v, before=x)
        return x - lr * v

    return step


def storm(problem: Method, state: State) -> Step:
    """Cutkosky and Orabona 2019, Algorithm 1."""
    grad, (k, w, c) = Gradients(problem).of, problem.options.values()
    total, a = 0.0, 1.0
    state.update(v=np.zeros(problem.features.shape[1]), before=np.zeros(problem.features.shape[1]))

    def step(x: Array, t: int) -> Array:
        nonlocal total, a
        g = grad(x, t)
        v = g + (1 - a) * (state["v"] - grad(state["before"], t))
        total += g @ g
        lr = k / (w + total) ** (1 / 3)
        a = min(1.0, c * lr**2)
        state.update(v=v, before=x)
        return x - lr * v

    return step


def drawn(draw: Callable[[Any], Any]) -> Array:
    """Return a rule's random draws from its keys of the first steps of a run of seed 0, stacked."""
    seed = bl.random.key(0)

    def of(t: int) -> Any:
        return draw(bl.random.fold_in(seed, t))

    return np.asarray(bl.vmap(of)(np.arange(_DRAWN)))


def sam(problem: Method, state: State) -> Step:  # noqa: ARG001 - no state
    """Foret et al. 2021, Algorithm 1."""
    grad, lr, rho = Gradients(problem).of, problem.options["lr"], problem.options["rho"]

    def step(x: Array, t: int) -> Array:
        g = grad(x, t)
        return x - lr * grad(x + rho * g / sqrt(g @ g), t)

    return step


def masked_momentum(problem: Method, state: State) -> Step:
    """Momentum with the gradient at the largest entries."""
    grad, lr = Gradients(problem).of, problem.options["lr"]
    momentum, kept = problem.options["momentum"], problem.options["kept"]
    state["v"] = np.zeros(problem.features.shape[1])

    def step(x: Array, t: int) -> Array:
        size = np.abs(x)
        masked = np.where(size >= np.sort(size)[-kept], x, 0.0)
        v = state["v"] = momentum * state["v"] + grad(masked, t)
        return x - lr * v

    return step


SAMPLE_METHODS: dict[str, Callable[[Method, State], Step]] = {
    "GD": gd,
    "Adam": adam,
    "Lion": lion,
    "DoG": dog,
    "Prodigy": prodigy,
    "MeZO": mezo,
    "SVRG": svrg,
    "SARAH": sarah,
    "SAGA": saga,
    "MVR": mvr,
    "STORM": storm,
    "SAM": sam,
    "masked momentum": masked_momentum,
}
