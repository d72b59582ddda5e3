"""A run that was saved goes on as if it had never stopped, bit for bit, whatever it was doing."""

import subprocess
import sys
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import burlab as bl
from burlab.errors import FileError, StatusError
from burlab.optim import GD, Adam, Momentum, cosine
from burlab.run.file import container
from tests.run.saved_cases import (
    CASES,
    DATA,
    FEATURES,
    TARGETS,
    flat,
    least_squares,
    noisy,
    ridge,
    same,
    valley,
)
from tests.run.test_run import START, A, B, problem


@pytest.mark.parametrize("case", CASES)
def test_a_saved_run_goes_on_as_if_it_had_never_stopped(case, tmp_path):
    run, data = CASES[case]()
    path = tmp_path / "a.burlab"
    run.step(41)
    name = run.hyper.keys()[0]
    run.hyper[name] = value = run.hyper[name] / 2
    run.step(20)
    run.save(path)
    again = bl.load_run(path, data)
    assert again.memory["keyframes"] > 0
    same(again, run, since=61)
    for each in (run, again):
        each.step(30)
        each.hyper[name] = value / 3
        each.step(150)
    since = 61 if run.history.span == 2 else 0  # times of a merged history lie between fewer stamps
    same(again, run, since)
    for step in (0, 45, 5, 241):
        run.seek(step)
        again.seek(step)
        same(again, run, since)
    again.save(path)
    same(bl.load_run(path, data), run, since)


ACTIONS = st.one_of(
    st.tuples(st.just("step"), st.integers(0, 90)),
    st.tuples(st.just("seek"), st.floats(0, 1)),
    st.tuples(st.just("change"), st.sampled_from([1e-3, 2e-3, 3e-3])),
    st.tuples(st.just("save"), st.none()),
)


@given(actions=st.lists(ACTIONS, max_size=12), merged=st.booleans(), batch=st.sampled_from([None, 7]))
@settings(max_examples=40)
def test_whatever_happens_between_saves_happens_to_the_run_that_was_never_saved(
    actions, merged, batch, tmp_path_factory
):
    budgets = {"history_bytes": 2000, "keyframe_bytes": 400} if merged else {}
    sums = bl.FiniteSum(least_squares, DATA)
    ours, theirs = (bl.minimize(sums, np.zeros(3), Momentum(1e-3), batch=batch, **budgets) for _ in range(2))
    path = tmp_path_factory.mktemp("runs") / "a"
    for action, amount in [*actions, ("save", None), ("step", 100)]:
        if action == "save":
            ours.save(path)
            ours = bl.load_run(path, DATA)
        for run in (ours, theirs):
            if action == "step":
                run.step(amount)
            elif action == "seek":
                run.seek(int(amount * run.length))
            elif action == "change":
                run.hyper["lr"] = amount
    same(ours, theirs)


def test_hyperparameters_that_follow_a_schedule_still_do(tmp_path):
    run, _ = CASES["schedule"]()
    run.step(10)
    run.save(tmp_path / "a")
    again = bl.load_run(tmp_path / "a")
    assert again.hyper["lr"] == run.hyper["lr"] == cosine(1e-2, steps=300)(10)
    for each in (run, again):
        each.hyper["lr"] = 0.5
        each.step(5)
        each.hyper["lr"] = None
        each.step(5)
    assert again.hyper["lr"] == cosine(1e-2, steps=300)(20)
    same(again, run, since=10)


def test_each_schedule_is_that_of_its_hyperparameter(tmp_path):
    run = bl.minimize(valley, np.zeros(2), Momentum(lr=1e-3, mu=cosine(0.9, steps=30)), steps=10)
    run.save(tmp_path / "a")
    again = bl.load_run(tmp_path / "a")
    assert again.hyper["lr"] == 1e-3
    assert again.hyper["mu"] == run.hyper["mu"] == cosine(0.9, steps=30)(10)


def test_a_run_is_saved_where_it_stands_in_its_past(tmp_path):
    run = bl.minimize(valley, np.array([-1.2, 1.0]), Adam(1e-2), steps=200)
    run.seek(77)
    run.save(tmp_path / "a")
    again = bl.load_run(tmp_path / "a")
    assert (again.t, again.length) == (77, 200)
    same(again, run, since=200)
    for each in (again, bl.load_run(tmp_path / "a")):
        each.hyper["lr"] = 0.1  # a change in the past begins a new line
        assert (each.t, each.length, each.parent.length) == (77, 77, 200)
        same(each.parent, run, since=200)
    again = again.parent
    for each in (run, again):
        each.step(150)
    same(again, run, since=200)
    for each in (run, again):
        each.seek(100)
        each.hyper["lr"] = 1e-3
        each.step(20)
    same(again, run)
    same(again.parent, run.parent, since=200)


def test_forks_of_a_loaded_run_are_forks_of_the_run(tmp_path):
    run = bl.minimize(valley, np.array([-1.2, 1.0]), Adam(1e-2), steps=50)
    run.save(tmp_path / "a")
    ours, theirs = bl.load_run(tmp_path / "a").fork(lr=0.1), run.fork(lr=0.1)
    for each in (ours, theirs):
        each.step(50)
    same(ours, theirs, since=50)
    theirs.save(tmp_path / "b")
    same(bl.load_run(tmp_path / "b"), theirs)


@pytest.mark.parametrize(
    "stop",
    [bl.Stop(steps=60), bl.Stop(grad_norm=1.0), bl.Stop(value=0.5), bl.Stop(steps=0), bl.Stop(seconds=0.0)],
)
def test_a_criterion_that_was_met_stays_met(stop, tmp_path):
    run = bl.minimize(lambda x: np.sum(x**2), np.ones(3), GD(0.01), stop=stop, steps=1000)
    run.save(tmp_path / "a")
    again = bl.load_run(tmp_path / "a")
    assert run.stopped == again.stopped
    assert run.stopped is not None
    same(again, run, since=run.length)
    for each in (run, again):
        each.step(100)
    assert run.stopped == again.stopped
    same(again, run, since=run.t)


def test_a_validation_goes_on(tmp_path):
    validation = bl.FiniteSum(noisy, (FEATURES[:9], TARGETS[:9]), ridge)
    run = bl.minimize(
        bl.FiniteSum(least_squares, DATA), np.zeros(3), GD(0.01), batch=5, validation=validation, validate_every=7
    )
    run.step(20)
    run.save(tmp_path / "a")
    again = bl.load_run(tmp_path / "a", DATA, validation=(FEATURES[:9], TARGETS[:9]))
    for each in (run, again):
        each.step(30)
    same(again, run, since=20)
    assert np.isfinite(again.history["validation_value"]).sum() == 8


def test_criteria_come_back_to_the_last_bit(tmp_path):
    stop = bl.Stop(steps=2**62 + 1, seconds=1e9 / 3, grad_norm=1e-300 / 3, value=-np.inf, non_finite=False)
    bl.minimize(valley, np.zeros(2), GD(1e-3), stop=stop).save(tmp_path / "a")
    assert bl.load_run(tmp_path / "a")._engine.stop == stop


def test_another_criterion_may_be_given(tmp_path):
    run = bl.minimize(lambda x: np.sum(x**2), np.ones(3), GD(0.01), stop=bl.Stop(steps=10), steps=100)
    run.save(tmp_path / "a")
    again = bl.load_run(tmp_path / "a", stop=bl.Stop(steps=20))
    again.step(100)
    assert again.t == 20


def test_a_predicate_is_not_in_the_file(tmp_path):
    stop = bl.Stop(when=lambda rows: rows["value"] < 1.0)
    run = bl.minimize(lambda x: np.sum(x**2), np.ones(3), GD(0.01), stop=stop, steps=100)
    assert run.stopped.reason == "when"
    run.save(tmp_path / "a")
    with pytest.warns(RuntimeWarning, match=r"predicate Stop\.when.+stop=bl\.Stop"):
        again = bl.load_run(tmp_path / "a")
    again.step(100)
    same(again, bl.minimize(lambda x: np.sum(x**2), np.ones(3), GD(0.01), steps=again.t))
    again = bl.load_run(tmp_path / "a", stop=stop)
    for each in (run, again):
        each.step(100)
    same(again, run, since=10)


@pytest.mark.parametrize("budget", [3000, 256 << 20])
def test_a_run_is_saved_while_it_runs(budget, tmp_path):
    run = bl.minimize(problem(), START, Adam(1e-3), batch=4, seed=1, history_bytes=budget)
    run.start()
    for k in range(6):
        run.save(tmp_path / f"{k}")
        assert run.running
    run.pause()
    for k in range(6):
        again = bl.load_run(tmp_path / f"{k}", (A, B))
        assert not again.running
        run.seek(again.t)
        np.testing.assert_array_equal(flat(again.x), flat(run.x))
        ours, theirs = again.history, run.fork().history
        for name in ("value", "gradient_norm") if ours.span == theirs.span else ():
            whole = again.t // ours.span * 2
            np.testing.assert_array_equal(ours[name][:whole], theirs[name][:whole])
        again.step(1000)
        run.step(1000)
        np.testing.assert_array_equal(flat(again.x), flat(run.x))


def test_a_run_that_was_stopped_for_good_can_be_saved(tmp_path):
    run = bl.minimize(valley, np.zeros(2), GD(1e-3), steps=30)
    run.stop()
    run.save(tmp_path / "a")
    again = bl.load_run(tmp_path / "a")
    same(again, run, since=30)
    again.step(1)


LOADER = """
import sys, numpy as np, burlab as bl
assert "torch" not in sys.modules
data = np.load(sys.argv[2])
run = bl.load_run(sys.argv[1], (data["features"], data["targets"]))
run.step(40)
print(run.x.tobytes().hex(), run.history["value"].tobytes().hex(), run.state["m"].tobytes().hex())
"""


def test_a_run_goes_on_where_its_functions_and_classes_do_not_exist(tmp_path):
    """The optimizer and the loss of this test live in this function."""
    weight = 0.3

    @dataclass(frozen=True)
    class Own(bl.optim.Optimizer):
        lr: bl.optim.Hyper = 1e-2
        power: int = 2

        def init(self, x):
            return {"m": np.zeros_like(x)}

        def update(self, g, state, x, t, *, f):
            m = 0.9 * state["m"] + g**self.power * np.sign(g)
            return x - self.lr * m, {"m": m}

    run = bl.minimize(
        bl.FiniteSum(lambda x, a, b: weight * (a @ x - b) ** 2 + bl.relu(x[0]), DATA),
        np.zeros(3),
        Own(),
        batch=8,
        steps=20,
    )
    run.save(tmp_path / "a")
    np.savez(tmp_path / "data.npz", features=FEATURES, targets=TARGETS)
    command = [sys.executable, "-c", LOADER, str(tmp_path / "a"), str(tmp_path / "data.npz")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    run.step(40)
    expected = run.x.tobytes(), run.history["value"].tobytes(), run.state["m"].tobytes()
    assert done.stdout.split() == [part.hex() for part in expected]


@bl.pytree
@dataclass(frozen=True)
class Line:
    slope: Any
    offset: Any
    name: str = field(default="line", metadata={"static": True})


def test_x_comes_back_as_the_tree_that_it_was(tmp_path, monkeypatch):
    start = {"lines": [Line(np.ones(3), np.float64(0.0)), None], ("a", 1): (np.zeros((2, 2)),)}
    run = bl.minimize(
        lambda x: np.sum(x["lines"][0].slope ** 2) + np.sum((x["a", 1][0] - 1) ** 2), start, GD(0.1), steps=3
    )
    run.save(tmp_path / "a")
    with pytest.raises(FileError, match="like=x"):
        bl.load_run(tmp_path / "a")
    same(bl.load_run(tmp_path / "a", like=start), run, since=3)
    with pytest.raises(FileError, match="like= has"):
        bl.load_run(tmp_path / "a", like=np.zeros(8))
    plain = bl.minimize(lambda x: np.sum(x.slope**2) + x.offset**2, Line(np.ones(3), np.float64(1.0)), GD(0.1), steps=3)
    plain.save(tmp_path / "b")
    assert isinstance(bl.load_run(tmp_path / "b").x, Line)
    monkeypatch.delattr(sys.modules[__name__], "Line")
    with pytest.raises(FileError, match="Line, which is not imported"):
        bl.load_run(tmp_path / "b")


def test_other_bits_are_announced(tmp_path, monkeypatch):
    run = bl.minimize(valley, np.zeros(2), GD(1e-3), steps=3)
    monkeypatch.setattr("burlab.run.file.recipe.__version__", "0.0.1")
    run.save(tmp_path / "a")
    monkeypatch.undo()
    with pytest.warns(RuntimeWarning, match="another version of burlab or another kind of CPU"):
        again = bl.load_run(tmp_path / "a")
    same(again, run, since=3)


def test_saving_a_scipy_run_raises(tmp_path):
    run = bl.minimize(valley, np.zeros(2), bl.optim.SciPy("BFGS"), steps=3)
    with pytest.raises(StatusError, match="SciPy"):
        run.save(tmp_path / "a")
    assert not list(tmp_path.iterdir())


def test_a_file_that_cannot_be_written_changes_nothing(tmp_path):
    run = bl.minimize(valley, np.zeros(2), GD(1e-3), steps=3)
    with pytest.raises(FileError, match="Check that the folder exists"):
        run.save(tmp_path / "no" / "a")
    run.save(tmp_path / "a")
    before = (tmp_path / "a").read_bytes()
    run.step()
    (tmp_path / "a.burlab").mkdir()
    with pytest.raises(FileError, match="is a folder"):
        run.save(tmp_path / "a.burlab")
    assert (tmp_path / "a").read_bytes() == before


def test_a_file_holds_few_keyframes(tmp_path, monkeypatch):
    monkeypatch.setattr("burlab.run.file.save_run._FRAMES", 1000)
    run = bl.minimize(lambda x: np.sum((x - 1) ** 2), np.zeros(10), GD(1e-6))
    while run.memory["keyframes"] < 5000:
        run.step(100_000)
    run.save(tmp_path / "a")
    steps = container.read(tmp_path / "a", "run")[1]["frames"]
    assert len(steps) < 12
    assert steps[0] == 0
    assert steps[-1] > run.t / 2
    again = bl.load_run(tmp_path / "a")
    for step in (run.t // 3, 5):
        run.seek(step)
        again.seek(step)
        same(again, run, since=step)
