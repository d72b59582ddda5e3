"""The record of a loop: bounded, lossless until it is full, and then true in every extreme."""

import threading

import numpy as np
import pytest

from burlab.monitor.record import Record

SMALL = 1  # bytes: as few entries as a record can have, 1,024


def filled(rows, names=("step", "a", "b"), most=SMALL):
    record = Record(names, most)
    for row in rows:
        record.append(list(row))
    return record


def table(count, seed=0):
    rng = np.random.default_rng(seed)
    rows = np.column_stack((np.arange(count), rng.normal(size=count), rng.normal(size=count)))
    rows[rng.random(count) < 0.5, 2] = np.nan
    return rows


@pytest.mark.parametrize("count", [0, 1, 5, 1023, 1024, 5000])
def test_every_row_is_stored_while_there_is_room(count):
    rows = table(count)
    record = filled(rows, most=1 << 20)
    assert record.span == 2
    for name, column in zip(("step", "a", "b"), rows.T, strict=True):
        np.testing.assert_array_equal(record.read()[name], column)


@pytest.mark.parametrize("count", [1025, 1026, 1027, 2047, 2048, 2049, 4100, 30_001])
def test_a_full_record_keeps_the_extremes_of_every_span(count):
    rows = table(count)
    record = filled(rows)
    found, span = record.read(), record.span
    assert span > 2
    assert len(found["a"]) <= 1024 + 2
    for name, column in zip(("step", "a", "b"), rows.T, strict=True):
        for k, low, high in zip(range(0, count, span), found[name][::2], found[name][1::2], strict=True):
            part = column[k : k + span]
            part = part[~np.isnan(part)] if not np.isnan(part).all() else part[:1]
            np.testing.assert_array_equal([low, high], [part.min(), part.max()])


def test_infinities_are_extremes_and_nan_is_none():
    rows = table(3000)
    rows[:, 1] = 0.0
    rows[1234, 1], rows[99, 1], rows[7, 1] = np.inf, -np.inf, np.nan
    found = filled(rows).read()["a"]
    assert (found.min(), found.max()) == (-np.inf, np.inf)


@pytest.mark.parametrize("most", [None, 2, 8, 100])
@pytest.mark.parametrize("count", [900, 5000])
def test_a_reader_meets_every_row_once_however_often_it_was_merged(count, most):
    record, rows, cursor = filled([]), table(count), 0
    steps, low = [0.0], np.inf
    for k, row in enumerate(rows):
        record.append(list(row))
        if k % 37 == 0:
            found, cursor = record.since(cursor, most)
            steps.extend(np.maximum(found["step"], steps[-1]))
            low = min([low, *found["a"]])
    for _ in range(count):
        found, cursor = record.since(cursor, most)
        steps.extend(np.maximum(found["step"], steps[-1]))
        low = min([low, *found["a"]])
    assert (np.diff(steps) >= 0).all()
    assert np.diff(steps).max() < record.span, "no span is passed over"
    assert steps[-1] == cursor - 1
    assert cursor >= count - record.span
    assert low == rows[:cursor, 1].min()


def test_a_new_column_is_nan_before():
    record = filled([(0, 1.0, 2.0)])
    record.add("c")
    record.append([1, 1.0, 2.0, 3.0])
    np.testing.assert_array_equal(record.read()["c"], [np.nan, 3.0])
    record.append([2, 1.0, 2.0])  # of a thread that has not heard of it
    np.testing.assert_array_equal(record.read()["c"], [np.nan, 3.0, np.nan])


def test_a_new_column_in_a_merged_record_is_nan_before():
    record = filled(table(3001))
    record.add("c")
    for k in range(3001, 9000):
        record.append([k, 0.0, 0.0, float(k)])
    found = record.read()
    seen = ~np.isnan(found["c"])
    assert found["step"][seen].min() >= 3001 - record.span
    assert found["c"][seen].min() == 3001
    assert found["c"][seen].max() == 8999


def test_rows_of_a_step_are_found_until_rows_are_merged():
    record = filled([(0, 1.0, 2.0), (3, 4.0, 5.0), (3, 6.0, 7.0), (9, 8.0, 9.0)])
    np.testing.assert_array_equal(record.where("step", 3)["a"], [4.0, 6.0])
    assert record.where("step", 4)["a"].size == 0
    assert filled(table(2000)).where("step", 3) is None


def test_concurrent_reader_misses_no_row():
    record, over, seen = Record(("step",), 1 << 22), threading.Event(), []

    def read():
        cursor = 0
        while True:
            last = over.is_set()
            rows, cursor = record.since(cursor, 100)
            seen.extend(rows["step"])
            if last and not rows["step"].size:
                return

    reader = threading.Thread(target=read)
    reader.start()
    for k in range(50_000):
        record.append([float(k)])
    over.set()
    reader.join()
    np.testing.assert_array_equal(seen, np.arange(50_000))


def test_memory_is_bounded_and_reported():
    record = filled(table(100_000), most=1 << 16)
    assert record.nbytes <= (1 << 16) + 1024 * 100
