"""Slices that outlive their array are copied: what it saves, and where it does nothing."""

from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.compiler.ir.options import PlanOptions
from burlab.compiler.passes import make_plan
from burlab.compiler.planning import copy_slices
from burlab.graph.rewrite.simplify import simplify
from burlab.graph.tracing.trace import trace
from tests.engines import assert_close

RNG = np.random.default_rng(0)
X, W = RNG.normal(size=(300, 16)), RNG.normal(size=(400, 16))
COLUMNS = 40


def largest(x: Any, w: Any) -> Any:
    """A wide product, of which the derivative reads some columns only."""
    return np.max(x @ w.T, axis=1)


def forward(x: Any, w: Any) -> Any:
    product = x @ w.T
    return np.max(product, axis=1), (product[:, :COLUMNS], w)


def backward(residuals: Any, g: Any) -> Any:
    some, w = residuals
    return (some**3 * g[:, None]) @ w[:COLUMNS], None


SOME = bl.custom_vjp(largest, backward, X, W, forward=forward, surrogate=True)


def loss(x: Any, w: Any) -> Any:
    y = SOME(np.sin(x), w)
    return np.sum(np.tanh(SOME(np.cos(x) * y[:, None], w)))


@pytest.mark.parametrize("gear", ["compiled", "replay"])
def test_a_slice_does_not_keep_its_base(gear: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """One product of 960 KB at a time, and the columns of each; without copies both products until the end."""
    graph = simplify(trace(bl.value_and_grad(loss), (X, W)).graph)
    product = 8 * len(X) * len(W)
    less = make_plan(graph, PlanOptions(gear))
    assert len(less.options.early) == 2
    assert less.workspace_bytes < 1.6 * product
    kernel = bl.compile(loss, X, W, gear=gear)
    assert kernel.value_and_grad(X, W)[0] == loss(X, W)
    assert sum(kernel.memory[kind] for kind in ("activations", "scratch")) == less.workspace_bytes
    gradient = kernel.value_and_grad(X, W)[1]
    monkeypatch.setattr(copy_slices, "MIN_BYTES", 1 << 60)
    more = make_plan(graph, PlanOptions(gear))
    assert not more.options.early
    assert more.workspace_bytes > 2 * product
    plain = bl.compile(loss, X, W, gear=gear, strict=True)
    assert_close(gradient, plain.value_and_grad(X, W)[1], 1e-12)


@pytest.mark.parametrize("gear", ["compiled", "replay"])
def test_rematerialization_goes_on_from_there(gear: Any) -> None:
    kernel = bl.compile(loss, X, W, gear=gear, remat="sqrt")
    assert_close(kernel.value_and_grad(X, W)[1], bl.compile(loss, X, W, gear=gear).value_and_grad(X, W)[1], 1e-13)
    assert kernel.memory["activations"] + kernel.memory["scratch"] < 1.6 * 8 * len(X) * len(W)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.sum(np.tanh(x @ W.T)[:, :300] ** 3),  # most of it
        lambda x: np.sum((p := x @ W.T)[:, :30] ** 3) * np.sum(np.tanh(p)),  # and all of it, as late
        lambda x: np.sum(
            (p := x @ W.T)[:, :130] ** 3 + p[:, 130:260] ** 3 + p[:, 260:390] ** 3
        ),  # several, together most
    ],
)
def test_slices_that_save_nothing_stay_views(f: Any) -> None:
    graph = simplify(trace(bl.value_and_grad(f), (X,)).graph)
    assert not make_plan(graph, PlanOptions("compiled")).options.early
