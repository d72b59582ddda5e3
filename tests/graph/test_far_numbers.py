"""Numbers whose squares are beyond the range of floats: values and derivatives are those of nearer ones, scaled."""

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest

import burlab as bl
from burlab.functions.scipy.stats import cauchy, t
from tests.engines import GEARS

FAR_NUMBERS = {np.float64: (1e160, 1e300, 1e-160, 1e-170, 1e-300), np.float32: (1e20, 1e30, 1e-22, 1e-30)}
X = np.array([[3.0, -4.0, 0.5], [1.0, -2.0, 0.0]])
BOTH = pytest.mark.parametrize("dtype", [np.float64, np.float32])

LENGTHS: dict[str, Callable[[Any], Any]] = {
    "norm": np.linalg.norm,
    "of rows": lambda x: np.sum(np.linalg.norm(x, axis=1)),
    "of columns": lambda x: np.sum(np.linalg.norm(x, axis=0, keepdims=True)),
    "of a transposed array": lambda x: np.sum(np.linalg.norm(x.T, axis=0)),
    "of a difference": lambda x: np.linalg.norm(x - 3 * x[::-1]),
    "Frobenius": lambda x: np.linalg.norm(x, "fro"),
    "vector_norm": lambda x: np.linalg.vector_norm(x, axis=(0, 1)),
    "mapped": lambda x: np.sum(bl.vmap(np.linalg.norm)(x)),
    "std": np.std,
    "std, unbiased": lambda x: np.std(x, ddof=2),
    "std of rows": lambda x: np.sum(np.std(x, axis=1, keepdims=True) * np.array([[1, 3]], x.dtype)),
    "std of columns": lambda x: np.sum(np.std(x, axis=0, ddof=1)),
    "hypot": lambda x: np.sum(np.hypot(x[0], x[1])),
}


@pytest.mark.parametrize("gear", GEARS)
@BOTH
def test_lengths_scale(gear: Any, dtype: Any) -> None:
    """A length of s x is s times that of x, and its gradient the same."""

    def all_of(x: Any) -> Any:
        return tuple((*bl.value_and_grad(f)(x), bl.jvp(f, (x,), (along,))[1]) for f in LENGTHS.values())

    x, along = X.astype(dtype), np.cos(X).astype(dtype)
    kernel = bl.compile(all_of, x, gear=gear)
    near = kernel(x)
    for name, f, (value, _, _) in zip(LENGTHS, LENGTHS.values(), near, strict=True):
        if name != "mapped":
            np.testing.assert_allclose(value, f(X), rtol=1e-6, err_msg=name)
    for scale in FAR_NUMBERS[dtype]:
        for name, wanted, got in zip(LENGTHS, near, kernel(x * dtype(scale)), strict=True):
            for k, power in enumerate((scale, 1.0, 1.0)):
                np.testing.assert_allclose(got[k], wanted[k] * power, rtol=1e-5, atol=1e-6 * power, err_msg=name)


@BOTH
def test_lengths_above_a_number_of_each_sample(dtype: Any) -> None:
    lengths: tuple[Callable[[Any], Any], ...] = (
        np.std,
        lambda x: np.linalg.norm(x - x[0, 0]),
        lambda x: np.sum(np.linalg.norm(x - x[0, 0], axis=1)),
    )
    scales = np.array((1, *FAR_NUMBERS[dtype][:3]), dtype)
    points = scales[:, None, None] * X.astype(dtype)
    for f in lengths:
        value, slope = f(X), bl.grad(f)(X)
        np.testing.assert_allclose(bl.vmap(f)(points) / scales, np.full(len(scales), value), rtol=1e-5)
        np.testing.assert_allclose(bl.vmap(bl.grad(f))(points), [slope] * len(scales), rtol=1e-5, atol=1e-6)


def test_lengths_of_what_has_none() -> None:
    for x in ([np.inf, 1.0], [np.nan, 1.0], [np.nan, np.inf], [0.0, 0.0]):
        np.testing.assert_array_equal(bl.jit(np.linalg.norm)(np.array(x)), np.linalg.norm(x))


ELEMENTWISE: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "arcsinh": (np.arcsinh, mpmath.asinh),
    "arccosh": (lambda x: np.arccosh(np.abs(x)), lambda x: mpmath.acosh(abs(x))),
    "cauchy": (cauchy.logpdf, lambda x: -mpmath.log(mpmath.pi * (1 + x**2))),
    "t": (
        lambda x: t.logpdf(x, 3.0),
        lambda x: -2 * mpmath.log(1 + x**2 / 3) + mpmath.log(2 / mpmath.pi / mpmath.sqrt(3)),
    ),
}


@BOTH
@pytest.mark.parametrize("name", ELEMENTWISE)
def test_elementwise_derivatives_far_from_zero(name: str, dtype: Any) -> None:
    f, exact = ELEMENTWISE[name]
    points = (1.5, -2.5, 1e3, -1e7, 1e14, -1.5e15, 1e18, *(s for s in FAR_NUMBERS[dtype] if s > 1))
    with mpmath.workdps(700):
        for point in map(dtype, points):
            there = mpmath.mpf(float(point))
            tight = 1e-12 if dtype is np.float64 else 1e-5
            assert bl.jit(f)(point) == pytest.approx(float(exact(there)), rel=tight)
            step = abs(there) * mpmath.mpf(10) ** -200
            slope = (exact(there + step) - exact(there - step)) / (2 * step)
            assert bl.grad(f)(point) == pytest.approx(float(slope), rel=tight)
            bend = (exact(there + step) - 2 * exact(there) + exact(there - step)) / step**2
            if abs(bend) > 1e-30:
                assert bl.grad(bl.grad(f))(point) == pytest.approx(float(bend), rel=1e3 * tight)


@BOTH
def test_angles_scale(dtype: Any) -> None:
    points = np.array([[3.0, -4.0], [0.0, 1.0], [-2.0, 0.0], [-1e-3, -5.0]], dtype)
    slopes = bl.grad(lambda y, x: np.sum(np.arctan2(y, x)), (0, 1))
    for scale in map(dtype, (*FAR_NUMBERS[dtype][:1], *FAR_NUMBERS[dtype][2:3])):
        for got, wanted in zip(slopes(*(scale * points.T)), slopes(*points.T), strict=True):
            np.testing.assert_allclose(got * scale, wanted, rtol=1e-5)
    y, x = points.T.astype(float)
    for got, wanted in zip(slopes(*points.T), (x / (x * x + y * y), -y / (x * x + y * y)), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-5)
