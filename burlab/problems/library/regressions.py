"""Regressions as finite sums, with the constants that the theory of optimization asks for."""

from collections.abc import Callable
from functools import cached_property
from typing import Any, cast, final

import numpy as np

from burlab.errors import ArgumentError, DTypeError, ShapeError
from burlab.functions import logsumexp, softplus
from burlab.problems.finite_sum import FiniteSum
from burlab.runtime.checks.numbers import shown, whole
from burlab.runtime.coerce import Array
from burlab.runtime.extras import late
from burlab.runtime.memory import check_fits
from burlab.runtime.plain import as_array, is_sparse
from burlab.runtime.ranges import NOT_NEGATIVE, number_in
from burlab.typing import ArrayLike, Vector

spectra: Any = late("scipy.sparse.linalg")
_DENSE_GRAM = 2000  # rows of a Gram matrix whose spectrum is computed as a whole


@final
class Regression(FiniteSum):
    """A finite sum f(x) = 1/n sum_i h_i(a_i^T x) + l2/2 |x|^2 over the rows a_i of a matrix, whose constants are known.

    It is a `FiniteSum` over samples (a_i, target), and more: features: the matrix, shape (n, d). l2: the weight of the
    regularizer. start: zeros of x's shape and dtype. smoothness, strong_convexity: bounds L and mu of the eigenvalues
    of the Hessian of f, floats. sample_smoothness: L_i of each h_i(a_i^T x) + l2/2 |x|^2 alone, shape (n,).

    >>> import numpy as np, burlab as bl
    >>> f = bl.problems.least_squares(np.array([[2.0, 0.0], [0.0, 1.0]]), np.ones(2))
    >>> f.smoothness, f.strong_convexity, f.sample_smoothness
    (2.0, 0.5, array([4., 1.]))
    """

    def __init__(
        self, loss: Callable[..., Any], samples: tuple[Array, Array], l2: float, model: tuple[float, float, Array]
    ) -> None:
        """loss: of (x, a_i, target). model: smallest and largest curvature of any h_i, and the start."""

        def ridge(x: Vector) -> Any:
            return 0.5 * l2 * np.sum(x**2)

        if not isinstance(samples, tuple) or len(samples) != 2:  # pyright: ignore[reportUnnecessaryIsInstance] - users pass anything
            raise ArgumentError("Regression has no public constructor. Call bl.problems.least_squares, ...")
        l2 = _weight(l2)
        super().__init__(loss, samples, ridge if l2 else None)
        self.features = samples[0]
        self.l2 = l2
        self._least, self._most, self.start = model

    @cached_property
    def smoothness(self) -> float:
        """L: the gradient of f at two points differs by at most L times their distance."""
        return self._most * float(self._spectrum[-1]) + self.l2

    @cached_property
    def strong_convexity(self) -> float:
        """mu: f curves upwards at least like mu/2 |x|^2; 0 where f is merely convex."""
        return self._least * float(self._spectrum[0]) + self.l2

    @cached_property
    def sample_smoothness(self) -> Array:
        """L_i of every sample with its share of the regularizer, shape (n,), float64."""
        a: Any = self.features.astype(np.float64)
        squares = a.multiply(a).sum(axis=1) if is_sparse(a) else np.sum(a**2, axis=1)
        return self._most * np.asarray(squares).reshape(-1) + self.l2

    @cached_property
    def _spectrum(self) -> Array:
        """The smallest and the largest eigenvalue of A^T A / n, from the smaller of the two Gram matrices.

        Of a large sparse matrix the smallest is said to be 0, which is a bound.
        """
        a: Any = self.features.astype(np.float64)
        n, d = a.shape
        if is_sparse(a) and min(n, d) > _DENSE_GRAM:

            def gram(v: Vector) -> Any:
                return a.T @ (a @ v) / n

            operator = spectra.LinearOperator((d, d), gram, dtype=np.float64)
            return np.array([0.0, spectra.eigsh(operator, 1, return_eigenvectors=False, v0=np.ones(d))[0]])
        a = a.toarray() if is_sparse(a) and n * d <= _DENSE_GRAM**2 else a
        values = np.linalg.eigvalsh(_dense(a.T @ a if d <= n else a @ a.T) / n)
        return np.array([max(values[0], 0.0) if d <= n else 0.0, values[-1]])


def least_squares(features: ArrayLike, targets: ArrayLike, *, l2: float = 0.0) -> Regression:
    """1/n sum_i (a_i^T x - b_i)^2 / 2 + l2/2 |x|^2, Legendre 1805; with l2, ridge regression, Hoerl and Kennard 1970.

    Args:
        features: Rows a_i, shape (n, d), float32 or float64; an array, or one of SciPy's sparse ones.
        targets: b, shape (n,).
        l2: Weight of the regularizer.

    Returns:
        The sum over x of shape (d,) and the features' dtype. Smoothness is the largest eigenvalue of A^T A / n, plus
        l2; strong convexity the smallest.

    >>> import numpy as np, burlab as bl
    >>> f = bl.problems.least_squares(np.eye(2), [1.0, 2.0])
    >>> float(f.value(f.start)), f.grad(np.array([1.0, 2.0]))
    (1.25, array([0., 0.]))
    """

    def loss(x: Vector, a: Vector, b: Vector) -> Any:
        return 0.5 * (a @ x - b) ** 2

    a, b = _matrix(features), as_array(targets, "targets")
    _check_targets(a, b)
    if b.dtype.kind not in "fiu":
        raise DTypeError(f"targets have dtype {b.dtype}, expected real numbers. Convert them with .astype(float).")
    return Regression(loss, (a, b.astype(a.dtype)), _weight(l2), (1.0, 1.0, np.zeros(a.shape[1], a.dtype)))


def logistic_regression(features: ArrayLike, labels: ArrayLike, *, l2: float = 0.0) -> Regression:
    """1/n sum_i log(1 + exp(-y_i a_i^T x)) + l2/2 |x|^2, Cox 1958.

    Args:
        features: Rows a_i, shape (n, d), float32 or float64; an array, or one of SciPy's sparse ones.
        labels: Shape (n,), two values: 0 and 1, -1 and 1, or bool; the larger is y_i = 1.
        l2: Weight of the regularizer.

    Returns:
        The sum over x of shape (d,) and the features' dtype. The curvature of the loss is at most 1/4, so smoothness is
        a quarter of the largest eigenvalue of A^T A / n, plus l2, and attained at x = 0.

    >>> import numpy as np, burlab as bl
    >>> f = bl.problems.logistic_regression(np.array([[1.0], [-2.0]]), [1, 0], l2=0.1)
    >>> float(f.value(f.start).round(6)), f.smoothness, f.strong_convexity
    (0.693147, 0.725, 0.1)
    """

    def loss(x: Vector, a: Vector, y: Vector) -> Any:
        return softplus(-y * (a @ x))

    a, y = _matrix(features), as_array(labels, "labels")
    _check_targets(a, y)
    if not any(np.array_equal(np.unique(y), pair) for pair in ([0, 1], [-1, 1])):
        raise ArgumentError(
            f"labels hold the values {_few(np.unique(y))}, expected 0 and 1, -1 and 1, or bool, and both of them. "
            "For more classes use softmax_regression."
        )
    signs = np.where(y > 0, 1, -1).astype(a.dtype)
    return Regression(loss, (a, signs), _weight(l2), (0.0, 0.25, np.zeros(a.shape[1], a.dtype)))


def softmax_regression(
    features: ArrayLike, labels: ArrayLike, *, l2: float = 0.0, classes: int | None = None
) -> Regression:
    """1/n sum_i logsumexp(X^T a_i) - (X^T a_i)[y_i] + l2/2 |X|^2: the cross-entropy of a linear classifier.

    Args:
        features: Rows a_i, shape (n, d), float32 or float64; an array, or one of SciPy's sparse ones.
        labels: Shape (n,), integers from 0 to k - 1.
        l2: Weight of the regularizer.
        classes: k; None: as many as there are different labels, so that each class has a sample.

    Returns:
        The sum over X of shape (d, k) and the features' dtype. The curvature of the loss is at most 1/2 (Böhning 1992),
        so smoothness is half of the largest eigenvalue of A^T A / n, plus l2.

    >>> import numpy as np, burlab as bl
    >>> f = bl.problems.softmax_regression(np.eye(3), [0, 1, 2])
    >>> f.start.shape, float(f.value(f.start).round(6))
    ((3, 3), 1.098612)
    """

    def loss(x: Vector, a: Vector, label: int) -> Any:
        scores = a @ x
        return logsumexp(scores) - scores[label]

    a, y = _matrix(features), as_array(labels, "labels")
    _check_targets(a, y)
    found = np.unique(y)
    if y.dtype.kind not in "iu" or found[0] < 0:
        raise ArgumentError(f"labels are {_few(found)}, expected integers from 0 to k - 1. Number the classes.")
    k = found.size if classes is None else whole(classes, "classes", 1)
    if found[-1] >= k:
        raise ArgumentError(
            f"labels are {_few(found)}, expected integers from 0 to {k - 1} for {k} classes. Number the classes by "
            "np.unique(labels, return_inverse=True)[1], or pass classes= where some have no sample."
        )
    check_fits(a.shape[1] * k * a.dtype.itemsize, f"an x of {shown(k)} classes")
    start = np.zeros((a.shape[1], k), a.dtype)
    return Regression(loss, (a, y.astype(np.int64)), _weight(l2), (0.0, 0.5, start))


def _dense(a: Any) -> Array:
    return a.toarray() if is_sparse(a) else a


def _matrix(features: ArrayLike) -> Array:
    if is_sparse(features):
        rows: Any = cast("Any", features).tocsr()
        if not rows.ndim == 2 or 0 in rows.shape or rows.dtype.kind not in "fiub":
            raise ShapeError(
                f"features are sparse with the shape {rows.shape} and the dtype {rows.dtype}, expected (n, d) real "
                "numbers: a row per sample."
            )
        return rows.astype(np.float32 if rows.dtype == np.float32 else np.float64, copy=False)
    a = as_array(features, "features")
    if a.ndim != 2 or a.size == 0:
        raise ShapeError(f"features have shape {a.shape}, expected (n, d): a row per sample.")
    if a.dtype.kind not in "fiub":
        raise DTypeError(f"features have dtype {a.dtype}, expected real numbers. Convert them with .astype(float).")
    return np.ascontiguousarray(a, np.float32 if a.dtype == np.float32 else np.float64)


def _check_targets(a: Array, b: Array) -> None:
    if b.shape != a.shape[:1]:
        raise ShapeError(f"targets have shape {b.shape}, but features have {a.shape[0]} rows. Pass one number per row.")


def _weight(l2: float) -> float:
    return number_in(NOT_NEGATIVE, l2, "l2")


def _few(values: Array) -> str:
    return ", ".join(map(str, values[:5].tolist())) + (", ..." if len(values) > 5 else "")
