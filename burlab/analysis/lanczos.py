"""The Lanczos method: eigenvalues of a symmetric matrix from products with vectors."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from burlab.typing import Numbers

_TINY = 1e-10  # times the largest entry so far: what is left of a residual is rounding


@dataclass(frozen=True, slots=True, eq=False)
class Ritz:
    """Eigenvalue estimates of a Lanczos run.

    values: float64, shape (k,), rising, near eigenvalues. weights: shape (k,), positive, of sum 1: the squares of the
    start's components along `vectors`, shape (k, d), which are orthonormal.
    """

    values: Numbers
    weights: Numbers
    vectors: Numbers


def lanczos(product: Callable[[Numbers], Numbers], start: Numbers, steps: int) -> Ritz:
    """At most so many steps of Lanczos' method from a vector, shape (d,), with full reorthogonalization.

    product: the matrix times a vector. Golub and Van Loan 2013, Matrix Computations, Algorithm 10.1.1; each residual is
    orthogonalized against all vectors before, twice (Parlett's rule). It ends early where the start spans no more.

    >>> matrix = np.diag([1.0, 2.0, 4.0])
    >>> lanczos(lambda v: matrix @ v, np.ones(3), 3).values.round(12)
    array([1., 2., 4.])
    """
    basis = np.empty((min(steps, start.size), start.size))
    diagonal, off_diagonal = np.empty(len(basis)), np.empty(len(basis))
    q = start / np.linalg.norm(start)
    count = 0
    for k in range(len(basis)):
        basis[k] = q
        residual = product(q)
        diagonal[k] = q @ residual
        for _ in range(2):
            residual = residual - basis[: k + 1].T @ (basis[: k + 1] @ residual)
        off_diagonal[k] = np.linalg.norm(residual)
        count = k + 1
        if not off_diagonal[k] > _TINY * max(np.abs(diagonal[:count]).max(), off_diagonal[:count].max(initial=0.0)):
            break
        q = residual / off_diagonal[k]
    tridiagonal = (
        np.diag(diagonal[:count]) + np.diag(off_diagonal[: count - 1], 1) + np.diag(off_diagonal[: count - 1], -1)
    )
    values, vectors = np.linalg.eigh(tridiagonal)
    return Ritz(values, vectors[0] ** 2, vectors.T @ basis[:count])
