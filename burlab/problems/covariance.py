"""The covariance of an estimate, from the Jacobian of its residuals."""

import numpy as np

from burlab.runtime.coerce import Array


def covariance_of(rows: Array, squares: float | None) -> Array:
    """Return (J'J)^-1 by singular values, shape (d, d); inf where J has not full rank, or the variance is not known.

    rows: J, shape (m, d). squares: the sum of squared residuals, by which their variance squares / (m - d) is
    estimated; None: it is 1.
    """
    m, d = rows.shape
    _, values, vectors = np.linalg.svd(rows, full_matrices=False)
    known = values.size == d and values[-1] > np.finfo(rows.dtype).eps * max(m, d) * values[0]
    if not known or not np.isfinite(values).all() or (squares is not None and m <= d):
        return np.full((d, d), np.inf, rows.dtype)
    inverse = (vectors.T / values**2) @ vectors
    return inverse if squares is None else inverse * (squares / (m - d))
