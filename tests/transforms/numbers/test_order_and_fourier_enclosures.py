"""Enclosures of order and of Fourier transforms: inner points, exact sums, ties, gradients."""

from typing import Any

import numpy as np
import pytest
from mpmath import mp

import burlab as bl
from burlab.errors import TraceError

ORDER = {
    "sort": np.sort, "argsort": np.argsort, "partition": lambda x: np.partition(x, (1, 4)),
    "argpartition": lambda x: np.argpartition(x, 3), "top_k": lambda x: bl.top_k(x, 3)[0],
    "top_k places": lambda x: bl.top_k(x, 3)[1], "median": lambda x: np.median(x, axis=-1),
    "quantile": lambda x: np.quantile(x, 0.3, axis=-1), "argmax": lambda x: np.argmax(x, axis=-1),
    "argmin": lambda x: np.argmin(x, axis=-1), "cumulative max": lambda x: np.maximum.accumulate(x, axis=-1),
    "cumulative sum": lambda x: np.cumsum(x, axis=-1), "cumulative product": lambda x: np.cumprod(x + 5, axis=-1),
    "read by place": lambda x: np.take_along_axis(np.sin(x), np.argsort(x, axis=-1), axis=-1),
    "other by place": lambda x: np.take_along_axis(x * 0 + np.arange(7.0), np.argsort(-x, axis=-1), axis=-1),
    "first axis": lambda x: np.sort(np.swapaxes(x, -1, -2), axis=-2).sum(axis=-1) if x.ndim > 1 else np.sort(x),
}  # fmt: skip
GRADIENTS = {
    "sort": lambda x: np.sum(np.sort(x) * np.arange(7.0) ** 2), "median": lambda x: np.median(x) ** 2,
    "top_k": lambda x: np.sum(bl.top_k(x, 3)[0] * np.array([3.0, -1.0, 2.0])),
    "partition": lambda x: np.sum(np.partition(x, 2)[:3] ** 2), "maximum": lambda x: np.sum(np.maximum.accumulate(x)),
}  # fmt: skip


def boxes(rng: Any, width: float) -> tuple[Any, Any]:
    middle = rng.choice(np.arange(-3.0, 4.0), 7) + (rng.random(7) < 0.5) * rng.uniform(-1, 1, 7)  # with ties
    return middle - width * rng.uniform(size=7), middle + width * rng.uniform(size=7)


def inner_of(rng: Any, low: Any, high: Any, count: int) -> Any:
    share = rng.uniform(size=(count, *low.shape))
    share[: count // 4] = rng.integers(0, 2, (count // 4, *low.shape))
    return np.clip(low + share * (high - low), low, high)


@pytest.mark.parametrize("name", ORDER)
def test_inner_rows_are_never_outside(name: str) -> None:
    rng = np.random.default_rng(5)
    f, rows = ORDER[name], bl.jit(bl.vmap(ORDER[name]))
    bounds = bl.interval(f)
    for width in (0.0, 1e-3, 0.1, 0.7, 3.0) * 4:
        low, high = boxes(rng, width)
        a, b = bounds(low, high)
        values = rows(inner_of(rng, low, high, 400))
        assert np.all((a <= values) & (values <= b)), (name, low, high)
        if name not in ("argpartition", "argmax", "argmin"):
            assert width or np.all(b - a <= 1e-13 * np.max(np.abs(b)))


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients_are_hulls_of_those_of_inner_rows(name: str) -> None:
    rng = np.random.default_rng(9)
    g = bl.grad(GRADIENTS[name])
    bounds, rows = bl.interval(g), bl.vmap(g)
    for width in (0.0, 1e-3, 0.3, 2.0) * 4:
        low, high = boxes(rng, width)
        a, b = bounds(low, high)
        values = rows(inner_of(rng, low, high, 300))
        assert np.all((a <= values) & (values <= b)), (name, low, high)
        assert np.all(b - a < 200)


def test_order_that_is_sure_has_one_position() -> None:
    low = np.array([3.0, -1.0, 0.0, 7.0])
    a, b = bl.interval(np.argsort)(low, low + 0.5)
    np.testing.assert_array_equal([a, b], [[1, 2, 0, 3]] * 2)
    a, b = bl.interval(np.argsort)(np.array([1.0, 0.0, 5.0]), np.array([2.0, 1.5, 5.0]))
    np.testing.assert_array_equal([a, b], [[0, 0, 2], [1, 1, 2]])
    assert bl.interval(np.argmax)(low, low + 3.9) == (3, 3)
    assert bl.interval(np.argmax)(low, low + 4.0) == (0, 3)


def test_parts_of_long_rows() -> None:
    rng = np.random.default_rng(4)
    x = rng.normal(size=300)
    low, high = x - 0.1, x + 0.1
    a, b = bl.interval(lambda x: np.partition(x, (20, 150)))(low, high)
    order = np.sort(x)
    np.testing.assert_allclose(a[[0, 20, 21, 149, 150, 299]] + 0.1, order[[0, 20, 21, 21, 150, 151]])
    np.testing.assert_allclose(b[[0, 20, 21, 149, 150, 299]] - 0.1, order[[19, 20, 149, 149, 150, 299]])
    values = bl.vmap(lambda x: np.partition(x, (20, 150)))(inner_of(rng, low, high, 300))
    assert np.all((a <= values) & (values <= b))
    for f in (
        lambda x: np.median(x) ** 2, lambda x: np.sum(bl.top_k(x, 4)[0] * np.arange(4.0)),
        lambda x: np.sum(np.partition(x, 20)[:3]),
    ):  # fmt: skip
        a, b = bl.interval(bl.grad(f))(low, high)
        values = bl.vmap(bl.grad(f))(inner_of(rng, low, high, 300))
        assert np.all((a <= values) & (values <= b))


def test_a_numpy_of_rows_has_the_bounds_of_each() -> None:
    rng = np.random.default_rng(2)
    low = rng.normal(size=(6, 7))
    high = low + 0.4
    for f in (np.argsort, np.sort, lambda x: bl.top_k(x, 2)[0]):
        rows = bl.vmap(bl.interval(f))(low, high)
        for k in range(6):
            np.testing.assert_array_equal([r[k] for r in rows], bl.interval(f)(low[k], high[k]))


def test_what_integers_are_refused_for() -> None:
    x = np.arange(3.0)
    for f, what in (
        (lambda x: np.argmax(x) * 2, "mul of integers that depend on an interval"),
        (lambda x: np.argmax(x) + 2**40, "add of integers above 2147483648"),
        (bl.grad(lambda x: np.sum(x[np.stack([np.argmax(x), np.argmin(x)])] ** 2)), "a sum at positions"),
    ):
        with pytest.raises(TraceError, match=rf"line \d+: bl.interval has no enclosure of {what}"):
            bl.interval(f)(x, x + 2)


FOURIER = {
    "fft": lambda x: np.stack([np.fft.fft(x).real, np.fft.fft(x).imag]),
    "ifft": lambda x: np.stack([np.fft.ifft(x).real, np.fft.ifft(x).imag]),
    "rfft": lambda x: np.stack([np.fft.rfft(x).real, np.fft.rfft(x).imag]),
    "irfft": lambda x: np.fft.irfft(x, 2 * x.shape[-1] - 2),
    "hfft": lambda x: np.fft.fft(x + 1j * x[..., ::-1]).real,
}


def exact_transform(name: str, x: Any) -> Any:
    """With 40 digits."""
    n = len(x)
    if name == "irfft":
        length = 2 * n - 2
        full = [*x, *x[-2:0:-1]]
        turn = [mp.cospi(mp.mpf(2 * k) / length) / length for k in range(length)]
        return [mp.fsum(v * turn[j * k % length] for k, v in enumerate(full)) for j in range(length)]
    y = [v + 1j * w for v, w in zip(x, x[::-1], strict=True)] if name == "hfft" else x
    sign, count = (1 if name == "ifft" else -1), (n // 2 + 1 if name == "rfft" else n)
    turn = [mp.expjpi(mp.mpf(2 * sign * k) / n) for k in range(n)]
    z = [mp.fsum(v * turn[j * k % n] for j, v in enumerate(y)) / (n if name == "ifft" else 1) for k in range(count)]
    return [v.real for v in z] if name == "hfft" else [*(v.real for v in z), *(v.imag for v in z)]


@pytest.mark.parametrize("name", FOURIER)
@pytest.mark.parametrize("n", [1, 2, 3, 8, 12, 97, 128, 131, 256, 1000])
def test_transforms_hold_at_inner_rows_and_to_40_digits(name: str, n: int) -> None:
    rng = np.random.default_rng(n)
    n = max(n, 2) if name == "irfft" else n
    f = FOURIER[name]
    x = rng.normal(size=n) * 10.0 ** rng.uniform(-4, 4, n)
    a, b = bl.interval(f)(x, x)
    values = f(x)
    assert np.all((a <= values) & (values <= b))
    if n <= 131:
        with mp.workdps(40):
            exact = exact_transform(name, [mp.mpf(float(v)) for v in x])
            for low, v, high in zip(a.ravel(), exact, b.ravel(), strict=True):
                assert mp.mpf(float(low)) <= v <= mp.mpf(float(high))
    assert np.max(b - a) <= 3000 * 2.0**-53 * np.sqrt(n) * np.linalg.norm(x)
    r = np.abs(x) * 1e-3
    a, b = bl.interval(f)(x - r, x + r)
    values = bl.vmap(f)(inner_of(rng, x - r, x + r, 2000))
    assert np.all((a <= values) & (values <= b))
    assert np.max(b - a) <= 4.01 * np.sum(r)


def test_gradients_through_transforms() -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=16)

    def power(x: Any) -> Any:
        z = np.fft.rfft(np.tanh(x))
        return np.sum(np.log1p(z.real**2 + z.imag**2))

    for g in (bl.grad(power), bl.hessian(power)):
        a, b = bl.interval(g)(x, x + 1e-4)
        values = bl.vmap(g)(inner_of(rng, x, x + 1e-4, 1000))
        assert np.all((a <= values) & (values <= b))
        assert np.all(b - a < 0.2)
