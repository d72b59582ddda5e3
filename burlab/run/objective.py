"""A problem as a minimizer written in Python sees it: functions of one flat float64 vector."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from burlab.graph import tree
from burlab.problems.oracle import Oracle
from burlab.problems.point import Array, Point
from burlab.problems.sampling import Stream


class Objective:
    """Value, gradient and curvature of a problem over all its samples, from compiled kernels.

    point: whose structure and dtypes x has. stream: all samples, and the key of their losses. questions: what will be
    asked. `between` is called about every 50 ms of a long evaluation, and may wait or raise.
    """

    def __init__(self, oracle: Oracle, point: Point, stream: Stream, threads: int, questions: Sequence[str]) -> None:
        self._oracle = oracle
        self._point = point
        self._stream = stream
        self._threads = threads
        self.dtype = point.leaves[0].dtype
        self.dimension = sum(leaf.size for leaf in point.leaves)
        self.samples = int(stream.batch)
        for question in questions:  # here, and not in the minimizer's thread: what cannot be traced is said at once
            oracle.kernels(question, [point, point] if question == "hvp" else [point])

    def value(self, x: Array, between: Callable[[], None]) -> float:
        """The value at x, shape (d,)."""
        return float(self._ask("value", [x], between)[0])

    def value_and_grad(self, x: Array, between: Callable[[], None]) -> tuple[float, Array]:
        """The value and the gradient at x, both of shape (d,)."""
        value, gradient = self._ask("value_and_grad", [x], between)
        return float(value), self._flat(gradient)

    def hvp(self, x: Array, v: Array, between: Callable[[], None]) -> Array:
        """The Hessian at x times v, all of shape (d,)."""
        return self._flat(self._ask("hvp", [x, v], between)[0])

    def _ask(self, question: str, vectors: list[Array], between: Callable[[], None]) -> Any:
        shared = [self._leaves(np.asarray(v).reshape(-1)) for v in vectors]
        return self._oracle.mean(question, shared, self._stream, self._stream.key, self._threads, between)

    def _leaves(self, flat: Array) -> Point:
        leaves: list[Array] = []
        for leaf in self._point.leaves:
            leaves.append(flat[: leaf.size].reshape(leaf.shape).astype(leaf.dtype))
            flat = flat[leaf.size :]
        return Point(leaves, self._point.structure)

    def _flat(self, answer: Any) -> Array:
        return np.concatenate([np.reshape(leaf, -1) for leaf in tree.flatten(answer)[0]]).astype(np.float64)
