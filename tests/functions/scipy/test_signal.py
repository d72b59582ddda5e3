"""Convolutions against SciPy and NumPy, their derivatives against differences and JAX."""

from typing import Any

import numpy as np
import pytest
from scipy import signal

import burlab as bl
from burlab.errors import ArgumentError, ShapeError
from burlab.graph.numpy_api.signals import smooth_above
from tests.engines import assert_close, jax_or_skip

RNG = np.random.default_rng(8)
MODES = ("full", "same", "valid")


def real(*shape: int) -> Any:
    return RNG.normal(size=shape)


PAIRS = [
    (real(9), real(4)), (real(4), real(9)), (real(1), real(1)), (real(7, 6), real(3, 2)),
    (real(5, 4, 3), real(2, 4, 1)), (real(9) + 1j * real(9), real(4)), (real(8), real(3) * 1j),
    (real(6, 5).astype(np.float32), real(2, 2).astype(np.float32)),
]  # fmt: skip


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ["convolve", "fftconvolve"])
def test_convolutions_equal_scipy(name: str, mode: str) -> None:
    for x, y in PAIRS:
        ours, theirs = getattr(bl.scipy.signal, name), getattr(signal, name)
        wanted = theirs(x, y, mode)
        for got in (ours(x, y, mode), bl.jit(lambda x, y, f=ours: f(x, y, mode))(x, y)):
            assert got.dtype == wanted.dtype
            assert_close(got, wanted, rtol=1e-12 if wanted.dtype.itemsize >= 8 and x.dtype != np.float32 else 1e-5)
    x, y = real(4, 9), real(4, 3)
    assert_close(bl.scipy.signal.fftconvolve(x, y, mode, axes=1), signal.fftconvolve(x, y, mode, axes=1))


@pytest.mark.parametrize("mode", MODES)
def test_long_vectors_are_numpys(mode: str) -> None:
    """So long that transforms are taken; the second is the longer one in turns."""
    jax = jax_or_skip()
    for n, m in ((5000, 65), (700, 600), (601, 601)):
        x, y, w = real(n), real(m), real(n + m)

        def f(module: Any, x: Any, y: Any, w: Any = w) -> Any:
            z = module.convolve(x, y, mode)
            return module.sum(w[: z.size] * z**2) / 100

        three = lambda x, y: (np.convolve(x, y, mode), np.convolve(y, x, mode), np.correlate(x, y, mode))  # noqa: E731
        assert_close(bl.jit(three)(x, y), three(x, y))
        theirs = jax.jit(jax.grad(lambda x, y, f=f: f(jax.numpy, x, y), (0, 1)))(x, y)
        assert_close(bl.grad(lambda x, y, f=f: f(np, x, y), (0, 1))(x, y), theirs)
    whole = np.arange(1000)
    np.testing.assert_array_equal(bl.jit(lambda x: np.convolve(x, x))(whole), np.convolve(whole, whole))


def test_convolution_derivatives_equal_differences() -> None:
    for x, y in PAIRS[:7]:
        bl.check_grads(lambda x, y: bl.scipy.signal.fftconvolve(x, y, "same"), (x, y))


def test_fast_lengths() -> None:
    def is_smooth(n: int) -> bool:
        for p in (2, 3, 5):
            while n % p == 0:
                n //= p
        return n == 1

    even = [n for n in range(2, 5200, 2) if is_smooth(n)]
    for n in range(1, 5000):
        assert smooth_above(n) == next(k for k in even if k >= n)


@pytest.mark.parametrize(
    ("error", "call", "said"),
    [
        (ShapeError, lambda: bl.scipy.signal.fftconvolve(real(3, 3), real(3)), "as many axes"),
        (ShapeError, lambda: bl.scipy.signal.convolve(real(3, 3), real(3, 3), method="direct"), "method='fft'"),
        (ShapeError, lambda: bl.scipy.signal.fftconvolve(real(3, 5), real(4, 2), "valid"), "lies inside of the other"),
        (ArgumentError, lambda: bl.scipy.signal.fftconvolve(real(3), real(3), "some"), "'full', 'same', 'valid'"),
        (ArgumentError, lambda: bl.scipy.signal.convolve(real(3), real(3), method="some"), "'auto', 'direct', 'fft'"),
    ],
)
def test_convolution_errors_name_the_remedy(error: Any, call: Any, said: str) -> None:
    with pytest.raises(error, match=said):
        call()
