"""Functions that a careless plan gets wrong: values read through views of themselves, many axes, awkward sizes."""

import numpy as np
import pytest

from burlab.compiler import build
from burlab.graph import linear_nodes
from tests.compiler.trace import traced

RNG = np.random.default_rng(0)


def numbers(*shape):
    return RNG.normal(size=shape)


def reuse(x):
    """Every value is read at another place than where it is written."""
    y = np.exp(x)
    for _ in range(5):
        y = y[::-1] * 0.5 + y
        y = y + np.concatenate([y[1:], y[:1]])
    return y


def window(*window):
    """A pad that NumPy and the graph both know, between elementwise work."""
    start, step, shape = window

    def function(x):
        if isinstance(x, np.ndarray):
            y = np.zeros(shape)
            y[np.ix_(*(a + s * np.arange(d) for a, s, d in zip(start, step, x.shape, strict=True)))] = np.exp(x)
        else:
            y = linear_nodes.pad(np.exp(x), start, step, shape)
        return np.cos(y) * 2.0 + np.arange(float(shape[-1]))

    return function


def padded(x):
    y = np.zeros(9)
    y[[6, 4, 2]] = x
    return y


FUNCTIONS = {
    "a value plus itself reversed": (lambda x: (y := np.exp(x)) + y[::-1], numbers(7)),
    "a value plus its transpose": (lambda x: (y := np.exp(x)) + y.T, numbers(4, 4)),
    "a value shifted in place": (lambda x: (y := np.cumsum(x))[1:] - y[:-1], numbers(50)),
    "many views of one buffer": (reuse, numbers(33)),
    "in place under a broadcast": (lambda x: (y := np.cumsum(x * x)) + y[-1] * np.exp(y), numbers(40)),
    "stored and read on": (lambda x: np.sum(y := np.exp(x)) * y + np.flip(y), numbers(40)),
    "three separate axes": (lambda x: x.sum((0, 2, 4)) + x.max((0, 2, 4)) + x.min((0, 2, 4)), numbers(3, 4, 2, 5, 3)),
    "alternate axes of a transpose": (lambda x: x.transpose(3, 1, 0, 2).sum((0, 2)), numbers(3, 4, 5, 6)),
    "sums of a reversed slice": (lambda x: x[::-2, 1::3].sum(0) + x[::-2, 1::3].sum(), numbers(9, 13)),
    "contraction over three letters": (
        lambda a, b: np.einsum("abcd,dbea->ce", a, b),
        numbers(2, 3, 4, 5),
        numbers(5, 3, 6, 2),
    ),
    "contraction with a batch inside": (
        lambda a, b: np.einsum("iak,kab->aib", a, b),
        numbers(4, 3, 5),
        numbers(5, 3, 2),
    ),
    "contraction whose last letter is a batch": (
        lambda a, b: np.einsum("ia,ja->ija", a, b),
        numbers(4, 6),
        numbers(3, 6),
    ),
    "contraction of views": (lambda a, b: a[::2].T[::-1] @ b[1:, ::-1], numbers(6, 5), numbers(4, 7)),
    "outer product": (lambda a, b: np.outer(a, b) + np.outer(b, a).T, numbers(5), numbers(6)),
    "dot of long vectors": (lambda a, b: a @ b, numbers(10_007), numbers(10_007)),
    "matrix by vector both ways": (
        lambda A, x: (A @ x[: A.shape[1]], x[: A.shape[0]] @ A),
        numbers(37, 53),
        numbers(60),
    ),
    "cumsum over a middle axis": (lambda x: np.cumsum(x.transpose(2, 0, 1), 1), numbers(3, 4, 5)),
    "argmax over every axis": (lambda x: tuple(np.argmax(x, k) for k in range(3)), numbers(3, 4, 5)),
    "concatenate views": (lambda x: np.concatenate([x.T, x[::-1].T, x.T * 2.0], axis=1), numbers(4, 3)),
    "stack of scalars": (lambda x: np.stack([x[0] * 2.0, x[1] + x[2], x[2]]), numbers(3)),
    "axes of size one": (lambda x: (x.sum(1, keepdims=True) * x + x[:, :1]).reshape(1, 4, 1, 4, 1), numbers(4, 4)),
    "comparisons and masks": (lambda x: np.where((x > 0) & ~(x > 1), x, -x) * (x != 0), numbers(19)),
    "integers": (lambda x: (x * 3 - 7) * (x > 2) + np.cumsum(x) - x.sum(), np.arange(11)),
    "small integers": (lambda x: x * 2 + x[::-1], np.arange(11, dtype=np.int32)),
    "window in the middle": (window((1, 2), (1, 1), (5, 9)), numbers(3, 4)),
    "window backwards": (window((3, 5), (-1, -1), (5, 9)), numbers(3, 4)),
    "window of one row": (window((2, 0), (1, 1), (5, 4)), numbers(1, 4)),
    "window of one number": (window((2,), (1,), (5,)), numbers(1)),
    "window along the last axis": (window((0, 3), (1, 1), (6, 20)), numbers(6, 17)),
    "window along the first axis": (window((2, 0, 0), (1, 1, 1), (9, 3, 4)), numbers(6, 3, 4)),
    "window in a tiny loop": (window((1,), (1,), (3,)), numbers(1)),
    "every second": (window((1,), (2,), (9,)), numbers(4)),
    "pad by a negative step": (
        lambda x: linear_nodes.pad(x, (6,), (-2,), (9,)) if not isinstance(x, np.ndarray) else padded(x),
        numbers(3),
    ),
}


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("gear", ["compiled", "replay"])
@pytest.mark.parametrize("case", FUNCTIONS)
def test_tricky(case, gear, strict):
    function, *arguments = FUNCTIONS[case]
    exe = build(traced(function, *arguments), gear=gear, strict=strict)
    expected = function(*arguments)
    for got, wanted in zip(exe(*arguments), expected if isinstance(expected, tuple) else (expected,), strict=True):
        assert got.shape == np.shape(wanted)
        assert got.dtype == np.asarray(wanted).dtype
        np.testing.assert_allclose(got, wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("n", [1, 15, 16, 17, 512, 513, 100_000, 3_000_001])
def test_long_sums_are_accurate(dtype, n):
    """Within 4 units in the last place of the exact sum of positive numbers."""
    x = RNG.random(n).astype(dtype)
    exact = float(np.sum(x.astype(np.longdouble)))
    for function in (np.sum, lambda x: np.sum(x.reshape(1, n), axis=1)[0], lambda x: x @ np.ones(n, dtype)):
        (total,) = build(traced(function, x), gear="replay")(x)
        assert total.dtype == dtype
        assert abs(float(total) - exact) <= 4 * np.finfo(dtype).eps * exact


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("n", [3, 40, 2000])
def test_sums_of_what_is_not_finite(n, value):
    x = np.ones(n)
    x[n // 2] = value
    for function in (np.sum, lambda x: x @ x, lambda x: np.sum(np.stack([x, x]), 0).sum()):
        np.testing.assert_equal(build(traced(function, x), gear="replay")(x)[0], function(x))


def test_columns_of_many_rows_are_accurate():
    x = RNG.random((100_000, 5)).astype(np.float32)
    (y,) = build(traced(lambda x: np.sum(x, 0), x), gear="replay")(x)
    np.testing.assert_allclose(y, np.sum(x.astype(float), 0), rtol=4 * np.finfo(np.float32).eps)
