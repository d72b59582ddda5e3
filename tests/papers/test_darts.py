"""The page of DARTS and DASS: its search is a loop in torch, and sparse operations belong in a sparse search."""

from typing import Any

import numpy as np
import pytest

import burlab as bl
from tests.engines import torch_or_skip
from tests.papers.pages import method, whole
from tests.run.test_sampler import batches

STEPS, KEEP, BATCH = 20, 100, 8
RATE, MU, XI = 0.05, 0.9, 0.05
START = {"alpha": np.array([[0.1, 0.0, -0.2], [0.3, -0.1, 0.0]])}


def largest(torch: Any, w: Any) -> Any:
    """The largest entries of w, with the derivative of w."""
    small = torch.argsort(w.detach().abs().ravel())[: max(w.numel() - KEEP, 0)]
    masked = w.detach().clone()
    masked.view(-1)[small] = 0.0
    return w + (masked - w.detach())


def loss(torch: Any, w: list[Any], alpha: Any, images: Any, labels: Any) -> Any:
    """The mean cross-entropy. w: dense and separable of each edge, then the head, in the order of leaves."""
    a: Any = torch.as_tensor(images)
    for dense, separable, row in ((w[0], w[1], alpha[0]), (w[2], w[3], alpha[1])):
        s = largest(torch, separable)
        rows = s[:8] @ a.reshape(-1, 8, 8)
        found = [rows.reshape(-1, 64), (rows @ s[8:]).reshape(-1, 64), a @ largest(torch, dense)]
        a = sum((share * one.relu() for share, one in zip(row.softmax(0), found, strict=True)), torch.zeros(()))
    return torch.nn.functional.cross_entropy(a @ w[4], torch.as_tensor(labels).long())


def by_torch(page: Any, orders: list[Any]) -> tuple[Any, Any]:
    """Steps of w and alpha in turns; torch derives through the step of w."""
    torch = torch_or_skip()
    w = [torch.tensor(leaf, requires_grad=True) for leaf in bl.tree.leaves(page.start(0))]
    alpha = torch.tensor(START["alpha"], requires_grad=True)
    velocity, m, v = [torch.zeros_like(leaf) for leaf in w], 0.0, 0.0
    for t, rows in enumerate(orders):
        train = page.x[page.train][rows], page.y[page.train][rows]
        slopes = torch.autograd.grad(loss(torch, w, alpha, *train), w, create_graph=t % 2 == 1)
        if t % 2 == 0:
            velocity = [MU * old + slope for old, slope in zip(velocity, slopes, strict=True)]
            w = [(at - RATE * way).detach().requires_grad_() for at, way in zip(w, velocity, strict=True)]
            continue
        held = page.x[page.validation][rows], page.y[page.validation][rows]
        ahead = [at - XI * slope for at, slope in zip(w, slopes, strict=True)]
        (g,), k = torch.autograd.grad(loss(torch, ahead, alpha, *held), [alpha]), t // 2 + 1
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g**2
        step = 3e-3 * (m / (1 - 0.9**k)) / ((v / (1 - 0.999**k)).sqrt() + 1e-8)
        alpha = (alpha - step).detach().requires_grad_()
    return [leaf.detach().numpy() for leaf in w], alpha.detach().numpy()


@pytest.mark.full
def test_the_search_is_a_loop_in_torch():
    page = method("darts")
    x0 = {"w": page.start(0), **START}
    run = bl.minimize(page.search(KEEP), x0, page.rule(XI), batch=BATCH, seed=3, steps=STEPS)
    w, alpha = by_torch(page, list(batches("reshuffle", 650, BATCH, STEPS, seed=3)))
    np.testing.assert_allclose(run.x["alpha"], alpha, rtol=1e-9)
    for got, wanted in zip(bl.tree.leaves(run.x["w"]), w, strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-9, atol=1e-12)


@pytest.mark.full
def test_a_sparse_search_finds_better_sparse_networks():
    trials = whole("darts").trials
    assert np.all(trials["DASS"][:, :2] > trials["DARTS, then sparse"][:, :2] + 0.03)
    assert np.all(trials["DARTS, then sparse"][:, 2] > 0.96)
