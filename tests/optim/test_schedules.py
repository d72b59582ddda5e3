"""Every schedule at every step against torch's or optax's, on numbers, on arrays and in a run."""

import inspect
import math
from dataclasses import FrozenInstanceError, dataclass

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ArgumentError, DTypeError
from burlab.optim import GD, Adam, Hyper, Optimizer, cosine, linear, one_cycle, schedules, step, warmup
from tests.engines import jax_or_skip
from tests.optim.paths import wide_torch
from tests.optim.schedule_cases import CASES


def wanted(case):
    """The values of the other library."""
    if case.optax:
        jax_or_skip()
        import optax

        rule = case.optax(optax)
        return np.array([float(rule(t)) for t in range(case.steps)])
    with wide_torch() as torch:
        optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=case.base)
        scheduler = case.torch(torch.optim.lr_scheduler, optimizer)
        values = []
        for _ in range(case.steps):
            values.append(optimizer.param_groups[0]["lr"])
            optimizer.step()
            scheduler.step() if len(values) < case.steps else None
    return np.array(values)


def test_every_schedule_has_its_row():
    public = {n for n in bl.optim.__all__ if inspect.getmodule(getattr(bl.optim, n)) is schedules}
    assert public == {type(case.schedule).__name__ for case in CASES} | {"inverse_sqrt"}
    assert public == {
        n
        for n, kind in vars(schedules).items()
        if inspect.isclass(kind) and kind.__module__ == schedules.__name__ and kind is not schedules.Schedule
    }


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.filterwarnings("ignore:The epoch parameter")  # torch's SequentialLR warns of itself
def test_values_are_those_of_another_library(case):
    steps, tolerance = range(case.steps), {"rtol": 1e-12, "atol": 1e-14 * case.peak}
    values = wanted(case)
    assert values.max() == pytest.approx(case.peak, rel=1e-4)
    np.testing.assert_allclose([float(case.schedule(t)) for t in steps], values, **tolerance)
    np.testing.assert_allclose(case.schedule(np.arange(case.steps)), values, **tolerance)
    run = bl.minimize(lambda x: np.sum(x**2), np.ones(2), GD(case.schedule), steps=case.steps)
    np.testing.assert_allclose(run.history["lr"], values, **tolerance)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_run_follows_its_schedules(dtype):
    """The path is that of numbers set by hand before every step."""

    def f(x):
        return np.sum((x - 1) ** 4)

    lr, b1 = warmup(5, then=cosine(0.1, steps=20)), linear(0.5, 30, end=0.95)
    run = bl.minimize(f, np.zeros(3, dtype), Adam(lr=lr, b1=b1), steps=40)
    by_hand = bl.minimize(f, np.zeros(3, dtype), Adam())
    for t in range(40):
        by_hand.hyper["lr"], by_hand.hyper["b1"] = float(lr(t)), float(b1(t))
        by_hand.step()
    np.testing.assert_allclose(run.x, by_hand.x, rtol=1e-14 if dtype == np.float64 else 1e-6)
    np.testing.assert_allclose(run.history["b1"], b1(np.arange(40)))
    assert run.x.dtype == dtype
    assert list(run.history) == list(by_hand.history)


def test_a_number_takes_over_and_none_gives_back():
    run = bl.minimize(lambda x: np.sum(x**2), np.ones(1), GD(linear(0.4, steps=8)))
    assert run.hyper["lr"] == 0.4
    run.step(2)
    assert run.hyper["lr"] == pytest.approx(0.3)
    run.hyper["lr"] = 0.125
    run.step(2)
    assert run.hyper["lr"] == 0.125
    run.hyper["lr"] = None
    run.step(2)
    np.testing.assert_allclose(run.history["lr"], [0.4, 0.35, 0.125, 0.125, 0.2, 0.15])
    np.testing.assert_allclose(run.x, np.prod(1 - 2 * run.history["lr"]))


def test_a_field_without_a_schedule_has_none_to_follow():
    run = bl.minimize(lambda x: np.sum(x**2), np.ones(1), Adam(linear(0.4, steps=8)))
    with pytest.raises(ArgumentError, match="b1 has no schedule"):
        run.hyper["b1"] = None


def test_any_function_of_the_step_is_a_schedule():
    @dataclass(frozen=True)
    class Damped(Optimizer):
        """Its fields are numbers in the rule, whatever they were given as."""

        lr: Hyper = 0.1
        power: Hyper = 1.0

        def update(self, g, state, x, t):
            return x - self.lr**self.power * g, state

    run = bl.minimize(np.sum, np.zeros(2), Damped(lambda t: 1 / (t + 1), power=lambda t: 2), steps=4)
    np.testing.assert_allclose(run.x, -np.sum(1 / np.arange(1, 5) ** 2))
    np.testing.assert_allclose(run.history["power"], 2.0)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: cosine(0.1, steps=0), ArgumentError, "steps of cosine is 0, expected"),
        (lambda: step(0.1, every=-1), ArgumentError, "every of step"),
        (lambda: warmup(math.nan, then=0.1), ArgumentError, "steps of warmup"),
        (lambda: one_cycle(0.1, steps=3), ArgumentError, "rises in 0.3 of 3 steps"),
        (lambda: bl.minimize(np.sum, np.ones(2), GD(cosine)), DTypeError, "a schedule such as"),
        (lambda: bl.minimize(np.sum, np.ones(2), GD("0.1")), DTypeError, "a schedule such as"),
        (lambda: bl.minimize(np.sum, np.ones(2), GD(lambda t: np.ones(3) * t)), ArgumentError, "schedule of lr gave"),
        (lambda: bl.minimize(np.sum, np.ones(2), GD(lambda t: "slow")), ArgumentError, "schedule of lr gave is a str"),
        (lambda: bl.minimize(np.sum, np.ones(2), GD(lambda t: 1j * t)), ArgumentError, "lr gave is complex numbers"),
        (lambda: bl.minimize(np.sum, np.ones(2), GD(lambda t: 1.0 if t > 3 else 2.0)), bl.BurlabError, "np.where"),
    ],
)
def test_schedules_with_wrong_arguments_raise(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_schedules_are_values():
    assert cosine(0.1, steps=10) == cosine(0.1, 10) != cosine(0.1, 11)
    assert (
        repr(warmup(5, then=cosine(0.1, 10))) == "warmup(steps=5, then=cosine(start=0.1, steps=10, end=0.0), start=0.0)"
    )
    with pytest.raises(FrozenInstanceError):
        cosine(0.1, steps=10).steps = 20
