"""Finite sums whose samples lie with clients: the mean over clients of the mean over each one's samples."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import numpy as np

from burlab.errors import ArgumentError, ShapeError
from burlab.runtime.checks.callable import check_takes
from burlab.runtime.dtypes import computed_in
from burlab.runtime.extras import late
from burlab.runtime.plain import is_sparse
from burlab.runtime.thread_limit import Threads
from burlab.typing import ArrayLike, Key, Tree

from .checks import check_loss
from .data import Data
from .finite_sum import FiniteSum
from .kernels.loss_functions import takes_key
from .kernels.loss_numbers import keywords_of

Array = Any
sparse: Any = late("scipy.sparse")


class Federated(FiniteSum):
    """f(x) = 1/m sum_c f_c(x), f_c(x) = mean of the loss over the samples of client c, plus regularizer(x).

    `bl.problems.federated` creates it. A rule reads the gradients of clients by `f.client_grads(y)`. As a FiniteSum its
    samples are those of all clients, one after another, weighted so that every client counts alike. `data`: its arrays,
    the weights last, as `bl.load_run` takes them.
    """

    def __init__(
        self, loss: Callable[..., Any], data: tuple[Array, ...], sizes: tuple[int, ...], options: Any, cluster: Any
    ) -> None:
        if not isinstance(options, Mapping) or not isinstance(data, tuple):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ArgumentError("Federated has no public constructor. Call bl.problems.federated(loss, clients, ...).")
        super().__init__(loss, data, **cast("Any", options))
        self.data, self.sizes = data, sizes
        keepers = None if cluster is None else _on(cluster, data, sizes, self.threads or 1)
        self.oracle = self.oracle.of_clients(sizes, keepers)

    def subset(self, indices: ArrayLike) -> FiniteSum:  # noqa: ARG002 - it has none
        """Raise ArgumentError: samples of a federation belong to clients."""
        raise ArgumentError(
            "the samples of a federation belong to clients, so it has no subset of samples. Pass fewer clients, or "
            "less data of each, to bl.problems.federated."
        )

    @property
    def clients(self) -> int:
        """Number of clients."""
        return len(self.sizes)


def federated(
    loss: Callable[..., Any],
    clients: Sequence[Any],
    regularizer: Callable[[Any], Any] | None = None,
    *,
    threads: Threads | None = None,
    tile: int | None = None,
    cluster: Any = None,
) -> Federated:
    """Return the problem of clients that have data of their own, of different sizes.

    With `cluster` the clients are actors on its workers, which answer the queries about clients; the bits are the same.
    Rules that read gradients over samples are refused. This process keeps the data as well: values that clients do not
    log are computed here, and the clients of a lost worker are sent to another one while the run continues.

    Args:
        loss: (x, *sample) -> number, as for `FiniteSum`; with a keyword `key` if it draws random numbers.
        clients: For each client its data: an array or a tuple of arrays with a leading sample axis, all of the same
            dtypes and, but for that axis, shapes; or sparse matrices of SciPy's with a row for each sample. They are
            copied.
        regularizer: x -> number, part of every client's function.
        threads: Threads of a sum, as for `FiniteSum`.
        tile: Samples of one call of a kernel, as for `FiniteSum`.
        cluster: A client of `dask.distributed`. None: all clients are in this process.

    Returns:
        The `Federated` problem.

    Raises:
        ArgumentError: Without clients, or for a loss that does not take a sample.
        ShapeError: For clients whose samples differ in shape or dtype.

    >>> import numpy as np, burlab as bl
    >>> clients = [np.array([0.0]), np.array([3.0, 4.0, 5.0])]
    >>> problem = bl.problems.federated(lambda x, a: 0.5 * np.sum((x - a) ** 2), clients)
    >>> problem.clients, problem.grad(np.zeros(1))
    (2, array([-2.]))
    """
    given: Any = clients
    if not isinstance(given, (Sequence, np.ndarray)) or isinstance(given, str):
        raise ArgumentError(
            f"clients is a {type(given).__name__}, expected a list of the data of each: an array or a tuple of them."
        )
    parts = [_parts(client, f"clients[{c}]") for c, client in enumerate(clients)]
    if not parts:
        raise ArgumentError("federated needs the data of at least one client, got none.")
    for c, part in enumerate(parts):
        if _form(part) != _form(parts[0]):
            raise ShapeError(
                f"client {c} holds {_forms(part)}, client 0 {_forms(parts[0])}. Give all clients samples of one form."
            )
    if cluster is not None and any(map(is_sparse, parts[0])):
        raise ArgumentError(
            "clients on a cluster hold arrays, got a sparse matrix. Pass its .toarray(), or no cluster."
        )
    taken = keywords_of(loss, 1 + len(parts[0]))
    check_loss(loss, len(parts[0]), taken)
    if taken:
        raise ArgumentError("the loss of a federation cannot read the step t. Leave t out, or take a bl.FiniteSum.")
    if regularizer is not None:
        check_takes(regularizer, "regularizer", "x alone", "It is a function of x, or None.")
    sizes = tuple(part[0].shape[0] for part in parts)
    arrays = [_joined([part[k] for part in parts]) for k in range(len(parts[0]))]
    share = sum(sizes) / (len(sizes) * np.array(sizes, float))  # the mean over samples is then the mean over clients
    first = next((computed_in(a.dtype) for a in arrays if computed_in(a.dtype).kind == "f"), np.dtype(float))

    def weighted(x: Tree, *sample: Any, **random: Any) -> Any:
        value = loss(x, *sample[:-1], **random)
        return sample[-1] * (value if regularizer is None else value + regularizer(x))

    def keyed(x: Tree, *sample: Any, key: Key | None) -> Any:
        return weighted(x, *sample, key=key)

    weights = np.repeat(share, sizes).astype(first)
    return Federated(
        keyed if takes_key(loss) else weighted, (*arrays, weights), sizes, {"threads": threads, "tile": tile}, cluster
    )


def _on(cluster: Any, data: tuple[Array, ...], sizes: tuple[int, ...], threads: int) -> Any:
    from .actors import ClientActors

    return ClientActors(cluster, data, sizes, threads)


def _parts(client: Any, name: str) -> tuple[Any, ...]:
    """Return the arrays and sparse matrices of a client, checked."""
    given = cast("tuple[Any, ...]", client) if isinstance(client, tuple) else (client,)
    arrays = iter(Data.of(given, name).arrays)
    found: list[Any] = []
    for part in given:
        array = next(arrays)
        if is_sparse(part):
            next(arrays)  # starts and ends are two
        found.append(part.tocsr() if is_sparse(part) else array)
    return tuple(found)


def _joined(parts: list[Any]) -> Any:
    if not is_sparse(parts[0]):
        return np.concatenate(parts)
    return sparse.vstack(parts, format="csr")


def _form(part: Sequence[Any]) -> list[Any]:
    return [(is_sparse(a), a.dtype, a.shape[1:]) for a in part]


def _forms(part: Sequence[Any]) -> str:
    return ", ".join(f"{'sparse ' * is_sparse(a)}{a.dtype}{list(a.shape[1:])}" for a in part)
