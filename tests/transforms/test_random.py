"""Random numbers from keys: NumPy's own Philox words, the same numbers anywhere, and their statistics."""

from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ArgumentError
from tests.engines import GEARS
from tests.op_cases import philox

KEY = bl.random.key(2024)


@pytest.mark.parametrize("seed", [0, 7, 2**64 - 1, 2**64 + 5, -1])
def test_uniform_numbers_are_philoxs_words(seed: int) -> None:
    words = philox(bl.random.key(seed), (0, 0, 0, 0), 3)
    np.testing.assert_array_equal(bl.random.uniform(bl.random.key(seed), 10), (words[:10] >> np.uint64(11)) * 2.0**-53)
    single = bl.random.uniform(bl.random.key(seed), (2, 5), np.float32)
    np.testing.assert_array_equal(single.ravel(), ((words[:10] >> np.uint64(40)) * 2.0**-24).astype(np.float32))


@pytest.mark.parametrize("data", [0, 1, 2**40, -3])
def test_folding_in_is_a_block_of_philox(data: int) -> None:
    np.testing.assert_array_equal(bl.random.fold_in(KEY, data), philox(KEY, (data % 2**64, 0, 0, 1), 1)[:2])


def test_a_prefix_of_more_numbers_is_the_same() -> None:
    many = bl.random.uniform(KEY, 1000)
    np.testing.assert_array_equal(bl.random.uniform(KEY, 7), many[:7])
    np.testing.assert_array_equal(bl.random.uniform(KEY, (10, 100)).ravel(), many)
    assert bl.random.uniform(KEY) == many[0]


@pytest.mark.parametrize("gear", GEARS)
def test_keys_are_arguments(gear: Any) -> None:
    """Compiled once, other numbers for every key; under vmap one key per sample."""

    def f(k: Any, step: Any) -> Any:
        return bl.random.normal(bl.random.fold_in(k, step), 4)

    compiled = bl.compile(f, KEY, np.array(0), gear=gear)
    rows = [compiled(KEY, np.array(s)) for s in range(3)]
    assert len({r[0] for r in rows}) == 3
    np.testing.assert_array_equal(rows[1], f(KEY, 1))
    mapped = bl.compile(bl.vmap(f, (None, 0)), KEY, np.arange(3), gear=gear)
    np.testing.assert_array_equal(mapped(KEY, np.arange(3)), rows)
    keys = np.stack([bl.random.key(s) for s in range(3)])
    by_key = bl.compile(bl.vmap(f, (0, None)), keys, np.array(1), gear=gear)(keys, np.array(1))
    np.testing.assert_array_equal(by_key, [f(k, 1) for k in keys])


def test_gradients_flow_around_random_numbers() -> None:
    """The reparametrised gaussian: d/d(mean, scale) of mean + scale * noise."""
    noise = bl.random.normal(KEY, 3)
    mean, scale = np.arange(3.0), np.array([1.0, 2.0, 0.5])
    g = bl.grad(lambda m, s: np.sum((m + s * bl.random.normal(KEY, 3)) ** 2), (0, 1))(mean, scale)
    np.testing.assert_allclose(g[0], 2 * (mean + scale * noise))
    np.testing.assert_allclose(g[1], 2 * (mean + scale * noise) * noise)


def test_statistics() -> None:
    """Of a fixed seed, so these bounds (five standard errors) hold always or never."""
    n = 200_000
    u, z = bl.random.uniform(KEY, n), bl.random.normal(KEY, n)
    error = 5 / np.sqrt(n)
    assert 0 <= u.min() < u.max() < 1
    assert abs(u.mean() - 0.5) < error * np.sqrt(1 / 12)
    assert abs(u.var() - 1 / 12) < error * np.sqrt(1 / 180)
    assert abs(z.mean()) < error
    assert abs(z.var() - 1) < error * np.sqrt(2)
    assert abs((z**3).mean()) < error * np.sqrt(15)
    assert abs((z**4).mean() - 3) < error * np.sqrt(96)
    assert abs(np.corrcoef(z[:-1], z[1:])[0, 1]) < error
    flags = bl.random.bernoulli(KEY, 0.3, n)
    assert flags.dtype == bool
    assert abs(flags.mean() - 0.3) < error * np.sqrt(0.21)
    single = bl.random.normal(KEY, n, np.float32)
    assert single.dtype == np.float32
    assert abs(single.mean()) < error
    assert abs(single.var() - 1) < error * np.sqrt(2)


@pytest.mark.parametrize("bad", [3, 1.5, np.zeros(2), np.zeros(3, np.uint64), np.zeros(2, np.int64)])
def test_invalid_key_raises(bad: Any) -> None:
    with pytest.raises(ArgumentError, match=r"a key is a uint64 array of shape \(2,\), got .* Use key\(seed\)"):
        bl.random.uniform(bad, 3)
