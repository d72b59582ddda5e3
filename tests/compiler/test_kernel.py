"""The Kernel that bl.compile gives: its calls, what it refuses, and what it shows."""

import threading
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ArgumentError, DTypeError, LayoutError, NonFiniteError, ShapeError
from burlab.graph import Graph
from tests.engines import GEARS, assert_close

X, V = np.array([0.5, -1.0, 2.0]), np.array([1.0, 0.5, -2.0])
P = {"w": np.arange(6.0).reshape(2, 3) / 3, "b": (np.ones(2), 0.5)}


def rosen(x: Any) -> Any:
    """Rosenbrock's function."""
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def layer(p: Any, x: Any, kind: str = "tanh") -> Any:
    z = p["w"] @ x + p["b"][0]
    return np.sum(np.tanh(z) if kind == "tanh" else z) * p["b"][1]


@pytest.mark.parametrize("gear", GEARS)
@pytest.mark.parametrize("strict", [False, True])
def test_value_gradient_and_curvature(gear: Any, strict: bool) -> None:
    k = bl.compile(rosen, X, gear=gear, strict=strict)
    for x in (X, X * 2, np.zeros(3)):
        assert_close(k(x), rosen(x))
        assert_close(k.value_and_grad(x), (rosen(x), bl.grad(rosen)(x)))
        assert_close(k.hvp(x, V), bl.hessian(rosen)(x) @ V)


def test_strict_gears_agree_to_the_bit() -> None:
    rng = np.random.default_rng(0)
    f = lambda x: np.sum(np.tanh(x @ x.T) * np.exp(-x[:, :1])) + np.linalg.norm(np.cumsum(x, 0)) + bl.logsumexp(x)  # noqa: E731
    x = rng.normal(size=(5, 5))
    results = [bl.compile(f, x, gear=gear, strict=True).value_and_grad(x) for gear in GEARS]
    assert results[0][0] == results[1][0]
    np.testing.assert_array_equal(results[0][1], results[1][1])


@pytest.mark.parametrize("gear", GEARS)
def test_kernel_takes_trees_and_static_arguments(gear: Any) -> None:
    k = bl.compile(layer, P, X, "tanh", argnums=(0, 1), gear=gear)
    value, (gp, gx) = k.value_and_grad(P, X, "tanh")
    assert_close(value, layer(P, X))
    assert_close((gp, gx), bl.grad(layer, (0, 1))(P, X))
    with pytest.raises(ArgumentError, match="compiled for the static argument 'tanh', got 'none'"):
        k(P, X, "none")
    assert_close(k.hvp(P, X, "tanh", P), bl.hvp(layer)(P, X, "tanh", P))


@pytest.mark.parametrize("gear", GEARS)
@pytest.mark.parametrize(
    ("args", "error", "words"),
    [
        ((np.ones(4),), ShapeError, r"\(4,\)|\[4\]"),
        ((X.astype(np.float32),), DTypeError, "float32"),
        ((np.arange(3),), DTypeError, "int64"),
        ((X, X), (ArgumentError, TypeError), "structure|1 argument"),
        ((), (ArgumentError, TypeError), "structure|1 argument"),
        (([1.0, 2.0, 3.0],), ArgumentError, "structure"),
        (({"x": X},), ArgumentError, "structure"),
        ((None,), (ArgumentError, DTypeError), "structure|None"),
        (("text",), DTypeError, "must be (an array )?float64"),
    ],
)
def test_other_arguments_are_refused(gear: Any, args: Any, error: Any, words: str) -> None:
    k = bl.compile(rosen, X, gear=gear)
    for call in (k, k.value_and_grad):
        for _ in range(3):
            with pytest.raises(error, match=words):
                call(*args)
            assert_close(k(X), rosen(X))


def test_other_shapes_are_refused_in_a_trace_too() -> None:
    k = bl.compile(rosen, X)
    for call in (k, k.value_and_grad):
        with pytest.raises(ShapeError, match=r"\(4,\)|\[4\]"):
            bl.jit(lambda x, c=call: c(x))(np.ones(4))
        with pytest.raises(DTypeError, match="float32"):
            bl.jit(lambda x, c=call: c(x))(X.astype(np.float32))
    assert_close(bl.grad(lambda x: k(x))(X), bl.grad(rosen)(X))  # noqa: PLW0108


@pytest.mark.parametrize("gear", GEARS)
def test_out(gear: Any) -> None:
    k = bl.compile(rosen, X, gear=gear)
    value, gradient = np.empty(()), np.empty(3)
    for _ in range(3):
        result = k.value_and_grad(X, out=(value, gradient))
        assert result[1] is gradient
    assert_close((value, gradient), bl.value_and_grad(rosen)(X))
    double = bl.compile(lambda x: x * 2, X, gear=gear)
    buffer = np.zeros(3)
    assert double(X, out=buffer) is buffer
    np.testing.assert_array_equal(buffer, X * 2)
    frozen = np.zeros(3)
    frozen.flags.writeable = False
    for bad, error in ((np.zeros(4), ShapeError), (np.zeros(3, np.float32), DTypeError), (frozen, LayoutError)):
        with pytest.raises(error):
            double(X, out=bad)


@pytest.mark.parametrize("gear", GEARS)
@pytest.mark.parametrize("threads", [1, 3])
def test_map_is_a_call_per_sample(gear: Any, threads: int) -> None:
    rows = np.random.default_rng(1).normal(size=(7, 3))
    k = bl.compile(lambda w, x: (np.sum(np.sin(w * x)), w + x), X, X, gear=gear, threads=threads)
    sums, pairs = k.map(X, rows)
    for row, s, pair in zip(rows, sums, pairs, strict=True):
        assert_close((s, pair), k(X, row), 1e-15)
    assert k.map(X, rows[:0])[1].shape == (0, 3)
    with pytest.raises(ShapeError, match="one more leading axis"):
        k.map(X, X)
    with pytest.raises(ShapeError, match="all of one size"):
        k.map(rows[:3], rows)


def test_several_threads_use_one_kernel() -> None:
    k = bl.compile(lambda x: np.sum(np.tanh(x @ x.T)), np.ones((20, 20)))
    one = bl.value_and_grad(lambda x: np.sum(np.tanh(x @ x.T)))
    wanted = [one(np.full((20, 20), seed / 100)) for seed in range(4)]
    wrong: list[int] = []

    def work(seed: int) -> None:
        x = np.full((20, 20), seed / 100)
        for _ in range(200):
            value, gradient = k.value_and_grad(x)
            if not np.allclose(value, wanted[seed][0]) or not np.allclose(gradient, wanted[seed][1]):
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


@pytest.mark.parametrize("gear", GEARS)
def test_check_finite_names_the_first_bad_node(gear: Any) -> None:
    def f(x: Any) -> Any:
        y = x * 2
        return np.sum(np.log(y) + 1)

    k = bl.compile(f, X, check_finite=True, gear=gear)
    assert_close(k(np.abs(X)), f(np.abs(X)))
    with pytest.raises(NonFiniteError, match=rf"test_kernel.py.*line {f.__code__.co_firstlineno + 2}.*log"):
        k(X)
    assert np.isnan(bl.compile(lambda x: np.sum(np.log(x)), X, gear=gear)(X))


def test_kernel_has_graph_name_doc_and_repr() -> None:
    k = bl.compile(rosen, X)
    assert isinstance(k.graph, Graph)
    assert len(k.gradient_graph) > len(k.graph)
    assert k.__name__ == "rosen"
    assert k.__doc__ == "Rosenbrock's function."
    assert "rosen" in repr(k)
    assert "float64[3]" in repr(k)
    assert "compiled" in repr(k)
    assert "burlab" in k.source
    assert all(v >= 0 for v in k.memory.values())
    assert bl.compile(lambda x: x * 2, X).source  # has no gradient
    assert [x.params for x in k.graph.inputs] == ["x"]


def test_a_kernel_is_traced_once_per_program() -> None:
    count = [0]

    def f(x: Any) -> Any:
        count[0] += 1
        return np.sum(x**2)

    k = bl.compile(f, X)
    for _ in range(3):
        k(X)
        k.value_and_grad(X)
    assert count[0] == 2


def test_examples_must_be_those_that_the_function_takes():
    with pytest.raises(ArgumentError, match=r"f cannot be called with 1 examples: missing a required argument: 'y'"):
        bl.compile(lambda x, y: x * y, 1.0)
    with pytest.raises(ArgumentError, match="f is a NoneType, expected a function"):
        bl.compile(None, 1.0)
