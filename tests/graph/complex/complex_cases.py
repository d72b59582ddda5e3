"""Functions of complex arrays, written with a module: NumPy's protocols and another engine's functions run them."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

RNG = np.random.default_rng(12)


def complexes(*shape: int) -> Any:
    """Random complex numbers around 0."""
    return RNG.normal(size=shape) + 1j * RNG.normal(size=shape)


Z, W, X = complexes(3, 4), complexes(3, 4), RNG.normal(size=(3, 4))


class Case(NamedTuple):
    """f(module, z, w, x) of two complex matrices and a real one, all of shape (3, 4).

    jax: whether JAX has the function, with the same derivative.
    """

    name: str
    f: Callable[..., Any]
    jax: bool = True


UNARY = (
    "exp expm1 log log1p log2 log10 exp2 sqrt square sin cos tan sinh cosh tanh arcsin arccos arctan arcsinh arccosh "
    "arctanh abs conj negative positive reciprocal angle real imag sinc"
).split()
ELEMENTWISE = [
    Case(name, lambda np, z, w, x, name=name: getattr(np, name)(z), jax=name != "arccosh")  # JAX has another branch
    for name in UNARY
]
ARITHMETIC = [
    Case("z + w", lambda np, z, w, x: z + w),
    Case("x + z", lambda np, z, w, x: x + z),
    Case("x - z", lambda np, z, w, x: x - z),
    Case("z - 1j", lambda np, z, w, x: z - 1j),
    Case("x * 1j", lambda np, z, w, x: x * (1 + 2j)),
    Case("z * w", lambda np, z, w, x: z * w),
    Case("x * z", lambda np, z, w, x: x * z),
    Case("z / w", lambda np, z, w, x: z / w),
    Case("x / z", lambda np, z, w, x: x / z),
    Case("z / x", lambda np, z, w, x: z / x),
    Case("2 / z", lambda np, z, w, x: 2 / z),
    Case("z ** 3", lambda np, z, w, x: z**3),
    Case("z ** -2", lambda np, z, w, x: z**-2),
    Case("z ** 0", lambda np, z, w, x: z**0 + 0 * w),
    Case("z ** w", lambda np, z, w, x: z**w),
    Case("z ** 0.5", lambda np, z, w, x: z**0.5),
    Case("x ** z", lambda np, z, w, x: np.abs(x) ** z),
    Case("2 ** z", lambda np, z, w, x: 2**z),
    Case("-z + +w", lambda np, z, w, x: -z + +w),
    Case("known array", lambda np, z, w, x: x * W + z * np.asarray(W[0])),
    Case("parts", lambda np, z, w, x: z.real * z.imag + z.conj() * w.T.T),
    Case("cumprod", lambda np, z, w, x: np.cumprod(z, axis=1) + np.cumprod(w).reshape(3, 4)),
    Case("sign", lambda np, z, w, x: np.sign(z), jax=False),  # JAX: 0
    Case(
        "where", lambda np, z, w, x: np.where(x > 0, z, w * 2) + np.where(x > 0, 1.0, z) + np.where(z.real > 0, x, 1j)
    ),
]
ARRAYS = [
    Case("sum", lambda np, z, w, x: np.sum(z, axis=0) + z.sum(1, keepdims=True)[1]),
    Case("mean", lambda np, z, w, x: np.mean(z) + w.mean(0)),
    Case("prod", lambda np, z, w, x: np.prod(z, axis=1) * np.prod(w)),
    Case("cumsum", lambda np, z, w, x: np.cumsum(z, axis=1)),
    Case("var and std", lambda np, z, w, x: np.var(z, axis=0) + np.std(w)),
    Case("index", lambda np, z, w, x: z[1:, ::-1] * w[0, 2] + z[np.array([0, 2])]),
    Case("reshape", lambda np, z, w, x: z.reshape(4, 3) + w.T + np.ravel(z)[:3] + np.transpose(w)),
    Case("stack", lambda np, z, w, x: np.stack([z, x, w]) + np.concatenate([z, x, w])[:3]),
    Case("build", lambda np, z, w, x: np.stack([z[0, 0], x[0, 0], 1j * w[1, 1]]) * np.array([1j, 2.0, 3.0])),
    Case("roll and flip", lambda np, z, w, x: np.roll(z, 1, axis=0) + np.flip(w, 1) + np.tile(z[:1], (3, 1))),
    Case("pad", lambda np, z, w, x: np.pad(z, ((1, 0), (0, 2))) + np.pad(w, ((0, 1), (2, 0)), constant_values=1.0)),
    Case("diag", lambda np, z, w, x: np.diag(z[0]) + np.trace(w) + np.triu(z @ w.T, 1)[0, 1]),
    Case("diff", lambda np, z, w, x: np.diff(z, axis=1) + np.append(z[:, :2], w[:, :1], axis=1)),
    Case("astype", lambda np, z, w, x: x.astype(complex) * z.astype(complex)),
    Case("like", lambda np, z, w, x: np.ones_like(z) + np.zeros_like(w) + np.full_like(z, 2j) + z),
]
PRODUCTS = [
    Case("matmul", lambda np, z, w, x: z @ w.T + x @ z.T + w @ x.T),
    Case("dot", lambda np, z, w, x: np.dot(z[0], w[1]) + x[0].dot(z[0]) + z.dot(w[0])),
    Case("vdot", lambda np, z, w, x: np.vdot(z[0], w[1]) + np.vdot(x[0], z[0])),
    Case("inner and outer", lambda np, z, w, x: np.inner(z, w) + np.outer(z[0, :3], w[0, :3])),
    Case("tensordot", lambda np, z, w, x: np.tensordot(z, w, axes=([1], [1]))),
    Case("einsum", lambda np, z, w, x: np.einsum("ij,kj->ik", z, w) + np.einsum("ij,ij,ij->i", z, w, x)),
    Case("kron", lambda np, z, w, x: np.kron(z[0], w[0])),
    Case("convolve", lambda np, z, w, x: np.convolve(z[0], w[0]) + np.convolve(x[0], z[1])),
    Case("correlate", lambda np, z, w, x: np.correlate(z[0], w[0], "full")),
    Case("solve", lambda np, z, w, x: np.linalg.solve(z[:, :3], w) + np.linalg.solve(z[:, :3], w[:, 0])[:, None]),
    Case("inv", lambda np, z, w, x: np.linalg.inv(z[:, 1:])),
    Case("norm", lambda np, z, w, x: np.linalg.norm(z) + np.linalg.norm(w, axis=0) + np.linalg.norm(z[0], 3)),
    Case(
        "matrix_power", lambda np, z, w, x: np.linalg.matrix_power(z[:, :3], 3) + np.linalg.matrix_power(w[:, 1:], -1)
    ),
]
TESTS = [
    Case("equal", lambda np, z, w, x: (z == w) | (z == z + 0) & (z != w)),
    Case("isfinite", lambda np, z, w, x: np.isfinite(z) & ~np.isnan(w) & ~np.isinf(z)),
    Case("kinds", lambda np, z, w, x: np.isreal(z * (x > 0)) | np.iscomplex(w)),
    Case("close", lambda np, z, w, x: np.isclose(z, z + 1e-9) & np.allclose(z, z)),
    Case("counts", lambda np, z, w, x: np.count_nonzero(z * (x > 0)) + np.any(z)),
]
SMOOTH = ELEMENTWISE + ARITHMETIC + ARRAYS + PRODUCTS
CASES = SMOOTH + TESTS
