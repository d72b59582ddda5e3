"""The page of ProxylessNAS: its search is a loop in torch, and found paths beat random ones."""

from typing import Any

import numpy as np
import pytest

import burlab as bl
from tests.engines import torch_or_skip
from tests.papers.pages import method, whole
from tests.run.test_sampler import batches

STEPS, BATCH, SEED = 20, 6, 3
RATE, MU, STEP = 0.05, 0.9, 1e-2
START = np.array([[0.1, 0.0, -0.2, 0.4], [0.3, -0.1, 0.0, -0.5]])


def operations(edge: dict[str, Any], h: Any) -> list[Any]:
    """The results of the four operations, as tensors, in the page's order."""
    image = h.reshape(8, 8)
    four = (edge["rows"] @ image, image @ edge["columns"], h * edge["factors"][:, 0], h @ edge["dense"])
    return [result.reshape(64).relu() for result in four]


def order(key: Any, alpha: Any) -> Any:
    """The operations by scores of Gumbel, best first."""
    return np.argsort(alpha - np.log(-np.log(np.asarray(bl.random.uniform(key, (4,))))))[::-1]


def pair(key: Any, alpha: Any) -> tuple[int, int]:
    """Two operations, the active one first, which is drawn by the probabilities of the two."""
    keys = np.asarray(bl.random.split(key))
    a, b = (int(k) for k in order(keys[0], alpha)[:2])
    share = np.exp(alpha[a]) / (np.exp(alpha[a]) + np.exp(alpha[b]))
    return (a, b) if float(bl.random.uniform(keys[1])) < share else (b, a)


def slope_of_weights(torch: Any, w: list[Any], alpha: Any, sample: Any, key: Any) -> list[Any]:
    """The gradient of a sample by the weights of its path; the other operations have none."""
    h, label = sample
    for edge, row, own in zip(edges(w), alpha, np.asarray(bl.random.split(key)), strict=True):
        h = operations(edge, h)[order(own, row)[0]]
    loss = torch.nn.functional.cross_entropy(h @ w[-1], label)
    found = torch.autograd.grad(loss, w, allow_unused=True)
    return [torch.zeros_like(leaf) if g is None else g for leaf, g in zip(w, found, strict=True)]


def slope_of_alpha(torch: Any, w: list[Any], alpha: Any, sample: Any, key: Any) -> Any:
    """The sum over both paths j of dL/dg_j p_j (1[i = j] - p_i)."""
    (h, label), pairs, gates = sample, [], []
    for edge, row, own in zip(edges(w), alpha, np.asarray(bl.random.split(key)), strict=True):
        pairs.append(pair(own, row))
        gates.append(torch.tensor([1.0, 0.0], dtype=torch.float64, requires_grad=True))
        active = operations(edge, h)[pairs[-1][0]]
        other = operations(edge, h)[pairs[-1][1]].detach()
        h = gates[-1][0] * active + gates[-1][1] * other
    slopes = torch.autograd.grad(torch.nn.functional.cross_entropy(h @ w[-1], label), gates)
    out = np.zeros_like(alpha)
    for e, (chosen, slope) in enumerate(zip(pairs, slopes, strict=True)):
        p = np.exp(alpha[e, list(chosen)])
        p /= p.sum()
        for i, name in enumerate(chosen):
            out[e, name] = sum(float(slope[j]) * p[j] * ((i == j) - p[i]) for j in range(2))
    return out


def edges(w: list[Any]) -> list[dict[str, Any]]:
    """The weights of both edges from leaves: columns, dense, factors and rows of two edges each, then the head."""
    return [dict(zip(("columns", "dense", "factors", "rows"), (leaf[e] for leaf in w), strict=False)) for e in (0, 1)]


def by_torch(page: Any) -> tuple[list[Any], Any]:
    """The weights and alpha after steps of both in turns."""
    torch = torch_or_skip()
    w = [torch.tensor(leaf, requires_grad=True) for leaf in bl.tree.leaves(page.start(0))]
    alpha, velocity = START.copy(), [torch.zeros_like(leaf) for leaf in w]
    m = v = np.zeros_like(alpha)
    for t, rows in enumerate(batches("reshuffle", 650, BATCH, STEPS, seed=SEED)):
        key = bl.random.fold_in(bl.random.key(SEED), t)
        keys = [bl.random.fold_in(key, place) for place in range(BATCH)]
        part = (page.train, page.validation)[t % 2]
        samples = [(torch.tensor(page.x[part][r]), torch.tensor(int(page.y[part][r]))) for r in rows]
        draws = list(zip(samples, keys, strict=True))
        if part is page.train:
            found = [slope_of_weights(torch, w, alpha, sample, own) for sample, own in draws]
            velocity = [MU * old + sum(g) / BATCH for old, g in zip(velocity, zip(*found, strict=True), strict=True)]
            w = [(at - RATE * way).detach().requires_grad_() for at, way in zip(w, velocity, strict=True)]
            continue
        g, k = np.mean([slope_of_alpha(torch, w, alpha, sample, own) for sample, own in draws], axis=0), t // 2 + 1
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g**2
        alpha = alpha - STEP * (m / (1 - 0.9**k)) / (np.sqrt(v / (1 - 0.999**k)) + 1e-8)
    return [leaf.detach().numpy() for leaf in w], alpha


@pytest.mark.full
def test_the_search_is_a_loop_with_gates_by_hand():
    page = method("proxyless_nas")
    run = bl.minimize(
        page.search, {"w": page.start(0), "alpha": START}, page.turns, batch=BATCH, seed=SEED, steps=STEPS
    )
    w, alpha = by_torch(page)
    np.testing.assert_allclose(run.x["alpha"], alpha, rtol=1e-9)
    for got, wanted in zip(bl.tree.leaves(run.x["w"]), w, strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-9, atol=1e-12)


@pytest.mark.full
def test_found_paths_are_better_than_random_ones():
    page = whole("proxyless_nas")
    assert np.all(page.trials["found"][:, -1] > page.trials["random"][:, -1] + 0.01)
    assert page.bytes_of["two paths"] < page.bytes_of["all four"]
