"""Going back and branching: any step of the record can be reached again, and everything there has the same bits."""

import threading
import time

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ArgumentError, StatusError
from burlab.optim import GD, Adam, Momentum

rng = np.random.default_rng(7)
A = rng.normal(size=(200, 3))


def loss(x, a, *, key):
    noise = bl.random.uniform(key, (), x["w"].dtype)
    return 0.5 * (np.tanh(a[:2] @ x["w"]) + x["c"] - a[2]) ** 2 * (1 + 0.1 * noise)


def minimize(dtype=np.float64, *, sampler="reshuffle", batch: int | None = 7, threads=1, optimizer=None, **more):
    problem = bl.FiniteSum(loss, A.astype(dtype), lambda x: 0.01 * np.sum(x["w"] ** 2), threads=threads)
    start = {"w": np.array([0.1, -0.2], dtype), "c": np.array(0.5, dtype)}
    return bl.minimize(problem, start, optimizer or Adam(0.01), batch=batch, sampler=sampler, seed=3, **more)


def state(run: bl.Run) -> list[np.ndarray]:
    """x and every leaf of the optimizer's state."""
    engine = run._engine
    return [engine.read(k) for k in range(len(engine._setup.buffers))]


def same(one: bl.Run, other: bl.Run, record: bool = True) -> None:
    """Bit for bit: where they are, what they carry, and what they wrote down."""
    assert one.t == other.t
    for a, b in zip(state(one), state(other), strict=True):
        np.testing.assert_array_equal(a, b)
    assert dict(one.hyper) == dict(other.hyper)
    if record:
        assert one.length == other.length
        for name in one.history:
            if name != "time":
                np.testing.assert_array_equal(one.history[name], other.history[name])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("sampler", "batch", "threads"), [
    ("reshuffle", 7, 1), ("uniform", 128, 2), ("nice", 3, 1), ("sequential", 128, 2), ("sequential", None, 1),
])  # fmt: skip
def test_any_step_of_the_record_can_be_reached_again(dtype, sampler, batch, threads):
    setting = {"sampler": sampler, "batch": batch, "threads": threads}
    run = minimize(dtype, steps=3000, **setting)
    places = [0, 3000, 1, 2999, *np.random.default_rng(1).integers(0, 3000, size=8)]
    for step in places:
        run.seek(int(step))
        same(run, minimize(dtype, steps=int(step), **setting), record=False)
        assert run.length == 3000
    run.seek(1000)
    run.step(2500)  # through the record, and past its end
    same(run, minimize(dtype, steps=3500, **setting))


def test_snapshots_are_used_and_the_replay_starts_at_them():
    run = minimize(steps=30_000)
    assert run.memory["keyframes"] > 5 * 64
    run.seek(29_000)
    run.seek(29_001)
    same(run, minimize(steps=29_001), record=False)


def test_invalid_seek_raises():
    run = minimize(steps=5)
    for step in (-1, 6, 2.5, None):
        with pytest.raises(ArgumentError, match="step="):
            run.seek(step)
    assert run.t == 5


def test_the_past_does_not_write_and_changes_nothing():
    run = minimize(steps=500)
    before = {name: column.copy() for name, column in run.history.items()}
    run.seek(100)
    run.step(300)
    assert run.t == 400
    assert all(np.array_equal(before[name], run.history[name]) for name in before)
    run.start()
    while run.length < 600:
        pass
    run.pause()
    assert all(np.array_equal(before[name][:400], run.history[name][:400]) for name in before)


def test_value_of_a_run_follows_seek() -> None:
    run = bl.minimize(lambda x: np.sum(x**2), np.ones(1), GD(0.25))
    assert repr(run) == "<Run at step 0, lr=0.25>"
    run.step(3)
    assert repr(run) == "<Run at step 3, value 0.015625, lr=0.25>"
    run.seek(1)
    assert repr(run) == "<Run at step 1, value 0.25, lr=0.25>"


def changed() -> bl.Run:
    run = minimize()
    for step, name, value in [(0, "lr", 0.02), (40, "b1", 0.5), (40, "lr", 0.1), (41, "lr", 0.001), (900, "b2", 0.9)]:
        run.step(step - run.t)
        run.hyper[name] = value
    run.step(2000 - run.t)
    return run


def test_changes_are_replayed_from_the_event_log():
    straight, run = changed(), changed()
    events = run.events
    for step in (0, 39, 40, 41, 42, 899, 900, 901, 5, 2000):
        run.seek(step)
        for name in run.hyper:
            assert run.hyper[name] == ({name: run.history[name][step]} if step < 2000 else dict(straight.hyper))[name]
    run.seek(17)
    run.step(1983)
    same(run, straight)
    assert run.events == events


def test_changes_at_random_moments_of_a_running_run_replay():
    run = minimize(optimizer=Momentum(0.01))
    run.start()
    values = np.random.default_rng(0).uniform(1e-4, 1e-2, size=100)
    patience = time.monotonic() + 120
    for k, value in enumerate(values):
        time.sleep(0.001)
        run.hyper["mu" if k % 3 == 0 else "lr"] = value
        while len(run.events) <= k or run.t <= run.events[k].step:
            assert time.monotonic() < patience
    run.pause()
    end, x = run.t, state(run)
    assert len({event.step for event in run.events}) == 100
    log = [(event.step, event.name, event.value) for event in run.events]
    run.seek(0)
    run.step(end)
    assert all(np.array_equal(a, b) for a, b in zip(state(run), x, strict=True))
    again = minimize(optimizer=Momentum(0.01))
    for step, name, value in log:
        again.step(step - again.t)
        again.hyper[name] = value
    again.step(end - again.t)
    same(run, again)


def test_a_fork_without_a_change_equals_its_parent():
    for where in (0, 400, 700, 1000):
        run = minimize(steps=1000)
        run.seek(where)
        fork = run.fork()
        assert fork.parent is run
        assert (fork.t, fork.length, run.t, run.length) == (where, where, where, 1000)
        fork.step(1500 - where)
        run.step(1500 - where)
        same(fork, run)


def test_fork_with_a_change_equals_a_run_with_that_change():
    run = minimize(steps=1000)
    run.seek(300)
    fork = run.fork(lr=0.1, b2=0.9)
    fork.step(700)
    straight = minimize(steps=300)
    straight.hyper["lr"], straight.hyper["b2"] = 0.1, 0.9
    straight.step(700)
    same(fork, straight)
    assert fork.events == straight.events
    assert (run.t, run.length, run.events) == (300, 1000, [])
    run.step(700)
    same(run, minimize(steps=1000))
    with pytest.raises(ArgumentError, match="no live field 'rate'"):
        run.fork(rate=3.0)


def test_a_change_in_the_past_begins_a_new_line_and_the_parent_keeps_the_old_one():
    run = changed()
    run.seek(500)
    run.hyper["lr"] = 0.5
    old = run.parent
    assert old is not None
    assert (run.t, run.length) == (500, 500)
    assert (old.t, old.length) == (500, 2000)
    run.step(1500)
    straight = minimize()
    for step, name, value in [(0, "lr", 0.02), (40, "b1", 0.5), (40, "lr", 0.1), (41, "lr", 0.001), (500, "lr", 0.5)]:
        straight.step(step - straight.t)
        straight.hyper[name] = value
    straight.step(1500)
    same(run, straight)
    assert run.events == straight.events
    old.seek(2000)
    same(old, changed())
    assert old.events == changed().events
    run.hyper["lr"] = 0.6  # at the front again
    assert run.parent is old
    run.seek(3)
    run.hyper["b1"] = 0.1
    assert run.parent is not old
    assert run.parent.parent is old


def test_a_value_that_is_no_change_begins_no_line():
    run = minimize(steps=100)
    run.seek(50)
    run.hyper["lr"] = 0.01
    run.step(50)
    assert run.parent is None
    assert run.length == 100


def test_a_change_in_the_past_of_a_run_that_plays():
    setting = {"sampler": "sequential", "batch": None}
    run = minimize(steps=30_000, **setting)
    run.fork()  # what branching needs is compiled now
    run.seek(10)
    run.start()
    run.hyper["lr"] = 0.5
    while not run.events or run.length < run.events[0].step + 100:
        pass
    run.pause()
    (event,) = run.events
    assert 10 <= event.step < 30_000
    assert run.parent.length == 30_000
    straight = minimize(steps=event.step, **setting)
    straight.hyper["lr"] = 0.5
    straight.step(run.t - event.step)
    same(run, straight)


def test_forks_of_a_run_that_steps_are_where_it_was():
    run = minimize(optimizer=GD(1e-3))
    run.start()
    forks = [run.fork() for _ in range(10)]
    run.pause()
    steps = [fork.t for fork in forks]
    assert steps == sorted(steps)
    for fork in forks:
        assert fork.length == fork.t
        same(fork, minimize(optimizer=GD(1e-3), steps=fork.t))
        fork.step(10)


def test_a_run_that_was_stopped_for_good_can_be_read_and_forked():
    run = minimize(steps=100)
    run.stop()
    run.stop()
    for act in (run.step, run.start, lambda: run.seek(3), lambda: run.hyper.__setitem__("lr", 1.0)):
        with pytest.raises(StatusError, match="for good"):
            act()
    assert run.t == len(run.history["value"]) == 100
    fork = run.fork()
    fork.step(50)
    same(fork, minimize(steps=150))


def test_few_bytes_for_snapshots_and_history_change_no_bit():
    run = minimize(steps=20_000, keyframe_bytes=1500, history_bytes=20_000)
    whole = minimize(steps=20_000)
    assert run.memory["keyframes"] < 3000
    assert run.memory["history"] < 30_000
    for step in (19_999, 12_345, 3):
        run.seek(step)
        same(run, minimize(steps=step), record=False)
    run.seek(15_001)
    run.hyper["lr"] = 0.5  # cuts a record whose rows are merged
    run.step(100)
    whole.seek(15_001)
    whole.hyper["lr"] = 0.5
    whole.step(100)
    same(run, whole, record=False)
    assert run.length == whole.length == 15_101
    fork = run.fork()
    assert fork.length == 15_101
    low, high = run.history["value"].min(), run.history["value"].max()
    assert (low, high) == (whole.history["value"].min(), whole.history["value"].max())
    assert fork.history["value"].tolist() == run.history["value"].tolist()


def test_a_pause_from_another_thread_cuts_a_seek_short():
    run = minimize(steps=400_000, keyframe_bytes=1)
    run.seek(0)

    def pause() -> None:
        while run.t == 0:
            time.sleep(0.001)
        run.pause()

    thread = threading.Thread(target=pause)
    thread.start()
    run.seek(399_999)
    thread.join()
    assert 0 < run.t < 399_999
    run.seek(run.t + 1)
    same(run, minimize(steps=run.t), record=False)
