"""Stratified batches by clusters of gradients."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from burlab.errors import ArgumentError
from burlab.graph.buffers.buffer_functions import at_set
from burlab.optim.optimizer import State, Vector, start
from burlab.optim.queries import Queries
from burlab.optim.wrappers import Wrapper
from burlab.runtime.checks.numbers import whole
from burlab.transforms import cond, random, scan
from burlab.typing import Array, Key


@dataclass(frozen=True)
class gluster(Wrapper):
    """Faghri, Duvenaud, Fleet and Ba 2020, gradient clustering, arXiv:2007.04532, for any optimizer.

    g <- sum_c N_c / n (mean gradient of `each` samples drawn from cluster c), which is unbiased, and exact where all
    gradients of a cluster are equal. The clusters make sum_c N_c sum_(i in c) |grad_i - mean_c|^2 small, n^2 times the
    variance for each = 1. They start as i mod clusters; `sweeps` times, at the start and at every `every`-th step, each
    sample in turn goes where this sum is least. So it never grows; the paper moves all samples at once.
    clusters: how many. each: samples of a cluster per step, drawn with replacement. The batch of the run is not used.
    Cost: clusters * each sample gradients a step, and n at a move, whose n d numbers it keeps no longer; keeps n.

    >>> import numpy as np, burlab as bl
    >>> problem = bl.FiniteSum(lambda x, a: np.sum((x - a) ** 2), np.array([0.0, 0.0, 3.0, 0.0, 3.0]))
    >>> run = bl.minimize(problem, np.zeros(1), bl.optim.gluster(bl.optim.GD(0.25), clusters=2), batch=1, steps=1)
    >>> run.x, run.state["cluster"]  # the whole gradient, from two samples
    (array([0.6]), array([1, 1, 0, 1, 0]))
    """

    clusters: int = 8
    each: int = 1
    every: int = 100
    sweeps: int = 3

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("clusters", "each", "every", "sweeps"):
            whole(getattr(self, name), name, 1)

    def init(self, x: Vector, *, f: Any = None) -> State:
        """The clusters at the start, and the inner state."""
        if self.clusters > f.samples:
            raise ArgumentError(f"gluster has clusters={self.clusters}, but there are {f.samples} samples. Use fewer.")
        cluster = self._reassigned(np.arange(int(f.samples)) % self.clusters, f.per_sample_grads(x))
        return {"cluster": cluster, "inner": start(self.inner, x, f)}

    def output(self, x: Vector, state: State) -> Vector:
        """The point that the optimizer inside gives."""
        return self.inner.output(x, state["inner"])

    def batch_size(self, state: State) -> Any:
        """Return the batch size of the inner optimizer."""
        return self.inner.batch_size(state["inner"])

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Queries) -> tuple[Vector, State]:  # noqa: ARG002
        """The step along the estimate."""
        old, moves = state["cluster"], np.logical_and(t > 0, t % self.every == 0)
        everything = np.arange(int(f.samples))
        cluster = cond(moves, lambda: self._reassigned(old, f.per_sample_grads(x, indices=everything)), lambda: old)
        parts: list[Any] = []
        for c in range(self.clusters):
            mine = cluster == c
            drawn = [_drawn(mine, random.fold_in(f.key, c * self.each + k)) for k in range(self.each)]
            parts.append(np.mean(mine.astype(x.dtype)) * f.grad(x, indices=np.stack(drawn)))
        estimate = np.sum(np.stack(parts), axis=0)
        x, inner = self.advance(estimate, state["inner"], x, t, f)
        return x, {"cluster": cluster, "inner": inner}

    def _reassigned(self, cluster: Array, rows: Array) -> Any:
        """The clusters of the samples with these gradients, after some rounds."""
        names = np.arange(self.clusters)
        belongs = (cluster[:, None] == names).astype(rows.dtype)
        sizes = np.sum(belongs, axis=0)
        means = belongs.T @ rows / np.maximum(sizes, 1)[:, None]
        spreads = np.sum(belongs * np.sum((rows[:, None] - means) ** 2, axis=2), axis=0)

        def reassign(state: tuple[Any, ...], sample: tuple[Any, ...]) -> Any:
            """A sample leaves its cluster, and goes to the one whose N_c times spread then grows least."""
            cluster, sizes, means, spreads = state
            i, row = sample
            own = (cluster[i] == names).astype(rows.dtype)
            left = np.maximum(sizes - 1, 1)
            spreads = spreads - own * sizes / left * np.sum((row - means) ** 2, axis=1)
            means, sizes = means - (own / left)[:, None] * (row - means), sizes - own
            far = sizes / (sizes + 1) * np.sum((row - means) ** 2, axis=1)
            chosen = np.argmin((sizes + 1) * (spreads + far) - sizes * spreads)
            new = (chosen == names).astype(rows.dtype)
            means = means + (new / (sizes + 1))[:, None] * (row - means)
            return (at_set(cluster, i, chosen), sizes + new, means, spreads + new * far), None

        for _ in range(self.sweeps):
            (cluster, sizes, means, spreads), _ = scan(
                reassign, (cluster, sizes, means, spreads), (np.arange(cluster.shape[0]), rows)
            )
        return cluster


def _drawn(mine: Array, key: Key) -> Any:
    """A sample of a cluster, all of them equally likely; any sample of an empty one, which counts nothing."""
    return np.argmax(np.where(mine, random.uniform(key, mine.shape), -1.0))
