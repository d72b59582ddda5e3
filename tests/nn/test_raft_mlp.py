"""`RaftMLP` against a program of PyTorch with the arrangements that the paper writes."""

import re
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ArgumentError, DTypeError, ShapeError
from tests.engines import torch_or_skip

rng = np.random.default_rng(0)
H, W, R, C = 3, 5, 2, 4  # C channels in each of R rafts


def layer(**options: Any) -> Any:
    return bl.nn.RaftMLP(H, W, R * C, **{"raft": R, "key": bl.random.key(1), "dtype": np.float64} | options)


def perceptron(t: Any, leaves: list[Any], x: Any) -> Any:
    return t.nn.functional.gelu(x @ leaves[0] + leaves[1]) @ leaves[2] + leaves[3]


def raft_mlp(t: Any, leaves: list[Any], x: Any, raft: int) -> Any:
    """The block. leaves: of three norms, then of three perceptrons. x: shape (h, w, channels)."""
    height, width, channels = x.shape
    part = channels // raft
    norm = lambda k, x: t.nn.functional.layer_norm(x, (channels,), leaves[2 * k], leaves[2 * k + 1])  # noqa: E731
    y = norm(0, x).reshape(height, width, raft, part)
    y = t.einsum("hwrc->cwrh", y).reshape(part * width, raft * height)  # (h w) (r c) -> (c w) (r h)
    y = perceptron(t, leaves[6:10], y).reshape(part, width, raft, height)
    x = x + t.einsum("cwrh->hwrc", y).reshape(x.shape)
    y = norm(1, x).reshape(height, width, raft, part)
    y = t.einsum("hwrc->chrw", y).reshape(part * height, raft * width)
    y = perceptron(t, leaves[10:14], y).reshape(part, height, raft, width)
    x = x + t.einsum("chrw->hwrc", y).reshape(x.shape)
    return x + perceptron(t, leaves[14:18], norm(2, x))


@pytest.mark.parametrize("raft", [1, 2, 8])
def test_values_and_derivatives_are_those_of_torch(raft: int) -> None:
    t = torch_or_skip()
    flat, structure = bl.tree.flatten(layer(raft=raft))
    flat = [leaf + 0.1 * rng.normal(size=leaf.shape) for leaf in flat]
    ours, x = bl.tree.unflatten(structure, flat), rng.normal(size=(H, W, R * C))
    leaves, there = [t.tensor(leaf, requires_grad=True) for leaf in flat], t.tensor(x, requires_grad=True)
    wanted = raft_mlp(t, leaves, there, raft)
    wanted.sin().sum().backward()
    np.testing.assert_allclose(ours(x), wanted.detach().numpy(), rtol=1e-11)
    np.testing.assert_allclose(bl.jit(lambda m, x: m(x))(ours, x), wanted.detach().numpy(), rtol=1e-11)
    by_layer, by_x = bl.grad(lambda m, x: np.sum(np.sin(m(x))), (0, 1))(ours, x)
    for got, leaf in zip([*bl.tree.leaves(by_layer), by_x], [*leaves, there], strict=True):
        np.testing.assert_allclose(got, leaf.grad.numpy(), rtol=1e-9, atol=1e-12)


def test_batches_of_pictures_and_numbers_of_weights() -> None:
    ours, x = layer(), rng.normal(size=(2, 3, H, W, R * C))
    wanted = [[ours(one) for one in row] for row in x]
    np.testing.assert_allclose(ours(x), wanted, rtol=1e-11)
    np.testing.assert_allclose(bl.vmap(ours)(x[0]), wanted[0], rtol=1e-11)
    tokens = sum(linear.weight.size for mlp in (ours.vertical, ours.horizontal) for linear in mlp.layers)
    assert tokens == 4 * R**2 * (H**2 + W**2)
    assert layer(token_expansion=3).vertical.layers[0].weight.shape == (R * H, 3 * R * H)
    assert layer(channel_expansion=1).mixer.layers[0].weight.shape == (R * C, R * C)


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda: layer(raft=3), ArgumentError, "channels=8 must be a multiple of raft=3"),
        (lambda: layer(raft=0), ArgumentError, "raft=0 must be a positive integer"),
        (lambda: layer(token_expansion=0.5), ArgumentError, "token_expansion=0.5 must be"),
        (lambda: layer(key=None), ArgumentError, "needs a key"),
        (lambda: layer()(np.ones((W, H, R * C))), ShapeError, "RaftMLP expects x of shape (..., 3, 5, 8)"),
        (lambda: layer()(np.ones((H, W, R * C), np.float32)), DTypeError, "RaftMLP has parameters of float64"),
    ],
)
def test_what_does_not_fit_is_refused(call: Any, kind: type[Exception], words: str) -> None:
    with pytest.raises(kind, match=re.escape(words)):
        call()
