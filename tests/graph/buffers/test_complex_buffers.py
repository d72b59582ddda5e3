"""Programs that write into complex arrays: traced, they compute what plain NumPy computes; slopes are differences."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.errors import TraceError
from tests.engines import GEARS, assert_close

X = np.array([0.5, -1.25, 2.0, 0.75, -0.3])


def entry_by_entry(x: Any) -> Any:
    A = np.zeros((5, 5), dtype=complex)
    for i in range(5):
        for j in range(5):
            A[i, j] = np.exp(1j * i * j * x[i])
    return A, A.T, A.conj(), np.fft.fft(A[0]), A @ A, A[:, 2], A[1, 2]


def in_place(x: Any) -> Any:
    o = np.zeros(5, dtype=complex)
    o[0] = x[0] + 1j * x[1]
    o[1:3] = x[2] * 1j
    o *= 2
    o[3] = x[0]
    o += x[1]
    o[4] = 3 - 1j
    return o, np.abs(o), o.sum(), o @ o.conj()


def views(x: Any) -> Any:
    z = x + 1j * x[::-1]
    o = np.empty_like(z)
    o[:] = z**2
    v = o[1:4]
    v[0] = z[0]
    v *= 1j
    return o, v, o * z, z - o, np.concatenate([o, v]), np.stack([v, v]), np.where(x[:3] > 0, v, 1j)


def constructors(x: Any) -> Any:
    z = x + 1j
    a, b, c = z.copy(), np.array(z), np.array([x[0] + 1j, 1.0])
    d, e, f = np.zeros_like(z), np.full(3, x[0] * 1j), np.zeros(3, np.complex64)
    a[0] = x[1]
    b[1:] *= 2
    c[1] = x[3]
    d[1] = x[0]
    e[0] = 1
    f[1:] = [x[1] * 1j, 2]
    return a, b, c, d, e, f, z


def parts_of_arrays(x: Any) -> Any:
    o, q = np.zeros(5, dtype=complex), np.zeros((2, 3), dtype=complex)
    o.real[:] = x
    o.imag[1] = x[0]
    o.real = o.real * 2
    o.imag[2:] += x[1]
    r = o.real
    r[0] = 7.0
    r[1] *= x[2]
    q.real[1] = x[:3]
    q.T.imag[0] = x[:2]
    return o, q, 1 * r, q.imag, np.real(o), o.imag.sum()


def traced_places(x: Any) -> Any:
    o, p = np.zeros(5, complex), np.ones(5, complex)
    o[x > 0] = x[0] * 1j
    o[np.argmax(x)] = 2 + x[1] * 1j
    np.multiply(p, x * 1j, out=p)
    p /= 2
    np.exp(p, out=o[:])
    return o, p


PROGRAMS = (entry_by_entry, in_place, views, constructors, parts_of_arrays, traced_places)


def parts(f: Callable[..., Any]) -> Callable[..., Any]:
    """The real and the imaginary parts of what a function gives, in one row."""
    return lambda x: np.concatenate([np.ravel(p) for y in f(x) for p in (np.real(y) * 1.0, np.imag(y) * 1.0)])


@pytest.mark.parametrize("gear", GEARS)
def test_complex_buffers_equal_numpy(gear: Any) -> None:
    every = lambda x: [f(x) for f in PROGRAMS]  # noqa: E731
    for got, wanted in zip(bl.compile(every, X, gear=gear)(X), every(X), strict=True):
        for a, b in zip(got, wanted, strict=True):
            assert np.asarray(a).dtype == np.asarray(b).dtype
            np.testing.assert_allclose(a, b, rtol=1e-6 if a.dtype == np.complex64 else 1e-13, atol=1e-14)


@pytest.mark.parametrize("f", [f for f in PROGRAMS if f is not constructors], ids=lambda f: f.__name__)
def test_slopes_are_differences(f: Callable[..., Any]) -> None:
    direction, step = np.cos(X), 1e-6
    slope = bl.compile(lambda x: bl.jvp(parts(f), (x,), (direction,))[1], X, gear="replay")(X)
    wanted = (parts(f)(X + step * direction) - parts(f)(X - step * direction)) / (2 * step)
    assert_close(slope, wanted, 1e-7)
    weights = np.cos(np.arange(wanted.size))
    grad = bl.compile(bl.grad(lambda x: np.sum(parts(f)(x) * weights)), X, gear="replay")(X)
    assert_close(grad @ direction, np.sum(wanted * weights), 1e-7)


def test_many_at_once_are_one_by_one() -> None:
    rows = np.stack([X, 2 * X, X[::-1] + 0.1])
    got = bl.compile(bl.vmap(parts(in_place)), rows, gear="replay")(rows)
    assert_close(got, np.stack([parts(in_place)(row) for row in rows]), 1e-13)


def test_a_complex_value_does_not_fit_into_real_numbers() -> None:
    def f(x: Any) -> Any:
        np.zeros(5)[0] = 1j * x[0]

    with pytest.raises(TraceError, match=r"complex values into an array of float64.*dtype=complex, or z\.real"):
        bl.jit(f)(X)
    with pytest.raises(TraceError, match=r"z = z\.copy\(\) before"):
        bl.jit(lambda x: (1j * x).__setitem__(0, 1))(X)
