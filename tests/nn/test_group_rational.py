"""`GroupRational` against the formulas of the paper, for values and derivatives."""

import re
from typing import Any

import numpy as np
import pytest
from scipy.special import expit, ndtr

import burlab as bl
from burlab.errors import ArgumentError, DTypeError, ShapeError

rng = np.random.default_rng(0)
GroupRational = bl.nn.GroupRational
A, B = rng.normal(size=(3, 6)), rng.normal(size=(3, 4))


def layer() -> Any:
    return GroupRational(6, 3, dtype=np.float64).replace(numerator=A, denominator=B)


def formulas(x: Any, g: Any) -> tuple[Any, ...]:
    """F, and g times its derivatives by x, a and b: from the text of the paper, a term at a time. x: shape (n, 6)."""
    y, by_x, by_a, by_b = np.zeros_like(x), np.zeros_like(x), np.zeros((3, 6)), np.zeros((3, 4))
    for row, channel in np.ndindex(*x.shape):
        v, c, group = x[row, channel], g[row, channel], channel // 2
        a, b = A[group], B[group]
        p, slope_p = sum(a[i] * v**i for i in range(6)), sum(i * a[i] * v ** (i - 1) for i in range(1, 6))
        q = 1 + sum(abs(b[j]) * abs(v) ** (j + 1) for j in range(4))
        slope_q = np.sign(v) * sum((j + 1) * abs(b[j]) * abs(v) ** j for j in range(4))
        y[row, channel] = p / q
        by_x[row, channel] = c * (slope_p / q - p / q**2 * slope_q)
        by_a[group] += [c * v**i / q for i in range(6)]
        by_b[group] += [-c * p / q**2 * (1 if b[j] >= 0 else -1) * abs(v) ** (j + 1) for j in range(4)]
    return y, by_x, by_a, by_b


@pytest.mark.parametrize("shape", [(6,), (5, 6), (2, 3, 6)])
def test_values_and_derivatives_are_those_of_the_paper(shape: Any) -> None:
    ours, x = layer(), rng.normal(size=shape)
    y = formulas(x.reshape(-1, 6), np.zeros_like(x.reshape(-1, 6)))[0].reshape(shape)
    np.testing.assert_allclose(ours(x), y, rtol=1e-12)
    np.testing.assert_allclose(bl.jit(lambda m, x: m(x))(ours, x), y, rtol=1e-12)
    by_layer, by_x = bl.grad(lambda m, x: np.sum(np.sin(m(x))), (0, 1))(ours, x)
    _, wanted, by_a, by_b = formulas(x.reshape(-1, 6), np.cos(y).reshape(-1, 6))
    np.testing.assert_allclose(by_x, wanted.reshape(shape), rtol=1e-10)
    np.testing.assert_allclose(by_layer.numerator, by_a, rtol=1e-10)
    np.testing.assert_allclose(by_layer.denominator, by_b, rtol=1e-10)


@pytest.mark.parametrize(
    ("start", "function", "error"),
    [
        ("swish", lambda x: x * expit(x), 5e-7),
        ("gelu", lambda x: x * ndtr(x), 2e-3),
        ("identity", lambda x: x, 0.0),
    ],
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_it_starts_as_a_known_function(start: Any, function: Any, error: float, dtype: Any) -> None:
    x = np.linspace(-3, 3, 3000).astype(dtype).reshape(-1, 6)
    y = GroupRational(6, 2, start=start, dtype=dtype)(x)
    assert y.dtype == dtype
    assert np.abs(y - function(x.astype(np.float64))).max() <= error + 1e-6 * (dtype is np.float32)


def test_a_coefficient_that_is_zero_moves() -> None:
    ours = GroupRational(4, 2, start="identity", dtype=np.float64)
    slopes = bl.grad(lambda m: np.sum(m(np.full(4, 2.0))))(ours)
    np.testing.assert_allclose(slopes.denominator, np.tile(-2 * 2.0 * 2.0 ** np.arange(1, 5), (2, 1)))


def test_sums_over_two_million_terms_keep_the_digits_of_float32() -> None:
    """FlashKAT: one accumulator of float32 loses digits. The terms are positive, so that all of their errors show."""
    x = rng.uniform(0.5, 2.0, size=(1 << 18, 8)).astype(np.float32)
    ours = GroupRational(8, 1, start="swish")
    slopes = bl.grad(lambda m, x: np.sum(m(x)))(ours, x)
    double = bl.grad(lambda m, x: np.sum(m(x)))(bl.tree.map(lambda a: a.astype(np.float64), ours), x.astype(np.float64))
    for got, wanted in ((slopes.numerator, double.numerator), (slopes.denominator, double.denominator)):
        np.testing.assert_allclose(got, wanted, rtol=5e-7)
    powers = np.float32(1) / (1 + np.polyval(ours.denominator[0][::-1], x) * x)
    one = np.cumsum(powers, dtype=np.float32)[-1]  # an accumulator, an addition after the other
    assert abs(one / double.numerator[0, 0] - 1) > 5e-6


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda: GroupRational(6, 4), ArgumentError, "width=6 must be a multiple of groups=4"),
        (lambda: GroupRational(6, 0), ArgumentError, "groups=0 must be a positive integer"),
        (lambda: GroupRational(8, start="relu"), ArgumentError, "start of GroupRational is 'relu', expected one of"),
        (lambda: GroupRational(8, dtype=int), DTypeError, "float32 or float64"),
        (lambda: layer()(np.ones(5)), ShapeError, "GroupRational expects x of shape (..., 6)"),
        (lambda: layer()(np.ones(6, np.float32)), DTypeError, "GroupRational has parameters of float64"),
    ],
)
def test_what_does_not_fit_is_refused(call: Any, kind: type[Exception], words: str) -> None:
    with pytest.raises(kind, match=re.escape(words)):
        call()
