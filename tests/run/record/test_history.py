"""Histories, new rows and paths against what a loop over all steps gives: stored columns, and implied ones."""

import sys
import threading

import numpy as np
import pytest
from hypothesis import given, strategies as st

import burlab as bl
from burlab.errors import ArgumentError, ConfigurationError
from burlab.run.record import tables
from burlab.run.record.flop_model import FlopModel, FlopRates
from burlab.run.record.history import Event, History, events
from burlab.run.record.live import at, path, rows_since
from burlab.run.record.tables import RecordTable
from burlab.run.record.view import EngineState
from burlab.run.scipy.rows import ScipyPath, ScipyRows
from tests.run.record.tables import Writer

STORED = ("value", "gradient_norm", "step_norm", "lr")  # a scheduled learning rate is stored


class Recorder:
    """A loop that writes given rows: C++ tables, or those of a minimizer in Python."""

    def __init__(self, budget: int, changes=(), python: bool = False):
        self.columns, self.start_hypers, self.batch, self.dimension = STORED, {"lr": np.nan, "mu": 0.5}, 3, 2
        self.changes, self.elapsed, self.python = changes, 0.0, python
        self.flops = FlopModel(lambda: FlopRates(2.0, {"samples": 5.0}))
        if python:
            self.record, self.path = ScipyRows(4), ScipyPath(3)
        else:
            self.writer = Writer(4, budget)
            self.record = RecordTable("record", self.writer("record"), self.writer)
            self.path = tables.RecordPath(self.writer("path"), self.writer)

    def event_rows(self):
        steps = [step for step, _ in self.changes]
        return np.array(steps, np.int64), np.ones(len(steps), np.int64), np.array([v for _, v in self.changes], float)

    def settle(self):
        pass

    def view(self):
        return EngineState(0, 0, True, None, self.elapsed)

    def append(self, rows):
        for row in rows if self.python else ():
            self.record.append(row)
            self.path.append([self.path.extent().rows, *row[:2]])
        if not self.python:
            self.writer.append(rows)

    def stamp(self, time):
        self.record.stamp(time) if self.python else self.writer("stamp", time)

    def cut(self, rows):
        if not self.python:
            return self.writer("cut", rows)
        self.record.cut(rows)
        self.path.cut(rows)
        return rows


def merged(column, span):
    if span == 2:
        return column
    groups = [column[k : k + span] for k in range(0, len(column), span)]
    return np.array([extreme(group) for group in groups for extreme in (np.fmin.reduce, np.fmax.reduce)])


@given(
    rows=st.integers(0, 700),
    python=st.booleans(),
    changes=st.lists(st.tuples(st.integers(0, 750), st.sampled_from([0.1, 0.9, 7.0, np.nan])), max_size=6),
)
def test_every_column_is_what_a_loop_over_the_steps_gives(rows, python, changes):
    changes = sorted(changes, key=lambda change: change[0])
    recorder = Recorder(0, changes, python)
    numbers = np.random.default_rng(rows).normal(size=(rows, 4))
    recorder.append(numbers)
    history = History(recorder)
    mu = np.array([([0.5, *(v for s, v in changes if s <= step)])[-1] for step in range(rows)])
    assert list(history) == ["step", "value", "gradient_norm", "step_norm", "samples", "flops", "time", "lr", "mu"]
    assert history.steps == rows
    assert history.span == 2 or rows > 64
    expected = {"step": np.arange(rows), "samples": 3 * np.arange(1, rows + 1), "mu": mu}
    expected["flops"] = 17.0 * np.arange(1, rows + 1)
    expected |= {name: numbers[:, k] for k, name in enumerate(STORED)}
    for name, column in expected.items():
        np.testing.assert_array_equal(history[name], merged(column, history.span), name)
    assert {len(history[name]) for name in history} == {len(history["step"])}
    assert history["step"].dtype == history["samples"].dtype == np.int64
    assert repr(events(recorder)) == repr([Event(s, "mu", v) for s, v in dict(changes).items()])


@pytest.mark.parametrize("python", [False, True])
@pytest.mark.parametrize(
    ("rows", "stamped"), [(0, ()), (5, ()), (50, (0, 7, 30)), (50, (0, 49)), (5000, range(0, 5000, 7))]
)
def test_times_lie_between_the_stamps(rows, stamped, python):
    recorder = Recorder(10**6, python=python)
    for row in range(rows):
        recorder.append(np.zeros((1, 4)))
        if row in stamped:
            recorder.stamp(100.0 * row + 100)
    recorder.elapsed = 100.0 * rows
    time = History(recorder)["time"]
    np.testing.assert_allclose(time[list(stamped)], 100.0 * np.array(stamped, float) + 100)
    assert (np.diff(time) >= 0).all()
    if stamped:
        np.testing.assert_allclose(time, 100.0 * np.arange(1, rows + 1))
    recorder.append(np.zeros((1, 4)))
    assert np.isfinite(History(recorder)["time"]).all()


def test_history_is_a_snapshot():
    recorder = Recorder(0)
    numbers = np.arange(400.0).reshape(100, 4)
    recorder.append(numbers[:50])
    history = History(recorder)
    recorder.append(numbers[50:])
    assert history.steps == len(history["value"]) == len(history["time"]) == 50
    np.testing.assert_array_equal(history["value"], numbers[:50, 0])
    assert "100 steps, minimum and maximum of each 4" in repr(History(recorder))
    with pytest.raises(KeyError, match="gradient_norm"):
        history["loss"]


def test_a_frame_has_all_columns():
    pandas = pytest.importorskip("pandas")
    recorder = Recorder(10**6, [(3, 0.25)])
    recorder.append(np.random.default_rng(0).normal(size=(10, 4)))
    history = History(recorder)
    frame = history.frame()
    assert isinstance(frame, pandas.DataFrame)
    assert list(frame.columns) == list(history)
    for name in history:
        np.testing.assert_array_equal(frame[name], history[name])


def test_a_frame_without_pandas_names_the_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ConfigurationError, match=r"pip install 'burlab\[frames\]'"):
        History(Recorder(0)).frame()


class View3:
    """A live view: what it has gathered of the rows so far."""

    def __init__(self):
        self.cursor, self.columns, self.anew, self.read = None, {}, 0, 0

    def look(self, recorder, columns=None):
        rows, self.cursor, fresh = rows_since(recorder, self.cursor, columns)
        self.anew += fresh
        self.read += len(rows["step"])
        old = {} if fresh else self.columns
        self.columns = {k: np.concatenate([old[k], v]) if k in old else v for k, v in rows.items()}


@pytest.mark.parametrize("python", [False, True])
def test_new_rows_add_up_to_the_history(python):
    rng, recorder, view = np.random.default_rng(3), Recorder(10**6, python=python), View3()
    for turn in range(60):
        recorder.append(rng.normal(size=(int(rng.integers(0, 200)), 4)))
        recorder.stamp(100.0 * turn) if recorder.record.extent().rows else None
        if turn in (20, 40):
            recorder.cut(recorder.record.extent().rows // 2)
        view.look(recorder)
        history = History(recorder)
        for name in ("step", *STORED):
            np.testing.assert_array_equal(view.columns[name], history[name])
        assert (
            len(view.columns["stamp_step"]) == len(view.columns["stamp_time"]) == recorder.record.stamps.extent().slots
        )
    assert history.span == 2
    assert view.anew == 3, "at first, and after cuts"
    before = view.read
    view.look(recorder)
    assert view.read == before, "nothing new is nothing read"


@pytest.mark.parametrize("most", [None, 50])
def test_a_reader_that_keeps_what_it_has_read_goes_on_after_a_merge(most):
    rng, recorder = np.random.default_rng(5), Recorder(20_000)
    truth = rng.normal(size=(8000, 4))
    cursor, steps, values, anew, at_row = None, [], [], 0, 0
    for rows in rng.integers(0, 200, size=60).tolist():
        recorder.append(truth[at_row : at_row + rows])
        recorder.stamp(100.0 * at_row)
        at_row += rows
        while True:
            read, cursor, fresh = rows_since(recorder, cursor, ("value",), most=most)
            anew += fresh
            steps, values = [*steps, *read["step"]], [*values, *read["value"]]
            assert most is None or len(read["step"]) <= most
            if not len(read["step"]):
                break
    assert recorder.record.extent().span > 8
    assert anew == 1
    assert steps == sorted(steps)
    assert len(steps) > 1.2 * recorder.record.extent().slots, "what was read before a merge is finer"
    np.testing.assert_array_equal(values[:100], truth[:100, 0])
    closed = truth[: cursor.rows, 0]
    assert (min(values), max(values)) == (closed.min(), closed.max())
    recorder.cut(1000)
    assert rows_since(recorder, cursor, ("value",))[2]


def test_the_new_rows_of_a_record_that_grows_meanwhile():
    writer = Writer(8, 1 << 20)
    recorder, view = Recorder(0), View3()
    recorder.columns = tuple("abcdefgh")
    recorder.record = RecordTable("record", writer("record"), writer)
    thread = threading.Thread(target=writer, args=("count", 2_000_000, 200_003, 3_000))
    thread.start()
    while thread.is_alive():
        view.look(recorder, ("b", "a"))
    view.look(recorder, ("b", "a"))
    extent = recorder.record.extent()
    a, b, step = (view.columns[name] for name in ("a", "b", "step"))
    merges = int(extent.span).bit_length() - 2
    assert merges > 1
    assert 1 <= view.anew <= 10, "at first, and after the nine cuts"
    assert (a.min(), a.max()) == (0, extent.rows // extent.span * extent.span - 1)
    assert (np.diff(step) >= 0).all()
    assert np.count_nonzero(a != step) <= 2 * merges, "only a pair that was read in part goes back"
    np.testing.assert_array_equal(np.sort(-b), np.sort(a))


def test_new_rows_of_a_missing_column_raise():
    with pytest.raises(ArgumentError, match="value, gradient_norm"):
        rows_since(Recorder(0), None, ("samples",))


def test_one_row_is_read_by_its_step():
    recorder = Recorder(0)
    assert at(recorder, 0) is None
    recorder.append(np.arange(40.0).reshape(10, 4))
    assert at(recorder, 9) == dict(zip(STORED, [36.0, 37.0, 38.0, 39.0], strict=True))
    assert at(recorder, 10) is at(recorder, -1) is None
    recorder.append(np.zeros((90, 4)))
    assert at(recorder, 9) is None, "merged with others"


@pytest.mark.parametrize("python", [False, True])
def test_a_path_ends_at_the_newest_point(python):
    recorder = Recorder(10**6, python=python)
    points = np.random.default_rng(0).normal(size=(1000, 4)) * np.exp(-0.1 * np.arange(1000))[:, None]
    recorder.append(points)
    steps, thinned = path(recorder)
    assert steps[-1] == 999
    np.testing.assert_array_equal(thinned, points[steps, :2])
    recorder.cut(500)
    assert path(recorder)[0][-1] < 500
    recorder.path = None
    assert path(recorder) is None


@pytest.mark.full
def test_ten_million_steps_are_stored_exactly():
    def valley(x):
        return 100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2

    run = bl.minimize(valley, np.array([-1.2, 1.0]), bl.optim.GD(1e-3))
    run.step(10_000_000)
    history = run.history
    assert history.span == 2
    assert len(history["value"]) == len(history["time"]) == 10_000_000
    assert run.memory["history"] <= 256 << 20
    assert run.memory["path"] < 2 << 20
    for step in (0, 1, 4_567_890, 9_999_999):
        run.seek(step)
        rows = run.at(step)
        assert history["value"][step] == rows["value"]
        np.testing.assert_allclose(rows["value"], valley(run.x), rtol=1e-12)
    assert (np.diff(history["time"]) >= 0).all()
    frame = history.frame()
    assert len(frame) == 10_000_000
    rows, cursor, _ = run.tail(columns=("value",))
    run.seek(10_000_000)
    run.step(100)
    assert len(run.tail(cursor, ("value",))[0]["value"]) == 100
    assert len(rows["value"]) == 10_000_000
