"""Sums of squared residuals."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from burlab.errors import ArgumentError, DTypeError
from burlab.optim.batches import PairedRows
from burlab.problems.kernels.robust_loss import RHO, RobustLoss
from burlab.problems.kernels.targets import rows_of
from burlab.runtime.checks.callable import check_takes
from burlab.runtime.checks.numbers import one_of, truth
from burlab.runtime.coerce import Array
from burlab.runtime.extras import late
from burlab.runtime.ranges import POSITIVE, number_in
from burlab.runtime.thread_limit import Threads
from burlab.transforms.sparse import sparse_jacobian
from burlab.typing import ArrayLike, Tree

from .covariance import covariance_of
from .data import Data
from .finite_sum import FiniteSum
from .point import as_point
from .sampling import full

scipy_sparse: Any = late("scipy.sparse")


class Residuals(FiniteSum):
    """A sum of squared residuals: f(x) = 1/n sum_i |r(x, data_i)|^2 / 2, or a robust loss in place of the square.

    A `FiniteSum` whose residuals rules read by `f.residuals_and_jacobian(y)`, as `bl.optim.LevenbergMarquardt` does.

    Args:
        r: (x, *sample) -> residuals of one sample: a number or an array, in NumPy. Without data: x -> all residuals.
        data: As for `FiniteSum`; None: r is a function of x alone, and f(x) = |r(x)|^2 / 2.
        loss: What each residual counts, with SciPy's names: "linear" for r^2 / 2; "soft_l1", "huber", "cauchy",
            "arctan" or "tukey" for scale^2 rho((r / scale)^2) / 2, by which outliers count less.
        scale: Size of a residual from which on it counts as an outlier.
        threads, tile: As for `FiniteSum`.
        pairs: True if x is a pair of tables (A, B) of shapes (p, ...) and (q, ...), and each sample is about a row of
            each: data begin with the numbers of both rows, and r is a function (row of A, row of B, *rest of sample).

    Raises:
        ArgumentError: For an r that does not take these arguments, an unknown loss, or a scale that is not positive.
        DTypeError, ShapeError: For data, as `FiniteSum`.

    >>> import numpy as np, burlab as bl
    >>> def r(p, t, y): return p[0] * np.exp(-p[1] * t) - y
    >>> t = np.linspace(0.0, 2.0, 9)
    >>> f = bl.Residuals(r, (t, 3 * np.exp(-1.5 * t)))
    >>> run = bl.minimize(f, np.ones(2), bl.optim.LevenbergMarquardt(), steps=20)
    >>> run.x.round(6)
    array([3. , 1.5])
    """

    def __init__(
        self,
        r: Callable[..., Any],
        data: tuple[ArrayLike, ...] | ArrayLike | None = None,
        *,
        loss: str = "linear",
        scale: float = 1.0,
        threads: Threads | None = None,
        tile: int | None = None,
        pairs: bool = False,
    ) -> None:
        robust = RobustLoss(one_of(loss, RHO, "loss"), number_in(POSITIVE, scale, "scale"))
        samples = Data.none() if data is None else Data.of(data)
        if truth(pairs, "pairs"):
            _check_pairs(r, samples)
        model = partial(_of_tables, r) if pairs else r
        self._is_squared = robust.name == "linear"
        super().__init__(robust.value, samples, model=model, threads=threads, tile=tile)
        self.oracle = self.oracle.of_residuals(robust, r if pairs else None)
        self._pairs, self._r = bool(pairs), r
        self._name = getattr(r, "__name__", "r")

    def __repr__(self) -> str:
        data = ", ".join(self.oracle.data.texts)
        return f"<Residuals of {self._name} over {len(self)} samples{': ' * bool(data)}{data}>"

    def residuals(self, x: Tree) -> Array:
        """Return the residuals at x.

        Args:
            x: The point, as for `value`.

        Returns:
            All of them in one vector, shape (m,), of x's dtype: those of the first sample, then of the second, ...

        >>> import numpy as np, burlab as bl
        >>> bl.Residuals(lambda x, a: x - a, np.arange(3.0)).residuals(1.0)
        array([ 1.,  0., -1.])
        """
        rows = self._rows("targets", x)
        return np.ascontiguousarray(rows[:, : rows.shape[1] // 2]).reshape(-1)

    def jacobian(self, x: Tree, *, sparse: bool = False) -> Any:
        """Return the Jacobian of the residuals by all numbers of x, whatever the loss makes of them.

        Args:
            x: The point, as for `value`.
            sparse: True for a matrix of SciPy, for residuals without data: by a colouring, as `bl.sparse_jacobian`.

        Returns:
            Shape (m, d), of x's dtype; a CSR array with pairs=True, sparse=True, or sparse data of which r reads a
            vector x by one product a @ x with the sample's row: each row then has the entries of a row of the data.

        Raises:
            ArgumentError: For sparse=True with data.

        >>> import numpy as np, burlab as bl
        >>> bl.Residuals(lambda x, a: x**2 - a, np.arange(2.0)).jacobian(np.array([1.0, 3.0]))
        array([[2., 0.],
               [0., 6.],
               [2., 0.],
               [0., 6.]])
        """
        point = as_point(x, "x")
        rows = None if self._pairs else self.oracle.sparse_jacobian(point)
        if rows is not None:
            return rows.at(point.leaves[0])
        if truth(sparse, "sparse") and not self._pairs:
            if self.oracle.data.arrays:
                raise ArgumentError(
                    "sparse=True is for residuals of x alone, whose pattern is found. With data pass pairs=True to "
                    "bl.Residuals if each sample reads two rows of x, or leave sparse= out."
                )
            return sparse_jacobian(self._r)(point.tree)
        blocks = self._rows("jacobian", x)
        tables = self.oracle.tables(point)
        return blocks.reshape(-1, blocks.shape[-1]) if tables is None else csr_of(blocks, tables)

    def covariance(self, x: Tree, *, absolute: bool = False) -> Array:
        """Return the covariance of x as an estimate, at the minimum: (J'J)^-1 times the variance of the residuals.

        J is that of a robust loss where there is one, as `f.residuals_and_jacobian` gives it.

        Args:
            x: The minimum, as for `value`.
            absolute: True if residuals are in units of their standard deviations, so that their variance is 1. False:
                it is estimated by 2 n f(x) / (m - d), for m residuals and d unknowns.

        Returns:
            Shape (d, d), of x's dtype, by all numbers of x; inf where J has not full rank, or m <= d and the variance
            is to be estimated.

        >>> import numpy as np, burlab as bl
        >>> f = bl.Residuals(lambda x, a: x - a, np.array([1.0, 2.0, 3.0, 6.0]))
        >>> f.covariance(np.array([3.0])), f.covariance(np.array([3.0]), absolute=True)
        (array([[1.16666667]]), array([[0.25]]))
        """
        truth(absolute, "absolute")
        both, point = self._rows("residuals_and_jacobian", x), as_point(x, "x")
        tables = self.oracle.tables(point)
        width = sum(leaf.size for leaf in point.leaves) if tables is None else tables.width
        k = both.shape[1] // (1 + width)
        blocks = both[:, k:].reshape(-1, k, width)
        rows = blocks.reshape(-1, width) if tables is None else csr_of(blocks, tables).toarray()
        if absolute:
            return covariance_of(rows, None)
        squares = np.sum(both[:, :k] ** 2) if self._is_squared else 2 * len(self) * self.value(x)
        return covariance_of(rows, float(squares))

    def _rows(self, query: str, x: Tree) -> Array:
        """Return the answers for all samples."""
        point = as_point(x, "x")
        samples = self.oracle.kernels(query, [point]).samples
        return samples.rows(point.leaves, full(len(self)), self._key(None))[0]


def csr_of(blocks: Array, tables: PairedRows) -> Any:
    """Return a Jacobian as a CSR array. blocks: by the two rows of each sample, shape (n, k, v + w)."""
    n, k, width = blocks.shape
    (p, v), (q, w) = tables.first_shape, tables.second_shape
    first = tables.first[:, None] * v + np.arange(v)
    columns = np.concatenate([first, p * v + tables.second[:, None] * w + np.arange(w)], axis=1)
    places = np.broadcast_to(columns[:, None, :], blocks.shape).reshape(-1)
    ends = np.arange(0, int(places.size) + 1, int(width))
    return scipy_sparse.csr_array((blocks.reshape(-1), places, ends), shape=(n * k, p * v + q * w))


def _check_pairs(r: Callable[..., Any], data: Data) -> None:
    """Raise DTypeError for samples that do not begin with row numbers, ArgumentError for an r of other arguments."""
    kinds = [array.dtype.kind for array in data.arrays[:2]]
    if len(kinds) < 2 or not set(kinds) <= set("iu"):
        raise DTypeError(
            f"data begin with {', '.join(str(a.dtype) for a in data.arrays[:2]) or 'nothing'}, expected two arrays of "
            "integers: for each sample the row of the first and of the second table."
        )
    rest = len(data.arrays) - 2
    check_takes(r, "r", f"two rows and {rest} arrays of a sample", "With pairs=True it is r(a, b, *sample).", 2 + rest)


def _of_tables(r: Callable[..., Any], x: Tree, *sample: Any) -> Any:
    """Return the residuals of a sample that begins with row numbers."""
    return r(*rows_of(x, sample), *sample[2:])
