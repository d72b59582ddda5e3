"""Methods whose clients send compressed vectors: DCGD, EF21 and its weighted and partial forms, DIANA."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from burlab.graph.buffers.buffer_functions import at_add
from burlab.optim.optimizer import Hyper, Metrics, State, Vector
from burlab.optim.queries import Queries
from burlab.runtime.checks.numbers import probabilities, whole

from .messages import Compressed, bits_of, check_contractive, drawn, omega_of, sent


@dataclass(frozen=True)
class DCGD(Compressed):
    """Distributed compressed gradient descent, Khirirat et al. 2018: x <- x - lr mean C(grad f_i(x)).

    It stalls where the clients' gradients do not vanish at the minimum. lr: step size. compressor: unbiased.
    Cost: the gradient of every client; keeps nothing. Column: bits of all clients so far.

    >>> import numpy as np, burlab as bl
    >>> problem = bl.problems.federated(lambda x, a: 0.5 * np.sum((x - a) ** 2), [np.ones((2, 2)), np.ones((3, 2))])
    >>> run = bl.minimize(problem, np.zeros(2), bl.optim.DCGD(0.5, bl.compressors.RandK(1)), steps=60)
    >>> run.x.round(3), run.history["bits"][-1]
    (array([1., 1.]), np.float64(7680.0))
    """

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Queries) -> tuple[Vector, State, Metrics]:  # noqa: ARG002
        """A round."""
        omega_of(self, x.shape[0])
        grads = f.client_grads(x)
        step = np.mean(sent(self.compressor, grads, f), axis=0)
        return x - self.lr * step, state, {"bits": bits_of(self.compressor, grads)}


@dataclass(frozen=True)
class EF21(Compressed):
    """Richtarik, Sokolov and Fatkhullin 2021, Algorithm 2, arXiv:2106.05203.

    g_i <- g_i + C(grad f_i(x) - g_i);  x <- x - lr mean g_i, from g_i = 0.
    lr: at most 1 / (L + L~ sqrt(b / a)) with a = 1 - sqrt(1 - alpha), b = (1 - alpha) / a, L~^2 the mean of L_i^2.
    compressor: contractive; one that is unbiased alone is scaled by 1 / (1 + omega) in `Scaled`.
    Cost: the gradient of every client; keeps clients d numbers. Column: bits of all clients so far.

    >>> import numpy as np, burlab as bl
    >>> problem = bl.problems.federated(lambda x, a: 0.5 * np.sum((x - a) ** 2), [np.zeros((2, 2)), np.ones((3, 2))])
    >>> run = bl.minimize(problem, np.zeros(2), bl.optim.EF21(0.3, bl.compressors.TopK(1)), steps=100)
    >>> run.x.round(3)
    array([0.5, 0.5])
    """

    def init(self, x: Vector, *, f: Any = None) -> State:
        """Nothing was sent yet."""
        check_contractive(self, x.shape[0])
        return {"g": np.zeros((f.clients, x.shape[0]), x.dtype)}

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Queries) -> tuple[Vector, State, Metrics]:  # noqa: ARG002
        """A round."""
        metrics = {"bits": bits_of(self.compressor, state["g"])}
        estimates = state["g"] + sent(self.compressor, f.client_grads(x) - state["g"], f)
        return x - self.lr * np.mean(estimates, axis=0), {"g": estimates}, metrics


@dataclass(frozen=True)
class EF21PP(EF21):
    """EF21 with partial participation, Fatkhullin et al. 2021, Algorithm 4, arXiv:2110.03294.

    In every round so many clients, all sets equally likely, send C(grad f_i(x) - g_i); the others keep their g_i.
    clients: how many take part; with all of them it is `EF21`. lr, compressor: as there.
    Cost: the gradients of these clients; keeps clients d numbers. Column: bits of all clients so far.

    >>> import numpy as np, burlab as bl
    >>> problem = bl.problems.federated(lambda x, a: 0.5 * np.sum((x - a) ** 2), [np.zeros((2, 2)), np.ones((3, 2))])
    >>> run = bl.minimize(problem, np.zeros(2), bl.optim.EF21PP(0.2, bl.compressors.TopK(1), clients=1), steps=300)
    >>> run.x.round(3)
    array([0.5, 0.5])
    """

    clients: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        whole(self.clients, "clients", 1)

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Queries) -> tuple[Vector, State, Metrics]:  # noqa: ARG002
        """A round."""
        chosen = drawn(f, self.clients)
        rows = f.client_grads(x, clients=chosen) - state["g"][chosen]
        estimates = at_add(state["g"], chosen, sent(self.compressor, rows, f))
        return x - self.lr * np.mean(estimates, axis=0), {"g": estimates}, {"bits": bits_of(self.compressor, rows)}


@dataclass(frozen=True)
class EF21W(EF21):
    """EF21 with weights, Richtarik, Gasanov and Burlachenko 2024, Algorithm 2, arXiv:2402.10774.

    g_i <- g_i + C(grad f_i(x) / (m w_i) - g_i) for m clients;  x <- x - lr sum w_i g_i, from g_i = 0.
    lr: at most 1 / (L + mean(L_i) sqrt(b / a)), see `EF21`. weights: w_i = L_i / sum L, above 0, of sum one.
    Cost: the gradient of every client; keeps clients d numbers. Column: bits of all clients so far.

    >>> import numpy as np, burlab as bl
    >>> problem = bl.problems.federated(lambda x, a: 0.5 * np.sum((x - a) ** 2), [np.zeros((2, 2)), np.ones((3, 2))])
    >>> rule = bl.optim.EF21W(0.3, bl.compressors.TopK(1), weights=(0.25, 0.75))
    >>> bl.minimize(problem, np.zeros(2), rule, steps=200).x.round(3)
    array([0.5, 0.5])
    """

    weights: tuple[float, ...] = ()

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Queries) -> tuple[Vector, State, Metrics]:  # noqa: ARG002
        """A round."""
        weights = probabilities(self.weights, "weights of EF21W", f.clients).astype(x.dtype)
        grads = f.client_grads(x) / (f.clients * weights[:, None])
        estimates = state["g"] + sent(self.compressor, grads - state["g"], f)
        return x - self.lr * (weights @ estimates), {"g": estimates}, {"bits": bits_of(self.compressor, grads)}


@dataclass(frozen=True)
class DIANA(Compressed):
    """Mishchenko, Gorbunov, Takac and Richtarik 2019, arXiv:1901.09269; Horvath et al. 2023 for any omega.

    m_i = C(grad f_i(x) - h_i);  x <- x - lr (mean h_i + mean m_i);  h_i <- h_i + a m_i, from h_i = 0.
    lr: 1 / (L_max (1 + 6 omega / clients)). compressor: unbiased. a: 1 / (1 + omega) where it is None.
    Cost: the gradient of every client; keeps clients d numbers. Column: bits of all clients so far.

    >>> import numpy as np, burlab as bl
    >>> problem = bl.problems.federated(lambda x, a: 0.5 * np.sum((x - a) ** 2), [np.zeros((2, 2)), np.ones((3, 2))])
    >>> run = bl.minimize(problem, np.zeros(2), bl.optim.DIANA(0.2, bl.compressors.RandK(1)), steps=200)
    >>> run.x.round(3)
    array([0.5, 0.5])
    """

    a: Hyper | None = None

    def init(self, x: Vector, *, f: Any = None) -> State:
        """No shifts yet."""
        return {"h": np.zeros((f.clients, x.shape[0]), x.dtype)}

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Queries) -> tuple[Vector, State, Metrics]:  # noqa: ARG002
        """A round."""
        h, omega = state["h"], omega_of(self, x.shape[0])
        a = 1 / (1 + omega) if self.a is None else self.a
        message = sent(self.compressor, f.client_grads(x) - h, f)
        after = x - self.lr * np.mean(h + message, axis=0)
        return after, {"h": h + a * message}, {"bits": bits_of(self.compressor, h)}
