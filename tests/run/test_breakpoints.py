"""Breakpoints: where exactly a run rests, what it says, how it goes on, and what it forgets."""

import threading
import time

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ArgumentError
from burlab.run import Breakpoint
from burlab.run.record.breakpoints import BreakpointTester
from tests.run.noisy_runs import noisy

START = np.array([3.0, -2.0])


def wavy(x):
    return np.sum(x**2 * np.array([1.0, 10.0])) + 5.0 * np.sin(4.0 * x[0])


def minimize(lr: float = 0.06, **more) -> bl.Run:
    return bl.minimize(wavy, START, bl.optim.Momentum(lr), **more)


def rests(run: bl.Run) -> list[tuple[int, int]]:
    """Steps and numbers of the breakpoints at which a run rests until step 300, going on from each."""
    found: list[tuple[int, int]] = []
    while run.t < 300:
        run.step(300 - run.t)
        if run.stopped is not None:
            assert run.stopped.reason == "breakpoint"
            assert (run.stopped.step, run.length, run.running) == (run.t, run.t + 1, False)
            assert f"Stopped at step {run.t} by breakpoint {run.stopped.breakpoint}: " in run.stopped.message
            found.append((run.t, run.stopped.breakpoint or 0))
    return found


def runs(flags: np.ndarray) -> np.ndarray:
    """Rows at which a condition begins to hold."""
    return np.flatnonzero(flags & ~np.concatenate([[False], flags[:-1]]))


@pytest.mark.parametrize("factor", [0.0, 0.3])
@pytest.mark.parametrize("patience", [1, 2, 3])
def test_breakpoint_hits_where_the_value_rises(factor: float, patience: int) -> None:
    value = noisy(steps=300).history["value"]
    rises = np.concatenate([[False], value[1:] > value[:-1] + factor * np.abs(value[:-1])])
    expected: list[int] = []
    row = 0
    for step, rise in enumerate(rises):
        row = row + 1 if rise else 0
        if row == patience:
            expected.append(step)
            row = 0
    assert expected
    run = noisy()
    run.breakpoints.add(rises=factor, patience=patience)
    assert [step for step, _ in rests(run)] == expected
    np.testing.assert_array_equal(run.history["value"], value)
    np.testing.assert_array_equal(run.x, noisy(steps=300).x)


def test_breakpoint_hits_where_the_norm_exceeds_its_limit() -> None:
    norm = noisy(steps=300).history["gradient_norm"]
    limit = float(np.median(norm))
    run = noisy()
    run.breakpoints.add(grad_norm=limit)
    found = rests(run)
    assert [step for step, _ in found] == runs(norm > limit).tolist()
    assert len(found) < np.count_nonzero(norm > limit)  # only where it begins


def test_breakpoints_hit_periodically_and_the_first_of_several_counts() -> None:
    run = noisy()
    assert [run.breakpoints.add(every=20), run.breakpoints.add(every=30)] == [1, 2]
    steps = sorted({*range(20, 300, 20), *range(30, 300, 30)})
    assert rests(run) == [(step, 2 if step % 20 else 1) for step in steps]


def test_breakpoint_hits_where_a_predicate_becomes_true() -> None:
    value = noisy(steps=300).history["value"]
    run = noisy()
    seen: list[int] = []

    def above(rows):
        seen.extend(rows["step"].tolist())
        return rows["value"] > 2.0

    run.breakpoints.add(when=above)
    run.breakpoints.add(every=100)
    wanted = sorted([(int(step), 1) for step in runs(value > 2.0)] + [(100, 2), (200, 2)])
    assert rests(run) == wanted
    assert set(seen) == set(range(300))
    np.testing.assert_array_equal(run.history["value"], value)


def test_non_finite_values_rest_a_run_that_would_go_on() -> None:
    run = bl.minimize(lambda x: np.sum(x**4), np.full(2, 3.0), bl.optim.GD(1.0), stop=bl.Stop(non_finite=False))
    run.breakpoints.add(non_finite=True)
    run.step(100)
    assert run.stopped is not None
    assert run.stopped.breakpoint == 1
    assert np.isfinite(run.history["value"][:-1]).all()
    assert not np.isfinite(run.history["value"][-1] + run.history["gradient_norm"][-1])
    run.step(100)
    assert run.t > 100  # once: what is not finite stays so


def test_breakpoints_are_switched_while_a_run_goes_on() -> None:
    run = minimize(lr=1e-6)
    run.start()
    number = run.breakpoints.add(every=1000)
    assert run.wait(120)
    first = run.t
    assert first % 1000 == 0
    run.breakpoints.disable(number)
    run.start()
    while run.t < first + 10_000:
        time.sleep(1e-3)
    assert run.running
    run.breakpoints.enable(number)
    assert run.wait(120)
    assert run.t % 1000 == 0
    run.breakpoints.remove(number)
    run.step(2000)
    assert run.stopped is None
    assert len(run.breakpoints) == 0
    predicate = run.breakpoints.add(when=lambda rows: rows["step"] % 777 == 0)
    assert predicate == 2
    run.start()
    assert run.wait(120)
    assert run.t % 777 == 0
    run.start()
    run.breakpoints.clear()
    run.start()  # where it had come to another one before
    while run.t % 777 == 0 or run.t < run.length:
        time.sleep(1e-3)
    run.pause()


def test_a_predicate_that_comes_while_it_runs_is_attended_to() -> None:
    run = minimize(lr=1e-6)
    run.start()
    run.breakpoints.add(when=lambda rows: rows["step"] % 5000 == 0)
    deadline = time.monotonic() + 120
    while run.running and time.monotonic() < deadline:  # nobody waits for the run
        time.sleep(1e-3)
    assert run.stopped is not None
    assert run.stopped.breakpoint == 1
    assert run.t % 5000 == 0


def test_a_predicate_that_fails_is_raised() -> None:
    run = minimize()
    run.breakpoints.add(when=lambda rows: rows["speed"] > 1)
    with pytest.raises(KeyError, match="got 'speed'"):
        run.step(10)
    run.breakpoints.clear()
    run.breakpoints.add(when=lambda rows: 1.0)
    with pytest.raises(ArgumentError, match=r"the predicate of Breakpoint\(when=...\) returned float64 of shape \(\)"):
        run.step(10)


def test_to_seek_breaks_nothing() -> None:
    run = noisy()
    run.step(100)
    run.breakpoints.add(every=10)
    run.breakpoints.add(rises=0.0)
    run.breakpoints.add(when=lambda rows: rows["value"] > 0)
    for step in (3, 50, 0, 97):
        run.seek(step)
        assert (run.t, run.stopped) == (step, None)


def test_predicates_see_new_rows_only() -> None:
    run = noisy()
    run.step(100)
    run.breakpoints.add(when=lambda rows: rows["value"] > 0)
    run.seek(20)
    run.step(60)  # through rows that are recorded
    assert (run.t, run.stopped) == (80, None)
    run.step(60)
    assert run.stopped is not None
    assert run.t == 100


def test_a_new_line_breaks_anew() -> None:
    run = noisy()
    run.breakpoints.add(every=40)
    run.step(100)
    run.step(100)
    assert run.t == 80
    run.seek(10)
    run.hyper["lr"] = 0.05  # what came after is forgotten, and the breakpoints stay
    run.step(100)
    assert (run.t, run.stopped.breakpoint) == (40, 1)


def test_forks_and_files_have_none(tmp_path) -> None:
    run = noisy()
    run.breakpoints.add(every=40)
    run.breakpoints.add(when=lambda rows: rows["value"] < -1)
    run.step(100)
    fork = run.fork()
    run.save(tmp_path / "a.burlab")
    again = bl.load_run(tmp_path / "a.burlab", np.random.default_rng(0).normal(size=(64, 3)))
    for other in (fork, again):
        assert (other.t, len(other.breakpoints), other.stopped) == (40, 0, None)
        other.step(100)
        assert other.t == 140
    run.step(100)
    assert run.t == 80
    np.testing.assert_array_equal(run.history["value"], again.history["value"][:81])


def test_stop_comes_first_and_stays() -> None:
    stop = bl.Stop(steps=50, when=lambda rows: rows["step"] == 25)
    run = noisy(stop=stop)
    run.breakpoints.add(every=25)
    run.breakpoints.add(when=lambda rows: rows["step"] == 10)
    reasons = []
    for _ in range(4):
        run.step(100)
        reasons.append((run.t, run.stopped.reason))
    assert reasons[0] == (10, "breakpoint")
    assert reasons[1][0] == 25
    assert reasons[-1] == (50, "steps")


def test_c_and_python_agree() -> None:
    run = noisy(steps=300)
    rows = [run.history[name].tolist() for name in ("step", "value", "gradient_norm")]
    points = [
        Breakpoint(rises=0.2, patience=2), Breakpoint(grad_norm=1.0), Breakpoint(every=70), Breakpoint(rises=3.0),
    ]  # fmt: skip
    armed, other = BreakpointTester(), noisy()
    for number, point in enumerate(points, 1):
        armed.points[number] = point
        other.breakpoints.add(**{name: getattr(point, name) for name in ("rises", "patience", "grad_norm", "every")})
    hits = [(step, armed.hit(step, value, norm)) for step, value, norm in zip(*rows, strict=True)]
    assert rests(other) == [hit for hit in hits if hit[1]]


def test_hits_are_listed_with_the_value_there_until_their_rows_are_written_anew() -> None:
    run = noisy()
    every = run.breakpoints.add(every=40)
    above = run.breakpoints.add(when=lambda rows: rows["value"] > 2.0)
    found = rests(run)
    hits = run.breakpoints.hits
    assert [(hit.step, hit.number) for hit in hits] == found
    assert {every, above} == {hit.number for hit in hits}
    assert all(hit.breakpoint == run.breakpoints[hit.number] for hit in hits)
    np.testing.assert_array_equal([hit.value for hit in hits], run.history["value"][[hit.step for hit in hits]])
    run.breakpoints.clear()
    assert run.breakpoints.hits == hits, "those that are gone were hit all the same"
    run.seek(hits[3].step)
    assert run.x.tolist() == noisy(steps=hits[3].step).x.tolist(), "a hit says where to go"
    assert run.breakpoints.hits == hits, "the past is not cut off by looking at it"
    run.hyper["lr"] = 0.05
    assert run.breakpoints.hits == hits[:3]
    assert run.fork().breakpoints.hits == ()


def test_a_hit_whose_breakpoint_is_removed_at_once_is_known() -> None:
    run = noisy()
    run.breakpoints.add(every=7)
    run.step(100)
    run.breakpoints.remove(1)
    assert [(hit.step, repr(hit.breakpoint)) for hit in run.breakpoints.hits] == [(7, "Breakpoint(every=7)")]


@pytest.mark.parametrize(
    "conditions", [{"every": 16}, {"grad_norm": 1.0}, {"when": lambda rows: rows["step"] % 16 == 0}]
)
def test_rows_of_a_merged_record_that_are_written_again_break_nothing(conditions) -> None:
    """A change in the middle of a merged pair writes its first rows once more: they were tested already."""
    run = noisy(history_bytes=2000)
    run.step(300)
    span = run.history.span
    assert span >= 16
    run.breakpoints.add(**conditions)
    step = 300 // span * span - span // 2 + 1
    run.seek(step)
    run.hyper["lr"] = 0.05
    whole = noisy(history_bytes=2000, steps=step)
    whole.hyper["lr"] = 0.05
    whole.step(100)
    assert (run.t, run.length, run.stopped) == (step, step, None), "it rests where it was changed"
    run.step(100)
    assert run.stopped.breakpoint == 1
    assert run.t >= step
    run.breakpoints.clear()
    run.step(step + 100 - run.t)
    np.testing.assert_array_equal(run.x, whole.x)
    np.testing.assert_array_equal(run.history["value"], whole.history["value"])


def test_scipy_has_them_too() -> None:
    def rosen(x):
        return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)

    def fresh() -> bl.Run:
        return bl.minimize(rosen, np.zeros(6), bl.optim.SciPy("BFGS"))

    whole = fresh()
    whole.step(20)
    value = whole.history["value"]
    run = fresh()
    run.breakpoints.add(every=6)
    run.breakpoints.add(when=lambda rows: rows["value"] < value[9])
    found = []
    for _ in range(3):
        run.step(20)
        found.append((run.t, run.stopped.breakpoint))
    assert found == [(6, 1), (10, 2), (12, 1)]
    hits = [(hit.step, hit.number, hit.value) for hit in run.breakpoints.hits]
    assert hits == [(step, number, value[step]) for step, number in found]
    run.breakpoints.clear()
    run.step(20 - run.t)
    np.testing.assert_array_equal(run.x, whole.x)
    np.testing.assert_array_equal(run.history["value"], value)


@pytest.mark.parametrize(
    ("conditions", "message"),
    [
        ({}, "has one condition, got none"),
        ({"every": 3, "rises": 0.0}, "has one condition, got rises and every"),
        ({"every": 0}, "every"),
        ({"every": 2.5}, "every"),
        ({"rises": -1.0}, "rises"),
        ({"grad_norm": float("nan")}, "grad_norm"),
        ({"rises": 1.0, "patience": 0}, "patience"),
        ({"every": 3, "patience": 2}, "Pass it with rises="),
        ({"when": 3}, "expected a function of a mapping of columns"),
    ],
)
def test_invalid_breakpoints_raise(conditions, message) -> None:
    run = minimize()
    with pytest.raises(ArgumentError, match=message):
        run.breakpoints.add(**conditions)
    assert len(run.breakpoints) == 0


def test_a_number_that_is_none() -> None:
    run = minimize()
    run.breakpoints.add(grad_norm=1.0)
    for act in (run.breakpoints.remove, run.breakpoints.enable, run.breakpoints.disable, run.breakpoints.enabled):
        with pytest.raises(ArgumentError, match="the breakpoint must be one of 1; got 7"):
            act(7)
    run.breakpoints.disable(1)
    assert repr(run.breakpoints) == "1: Breakpoint(grad_norm=1.0) (off)"


def test_a_run_with_breakpoints_ends_with_its_last_reference() -> None:
    run = minimize(lr=1e-6)
    run.breakpoints.add(when=lambda rows: rows["value"] < -1e9)
    run.start()
    before = {thread.name for thread in threading.enumerate()}
    assert "burlab-observer" in before
    del run
    deadline = time.monotonic() + 120
    while any(t.name == "burlab-observer" for t in threading.enumerate()) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not any(t.name == "burlab-observer" for t in threading.enumerate())
