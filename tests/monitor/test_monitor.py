"""A watched loop without any screen: what it logs, what it refuses, and how it ends."""

import math
import pickle
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ArgumentError, DTypeError, StatusError
from burlab.run.record.subject import ObservedLoop
from tests.engines import jax_or_skip

others: Any = import_module("jax.numpy" if find_spec("jax") else "numpy")  # numbers that are not NumPy's, with JAX


def run(count=5, **hypers):
    with bl.watch(**hypers) as w:
        for step in range(count):
            w.log(step, value=2.0**-step, accuracy=step / 10)
    return w


def test_a_loop_is_a_subject_of_panels_as_a_run_is():
    members = [name for name in vars(ObservedLoop) if not name.startswith("_")] + ["problem", "optimizer"]
    for subject in (run(), bl.minimize(lambda x: np.sum(x**2), np.ones(1), bl.optim.GD(0.1))):
        assert [name for name in members if not hasattr(subject, name)] == []


def test_logged_values_are_the_history():
    w = run(3, lr=0.5)
    assert list(w.history) == ["step", "value", "accuracy", "time", "memory", "lr"]
    np.testing.assert_array_equal(w.history["value"], [1.0, 0.5, 0.25])
    np.testing.assert_array_equal(w.history["step"], [0, 1, 2])
    assert w.history["step"].dtype == np.int64
    assert (np.diff(w.history["time"]) > 0).all()
    assert w.history["memory"][0] > 1e6
    assert w.history.frame()["accuracy"].tolist() == [0.0, 0.1, 0.2]
    assert (w.t, w.length, w.running, w.stopped.reason) == (3, 3, False, "finished")


def test_columns_come_when_they_are_named_and_a_step_may_have_several_rows():
    with bl.watch() as w:
        w.log(0, loss=1.0)
        w.log(10, loss=0.5)
        w.log(10, val_loss=0.7)
        w.log(loss=0.4)
    np.testing.assert_array_equal(w.history["step"], [0, 10, 10, 11])
    np.testing.assert_array_equal(w.history["val_loss"], [np.nan, np.nan, 0.7, np.nan])
    assert w.at(10) == {"value": 0.5, "validation_value": 0.7}
    assert w.at(5) is None


def test_other_names_of_a_column():
    with bl.watch() as w:
        w.log(loss=1.0, grad_norm=2.0)
        w.log(value=3.0)
        with pytest.raises(ArgumentError, match="loss, value two are names of one column"):
            w.log(loss=1.0, value=2.0)
    np.testing.assert_array_equal(w.history["loss"], [1.0, 3.0])
    np.testing.assert_array_equal(w.history["value"], [1.0, 3.0])
    with bl.watch() as w, pytest.raises(ArgumentError, match="two are names of one column"):
        w.log(loss=1.0, value=2.0)


@pytest.mark.parametrize(
    "number", [3, np.float32(3), np.int64(3), np.array(3.0), np.array([[3]]), others.float32(3), others.ones(1) * 3]
)
def test_numbers_of_every_kind(number):
    with bl.watch() as w:
        w.log(value=number)
    assert w.history["value"][0] == 3.0


@pytest.mark.parametrize(
    "number",
    ["3", None, True, np.True_, 1j, [3.0], {}, np.ones(2), np.ones(0), others.ones(2), np.array("a"), object(), print],
)
def test_logging_a_non_number_raises_and_the_loop_may_continue(number):
    with bl.watch() as w:
        w.log(value=1.0)
        with pytest.raises(DTypeError, match=r"value is .*expected a real number"):
            w.log(value=number)
        w.log(value=2.0)
    np.testing.assert_array_equal(w.history["value"], [1.0, 2.0])


@pytest.mark.parametrize("step", [-1, 1.5, "3", True, None, 2**60, 10**400, np.ones(1)])
def test_logging_an_invalid_step_raises(step):
    with bl.watch() as w:
        if step is None:
            w.log(step, value=1.0)
            return
        with pytest.raises(ArgumentError, match=r"the step is .*expected a whole number from 0"):
            w.log(step, value=1.0)


def test_steps_may_be_any_whole_numbers_that_rise():
    with bl.watch() as w:
        for step in (np.int32(3), 7, others.int32(9)):
            w.log(step, value=1.0)
        with pytest.raises(ArgumentError, match="step 8 comes after step 9, but steps cannot go back"):
            w.log(8, value=1.0)
    assert w.t == 10


def test_huge_numbers_are_inf_and_nonfinite_values_are_marked():
    with bl.watch() as w:
        w.log(value=1.0, other=1.0)
        w.log(value=math.nan)
        w.log(value=10**400, other=-math.inf)
        assert w.remark == "value was nan or inf first at step 1; other was nan or inf first at step 2"
    np.testing.assert_array_equal(w.history["value"], [1.0, np.nan, np.inf])
    assert w.non_finite == {"value": 1, "other": 2}


@pytest.mark.parametrize("name", ["step", "time", "memory", "log", "t", "hyper", "pause", "_gate", "title"])
def test_names_that_a_watch_has_itself_are_no_hyperparameters(name):
    with pytest.raises(ArgumentError, match=f"no hyperparameter can be called '{name}'"):
        bl.watch(**{name: 1.0})


@pytest.mark.parametrize(("name", "says"), [("lr", "is a hyperparameter"), ("time", "every watch has")])
def test_names_that_are_taken_cannot_be_logged(name, says):
    with bl.watch(lr=0.1) as w, pytest.raises(ArgumentError, match=says):
        w.log(**{name: 1.0})


def test_hyperparameters_are_live_by_either_name():
    with bl.watch(lr=0.1, mu=0.9) as w:
        w.log(value=1.0)
        w.hyper["lr"] = 0.2
        w.mu = 0.5
        w.log(value=1.0)
        assert (w.lr, w.hyper["mu"]) == (0.2, 0.5)
    np.testing.assert_array_equal(w.history["lr"], [0.1, 0.2])
    np.testing.assert_array_equal(w.history["mu"], [0.9, 0.5])
    assert w.events == [], "what the loop does itself is in the history"


def test_unknown_hyperparameter_raises():
    w = run(lr=0.1)
    with pytest.raises(ArgumentError, match="no hyperparameter 'mu'; it has lr"):
        w.hyper["mu"]
    with pytest.raises(ArgumentError, match="no hyperparameter 'mu'; it has lr"):
        w.hyper["mu"] = 1.0
    with pytest.raises(AttributeError, match="no attribute 'mu'; its hyperparameters are lr"):
        w.mu  # noqa: B018 - the look-up is what is tested
    with pytest.raises(AttributeError, match=r"expected a hyperparameter of this watch \(lr\), got 'mu'"):
        w.mu = 0.5
    with pytest.raises(ArgumentError, match="cannot be given back"):
        w.hyper["lr"] = None


@pytest.mark.parametrize(("value", "error"), [("fast", DTypeError), (None, DTypeError), (math.nan, ArgumentError)])
def test_hyperparameters_are_numbers(value, error):
    with pytest.raises(error, match="the hyperparameter lr is"):
        bl.watch(lr=value)


def test_a_loop_stands_inside():
    w = bl.watch()
    assert w.remark == "The loop has not started"
    with pytest.raises(StatusError, match="log was called before the `with` block"):
        w.log(value=1.0)
    with w:
        with pytest.raises(StatusError, match="this watch already has a running loop"), w:
            pass
        w.log(value=1.0)
    with pytest.raises(StatusError, match="log was called after the `with` block"):
        w.log(value=1.0)


def test_a_watch_may_go_on_after_its_loop_has_ended():
    w = run(3)
    with w:
        assert w.stopped is None
        w.log(3, value=9.0)
    assert w.history["value"].tolist() == [1.0, 0.5, 0.25, 9.0]
    assert (np.diff(w.history["time"]) > 0).all()


def test_two_watches_at_once_and_one_in_the_other_know_nothing_of_each_other():
    with bl.watch("outer", lr=1.0) as outer:
        for step in range(3):
            with bl.watch("inner", lr=2.0) as inner:
                inner.log(value=5.0)
                inner.stop()
                inner.log(value=6.0)
                pytest.fail("the inner loop was told to stop")
            assert inner.stopped.message == "The loop was stopped after step 1."
            outer.log(step, value=1.0)
    assert (outer.t, outer.stopped.reason, inner.lr, outer.lr) == (3, "finished", 2.0, 1.0)


def test_exception_of_a_loop_propagates_and_is_reported():
    w = bl.watch()

    def loop():
        with w:
            w.log(value=1.0)
            w.log(value=1 / 0)

    with pytest.raises(ZeroDivisionError):
        loop()
    assert (w.stopped.reason, w.stopped.message) == (
        "error", "The loop has failed after step 0: ZeroDivisionError: division by zero"
    )  # fmt: skip
    with pytest.raises(StatusError, match="It cannot go on; run it again"):
        w.resume()


def test_a_loop_that_logs_nothing():
    with bl.watch() as w:
        pass
    assert w.stopped.message == "The loop has ended before its first step."
    assert len(w.history["step"]) == 0
    rows, cursor, fresh = w.tail()
    assert (rows["step"].size, fresh) == (0, True)
    assert w.tail(cursor)[2] is False


def test_tracked_arrays_are_part_of_the_memory():
    w = run()
    w.track(parameters={"w": np.zeros((10, 10)), "b": [np.zeros(3, np.float32)]}, state=others.zeros(5, others.float32))
    memory = w.memory
    assert (memory["parameters"], memory["state"]) == (812, 20)
    assert memory["total"] == sum(n for name, n in memory.items() if name != "total")
    assert memory["other"] > 1e6


def test_the_tail_has_new_rows_and_when_steps_ended():
    with bl.watch(lr=1.0) as w:
        for step in (0, 1, 1, 5):
            w.log(step, value=float(step))
        rows, cursor, fresh = w.tail(None, most=2)
        assert (fresh, rows["value"].tolist(), "lr" in rows) == (True, [0.0, 1.0], False)
        rows, cursor, fresh = w.tail(cursor)
        assert (fresh, rows["step"].tolist(), rows["stamp_step"].tolist()) == (False, [1.0, 5.0], [5.0])
        w.log(6, value=1.0)
        rows, cursor, _ = w.tail(cursor)
        assert rows["stamp_step"].tolist() == [6.0]
        np.testing.assert_array_equal(rows["stamp_time"], w.history["time"][-1:])
    with pytest.raises(ArgumentError, match="the second result of tail, got"):
        w.tail("a")


def test_a_loop_that_goes_on_from_elsewhere_has_no_time_for_the_steps_before():
    with bl.watch() as w:
        w.log(1000, value=1.0)
        w.log(1001, value=1.0)
    rows, _, _ = w.tail()
    assert rows["stamp_step"].tolist() == [999.0, 1000.0, 1001.0]
    assert np.isnan(rows["stamp_time"][0])


def test_a_watch_is_neither_copied_nor_pickled():
    with pytest.raises(StatusError, match="cannot be copied or pickled"):
        pickle.dumps(run())


def test_monitor_has_a_repr():
    assert repr(run(3, lr=0.1)) == "<Monitor at step 3, value 0.25, lr=0.1>"
    assert repr(bl.watch()) == "<Monitor at step 0>"


def test_a_loop_of_jax():
    """Gradient descent on (x - 1)^2, with the learning rate turned in its middle."""
    jax = jax_or_skip()
    step = jax.jit(lambda x, lr: (x - lr * 2 * (x - 1), (x - 1) ** 2))
    x = jax.numpy.zeros(3)
    with bl.watch("jax", lr=0.25) as w:
        for k in range(20):
            x, loss = step(x, w.lr)
            w.log(k, loss=loss.sum(), x=x[0])
            w.track(parameters=x)
            if k == 9:
                w.lr = 0.5
    assert w.memory["parameters"] == x.nbytes
    np.testing.assert_allclose(w.history["loss"][:10], 3 * 0.25 ** np.arange(10), rtol=1e-5)
    assert w.history["x"][10] == 1.0


def test_long_record_merges_and_reports_it():
    with bl.watch(history_bytes=1) as w:
        for step in range(5000):
            w.log(step, value=math.sin(step))
    assert repr(w.history).startswith("<LoopHistory of 626 entries, minimum and maximum of each 16:")
    assert w.history["value"].max() == max(math.sin(step) for step in range(5000))
    assert w.at(3) is None
