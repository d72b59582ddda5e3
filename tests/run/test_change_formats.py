"""`run.fork(formats=)` and `run.change_formats`: other formats of numbers from a step on."""

import itertools
import time
from typing import Any, cast

import numpy as np
import pytest

import burlab as bl
from burlab.errors import StatusError

RNG = np.random.default_rng(0)
A = RNG.normal(size=(60, 4))
B = A @ RNG.normal(size=4)
START = np.full(4, 0.3)
EIGHT = bl.Formats(params="e4m3", compute="bfloat16", gradients="e5m2", state="bfloat16", scale="dynamic")
COARSE = bl.Formats(params="e4m3", state="e4m3", master=False, stochastic=False)
SIDES = [None, EIGHT, COARSE, bl.Formats(gradients="float16", scale=2.0**4), bl.Formats(params="bfloat16")]


def squares(x: Any, a: Any, b: Any) -> Any:
    return (a @ x - b) ** 2


def bowl(x: Any) -> Any:
    return np.sum((x - 1.1) ** 2) + 0.1 * np.sum(x**4)


def problem() -> Any:
    return bl.FiniteSum(squares, (A, B))


def opened(formats: bl.Formats | None = None, steps: int = 0, optimizer: Any = None) -> bl.Run:
    rule = bl.optim.Adam(0.05) if optimizer is None else optimizer
    return bl.minimize(problem(), START, rule, batch=10, seed=3, steps=steps, formats=formats)


def bits(run: bl.Run) -> list[bytes]:
    return [np.asarray(leaf).tobytes() for leaf in (run.x, run.iterate, *bl.tree.leaves(run.state))]


@pytest.mark.parametrize(("first", "then"), [*itertools.permutations(range(len(SIDES)), 2)])
def test_a_fork_at_the_start_is_a_fresh_run(first: int, then: int) -> None:
    fork = opened(SIDES[first]).fork(formats=SIDES[then])
    fresh = opened(SIDES[then])
    fork.step(7)
    fresh.step(7)
    assert fork.formats == SIDES[then]
    if SIDES[first] is COARSE:  # whose start is rounded already
        np.testing.assert_array_equal(bl.round_to("e4m3", START), opened(COARSE).x)
        assert fork.length == 7
        return
    assert bits(fork) == bits(fresh)
    for name in fresh.history:
        if name != "time":
            np.testing.assert_array_equal(fork.history[name], fresh.history[name], err_msg=name)


@pytest.mark.parametrize("formats", [COARSE, bl.Formats(params="bfloat16"), bl.Formats(compute="e5m2")])
@pytest.mark.parametrize("optimizer", [bl.optim.GD(0.05), bl.optim.Momentum(0.02)])
def test_a_fork_goes_on_as_a_run_from_its_point_and_state(formats: bl.Formats, optimizer: Any) -> None:
    """The optimizers do not read t, and the gradient is full: so the step at which it begins does not count."""
    run = bl.minimize(bowl, START, optimizer, steps=9)
    fork = run.fork(formats=formats)
    state = fork.state
    fork.step(20)
    fresh = bl.minimize(bowl, run.iterate, optimizer, formats=formats, state=state, steps=20)
    np.testing.assert_array_equal(fork.x, fresh.x)
    np.testing.assert_array_equal(fork.iterate, fresh.iterate)
    for name in ("value", "gradient_norm", "step_norm"):
        np.testing.assert_array_equal(fork.history[name], np.concatenate([run.history[name], fresh.history[name]]))
    assert (run.t, run.formats, fork.t, fork.parent) == (9, None, 29, run)


def test_rounded_steps_by_hand_and_back() -> None:
    """Momentum with x and velocity in e4m3, to the nearest, from step 5 to step 12; exact before and after."""
    run = bl.minimize(bowl, START, bl.optim.Momentum(0.02, mu=0.9), steps=5)
    x, v = run.x.copy(), run.state["v"].copy()
    run.change_formats(COARSE)
    x, v = bl.round_to("e4m3", x), bl.round_to("e4m3", v)
    np.testing.assert_array_equal(run.x, x)
    np.testing.assert_array_equal(run.state["inner"]["v"], v)
    run.step(7)

    def on(x: Any, v: Any) -> Any:
        v = 0.9 * v + bl.grad(bowl)(x)
        return x - 0.02 * v, v

    for _ in range(7):
        x, v = (bl.round_to("e4m3", part) for part in on(x, v))
    np.testing.assert_array_equal(run.x, x)
    run.change_formats(None)
    assert run.state.keys() == {"v"}
    run.step(3)
    for _ in range(3):
        x, v = on(x, v)
    np.testing.assert_allclose(run.x, x, rtol=1e-14)
    assert (run.t, run.length) == (15, 15)


def test_seek_replays_each_step_in_its_formats() -> None:
    run = opened(steps=30)
    run.change_formats(EIGHT)
    run.step(25)
    run.hyper["lr"] = 0.01
    run.step(5)
    run.change_formats(COARSE)
    run.step(20)
    marks = [0, 12, 30, 31, 47, 55, 60, 71, 80]
    seen: dict[int, list[bytes]] = {}
    for step in marks:
        run.seek(step)
        assert (run.t, run.length) == (step, 80)
        assert run.formats == (None if step < 30 else EIGHT if step < 60 else COARSE)
        seen[step] = bits(run)
    plain = opened(steps=12)
    assert seen[12] == bits(plain)
    for step in reversed(marks):
        run.seek(step)
        assert bits(run) == seen[step]
    run.seek(12)
    for step in marks[2:]:
        run.step(step - run.t)
        assert bits(run) == seen[step], step
    run.seek(5)
    run.start(60)  # through both changes, and nobody looks
    time.sleep(0.3)
    assert run.wait(30)
    assert run.t == 65
    run.seek(0)
    run.start()
    while run.t < 81:
        time.sleep(0.001)
    run.pause()
    at = run.t
    run.seek(80)
    assert at > 80
    assert bits(run) == seen[80]


def test_columns_events_and_counts_go_on() -> None:
    run = opened(steps=20)
    run.hyper["lr"] = 0.02
    run.step(5)
    values = np.asarray(run.history["value"]).copy()
    run.change_formats(EIGHT)
    run.step(10)
    history = run.history
    np.testing.assert_array_equal(history["value"][:25], values)
    np.testing.assert_array_equal(history["samples"], 10 * np.arange(1, 36))
    assert np.isnan(history["loss_scale"][:25]).all()
    np.testing.assert_array_equal(history["loss_scale"][25:], 2.0**16)
    np.testing.assert_array_equal(history["lr"], [0.05] * 20 + [0.02] * 15)
    assert [(event.step, event.name, event.value) for event in run.events] == [(20, "lr", 0.02)]
    assert run.parent is not None
    assert (run.parent.length, run.parent.formats) == (25, None)
    assert (np.diff(history["time"]) >= 0).all()


def test_a_change_in_an_earlier_part_leaves_the_later_formats() -> None:
    run = opened(steps=20)
    run.change_formats(EIGHT)
    run.step(20)
    end = run.x
    run.seek(10)
    run.hyper["lr"] = 0.001
    run.step(20)
    plain = opened(steps=10)
    plain.hyper["lr"] = 0.001
    plain.step(20)
    assert (run.formats, run.t, run.length) == (None, 30, 30)
    assert bits(run) == bits(plain)
    old = run.parent
    assert old is not None
    assert (old.length, old.t, old.parent is not None) == (40, 10, True)
    old.step(30)
    np.testing.assert_array_equal(old.x, end)
    assert old.formats == EIGHT


def test_a_change_of_formats_in_the_past_begins_there() -> None:
    run = opened(steps=40)
    run.seek(15)
    run.change_formats(EIGHT)
    assert (run.t, run.length, run.parent and run.parent.length) == (15, 15, 40)
    fork = opened(steps=15).fork(formats=EIGHT)
    run.step(5)
    fork.step(5)
    assert bits(run) == bits(fork)


def test_forks_of_a_changed_run() -> None:
    run = opened(steps=10)
    run.change_formats(COARSE)
    run.step(10)
    same, again = run.fork(), run.fork(formats=COARSE)
    exact = run.fork(formats=None, lr=0.5)
    exact.step(2)
    exact.change_formats(bl.Formats(compute="bfloat16"))
    names = [branch.message for branch in bl.branches(run).tree]
    assert names == [
        "the first run",
        "numbers: params e4m3, state e4m3",
        *["nothing changed"] * 2,
        "lr = 0.5, numbers: exact",
        "numbers: compute bfloat16",
    ]
    assert bl.branches(run).fork("A", 5, formats=EIGHT).message == f"numbers: {EIGHT.summary}"
    for other in (run, same, again):
        other.step(10)
    assert bits(run) == bits(same) == bits(again)
    for other in (same, again):
        other.seek(4)
        assert bits(other) == bits(opened(steps=4))
    run.seek(4)
    early = run.fork(lr=0.1)
    assert (early.formats, early.length) == (None, 4)


def test_a_run_that_stopped_goes_on_where_its_criterion_holds_no_more() -> None:
    """In float16 the value is infinite; the row at which the run stopped is computed again."""
    half = bl.Formats(compute="float16")
    with pytest.warns(RuntimeWarning, match="inf"):
        run = bl.minimize(lambda x: np.sum(x**2), np.full(2, 300.0), bl.optim.GD(0.1), formats=half, steps=3)
    assert (run.t, run.length) == (0, 1)
    run.change_formats(None)
    run.step(2)
    np.testing.assert_allclose(run.history["value"], [180000.0, 180000.0 * 0.64])
    assert run.stopped is None


def test_the_formats_that_a_run_has_are_no_change() -> None:
    """The loss scale, too, is that of the run."""
    run = opened(EIGHT, steps=10)
    fork = run.fork(formats=EIGHT)
    run.change_formats(EIGHT)
    assert (run.parent, list(fork.formats_from), list(run.formats_from)) == (None, [0], [0])
    loaded_like = opened().fork(formats=None)
    assert loaded_like.formats is None


def test_two_changes_without_a_step_are_one() -> None:
    run = opened(steps=10)
    run.change_formats(bl.Formats(params="e4m3", gradients="e4m3"))  # of a state that keeps its numbers
    run.change_formats(None)
    run.step(10)
    run.seek(3)
    run.seek(20)
    assert bits(run) == bits(opened(steps=20))


def test_restarts_keep_the_formats() -> None:
    run = opened(steps=10)
    run.change_formats(COARSE)
    run.step(3)
    run.restart(START + 0.01)
    np.testing.assert_array_equal(run.x, bl.round_to("e4m3", START + 0.01))
    run.step(5)
    fresh = bl.minimize(problem(), START + 0.01, bl.optim.Adam(0.05), batch=10, seed=3, steps=5, formats=COARSE)
    assert bits(run) == bits(fresh)


def test_losses_with_numbers_metrics_state_and_validation() -> None:
    def loss(x: Any, a: Any, b: Any, state: Any, hyper: Any) -> Any:
        value = (a @ x - b) ** 2 + hyper["ridge"] * np.sum(x * x)
        return value, {"sum": 0.9 * state["sum"] + value}, {"residual": a @ x - b}

    sums = bl.FiniteSum(loss, (A, B), has_aux=True, hyper={"ridge": 0.1}, loss_state={"sum": np.array(0.0)})
    run = bl.minimize(sums, START, bl.optim.GD(0.01), validation=sums, validate_every=5, steps=10)
    known = run.loss_state["sum"]
    run.change_formats(bl.Formats(params="bfloat16", gradients="e5m2"))
    np.testing.assert_array_equal(run.loss_state["sum"], known)
    run.hyper["ridge"] = 0.2
    run.step(10)
    assert run.history["ridge"][-1] == 0.2
    assert np.isfinite(run.history["residual"]).all()
    assert np.isfinite(run.history["validation_value"]).sum() == 4


def test_predicates_and_breakpoints_hold_after_a_change() -> None:
    stop = bl.Stop(when=lambda rows: rows["step"] == 25)
    run = bl.minimize(problem(), START, bl.optim.Adam(0.05), batch=10, stop=stop)
    run.step(10)
    run.change_formats(COARSE)
    number = run.breakpoints.add(when=lambda rows: rows["step"] == 17)
    run.step(100)
    assert (run.t, number) == (17, 1)
    run.step(100)
    assert run.t == 25


@pytest.mark.parametrize(
    ("make", "formats", "text"),
    [
        (opened, "bfloat16", "formats is 'bfloat16', expected bl.Formats"),
        (
            lambda: bl.minimize(bowl, START.astype(np.float32), bl.optim.GD(0.1), steps=2),
            bl.Formats(params=(8, 30)),
            "which float32 has not",
        ),
        (
            lambda: bl.minimize(bowl, START, bl.optim.SciPy(), steps=2),
            bl.Formats(compute="bfloat16"),
            "formats are for optimizers of bl.optim",
        ),
        (
            lambda: bl.minimize(bl.Residuals(lambda x, a, b: a @ x - b, (A, B)), START, bl.optim.GD(0.1)),
            bl.Formats(compute="bfloat16"),
            "expected no residuals",
        ),
    ],
)
def test_wrong_formats_change_nothing(make: Any, formats: Any, text: str) -> None:
    run = make()
    before = run.t, run.formats, run.parent
    for order in (lambda: run.fork(formats=cast("Any", formats)), lambda: run.change_formats(formats)):
        with pytest.raises(bl.BurlabError, match=text):
            order()
    assert (run.t, run.formats, run.parent) == before
    run.step()
    assert run.family.children == ()


def test_loaded_and_ended_runs_say_why_not(tmp_path: Any) -> None:
    run = opened(steps=3)
    run.save(tmp_path / "run.burlab")
    loaded = bl.load_run(tmp_path / "run.burlab", (A, B))
    with pytest.raises(StatusError, match="formats cannot change: a loaded run has graphs"):
        loaded.fork(formats=COARSE)
    run.stop()
    with pytest.raises(StatusError, match="stopped for good"):
        run.change_formats(COARSE)


def test_files_hold_all_formats(tmp_path: Any) -> None:
    run = opened(steps=20)
    run.change_formats(EIGHT)
    run.step(20)
    run.change_formats(
        bl.Formats(compute=(5, 9), gradients=bl.Format.integer(8, scale=0.5), scale=bl.optim.LossScale(4.0))
    )
    run.step(20)
    for step in (60, 45, 25, 7):
        run.seek(step)
        run.save(tmp_path / "run.burlab")
        loaded = bl.load_run(tmp_path / "run.burlab", (A, B))
        assert (loaded.t, loaded.length, loaded.formats) == (step, 60, run.formats)
        for other in (0, 19, 20, 33, 40, 60):
            loaded.seek(other)
            run.seek(other)
            assert loaded.formats == run.formats
            assert bits(loaded) == bits(run)
        loaded.seek(3)
        loaded.step(60)
        ahead = run.fork()
        ahead.step(3)
        assert bits(loaded) == bits(ahead)


def test_the_fingerprint_is_that_of_all_parts() -> None:
    first, second, third = (opened(steps=5) for _ in range(3))
    for run, formats in ((first, EIGHT), (second, EIGHT), (third, COARSE)):
        run.change_formats(formats)
    assert first.fingerprint == second.fingerprint
    assert len({run.fingerprint for run in (first, third, opened(), opened(EIGHT))}) == 4
