"""Thinned curves: real rows, no extreme lost, whatever the pieces in which the rows came."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from burlab.widgets.panel.pyramid import Pyramid


def grown(y, pieces, buckets=8):
    curve = Pyramid(buckets)
    x = np.arange(y.size, dtype=np.float64)
    at = 0
    for piece in pieces:
        curve.append(x[at : at + piece], y[at : at + piece])
        at += piece
    curve.append(x[at:], y[at:])
    return curve


@given(st.integers(0, 2**32), st.lists(st.integers(0, 400), max_size=12), st.integers(0, 3000))
def test_pieces_make_no_difference(seed, pieces, rows):
    y = np.random.default_rng(seed).normal(size=max(rows, sum(pieces)))
    y[::7] = np.nan
    whole, parts = grown(y, []), grown(y, pieces)
    assert parts.rows == whole.rows == y.size
    assert parts.width == whole.width
    for a, b in zip(whole.points(10**6), parts.points(10**6), strict=True):
        np.testing.assert_array_equal(a, b)


@given(st.integers(0, 2**32), st.lists(st.integers(1, 400), min_size=1, max_size=12))
def test_points_are_rows_in_order_and_every_stretch_keeps_its_extremes(seed, pieces):
    y = np.random.default_rng(seed).normal(size=sum(pieces))
    curve = grown(y, pieces)
    x, shown = curve.points(10**6)
    np.testing.assert_array_equal(shown, y[x.astype(int)])
    assert (np.diff(x) > 0).all()
    assert x.size <= 4 * 8 + 3
    assert x[-1] == y.size - 1, "the last row is always drawn"
    assert curve.low == y.min()
    assert curve.high == y.max()
    for first in range(0, y.size, curve.width):
        stretch = slice(first, first + curve.width)
        inside = shown[(x >= first) & (x < first + curve.width)]
        assert {y[stretch].min(), y[stretch].max()} == set(inside) - ({y[-1]} - {y[stretch].min(), y[stretch].max()})


def test_thinning_keeps_a_spike_among_ten_million_rows():
    y = np.ones(10_000_000)
    y[7_654_321] = 5.0
    x, shown = grown(y, [3_333_333] * 2, buckets=2048).points(2000)
    assert x.size <= 2000
    assert x[shown.argmax()] == 7_654_321


def test_a_log_axis_gets_positive_points_only():
    y = np.array([1.0, -2.0, 0.0, np.inf, np.nan, 1e-12])
    x, shown = grown(y, []).points(100, log=True)
    np.testing.assert_array_equal(shown, [1.0, 1e-12])
    np.testing.assert_array_equal(x, [0.0, 5.0])


def test_a_log_axis_sees_small_dips():
    y = np.full(100_000, 1e-3)
    y[50_000] = 1e-9
    _, shown = grown(y, [], buckets=2048).points(200, log=True)
    assert shown.min() == 1e-9


def test_empty_and_nonfinite_curves_have_no_points():
    curve = grown(np.full(100, np.nan), [30])
    assert np.isnan([Pyramid().low, curve.low, curve.high]).all()
    assert curve.points(10)[0].size == Pyramid().points(10)[0].size == 0
    curve.clear()
    assert curve.rows == 0


@pytest.mark.parametrize("rows", [1_000_000])
def test_appending_costs_the_new_rows_only(rows):
    from time import process_time

    curve = grown(np.zeros(10 * rows), [], buckets=2048)
    x, y = np.arange(rows, dtype=np.float64), np.zeros(rows)
    costs = []
    for n in (rows, rows // 1000):
        start = process_time()
        for _ in range(20 if n < rows else 3):
            curve.append(x[:n], y[:n])
        costs.append((process_time() - start) / (20 if n < rows else 3))
    assert costs[1] < costs[0] / 3


def test_around_a_row_are_the_extremes_of_its_stretch():
    y = np.random.default_rng(0).normal(size=1000)
    curve = grown(y, [333])
    for step in (0, 1, 500, curve.width, curve.width - 1, 999):
        first = step // curve.width * curve.width
        stretch = y[first : first + curve.width]
        assert curve.around(step) == (stretch.min(), stretch.max())
    assert np.isnan(Pyramid().around(3)).all()


def test_the_least_positive_value_is_known_although_zeros_are_lower():
    assert grown(np.array([0.0, -1.0, 3e-9, np.nan, 5.0]), [2]).least == 3e-9
    assert grown(np.zeros(5), []).least == np.inf
