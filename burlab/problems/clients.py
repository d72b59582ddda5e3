"""Finite sums whose samples lie with clients: the mean over clients of the mean over each one's samples."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from burlab.errors import ArgumentError, ShapeError

from .data import Data
from .finite_sum import FiniteSum

Array = Any


class Federated(FiniteSum):
    """f(x) = 1/m sum_c f_c(x), f_c(x) = mean of the loss over the samples of client c, plus regularizer(x).

    It is made by `bl.problems.federated`. A rule asks for the gradients of clients, `f.client_grads(y)`. As a FiniteSum
    its samples are those of all clients, one after another, weighted so that every client counts alike whatever it
    holds; `data` are its arrays, the weights last, which is what `bl.load_run` takes.
    """

    def __init__(self, loss: Callable[..., Any], data: tuple[Array, ...], sizes: tuple[int, ...], options: Any) -> None:
        super().__init__(loss, data, **options)
        self.data, self.sizes = data, sizes
        self.oracle = self.oracle.of_clients(sizes)

    @property
    def clients(self) -> int:
        """How many clients there are."""
        return len(self.sizes)


def federated(
    loss: Callable[..., Any],
    clients: Sequence[Any],
    regularizer: Callable[[Any], Any] | None = None,
    *,
    threads: int = 1,
    tile: int | None = None,
) -> Federated:
    """The problem of clients with data of their own, of different sizes.

    loss: (x, *sample) -> number, as for FiniteSum. clients: for each client its data, an array or a tuple of arrays
    with a leading sample axis, of the same dtypes and, but for that axis, shapes. They are copied into one.
    regularizer: x -> number, part of every client's function. threads, tile: as for FiniteSum.

    >>> import numpy as np, burlab as bl
    >>> clients = [np.array([0.0]), np.array([3.0, 4.0, 5.0])]
    >>> problem = bl.problems.federated(lambda x, a: 0.5 * np.sum((x - a) ** 2), clients)
    >>> problem.clients, problem.grad(np.zeros(1))
    (2, array([-2.]))
    """
    parts = [Data.of(client).arrays for client in clients]
    if not parts:
        raise ArgumentError("federated needs the data of at least one client, got none.")
    for c, part in enumerate(parts):
        if [(a.dtype, a.shape[1:]) for a in part] != [(a.dtype, a.shape[1:]) for a in parts[0]]:
            raise ShapeError(
                f"client {c} holds {_forms(part)}, client 0 {_forms(parts[0])}. Give all clients samples of one form."
            )
    sizes = tuple(len(part[0]) for part in parts)
    arrays = [np.concatenate([part[k] for part in parts]) for k in range(len(parts[0]))]
    share = sum(sizes) / (len(sizes) * np.array(sizes, float))  # the mean over samples is then the mean over clients
    first = next((a.dtype for a in arrays if a.dtype.kind == "f"), np.dtype(float))

    def weighted(x: Any, *sample: Any) -> Any:
        value = loss(x, *sample[:-1])
        return sample[-1] * (value if regularizer is None else value + regularizer(x))

    weights = np.repeat(share, sizes).astype(first)
    return Federated(weighted, (*arrays, weights), sizes, {"threads": threads, "tile": tile})


def _forms(part: Sequence[Any]) -> str:
    return ", ".join(f"{a.dtype}{list(a.shape[1:])}" for a in part)
