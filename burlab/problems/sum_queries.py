"""The queries to a finite sum: its value, gradients and curvature, over all samples or some of them."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from burlab.errors import ArgumentError
from burlab.graph import tree
from burlab.problems.kernels.direct import Direct
from burlab.problems.kernels.oracle import Oracle
from burlab.problems.kernels.sparse_gradients import is_row, sparse_rows
from burlab.runtime.coerce import Array
from burlab.runtime.plain import as_array
from burlab.typing import ArrayLike, Key

from .checks import known_key
from .point import Point, as_point, coordinates_of, leaves_of, like_point
from .sampling import Stream, as_indices, full, listed
from .trainable import Trainable, with_digits

Tree = Any
Numbers = Mapping[str, float] | None


class SumQueries:
    """A function that kernels of a loss compute.

    oracle: makes the kernels. threads: of a sum; None: one.
    """

    oracle: Oracle
    threads: int | None

    def __len__(self) -> int:
        """The number of samples n."""
        return self.oracle.data.samples

    def value(
        self,
        x: Tree,
        indices: ArrayLike | None = None,
        *,
        key: Key | None = None,
        hyper: Numbers = None,
        t: int = 0,
        state: Tree = None,
    ) -> Any:
        """Return f(x), or the mean over the samples `indices` plus the regularizer.

        Args:
            x: The point: an array, or a tree of arrays of one dtype, and of integers and masks that the loss reads.
            indices: Numbers of samples, integers of shape (b,); None for all of them.
            key: A key of random numbers, shape (2,), uint64, if the loss takes one.
            hyper: Numbers of the loss by name, in place of those that the problem was created with.
            t: The step that the loss and its schedules see, at least 0.
            state: What the loss reads as its state, which is not written; None for the `loss_state` of the problem.

        Returns:
            A number of x's dtype.

        Raises:
            ArgumentError: if a key is missing, or given to a loss without one; for numbers that the loss has not.
            IndexRangeError: if the problem does not have these samples.
        """
        return self._mean("value", (x,), indices, key, self._numbers(hyper, t, state))[0][()]

    def grad(
        self,
        x: Tree,
        indices: ArrayLike | None = None,
        *,
        key: Key | None = None,
        hyper: Numbers = None,
        t: int = 0,
        state: Tree = None,
    ) -> Tree:
        """Return the gradient of f at x, or of the mean over the samples `indices`.

        Args:
            x, indices, key, hyper, t, state: As for `value`.

        Returns:
            A tree of x's structure, shapes and dtype, with None for integers and masks.
        """
        if self.oracle.options.remat is not None:  # remat is an option of kernels that compute the value first
            return self.value_and_grad(x, indices, key=key, hyper=hyper, t=t, state=state)[1]
        return self._mean("grad", (x,), indices, key, self._numbers(hyper, t, state))[0]

    def value_and_grad(
        self,
        x: Tree,
        indices: ArrayLike | None = None,
        *,
        key: Key | None = None,
        hyper: Numbers = None,
        t: int = 0,
        state: Tree = None,
    ) -> tuple[Any, Tree]:
        """Return value and gradient together, at the cost of the gradient.

        Args:
            x, indices, key, hyper, t, state: As for `value`.

        Returns:
            A number of x's dtype, and a tree of x's structure, shapes and dtype.
        """
        value, gradient = self._mean("value_and_grad", (x,), indices, key, self._numbers(hyper, t, state))
        return value[()], gradient

    def per_sample_grads(
        self,
        x: Tree,
        indices: ArrayLike | None = None,
        *,
        key: Key | None = None,
        hyper: Numbers = None,
        t: int = 0,
        state: Tree = None,
    ) -> Tree:
        """Return the gradient of each sample's loss.

        Without the regularizer, which belongs to no sample: the mean is `grad` minus the regularizer's gradient.

        Args:
            x, indices, key, hyper, t, state: As for `value`.

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
        leaves = leaves_of(point, *self._numbers(hyper, t, state))
        if self.oracle.data.wholes and is_row(samples):
            numbers = self.oracle.factors([point])
            rows = np.arange(len(self)) if chosen is None else chosen
            return sparse_rows(samples, numbers, leaves, stream, self._key(key), rows)
        return samples.rows(leaves, stream, self._key(key))[0]

    def per_sample_values(
        self,
        x: Tree,
        indices: ArrayLike | None = None,
        *,
        key: Key | None = None,
        hyper: Numbers = None,
        t: int = 0,
        state: Tree = None,
    ) -> Array:
        """Return each sample's loss at x, without the regularizer.

        Args:
            x, indices, key, hyper, t, state: As for `value`.

        Returns:
            An array of shape (n,) or (b,), of x's dtype.

        >>> import numpy as np, burlab as bl
        >>> bl.FiniteSum(lambda x, a: (x - a) ** 2, np.arange(3.0)).per_sample_values(1.0)
        array([1., 0., 1.])
        """
        point = as_point(x, "x")
        samples = self.oracle.kernels("value_like", [point]).samples
        stream, _list = self._stream(indices)
        leaves = leaves_of(point, *self._numbers(hyper, t, state))
        return tree.flatten(samples.rows(leaves, stream, self._key(key)))[0][0]

    def grad_difference(
        self,
        x: Tree,
        y: Tree,
        indices: ArrayLike | None = None,
        *,
        key: Key | None = None,
        hyper: Numbers = None,
        t: int = 0,
        state: Tree = None,
    ) -> Tree:
        """Return grad(x) - grad(y) over the same samples: the correction of variance-reduced methods.

        Args:
            x, indices, key, hyper, t, state: As for `value`.
            y: A point of x's structure and shapes.

        Returns:
            A tree of x's structure, shapes and dtype.
        """
        return self._mean("grad_difference", (x, y), indices, key, self._numbers(hyper, t, state), "y")[0]

    def partial_grad(
        self,
        x: Tree,
        coordinates: ArrayLike,
        indices: ArrayLike | None = None,
        *,
        key: Key | None = None,
        hyper: Numbers = None,
        t: int = 0,
        state: Tree = None,
    ) -> Array:
        """Return entries of the gradient.

        Args:
            x, indices, key, hyper, t, state: As for `value`.
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
        if indices is None and self.oracle.data.wholes and self.oracle.numbers is None:
            found = self._by_columns(x, chosen, key)
            if found is not None:
                return found
        return self._mean("partial_grad", (x, chosen), indices, key, self._numbers(hyper, t, state))[0]

    def resampled_grad(
        self,
        x: Tree,
        indices: ArrayLike | None = None,
        *,
        key: Key | None,
        hyper: Numbers = None,
        t: int = 0,
        state: Tree = None,
    ) -> Tree:
        """Return the gradient at x of the mean loss for labels that the model draws, without the regularizer.

        Args:
            x, indices, hyper, t, state: As for `value`.
            key: What the labels are drawn with, shape (2,), uint64.

        Returns:
            A tree of x's structure, shapes and dtype.
        """
        point = as_point(x, "x")
        stream, _list = self._stream(indices)
        loss = self.oracle.kernels("resampled_grad", [point])
        threads = self.threads or 1
        return loss.on(threads).mean([point, *self._numbers(hyper, t, state)], stream, known_key(key), threads)[0]

    def hvp(
        self,
        x: Tree,
        v: Tree,
        indices: ArrayLike | None = None,
        *,
        key: Key | None = None,
        hyper: Numbers = None,
        t: int = 0,
        state: Tree = None,
    ) -> Tree:
        """Return the Hessian of f at x times v; no matrix is formed.

        Args:
            x, indices, key, hyper, t, state: As for `value`.
            v: A direction of x's structure and shapes, as the result is.

        Returns:
            A tree of x's structure, shapes and dtype.
        """
        return self._mean("hvp", (x, v), indices, key, self._numbers(hyper, t, state), "v")[0]

    def jvp(
        self,
        x: Tree,
        v: Tree,
        indices: ArrayLike | None = None,
        *,
        key: Key | None = None,
        hyper: Numbers = None,
        t: int = 0,
        state: Tree = None,
    ) -> Any:
        """Return the derivative of f at x along v, by one forward sweep.

        Args:
            x, indices, key, hyper, t, state: As for `value`.
            v: A direction of x's structure and shapes.

        Returns:
            A number of x's dtype.
        """
        return self._mean("jvp", (x, v), indices, key, self._numbers(hyper, t, state), "v")[0][()]

    def _mean(
        self, query: str, shared: tuple[Tree, ...], indices: ArrayLike | None, key: Key | None,
        numbers: tuple[Point, ...], second: str = "",
    ) -> Any:  # fmt: skip
        """Return the answer to a query; a repeated one goes through the C gate.

        shared: x, and a point like x that errors call `second`; coordinates if `second` is "". numbers: of the loss.
        """
        array = None if indices is None else as_array(indices, "indices")
        threads = self.threads or 1
        place = query, None if array is None else array.size, threads
        answer = self.oracle.directs.answer(place, (*shared, *(n.tree for n in numbers)), array, key)
        if answer is not None:
            return answer
        if len(shared) == 1 and (part := with_digits(shared[0], "x")) is not None:
            return self._with_whole_numbers(query, part, array, key, numbers)
        point = as_point(shared[0], "x")
        others = shared[1:]
        points = [point, *(like_point(y, point, second) if second else coordinates_of(y) for y in others)]
        stream, _list = self._stream(indices)
        oracle = self.oracle.of_batch(int(stream.batch))
        answer = oracle.mean(query, points, stream, self._key(key), threads, *numbers)
        loss = oracle.kernels(query, points).on(threads)
        self.oracle.directs.remember(place, loss, lambda: Direct(loss, [*points, *numbers], stream, threads))
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

    def _with_whole_numbers(
        self, query: str, part: Trainable, indices: Array | None, key: Key | None, numbers: tuple[Point, ...]
    ) -> list[Any]:
        """Return the answer at a tree that holds integers or masks, None for the gradients by these."""
        stream, _list = self._stream(indices)
        oracle, threads = self.oracle.of_batch(int(stream.batch)).of_digits(part), self.threads or 1
        answer = oracle.mean(query, [part.point], stream, self._key(key), threads, *numbers)
        return [part.floats_of(y) for y in answer]

    def _numbers(self, hyper: Numbers, t: int, state: Tree) -> tuple[Point, ...]:
        """Return the numbers and the state of the loss as an argument of its kernels, none for a loss without."""
        if hyper is None and t == 0 and state is None:
            return self.oracle.start_numbers
        numbers = self.oracle.numbers
        if state is not None and (numbers is None or numbers.state is None):
            raise ArgumentError(
                "state was given, but the loss has none. Pass what it starts from: bl.FiniteSum(loss, data, "
                "loss_state={'mean': np.zeros(3)}), with loss(x, *sample, state)."
            )
        if numbers is None:
            raise ArgumentError(
                f"{'t' if hyper is None else 'hyper'} was given, but the loss reads none. Give it a keyword: "
                "bl.FiniteSum(loss, data, hyper={'beta': 1.0}) with loss(x, *sample, *, hyper, t)."
            )
        return (numbers.point(hyper, t, state),)

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
