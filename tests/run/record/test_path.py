"""The points of a run that are kept: against the rule, and against what a drawing of all of them shows."""

import ctypes

import numpy as np
import pytest
from hypothesis import given, strategies as st

import burlab as bl
from burlab.run.record.tables import RecordPath, read
from burlab.runtime.structs import CExtent
from tests.run.record.tables import Writer

LEVELS = 2100


def resolution(level):
    return np.ldexp(1.0, level - 1076)


class Rule:
    """Reference of C++'s rule in Python: a list of rows (step, x, y)."""

    def __init__(self, capacity):
        self.capacity, self.early = capacity, capacity // 16
        self.rows, self.level, self.offers = [], 1, 0

    def offer(self, point):
        row = np.array([self.offers, *point])
        if self.level == 1 or len(self.rows) < self.early or self.far(row, self.rows[-1], self.level):
            if len(self.rows) == self.capacity:
                self.thin()
                return self.offer(point)
            self.rows.append(row)
        self.offers += 1
        return None

    def cut(self, offers):
        self.rows = [row for row in self.rows if row[0] < offers]
        self.offers = min(self.offers, offers)

    def far(self, row, other, level):
        unit = np.ptp(np.array(self.rows[: self.early])[:, 1:], axis=0)
        return (np.abs(row - other)[1:] > np.where(unit > 0, unit, 1) * resolution(level)).any()

    def thin(self):
        low, high = self.level, LEVELS
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (
                (low, middle) if len(self.sifted(middle)) <= (self.capacity + self.early) // 2 else (middle, high)
            )
        self.level, self.rows = high, self.sifted(high)

    def sifted(self, level):
        stored = self.rows[: self.early]
        for row in self.rows[self.early :]:
            if self.far(row, stored[-1], level):
                stored.append(row)
        return stored


def stored(writer):
    extent, columns = read(RecordPath(writer("path"), writer), range(3))
    return extent, np.stack(columns, 1)


def walk(count, shrink, luck):
    steps = np.random.default_rng(luck).normal(size=(count, 2)) * np.array([1.0, 1e-4])
    return (steps * np.exp(-shrink * np.arange(count))[:, None]).cumsum(axis=0)


@given(
    actions=st.lists(st.tuples(st.booleans(), st.floats(0, 1)), min_size=1, max_size=5),
    shrink=st.sampled_from([0.0, 0.01, 0.3]),
    luck=st.integers(0, 9),
)
def test_path_follows_its_rule_also_from_a_copy_or_a_file(actions, shrink, luck):
    writer, rule = Writer(2, 10**6), Rule(64)
    for grow, amount in actions:
        if grow:
            points = walk(int(amount * 300), shrink, luck)
            writer.append(points)
            for point in points:
                rule.offer(point)
        else:
            offers = int(amount * rule.offers)
            writer("cut", offers)
            rule.cut(offers)
        extent, rows = stored(writer)
        assert (extent.rows, extent.span) == (rule.offers, rule.level)
        np.testing.assert_array_equal(rows, np.reshape(rule.rows, (-1, 3)))
    others = Writer(2, 10**6), Writer(2, 10**6)
    assert writer("copy_path", others[0].handle) == 1
    columns = [np.ascontiguousarray(column) for column in rows.T]
    newest = RecordPath(writer("path"), writer).newest()
    if newest is not None and (not len(rows) or newest[0] > rows[-1, 0]):
        columns = [np.append(column, number) for column, number in zip(columns, newest, strict=True)]
    saved = CExtent(extent.rows, extent.span, len(columns[0]), 0)
    places = (ctypes.c_void_p * 3)(*(column.ctypes.data for column in columns))
    assert others[1]("restore_path", ctypes.byref(saved), places) == 1
    more = walk(100, shrink, luck + 1)
    for one in (writer, *others):
        one.append(more)
    for other in others:
        np.testing.assert_array_equal(stored(other)[1], stored(writer)[1])
        assert stored(other)[0].span == stored(writer)[0].span
        np.testing.assert_array_equal(
            RecordPath(other("path"), other).newest(), RecordPath(writer("path"), writer).newest()
        )


@pytest.mark.parametrize("points", [np.full((500, 2), np.nan), np.outer(np.tile([1e308, -1e308], 250), [1, 1])])
def test_path_of_nan_or_huge_points_is_bounded(points):
    writer = Writer(2, 10**6)
    writer.append(points)
    extent, rows = stored(writer)
    assert extent.rows == 500
    assert 4 <= len(rows) <= 64
    np.testing.assert_array_equal(rows[:, 1:], points[rows[:, 0].astype(int)])


def test_a_long_run_is_drawn_over_every_bend_of_its_way():
    """The descent has as many points after a million steps as before, and no line leads across the hill."""
    run = bl.minimize(bl.problems.rosenbrock(), np.array([-1.2, 1.0]), bl.optim.Momentum(3e-4, mu=0.9))
    run.step(5000)
    early = run.path
    run.step(1_000_000)
    steps, points = run.path
    np.testing.assert_array_equal(points[:4096], early[1][:4096])
    np.testing.assert_array_equal(steps[:4096], np.arange(4096))
    moves = np.abs(np.diff(points[4096:], axis=0)).max()
    assert moves < 1e-3 * np.ptp(points, axis=0).max()
    np.testing.assert_array_equal(points[-1], run.x)
