"""Models of every kind: values, gradients and both orders of the Hessian-vector product, against JAX and PyTorch."""

from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.graph import tree
from tests.engines import GEARS, assert_close, jax_or_skip, on, torch_or_skip
from tests.transforms.models import MODELS, lstm, mixture, mlp


def direction(parameters: Any) -> Any:
    rng = np.random.default_rng(5)
    flat, structure = tree.flatten(parameters)
    return tree.unflatten(structure, [rng.normal(size=np.shape(leaf)) for leaf in flat])


def inner(np: Any, a: Any, b: Any) -> Any:
    return sum(np.sum(x * y) for x, y in zip(tree.flatten(a)[0], tree.flatten(b)[0], strict=True))


@pytest.mark.parametrize("name", MODELS)
def test_models_equal_jaxs(name: str) -> None:
    jax = jax_or_skip()
    model, p, data = MODELS[name]
    v = direction(p)

    def everything(b: Any, np: Any, f: Any) -> Any:
        """Value, gradient, forward over reverse, reverse over reverse."""

        def run(p: Any, v: Any, *data: Any) -> Any:
            by = lambda q: f(np, q, *data)  # noqa: E731
            gradient, forward = b.jvp(b.grad(by), (p,), (v,))
            return by(p), gradient, forward, b.grad(lambda q: inner(np, b.grad(by)(q), v))(p)

        return run

    wanted = jax.jit(everything(jax, jax.numpy, model))(p, v, *data)
    for gear in GEARS:
        got = bl.compile(everything(bl, np, model), p, v, *data, gear=gear)(p, v, *data)
        assert_close(got, wanted, 1e-11)


@pytest.mark.parametrize("name", MODELS)
def test_models_third_order(name: str) -> None:
    """The derivative of v' H v along v, against differences of v' H v."""
    model, p, data = MODELS[name]
    v = direction(p)
    flat, structure = tree.flatten(p)
    moves = tree.flatten(v)[0]

    def curvature(p: Any, v: Any) -> Any:
        return inner(np, bl.jvp(bl.grad(lambda q: model(np, q, *data)), (p,), (v,))[1], v)

    k = bl.compile(curvature, p, v, gear="replay")
    third = bl.compile(lambda p, v: bl.jvp(lambda p: curvature(p, v), (p,), (v,))[1], p, v, gear="replay")(p, v)
    moved = [k(tree.unflatten(structure, [x + h * u for x, u in zip(flat, moves, strict=True)]), v)
             for h in (-2e-4, -1e-4, 1e-4, 2e-4)]  # fmt: skip
    np.testing.assert_allclose(third, (moved[0] - 8 * moved[1] + 8 * moved[2] - moved[3]) / 1.2e-3, rtol=1e-5)


def test_models_in_float32() -> None:
    model, p, data = MODELS["gpt"]
    flat, structure = tree.flatten(p)
    single = tree.unflatten(structure, [leaf.astype(np.float32) for leaf in flat])
    value, gradient = bl.value_and_grad(on(np, model))(single, *data)
    wanted = bl.value_and_grad(on(np, model))(p, *data)
    assert {g.dtype for g in tree.flatten(gradient)[0]} == {np.dtype(np.float32)}
    assert_close((value, gradient), wanted, 1e-4)


def test_per_sample_gradients_of_the_mlp() -> None:
    """vmap over samples equals one gradient per sample, and their mean the batch's."""
    _, p, (tokens, targets) = MODELS["mlp"]
    one = bl.grad(lambda p, t, y: mlp(np, p, t[None], y[None]))
    rows = bl.vmap(one, (None, 0, 0))(p, tokens, targets)
    for k in range(len(targets)):
        assert_close({n: g[k] for n, g in rows.items()}, one(p, tokens[k], targets[k]))
    assert_close({n: g.mean(0) for n, g in rows.items()}, bl.grad(on(np, mlp))(p, tokens, targets))


# PyTorch, in its own words.


def torch_mlp(torch: Any, p: Any, tokens: Any, targets: Any) -> Any:
    h = torch.tanh(p["embedding"][tokens].flatten(1) @ p["w1"] + p["b1"])
    return torch.nn.functional.cross_entropy(h @ p["w2"] + p["b2"], targets)


def torch_lstm(torch: Any, p: Any, xs: Any) -> Any:
    h = c = torch.zeros(5, dtype=torch.float64)
    for x in xs:
        i, f, o, g = torch.chunk(x @ p["wx"] + h @ p["wh"] + p["b"], 4)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        h = torch.sigmoid(o) * torch.tanh(c)
    return ((h @ p["out"]) ** 2).sum()


def torch_mixture(torch: Any, p: Any, points: Any) -> Any:
    scaled = (points[:, None, :] - p["means"]) * torch.exp(-p["logs"])
    terms = p["weights"] - p["logs"].sum(-1) - 0.5 * (scaled**2).sum(-1)
    return -torch.logsumexp(terms, -1).sum() + len(points) * torch.logsumexp(p["weights"], 0)


TORCHS = [("mlp", mlp, torch_mlp), ("lstm", lstm, torch_lstm), ("mixture", mixture, torch_mixture)]


@pytest.mark.parametrize(("name", "ours", "theirs"), TORCHS)
def test_models_equal_torchs(name: str, ours: Any, theirs: Any) -> None:
    torch = torch_or_skip()
    _, p, data = MODELS[name]
    leaves = {k: torch.tensor(a, requires_grad=True) for k, a in p.items()}
    value = theirs(torch, leaves, *map(torch.tensor, data))
    slopes = torch.autograd.grad(value, list(leaves.values()), create_graph=True)
    v = direction(p)
    along = sum((g * torch.tensor(v[k])).sum() for k, g in zip(leaves, slopes, strict=True))
    curved = torch.autograd.grad(along, list(leaves.values()))

    got, gradient = bl.value_and_grad(on(np, ours))(p, *data)
    product = bl.hvp(on(np, ours))(p, *data, v)
    np.testing.assert_allclose(got, value.item(), rtol=1e-12)
    for k, g, h in zip(leaves, slopes, curved, strict=True):
        assert_close(gradient[k], g.detach().numpy(), 1e-11)
        assert_close(product[k], h.numpy(), 1e-11)
