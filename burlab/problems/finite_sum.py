"""Finite sums: f(x) = 1/n sum_i loss(x, data_i) + regularizer(x)."""

import copy
from collections.abc import Callable
from typing import Any

from burlab.compiler.planning.rematerialize import Remat, check_remat
from burlab.errors import ArgumentError
from burlab.problems.kernels.loss_functions import takes_key
from burlab.problems.kernels.loss_numbers import Hyper, LossNumbers
from burlab.problems.kernels.oracle import Oracle
from burlab.problems.kernels.targets import Targets
from burlab.problems.kernels.tiles import LARGEST, KernelOptions
from burlab.problems.kernels.tiling import Tiling
from burlab.runtime.checks.callable import check_takes
from burlab.runtime.checks.numbers import whole
from burlab.runtime.thread_limit import Threads, known_threads
from burlab.typing import ArrayLike, Tree

from .checks import check_loss
from .data import Data
from .sampling import as_indices
from .sum_queries import SumQueries


class FiniteSum(SumQueries):
    """The mean of a one-sample loss over data: f(x) = 1/n sum_i loss(x, data_i) + regularizer(x).

    x is a float array or any tree of them; results have its structure and dtypes. In every method `indices`, integers
    of shape (b,), repeats allowed, is a batch of samples in place of all n, and `key`, uint64 of shape (2,), is the
    random key of a loss that takes one. `threads`, `tile` and `remat` change no bit of any result.

    Args:
        loss: (x, *sample) -> number, in NumPy. If it has a parameter `key`, it gets a random key for each sample.
        data: An array or a tuple of arrays of shape (n, ...): float32, float64, integers, bool, or float16 and
            bfloat16, which the loss gets as float32. C-contiguous arrays, also those of files (`np.memmap`, and
            `bl.data.shards` for a folder), are not copied: later changes of their numbers change later results. Pass
            data.copy() to avoid that. Or one of SciPy's sparse matrices, of shape (n, d): the loss sees one sparse row
            of shape (d,), for products (a @ x, X @ a, np.dot), sums, norms, scaling and functions with f(0) = 0. Memory
            and time follow the stored entries.
        regularizer: x -> number, added once.
        threads: Threads of a sum, at most 64; "auto" is as many as `bl.set_threads` allows. None: one, and in
            `bl.minimize` as many, where a step is long enough.
        tile: Samples of one call of the kernel, 1 to 64. None: as many as stay in cache, or the fastest of some sizes
            where measuring soon pays. `tiles` and `run.profile()` show it.
        remat: Values that value and gradient compute again instead of storing them, as for `bl.compile`: "sqrt", or
            the bytes that a tile may take.
        has_aux: True if the loss returns (number, {name: number, ...}); runs record the batch means of these metrics.
        resampled: (x, *sample, key=) -> number, the loss for a label that the model draws with the key, for rules
            that read `f.resampled_grad`, as the Gauss-Newton curvature of `bl.optim.SophiaG`.
        model: (x, *sample) -> array of targets z, if the loss is one of (z, *sample), for rules such as `bl.optim.SSO`
            that read `f.targets` and `f.surrogate`.
        hyper: Numbers that loss and regularizer read as `hyper.beta`, or `hyper["beta"]`, if they have a parameter
            `hyper`: by name a number, or a schedule of the step; (number, low, high) says which range it may be in, and
            its slider has. They are live fields of a run. A parameter `t` by
            keyword alone, `loss(x, *sample, *, t)`, is the step, an integer. Neither has a gradient.
        loss_state: What a loss that has a parameter `state` reads in the first step: an array, or a tree of arrays of
            floats, integers and bools. Then it returns (number, new state), or (number, new state, metrics), and the
            next step reads the new state, which has the same structure, shapes and dtypes. Over a batch floats are
            averaged, and integers and bools may not depend on the sample. All else reads it: regularizer, validation,
            queries. It has no gradient. `run.loss_state` is that of a run.

    Raises:
        ArgumentError: For a loss, regularizer or model that does not take these arguments, or an option out of range.
        DTypeError: For data of another dtype.
        ShapeError: For arrays of different lengths, or without samples.

    >>> import numpy as np, burlab as bl
    >>> problem = bl.FiniteSum(lambda x, a, b: 0.5 * (a @ x - b) ** 2, (np.ones((2, 2)), np.array([1.0, 2.0])))
    >>> problem.grad(np.zeros(2)), problem.grad(np.zeros(2), [1])
    (array([-1.5, -1.5]), array([-2., -2.]))
    >>> annealed = bl.FiniteSum(lambda x, a, hyper: hyper.beta * (x - a) ** 2, np.arange(3.0), hyper={"beta": 2.0})
    >>> annealed.grad(0.0), annealed.grad(0.0, hyper={"beta": 0.5})
    (array(-4.), array(-1.))
    >>> run = bl.minimize(annealed, 0.0, bl.optim.GD(0.25), steps=1); run.hyper.beta = 0.5; run.step()
    >>> run.x, run.history["beta"]
    (array(1.), array([2. , 0.5]))
    >>> def centred(x, a, state): return (x - a + state) ** 2, 0.5 * state + 0.5 * a
    >>> run = bl.minimize(bl.FiniteSum(centred, np.ones(4), loss_state=0.0), 0.0, bl.optim.GD(0.1), steps=3)
    >>> run.loss_state, run.problem.value(0.0, state=1.0)
    (array(0.875), np.float64(0.0))
    """

    def __init__(  # noqa: PLR0913 - all options of a problem
        self,
        loss: Callable[..., Any],
        data: tuple[ArrayLike, ...] | ArrayLike | Data,
        regularizer: Callable[..., Any] | None = None,
        *,
        threads: Threads | None = None,
        tile: int | None = None,
        remat: Remat | None = None,
        has_aux: bool = False,
        resampled: Callable[..., Any] | None = None,
        model: Callable[..., Any] | None = None,
        hyper: Hyper | None = None,
        loss_state: Tree | None = None,
    ) -> None:
        samples = data if isinstance(data, Data) else Data.of(data)
        numbers = LossNumbers.of(hyper, samples.parts, loss, regularizer, resampled, loss_state)
        if regularizer is not None:
            advice = "It is a function of x, or None."
            check_takes(regularizer, "regularizer", "x alone", advice, 1, numbers.regularizer if numbers else ())
        size = None if tile is None else whole(tile, "tile", 1, LARGEST)
        self.threads = None if threads is None else known_threads(threads)
        check_loss(loss, samples.parts, numbers.loss if numbers else ())
        parts = None
        if model is not None:
            if numbers is not None:
                raise ArgumentError(
                    "hyper, t and loss_state are for a loss of x alone, not for one with model=. Leave one out."
                )
            keys = ["key"] if takes_key(model) else []
            check_takes(model, "model", "x and a sample", "It is model(x, *sample).", 1 + samples.parts, keys)
            parts = Targets(model, loss, bool(keys), takes_key(loss))
            loss = parts.whole
        if resampled is not None:
            advice = "It is resampled(x, *sample, key=): the loss for a label that the model draws."
            keys = ["key", *(numbers.resampled if numbers else ())]
            check_takes(resampled, "resampled", "x, a sample and a key", advice, 1 + samples.parts, keys)
        options = KernelOptions(size, check_remat(remat))
        self.oracle = Oracle(
            loss, samples, regularizer, has_aux, options, resampled=resampled, targets=parts, numbers=numbers
        )

    def __repr__(self) -> str:
        data = ", ".join(self.oracle.data.texts)
        tiles = "".join(f"; {query} of {batch} in {tiling}" for (query, batch), tiling in self.tiles.items())
        return f"<FiniteSum of {getattr(self.oracle.loss, '__name__', 'loss')} over {len(self)} samples: {data}{tiles}>"

    def subset(self, indices: ArrayLike) -> "FiniteSum":
        """Return the mean over some of the samples: the same loss, regularizer and options.

        It has the bits of a `FiniteSum` over the rows `indices` of the data, and shares the kernels of this one.
        Rows at equal distances, as `np.arange(100)` or every second one, are read in place; others are copied.

        Args:
            indices: Numbers of samples, integers of shape (b,), repeats allowed.

        Returns:
            A problem over b samples.

        Raises:
            ArgumentError, DTypeError, ShapeError, IndexRangeError: For indices of another form, or of no sample.

        >>> import numpy as np, burlab as bl
        >>> problem = bl.FiniteSum(lambda x, a: 0.5 * (x - a) ** 2, np.arange(6.0))
        >>> folds = [problem.subset(np.arange(k, 6, 2)) for k in range(2)]
        >>> [fold.grad(0.0) for fold in folds]
        [array(-2.), array(-3.)]
        """
        chosen = as_indices(indices, len(self))
        other = copy.copy(self)
        other.oracle = self.oracle.over(self.oracle.data.rows(chosen))
        return other

    @property
    def tiles(self) -> dict[tuple[str, int], Tiling]:
        """The tiles chosen so far, by query ("training": that of a run) and number of samples of a batch.

        >>> import numpy as np, burlab as bl
        >>> problem = bl.FiniteSum(lambda x, a: (x - a) ** 2, np.arange(100.0), tile=16)
        >>> problem.grad(1.0)
        array(-97.)
        >>> print(problem.tiles["grad", 100])
        7 tiles of 16 (given)
        """
        return self.oracle.tiles
