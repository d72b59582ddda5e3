"""The derivatives of relu, abs, maximum, minimum and clip read masks of bytes: the same bits from less memory."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.compiler.ir.options import PlanOptions
from burlab.compiler.passes import make_plan
from burlab.compiler.planning import byte_masks
from burlab.graph.rewrite.simplify import simplify
from burlab.graph.scalar import partials
from burlab.graph.tracing.trace import trace
from tests.engines import assert_close, jax_or_skip, on

RNG = np.random.default_rng(0)
X, V, W = RNG.normal(size=(90, 100)), RNG.normal(size=(100, 100)), RNG.normal(size=(100, 100))
EDGES = np.array([0.0, -0.0, np.nan, np.inf, -np.inf, 1.0, -2.5, 0.3, 5e-324])

# Function, and how much less its plan needs with masks.
FUNCTIONS: dict[str, tuple[Callable[..., Any], float]] = {
    "relu": (lambda np, y, z: (bl if np.__name__ == "numpy" else jax_or_skip().nn).relu(y) * 3.0, 0.8),
    "abs": (lambda np, y, z: np.abs(y) * 3.0, 0.8),
    "maximum": (lambda np, y, z: np.maximum(y, z) * 3.0, 0.86),
    "minimum": (lambda np, y, z: np.minimum(y, z) * 3.0, 0.86),
    "clip": (lambda np, y, z: np.clip(y, -0.3, 0.4) * 3.0, 0.8),
}


def loss(f: Callable[..., Any], np: Any, dtype: str = "float64") -> Callable[[Any], Any]:
    """What f returns goes into a product whose factor is no parameter: it is not read again."""
    v, w = V.astype(dtype), W.astype(dtype)

    def value(x: Any) -> Any:
        return np.sum(np.tanh(f(np, x @ v, x @ w) @ w))

    return value


def differentiated(f: Callable[..., Any], x: Any, masks: bool, monkeypatch: pytest.MonkeyPatch) -> tuple[Any, int]:
    """The gradient with masks or without, and the bytes of the workspace."""
    monkeypatch.setattr(byte_masks, "MIN_BYTES", 0 if masks else 1 << 60)
    k = bl.compile(f, x)
    gradient = k.value_and_grad(x)[1]
    return gradient, k.memory["activations"] + k.memory["scratch"]


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_masks_take_less_and_give_the_same_bits(name: str, dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    f, part = FUNCTIONS[name]
    x = X.astype(dtype)
    with_masks, plain = (differentiated(loss(f, np, dtype), x, masks, monkeypatch) for masks in (True, False))
    np.testing.assert_array_equal(with_masks[0], plain[0])
    assert with_masks[1] <= (part + (dtype == "float32") * 0.1) * plain[1], (with_masks[1], plain[1])
    jax = jax_or_skip()
    assert_close(with_masks[0], jax.grad(loss(f, jax.numpy, dtype))(x), {"float64": 1e-9, "float32": 1e-2}[dtype])


@pytest.mark.parametrize("name", FUNCTIONS)
def test_ties_and_numbers_that_are_none(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every pair of special numbers, against the partial derivatives that the structs state."""
    f = FUNCTIONS[name][0]
    x = np.stack([a.ravel() for a in np.meshgrid(EDGES, EDGES)])

    def total(x: Any) -> Any:
        return np.sum(np.sin(f(np, x[0] * 1.0, x[1] * 1.0) * 1.5) * 2.0) ** 2

    plain = differentiated(total, x, False, monkeypatch)[0]
    monkeypatch.setattr(byte_masks, "residuals", lambda plan: list(plan.graph.nodes))  # whatever it would save
    monkeypatch.setattr(byte_masks, "_PARTS", -1)
    masked = differentiated(total, x, True, monkeypatch)[0]
    np.testing.assert_array_equal(masked.view("u8"), plain.view("u8"))


def test_numbers_that_are_read_otherwise_stay() -> None:
    """A mask besides them would only take more."""
    read = lambda x: np.sum(np.tanh(np.abs(y := x @ V) @ W)) + np.sum(np.tanh(y @ W) ** 2 * y)  # noqa: E731
    graph = simplify(trace(bl.value_and_grad(read), (X,)).graph)
    assert "abs'0" in {n.op for n in make_plan(graph, PlanOptions("compiled")).graph.nodes}
    assert set(byte_masks.TESTS) <= {f"{op}'{k}" for op in ("relu", "abs", "maximum", "minimum") for k in (0, 1)}
    assert all(not partials(name.partition("'")[0])[int(name[-1])].unknown for name in byte_masks.TESTS)


@pytest.mark.parametrize("remat", ["sqrt", None])
def test_other_passes_go_on_from_masks(remat: Any) -> None:
    """Rematerialization, second derivatives and checkpoints."""
    f = on(np, _layers)
    k = bl.compile(f, X, remat=remat)
    jax = jax_or_skip()
    plain = on(jax.numpy, _layers)
    assert_close(k.value_and_grad(X)[1], jax.grad(plain)(X), 1e-7)
    assert_close(bl.hvp(f)(X, X), jax.jvp(jax.grad(plain), (X,), (X,))[1], 1e-6)


def _layers(np: Any, x: Any) -> Any:
    for _ in range(3):
        x = np.tanh((np.abs(x @ V) * 0.1 + np.clip(x, -1, 1)) @ W)
    return np.sum(x**2)
