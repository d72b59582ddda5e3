"""The lines of code of a playground make its run; what does not fit is refused in words."""

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ArgumentError, ShapeError
from burlab.graph import tree
from burlab.widgets.playground.playground_setting import ACTIVATIONS, RATES, PlaygroundSetting


def same(a, b):
    """Return True if two trees have the same bits."""
    return all(x.tobytes() == y.tobytes() for x, y in zip(tree.flatten(a)[0], tree.flatten(b)[0], strict=True))


def executed(code, **names):
    """Run lines of code, and return what they define."""
    exec(code, names)
    return names


@pytest.mark.parametrize("optimizer", RATES)
def test_code_makes_the_same_bits_for_every_optimizer(optimizer):
    play = bl.playground("moons", optimizer=optimizer, hidden=(3,), batch=7, noise=0.25, seed=3)
    play.run.step(20)
    again = executed(play.code())["run"]
    assert again.t == 20
    assert same(again.x, play.run.x)
    assert not same(again.x, play.setting.network())


def test_code_repeats_changes_of_hyperparameters():
    play = bl.playground(dtype="float64", activation="relu", hidden=(2, 2))
    play.run.step(5)
    play.run.hyper["lr"] = 0.5
    play.run.step(5)
    play.run.hyper["batch"] = 64
    play.run.step(5)
    constant = executed(bl.playground(dtype="float64", activation="relu", hidden=(2, 2)).code())["run"]
    constant.step(15)
    again = executed(play.code())["run"]
    assert same(again.x, play.run.x)
    assert not same(constant.x, play.run.x)


def test_code_of_the_past_leaves_later_changes_out():
    play = bl.playground(hidden=())
    play.run.step(5)
    play.run.hyper["lr"] = 0.5
    play.run.step(5)
    play.run.seek(3)
    code = play.code()
    assert "hyper" not in code
    assert same(executed(code)["run"].x, play.run.x)


def test_code_of_own_arrays_runs_with_them():
    data = bl.data.synthetic_plane("spirals", 50)
    play = bl.playground((data.features, data.targets), batch=10)
    play.run.step(10)
    line = next(line for line in play.code().splitlines() if "your arrays" in line)
    code = play.code().replace(line, "points, classes = own")
    assert same(executed(code, own=play.setting.points)["run"].x, play.run.x)


def test_code_has_twelve_lines_and_a_definition():
    lines = [line for line in bl.playground().code().splitlines() if line]
    assert len(lines) == 12


def test_labels_of_any_two_kinds_become_signs():
    play = bl.playground((np.zeros((3, 2)), ["cat", "dog", "cat"]), batch=3)
    assert play.setting.points[1].tolist() == [-1.0, 1.0, -1.0]


@pytest.mark.parametrize(
    ("data", "error", "said"),
    [
        ((np.zeros((3, 4)), np.arange(3)), ShapeError, r"features of shape \(3, 4\).*Choose two columns"),
        ((np.zeros((3, 2)), np.arange(3)), ArgumentError, "3 different values, expected 2"),
        ((np.full((2, 2), np.nan), np.arange(2)), ArgumentError, "finite"),
        ("rings", ArgumentError, "data is 'rings', expected one of 'circles'"),
        (7, ArgumentError, r"expected the name of a data set, or a pair"),
    ],
)
def test_data_that_does_not_fit_is_refused(data, error, said):
    with pytest.raises(error, match=said):
        bl.playground(data)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"hidden": (9,)}, "layers of 1 to 8 neurons"),
        ({"hidden": (1,) * 7}, "at most 6 layers"),
        ({"optimizer": "SGD"}, "optimizer is 'SGD', expected one of 'GD'"),
        ({"activation": "step"}, "activation is 'step', expected one of 'tanh'"),
        ({"dtype": "float16"}, "dtype is 'float16', expected one of 'float32', 'float64'"),
        ({"numbers": "fp8"}, "numbers is 'fp8', expected one of 'exact', 'bfloat16'"),
        ({"rounding": "down"}, "rounding is 'down', expected one of 'nearest', 'stochastic'"),
        ({"batch": 201}, "batch"),
        ({"noise": -1.0}, "noise"),
        ({"lr": 0.0}, "lr"),
    ],
)
def test_options_out_of_range_are_refused(options, said):
    with pytest.raises(ArgumentError, match=said):
        bl.playground(**options)


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_every_activation_learns(activation):
    run = bl.playground("clouds", activation=activation).run
    run.step(300)
    assert run.history["value"][-50:].mean() < 0.5 * run.history["value"][0]


def test_noise_moves_the_same_points():
    calm, rough = (PlaygroundSetting(noise=noise).points[0] for noise in (0.0, 0.1))
    other = PlaygroundSetting(noise=0.2).points[0]
    assert np.allclose(other - calm, 2 * (rough - calm))


@pytest.mark.parametrize("optimizer", RATES)
@pytest.mark.parametrize("rounding", ["nearest", "stochastic"])
def test_numbers_are_on_the_grid_of_the_format_with_every_optimizer(optimizer, rounding):
    play = bl.playground(optimizer=optimizer, numbers="e4m3", rounding=rounding, hidden=(2,))
    play.run.step(30)
    moved = 0
    for start, leaf in zip(bl.tree.leaves(play.setting.network()), bl.tree.leaves(play.run.x), strict=True):
        np.testing.assert_array_equal(bl.round_to("e4m3", leaf), leaf)
        moved += int((bl.round_to("e4m3", start) != leaf).sum())
    assert moved > 0 or (optimizer, rounding) == ("GD", "nearest")
    assert same(executed(play.code())["run"].x, play.run.x)


def test_short_steps_do_nothing_to_the_nearest_and_learn_by_chance():
    losses = {}
    for numbers, rounding in (("exact", "nearest"), ("e4m3", "nearest"), ("e4m3", "stochastic")):
        run = bl.playground(numbers=numbers, rounding=rounding).run
        run.step(1000)
        losses[numbers, rounding] = run.value
    assert losses["exact", "nearest"] < 0.05
    assert losses["e4m3", "stochastic"] < 0.3 * losses["e4m3", "nearest"]


def test_a_change_of_numbers_is_a_comparison():
    play = bl.playground()
    play.run.step(5)
    play.change(numbers="bfloat16", rounding="stochastic")
    play.run.step(5)
    assert play.run.formats == bl.Formats(params="bfloat16", compute="bfloat16", gradients="bfloat16", master=False)
    assert [label for label, _ in play.earlier] == ["exact"]
    assert "in bfloat16" in repr(play)
