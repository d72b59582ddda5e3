"""Losses that see all samples of a batch at once."""

from collections.abc import Callable
from functools import partial, wraps
from typing import Any, Never, final

import numpy as np

from burlab import transforms
from burlab.compiler.planning.rematerialize import Remat, check_remat
from burlab.errors import ArgumentError, DTypeError
from burlab.problems.kernels.loss_functions import takes_key
from burlab.problems.kernels.loss_numbers import Hyper, LossNumbers, advice_on
from burlab.problems.kernels.oracle import Oracle
from burlab.problems.kernels.tiles import KernelOptions
from burlab.runtime.checks.callable import check_takes
from burlab.runtime.checks.numbers import whole
from burlab.runtime.thread_limit import Threads, known_threads
from burlab.transforms import tree_functions as tree
from burlab.typing import ArrayLike, Tree

from .data import Data
from .finite_sum import FiniteSum

_OF_SAMPLES = "needs the loss of each sample, which a loss of a whole batch does not have. Use a bl.FiniteSum."


@final
class BatchLoss(FiniteSum):
    """A loss of a batch: f(x) = loss(x, *rows of the data) + regularizer(x), where rows of a batch come together.

    Contrastive losses, rankings and statistics of a batch are not means over samples. A run evaluates the loss on
    `batch` samples in each step; `value`, `grad`, `hvp`, ... on the samples `indices`, or on all of them as one batch.
    `run.value` is the mean over batches of consecutive samples. It has no per-sample gradients, clients or weights.

    With `embed` the samples meet in their embeddings only, and `chunks` says how many are computed at a time: twice,
    the second time for the gradient, so that memory holds one chunk and all embeddings. The gradient is exact.
    GradCache: Gao, Zhang, Han and Callan 2021, arXiv:2101.06983; BASIC: Pham et al. 2021, section 5, arXiv:2111.10050.

    Args:
        loss: (x, *arrays) -> number, in NumPy, each array with the b rows of the batch; with `embed` (x, z, *arrays).
            If it has a parameter `key`, it gets one random key for the batch.
        data: As for `FiniteSum`, but no sparse matrix.
        regularizer: x -> number.
        embed: (x, *sample) -> embedding of one sample: an array or a tree of them. z are those of the batch, stacked.
        chunks: Samples of a chunk, at least 1; None: all are embedded at once.
        threads, remat, has_aux, hyper, loss_state: As for `FiniteSum`, but a state of any dtype may depend on the
            batch; `embed` takes neither `hyper` nor `t` nor `state`.

    Raises:
        ArgumentError: For a loss, regularizer or embed that does not take these arguments, or an option out of range.
        DTypeError, ShapeError: For data, as `FiniteSum`, and for sparse data.

    >>> import numpy as np, burlab as bl
    >>> def spread(x, a): return np.var(a @ x)
    >>> problem = bl.BatchLoss(spread, np.array([[0.0, 1.0], [2.0, 1.0], [4.0, 5.0]]))
    >>> float(problem.value(np.ones(2), [0, 1])), problem.grad(np.ones(2), [0, 1])
    (1.0, array([2., 0.]))
    """

    def __init__(  # noqa: PLR0913 - all options of a problem
        self,
        loss: Callable[..., Any],
        data: tuple[ArrayLike, ...] | ArrayLike | Data,
        regularizer: Callable[..., Any] | None = None,
        *,
        embed: Callable[..., Any] | None = None,
        chunks: int | None = None,
        threads: Threads | None = None,
        remat: Remat | None = None,
        has_aux: bool = False,
        hyper: Hyper | None = None,
        loss_state: Tree | None = None,
    ) -> None:
        samples = data if isinstance(data, Data) else Data.of(data)
        if samples.wholes:
            raise DTypeError("a BatchLoss takes dense data, got a sparse matrix. Pass matrix.toarray().")
        parts = samples.parts + (embed is not None)
        numbers = LossNumbers.of(hyper, parts, loss, regularizer, None, loss_state)
        if regularizer is not None:
            more = numbers.regularizer if numbers else ()
            check_takes(regularizer, "regularizer", "x alone", "It is a function of x, or None.", 1, more)
        self.threads = None if threads is None else known_threads(threads)
        self.embed = embed
        keys = [*(["key"] if takes_key(loss) else []), *(numbers.loss if numbers else ())]
        if embed is None:
            if chunks is not None:
                raise ArgumentError(
                    "chunks= cuts a batch where its samples meet, in their embeddings. Pass embed=, a function of "
                    "(x, *sample), and a loss of (x, z, *arrays)."
                )
            advice = f"It is loss(x, *arrays), with an argument for each array of data.{advice_on(loss)}"
            check_takes(loss, "loss", "x and the rows of a batch", advice, 1 + samples.parts, keys)
        else:
            check_takes(embed, "embed", "x and a sample", "It is embed(x, *sample).", 1 + samples.parts)
            advice = f"It is loss(x, z, *arrays): z are the embeddings of the batch.{advice_on(loss)}"
            check_takes(loss, "loss", "x, embeddings and the rows of a batch", advice, 2 + samples.parts, keys)
            size = None if chunks is None else whole(chunks, "chunks", 1)
            loss = _of_embeddings(loss, embed, size)
        options = KernelOptions(None, check_remat(remat))
        self.oracle = Oracle(loss, samples, regularizer, has_aux, options, batch=0, numbers=numbers)

    def __repr__(self) -> str:
        data = ", ".join(self.oracle.data.texts)
        name = getattr(self.oracle.loss, "__name__", "loss")
        return f"<BatchLoss of {name} over {len(self)} samples: {data}>"

    def faulty_sample(self, x: Tree) -> int | None:
        """Return the first sample whose embedding at x has inf or nan; None if there is none, or no `embed`."""
        if self.embed is None:
            return None
        of_all = transforms.vmap(partial(self.embed, x))(*self.oracle.data.arrays)
        finite = [np.isfinite(z).reshape(len(self), -1).all(axis=1) for z in tree.leaves(of_all)]
        faulty = np.flatnonzero(~np.all(finite, axis=0))
        return int(faulty[0]) if faulty.size else None

    def per_sample_grads(self, *_: Any, **__: Any) -> Never:
        """Raise ArgumentError: samples have no losses of their own."""
        raise ArgumentError(f"per_sample_grads {_OF_SAMPLES}")

    def per_sample_values(self, *_: Any, **__: Any) -> Never:
        """Raise ArgumentError: samples have no losses of their own."""
        raise ArgumentError(f"per_sample_values {_OF_SAMPLES}")

    def resampled_grad(self, *_: Any, **__: Any) -> Never:
        """Raise ArgumentError: samples have no losses of their own."""
        raise ArgumentError(f"resampled_grad {_OF_SAMPLES}")


def _of_embeddings(loss: Callable[..., Any], embed: Callable[..., Any], chunks: int | None) -> Callable[..., Any]:
    """Return the loss of (x, *arrays) of a loss of (x, z, *arrays)."""

    @wraps(loss)
    def of_batch(x: Tree, *arrays: Any, **more: Any) -> Any:
        return loss(x, _embeddings(partial(embed, x), arrays, chunks), *arrays, **more)

    return of_batch


def _embeddings(embed: Callable[..., Any], arrays: tuple[Any, ...], chunks: int | None) -> Tree:
    """Return the stacked embeddings of a batch: `chunks` samples at a time, again for the gradient; None: all, once."""

    def all_of(rows: tuple[Any, ...]) -> Tree:
        return transforms.vmap(embed)(*rows)

    batch = arrays[0].shape[0]
    if chunks is None or chunks >= batch:
        return all_of(arrays)
    count, rest = divmod(batch, chunks)
    first = count * chunks
    pieces = tuple(np.reshape(a[:first], (count, chunks, *a.shape[1:])) for a in arrays)

    def of_chunk(_: None, rows: tuple[Any, ...]) -> tuple[None, Tree]:
        return None, all_of(rows)

    _, stacked = transforms.scan(of_chunk, None, pieces, remat=True)
    embedded = tree.map(partial(_joined, first), stacked)
    if not rest:
        return embedded
    last = transforms.checkpoint(all_of)(tuple(a[first:] for a in arrays))
    return tree.map(_behind, embedded, last)


def _joined(rows: int, z: Any) -> Any:
    """Chunks of rows as rows."""
    return np.reshape(z, (rows, *z.shape[2:]))


def _behind(y: Any, z: Any) -> Any:
    """The rows of z behind those of y."""
    return np.concatenate([y, z])
