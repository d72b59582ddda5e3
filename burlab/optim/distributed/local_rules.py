"""Clients that run an optimizer of their own between two rounds, and a server that runs another: DiLoCo."""

from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np

from burlab.errors import ArgumentError
from burlab.optim.adam import AdamW
from burlab.optim.momentum import Nesterov
from burlab.optim.optimizer import Metrics, Optimizer, State, Vector, advance, start
from burlab.optim.queries import Queries
from burlab.runtime.checks.numbers import shown, whole
from burlab.transforms import fori_loop, tree, vmap

from .messages import bits_whole


@dataclass(frozen=True)
class DiLoCo(Optimizer):
    """Douillard et al. 2023, Algorithm 1, arXiv:2311.08105, with full local gradients: local steps of any optimizer.

    Every client takes tau steps of `inner` from x, each with a state of its own that it keeps from round to round;
    `outer` then takes one step with the mean of x - y_i as gradient, y_i where client i is. With
    inner=GD(lr) and outer=GD(1.0) it is FedAvg. A rule that asks f, or needs the shapes of x's leaves, is not for
    clients. inner: AdamW in the paper. tau: local steps, 500 there. outer: Nesterov(0.7, 0.9) there.
    Cost: tau gradients of every client; keeps the state of `inner` for every client, and that of `outer`.
    Column: bits of all clients so far.

    >>> import numpy as np, burlab as bl
    >>> problem = bl.problems.federated(lambda x, a: 0.5 * np.sum((x - a) ** 2), [np.zeros((2, 2)), np.ones((3, 2))])
    >>> rule = bl.optim.DiLoCo(bl.optim.Momentum(0.05), tau=4, outer=bl.optim.Nesterov(0.3, 0.5))
    >>> bl.minimize(problem, np.zeros(2), rule, steps=200).x.round(6)
    array([0.5, 0.5])
    """

    inner: Optimizer = field(default_factory=AdamW)
    tau: int = 500
    outer: Optimizer = field(default_factory=lambda: Nesterov(0.7, 0.9))

    def __post_init__(self) -> None:
        super().__post_init__()
        whole(self.tau, "tau", 1)
        for name in ("inner", "outer"):
            given: Any = getattr(self, name)
            if not isinstance(given, Optimizer) or (given.per_leaf and name == "inner"):
                raise ArgumentError(
                    f"{name} of DiLoCo is {shown(given)}, expected an optimizer on flat vectors, such as AdamW(1e-3)."
                )

    def init(self, x: Vector, *, f: Any = None) -> State:
        """The state of the optimizer of every client, stacked, and that of the server's."""
        own: list[State] = [start(self.inner, x, _NOBODY) for _ in range(f.clients)]
        return {"inner": tree.map(_stacked, *own), "outer": start(self.outer, x, f)}

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Queries) -> tuple[Vector, State, Metrics]:  # noqa: ARG002
        """A round."""
        points = np.zeros((f.clients, x.shape[0]), x.dtype) + x

        def local(k: int, carry: tuple[Any, ...]) -> Any:
            def own(g: Vector, y: Vector, s: State) -> Any:
                return advance(self.inner, g, s, y, t * self.tau + k, _NOBODY)

            y, inner = carry
            return vmap(own)(f.client_grads(y), y, inner)

        y, inner = fori_loop(0, self.tau, local, (points, state["inner"]))
        x, outer = advance(self.outer, x - np.mean(y, axis=0), state["outer"], x, t, f)
        return x, {"inner": inner, "outer": outer}, {"bits": bits_whole(y)}


def _stacked(*parts: Any) -> Any:
    return np.stack(parts)


class _Nobody:
    """Stand-in for f in the optimizers of clients."""

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        raise ArgumentError(
            f"the inner optimizer of DiLoCo reads f.{name}, which is about the whole problem, not about a client. "
            "Use one that needs gradients only, such as AdamW."
        )


_NOBODY: Any = _Nobody()
