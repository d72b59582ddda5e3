"""Numbers by a hash of their places: SplitMix64 in Python's integers, uniform, independent of neighbours and keys."""

from typing import Any

import numpy as np
import pytest
from scipy import stats

import burlab as bl
from burlab.errors import ArgumentError
from burlab.transforms.random.hashed_numbers import hashed_node

WORD = (1 << 64) - 1


def hashed(key: Any, shape: tuple[int, ...], dtype: str = "float64") -> Any:
    return bl.jit(lambda k: hashed_node(k, shape, dtype))(key)


@pytest.mark.parametrize(("dtype", "bits"), [("float32", 24), ("float64", 53)])
def test_they_are_those_of_integers(dtype: str, bits: int) -> None:
    key = np.array([0x0123456789ABCDEF, 0xFEDCBA9876543210], np.uint64)
    want: list[float] = []
    for place in range(12):
        word = (place * 0x9E3779B97F4A7C15 + int(key[0])) & WORD
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            word = ((word ^ (word >> shift)) * factor + int(key[1])) & WORD
        want.append(((word ^ (word >> 31)) >> (64 - bits)) * 2.0**-bits)
    got = hashed(key, (3, 4), dtype)
    assert got.dtype == dtype
    np.testing.assert_array_equal(got.ravel(), want)


def test_they_are_uniform_and_independent() -> None:
    keys = bl.random.split(bl.random.key(1), 40)
    draw = bl.jit(lambda k: hashed_node(k, (50, 100), "float64"))
    u = np.array([draw(k) for k in keys]).reshape(40, -1)
    for bits in (u, u * 2.0**20 % 1.0, u * 2.0**32 % 1.0):  # the first ones, and later ones
        assert stats.kstest(bits.ravel(), "uniform").pvalue > 1e-4
    for a, b in ((u[:, 1:], u[:, :-1]), (u[1:], u[:-1]), (u[:, 100:], u[:, :-100])):
        assert abs(np.corrcoef(a.ravel(), b.ravel())[0, 1]) < 5 / np.sqrt(a.size)
        counts = np.histogram2d(a.ravel(), b.ravel(), 16)[0]
        assert stats.chisquare(counts.ravel()).pvalue > 1e-4


def test_a_batch_of_keys_is_refused() -> None:
    with pytest.raises(ArgumentError, match=r"a batch of keys, of shape \(3, 2\), needs a call for each: use bl.vmap"):
        bl.precision(np.exp, "e4m3", key=bl.random.split(bl.random.key(0), 3))(np.ones(4))
