"""Norms where they have a kink, and their powers, which have none: against what calculus says, and against JAX."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import burlab as bl
from tests.engines import GEARS, jax_or_skip

ZERO, POINT = np.zeros(2), np.array([0.3, -0.7])
V = np.array([1.0, 0.5])


class Case(NamedTuple):
    """A function of norms. at_zero: what times the identity is its Hessian at 0, nan where it has none."""

    name: str
    f: Callable[[Any, Any], Any]
    at_zero: float


CASES = [
    Case("norm", lambda x, np: np.linalg.norm(x), np.nan),
    Case("hypot", lambda x, np: np.hypot(x[0], x[1]), np.nan),
    Case("3-norm", lambda x, np: np.linalg.norm(x, 3), np.nan),
    Case("norm of a row", lambda x, np: np.linalg.norm(x[None], axis=1)[0], np.nan),
    Case("norm plus a square", lambda x, np: np.linalg.norm(x) + np.sum(x**2), np.nan),
    Case("root of a sum", lambda x, np: np.sqrt(np.sum(x**2)), np.nan),
    Case("root of products", lambda x, np: np.sqrt(x @ x), np.nan),
    Case("power of a sum", lambda x, np: (3 * x[0] ** 2 + x[1] * x[1] / 2) ** 0.5, np.nan),
    Case("root of a mean", lambda x, np: np.sqrt(np.mean(np.abs(x) ** 2)), np.nan),
    Case("root of an einsum", lambda x, np: np.sqrt(np.einsum("i,i->", 2 * x, 2 * x)), np.nan),
    Case("root of matrices", lambda x, np: np.sum(np.sqrt(x[None] @ x[:, None])), np.nan),
    Case("root cut off", lambda x, np: np.sqrt(np.maximum(np.sum(x**2), 0.0)), np.nan),
    Case("root of a sum, squared", lambda x, np: np.sqrt(np.sum(x**2)) ** 2, 2.0),
    Case("norm**2", lambda x, np: np.linalg.norm(x) ** 2, 2.0),
    Case("np.square", lambda x, np: np.square(np.linalg.norm(x)), 2.0),
    Case("np.power", lambda x, np: np.power(np.linalg.norm(x), 2.0), 2.0),
    Case("norm * norm", lambda x, np: np.linalg.norm(x) * np.linalg.norm(x), 2.0),
    Case("norm * root of squares", lambda x, np: np.linalg.norm(x) * np.sqrt(np.sum(x**2)), 2.0),
    Case("half of norm * norm", lambda x, np: 0.5 * np.linalg.norm(x) * np.linalg.norm(x), 1.0),
    Case("(3 norm)**2", lambda x, np: (3 * np.linalg.norm(x)) ** 2, 18.0),
    Case("(-norm / 2)**2", lambda x, np: (-np.linalg.norm(x) / 2) ** 2, 0.5),
    Case("norm times numbers, squared", lambda x, np: np.sum((np.linalg.norm(x) * np.array([1.0, 2.0])) ** 2), 10.0),
    Case("norms of rows, squared", lambda x, np: np.sum(np.linalg.norm(x[None], axis=1) ** 2), 2.0),
    Case("with its axes", lambda x, np: np.sum(np.linalg.norm(x, keepdims=True) ** 2), 2.0),
    Case("one of many", lambda x, np: np.linalg.norm(x[None], axis=1)[0] ** 2, 2.0),
    Case("norm of norms, squared", lambda x, np: np.linalg.norm(np.linalg.norm(x[None], axis=1)) ** 2, 2.0),
    Case("distance squared", lambda x, np: np.linalg.norm(x - 0 * x[::-1]) ** 2, 2.0),
    Case("Frobenius squared", lambda x, np: np.linalg.norm(x[None], "fro") ** 2, 2.0),
    Case("hypot squared", lambda x, np: np.hypot(x[0], x[1]) ** 2, 2.0),
    Case("inside of a function", lambda x, np: np.sqrt(1 + np.linalg.norm(x) ** 2), 1.0),
    Case("norm**3", lambda x, np: np.linalg.norm(x) ** 3, 0.0),
    Case("norm**4", lambda x, np: np.linalg.norm(x) ** 4, 0.0),
    Case("norm**2.5", lambda x, np: np.linalg.norm(x) ** 2.5, 0.0),
    Case("3-norm**3", lambda x, np: np.linalg.norm(x, 3) ** 3, 0.0),
    Case("4-norm**4", lambda x, np: np.linalg.norm(x, 4) ** 4, 0.0),
    Case("sizes squared", lambda x, np: np.sum(np.abs(x) ** 2), 2.0),
    Case("np.power of sizes", lambda x, np: np.sum(np.power(np.abs(x), 2)), 2.0),
    Case("size * size", lambda x, np: np.sum(3 * np.abs(x) * np.abs(x)), 6.0),
    Case("sizes**4", lambda x, np: np.sum(np.abs(x) ** 4), 0.0),
    Case("sizes**3", lambda x, np: np.sum(np.abs(x) ** 3), 0.0),
    Case("sum of sizes", lambda x, np: np.sum(np.abs(x)), 0.0),
]  # fmt: skip


def of(case: Case, module: Any = np) -> Callable[[Any], Any]:
    """The function in the words of burlab, or of another module like NumPy."""
    return lambda x: case.f(x, module)


def at_zero(x: Any) -> Any:
    """Of each case: gradient, Hessian, that of two points at once, and the product with V in every order of modes."""

    def orders(f: Callable[[Any], Any]) -> Any:
        slope = bl.grad(f)
        products = bl.hvp(f)(x, V), bl.jvp(slope, (x,), (V,))[1], bl.grad(lambda y: slope(y) @ V)(x)
        return slope(x), bl.hessian(f)(x), bl.vmap(bl.hessian(f))(np.stack([x, POINT])), products

    return tuple(orders(of(case)) for case in CASES)


@pytest.mark.parametrize("gear", GEARS)
def test_first_and_second_derivatives_at_zero(gear: Any) -> None:
    for case, (slope, hessian, both, products) in zip(CASES, bl.compile(at_zero, ZERO, gear=gear)(ZERO), strict=True):
        expected = case.at_zero * np.eye(2) if np.isfinite(case.at_zero) else np.full((2, 2), np.nan)
        np.testing.assert_array_equal(slope, ZERO, err_msg=case.name)
        np.testing.assert_allclose(hessian, expected, atol=1e-300, err_msg=case.name)
        np.testing.assert_allclose(both[0], expected, atol=1e-300, err_msg=case.name)
        for product in products:
            np.testing.assert_allclose(product, expected @ V, atol=1e-300, err_msg=case.name)


def their_orders(jax: Any, f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The orders 0 to 3 in JAX: as one program, not each operation compiled alone, and not optimized for one run."""
    return jax.jit(
        lambda x: (f(x), jax.grad(f)(x), jax.hessian(f)(x), jax.jacfwd(jax.hessian(f))(x)),
        compiler_options={"xla_backend_optimization_level": 0},
    )


@pytest.mark.parametrize("case", CASES, ids=[c.name for c in CASES])
def test_derivatives_elsewhere_are_those_of_jax(case: Case) -> None:
    jax = jax_or_skip()
    f, theirs = of(case), of(case, jax.numpy)
    with jax.enable_x64(True):
        wanted = their_orders(jax, theirs)(jax.numpy.asarray(POINT))
    ours = lambda x: (f(x), bl.grad(f)(x), bl.hessian(f)(x), bl.jacobian(bl.hessian(f))(x))  # noqa: E731
    for a, b in zip(bl.compile(ours, POINT, gear="replay")(POINT), wanted, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)


def test_newton_leaves_zero_of_a_squared_distance() -> None:
    target = np.array([1.0, -2.0])
    run = bl.minimize(lambda x: np.linalg.norm(x) ** 2 - 2 * (target @ x), ZERO, bl.optim.Newton(), steps=1)
    np.testing.assert_allclose(run.x, target, rtol=1e-12)


def test_the_fourth_derivative_of_a_fourth_power_at_zero() -> None:
    slope = bl.grad(bl.grad(bl.grad(bl.grad(lambda t: np.linalg.norm(np.stack([t, 0.0 * t])) ** 4))))
    assert slope(0.0) == 24.0
    assert bl.grad(bl.grad(bl.grad(bl.grad(lambda t: np.abs(t) ** 4))))(0.0) == 24.0


def test_sizes_of_integers_have_squares_too() -> None:
    x = np.array([-3, 0, 2])
    np.testing.assert_array_equal(bl.jit(lambda x: np.abs(x) ** 2 + np.abs(x) * np.abs(x))(x), 2 * x**2)


SPREADS: dict[str, Callable[[Any], Any]] = {
    "std": np.std,
    "std, unbiased": lambda x: np.std(x, ddof=1),
    "nanstd": np.nanstd,
    "std where": lambda x: np.std(x, where=np.array([True, True, True, False])),
    "root of var": lambda x: np.sqrt(np.var(x)),
    "root of nanvar": lambda x: np.sqrt(np.nanvar(x)),
    "power of var": lambda x: np.var(x) ** 0.5,
    "root of cov": lambda x: np.sqrt(np.cov(x)),
    "by hand": lambda x: np.sqrt(np.mean((x - np.mean(x)) ** 2)),
    "weighted": lambda x: np.sqrt(np.sum(np.array([1, 2, 0, 3], x.dtype) * (x - np.mean(x)) ** 2)),
    "products": lambda x: np.sqrt((x - np.mean(x)) @ (x - np.mean(x)) / 3),
    "pairs": lambda x: np.mean(np.sqrt((x[:, None] - x[None]) ** 2)),
    "normalized": lambda x: np.sum((x - np.mean(x)) ** 3 / (np.std(x) + 1e-3)),
}


@pytest.mark.parametrize("gear", GEARS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_spreads_of_equal_values_have_the_derivative_zero(gear: Any, dtype: Any) -> None:
    still, moving = np.full(4, 0.5, dtype), np.array([1.0, -2.0, 0.5, 4.0], dtype)

    def slopes(x: Any) -> Any:
        return tuple(bl.grad(f)(x) for f in SPREADS.values())

    kernel = bl.compile(slopes, still, gear=gear)
    step = 1e-6 if dtype is np.float64 else 1e-2
    for (name, f), zero, slope in zip(SPREADS.items(), kernel(still), kernel(moving), strict=True):
        np.testing.assert_array_equal(zero, np.zeros(4), err_msg=name)
        there = moving.astype(np.float64)
        differences = [(f(there + e) - f(there - e)) / (2 * step) for e in step * np.eye(4)]
        np.testing.assert_allclose(slope, differences, rtol=1e3 * step**2 + 1e-5, atol=1e-5, err_msg=name)


def test_constant_variable_leaves_other_correlations_finite() -> None:
    rows = np.array([[1.0, 1.0, 1.0, 1.0], [0.0, 1.0, 4.0, 9.0], [1.0, 0.0, 3.0, 2.0]])
    among = bl.jacobian(np.corrcoef)(rows)
    np.testing.assert_array_equal(
        np.isnan(bl.jit(np.corrcoef)(rows)), np.isnan(np.array([[np.nan] * 3] + [[np.nan, 1, 1]] * 2))
    )
    np.testing.assert_array_equal(among[0], 0 * among[0])
    np.testing.assert_allclose(among[1:, 1:, 1:], bl.jacobian(np.corrcoef)(rows[1:]), rtol=1e-12, atol=1e-16)
    spread = bl.grad(lambda x: np.sum(np.std(x, axis=1)))(rows)
    np.testing.assert_allclose(spread[1:], bl.grad(lambda x: np.sum(np.std(x, axis=1)))(rows[1:]), rtol=1e-12)
    np.testing.assert_array_equal(spread[0], 0)


ENDLESS: dict[str, Callable[[Any], Any]] = {
    "no square": lambda x: np.sqrt(x[0]),
    "a difference": lambda x: np.sqrt(x[0] ** 2 - x[1] ** 2 + x[0]),
    "a negative weight": lambda x: np.sqrt(-2.0 * (x[0] ** 2) + x[0]),
    "a product of two": lambda x: np.sqrt((x[0] + 1) * x[0]),
    "an odd power": lambda x: np.sqrt(np.abs(x[0])),
}


@pytest.mark.parametrize("name", ENDLESS)
def test_other_roots_keep_their_infinite_derivative(name: str) -> None:
    assert not np.isfinite(bl.grad(ENDLESS[name])(ZERO)[0])


def test_a_gradient_step_from_a_dead_unit() -> None:
    x = np.array([[1.0, 2.0], [1.0, 3.0], [1.0, 5.0]])
    loss = lambda w: np.sum(np.tanh((x * w - np.mean(x * w, axis=0)) / (np.std(x * w, axis=0) + 1e-5) + 0.1))  # noqa: E731
    run = bl.minimize(loss, np.ones(2), bl.optim.GD(0.1), steps=3)
    assert run.t == 3
    assert np.all(np.isfinite(run.x))


POINTS = np.array([[0.0, 1.0], [0.5, -1.0], [0.0, 1.0], [2.0, 0.3], [0.5, -1.0]])
DISTANCES: dict[str, Any] = {
    "norm": lambda d, s: np.linalg.norm(d / s, axis=-1),
    "norm over a scale": lambda d, s: np.linalg.norm(d, axis=-1) / s,
    "root of squares": lambda d, s: np.sqrt(np.sum((d / s) ** 2, axis=-1)),
    "root of scaled squares": lambda d, s: np.sqrt(np.sum(d**2, axis=-1) / s**2),
    "root of a sum of scaled squares": lambda d, s: np.sqrt(np.sum(d**2 / s**2, axis=-1)),
    "scales of each axis": lambda d, s: np.linalg.norm(d / np.stack([s, 2 * s]), axis=-1),
    "inverse scales": lambda d, s: np.linalg.norm(d * np.exp(-s), axis=-1),
    "root of squares, turned": lambda d, s: np.sqrt(np.sum((np.swapaxes(d, 0, -1) / -s) ** 2, axis=0)).T,
}
KERNELS: dict[str, Any] = {
    "Matern 1/2": lambda r: np.exp(-r),
    "Matern 3/2": lambda r: (1 + np.sqrt(3.0) * r) * np.exp(-np.sqrt(3.0) * r),
    "Gaussian": lambda r: np.exp(-(r**2) / 2),
}


@pytest.mark.parametrize("gear", GEARS)
def test_kernels_of_points_that_coincide_have_hessians_by_their_scales(gear: str) -> None:
    """By length and variance; where two points are one, the distance is 0 for every length, so that it is flat."""
    weights = np.cos(np.arange(25.0)).reshape(5, 5)
    apart = np.any(POINTS[:, None] != POINTS[None], axis=-1)

    def energy(p: Any, kernel: Any, distance: Any, mask: Any) -> Any:
        d = POINTS[:, None] - POINTS[None] + np.where(mask, 0.0, 1.0)[..., None]  # 1: what the mask leaves out
        return p[1] * np.sum(weights * mask * kernel(distance(d, p[0])))

    everywhere = np.ones((5, 5), bool)
    p, v = np.array([0.8, 1.7]), np.array([0.3, -1.1])

    def all_of(p: Any) -> Any:
        rows: list[Any] = []
        for kernel in KERNELS.values():
            for distance in DISTANCES.values():
                for mask in (everywhere, apart):
                    f = lambda q: energy(q, kernel, distance, mask)  # noqa: B023, E731
                    twice = bl.grad(lambda q: bl.grad(f)(q) @ v)  # noqa: B023
                    rows.append((bl.grad(f)(p), bl.hessian(f)(p), bl.hvp(f)(p, v), twice(p)))
        return tuple(rows)

    got = bl.compile(all_of, p, gear=gear)(p)
    names = [f"{a}, {b}" for a in KERNELS for b in DISTANCES]
    coinciding = weights[~apart].sum()  # times the variance: linear in it, and flat in the length
    for name, whole, rest in zip(names, got[::2], got[1::2], strict=True):
        np.testing.assert_allclose(whole[0], rest[0] + np.array([0.0, coinciding]), rtol=1e-12, err_msg=name)
        np.testing.assert_allclose(whole[1], rest[1], rtol=1e-10, atol=1e-12, err_msg=name)
        for product in whole[2:]:
            np.testing.assert_allclose(product, rest[1] @ v, rtol=1e-10, atol=1e-12, err_msg=name)


def test_points_that_part_are_a_kink() -> None:
    """A distance that is 0 and begins to grow has no second derivative, in either mode."""
    for name, distance in DISTANCES.items():
        f = lambda x: np.sum(np.exp(-distance(x - POINTS[0], 0.8)))  # noqa: B023, E731
        assert np.isnan(bl.hvp(f)(POINTS[0], np.array([1.0, 0.0]))).any(), name
        assert np.isnan(bl.grad(lambda x: bl.grad(f)(x)[0])(POINTS[0])).any(), name  # noqa: B023
