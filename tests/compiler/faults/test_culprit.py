"""Faults: the first node that made an inf or nan, by the user's line; and the values of all nodes."""

import inspect

import numpy as np
import pytest

from burlab import errors
from burlab.compiler import build
from burlab.compiler.faults.values import Replay
from burlab.graph import Node
from burlab.graph.rewrite.simplify import simplify
from tests.compiler.trace import traced


@pytest.fixture(params=["compiled", "replay"])
def gear(request):
    return request.param


def watched(function, *examples, gear):
    return build(traced(function, *examples), gear=gear, check_finite=True)


def risky(x, y):
    z = np.log(x)
    return np.sum(np.sqrt(z * y)), 1.0 / (1.0 + np.exp(y))


def test_finite_values_pass(gear):
    exe = watched(risky, np.ones(3), np.ones(3), gear=gear)
    for _ in range(3):
        total, ratio = exe(np.full(3, np.e), np.ones(3))
        assert total == pytest.approx(3.0)
        np.testing.assert_allclose(ratio, 1 / (1 + np.e))


def test_the_first_node_that_makes_a_non_finite_value_is_named(gear):
    exe = watched(risky, np.ones(3), np.ones(3), gear=gear)
    line = inspect.getsourcelines(risky)[1] + 1
    cases = {
        "log": ([1.0, 0.0, 2.0], [1.0] * 3, f"line {line}.*log.*element \\[1\\].*first inf"),
        "log of a negative": ([1.0, 1.0, -2.0], [1.0] * 3, f"line {line}.*log.*element \\[2\\].*first nan"),
        "sqrt": ([2.0, 2.0, 2.0], [1.0, 1.0, -1.0], f"line {line + 1}.*sqrt.*element \\[2\\].*first nan"),
        "exp": ([2.0, 2.0, 2.0], [1.0, 710.0, 1.0], f"line {line + 1}.*exp.*element \\[1\\].*first inf"),
        "argument": ([1.0, np.nan, 1.0], [1.0] * 3, r"argument x0\[1\] is nan"),
    }
    for x, y, words in cases.values():
        for _ in range(2):
            with pytest.raises(errors.NonFiniteError, match=words):
                exe(np.array(x), np.array(y))
        with pytest.raises(errors.NonFiniteError, match=words):
            exe.map([np.array([[np.e] * 3, x, [np.e] * 3]), np.array([[1.0] * 3, y, [1.0] * 3])], (True, True), 3)


def test_a_value_that_no_output_shows_is_found_too(gear):
    exe = watched(lambda x: 1.0 / (1.0 + np.exp(x)), 1.0, gear=gear)
    with pytest.raises(errors.NonFiniteError, match="exp"):
        exe(1000.0)


def test_the_users_own_infinities_are_no_fault(gear):
    mask = np.where(np.tri(4) > 0, 0.0, -np.inf)

    def attention(x):
        scores = x + mask
        weights = np.exp(scores - np.max(scores, axis=1, keepdims=True))
        return weights / np.sum(weights, axis=1, keepdims=True)

    exe = watched(attention, np.ones((4, 4)), gear=gear)
    expected = build(traced(attention, np.ones((4, 4))), gear=gear)(np.ones((4, 4)))[0]
    for _ in range(3):
        np.testing.assert_array_equal(exe(np.ones((4, 4)))[0], expected)
    stacked = exe.map([np.ones((3, 4, 4))], (True,), 3)[0]
    np.testing.assert_array_equal(stacked, np.stack([expected] * 3))
    with pytest.raises(errors.NonFiniteError, match="x0"):
        exe(np.full((4, 4), np.nan))


def test_moves_and_integers_are_not_watched(gear):
    exe = watched(lambda x, i: (np.concatenate([x, x])[::2], i * 2, x[i]), np.ones(4), np.zeros(2, int), gear=gear)
    assert exe(np.ones(4), np.array([1, 2]))[1].tolist() == [2, 4]


def test_replay_shows_every_value(gear):
    graph = simplify(traced(lambda x: np.sum(np.tanh(x)[1:] * 2.0), np.zeros(4)))
    x = np.linspace(-1, 1, 4)
    values = {n.op: v for n, v in zip(graph.nodes, Replay(graph).values([x]), strict=True)}
    np.testing.assert_allclose(values["tanh"], np.tanh(x))
    np.testing.assert_allclose(values["slice"], np.tanh(x)[1:])
    np.testing.assert_allclose(values["sum"], np.sum(np.tanh(x)[1:] * 2))
    with pytest.raises(errors.ShapeError):
        Replay(graph).values([np.zeros(5)])
    i = Node("input", (), "i", (), np.dtype(int))
    picked = traced(lambda x, i: x[i], np.zeros(4), np.zeros((), int))
    assert i is not picked.inputs[1]
    with pytest.raises(IndexError, match="gather"):
        Replay(picked).values([x, np.array(7)])
