"""Sums of squared residuals."""

from collections.abc import Callable
from typing import Any

import numpy as np

from burlab.problems.kernels.robust_loss import RHO, RobustLoss
from burlab.runtime.checks.numbers import one_of, truth
from burlab.runtime.coerce import Array
from burlab.runtime.ranges import POSITIVE, number_in
from burlab.runtime.thread_limit import Threads
from burlab.typing import ArrayLike, Tree

from .covariance import covariance_of
from .data import Data
from .finite_sum import FiniteSum
from .point import as_point
from .sampling import full


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
    ) -> None:
        robust = RobustLoss(one_of(loss, RHO, "loss"), number_in(POSITIVE, scale, "scale"))
        samples = Data.none() if data is None else Data.of(data)
        super().__init__(robust.value, samples, model=r, threads=threads, tile=tile)
        self.oracle = self.oracle.with_robust_loss(robust)
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

    def jacobian(self, x: Tree) -> Array:
        """Return the Jacobian of the residuals by all numbers of x, whatever the loss makes of them.

        Args:
            x: The point, as for `value`.

        Returns:
            Shape (m, d), of x's dtype.

        >>> import numpy as np, burlab as bl
        >>> bl.Residuals(lambda x, a: x**2 - a, np.arange(2.0)).jacobian(np.array([1.0, 3.0]))
        array([[2., 0.],
               [0., 6.],
               [2., 0.],
               [0., 6.]])
        """
        blocks = self._rows("jacobian", x)
        return blocks.reshape(-1, blocks.shape[-1])

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
        both = self._rows("residuals_and_jacobian", x)
        d = sum(leaf.size for leaf in as_point(x, "x").leaves)
        k = both.shape[1] // (1 + d)
        return covariance_of(both[:, k:].reshape(-1, d), None if absolute else 2 * len(self) * float(self.value(x)))

    def _rows(self, query: str, x: Tree) -> Array:
        """Return the answers for all samples."""
        point = as_point(x, "x")
        samples = self.oracle.kernels(query, [point]).samples
        return samples.rows(point.leaves, full(len(self)), (0, 0))[0]
