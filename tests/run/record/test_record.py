"""The record of a run against a few lines of NumPy: appending, merging, cutting, and readers that look on meanwhile."""

import ctypes
import threading

import numpy as np
import pytest
from hypothesis import given, strategies as st

from burlab.run.record.tables import KINDS, RecordTable, nbytes, read
from burlab.runtime.structs import CExtent
from tests.run.record.tables import Writer


def capacity_of(columns: int, budget: int) -> int:
    """Slots in 15/16 of the budget, at least 64; with 8 bytes for each 65,536 of them, and 256 to round up."""
    chunk = 65536 * 8 * columns + 8
    whole, rest = divmod(max(budget - budget // 16 - 256, 0), chunk)
    return max((whole * 65536 + rest // (8 * columns + 1)) // 4 * 4, 64)


class Model:
    """Reference of a record, from all its rows: pairs of minimum and maximum over the span that makes them fit."""

    def __init__(self, columns: int, budget: int):
        self.rows, self.span, self.capacity = np.empty((0, columns)), 2, capacity_of(columns, budget)

    def append(self, rows):
        self.rows = np.concatenate([self.rows, rows])
        while len(self.rows) > self.capacity // 2 * self.span:
            self.span *= 2

    def cut(self, rows):
        if rows < len(self.rows):
            self.rows = self.rows[: rows if self.span == 2 else rows // self.span * self.span]

    def slots(self):
        if self.span == 2:
            return self.rows
        groups = [self.rows[k : k + self.span] for k in range(0, len(self.rows), self.span)]
        pairs = [pair for group in groups for pair in (np.fmin.reduce(group), np.fmax.reduce(group))]
        return np.reshape(pairs, (-1, self.rows.shape[1]))


def table(writer: Writer) -> RecordTable:
    return RecordTable("record", writer("record"), writer)


def check(writer: Writer, model: Model):
    extent, columns = read(table(writer), range(writer.columns))
    assert (extent.rows, extent.span) == (len(model.rows), model.span)
    np.testing.assert_array_equal(np.stack(columns, 1), model.slots())


NUMBERS = np.array([0.0, -0.0, 1.0, -1.5, 3e300, np.inf, -np.inf, np.nan, np.nan, np.nan])


def random_rows(rng, count, columns):
    wild = rng.choice(NUMBERS, (count, columns))
    return np.where(rng.random((count, columns)) < 0.5, wild, rng.normal(size=(count, columns)))


@given(
    columns=st.integers(1, 5),
    budget=st.sampled_from([0, 3_000, 20_000, 100_000]),
    actions=st.lists(st.tuples(st.sampled_from(["append", "append", "cut"]), st.floats(0, 1)), min_size=1, max_size=8),
    seed=st.integers(0, 2**32 - 1),
)
def test_a_record_is_its_rows_or_their_extremes(columns, budget, actions, seed):
    rng = np.random.default_rng(seed)
    writer, model = Writer(columns, budget), Model(columns, budget)
    for action, amount in actions:
        if action == "append":
            rows = random_rows(rng, int(amount**2 * 3 * model.capacity), columns)
            writer.append(rows)
            model.append(rows)
        else:
            length = int(amount * len(model.rows))
            model.cut(length)
            assert writer("cut", length) == len(model.rows)
        check(writer, model)
        assert nbytes_of(writer)["history"] <= max(budget, 64 * 8 * columns + 64 * 8 * 2 + 256)


@pytest.mark.parametrize(("columns", "budget"), [(1, 10_000), (3, 1 << 20), (3, 5_000_000), (11, 12_345_678)])
def test_a_record_uses_its_budget_and_no_byte_more(columns, budget):
    writer = Writer(columns, budget)
    writer.append(np.zeros((budget // (8 * columns) + 1, columns)))
    for row in range(budget // 256):
        writer("stamp", float(row))
    assert read(table(writer), [0])[0].span > 2
    assert 0.93 * budget - 1000 <= nbytes_of(writer)["history"] <= budget


def nbytes_of(writer: Writer) -> dict[str, int]:
    return {kind: writer("bytes", k) for k, kind in enumerate(KINDS)}


def test_a_pair_is_nan_only_where_all_its_rows_are():
    writer = Writer(1, 0)
    rows = np.tile([np.nan, np.nan, 1.0, np.nan], 32)
    rows[:4] = np.nan
    writer.append(rows)
    _, (column,) = read(table(writer), [0])
    assert np.isnan(column[:2]).all()
    assert (column[2:] == 1.0).all()


def test_rows_cut_from_an_open_pair_are_written_again():
    rows = np.random.default_rng(0).normal(size=(1000, 2))
    writer, whole = Writer(2, 0), Writer(2, 0)
    writer.append(rows)
    whole.append(rows)
    kept = writer("cut", 777)
    assert kept < 777
    writer.append(rows[kept:])
    for ours, theirs in zip(read(table(writer), [0, 1])[1], read(table(whole), [0, 1])[1], strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("rows", [0, 63, 64, 65, 1000, 5000])
def test_a_restored_record_goes_on_as_if_it_had_never_stopped(rows):
    numbers = np.random.default_rng(1).normal(size=(rows + 700, 3))
    writer, copy = Writer(3, 0), Writer(3, 0)
    for row in range(rows):
        writer.append(numbers[row])
        writer("stamp", 5.0 * row)
    extent, columns = read(table(writer), range(3))
    stamps, times = read(table(writer).stamps, [0, 1])
    pointers, time_pointers = (np.array([c.ctypes.data for c in part], np.uint64) for part in (columns, times))
    done = copy(
        "restore",
        ctypes.addressof(extent),
        pointers.ctypes.data,
        ctypes.addressof(stamps),
        time_pointers.ctypes.data,
    )
    assert done == 1
    for record in (writer, copy):
        record.append(numbers[rows:])
        record("stamp", 1e9)
    for ours, theirs in ((table(copy), table(writer)), (table(copy).stamps, table(writer).stamps)):
        mine, other = read(ours, [0, 1]), read(theirs, [0, 1])
        assert (mine[0].rows, mine[0].span) == (other[0].rows, other[0].span)
        np.testing.assert_array_equal(mine[1], other[1])


@pytest.mark.parametrize("rows", [0, 40, 64, 777, 1000])
@pytest.mark.parametrize("budget", [0, 10**6])
def test_a_copy_goes_on_like_the_record_that_was_cut(rows, budget):
    numbers = np.random.default_rng(2).normal(size=(2000, 2))
    writer, copy = Writer(2, budget), Writer(2, budget)
    for row in range(1000):
        writer.append(numbers[row])
        writer("stamp", 5.0 * row)
    kept = writer("copy", copy.handle, rows)
    assert kept == writer("cut", rows)
    for each in (writer, copy):
        each.append(numbers[kept:])
        each("stamp", 1e9)
    assert copy("bytes", -1) == writer("bytes", -1)
    for ours, theirs in ((table(copy), table(writer)), (table(copy).stamps, table(writer).stamps)):
        mine, other = read(ours, [0, 1]), read(theirs, [0, 1])
        assert (mine[0].rows, mine[0].span) == (other[0].rows, other[0].span)
        np.testing.assert_array_equal(mine[1], other[1])
    np.testing.assert_array_equal(trail_of(copy)[1], trail_of(writer)[1])
    small = Writer(2, 0)
    assert (writer("copy", small.handle, 2000) == 2000) == (budget == 0), "it has no room for all of them"


def test_inconsistent_record_is_not_restored():
    writer = Writer(1, 0)
    zeros = np.zeros(1000)
    pointer = np.array([zeros.ctypes.data], np.uint64)
    extent, stamps = CExtent(1000, 2, 1000, 0), CExtent(0, 1, 0, 0)
    assert writer("restore", ctypes.addressof(extent), pointer.ctypes.data, ctypes.addressof(stamps), None) == 0


def test_stamps_thin_out_and_are_cut_with_their_rows():
    writer = Writer(1, 0)
    for row in range(1000):
        writer.append([float(row)])
        if row % 3 == 0:
            writer("stamp", 10.0 * row)
    stamps = table(writer).stamps
    extent, (rows, times) = read(stamps, [0, 1])
    assert extent.slots == len(rows) <= 64
    np.testing.assert_array_equal(rows, 3 * extent.span * np.arange(len(rows)))
    np.testing.assert_array_equal(times, 10 * rows)
    kept = writer("cut", 500)
    rows = read(stamps, [0])[1][0]
    assert rows[-1] < kept <= rows[-1] + 3 * extent.span


def trail_of(writer):
    extent, columns = read(RecordTable("trail", writer("trail"), writer), range(writer.columns))
    return extent, np.stack(columns, 1)


@given(
    capacity=st.integers(64, 1200),
    actions=st.lists(st.tuples(st.booleans(), st.floats(0, 1)), min_size=1, max_size=6),
)
def test_a_trail_keeps_every_stride_th_row(capacity, actions):
    writer, rows, stride = Writer(2, 10**6, capacity), np.empty((0, 2)), 1
    limit = max(capacity // 4 * 4, 64)
    for grow, amount in actions:
        if grow:
            count = int(amount * 3000)
            more = np.stack([len(rows) + np.arange(count), -np.arange(count)], 1).astype(float)
            writer.append(more)
            rows = np.concatenate([rows, more])
            while -(-len(rows) // stride) > limit:
                stride *= 2
        else:
            rows = rows[: int(amount * len(rows))]
            writer("cut", len(rows))
        extent, points = trail_of(writer)
        assert (extent.rows, extent.span) == (len(rows), stride)
        np.testing.assert_array_equal(points, rows[::stride])


@pytest.mark.parametrize("budget", [0, 200_000])
def test_concurrent_readers_see_whole_rows_while_a_record_merges(budget):
    """Row s is (s, -s, ...): whatever a reader sees must be whole."""
    writer = Writer(8, budget)
    record, trail = table(writer), RecordTable("trail", writer("trail"), writer)
    thread = threading.Thread(target=writer, args=("count", 3_000_000, 300_007, 5_000))
    thread.start()
    seen = set()
    while thread.is_alive() or not seen:
        extent, (low, high) = read(record, [0, 1])
        seen.add(extent.generation)
        if extent.span == 2:
            np.testing.assert_array_equal(low, np.arange(extent.rows))
            np.testing.assert_array_equal(high, -low)
        else:
            first = np.arange(extent.slots // 2) * extent.span
            np.testing.assert_array_equal(low[::2], first)
            np.testing.assert_array_equal(high[1::2], -first)
            np.testing.assert_array_equal(low[1:-2:2], first[:-1] + extent.span - 1)
            assert extent.rows - 1 <= low[-1] < first[-1] + extent.span
        (rows, times) = read(record.stamps, [0, 1])[1]
        np.testing.assert_array_equal(times, 10 * rows)
        steps, points = read(trail, [0])
        np.testing.assert_array_equal(points[0], np.arange(steps.slots) * steps.span)
    thread.join()
    assert len(seen) > 2, "no merge happened while somebody looked"


def test_reader_of_an_old_generation_is_notified():
    writer = Writer(1, 0)
    writer.append(np.zeros(10))
    record = table(writer)
    before = record.extent()
    assert record.copy(before, 0, 0, 11) is None
    writer("cut", 5)
    writer.append(np.ones(20))
    assert record.copy(before, 0, 0, 10) is None
    assert record.extent().generation != before.generation
    trail = RecordTable("trail", writer("trail"), writer)
    before = trail.extent()
    writer.append(np.zeros(100))  # the trail holds 64 rows
    assert trail.copy(before, 0, 0, 10) is None


def test_the_ledger_knows_every_byte():
    writer = Writer(3, 1 << 20, capacity=1000, frame=100, frames_budget=1 << 14)
    before = nbytes_of(writer)
    writer.append(np.zeros((100_000, 3)))
    for step in range(500):
        assert writer("add", step)
    after = nbytes_of(writer)
    assert sum(after.values()) == writer("bytes", -1)
    assert after["history"] <= 1 << 20
    assert after["history"] > before["history"]
    assert after["path"] > before["path"]
    assert before["keyframes"] < after["keyframes"] <= 1 << 14
    writer("cut", 0)
    assert nbytes_of(writer)["history"] < (1 << 20) / 10
    assert nbytes(writer("ledger"))["total"] == writer("bytes", -1)
