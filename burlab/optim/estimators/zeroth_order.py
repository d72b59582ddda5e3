"""Gradients from values alone, and from a derivative along one direction."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from burlab.graph.buffers.buffer_functions import at_set
from burlab.graph.checkpoint_nodes import after
from burlab.graph.node import as_node
from burlab.optim.arithmetic import where
from burlab.optim.optimizer import Hyper, Metrics, Optimizer, State, Vector
from burlab.optim.queries import Queries
from burlab.optim.wrappers import Wrapper
from burlab.runtime.checks.numbers import whole
from burlab.runtime.ranges import SHARE, number_in
from burlab.transforms import random
from burlab.transforms.scan import scan

BLOCK = 1 << 16  # entries of a direction that are in memory at a time
MIN_BLOCKS = 16  # of a direction that is not stored: making it three times takes longer


def slope(f: Queries, x: Vector, z: Vector, eps: float) -> Any:
    """(f(x + eps z) - f(x - eps z)) / (2 eps): about the derivative along z, from two values of the batch."""
    return slope_and_value(f, x, z, eps)[0]


def slope_and_value(f: Queries, x: Vector, z: Vector, eps: float) -> tuple[Any, Any]:
    """The slope, and the mean of its two values, which is f(x) up to eps^2 z.Hz / 2: the value of the step.

    The second point is computed after the first value, in the memory of the first point.
    """
    ahead = f.value(x + eps * z)
    behind = f.value(x - eps * after(as_node(z), [as_node(ahead)]))
    return (ahead - behind) / (2 * eps), (ahead + behind) / 2


def perturb(x: Vector, key: Any, size: Any) -> Vector:
    """x + size z with z normal, float; a long z is made block by block and never stored.

    x: point, shape (d,). size: number. Calls with the same key have the same z.
    """
    d = int(x.shape[0])
    if d < MIN_BLOCKS * BLOCK:
        return x + size * random.normal(key, x.shape, x.dtype)

    def block(k: Any, part: Any) -> tuple[Any, Any]:
        return k + 1, part + size * random.normal(random.fold_in(key, k), part.shape, x.dtype)

    length = next((b for b in range(2 * BLOCK, max(BLOCK // 16, 1), -1) if d % b == 0), BLOCK)
    whole = d // length
    y = np.reshape(scan(block, np.int64(0), np.reshape(x[: whole * length], (whole, length)))[1], -1)
    return np.concatenate([y, block(np.int64(whole), x[whole * length :])[1]]) if d % length else y


def later(x: Vector, value: Any) -> Any:
    """Return x, for what is to wait for a value: so one point after the other is in the same memory."""
    return after(as_node(x), [as_node(value)])


@dataclass(frozen=True)
class MeZO(Optimizer):
    """Malladi et al. 2023, Algorithm 1, arXiv:2305.17333: the two-point estimate of Spall 1992.

    x <- x - lr r z with z normal, from the key of the step, and r = (f(x + eps z) - f(x - eps z)) / (2 eps).
    lr: step size; about 1 / (d + 2) of what the gradient allows. eps: size of the perturbation.
    Cost: two values of the batch, whose mean is the value in the history; keeps nothing. A z of 2^20 entries or more
    is made again from its key whenever it is needed, block by block.

    >>> import numpy as np, burlab as bl
    >>> run = bl.minimize(lambda x: np.sum((x - 1) ** 2), np.zeros(4), bl.optim.MeZO(0.05), steps=300)
    >>> bool(np.abs(run.x - 1).max() < 1e-3)
    True
    """

    lr: Hyper = 1e-3
    eps: Hyper = 1e-3

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Queries) -> tuple[Vector, State, Metrics]:  # noqa: ARG002
        """One step along a random direction."""
        ahead = f.value(perturb(x, f.key, self.eps))
        behind = f.value(perturb(later(x, ahead), f.key, -self.eps))
        r = (ahead - behind) / (2 * self.eps)
        return perturb(later(x, behind), f.key, -self.lr * r), state, {"value": (ahead + behind) / 2}


@dataclass(frozen=True)
class ZOSignSGD(Optimizer):
    """Liu, Chen, Chen and Hong 2019, signSGD via zeroth-order oracle, Algorithm 1, ICLR: x <- x - lr sign(r z).

    z and r are MeZO's. Zhang et al. 2024 (ZO-Bench, arXiv:2402.11592) have sign(r) z in their code instead: MeZO with
    the slope's sign alone. lr: step size of every coordinate. eps: size of the perturbation.
    Cost: two values of the batch, whose mean is the value in the history; keeps nothing.

    >>> import numpy as np, burlab as bl
    >>> run = bl.minimize(lambda x: np.sum((x - 1) ** 2), np.zeros(4), bl.optim.ZOSignSGD(0.01), steps=400)
    >>> bool(np.abs(run.x - 1).max() < 0.2)
    True
    """

    lr: Hyper = 1e-3
    eps: Hyper = 1e-3

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Queries) -> tuple[Vector, State, Metrics]:  # noqa: ARG002
        """One step by the signs of the estimate."""
        z = random.normal(f.key, x.shape, x.dtype)
        r, value = slope_and_value(f, x, z, self.eps)
        return x - self.lr * np.sign(r * z), state, {"value": value}


@dataclass(frozen=True)
class ZOConservative(Optimizer):
    """Zhang et al. 2024, ZO-SGD-Cons of ZO-Bench, arXiv:2402.11592: the best of x, x - s and x + s, s MeZO's step.

    The three are compared on the batch of the step. lr: step size. eps: size of the perturbation.
    Cost: four values of the batch beside the one at x; keeps nothing.

    >>> import numpy as np, burlab as bl
    >>> run = bl.minimize(lambda x: np.sum((x - 1) ** 2), np.zeros(4), bl.optim.ZOConservative(0.05), steps=300)
    >>> bool(np.abs(run.x - 1).max() < 1e-3)
    True
    """

    lr: Hyper = 1e-3
    eps: Hyper = 1e-3

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Queries) -> tuple[Vector, State]:  # noqa: ARG002
        """The step, the step back, or none."""
        z = random.normal(f.key, x.shape, x.dtype)
        step = self.lr * slope(f, x, z, self.eps) * z
        here, there, back = f.value(x), f.value(x - step), f.value(x + step)
        best = where(there <= back, x - step, x + step)
        return where(np.minimum(there, back) < here, best, x), state


@dataclass(frozen=True)
class CoordinateZO(Optimizer):
    """Random coordinates by differences: Nesterov 2012, section 4, with differences for derivatives.

    x_i <- x_i - lr (f(x + eps e_i) - f(x - eps e_i)) / (2 eps) for an i drawn at each step, all equally likely.
    lr: step size; 1 / L_i is the longest safe one. eps: size of the perturbation.
    Cost: two values of the batch, whose mean is the value in the history; keeps nothing.

    >>> import numpy as np, burlab as bl
    >>> run = bl.minimize(lambda x: np.sum((x - 1) ** 2), np.zeros(4), bl.optim.CoordinateZO(0.5), steps=60)
    >>> bool(np.abs(run.x - 1).max() < 1e-6)
    True
    """

    lr: Hyper = 1e-3
    eps: Hyper = 1e-3

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Queries) -> tuple[Vector, State, Metrics]:  # noqa: ARG002
        """One step of one coordinate."""
        axis = at_set(np.zeros_like(x), random.randint(f.key, (), 0, x.shape[0]), 1.0)
        r, value = slope_and_value(f, x, axis, self.eps)
        return x - self.lr * r * axis, state, {"value": value}


@dataclass(frozen=True)
class ZOBlockwise(Optimizer):
    """Zhang et al. 2024 (ZO-Bench), block-wise perturbation, arXiv:2402.11592, as in its code.

    The entries of x are cut into consecutive blocks of about equal length. One block after the other makes MeZO's step,
    each from where the blocks before it have come to; so a direction has d / blocks entries, and less noise.
    lr: step size. eps: size of the perturbation. blocks: how many; one is MeZO.
    Cost: two values of the batch for each block; keeps nothing.

    >>> import numpy as np, burlab as bl
    >>> run = bl.minimize(lambda x: np.sum((x - 1) ** 2), np.zeros(4), bl.optim.ZOBlockwise(0.1, blocks=2), steps=100)
    >>> bool(np.abs(run.x - 1).max() < 1e-3)
    True
    """

    lr: Hyper = 1e-3
    eps: Hyper = 1e-3
    blocks: int = 4

    def __post_init__(self) -> None:
        super().__post_init__()
        whole(self.blocks, "blocks", 1)

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Queries) -> tuple[Vector, State]:  # noqa: ARG002
        """A step of every block."""
        normal, size = random.normal(f.key, x.shape, x.dtype), int(x.shape[0])
        for entries in np.array_split(np.arange(size), self.blocks):
            z = np.where(np.isin(np.arange(size), entries), normal, 0.0)
            x = x - self.lr * slope(f, x, z, self.eps) * z
        return x, state


@dataclass(frozen=True)
class zeroth_order(Wrapper):
    """The two-point estimate in place of the gradient, for any optimizer: zeroth_order(Adam()) is ZO-Adam.

    g <- mean of r z over q normal directions z, r = (f(x + eps z) - f(x - eps z)) / (2 eps): Nesterov and Spokoiny
    2017; Zhang et al. 2024 (ZO-Bench), arXiv:2402.11592. Its squared error is about (d + 1) / q |grad f|^2.
    eps: size of the perturbation. q: directions per step. Cost: 2 q values of the batch.

    >>> import numpy as np, burlab as bl
    >>> rule = bl.optim.zeroth_order(bl.optim.Adam(0.05))
    >>> run = bl.minimize(lambda x: np.sum((x - 1) ** 2), np.zeros(4), rule, steps=200)
    >>> bool(np.abs(run.x - 1).max() < 0.1)
    True
    """

    eps: Hyper = 1e-3
    q: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        whole(self.q, "q", 1)

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Queries) -> tuple[Vector, State]:  # noqa: ARG002
        """The step along the estimate."""
        estimate = np.zeros_like(x)
        for key in keys(f, self.q):
            z = random.normal(key, x.shape, x.dtype)
            estimate = estimate + slope(f, x, z, self.eps) / self.q * z
        return self.advance(estimate, state, x, t, f)


@dataclass(frozen=True)
class sparse_zeroth_order(Wrapper):
    """The two-point estimate on some of the entries, for any optimizer: g <- r z, z zero but for a random part.

    Zhang et al. 2024 (ZO-Bench), gradient sparsity at one rate for all layers, arXiv:2402.11592: each entry of a normal
    z stays with probability `density`, and r = (f(x + eps z) - f(x - eps z)) / (2 eps). Its mean is density grad f.
    eps: size of the perturbation. Cost: two values of the batch.

    >>> import numpy as np, burlab as bl
    >>> rule = bl.optim.sparse_zeroth_order(bl.optim.GD(0.1), density=0.5)
    >>> run = bl.minimize(lambda x: np.sum((x - 1) ** 2), np.zeros(4), rule, steps=300)
    >>> bool(np.abs(run.x - 1).max() < 1e-3)
    True
    """

    eps: Hyper = 1e-3
    density: Hyper = 0.1

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Queries) -> tuple[Vector, State]:  # noqa: ARG002
        """The step along the estimate."""
        chosen = random.uniform(random.fold_in(f.key, 1), x.shape, x.dtype) < self.density
        z = np.where(chosen, random.normal(f.key, x.shape, x.dtype), 0.0)
        return self.advance(slope(f, x, z, self.eps) * z, state, x, t, f)


@dataclass(frozen=True)
class hybrid_zeroth_order(Wrapper):
    """Derivatives of the last entries, the two-point estimate of the others, for any optimizer.

    Zhang et al. 2024 (ZO-Bench), hybrid ZO-FO training, arXiv:2402.11592: the backward sweep ends where the
    last entries have been, which are those of the last layers. exact: which share of the entries has derivatives; 0 is
    `zeroth_order`, 1 the gradient. eps: size of the perturbation.
    Cost: two values of the batch, and the derivatives by the last entries.

    >>> import numpy as np, burlab as bl
    >>> rule = bl.optim.hybrid_zeroth_order(bl.optim.GD(0.05), exact=0.5)
    >>> run = bl.minimize(lambda x: np.sum((x - 1) ** 2), np.zeros(4), rule, steps=300)
    >>> bool(np.abs(run.x - 1).max() < 1e-3)
    True
    """

    eps: Hyper = 1e-3
    exact: float = 0.25

    def __post_init__(self) -> None:
        super().__post_init__()
        number_in(SHARE, self.exact, "exact of hybrid_zeroth_order")

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Queries) -> tuple[Vector, State]:  # noqa: ARG002
        """The step along derivatives and estimates."""
        size = int(x.shape[0])
        first = size - round(self.exact * size)
        z = np.where(np.arange(size) < first, random.normal(f.key, x.shape, x.dtype), 0.0)
        estimate = slope(f, x, z, self.eps) * z if first else np.zeros_like(x)
        if first < size:
            estimate = np.concatenate([estimate[:first], f.partial_grad(x, np.arange(first, size))])
        return self.advance(estimate, state, x, t, f)


@dataclass(frozen=True)
class forward_gradient(Wrapper):
    """Baydin et al. 2022, arXiv:2202.08587: g <- (the derivative of f along z) z with z normal, for any optimizer.

    Unbiased, without a backward sweep; its squared error is (d + 1) |grad f|^2 on average.
    Cost: one forward sweep over the batch.

    >>> import numpy as np, burlab as bl
    >>> rule = bl.optim.forward_gradient(bl.optim.GD(0.05))
    >>> run = bl.minimize(lambda x: np.sum((x - 1) ** 2), np.zeros(4), rule, steps=300)
    >>> bool(np.abs(run.x - 1).max() < 1e-3)
    True
    """

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Queries) -> tuple[Vector, State]:  # noqa: ARG002
        """The step along the estimate."""
        z = random.normal(f.key, x.shape, x.dtype)
        return self.advance(f.jvp(x, z) * z, state, x, t, f)


def keys(f: Queries, q: int) -> list[Any]:
    """The keys of q directions; one direction has the step's own, as MeZO's."""
    return [f.key] if q == 1 else [random.fold_in(f.key, k) for k in range(q)]
