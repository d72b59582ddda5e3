"""`BitLinear` and `MLGRU` against loops of PyTorch with the formulas of the paper."""

import re
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ArgumentError, DTypeError, ShapeError
from tests.engines import torch_or_skip

rng = np.random.default_rng(0)
F64: dict[str, Any] = {"key": bl.random.key(2), "dtype": np.float64}


def bit_linear(t: Any, weight: Any, gain: Any, x: Any) -> Any:
    """The product, whose roundings PyTorch does not see."""
    u = gain * x / t.sqrt(t.mean(x**2, -1, keepdim=True) + 1e-8)
    s = 127 / u.abs().amax(-1, keepdim=True).clamp(min=1e-5)
    a = weight.abs().mean().clamp(min=1e-5)
    u_q, w_q = (u * s).round().clamp(-128, 127) / s, a * (weight / a).round().clamp(-1, 1)
    return (u + (u_q - u).detach()) @ (weight + (w_q - weight).detach())


def mlgru(t: Any, leaves: list[Any], x: Any, floor: Any) -> Any:
    """The recurrence, a position after the other."""
    forget, inner, gate = (bit_linear(t, *leaves[2 * k : 2 * k + 2], x) for k in range(3))
    f = floor + (1 - floor) * t.sigmoid(forget)
    h, rows = t.zeros(x.shape[1], dtype=x.dtype), []
    for k in range(len(x)):
        h = f[k] * h + t.nn.functional.silu(inner[k]) * (1 - f[k])
        rows.append(h)
    normed = leaves[8] * gate / t.sqrt(t.mean(gate**2, 1, keepdim=True) + 1e-5)
    return bit_linear(t, *leaves[6:8], normed * t.nn.functional.silu(t.stack(rows)))


def compared(ours: Any, theirs: Any, x: Any, call: Any = lambda m, x: m(x)) -> None:
    """Values, and derivatives by the leaves and by x."""
    t = torch_or_skip()
    flat, structure = bl.tree.flatten(ours)
    flat = [leaf + 0.1 * rng.normal(size=leaf.shape) for leaf in flat]
    ours = bl.tree.unflatten(structure, flat)
    leaves, there = [t.tensor(leaf, requires_grad=True) for leaf in flat], t.tensor(x, requires_grad=True)
    wanted = theirs(t, leaves, there)
    wanted.sin().sum().backward()
    np.testing.assert_allclose(call(ours, x), wanted.detach().numpy(), rtol=1e-11, atol=1e-14)
    np.testing.assert_allclose(bl.jit(call)(ours, x), wanted.detach().numpy(), rtol=1e-11, atol=1e-14)
    by_layer, by_x = bl.grad(lambda m, x: np.sum(np.sin(call(m, x))), (0, 1))(ours, x)
    for got, leaf in zip([*bl.tree.leaves(by_layer), by_x], [*leaves, there], strict=True):
        np.testing.assert_allclose(got, leaf.grad.numpy(), rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize("shape", [(6,), (5, 6), (2, 3, 6)])
def test_bit_linear_is_that_of_the_paper(shape: Any) -> None:
    compared(bl.nn.BitLinear(6, 4, **F64), lambda t, leaves, x: bit_linear(t, *leaves, x), rng.normal(size=shape))


@pytest.mark.parametrize("positions", [1, 2, 7])
@pytest.mark.parametrize("floor", [None, 0.3])
def test_mlgru_is_a_loop_over_positions(positions: int, floor: float | None) -> None:
    layer, x = bl.nn.MLGRU(6, **F64), rng.normal(size=(positions, 6))
    compared(layer, lambda t, leaves, x: mlgru(t, leaves, x, floor or 0.0), x, lambda m, x: m(x, floor))


def test_weights_are_three_values_and_inputs_integers() -> None:
    layer = bl.nn.BitLinear(50, 40, **F64)
    a = np.abs(layer.weight).mean()
    np.testing.assert_allclose(np.unique(layer.ternary()), [-a, 0, a], rtol=1e-14)
    x = rng.normal(size=50)
    u = x / np.sqrt(np.mean(x**2) + 1e-8)
    whole = np.rint(u * 127 / np.abs(u).max())
    sums = layer(x) / a * 127 / np.abs(u).max()
    np.testing.assert_allclose(sums, whole @ np.sign(layer.ternary()), rtol=1e-11, atol=1e-9)
    assert np.abs(whole).max() == 127


def test_the_future_is_hidden_and_zeros_are_numbers() -> None:
    layer, x = bl.nn.MLGRU(6, **F64), rng.normal(size=(5, 6))
    changed = np.concatenate([x[:3], -x[3:]])
    np.testing.assert_array_equal(layer(x)[:3], layer(changed)[:3])
    assert np.all(layer(x)[3:] != layer(changed)[3:])
    zero = bl.tree.map(lambda a: 0 * a, layer)
    assert np.all(np.isfinite(bl.grad(lambda m: np.sum(m(np.zeros((3, 6)))))(zero).forget.weight))


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda: bl.nn.BitLinear(0, 2, **F64), ArgumentError, "inputs=0 must be a positive integer"),
        (lambda: bl.nn.BitLinear(2, 2, key=None), ArgumentError, "needs a key"),
        (lambda: bl.nn.BitLinear(2, 2, **F64)(np.ones(3)), ShapeError, "BitLinear expects x of shape (..., 2)"),
        (
            lambda: bl.nn.BitLinear(2, 2, **F64)(np.ones(2, np.float32)),
            DTypeError,
            "BitLinear has parameters of float64",
        ),
        (lambda: bl.nn.MLGRU(2.5, **F64), ArgumentError, "width=2.5 must be a positive integer"),
        (
            lambda: bl.nn.MLGRU(2, **F64)(np.ones(2)),
            ShapeError,
            "MLGRU expects x of shape (positions, width), got (2,)",
        ),
        (lambda: bl.nn.MLGRU(2, **F64)(np.ones((3, 2)), np.ones(3)), ShapeError, "floor of MLGRU has shape (3,)"),
        (lambda: bl.nn.MLGRU(2, **F64)(np.ones((3, 2)), "a"), DTypeError, "floor of MLGRU"),
        (lambda: bl.nn.MLGRU(2, **F64)(np.ones((3, 4))), ShapeError, "BitLinear expects x of shape (..., 2)"),
    ],
)
def test_what_does_not_fit_is_refused(call: Any, kind: type[Exception], words: str) -> None:
    with pytest.raises(kind, match=re.escape(words)):
        call()
