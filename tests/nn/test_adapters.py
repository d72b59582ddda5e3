"""LoRA and PaCA: equal to the model at first, to the full gradient in parts, and to torch step for step."""

import re
from typing import Any, NamedTuple

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ArgumentError
from burlab.graph import tree
from burlab.optim import GD, Adam
from tests.engines import torch_or_skip
from tests.run.test_sampler import batches

nn = bl.nn
RNG = np.random.default_rng(7)
KEY = bl.random.key(4)
X, Y = RNG.normal(size=(24, 6)), RNG.normal(size=(24, 2))
MLP = nn.MLP([6, 5, 2], key=KEY, activation="tanh", dtype=np.float64)
PROBLEM = bl.FiniteSum(lambda model, x, y: nn.mse(model(x), y), (X, Y))
STEPS = 6


def perturbed(model: Any) -> Any:
    """The model with adapters that are no longer zero."""
    leaves, structure = tree.flatten(model)
    names = tree.dotted_names(model)
    new = [
        x + RNG.normal(size=x.shape).astype(x.dtype) * nn.is_adapter(name)
        for x, name in zip(leaves, names, strict=True)
    ]
    return tree.unflatten(structure, new)


@pytest.mark.parametrize("adapt", [nn.lora, nn.paca])
def test_the_model_is_what_it_was_and_is_merged(adapt: Any) -> None:
    gpt = nn.GPT(11, 4, 8, 2, 1, key=KEY, dtype=np.float64)
    tokens = np.array([3, 1, 9])
    adapted = adapt(gpt, rank=2, key=KEY)
    assert np.array_equal(bl.jit(lambda m: m(tokens))(adapted), bl.jit(lambda m: m(tokens))(gpt))
    again = nn.merge(adapted)
    for a, b in zip(tree.flatten(again)[0], tree.flatten(gpt)[0], strict=True):
        assert np.array_equal(a, b)
    adapted = perturbed(adapted)
    np.testing.assert_allclose(nn.merge(adapted)(tokens), adapted(tokens), rtol=1e-12, atol=1e-12)
    assert not np.allclose(adapted(tokens), gpt(tokens))
    assert str(tree.flatten(nn.merge(adapted))[1]) == str(tree.flatten(gpt)[1])


def test_an_update_has_the_rank_of_lora_and_the_rows_of_paca() -> None:
    whole = MLP.layers[0].weight
    low = nn.merge(perturbed(nn.lora(MLP, rank=2, key=KEY))).layers[0].weight - whole
    assert np.linalg.matrix_rank(low, tol=1e-12) == 2
    partial = perturbed(nn.paca(MLP, rank=2, key=KEY))
    columns = list(partial.layers[0].columns)
    others = np.delete(nn.merge(partial).layers[0].weight, columns, axis=0)
    assert np.array_equal(others, np.delete(whole, columns, axis=0))
    assert len(set(columns)) == 2


def test_gradients_are_those_of_the_weight_in_part() -> None:
    loss = bl.grad(lambda m: nn.mse(m(X[0]), Y[0]))
    low, partial = (perturbed(f(MLP, rank=2, alpha=3.0, key=KEY)) for f in (nn.lora, nn.paca))
    for k in range(2):
        full, found = loss(nn.merge(low)).layers[k].weight, loss(low).layers[k]
        a, b = low.layers[k].lora_A, low.layers[k].lora_B
        np.testing.assert_allclose(found.lora_A, 1.5 * full @ b.T, rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(found.lora_B, 1.5 * a.T @ full, rtol=1e-12, atol=1e-14)
        full, found = loss(nn.merge(partial)).layers[k].weight, loss(partial).layers[k]
        np.testing.assert_allclose(found.paca_weight, 1.5 * full[list(found.columns)], rtol=1e-12, atol=1e-14)


def test_paca_of_all_columns_is_training_of_the_weight() -> None:
    wide = nn.Linear(6, 6, key=KEY, dtype=np.float64, bias=False)
    targets = np.concatenate([Y, Y, Y], axis=1)
    problem = bl.FiniteSum(lambda layer, x, y: nn.mse(layer(x), y), (X, targets))
    whole = bl.minimize(problem, wide, GD(0.1), steps=STEPS)
    part = bl.minimize(problem, nn.paca(wide, rank=6, key=KEY), GD(0.1), steps=STEPS, trainable=nn.is_adapter)
    np.testing.assert_allclose(nn.merge(part.x).weight, whole.x.weight, rtol=1e-12)


def test_lora_under_adam_takes_the_steps_of_torch() -> None:
    torch = torch_or_skip()
    model = nn.lora(MLP, rank=2, alpha=4.0, key=KEY)
    run = bl.minimize(PROBLEM, model, Adam(0.01), batch=4, seed=3, steps=STEPS, trainable=nn.is_adapter)
    pairs = [[torch.tensor(p, requires_grad=True) for p in (m.lora_A, m.lora_B)] for m in model.layers]
    optimizer = torch.optim.Adam([p for pair in pairs for p in pair], lr=0.01)
    for i in batches("reshuffle", len(X), 4, STEPS, seed=3):
        h = torch.tensor(X[i])
        for k, (layer, (a, b)) in enumerate(zip(MLP.layers, pairs, strict=True)):
            h = (torch.tanh(h) if k else h) @ (torch.tensor(layer.weight) + 2.0 * a @ b) + torch.tensor(layer.bias)
        optimizer.zero_grad()
        ((h - torch.tensor(Y[i])) ** 2).mean().backward()
        optimizer.step()
    for mine, (a, b) in zip(run.x.layers, pairs, strict=True):
        np.testing.assert_allclose(mine.lora_A, a.detach().numpy(), rtol=1e-9)
        np.testing.assert_allclose(mine.lora_B, b.detach().numpy(), rtol=1e-9)


@pytest.mark.parametrize("adapt", [nn.lora, nn.paca])
def test_a_run_keeps_nothing_of_the_frozen_and_is_reproduced(adapt: Any, tmp_path: Any) -> None:
    model = adapt(MLP, rank=2, key=KEY)
    run = bl.minimize(PROBLEM, model, Adam(0.01), batch=4, steps=STEPS, trainable=nn.is_adapter)
    adapters = sum(
        x.size for x, n in zip(tree.flatten(model)[0], tree.dotted_names(model), strict=True) if nn.is_adapter(n)
    )
    assert sum(np.size(x) for x in tree.flatten(run.state)[0]) <= 2 * adapters + 4
    assert np.array_equal(run.x.layers[0].base.weight, MLP.layers[0].weight)
    end = tree.flatten(run.x)[0]
    fork = run.fork()
    run.seek(2)
    run.seek(STEPS)
    run.save(tmp_path / "run")
    again = bl.load_run(tmp_path / "run", (X, Y), like=model)
    for other in (run, fork, again):
        assert all(map(np.array_equal, tree.flatten(other.x)[0], end))


def test_the_backward_pass_of_paca_keeps_less_of_what_enters() -> None:
    model = nn.MLP([256, 256, 256, 256], key=KEY)
    x = np.ones((64, 256), np.float32)

    def activations(adapted: Any) -> int:
        leaves, structure = tree.flatten(adapted)
        names = tree.dotted_names(adapted)
        trained = tuple(k for k, name in enumerate(names) if nn.is_adapter(name))
        kernel = bl.compile(
            lambda *leaves: np.sum(tree.unflatten(structure, leaves)(x) ** 2), *leaves, argnums=trained, gear="replay"
        )
        kernel.value_and_grad(*leaves)
        return kernel.memory["activations"]

    assert activations(nn.paca(model, rank=4, key=KEY)) < activations(nn.lora(model, rank=4, key=KEY))


class Pair(NamedTuple):
    first: Any
    second: Any


def test_targets_are_ends_of_paths_or_a_predicate() -> None:
    models = {"pair": Pair(nn.Linear(3, 3, key=KEY), [nn.Linear(3, 3, key=KEY)]), "mlp": MLP}
    kinds = [type(part).__name__ for part in nn.lora(models, rank=1, targets="1.0", key=KEY)["pair"].second]
    assert kinds == ["LoRALinear"]
    some = nn.paca(models, rank=1, targets=lambda path: path.startswith("mlp"), key=KEY)
    assert isinstance(some["pair"].first, nn.Linear)
    assert isinstance(some["mlp"].layers[1], nn.PaCALinear)
    both = nn.lora(some, rank=1, key=KEY)
    assert isinstance(both["pair"], Pair)
    assert isinstance(both["mlp"].layers[1], nn.PaCALinear)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"targets": "qkv"}, "targets='qkv' chooses no layer of a MLP: its Linear layers are layers.0, layers.1."),
        ({"rank": 0}, "rank=0 is not a whole number"),
        ({"rank": 3}, "rank=3 is more than the weight of layers.1 has, (5, 2)."),
        ({"alpha": np.inf}, "alpha"),
        ({"key": None}, "needs a key"),
    ],
)
def test_adapters_with_wrong_targets_raise(options: dict[str, Any], words: str) -> None:
    for adapt in (nn.lora, nn.paca):
        with pytest.raises(ArgumentError, match=re.escape(words)):
            adapt(MLP, **{"rank": 1, "key": KEY} | options)
