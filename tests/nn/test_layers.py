"""Layers against PyTorch's in float64: values, gradients by input and parameters, batches; then what they refuse."""

import re
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ArgumentError, DTypeError, ShapeError
from burlab.graph import tree
from tests.engines import assert_close, torch_or_skip
from tests.nn.layer_cases import CASES, KEY, LayerCase

EACH = pytest.mark.parametrize("case", CASES, ids=str)
nn = bl.nn


def pair(case: LayerCase) -> tuple[Any, Any, Any]:
    """torch, its module and our layer with the same random parameters."""
    torch = torch_or_skip()
    torch.manual_seed(1)
    module = case.theirs(torch).double()
    for p in module.parameters():
        torch.nn.init.normal_(p, std=0.7)
    return torch, module, nn.from_torch(case.ours(), module.state_dict())


def leaves(layer: Any) -> list[Any]:
    return tree.flatten(layer)[0]


@EACH
def test_values_and_gradients_equal_torchs(case: LayerCase) -> None:
    torch, module, layer = pair(case)
    x = torch.tensor(case.x, requires_grad=case.x.dtype.kind == "f")
    wanted = case.call(torch, module, x[None])[0]
    weights = np.random.default_rng(0).normal(size=wanted.shape)
    (wanted * torch.tensor(weights)).sum().backward()
    gradient = nn.from_torch(layer, {name: p.grad for name, p in module.named_parameters()})

    def weighted(layer: Any, x: Any) -> Any:
        return np.sum(layer(x) * weights)

    assert_close(bl.jit(lambda layer, x: layer(x))(layer, case.x), wanted.detach().numpy(), 1e-10)
    assert_close(layer(case.x), wanted.detach().numpy(), 1e-10)
    assert_close(leaves(bl.grad(weighted)(layer, case.x)), leaves(gradient), 1e-10)
    if x.requires_grad:
        assert_close(bl.grad(weighted, argnums=1)(layer, case.x), x.grad.numpy(), 1e-10)


@EACH
def test_vmap_is_torchs_batch(case: LayerCase) -> None:
    torch, module, layer = pair(case)
    many = np.stack([case.x, np.flip(case.x), np.roll(case.x, 1)])
    wanted = case.call(torch, module, torch.tensor(many))
    assert_close(bl.vmap(layer)(many), wanted.detach().numpy(), 1e-10)


@EACH
def test_curvature_by_parameters(case: LayerCase) -> None:
    """The Hessian-vector product of the squared output: against differences of gradients.

    The step is so short that it crosses no kink: the largest case has thousands of rectified numbers.
    """
    layer, step = case.ours(), 1e-7
    rng = np.random.default_rng(2)
    flat, structure = tree.flatten(layer)
    v = [rng.normal(size=leaf.shape) for leaf in flat]

    def loss(layer: Any, x: Any) -> Any:
        return np.sum(layer(x) ** 2)

    product = bl.jit(bl.hvp(loss))(layer, case.x, tree.unflatten(structure, v))
    moved = [
        leaves(bl.grad(loss)(tree.unflatten(structure, [a + s * b for a, b in zip(flat, v, strict=True)]), case.x))
        for s in (-step, step)
    ]
    for h, low, high in zip(leaves(product), *moved, strict=True):
        slope = (high - low) / (2 * step)
        np.testing.assert_allclose(h, slope, rtol=1e-4, atol=1e-4 * max(1, np.abs(h).max(initial=0)))


@EACH
def test_one_dtype_from_parameters_to_gradients(case: LayerCase) -> None:
    layer = case.ours()
    single = tree.unflatten(tree.flatten(layer)[1], [leaf.astype(np.float32) for leaf in leaves(layer)])
    x = case.x.astype(np.float32) if case.x.dtype.kind == "f" else case.x
    value, gradient = bl.value_and_grad(lambda layer, x: np.sum(layer(x) ** 2))(single, x)
    assert {a.dtype for a in (value, *leaves(gradient))} == {np.dtype(np.float32)}
    assert_close(value, np.sum(layer(case.x) ** 2), 1e-4)


def test_gpt_has_the_parameters_of_the_paper() -> None:
    """46,337: no bias in qkv, one everywhere else; 432 more with one there."""
    assert nn.count(nn.GPT(key=KEY)) == 46_337
    assert nn.count(nn.GPT(key=KEY, qkv_bias=True)) == 46_337 + 6 * 72


def test_initial_layers_are_distributed_as_torchs() -> None:
    """The same distributions: bounds and deviations of large layers."""
    torch = torch_or_skip()
    ours, theirs = nn.Linear(400, 300, key=KEY), torch.nn.Linear(400, 300)
    for a, b in ((ours.weight, theirs.weight), (ours.bias, theirs.bias)):
        assert np.abs(a).max() == pytest.approx(b.abs().max().item(), rel=0.02)
        assert a.std() == pytest.approx(b.std().item(), rel=0.08)
    assert nn.Embedding(300, 200, key=KEY).weight.std() == pytest.approx(1, rel=0.02)
    for norm in (nn.LayerNorm(5), nn.RMSNorm(5)):
        np.testing.assert_array_equal(norm.weight, 1)


def test_parts_of_a_layer_start_differently_and_the_key_decides() -> None:
    one, same, other = (nn.GPT(key=bl.random.key(k)) for k in (1, 1, 2))
    flat = [leaf.ravel() for leaf in leaves(one) if leaf.std() > 0]
    assert len({leaf[0].item() for leaf in flat}) == len(flat)
    assert all(np.array_equal(a, b) for a, b in zip(leaves(one), leaves(same), strict=True))
    assert not np.array_equal(one.head.weight, other.head.weight)


def test_the_future_is_hidden() -> None:
    gpt = nn.GPT(key=KEY, dtype=np.float64)
    text = np.arange(8)
    changed = np.where(text < 5, text, 60)
    before, after = gpt(text), gpt(changed)
    np.testing.assert_array_equal(before[:5], after[:5])
    assert np.all(np.any(before[5:] != after[5:], axis=1))


def test_a_captured_layer_that_is_replaced_is_seen() -> None:
    layer = nn.Linear(2, 1, key=KEY)
    f = bl.jit(lambda x: 1.0 * layer(x))
    x = np.ones(2, np.float32)
    before = f(x)
    layer = layer.replace(bias=layer.bias + 1)
    np.testing.assert_allclose(f(x), before + 1)


def test_replace() -> None:
    layer = nn.Linear(2, 3, key=KEY)
    assert layer.replace(bias=None).bias is None
    assert layer.bias is not None
    with pytest.raises(ArgumentError, match=r"Linear has no field wieght. Its fields are weight, bias"):
        layer.replace(wieght=0)


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda: nn.Linear(0, 2, key=KEY), ArgumentError, "inputs=0 must be a positive integer"),
        (lambda: nn.Linear(2, 2, key=None), ArgumentError, "it needs a key: key=bl.random.key(0)"),
        (lambda: nn.Linear(2, 2, key=0), ArgumentError, "a key is a uint64 array of shape (2,), got int64"),
        (lambda: nn.Linear(2, 2.0, key=KEY), ArgumentError, "outputs=2.0 must be"),
        (lambda: nn.Linear(2, 2, key=KEY, dtype=np.int32), DTypeError, "float32 or float64, got int32"),
        (lambda: nn.Linear(3, 2, key=KEY)(np.ones(4)), ShapeError, "expects x of shape (..., 3), got (4,)"),
        (lambda: nn.Linear(3, 2, key=KEY)(1.0), ShapeError, "expects x of shape (..., 3), got ()"),
        (lambda: nn.Linear(3, 2, key=KEY)(np.ones(3)), DTypeError, "parameters of float32, got x of float64"),
        (lambda: nn.LayerNorm(3)(np.ones(2)), ShapeError, "LayerNorm expects x of shape (..., 3), got (2,)"),
        (lambda: nn.Embedding(3, 2, key=KEY)(np.ones(3)), DTypeError, "expects integers as index, got float64"),
        (lambda: nn.MLP([3], key=KEY), ArgumentError, "names no layer"),
        (lambda: nn.MLP([3, 1], key=KEY, activation="rleu"), ArgumentError, "'rleu' is unknown. Use one of relu"),
        (lambda: nn.SelfAttention(8, 3, key=KEY), ArgumentError, "width=8 must be a multiple of heads=3"),
        (lambda: nn.SelfAttention(8, 2, key=KEY)(np.ones(8)), ShapeError, "(positions, width), got (8,)"),
        (lambda: nn.GPT(key=KEY)(np.arange(9)), ShapeError, "1 to 8 of them, got (9,)"),
        (lambda: nn.GPT(key=KEY)(np.zeros((2, 8), int)), ShapeError, "bl.vmap maps it over many"),
        (lambda: nn.Dropout(1.0), ArgumentError, "below 1"),
    ],
)
def test_layers_with_wrong_arguments_raise(call: Any, kind: type[Exception], words: str) -> None:
    with pytest.raises(kind, match=re.escape(words)):
        call()
