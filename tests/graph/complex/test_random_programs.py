"""Random programs of complex arrays that give a real number: values, gradients and second derivatives are JAX's."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import burlab as bl
from tests.engines import assert_close, jax_or_skip
from tests.exploring import examples

N, STEPS = 4, 12
ONE: list[Callable[..., Any]] = [
    lambda np, z: np.exp(0.3 * z),
    lambda np, z: np.sin(z) / (2 + np.abs(z) ** 2),
    lambda np, z: np.tanh(0.5 * z),
    lambda np, z: np.conj(z) * 1j,
    lambda np, z: np.fft.fft(z, norm="ortho"),
    lambda np, z: np.fft.irfft(z[:3], n=4) + 1j * z.imag,
    lambda np, z: np.fft.fft(z.real) / 2 - z,
    lambda np, z: np.roll(z, 1) + np.flip(z) * 0.5j,
    lambda np, z: np.sqrt(z + 3j),
    lambda np, z: np.log(z * z + 5.0),
    lambda np, z: z / (1 + np.abs(z)),
    lambda np, z: np.cumsum(z) / 3,
    lambda np, z: np.concatenate([z[2:], z[:2].real]) ** 2 / 2,
    lambda np, z: np.angle(z + 3) * z,
]
TWO: list[Callable[..., Any]] = [
    lambda np, z, w: z + w,
    lambda np, z, w: z * w / 2,
    lambda np, z, w: z / (w + 4),
    lambda np, z, w: np.where(z.real > w.imag, z, w),
    lambda np, z, w: np.outer(z, w) @ np.conj(z) / 4,
    lambda np, z, w: np.convolve(z, w)[2:6] / 3,
    lambda np, z, w: z - np.vdot(z, w) / 4,
    lambda np, z, w: np.einsum("i,j,j->i", z, w, np.conj(w)) / 5,
]


def program(seed: int) -> Callable[..., Any]:
    """(module, z, x) -> a number, of two rows, one of them real."""
    rng = np.random.default_rng(seed)
    chosen = [(bool(rng.random() < 0.6), *rng.integers(0, 1 << 30, 3).tolist()) for _ in range(STEPS)]

    def run(module: Any, z: Any, x: Any) -> Any:
        values = [z, x + 0.5j * z]
        for single, which, i, j in chosen:
            first, second = values[i % len(values)], values[j % len(values)]
            values.append(
                ONE[which % len(ONE)](module, first) if single else TWO[which % len(TWO)](module, first, second)
            )
        size = module.abs(module.stack(values[-3:])) ** 2
        return module.sum(size / (1 + size)) + module.sum(values[-1].real * values[-2].imag)

    return run


@pytest.mark.parametrize("seed", range(examples(6)))
def test_a_random_program_is_jaxs(seed: int) -> None:
    jax = jax_or_skip()
    rng = np.random.default_rng(1000 + seed)
    z, v = rng.normal(size=(2, N)) + 1j * rng.normal(size=(2, N))
    x, u = rng.normal(size=(2, N))
    f = program(seed)

    def theirs(z: Any, x: Any, v: Any, u: Any) -> Any:
        return jax.jvp(jax.value_and_grad(lambda z, x: f(jax.numpy, z, x), (0, 1)), (z, x), (v, u))

    with np.errstate(all="raise"):
        ours = bl.value_and_grad(lambda z, x: f(np, z, x), (0, 1))
        assert_close(bl.jvp(ours, (z, x), (v, u)), jax.jit(theirs)(z, x, v, u), rtol=1e-9)
        assert_close(bl.compile(lambda z, x: f(np, z, x), z, x, gear="replay", strict=True)(z, x), f(np, z, x))
