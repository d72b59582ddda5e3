"""NumPy's functions, operators and reductions on Values and arrays of Values."""

from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.eager import Value
from burlab.errors import DTypeError

NUMBERS = [2, 2.0, True, np.float64(2), np.float32(2), np.float16(2), np.int64(2), np.int8(2), np.uint8(2), np.bool_(1)]


@pytest.mark.parametrize("number", NUMBERS, ids=lambda n: type(n).__name__ + str(n))
def test_numbers_of_every_kind_on_either_side(number: Any):
    x, c = Value(3.0), float(number)
    got = [x + number, number + x, x - number, number - x, x * number, number * x, x / number, number / x, x**number]
    wanted = [3 + c, c + 3, 3 - c, c - 3, 3 * c, c * 3, 3 / c, c / 3, 3**c]
    for result, exact in zip([*got, number**x], [*wanted, c**3], strict=True):
        assert type(result) is Value
        assert result.data == pytest.approx(exact, rel=1e-15)
    y = x
    y += number
    y -= number
    y *= number
    y /= number
    y **= number
    y.backward()
    assert (y.data, x.grad) == pytest.approx((3**c, c * 3 ** (c - 1)))


def test_functions_of_one_value():
    x = Value(0.5)
    for name in "exp expm1 log log1p sqrt square sin cos tan arctan sinh cosh tanh negative absolute sign".split():
        got = getattr(np, name)(x)
        assert type(got) is Value, name
        assert got.data == pytest.approx(getattr(np, name)(0.5), rel=1e-15)
    assert np.positive(x) is x


def test_functions_of_two():
    x = Value(0.5)
    results = np.add(x, 1), np.maximum(x, 0.0), np.maximum(1.0, x), np.minimum(x, x), np.power(2.0, x), np.divide(1, x)
    for got, wanted in zip(results, (1.5, 0.5, 1.0, 0.5, 2**0.5, 2.0), strict=True):
        assert type(got) is Value
        assert got.data == wanted
    tie = np.maximum(x, 0.5)
    tie.backward()
    assert x.grad == 0.5


def test_masks_are_of_the_data():
    x = Value(np.nan)
    assert np.isnan(x)
    assert not np.isfinite(x)
    assert np.less(Value(1.0), 2.0)


def gradients(root: Value, leaves: Any) -> list[float]:
    root.backward()
    return [leaf.grad for leaf in np.ravel(leaves)]


def test_arrays_meet_values():
    a, x = np.array([1.0, 2.0]), Value(3.0)
    for product in (a * x, x * a, np.multiply(a, x), np.multiply.outer(a, x)):
        assert product.dtype == object
        assert [v.data for v in product] == [3.0, 6.0]
    assert [v.data for v in np.maximum(x, [1.0, 5.0])] == [3.0, 5.0]
    assert [v.data for v in np.maximum([Value(1.0), 5.0], x)] == [3.0, 5.0]
    assert (x * np.array(2.0)).data == 6.0
    assert gradients(np.sum(a * x), [x]) == [3.0]


def test_matrix_products_sums_and_functions_of_arrays():
    rng = np.random.default_rng(0)
    w, x = rng.normal(size=(3, 4)), rng.normal(size=4)
    values = np.array([Value(number) for number in x])
    root = np.sum(np.tanh(w @ values)) + np.exp(values).sum() + np.mean(values**2) + np.prod(values) + np.var(values)
    h = np.tanh(w @ x)
    product = np.prod(x)
    wanted = w.T @ (1 - h**2) + np.exp(x) + 2 * x / 4 + product / x + 2 * (x - x.mean()) / 4
    assert root.data == pytest.approx(h.sum() + np.exp(x).sum() + np.mean(x**2) + product + np.var(x), rel=1e-13)
    np.testing.assert_allclose(gradients(root, values), wanted, rtol=1e-12)


def test_reductions_and_einsum():
    values = np.array([[Value(float(3 * i + j)) for j in range(3)] for i in range(2)])
    assert np.add.reduce(values.ravel()).data == 15.0
    assert [v.data for v in np.sum(values, axis=0)] == [3.0, 5.0, 7.0]
    assert np.max(values) is values[1, 2]
    assert np.einsum("ij,ij->", values, values).data == 55.0
    assert [v.data for v in np.sort(values[::-1].ravel())] == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    assert np.cumsum(values[0])[-1].data == 3.0
    assert np.dot([1.0, 2.0, 3.0], values[0]).data == 8.0


@pytest.mark.parametrize("name", "relu sigmoid softplus erf gelu silu".split())
def test_activations_of_values_arrays_and_numbers_agree(name: str):
    function = getattr(bl, name)
    numbers = np.array([[-1.5, 0.25], [3.0, -0.125]])
    values = np.vectorize(Value, otypes=[object])(numbers)
    plain = function(numbers)
    for got in (function(values), function(values.tolist()), np.vectorize(function, otypes=[object])(values)):
        assert got.shape == (2, 2)
        np.testing.assert_allclose([v.data for v in got.ravel()], plain.ravel(), rtol=1e-14)
    assert function(values[0, 0]).data == getattr(values[0, 0], name)().data
    mixed = function(np.array([Value(0.5), 0.5], object))
    assert mixed[0].data == mixed[1]


@pytest.mark.parametrize("axis", [None, 0, 1, -1, (0, 1), (1, 2), 2])
@pytest.mark.parametrize("keepdims", [False, True])
def test_logsumexp_over_axes(axis: Any, keepdims: bool):
    from scipy import special

    numbers = np.random.default_rng(1).normal(size=(2, 3, 2)) * 100
    values = np.vectorize(Value, otypes=[object])(numbers)
    got = np.asarray(bl.logsumexp(values, axis=axis, keepdims=keepdims))
    wanted = np.asarray(special.logsumexp(numbers, axis=axis, keepdims=keepdims))
    assert got.shape == wanted.shape
    np.testing.assert_allclose([v.data for v in got.ravel()], wanted.ravel(), rtol=1e-14)


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_softmax_and_its_derivatives(name: str, axis: int):
    from scipy import special

    numbers = np.random.default_rng(2).normal(size=(3, 4)) * 30 + 1000
    weights = np.random.default_rng(3).normal(size=(3, 4))
    values = np.vectorize(Value, otypes=[object])(numbers)
    got = getattr(bl, name)(values, axis=axis)
    wanted = getattr(special, name)(numbers, axis=axis)
    np.testing.assert_allclose([v.data for v in got.ravel()], wanted.ravel(), rtol=1e-12)
    p = special.softmax(numbers, axis=axis)
    total = np.sum((weights * p) if name == "softmax" else weights, axis=axis, keepdims=True)
    slopes = p * (weights - total) if name == "softmax" else weights - p * total
    np.testing.assert_allclose(gradients(np.sum(got * weights), values), slopes.ravel(), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("number", [1j, np.complex128(1), np.complex64(1), "x", None, [1.0], {}, object(), b"1"])
def test_non_real_operand_raises_type_error(number: Any):
    x = Value(2.0)
    if not isinstance(number, list):
        with pytest.raises(TypeError):
            x + number
        with pytest.raises(TypeError):
            number * x
    with pytest.raises(DTypeError, match="one real number"):
        Value(number)
    with pytest.raises(DTypeError, match="real numbers"):
        x.data = number


def test_conversion_that_drops_the_gradient_raises():
    x = Value(2.0)
    for convert in (float, int, np.floor, np.rint, lambda v: np.array([v], float)):
        with pytest.raises(TypeError):
            convert(x)
