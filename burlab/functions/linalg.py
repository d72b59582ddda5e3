"""Linear algebra that NumPy lacks, on arrays and on traced values; np.linalg itself is traced where it is called."""

from typing import Any

import numpy as np

from burlab.compiler.function import Function
from burlab.errors import ArgumentError, DTypeError, ShapeError
from burlab.graph import Node
from burlab.graph.node import as_node
from burlab.graph.origin import location
from burlab.runtime.checks.numbers import shown, whole
from burlab.runtime.plain import as_array, is_complex
from burlab.transforms import random
from burlab.typing import Array, ArrayLike, Key

__all__ = ["svd"]
_MAX_POWER_ITERATIONS = 1000
_AXES = 2  # of a matrix


def svd(A: ArrayLike, rank: int, *, key: Key, oversampling: int = 10, power: int = 2) -> tuple[Any, Any, Any]:
    """The largest singular values of A with their vectors, about, by randomised range finding.

    Halko, Martinsson and Tropp 2011, Algorithms 4.4 and 5.1, arXiv:0909.4061: A times rank + oversampling Gaussian
    vectors, orthogonalised, and `power` times more A A' times these, which costs 2 + 2 power products. With k = rank, p
    = oversampling, q = power the expected spectral norm of A - u s vt is at most 1 + (1 + sqrt(k / (p - 1)) + e sqrt(k
    + p) / p sqrt(min(m, n) - k))^(1 / (2 q + 1)) times the singular value behind the last one kept: Corollary 10.10 and
    Theorem 9.3. Derivatives are those of the steps.

    Args:
        A: A matrix (m, n), float32 or float64.
        rank: Number of singular values.
        key: `bl.random.key(0)`; the same one gives the same bits.
        oversampling: Further vectors.
        power: Further products with A A'.

    Returns:
        u, s, vt of shapes (m, rank), (rank,), (rank, n).

    Raises:
        ArgumentError: The rank is beyond A's sizes.

    >>> import numpy as np, burlab as bl
    >>> A = np.outer(np.arange(40.0), np.ones(30)) + np.outer(np.ones(40), np.arange(30.0))
    >>> u, s, vt = bl.linalg.svd(A, 2, key=bl.random.key(0))
    >>> u.shape, bool(np.allclose((u * s) @ vt, A))
    ((40, 2), True)
    """
    if is_complex(A):
        raise DTypeError(f"{location()}A of bl.linalg.svd is complex, expected real numbers.")
    found = A if isinstance(A, Node) else as_array(A, "A of bl.linalg.svd")
    if found.ndim != _AXES or not found.size:
        raise ShapeError(f"{location()}A of bl.linalg.svd has shape {found.shape}, expected a matrix. Use bl.vmap.")
    small = min(found.shape)
    if whole(rank, "rank", 1) > small:
        raise ArgumentError(
            f"{location()}rank={shown(rank)} is more than a matrix of shape {found.shape} has: use 1 to {small}."
        )
    columns = min(rank + whole(oversampling, "oversampling", 0), small)
    options = (int(rank), columns, whole(power, "power", 0, _MAX_POWER_ITERATIONS))
    if isinstance(A, Node) or isinstance(key, Node):
        return _ranged(as_node(found), key, *options)
    return _kernel(found if found.dtype.kind == "f" else found.astype(float), as_array(key, "key"), *options)


def _ranged(A: Node | Array, key: Key, rank: int, columns: int, power: int) -> tuple[Any, Any, Any]:
    sketch = random.normal(key, (A.shape[1], columns), A.dtype)
    q = np.linalg.qr(A @ sketch)[0]
    for _ in range(power):
        q = np.linalg.qr(A @ np.linalg.qr(A.T @ q)[0])[0]
    u, s, vt = np.linalg.svd(q.T @ A, full_matrices=False)
    return q @ u[:, :rank], s[:rank], vt[:rank]


_kernel: Any = Function(_ranged, name="svd", reads=())
