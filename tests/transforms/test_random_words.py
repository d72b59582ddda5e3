"""split, randint, rademacher, permutation, choice, exponential, laplace, gamma: distributions, derivatives, gears.

Keys are fixed, so each bound holds always or never.
"""

from typing import Any

import numpy as np
import pytest
from scipy import special, stats

import burlab as bl
from burlab.errors import ArgumentError, DTypeError, ShapeError, TraceError
from tests.engines import GEARS, assert_close, jax_or_skip

KEY = bl.random.key(2024)
N = 50_000


CONTINUOUS = {
    "uniform": (lambda n, d: bl.random.uniform(KEY, n, d), lambda s: s.uniform()),
    "normal": (lambda n, d: bl.random.normal(KEY, n, d), lambda s: s.norm()),
    "exponential": (lambda n, d: bl.random.exponential(KEY, n, d), lambda s: s.expon()),
    "laplace": (lambda n, d: bl.random.laplace(KEY, n, d), lambda s: s.laplace()),
    **{
        f"gamma({a})": (lambda n, d, a=a: bl.random.gamma(KEY, a, n, d), lambda s, a=a: s.gamma(a))
        for a in (0.05, 0.5, 1.0, 2.5, 1000.0)
    },
}


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", CONTINUOUS)
def test_distributions_by_kolmogorov_and_smirnov(name: str, dtype: str) -> None:
    draw, known = CONTINUOUS[name]
    x, law = draw(N, dtype), known(stats)
    assert x.dtype == np.dtype(dtype)
    assert np.all(np.isfinite(x))
    assert stats.kstest(x.astype(np.float64), law.cdf).pvalue > 0.001
    mean, var, skew, kurtosis = law.stats("mvsk")
    assert abs(x.mean() - mean) < 5 * np.sqrt(var / N)
    assert abs(x.var() - var) < 5 * var * np.sqrt((kurtosis + 2) / N)
    del skew
    rows = x[: N // 2 * 2].reshape(2, -1)
    assert abs(np.corrcoef(rows[0], rows[1])[0, 1]) < 5 / np.sqrt(N / 2)
    assert abs(np.corrcoef(x[:-1], x[1:])[0, 1]) < 5 / np.sqrt(N)


def test_normal_numbers_of_float32_reach_far() -> None:
    z = bl.random.normal(KEY, 2_000_001, np.float32).astype(np.float64)
    assert stats.kstest(z, "norm").pvalue > 0.001
    assert 4.8 < np.max(np.abs(z)) < 5.8
    assert abs((z**4).mean() - 3) < 5 * np.sqrt(96 / len(z))
    assert len(np.unique(z)) > 0.9 * len(z)


def test_keys_of_a_split_differ_from_all_others() -> None:
    keys = bl.random.split(KEY, (40, 25)).reshape(-1, 2)
    folded = np.stack([bl.random.fold_in(KEY, i) for i in range(-3, 40)])
    everything = np.concatenate([keys, folded, KEY[None]])
    assert len(np.unique(everything, axis=0)) == len(everything)
    np.testing.assert_array_equal(bl.random.split(KEY, 7), keys[:7])
    pairs = np.stack([bl.random.key(1), bl.random.key(2)])
    many = bl.vmap(lambda k: bl.random.split(k, 3))(pairs)
    np.testing.assert_array_equal(many, [bl.random.split(k, 3) for k in pairs])
    np.testing.assert_array_equal(many, bl.random.split(pairs, 3))


@pytest.mark.parametrize(("low", "high"), [(0, 7), (-3, 2), (5, 6), (0, 2**20), (-(2**63), 2**63 - 1)])
def test_randint_is_uniform_in_its_range(low: int, high: int) -> None:
    x = bl.random.randint(KEY, N, low, high)
    assert x.dtype == np.int64
    assert low <= x.min() <= x.max() < high
    bins = max(2, min(high - low, 16))
    places = (x.astype(object) - low) * bins // (high - low)
    if high - low > 1:
        assert stats.chisquare(np.bincount(places.astype(int), minlength=bins)).pvalue > 0.001


def test_integers_of_other_forms() -> None:
    assert bl.random.randint(KEY, (2, 3), 0, 9, np.int32).dtype == np.int32
    ends = np.array([3, 1, 10])
    x = bl.random.randint(KEY, (1000, 3), np.array([0, 1, -1]), ends)
    np.testing.assert_array_equal(x.min(0), [0, 1, -1])
    np.testing.assert_array_equal(x.max(0), [2, 1, 9])  # an empty range gives its begin
    traced = bl.jit(lambda n: bl.random.randint(KEY, 5, 0, n))
    np.testing.assert_array_equal(traced(np.array(9)), bl.random.randint(KEY, 5, 0, 9))


@pytest.mark.parametrize("dtype", ["int32", "int64", "float32", "float64"])
def test_signs(dtype: str) -> None:
    x = bl.random.rademacher(KEY, N, dtype)
    assert x.dtype == np.dtype(dtype)
    assert set(np.unique(x)) == {-1, 1}
    assert abs(x.mean()) < 5 / np.sqrt(N)


def test_permutations_are_all_equally_likely() -> None:
    keys = bl.random.split(KEY, 24_000)
    rows = bl.vmap(lambda k: bl.random.permutation(k, 4))(keys)
    np.testing.assert_array_equal(np.sort(rows, axis=1), np.tile(np.arange(4), (24_000, 1)))
    counts = np.unique(rows, axis=0, return_counts=True)[1]
    assert len(counts) == 24
    assert stats.chisquare(counts).pvalue > 0.001
    np.testing.assert_array_equal(bl.random.permutation(keys[3], 4), rows[3])


def test_arrays_in_random_order() -> None:
    x = np.arange(12.0).reshape(3, 4)
    rows, columns = bl.random.permutation(KEY, x), bl.random.permutation(KEY, x, axis=1)
    np.testing.assert_array_equal(np.sort(rows, axis=0), x)
    np.testing.assert_array_equal(np.sort(columns, axis=1), x)
    order = bl.random.permutation(KEY, 3)
    w = np.array([1.0, 10.0, 100.0])
    g = bl.grad(lambda x: bl.random.permutation(KEY, x) @ w)(np.zeros(3))
    np.testing.assert_array_equal(g[order], w)


def test_choices_follow_their_weights() -> None:
    p = np.array([0.5, 0.0, 2.0, 1.5])
    x = bl.random.choice(KEY, 4, N, p=p)
    counts = np.bincount(x, minlength=4)
    assert counts[1] == 0
    assert stats.chisquare(counts[[0, 2, 3]], N * p[[0, 2, 3]] / 4).pvalue > 0.001
    assert stats.chisquare(np.bincount(bl.random.choice(KEY, 5, N))).pvalue > 0.001


def test_choices_without_replacement() -> None:
    """Each row differs in all of its elements; the first one follows the weights, the second what is left of them."""
    p = np.array([0.1, 0.2, 0.3, 0.4])
    keys = bl.random.split(KEY, 20_000)
    pairs = bl.vmap(lambda k: bl.random.choice(k, 4, 2, replace=False, p=p))(keys)
    wanted = np.array([[p[i] * p[j] / (1 - p[i]) if i != j else 0.0 for j in range(4)] for i in range(4)])
    counts = np.zeros((4, 4))
    np.add.at(counts, tuple(pairs.T), 1)
    assert np.all(np.diag(counts) == 0)
    off = ~np.eye(4, dtype=bool)
    assert stats.chisquare(counts[off], 20_000 * wanted[off]).pvalue > 0.001
    alike = bl.vmap(lambda k: bl.random.choice(k, 4, 4, replace=False))(keys)
    np.testing.assert_array_equal(np.sort(alike, axis=1), np.tile(np.arange(4), (20_000, 1)))


def test_choices_of_rows() -> None:
    x = np.arange(12.0).reshape(4, 3)
    picked = bl.random.choice(KEY, x, (2, 5))
    assert picked.shape == (2, 5, 3)
    assert {tuple(row) for row in picked.reshape(-1, 3)} <= {tuple(row) for row in x}
    assert bl.random.choice(KEY, x, 5, axis=1).shape == (4, 5)
    assert bl.random.choice(KEY, 3).shape == ()
    g = bl.grad(lambda x: np.sum(bl.random.choice(KEY, x, 50)))(x)
    np.testing.assert_array_equal(g[:, 0], np.bincount(bl.random.choice(KEY, 4, 50), minlength=4))


@pytest.mark.parametrize("a", [0.03, 0.7, 1.0, 1.5, 10.0, 300.0, 1e5])
def test_gradients_through_gamma_equal_jaxs(a: float) -> None:
    jax = jax_or_skip()
    shape = np.full(200, a)
    x = bl.random.gamma(KEY, shape)
    g = bl.grad(lambda a: np.sum(bl.random.gamma(KEY, a)))(shape)
    wanted = jax.lax.random_gamma_grad(shape, x)
    usual = np.abs(x - a) < 4 * np.sqrt(a)  # JAX's own error is larger in the tails
    np.testing.assert_allclose(g[usual], wanted[usual], rtol=1e-6)
    forward = bl.jvp(lambda a: bl.random.gamma(KEY, a), (shape,), (np.ones(200),))[1]
    np.testing.assert_allclose(forward, g, rtol=1e-12)


@pytest.mark.parametrize("a", [0.2, 1.3, 20.0])
def test_gradients_through_gamma_are_those_of_the_quantile(a: float) -> None:
    x = bl.random.gamma(KEY, a, 100)
    slopes = bl.jvp(lambda a: bl.random.gamma(KEY, a, 100), (a,), (1.0,))[1]
    h, at = 1e-4 * a, special.gammainc(a, x)
    q = [special.gammaincinv(a + k * h, at) for k in (-2, -1, 1, 2)]
    np.testing.assert_allclose(slopes, (q[0] - 8 * q[1] + 8 * q[2] - q[3]) / (12 * h), rtol=1e-7)


def test_moments_have_the_derivatives_of_moments() -> None:
    """E x = a and E x^2 = a (a + 1): their derivatives by a are 1 and 2 a + 1."""
    for power, wanted in ((1, 1.0), (2, 7.0)):
        f = lambda a, power=power: np.mean(bl.random.gamma(KEY, a, N) ** power)  # noqa: E731
        assert abs(bl.grad(f)(3.0) - wanted) < 0.05 * wanted
    scale = bl.grad(lambda s: np.mean(np.abs(s * bl.random.laplace(KEY, N)) + s * bl.random.exponential(KEY, N)))
    assert abs(scale(3.0) - 2) < 0.03


def test_gamma_of_no_parameter() -> None:
    x = bl.random.gamma(KEY, np.array([-1.0, 0.0, np.nan, np.inf, 2.0]))
    np.testing.assert_array_equal(np.isnan(x), [True, True, True, True, False])
    assert bl.random.gamma(KEY, 2, (2, 3)).shape == (2, 3)
    assert bl.random.gamma(KEY, np.ones((3, 1)), (3, 2), "float32").dtype == np.float32
    with pytest.raises(TraceError, match=r"the derivative of bl\.random\.gamma is not defined"):
        bl.hessian(lambda a: bl.random.gamma(KEY, a))(2.0)


@pytest.mark.parametrize("gear", GEARS)
def test_gears_and_vmap_give_the_same_numbers(gear: Any) -> None:
    def f(k: Any) -> Any:
        a, b, c = bl.random.split(k, 3)
        return (
            bl.random.gamma(a, np.array([0.5, 3.0])),
            bl.random.randint(b, 4, -5, 5),
            bl.random.choice(c, 6, 3, replace=False),
            bl.random.laplace(a, 3),
            bl.random.normal(a, 5, np.float32),
        )

    keys = bl.random.split(KEY, 4)
    wanted = [f(k) for k in keys]
    kernel: Any = bl.compile(f, KEY, gear=gear)
    mapped: Any = bl.compile(bl.vmap(f), keys, gear=gear)
    for row, k in enumerate(keys):
        assert_close(kernel(k), wanted[row])
        assert_close([y[row] for y in mapped(keys)], wanted[row])


def test_distributions_with_wrong_arguments_raise() -> None:
    with pytest.raises(DTypeError, match="maxval of randint is float64, expected integers"):
        bl.random.randint(KEY, 3, 0, np.array(2.5))
    with pytest.raises(ArgumentError, match="maxval of randint must be an int64, got 9223372036854775808"):
        bl.random.randint(KEY, 3, 0, 2**63)
    with pytest.raises(
        ShapeError, match=r"an end of randint has shape \(2,\), which does not broadcast to shape \(3,\)"
    ):
        bl.random.randint(KEY, 3, 0, np.array([1, 2]))
    with pytest.raises(DTypeError, match="int32, int64 or uint64, got dtype='float32'"):
        bl.random.randint(KEY, 3, 0, 2, "float32")
    with pytest.raises(ArgumentError, match="choice of 4 among 3 elements without replacement"):
        bl.random.choice(KEY, 3, 4, replace=False)
    with pytest.raises(ShapeError, match=r"choice got p of shape \(2,\) for 3 elements"):
        bl.random.choice(KEY, 3, 2, p=[0.5, 0.5])
    with pytest.raises(ArgumentError, match="permutation got -1"):
        bl.random.permutation(KEY, -1)
    with pytest.raises(ShapeError, match="permutation got one number"):
        bl.random.permutation(KEY, 2.5)
    with pytest.raises(ShapeError, match=r"a of gamma has shape \(2,\), which does not broadcast"):
        bl.random.gamma(KEY, np.ones(2), 3)
    with pytest.raises(DTypeError, match="gamma needs a floating a, got int64"):
        bl.random.gamma(KEY, np.ones(2, int))


def test_choice_by_traced_probabilities_of_float32_warns_of_nothing() -> None:
    shares = np.array([0.25, 0.5, 0.25], np.float32)
    draw = bl.jit(lambda p: bl.random.choice(KEY, 3, N, p=p))
    found = draw(shares)
    np.testing.assert_array_equal(found, bl.random.choice(KEY, 3, N, p=shares))
    assert stats.chisquare(np.bincount(found, minlength=3), N * shares.astype(np.float64)).pvalue > 0.001
