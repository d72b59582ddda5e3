"""SAGA."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from burlab.graph.buffers.buffer_functions import at_set
from burlab.optim.arithmetic import where
from burlab.optim.optimizer import Hyper, Optimizer, State, Vector
from burlab.optim.queries import Queries


@dataclass(frozen=True)
class SAGA(Optimizer):
    """Defazio, Bach and Lacoste-Julien 2014, equation 1, arXiv:1407.0202, with batches.

    x <- x - lr (grad_i(x) - table_i + mean(table)); table_i <- grad_i(x). The table starts with the
    gradients at x_0. A regularizer is no part of the table: its gradient is exact.
    lr: step size; 1 / (3 L_max) is safe.
    Cost: the batch's gradients, one by one; keeps n d numbers, of which a step touches the batch's. Over sparse rows
    one by one it keeps n + d, and a step touches the entries of its row.

    >>> import numpy as np, burlab as bl
    >>> problem = bl.FiniteSum(lambda x, a: np.sum((x - a) ** 2), np.arange(4.0))
    >>> run = bl.minimize(problem, np.zeros(1), bl.optim.SAGA(0.1), batch=1, steps=150)
    >>> run.x.round(6), bool(np.allclose(run.state["mean"], run.state["table"].mean(axis=0)))
    (array([1.5]), True)
    """

    lr: Hyper = 1e-2

    def init(self, x: Vector, *, f: Any = None) -> State:
        """The gradients at the start, without the regularizer."""
        table = f.per_sample_grads(x)
        return {"table": table, "mean": np.mean(table, axis=0)}

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Queries) -> tuple[Vector, State]:  # noqa: ARG002
        """One step, and the rows of the batch's samples."""
        chosen, weights = f.indices, f.weights
        grads = f.per_sample_grads(x) / weights[:, None]  # the table is about the samples, however likely they are
        own: Any = np.less(np.arange(int(chosen.shape[0])), f.batch).astype(x.dtype)
        if not isinstance(f.batch, int):  # rows behind a live batch become copies of its first
            chosen, grads = where(own > 0, chosen, chosen[0]), where(own[:, None] > 0, grads, grads[0])
        held = state["table"][chosen]
        once: Any = grads - held
        if chosen.shape[0] > 1:  # with replacement a sample may come twice
            once = once / np.sum(chosen[:, None] == chosen, axis=1, keepdims=True).astype(x.dtype)
        mean = state["mean"] + np.sum(once, axis=0) / f.samples
        share: Any = own * weights / np.sum(own)
        estimate = f.estimated(g - share @ held + state["mean"])
        return x - self.lr * estimate, {"table": at_set(state["table"], chosen, grads), "mean": mean}
