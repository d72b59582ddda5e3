"""AdAdaGrad: Adagrad whose batches grow as the variance of their gradients asks for."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from burlab.errors import ArgumentError
from burlab.runtime.checks.numbers import shown
from burlab.transforms import while_loop

from .arithmetic import root_of_squares
from .optimizer import Hyper, Optimizer, State, Vector
from .queries import Queries

_TESTS = ("norm", "inner_product")


@dataclass(frozen=True)
class AdAdaGrad(Optimizer):
    """Lau, Liu and Kolar 2024, Algorithm 1 and its form AdAdaGrad-Norm, arXiv:2402.11215.

    s <- s + g^2;  x <- x - lr g / (sqrt(s) + eps);  b <- max(b, ceil(test)), the size of the next batch, with
    test = sum_j Var_i(g_ij) / (eta^2 |g|^2), the norm test, or Var_i(<g_i, g>) / (eta^2 |g|^4), that of inner products.
    lr: step size. eta: the error of a batch's gradient that may be, relative to it. eps: keeps the quotient finite.
    test: "norm" or "inner_product". scalar: one s for all of x, the sum of |g|^2. Needs `batch=bl.Batch(b, most)`, with
    b of at least 2: one sample has no variance. Cost: the batch's gradients one by one (Welford 1962) beside their
    mean; keeps d + 1 numbers, or 2, and no table of gradients.

    >>> import numpy as np, burlab as bl
    >>> problem = bl.FiniteSum(lambda x, a: np.sum((x - a) ** 2), np.arange(64.0))
    >>> run = bl.minimize(problem, np.zeros(1), bl.optim.AdAdaGrad(8.0, eta=0.5), batch=bl.Batch(2), steps=60)
    >>> bool(run.history["batch"][0] == 2), bool(run.history["batch"][-1] > 16)
    (True, True)
    """

    lr: Hyper = 1e-2
    eta: Hyper = 0.1
    eps: Hyper = 1e-10
    test: str = "norm"
    scalar: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.test, str) or self.test not in _TESTS:  # pyright: ignore[reportUnnecessaryIsInstance] - users pass anything
            raise ArgumentError(
                f"test of AdAdaGrad is {shown(self.test)}, expected one of {', '.join(map(repr, _TESTS))}."
            )

    def init(self, x: Vector, *, f: Any = None) -> State:
        """Nothing summed up; the batch as it begins."""
        if f.batch < 2:
            raise ArgumentError(
                f"batch begins with {f.batch} sample, which has no variance, and AdAdaGrad grows batches by that of "
                "their gradients. Pass batch=bl.Batch(2) or more."
            )
        return {"s": np.zeros((), x.dtype) if self.scalar else np.zeros_like(x), "batch": np.asarray(f.batch, float)}

    def batch_size(self, state: State) -> Any:
        """Return the number of samples that the last step's test requires, never fewer than before."""
        return state["batch"]

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Queries) -> tuple[Vector, State]:  # noqa: ARG002
        """One step, and the test."""
        square = g @ g
        s = state["s"] + (square if self.scalar else g**2)
        spread = self._variance(g, x, f) / (self.eta**2 * (square if self.test == "norm" else square**2))
        wanted = np.where(np.isnan(spread), 0.0, np.ceil(spread))  # 0 / 0: a batch without error is large enough
        batch = np.maximum(f.batch * 1.0, wanted.astype(np.float64))
        return x - self.lr * g / (root_of_squares(s, g) + self.eps), {"s": s, "batch": batch}

    def _variance(self, g: Vector, x: Vector, f: Queries) -> Any:
        """The sum of the variances of all entries of the gradients of the batch, or the variance of their products."""
        zero = np.zeros((), x.dtype) if self.test == "inner_product" else np.zeros_like(x)

        def add(c: dict[str, Any]) -> Any:
            row = f.per_sample_grads(x, indices=np.reshape(f.indices[c["i"]], (1,)))[0]
            number = row @ g if self.test == "inner_product" else row
            off = number - c["mean"]
            mean = c["mean"] + off / (c["i"] + 1).astype(x.dtype)
            return {"i": c["i"] + 1, "mean": mean, "squares": c["squares"] + np.sum(off * (number - mean))}

        start = {"i": np.asarray(0), "mean": zero, "squares": np.zeros((), x.dtype)}
        found = while_loop(lambda c: c["i"] < f.batch, add, start)
        return found["squares"] / np.maximum(f.batch - 1, 1).astype(x.dtype)
