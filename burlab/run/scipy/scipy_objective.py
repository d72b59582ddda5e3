"""A problem for a minimizer written in Python: functions of one flat float64 vector."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from burlab.graph import tree
from burlab.problems.kernels.evaluation_flops import evaluation_flops
from burlab.problems.kernels.oracle import Oracle
from burlab.problems.kernels.sum_abi import sum_exports
from burlab.problems.point import Point
from burlab.problems.sampling import Stream
from burlab.run.record.flop_model import FlopRates
from burlab.run.record.recorder import SAMPLES
from burlab.runtime.coerce import Array
from burlab.typing import Tree


class ScipyObjective:
    """Value, gradient and curvature of a problem over all its samples, from compiled kernels.

    point: whose structure and dtypes x has. stream: all samples, and the key of their losses. queries: those that
    will come. `between` is called about every 50 ms of a long evaluation, and may wait or raise. An objective holds
    kernels only: a minimizer's thread must not hold the problem, which may hold the run.
    """

    def __init__(self, oracle: Oracle, point: Point, stream: Stream, threads: int, queries: Sequence[str]) -> None:
        self._point = point
        self._stream = stream
        self._threads = threads
        self.dtype = point.leaves[0].dtype
        self.dimension = sum(leaf.size for leaf in point.leaves)
        self.samples = int(stream.batch)
        # Here, not in the minimizer's thread: a tracing error is raised at once, and no pause waits for this.
        self._losses = {q: oracle.kernels(q, [point, point] if q == "hvp" else [point]).on(threads) for q in queries}
        for q, loss in self._losses.items():
            loss.measure(self.samples, point.leaves * (1 + (q == "hvp")))
            loss.executables(self.samples)
        sum_exports()

    def value(self, x: Array, between: Callable[[], None]) -> float:
        """The value at x, shape (d,)."""
        return float(self._evaluate("value", [x], between)[0])

    def value_and_grad(self, x: Array, between: Callable[[], None]) -> tuple[float, Array]:
        """The value and the gradient at x, both of shape (d,)."""
        value, gradient = self._evaluate("value_and_grad", [x], between)
        return float(value), self._flat(gradient)

    def hvp(self, x: Array, v: Array, between: Callable[[], None]) -> Array:
        """The Hessian at x times v, all of shape (d,)."""
        return self._flat(self._evaluate("hvp", [x, v], between)[0])

    def flop_rates(self) -> FlopRates:
        """Return the rate of a sample: that of the costliest query, as one counter counts all of them."""
        flops = max(evaluation_flops(loss, self.samples) for query, loss in self._losses.items() if self._counts(query))
        return FlopRates(0.0, {SAMPLES: flops / self.samples})

    def _counts(self, query: str) -> bool:
        """Return True unless a query is for the record alone, as gradients are where SciPy reads none."""
        return query != "value_and_grad" or "value" not in self._losses

    def _evaluate(self, query: str, vectors: list[Array], between: Callable[[], None]) -> Any:
        shared = [self._point.with_numbers(np.array(v).reshape(-1)) for v in vectors]
        return self._losses[query].mean(shared, self._stream, self._stream.key, self._threads, between)

    def _flat(self, answer: Tree) -> Array:
        return np.concatenate([np.reshape(leaf, -1) for leaf in tree.flatten(answer)[0]]).astype(np.float64)
