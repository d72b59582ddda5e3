"""Hyperparameters by name and as attributes, of runs and of watches."""

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ArgumentError, DTypeError


def opened():
    return bl.minimize(lambda x: np.sum(x**2), np.ones(2), bl.optim.Momentum(0.1, mu=0.5))


def watched():
    return bl.watch(lr=0.1, mu=0.5, show=False)


@pytest.mark.parametrize("make", [opened, watched])
def test_either_way_counts(make):
    owner = make()
    owner.hyper.lr = 0.25
    assert (owner.hyper["lr"], owner.hyper.lr) == (0.25, 0.25)
    owner.hyper["mu"] = 0.75
    assert owner.hyper.mu == 0.75
    assert {"lr", "mu"} <= set(dir(owner.hyper))


@pytest.mark.parametrize("make", [opened, watched])
def test_unknown_hyperparameter_raises_by_attribute_and_by_key(make):
    owner = make()
    with pytest.raises(ArgumentError, match="learning_rate"):
        owner.hyper.learning_rate = 0.1
    with pytest.raises(ArgumentError, match="learning_rate"):
        owner.hyper["learning_rate"] = 0.1
    with pytest.raises(AttributeError, match=r"no 'learning_rate'; it has lr, mu"):
        _ = owner.hyper.learning_rate
    with pytest.raises(DTypeError):
        owner.hyper.lr = "fast"
    with pytest.raises(ArgumentError):
        owner.hyper.follows = 1.0  # a method is no hyperparameter
    assert not hasattr(owner.hyper, "learning_rate")


def test_the_step_takes_it():
    run, other = opened(), opened()
    run.hyper.lr = 0.25
    other.hyper["lr"] = 0.25
    run.step(3)
    other.step(3)
    np.testing.assert_array_equal(run.x, other.x)
    assert run.events == other.events
    assert len(run.events) == 1


def test_a_run_itself_has_none():
    run = opened()
    with pytest.raises(AttributeError, match=r"Set run\.hyper\.lr"):
        run.lr = 0.1
