"""Finite sums: f(x) = 1/n sum_i loss(x, data_i) + regularizer(x)."""

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

from burlab.compiler.planning.rematerialize import Remat, check_remat
from burlab.errors import ArgumentError, DTypeError
from burlab.graph import tree
from burlab.problems.kernels.direct import Direct
from burlab.problems.kernels.oracle import Oracle, takes_key
from burlab.problems.kernels.sparse_gradients import is_row, sparse_rows
from burlab.problems.kernels.targets import Targets
from burlab.problems.kernels.tiles import LARGEST, KernelOptions
from burlab.problems.kernels.tiling import Tiling
from burlab.runtime.checks.callable import check_takes
from burlab.runtime.checks.numbers import whole
from burlab.runtime.coerce import Array
from burlab.runtime.plain import as_array
from burlab.runtime.thread_limit import Threads, known_threads
from burlab.typing import ArrayLike, Key

from .data import Data
from .point import as_point, coordinates_of, like_point
from .sampling import Stream, as_indices, full, listed
from .trainable import Trainable, with_digits

Tree = Any


class FiniteSum:
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

    Raises:
        ArgumentError: For a loss, regularizer or model that does not take these arguments, or an option out of range.
        DTypeError: For data of another dtype.
        ShapeError: For arrays of different lengths, or without samples.

    >>> import numpy as np, burlab as bl
    >>> problem = bl.FiniteSum(lambda x, a, b: 0.5 * (a @ x - b) ** 2, (np.ones((2, 2)), np.array([1.0, 2.0])))
    >>> problem.grad(np.zeros(2)), problem.grad(np.zeros(2), [1])
    (array([-1.5, -1.5]), array([-2., -2.]))
    """

    def __init__(  # noqa: PLR0913 - all options of a problem
        self,
        loss: Callable[..., Any],
        data: tuple[ArrayLike, ...] | ArrayLike | Data,
        regularizer: Callable[[Any], Any] | None = None,
        *,
        threads: Threads | None = None,
        tile: int | None = None,
        remat: Remat | None = None,
        has_aux: bool = False,
        resampled: Callable[..., Any] | None = None,
        model: Callable[..., Any] | None = None,
    ) -> None:
        samples = data if isinstance(data, Data) else Data.of(data)
        if regularizer is not None:
            check_takes(regularizer, "regularizer", "x alone", "It is a function of x, or None.")
        size = None if tile is None else whole(tile, "tile", 1, LARGEST)
        self.threads = None if threads is None else known_threads(threads)
        check_loss(loss, samples.parts)
        parts = None
        if model is not None:
            keys = ["key"] if takes_key(model) else []
            check_takes(model, "model", "x and a sample", "It is model(x, *sample).", 1 + samples.parts, keys)
            parts = Targets(model, loss, bool(keys), takes_key(loss))
            loss = parts.whole
        if resampled is not None:
            advice = "It is resampled(x, *sample, key=): the loss for a label that the model draws."
            check_takes(resampled, "resampled", "x, a sample and a key", advice, 1 + samples.parts, ["key"])
        options = KernelOptions(size, check_remat(remat))
        self.oracle = Oracle(loss, samples, regularizer, has_aux, options, resampled=resampled, targets=parts)

    def __len__(self) -> int:
        """The number of samples n."""
        return self.oracle.data.samples

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

    def value(self, x: Tree, indices: ArrayLike | None = None, *, key: Key | None = None) -> Any:
        """Return f(x), or the mean over the samples `indices` plus the regularizer.

        Args:
            x: The point: an array, or a tree of arrays of one dtype, and of integers and masks that the loss reads.
            indices: Numbers of samples, integers of shape (b,); None for all of them.
            key: A key of random numbers, shape (2,), uint64, if the loss takes one.

        Returns:
            A number of x's dtype.

        Raises:
            ArgumentError: if a key is missing, or given to a loss without one.
            IndexRangeError: if the problem does not have these samples.
        """
        return self._mean("value", (x,), indices, key)[0][()]

    def grad(self, x: Tree, indices: ArrayLike | None = None, *, key: Key | None = None) -> Tree:
        """Return the gradient of f at x, or of the mean over the samples `indices`.

        Args:
            x, indices, key: As for `value`.

        Returns:
            A tree of x's structure, shapes and dtype, with None for integers and masks.
        """
        if self.oracle.options.remat is not None:  # remat is an option of kernels that compute the value first
            return self.value_and_grad(x, indices, key=key)[1]
        return self._mean("grad", (x,), indices, key)[0]

    def value_and_grad(self, x: Tree, indices: ArrayLike | None = None, *, key: Key | None = None) -> tuple[Any, Tree]:
        """Return value and gradient together, at the cost of the gradient.

        Args:
            x, indices, key: As for `value`.

        Returns:
            A number of x's dtype, and a tree of x's structure, shapes and dtype.
        """
        value, gradient = self._mean("value_and_grad", (x,), indices, key)
        return value[()], gradient

    def per_sample_grads(self, x: Tree, indices: ArrayLike | None = None, *, key: Key | None = None) -> Tree:
        """Return the gradient of each sample's loss.

        Without the regularizer, which belongs to no sample: the mean is `grad` minus the regularizer's gradient.

        Args:
            x, indices, key: As for `value`.

        Returns:
            A tree of x's structure with a leading sample axis: (b, d) for a vector x. Of sparse data a matrix of
            SciPy's in CSR form, where the loss reads a vector x by products with the sample's row only.

        >>> import numpy as np, burlab as bl
        >>> from scipy.sparse import csr_array
        >>> problem = bl.FiniteSum(lambda x, a: 0.5 * (a @ x) ** 2, csr_array([[0.0, 2.0], [1.0, 0.0]]))
        >>> problem.per_sample_grads(np.array([3.0, 1.0])).toarray()
        array([[0., 4.],
               [3., 0.]])
        """
        point = as_point(x, "x")
        samples = self.oracle.kernels("grad", [point]).samples
        stream, chosen = self._stream(indices)
        if self.oracle.data.wholes and is_row(samples):
            numbers = self.oracle.factors([point])
            rows = np.arange(len(self)) if chosen is None else chosen
            return sparse_rows(samples, numbers, point.leaves, stream, self._key(key), rows)
        return samples.rows(point.leaves, stream, self._key(key))[0]

    def per_sample_values(self, x: Tree, indices: ArrayLike | None = None, *, key: Key | None = None) -> Array:
        """Return each sample's loss at x, without the regularizer.

        Args:
            x, indices, key: As for `value`.

        Returns:
            An array of shape (n,) or (b,), of x's dtype.

        >>> import numpy as np, burlab as bl
        >>> bl.FiniteSum(lambda x, a: (x - a) ** 2, np.arange(3.0)).per_sample_values(1.0)
        array([1., 0., 1.])
        """
        point = as_point(x, "x")
        samples = self.oracle.kernels("value_like", [point]).samples
        stream, _list = self._stream(indices)
        return tree.flatten(samples.rows(point.leaves, stream, self._key(key)))[0][0]

    def grad_difference(self, x: Tree, y: Tree, indices: ArrayLike | None = None, *, key: Key | None = None) -> Tree:
        """Return grad(x) - grad(y) over the same samples: the correction of variance-reduced methods.

        Args:
            x, indices, key: As for `value`.
            y: A point of x's structure and shapes.

        Returns:
            A tree of x's structure, shapes and dtype.
        """
        return self._mean("grad_difference", (x, y), indices, key, "y")[0]

    def partial_grad(
        self, x: Tree, coordinates: ArrayLike, indices: ArrayLike | None = None, *, key: Key | None = None
    ) -> Array:
        """Return entries of the gradient.

        Args:
            x, indices, key: As for `value`.
            coordinates: Positions in the vector of all leaves, integers of shape (k,).

        Returns:
            An array of shape (k,), of x's dtype.

        Only these are computed. One of 1,000 entries takes 0.1 of the time of the gradient of x'Ax, half of that of
        |Ax - b|^2 or of a logistic regression, where the rest is the residual; many entries take what all take. Of
        sparse data, where the loss reads a vector x by one product a @ x, an entry takes the rows that have one in its
        column; `bl.optim.CoordinateDescent` needs the entries of the column alone.
        """
        size = sum(np.size(leaf) for leaf in tree.flatten(x)[0])
        chosen = as_indices(coordinates, size, "coordinates", "entries of x")
        if indices is None and self.oracle.data.wholes and (found := self._by_columns(x, chosen, key)) is not None:
            return found
        return self._mean("partial_grad", (x, chosen), indices, key)[0]

    def resampled_grad(self, x: Tree, indices: ArrayLike | None = None, *, key: Key | None) -> Tree:
        """Return the gradient at x of the mean loss for labels that the model draws, without the regularizer.

        Args:
            x, indices: As for `value`.
            key: What the labels are drawn with, shape (2,), uint64.

        Returns:
            A tree of x's structure, shapes and dtype.
        """
        point = as_point(x, "x")
        stream, _list = self._stream(indices)
        loss = self.oracle.kernels("resampled_grad", [point])
        threads = self.threads or 1
        return loss.on(threads).mean([point], stream, known_key(key), threads)[0]

    def hvp(self, x: Tree, v: Tree, indices: ArrayLike | None = None, *, key: Key | None = None) -> Tree:
        """Return the Hessian of f at x times v; no matrix is formed.

        Args:
            x, indices, key: As for `value`.
            v: A direction of x's structure and shapes, as the result is.

        Returns:
            A tree of x's structure, shapes and dtype.
        """
        return self._mean("hvp", (x, v), indices, key, "v")[0]

    def jvp(self, x: Tree, v: Tree, indices: ArrayLike | None = None, *, key: Key | None = None) -> Any:
        """Return the derivative of f at x along v, by one forward sweep.

        Args:
            x, indices, key: As for `value`.
            v: A direction of x's structure and shapes.

        Returns:
            A number of x's dtype.
        """
        return self._mean("jvp", (x, v), indices, key, "v")[0][()]

    def _mean(
        self, query: str, shared: tuple[Tree, ...], indices: ArrayLike | None, key: Key | None, second: str = ""
    ) -> Any:
        """Return the answer to a query; a repeated one goes through the C gate.

        shared: x, and a point like x that errors call `second`; coordinates if `second` is "".
        """
        array = None if indices is None else as_array(indices, "indices")
        threads = self.threads or 1
        place = query, None if array is None else array.size, threads
        answer = self.oracle.directs.answer(place, shared, array, key)
        if answer is not None:
            return answer
        if len(shared) == 1 and (part := with_digits(shared[0], "x")) is not None:
            return self._with_whole_numbers(query, part, array, key)
        point = as_point(shared[0], "x")
        others = shared[1:]
        points = [point, *(like_point(y, point, second) if second else coordinates_of(y) for y in others)]
        stream, _list = self._stream(indices)
        oracle = self.oracle.of_batch(int(stream.batch))
        answer = oracle.mean(query, points, stream, self._key(key), threads)
        loss = oracle.kernels(query, points).on(threads)
        self.oracle.directs.remember(place, loss, lambda: Direct(loss, points, stream, threads))
        return answer

    def _by_columns(self, x: Tree, coordinates: Array, key: Key | None) -> Array | None:
        """Return entries of the gradient by the columns of sparse data; None for a loss that is not of products."""
        self._key(key)
        if with_digits(x, "x") is not None:
            return None
        point = as_point(x, "x")
        source = self.oracle.products(point)
        products = source and source.found
        return None if products is None else products.compiled(len(coordinates))(point.leaves[0], coordinates)[0]

    def _with_whole_numbers(self, query: str, part: Trainable, indices: Array | None, key: Key | None) -> list[Any]:
        """Return the answer at a tree that holds integers or masks, None for the gradients by these."""
        stream, _list = self._stream(indices)
        oracle = self.oracle.of_batch(int(stream.batch)).of_digits(part)
        answer = oracle.mean(query, [part.point], stream, self._key(key), self.threads or 1)
        return [part.floats_of(y) for y in answer]

    def _stream(self, indices: ArrayLike | None) -> tuple[Stream, Any]:
        """Return the batch, and the array that it refers to."""
        if indices is None:
            return full(len(self)), None
        chosen = as_indices(indices, len(self))
        return listed(len(self), chosen), chosen

    def _key(self, key: Key | None) -> Any:
        if not self.oracle.keyed:
            if key is not None:
                raise ArgumentError(
                    "key= was given, but the loss takes none. Add a keyword argument `key` to the loss."
                )
            return 0, 0
        if key is None:
            raise ArgumentError("the loss takes key=, so this call needs one: key=bl.random.key(0).")
        return known_key(key)


def known_key(key: Key | None) -> Any:
    """Return a key as uint64, shape (2,). Raises DTypeError for anything else."""
    words = as_array(key, "key")
    if words.dtype != np.uint64 or words.shape != (2,):
        raise DTypeError(
            f"key has dtype {words.dtype} and shape {words.shape}, expected uint64 and (2,): bl.random.key(0)."
        )
    return words


def check_loss(loss: Callable[..., Any], arrays: int) -> None:
    """Raise ArgumentError for a loss that does not take x and a sample of so many arrays."""
    given = f"x and a sample of {arrays} array{'s' if arrays > 1 else ''}"
    advice = "It is loss(x, *sample), with an argument for each array of data."
    check_takes(loss, "loss", given, advice, 1 + arrays, ["key"] if takes_key(loss) else [])
