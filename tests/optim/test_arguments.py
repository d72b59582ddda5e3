"""Fields of optimizers, sets and schedules that cannot be used: each is refused by an error that says what is wrong."""

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ArgumentError, DTypeError
from burlab.optim import (
    GD,
    LBFGS,
    Adam,
    ArmijoGD,
    BarzilaiBorwein,
    ModifiedNewton,
    NewtonCG,
    NonlinearCG,
    TrustRegion,
    WolfeGD,
    ball,
    box,
    l1,
    nonnegative,
    projected,
    proximal,
    simplex,
)

NAN = float("nan")
SEARCHES = [LBFGS, ArmijoGD, WolfeGD, NonlinearCG, BarzilaiBorwein, ModifiedNewton, NewtonCG]


@pytest.mark.parametrize("wrong", [0, -1, 2.5, "x", None, True])
@pytest.mark.parametrize("kind", SEARCHES)
def test_trials(kind, wrong):
    with pytest.raises(ArgumentError, match=f"trials={wrong!r} is not a whole number at least 1"):
        kind(trials=wrong)


IN_CONSTRUCTOR = [
    (lambda: LBFGS(memory=2.5), "memory=2.5 is not a whole number from 1 to 10000"),
    (lambda: LBFGS(memory=0), "memory=0 is not a whole number from 1 to 10000"),
    (lambda: BarzilaiBorwein(window=-1), "window=-1 is not a whole number at least 0"),
    (lambda: TrustRegion(max_radius=-1), "max_radius of TrustRegion is -1, expected a number above 0"),
    (lambda: TrustRegion(radius=0.0), "radius of TrustRegion is 0.0, expected a number above 0"),
    (lambda: TrustRegion(max_radius=NAN), "max_radius of TrustRegion is nan"),
    (lambda: ball(-1.0), "radius of ball is -1.0, expected a number of at least 0"),
    (lambda: ball(NAN), "radius of ball is nan"),
    (lambda: simplex(-1), "total of simplex is -1, expected a number above 0"),
    (lambda: simplex(0), "total of simplex is 0, expected a number above 0"),
    (lambda: projected(GD(0.1), 5), r"projected goes onto a bl\.optim\.Set, got 5"),
    (lambda: projected(GD(0.1), box), r"projected goes onto a bl\.optim\.Set, got <class"),
    (lambda: projected(GD(0.1), l1(0.1)), r"got l1\(l1=0.1\).*proximal"),
    (lambda: projected(5, nonnegative()), "projected is put around an optimizer, got 5"),
    (lambda: proximal(GD(0.1), 5), r"proximal takes a bl\.optim\.Penalty, got 5"),
    (lambda: proximal(GD(0.1), l1), r"proximal takes a bl\.optim\.Penalty, got <class"),
    (lambda: proximal(5, l1(0.1)), "proximal is put around an optimizer, got 5"),
]


@pytest.mark.parametrize(("make", "message"), IN_CONSTRUCTOR)
def test_invalid_argument_raises_in_the_constructor(make, message):
    with pytest.raises(ArgumentError, match=message):
        make()


IN_RUN = [
    (lambda: GD(None), DTypeError, "lr is None, expected a real number"),
    (lambda: Adam(0.1, b1=None), DTypeError, "b1 is None, expected a real number"),
    (lambda: GD(10**400), ArgumentError, "lr is a whole number of 1329 bits"),
    (lambda: GD(lambda: 1.0), ArgumentError, "schedule of lr .* takes t, such as"),
    (lambda: GD(lambda t, u: 1.0), ArgumentError, "schedule of lr .* takes t, such as"),
    (lambda: projected(GD(0.1), ball("x")), DTypeError, "radius is 'x'"),
]


@pytest.mark.parametrize(("make", "error", "message"), IN_RUN)
def test_invalid_argument_raises_at_the_start_of_a_run(make, error, message):
    with pytest.raises(error, match=message):
        bl.minimize(lambda x: np.sum(x**2), np.ones(2), make())


@pytest.mark.parametrize(
    "optimizer",
    [
        GD(np.float32(0.125)),
        GD(lambda t, scale=0.1: scale / (t + 1)),
        projected(GD(0.1), ball(lambda t: 1.0 / (t + 1))),
        proximal(GD(0.1), nonnegative()),  # a set is the penalty that is infinite outside
        TrustRegion(max_radius=bl.optim.constant(3.0)),
    ],
)
def test_valid_arguments_are_accepted(optimizer):
    assert bl.minimize(lambda x: np.sum(x**2), np.ones(2), optimizer, steps=2).t == 2
