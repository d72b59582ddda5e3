"""Loops some of whose operations have no SIMD lanes, or only for common arguments: bits, memory, rare arguments."""

import numpy as np
import pytest
from scipy import special

import burlab as bl

LONG = "vectorize(assume_safety)"
RARE = [0.0, -0.0, 5e-324, -1e-310, 1e300, -1e300, np.inf, -np.inf, np.nan, 2.0**60, -(2.0**70), 1e-30, -1e-30]
DIVIDE = {"remainder": np.remainder, "fmod": np.fmod, "floor_divide": np.floor_divide}


def points(size, dtype, rare):
    x = np.random.default_rng(size).normal(size=size) * 10
    if rare:
        x[: len(RARE)] = RARE[:size]
    return np.random.default_rng(0).permutation(x).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("size", [3, 20, 700])
@pytest.mark.parametrize("name", DIVIDE)
@pytest.mark.filterwarnings("ignore:.*(invalid value|divide by zero|overflow).*:RuntimeWarning")
def test_remainders_are_numpys_to_the_bit(name, size, dtype):
    for rare in (False, True):
        x, y = points(size, dtype, rare), points(size + 1, dtype, rare)[1:]
        for divisor in (y, np.asarray(0.7, dtype), np.asarray(-3, dtype)):
            kernel = bl.jit(lambda x, y: DIVIDE[name](x, y) + dtype(0))
            np.testing.assert_array_equal(kernel(x, divisor), DIVIDE[name](x, divisor) + dtype(0))
            signs = bl.jit(lambda x, y: np.copysign(dtype(1), DIVIDE[name](x, y)))(x, divisor)
            known = ~np.isnan(DIVIDE[name](x, divisor))
            wanted = np.copysign(dtype(1), DIVIDE[name](x, divisor))
            np.testing.assert_array_equal(signs[known], wanted[known])


def formula(x, u):
    """Functions before and after an operation that has no lanes, and twice in a row."""
    y = np.exp(np.sin(x)) * np.tanh(x)
    return np.log1p(y * y) * u(u(y * 3) + x) + np.arctan(x) * y


OPERATIONS = {
    "remainder": lambda x: np.remainder(x, 0.7),
    "zeta": lambda x: special.zeta(np.abs(x) + 1.5, 1.0),
    "whole": lambda x: x * np.where(np.floor(x).astype(np.int64) % 3 == 0, 1.5, 0.5),
}


@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("shape", [(9,), (300,), (1025,), (40, 30), (30, 3), (7, 3, 50), (3, 600)])
def test_formulas_in_stages_have_the_bits_of_one_element_alone(name, shape):
    u = OPERATIONS[name]
    x = points(int(np.prod(shape)), np.float64, False).reshape(shape)
    alone = bl.jit(lambda x: formula(x, u))
    wanted = np.array([alone(v) for v in x.ravel()]).reshape(shape)
    kernel = bl.compile(lambda x: formula(x, u), x)
    assert shape == (30, 3) or LONG in kernel.source
    np.testing.assert_array_equal(kernel(x), wanted)
    np.testing.assert_array_equal(bl.jit(lambda x: formula(x, u).T * 2)(x), wanted.T * 2)
    total = bl.compile(lambda x: np.sum(formula(x, u)), x)
    assert total(x) == bl.jit(np.sum)(wanted)
    both = bl.compile(lambda x: (np.sum(formula(x, u) ** 2), formula(x, u)), x)
    np.testing.assert_array_equal(both(x)[1], wanted)
    np.testing.assert_allclose(both(x)[0], np.sum(wanted**2), rtol=1e-13)


@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("shape", [(40, 30), (30, 3), (7, 3, 50), (5, 300)])
def test_rows_in_stages_have_the_bits_of_one_row_alone(name, shape):
    def rows(x):
        y = formula(x - np.mean(x, axis=-1, keepdims=True), u)
        return u(y / np.sum(y, axis=-1, keepdims=True)) * y

    u = OPERATIONS[name]
    x = points(int(np.prod(shape)), np.float64, False).reshape(shape)
    kernel, alone = bl.compile(rows, x), bl.jit(rows)
    flat = x.reshape(-1, shape[-1])
    wanted = np.array([alone(flat[k : k + 2])[0] for k in range(len(flat) - 1)])
    np.testing.assert_array_equal(kernel(x).reshape(flat.shape)[:-1], wanted)


def test_rare_arguments_are_computed_again_where_results_take_the_place_of_operands():
    def update(x, v):
        v = np.remainder(v, x) + np.tanh(x)
        return np.remainder(x, v) * 0.5, v

    x, v = points(900, np.float64, True), points(901, np.float64, True)[1:]
    with np.errstate(all="ignore"):
        wanted_v = np.remainder(v, x) + bl.jit(np.tanh)(x)
        wanted = np.remainder(x, wanted_v) * 0.5
    kernel = bl.jit(update)
    np.testing.assert_array_equal(kernel(x, v)[1], wanted_v)
    np.testing.assert_array_equal(kernel(x, v)[0], wanted)

    def rows(x):
        y = x - np.max(x, axis=1, keepdims=True)
        z = np.remainder(y, 0.3)
        return np.remainder(x, z) + np.sum(z, axis=1, keepdims=True)

    x = np.nan_to_num(points(900, np.float64, True)).reshape(30, 30)
    with np.errstate(all="ignore"):
        y = x - np.max(x, axis=1, keepdims=True)
        z = np.remainder(y, 0.3)
        expected = np.remainder(x, z) + bl.jit(lambda z: np.sum(z, axis=1, keepdims=True))(z)
    np.testing.assert_array_equal(bl.jit(rows)(x), expected)


def test_gradients_through_stages_are_those_of_replay():
    x = np.random.default_rng(3).normal(size=(50, 40))

    def loss(x):
        return np.sum(formula(x, lambda y: np.remainder(y, 0.7)) ** 2) + np.sum(np.abs(x) * np.fmod(x, 0.4))

    compiled = bl.compile(bl.grad(loss), x)
    np.testing.assert_allclose(compiled(x), bl.compile(bl.grad(loss), x, gear="replay")(x), rtol=1e-12, atol=1e-12)
    assert compiled.source.count("vectorize(disable)") < compiled.source.count(LONG) * 2
    bl.check_grads(lambda x: np.sum(formula(x, np.abs)), x[0, :8], order=2)


def test_a_nan_of_a_common_argument_alone_is_no_error():
    x = points(200, np.float64, False)
    x[7] = 1e300
    kernel = bl.compile(lambda x: np.remainder(x, 0.7) * np.exp(-np.abs(x)), x, check_finite=True)
    np.testing.assert_array_equal(kernel(x), bl.jit(lambda x: np.remainder(x, 0.7) * np.exp(-np.abs(x)))(x))
