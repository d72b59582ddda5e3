"""Programs of micrograd run on burlab's Value: its two tests, and its neural networks, unchanged."""

import importlib.util
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from micrograd import engine

from burlab.eager import Value


def sanity_check(value: Callable[[float], Any]) -> tuple[Any, ...]:
    """micrograd's first test: sums, products, relu."""
    x = value(-4.0)
    z = 2 * x + 2 + x
    q = z.relu() + z * x
    h = (z * z).relu()
    y = h + q + q * x
    y.backward()
    return y.data, x.grad


def more_operations(value: Callable[[float], Any]) -> tuple[Any, ...]:
    """micrograd's second test: powers, quotients, in-place and reflected forms."""
    a, b = value(-4.0), value(2.0)
    c = a + b
    d = a * b + b**3
    c += c + 1
    c += 1 + c + (-a)
    d += d * 2 + (b + a).relu()
    d += 3 * d + (b - a).relu()
    e = c - d
    f = e**2
    g = f / 2.0
    g += 10.0 / f
    g.backward()
    return g.data, a.grad, b.grad


PROGRAMS = pytest.mark.parametrize("program", [sanity_check, more_operations], ids=["sanity_check", "more_operations"])


@PROGRAMS
def test_its_tests_give_what_micrograd_gives(program: Callable[..., Any]):
    assert program(Value) == pytest.approx(program(engine.Value), rel=1e-14)


@PROGRAMS
def test_its_tests_give_what_torch_gives(program: Callable[..., Any]):
    torch = pytest.importorskip("torch", reason="PyTorch, the second engine, is not installed: make peers")
    wanted = program(lambda x: torch.tensor([x], dtype=torch.float64, requires_grad=True))
    assert program(Value) == pytest.approx([float(number) for number in wanted], rel=1e-14)


def networks(value: Any) -> Any:
    """A fresh copy of the module micrograd.nn that makes its parameters with `value`."""
    spec = importlib.util.spec_from_file_location("networks", Path(engine.__file__).with_name("nn.py"))
    assert spec
    assert spec.loader
    module: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.Value = value
    return module


def train(value: Any, steps: int) -> list[float]:
    """micrograd's demo: a perceptron with a hinge loss. Losses of every step, then all gradients of the last."""
    random.seed(1337)
    model = networks(value).MLP(2, [8, 8, 1])
    rng = np.random.default_rng(0)
    points = rng.normal(size=(12, 2))
    labels = np.sign(points[:, 0] * points[:, 1])
    losses: list[float] = []
    for _ in range(steps):
        scores = list(map(model, [list(map(value, row)) for row in points]))
        hinges = [(1 + -label * score).relu() for label, score in zip(labels, scores, strict=True)]
        total = sum(hinges) * (1.0 / len(hinges)) + 1e-4 * sum(p * p for p in model.parameters())
        model.zero_grad()
        total.backward()
        for p in model.parameters():
            p.data -= 0.1 * p.grad
        losses.append(total.data)
    return losses + [p.grad for p in model.parameters()]


def test_its_networks_train_alike():
    assert train(Value, 4) == pytest.approx(train(engine.Value, 4), rel=1e-12, abs=1e-15)


def test_its_ways_of_looking_at_a_node():
    a, b = Value(2.0), Value(-3.0)
    c = a * b
    assert (c._op, c._prev, a._op, a._prev) == ("*", {a, b}, "", set())
    assert [(x + 1)._op for x in (a,)] + [(a - b)._op, (a / b)._op, (a**3)._op, (a**0.5)._op, a.relu()._op] == [
        "+", "-", "/", "**3", "**0.5", "ReLU",
    ]  # fmt: skip
    assert (a * a)._prev == {a}
    assert repr(c) == "Value(data=-6.0, grad=0.0)"
    assert a != Value(2.0)
    assert len({a, b, a, Value(2.0)}) == 3


def test_sums_of_python_start_from_zero():
    xs = [Value(float(k)) for k in range(5)]
    total = sum(xs)
    total.backward()
    assert (total.data, [x.grad for x in xs]) == (10.0, [1.0] * 5)
