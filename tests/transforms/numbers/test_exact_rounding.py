"""All formats of up to 16 bits, in all modes, around every number and every middle: equal to exact integers."""

from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.transforms.numbers.formats import FORMATS
from burlab.transforms.numbers.roundings import MODES
from tests.transforms.numbers.exact_rounding import Exact, magnitudes, points

EXACT_MODES = [mode for mode in MODES if not mode.startswith("stochastic")]
NARROW = {name: form for name, form in FORMATS.items() if not form.block and name not in ("float32", "tf32")}
NARROW |= {
    "(2, 1)": bl.Format.ieee(2, 1),
    "(6, 5)": bl.Format.ieee(6, 5),
    "(8, 3)": bl.Format.ieee(8, 3),
    "(3, 12)": bl.Format.ieee(3, 12),
    "(4, 3)": bl.Format.ieee(4, 3),
    "q3.4": bl.Format.of("q3.4"),
    "q0.7": bl.Format.of("q0.7"),
    "q7.8": bl.Format.of("q7.8"),
    "q15.0": bl.Format.of("q15.0"),
}
DTYPES = [np.float32, np.float64]


def same(got: Any, want: Any) -> None:
    np.testing.assert_array_equal(got, want)
    numbers = ~np.isnan(want)
    np.testing.assert_array_equal(np.signbit(got)[numbers], np.signbit(want)[numbers])


WIDE = {"bfloat16", "float16", "(3, 12)", "q7.8", "q15.0"}  # whose points take ten seconds
SIZED = [pytest.param(name, marks=pytest.mark.full) if name in WIDE else name for name in NARROW]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", SIZED)
def test_every_mode_is_exact_around_every_boundary(name: str, dtype: Any) -> None:
    form = NARROW[name]
    for subnormals in (True, False)[: 1 + (not form.is_fixed)]:
        x = points(magnitudes(form, subnormals), dtype)
        exact = Exact(form, x, subnormals)
        for saturate in (True, False)[: 1 + (not form.saturates)]:
            for mode in EXACT_MODES:
                got = bl.round_to(form, x, mode=mode, subnormals=subnormals, saturate=saturate)
                assert got.dtype == dtype
                same(got, exact.rounded(mode, saturate).astype(dtype))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", NARROW)
def test_numbers_that_are_not_finite(name: str, dtype: Any) -> None:
    form = NARROW[name]
    for mode in EXACT_MODES:
        for saturate in (True, False)[: 1 + (not form.saturates)]:
            got = bl.round_to(form, np.array([np.nan, np.inf, -np.inf, -0.0], dtype), mode=mode, saturate=saturate)
            beyond = np.inf if form.infinities else np.nan
            ends = [form.largest, form.lowest] if saturate else [beyond, -beyond]
            same(got, np.array([np.nan, *ends, -0.0 if form.signed_zero else 0.0]))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("bits", [None, 1, 5, 13])
@pytest.mark.parametrize("name", ["e5m2", "e4m3fnuz", "e2m1", "q3.4", "(2, 1)", "(6, 5)"])
def test_stochastic_rounding_compares_so_many_bits(name: str, bits: int | None, dtype: Any) -> None:
    """Away from 0 exactly where the digits of the distance and the drawn ones have a carry."""
    form, key = NARROW[name], bl.random.key(7)
    x = points(magnitudes(form), dtype)
    all_bits = {np.float32: 24, np.float64: 53}[dtype]
    drawn = bl.random.uniform(key, x.shape, np.dtype(dtype).name).astype(np.float64)
    count = all_bits if bits is None else bits
    part = np.floor(drawn * 2.0**count).astype(np.int64)
    want = Exact(form, x).rounded("stochastic", form.saturates, (part, count))
    same(bl.round_to(form, x, key=key, bits=bits), want.astype(dtype))


@pytest.mark.parametrize("dtype", DTYPES)
def test_equal_odds_of_both_neighbours(dtype: Any) -> None:
    form, key = FORMATS["e4m3"], bl.random.key(3)
    x = np.repeat(np.array([0.3, -0.3, 1.01, 1e-9, 2.0], dtype)[:, None], 4000, axis=1)
    got = bl.round_to(form, x, mode="stochastic_equal", key=key)
    down, up = (bl.round_to(form, x, mode=mode) for mode in ("zero", "away"))
    assert ((got == down) | (got == up)).all()
    share = (got == up).mean(axis=1)
    assert (abs(share[:4] - 0.5) < 5 * 0.5 / np.sqrt(4000)).all()
    np.testing.assert_array_equal(got[4], 2.0)


@pytest.mark.parametrize("gear", ["compiled", "replay"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_gears_have_the_same_bits(gear: Any, dtype: Any) -> None:
    with np.errstate(invalid="ignore"):  # of signalling nan
        x = np.random.default_rng(0).integers(0, 2**32, 5000, dtype=np.uint32).view(np.float32).astype(dtype)
    for name in ("bfloat16", "e4m3", "q3.4", "e2m1"):
        for mode in EXACT_MODES:
            kernel: Any = bl.compile(lambda x: bl.round_to(name, x, mode=mode), x, gear=gear)  # noqa: B023
            same(kernel(x), bl.round_to(name, x, mode=mode))
