"""The kernels of a problem at a point and some of its samples, computed sample by sample in a gear."""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from burlab.compiler.executable import build
from burlab.graph import tree
from burlab.problems import FiniteSum
from burlab.problems.kernels.sample_kernel import SampleKernel
from burlab.problems.point import Point, as_point
from burlab.problems.trainable import with_digits
from burlab.transforms import random
from burlab.typing import Tree

Gear = Literal["replay", "compiled"]


class SumGears(NamedTuple):
    """A problem, its point, and numbers of samples, of which a batch is the first few."""

    problem: FiniteSum
    x: Tree
    samples: Sequence[int]

    @property
    def keywords(self) -> dict[str, Any]:
        """The key of queries, if the loss takes one."""
        return {"key": random.key(0)} if self.problem.oracle.keyed else {}

    def sizes(self) -> list[int]:
        """Return the sizes of batches to compare: one sample, an odd number of them, and all."""
        count = len(self.samples)
        return sorted({1, count // 2 | 1, count})

    @property
    def has_rows(self) -> bool:
        """Return True if the problem gives gradients of samples at this point, as dense arrays."""
        oracle = self.problem.oracle
        return oracle.batch is None and not oracle.data.wholes and with_digits(self.x, "x") is None

    def answer(self, batch: int) -> tuple[Any, Tree]:
        """Return value and gradient as the problem answers: by its tiles."""
        value, gradient = self.problem.value_and_grad(self.x, self.samples[:batch], **self.keywords)
        return value, gradient

    def of_samples(self, batch: int) -> Tree:
        """Return the gradients of samples, as the problem answers."""
        return self.problem.per_sample_grads(self.x, self.samples[:batch], **self.keywords)

    def mean(self, batch: int, gear: Gear, *, strict: bool = False) -> tuple[Any, Tree]:
        """Return value and gradient from the same graphs, a call for each sample, added up by NumPy."""
        rows, regularizer = self._rows("value_and_grad", batch, gear, strict)
        means = [np.mean(np.stack(column), axis=0) for column in zip(*rows, strict=True)]
        value, *leaves = means if regularizer is None else [a + b for a, b in zip(means, regularizer, strict=True)]
        return value, self._gradient(leaves)

    def rows(self, batch: int) -> Tree:
        """Return the gradients of samples in replay, stacked."""
        found = self._rows("grad", batch, "replay", False)[0]
        return self._gradient([np.stack(column) for column in zip(*found, strict=True)])

    def _rows(self, query: str, batch: int, gear: Gear, strict: bool) -> tuple[list[Any], Any]:
        """Return the outputs for each sample, of a loss of a batch for the whole one, and those of the regularizer."""
        oracle, point = self.problem.oracle.of_batch(batch), self._point
        if (part := with_digits(self.x, "x")) is not None:
            oracle = oracle.of_digits(part)
        loss = oracle.kernels(query, [point])
        kernel, chosen = loss.samples, np.asarray(self.samples[:batch])
        executable = build(kernel.graph, gear=gear, strict=strict)
        parts = [chosen] if oracle.batch is not None else list(chosen)
        found = [executable(*_inputs(kernel, point, part, k)) for k, part in enumerate(parts)]
        if loss.regularizer is None:
            return found, None
        term = loss.regularizer
        return found, build(term.graph, gear=gear, strict=strict)(*point.leaves, *term.numbers)

    @property
    def _point(self) -> Point:
        part = with_digits(self.x, "x")
        return as_point(self.x, "x") if part is None else part.point

    def _gradient(self, leaves: Sequence[Any]) -> Tree:
        part = with_digits(self.x, "x")
        whole = tree.unflatten(self._point.structure, leaves)
        return whole if part is None else part.floats_of(whole)


def _inputs(kernel: SampleKernel, point: Point, rows: Any, position: int) -> list[Any]:
    """Return the inputs of a kernel for a sample, or for the rows of a batch. position: of the sample in its batch."""
    data = [np.array(array[rows], order="C") for array in kernel.data.arrays]
    keys = [np.asarray(random.fold_in(random.key(0), position))] if kernel.keyed else []
    return [*point.leaves, *kernel.numbers, *kernel.wholes, *data, *keys]
