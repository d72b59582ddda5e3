"""Arguments of runs that cannot be used: each is refused by an error of burlab that says what is wrong."""

import copy
import pickle
import re

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ArgumentError, StatusError
from burlab.optim import GD

ONES = np.ones(2)


def bowl(x):
    return np.sum(x**2)


def minimize(**more):
    return bl.minimize(bowl, ONES, GD(0.1), **more)


@pytest.fixture(scope="module")
def run():
    return minimize(steps=3)


WHOLE = [
    *(("history_bytes", wrong) for wrong in (-1, 0, 1.5, "x", True, None, 2**63, 2**64)),
    *(("keyframe_bytes", wrong) for wrong in (-1, 1.5, "x", None, 2**64)),
    *(("validate_every", wrong) for wrong in (0, -1, 1.5, "x", None, 2**64)),
]


@pytest.mark.parametrize(("name", "wrong"), WHOLE)
@pytest.mark.parametrize("optimizer", [GD(0.1), bl.optim.SciPy("BFGS")], ids=["burlab", "scipy"])
def test_whole_numbers_of_minimize(optimizer, name, wrong):
    message = re.escape(f"{name}={wrong!r} is not a whole number")
    with pytest.raises(ArgumentError, match=message):
        bl.minimize(bowl, ONES, optimizer, **{name: wrong})


STOPS = [
    ("non_finite", "x", "neither True"),
    ("non_finite", 2, "neither True"),
    ("steps", 2**64, "whole number from 0"),
    ("seconds", -1, "at least 0"),
    ("seconds", "x", "not a real number"),
    ("seconds", float("nan"), "not a real number"),
    ("value", True, "not a real number"),
    ("grad_norm", -1, "at least 0"),
]


@pytest.mark.parametrize(("name", "wrong", "message"), STOPS)
def test_invalid_stop_arguments_raise(name, wrong, message):
    with pytest.raises(ArgumentError, match=f"{re.escape(f'Stop.{name}={wrong!r}')} .*{message}"):
        bl.Stop(**{name: wrong})


def test_a_criterion_beyond_float64():
    with pytest.raises(ArgumentError, match=r"Stop.value is beyond 1\.8e308"):
        bl.Stop(value=10**400)


def test_criteria_that_are_never_met_are_fine():
    stop = bl.Stop(seconds=float("inf"), value=-float("inf"), grad_norm=0.0, non_finite=np.bool_(False))
    assert minimize(stop=stop, steps=2).t == 2


METHODS = [
    (lambda run: run.wait(-1), "timeout=-1 .*at least 0"),
    (lambda run: run.wait(float("nan")), "timeout=nan is not a real number"),
    (lambda run: run.wait("x"), "timeout='x' is not a real number"),
    (lambda run: run.at("a"), "step='a' is not a whole number"),
    (lambda run: run.at(1.0), "step=1.0 is not a whole number"),
    (lambda run: run.at(None), "step=None is not a whole number"),
    (lambda run: run.tail(5), "the second result of tail, got 5"),
    (lambda run: run.tail(most=-1), "most=-1 is not a whole number at least 2"),
    (lambda run: run.tail(most=0), "most=0 is not a whole number at least 2"),
    (lambda run: run.tail(most=1), "most=1 is not a whole number at least 2"),
    (lambda run: run.tail(most="x"), "most='x' is not a whole number at least 2"),
    (lambda run: run.hyper.__setitem__("lr", 10**400), "lr is a whole number of 1329 bits"),
    (lambda run: run.fork(lr=-(10**400)), "lr is a whole number of"),
    (lambda run: bl.load_run("a.burlab", stop=5), r"stop is 5, expected a bl\.Stop"),
]


@pytest.mark.parametrize(("call", "message"), METHODS)
def test_methods(run, call, message):
    with pytest.raises(ArgumentError, match=message):
        call(run)
    assert run.wait(0)
    assert run.wait(float("inf"))
    assert run.at(-1) is None
    assert run.hyper["lr"] == 0.1


PATHS = [
    (None, "path=None is not a path"),
    (5, "path=5 is not a path"),
    (b"a.burlab", "path=b'a.burlab' is not a path"),
    ("a\0b", "holds a null character"),
]


@pytest.mark.parametrize(("path", "message"), PATHS)
def test_paths(run, path, message):
    with pytest.raises(ArgumentError, match=message):
        run.save(path)
    with pytest.raises(ArgumentError, match=message):
        bl.load_run(path)


@pytest.mark.parametrize(
    ("f", "message"),
    [
        (bowl, "bowl returned one number"),
        (lambda x: (bowl(x), {}, 1.0), "returned a tuple"),
        (lambda x: {"value": bowl(x), "norm": bowl(x)}, "returned a dict"),
    ],
)
def test_metrics_come_in_a_pair(f, message):
    for call in (
        lambda: bl.minimize(f, ONES, GD(0.1), has_aux=True),
        lambda: bl.grad(f, has_aux=True)(ONES),
        lambda: bl.value_and_grad(f, has_aux=True)(ONES),
    ):
        with pytest.raises(ArgumentError, match=f"{message}.*leave has_aux out"):
            call()


def test_x0_of_half_precision_is_not_widened_in_silence():
    for x0 in (np.ones(2, np.float16), {"w": np.ones(2, np.float16)}):
        run = bl.minimize(lambda x: np.sum(x["w"] if isinstance(x, dict) else x), x0, GD(0.1))
        run.step()
        x = run.x["w"] if isinstance(x0, dict) else run.x
        assert x.dtype == np.float16
        np.testing.assert_array_equal(x, np.full(2, 0.9, np.float16))


def test_a_problem_is_a_function_of_x_alone():
    with pytest.raises(ArgumentError, match=r"x alone: missing a required argument: 'y'.*bl.FiniteSum"):
        bl.minimize(lambda x, y: np.sum(x * y), ONES, GD(0.1))
    with pytest.raises(ArgumentError, match=r"missing a required .*'key'.*bl\.FiniteSum\(lambda x, _, \*, key: f\(x"):
        bl.minimize(lambda x, *, key: np.sum(x * bl.random.normal(key, x.shape)), ONES, GD(0.1))
    with pytest.raises(ArgumentError, match="validation cannot be called with x alone"):
        minimize(validation=lambda: 0.0)


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, pickle.dumps, lambda run: copy.deepcopy([run])])
def test_a_run_cannot_be_copied_but_forked_or_saved(run, duplicate):
    with pytest.raises(StatusError, match=r"run.fork\(\) .* run.save\(path\)"):
        duplicate(run)
    assert run.t == 3
