"""Linear algebra as users write it: each row runs on NumPy, traced, and on JAX. `np` is the module in use.

Where signs are a convention, rows compute what does not depend on them.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy  # noqa: ICN001 - in the rows `np` is whichever module runs them

_rng = numpy.random.default_rng(12)
N = 5
A = _rng.normal(size=(N, N)) + 2 * numpy.eye(N)
B = _rng.normal(size=(N, 2))
MANY = _rng.normal(size=(3, N, N)) + 2 * numpy.eye(N)
PRIMITIVES = {"lu", "lu_solve", "solve_triangular", "cholesky", "implied", "eigh", "svd", "qr", "expm"}
"""Operations of graphs that are tested here."""


class Case(NamedTuple):
    """f(np, a, b) of a square matrix and two right-hand sides. jax: whether JAX knows it too."""

    name: str
    f: Callable[[Any, Any, Any], Any]
    jax: bool = True


def positive(np: Any, a: Any) -> Any:
    """A symmetric positive definite matrix."""
    return a @ np.swapaxes(a, -1, -2) + numpy.eye(N)


def symmetric(np: Any, a: Any) -> Any:
    return a + np.swapaxes(a, -1, -2)


def spectrum(np: Any, a: Any) -> Any:
    """A function of eigenvalues and vectors, whatever the signs of these."""
    w, v = np.linalg.eigh(symmetric(np, a))
    return (v * np.exp(0.1 * w)[..., None, :]) @ np.swapaxes(v, -1, -2)


def singular(np: Any, a: Any) -> Any:
    """The same of singular values and vectors."""
    u, s, vt = np.linalg.svd(a, full_matrices=False)
    return (u * np.tanh(s)[..., None, :]) @ vt


def free_space(np: Any, a: Any) -> Any:
    """Projections on what the columns do not span, in two ways."""
    u, _, _ = np.linalg.svd(a[..., :2])
    q, _ = np.linalg.qr(a[..., :2], mode="complete")
    u, q = u[..., :, 2:], q[..., :, 2:]
    return u @ np.swapaxes(u, -1, -2) + 2.0 * (q @ np.swapaxes(q, -1, -2))


def flat(np: Any, a: Any) -> Any:
    """Of rank 3."""
    return a[..., :3] @ np.swapaxes(a[..., :3], -1, -2)


CASES = (
    Case("solve", lambda np, a, b: np.linalg.solve(a, b)),
    Case("solve transposed", lambda np, a, b: np.linalg.solve(np.swapaxes(a, -1, -2), b)),
    Case("solve vector", lambda np, a, b: np.linalg.solve(a, b[:, 0])),
    Case("inv", lambda np, a, b: np.linalg.inv(a)),
    Case("det", lambda np, a, b: np.linalg.det(a)),
    Case("det of three rows", lambda np, a, b: np.linalg.det(a[..., :3, :3])),
    Case("slogdet", lambda np, a, b: np.linalg.slogdet(a)[1]),
    Case("cholesky", lambda np, a, b: np.linalg.cholesky(positive(np, a))),
    Case("cholesky, symmetric", lambda np, a, b: np.linalg.cholesky(symmetric(np, a) + 20 * numpy.eye(N))),
    Case("eigvalsh", lambda np, a, b: np.linalg.eigvalsh(symmetric(np, a))),
    Case("eigh", lambda np, a, b: spectrum(np, a)),
    Case("svdvals", lambda np, a, b: np.linalg.svd(a, compute_uv=False)),
    Case("svd", lambda np, a, b: singular(np, a)),
    Case("svd, tall", lambda np, a, b: singular(np, a[..., :3])),
    Case("svd, wide", lambda np, a, b: singular(np, a[..., :3, :])),
    Case("bases", lambda np, a, b: free_space(np, a), jax=False),
    Case("q", lambda np, a, b: np.linalg.qr(a)[0]),
    Case("r, tall", lambda np, a, b: np.linalg.qr(a[..., :3])[1]),
    Case("q, tall", lambda np, a, b: np.linalg.qr(a[..., :3])[0]),
    Case("qr, wide", lambda np, a, b: np.linalg.qr(a[..., :3, :])[1], jax=False),
    Case("pinv, tall", lambda np, a, b: np.linalg.pinv(a[..., :3])),
    Case(
        "pinv of rank 3",
        lambda np, a, b: np.linalg.pinv(a[..., :3] @ np.swapaxes(a[..., :3], -1, -2), 1e-10),
        jax=False,
    ),
    Case("lstsq", lambda np, a, b: np.linalg.lstsq(a[:, :3], b, rcond=None)[0]),
    Case("lstsq residuals", lambda np, a, b: np.linalg.lstsq(a[:, :3], b, rcond=None)[1]),
    Case("norm nuc", lambda np, a, b: np.linalg.norm(a, "nuc", axis=(-2, -1))),
    Case("norm 2", lambda np, a, b: np.linalg.norm(a, 2, axis=(-2, -1))),
    Case("norm -2", lambda np, a, b: np.linalg.norm(a, -2, axis=(-2, -1), keepdims=True)),
    Case("norm 1", lambda np, a, b: np.linalg.norm(a, 1, axis=(-2, -1))),
    Case("norm -inf", lambda np, a, b: np.linalg.norm(a, -numpy.inf, axis=(-1, -2))),
    Case("vector_norm", lambda np, a, b: np.linalg.vector_norm(a, axis=(-2, -1), ord=3, keepdims=True)),
    Case("matrix_norm", lambda np, a, b: np.linalg.matrix_norm(a, ord="nuc")),
    Case("cond", lambda np, a, b: np.linalg.cond(a)),
    Case("cond 1", lambda np, a, b: np.linalg.cond(a, 1)),
    Case("power 5", lambda np, a, b: np.linalg.matrix_power(a, 5) / 100),
    Case("power -2", lambda np, a, b: np.linalg.matrix_power(a, -2)),
    Case("multi_dot", lambda np, a, b: np.linalg.multi_dot([b.T, a, a, b])),
    Case("outer, trace", lambda np, a, b: np.linalg.outer(a[0], a[1]) * np.linalg.trace(a)),
    Case("diagonal", lambda np, a, b: np.linalg.diagonal(np.linalg.matrix_transpose(a) @ a)),
)
ONE_MATRIX = {"solve vector", "lstsq", "lstsq residuals", "multi_dot", "outer, trace"}
"""Cases whose function takes no batch."""
