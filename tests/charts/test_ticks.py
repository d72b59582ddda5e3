"""Ticks are round, inside, few, and say what they are."""

import math
from itertools import pairwise

import pytest
from hypothesis import given, strategies as st

from burlab.charts import Axis
from burlab.charts.ticks import quantity, ticks

SIZES = st.floats(1e-12, 1e12)


@given(st.floats(-1e12, 1e12), SIZES, st.integers(2, 12))
def test_linear_ticks_are_inside_evenly_apart_and_not_too_many(low: float, size: float, most: int):
    high = low + max(size, 1e-9 * abs(low))
    found = ticks(Axis(), low, high, most)
    slack = 1e-6 * (high - low)
    assert all(low - slack <= tick.at <= high + slack for tick in found)
    assert len(found) <= most + 1
    steps = [b.at - a.at for a, b in pairwise(found)]
    assert all(step == pytest.approx(steps[0], rel=1e-4) for step in steps)
    assert len({tick.label for tick in found}) == len(found)


@given(SIZES, st.floats(31.0, 1e20), st.integers(2, 12))
def test_ticks_of_decades_are_powers_of_ten(low: float, ratio: float, most: int):
    found = ticks(Axis(log=True), low, low * ratio, most)
    assert 1 <= len(found) <= most
    for tick in found:
        assert math.log10(tick.at) == pytest.approx(round(math.log10(tick.at)), abs=1e-9)


def test_units_have_prefixes_and_parts_of_a_byte_do_not_exist():
    assert [tick.label for tick in ticks(Axis(unit="s", log=True), 1e-9, 1e-3, 3)] == ["1 ns", "1 µs", "1 ms"]
    assert [tick.label for tick in ticks(Axis(unit="B"), 0, 3e6, 3)] == ["0", "1 MB", "2 MB", "3 MB"]
    assert quantity(0.25, "B") == "0.25 B"
    assert quantity(999.99996, "s", 3) == "1e+03 s" or quantity(999.99996, "s", 3) == "1 ks"
    assert quantity(float("nan"), "s") == "nan s"


def test_large_ticks_are_in_thousands_and_tiny_ones_in_powers():
    assert [tick.label for tick in ticks(Axis(), 0, 20_000, 4)] == ["0", "5k", "10k", "15k", "20k"]
    assert [tick.label for tick in ticks(Axis(), 0, 4e-9, 4)] == ["0", "1e−09", "2e−09", "3e−09", "4e−09"]
