"""Methods of clients, in NumPy, all clients at once: `make(problem, state)` gives step(x, t) -> x."""

from collections.abc import Callable
from typing import Any

import numpy as np

import burlab as bl
from burlab.bench.problem import Array, Method

from .numpy_samples import State, Step, drawn

_solve: Any = np.linalg.solve


class ClientGradients:
    """The gradients of clients, and what their messages become."""

    def __init__(self, problem: Method) -> None:
        self.features, self.labels, self.l2 = problem.features, problem.labels, problem.l2
        self.count, self.n, self.d = self.features.shape
        self._transposed = np.ascontiguousarray(self.features.transpose(0, 2, 1))

    def at(self, x: Array) -> Array:
        """The gradient of every client at x, shape (clients, d)."""
        slopes = -self.labels / (1 + np.exp(self.labels * (self.features @ x)))
        return (self._transposed @ slopes[:, :, None])[:, :, 0] / self.n + self.l2 * x

    def each(self, y: Array) -> Array:
        """The gradient of every client at its own point, shape (clients, d)."""
        slopes = -self.labels / (1 + np.exp(self.labels * (self.features @ y[:, :, None])[:, :, 0]))
        return (self._transposed @ slopes[:, :, None])[:, :, 0] / self.n + self.l2 * y

    def hessians(self, x: Array) -> Array:
        """The Hessian of every client at x, shape (clients, d, d)."""
        p = 1 / (1 + np.exp(self.labels * (self.features @ x)))
        weights = (p * (1 - p) / self.n)[:, None, :]
        return (self._transposed * weights) @ self.features + self.l2 * np.eye(self.d)


def top(rows: Array, k: int) -> Array:
    """The k entries of each row of largest absolute value, in their places."""
    places = np.argpartition(-np.abs(rows), k - 1, axis=1)[:, :k]
    message = np.zeros_like(rows)
    np.put_along_axis(message, places, np.take_along_axis(rows, places, axis=1), axis=1)
    return message


def random_entries(problem: Method) -> Callable[[Array, int], Array]:
    """Return the function that compresses clients' rows at step t by RandK."""
    count, _, d = problem.features.shape
    k = problem.options["compressor"].k

    def places(key: Array) -> Any:
        return np.stack([bl.random.permutation(bl.random.fold_in(key, c), d)[:k] for c in range(count)])

    masks = np.zeros((*(chosen := drawn(places)).shape[:2], d))
    np.put_along_axis(masks, chosen, d / k, axis=2)
    return lambda rows, t: masks[t % len(masks)] * rows


def dcgd(problem: Method, state: State) -> Step:  # noqa: ARG001 - no state
    """Khirirat et al. 2018."""
    grads, compress, lr = ClientGradients(problem).at, random_entries(problem), problem.options["lr"]
    return lambda x, t: x - lr * np.mean(compress(grads(x), t), axis=0)


def ef21(problem: Method, state: State) -> Step:
    """Richtarik, Sokolov and Fatkhullin 2021."""
    clients, lr, k = ClientGradients(problem), problem.options["lr"], problem.options["compressor"].k
    g = state["g"] = np.zeros((clients.count, clients.d))

    def step(x: Array, t: int) -> Array:  # noqa: ARG001 - the same at each step
        np.add(g, top(clients.at(x) - g, k), out=g)
        return x - lr * np.mean(g, axis=0)

    return step


def diana(problem: Method, state: State) -> Step:
    """Mishchenko, Gorbunov, Takac and Richtarik 2019."""
    clients, compress, lr = ClientGradients(problem), random_entries(problem), problem.options["lr"]
    a = problem.options["compressor"].k / clients.d
    h = state["h"] = np.zeros((clients.count, clients.d))

    def step(x: Array, t: int) -> Array:
        message = compress(clients.at(x) - h, t)
        after = x - lr * np.mean(h + message, axis=0)
        np.add(h, a * message, out=h)
        return after

    return step


def marina(problem: Method, state: State) -> Step:
    """Gorbunov, Burlachenko, Li and Richtarik 2021."""
    clients, compress, lr = ClientGradients(problem), random_entries(problem), problem.options["lr"]
    coins = drawn(lambda key: bl.random.uniform(key, ())) < problem.options["compressor"].k / clients.d

    def step(x: Array, t: int) -> Array:
        grads = clients.at(x)
        if t == 0 or coins[t % len(coins)]:
            v = np.mean(grads, axis=0)
        else:
            v = state["v"] + np.mean(compress(grads - clients.at(state["before"]), t), axis=0)
        state.update(v=v, before=x)
        return x - lr * v

    return step


def dasha(problem: Method, state: State) -> Step:
    """Tyurin and Richtarik 2023."""
    clients, compress, lr = ClientGradients(problem), random_entries(problem), problem.options["lr"]
    a = 1 / (2 * (clients.d / problem.options["compressor"].k - 1) + 1)

    def step(x: Array, t: int) -> Array:
        grads = clients.at(x)
        if t:
            g, h = state["g"], state["h"]
            g = g + compress(grads - h - a * (g - h), t)
        else:
            g = grads
        state.update(g=g, h=grads)
        return x - lr * np.mean(g, axis=0)

    return step


def fed_avg(problem: Method, state: State) -> Step:  # noqa: ARG001 - no state
    """McMahan et al. 2017."""
    clients, lr, tau = ClientGradients(problem), problem.options["lr"], problem.options["tau"]

    def step(x: Array, t: int) -> Array:  # noqa: ARG001 - the same at each step
        y = np.tile(x, (clients.count, 1))
        for _ in range(tau):
            y = y - lr * clients.each(y)
        return np.mean(y, axis=0)

    return step


def scaffold(problem: Method, state: State) -> Step:
    """Karimireddy et al. 2020."""
    clients, lr, tau = ClientGradients(problem), problem.options["lr"], problem.options["tau"]
    state["c"] = np.zeros((clients.count, clients.d))

    def step(x: Array, t: int) -> Array:  # noqa: ARG001 - the same at each step
        shift = np.mean(state["c"], axis=0) - state["c"]
        y = np.tile(x, (clients.count, 1))
        for _ in range(tau):
            y = y - lr * (clients.each(y) + shift)
        state["c"] = (x - y) / (tau * lr) - shift
        return np.mean(y, axis=0)

    return step


def fed_nl(problem: Method, state: State) -> Step:
    """Safaryan, Islamov, Qian and Richtarik 2022."""
    clients, lr, k = ClientGradients(problem), problem.options["lr"], problem.options["compressor"].k
    rows, columns = np.triu_indices(clients.d)
    twice: Array = np.where(rows == columns, 1.0, 2.0)  # an entry and its mirror
    known = state["H"] = np.zeros((clients.count, len(rows)))

    def step(x: Array, t: int) -> Array:  # noqa: ARG001 - the same at each step
        missing: Array = clients.hessians(x)[:, rows, columns] - known
        squares: Array = np.sum(missing**2 * twice, axis=1)
        error = float(np.mean(np.sqrt(squares)))
        h: Array = np.zeros((clients.d, clients.d))
        h[rows, columns] = h[columns, rows] = np.mean(known, axis=0)
        newton = _solve(h + error * np.eye(clients.d), np.mean(clients.at(x), axis=0))
        after = x - lr * newton
        np.add(known, top(missing, k), out=known)
        return after

    return step


CLIENT_METHODS: dict[str, Callable[[Method, State], Step]] = {
    "DCGD": dcgd,
    "EF21": ef21,
    "DIANA": diana,
    "MARINA": marina,
    "DASHA": dasha,
    "FedAvg": fed_avg,
    "SCAFFOLD": scaffold,
    "FedNL": fed_nl,
}
