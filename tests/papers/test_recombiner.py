"""The page of RECOMBINER: its training is one in torch, its coding the formula draw by draw, and its claim holds."""

import math
from typing import Any

import numpy as np
import pytest

import burlab as bl
from tests.engines import torch_or_skip
from tests.papers.pages import method, whole
from tests.run.test_sampler import batches

STEPS, BATCH, SEED, RATE, COUNT = 20, 4, 5, 0.05, 6


def tensor(torch: Any, value: Any, learns: bool) -> Any:
    return torch.tensor(np.array(value), dtype=torch.float64, requires_grad=learns)


def loss(torch: Any, page: Any, x: dict[str, Any], k: int, noise: Any) -> Any:
    """The error of a picture and its divergence, with torch's own KL."""
    mu, p_mu = x["mu"][k], x["p_mu"]
    scale, p_scale = (torch.nn.functional.softplus(s) / 6 for s in (x["s"][k], x["p_s"]))
    h = torch.where(x["done"] > 0, x["sent"][k], mu + scale * torch.tensor(noise))
    first, second = h[: page.sizes[0]] @ x["A0"], h[page.sizes[0] :] @ x["A1"]
    units = torch.sin(10 * torch.tensor(page.places) @ first.reshape(3, -1))
    error = ((units @ second[:-1] + second[-1] - torch.tensor(page.pictures[k])) ** 2).mean()
    normal = torch.distributions.Normal
    kl = torch.distributions.kl_divergence(normal(mu, scale), normal(p_mu, p_scale)) / math.log(2)
    return error + (torch.where(x["done"] > 0, 0.0, x["beta"][k]) * kl).sum()


@pytest.mark.full
@pytest.mark.parametrize("learns", [True, False])
def test_steps_are_those_of_torch(learns: bool):
    torch, page = torch_or_skip(), method("recombiner")
    begin, rng = page.start(1, COUNT), np.random.default_rng(0)
    begin["beta"] = rng.uniform(1e-4, 1e-2, (COUNT, page.latents))
    begin["done"][[2, 7, 30]] = 1.0
    begin["sent"] = rng.normal(size=(COUNT, page.latents))
    of = page.problem(page.pictures[:COUNT], float(learns), float(learns))
    got = bl.minimize(of, begin, bl.optim.GD(RATE), batch=BATCH, seed=SEED, steps=STEPS).x
    free = {"mu": begin["q"]["mu"], "s": begin["q"]["s"]}
    shared = {"p_mu": begin["p"]["mu"], "p_s": begin["p"]["s"], "A0": begin["A"][0], "A1": begin["A"][1]}
    x = {name: tensor(torch, value, True) for name, value in free.items()}
    x |= {name: tensor(torch, value, learns) for name, value in shared.items()}
    x |= {name: tensor(torch, begin[name], False) for name in ("done", "sent", "beta")}
    moving = [leaf for leaf in x.values() if leaf.requires_grad]
    for t, rows in enumerate(batches("reshuffle", COUNT, BATCH, STEPS, seed=SEED)):
        key = bl.random.fold_in(bl.random.key(SEED), t)
        noises = [np.asarray(bl.random.normal(bl.random.fold_in(key, i), (page.latents,))) for i in range(BATCH)]
        total: Any = sum(loss(torch, page, x, int(k), noise) for k, noise in zip(rows, noises, strict=True))
        for leaf, slope in zip(moving, torch.autograd.grad(total / BATCH, moving), strict=True):
            leaf.data -= RATE * slope
    results = {"mu": got["q"]["mu"], "s": got["q"]["s"], "p_mu": got["p"]["mu"], "p_s": got["p"]["s"]}
    results |= {"A0": got["A"][0], "A1": got["A"][1]}
    for name, value in results.items():
        np.testing.assert_allclose(value, x[name].detach().numpy(), rtol=1e-9, atol=1e-12, err_msg=name)


def test_the_number_that_is_sent_is_the_one_of_the_formula():
    page, rng = method("recombiner"), np.random.default_rng(2)
    p = {"mu": rng.normal(size=page.latents), "s": rng.normal(size=page.latents)}
    block = np.array([1, 5, 9])
    for trial in range(10):
        q = {"mu": p["mu"] + 0.1 * rng.normal(size=page.latents), "s": p["s"] - 1.5}
        key = bl.random.key(trial)
        noise = np.asarray(bl.random.normal(bl.random.fold_in(key, 0), (2**page.bits, 3)))
        uniform = np.asarray(bl.random.uniform(bl.random.fold_in(key, 1), (2**page.bits,)))
        best, number, gumbel = -math.inf, -1, math.inf
        for i, (row, u) in enumerate(zip(noise, uniform, strict=True)):
            gumbel, score = -math.log(-math.log(u) + math.exp(-gumbel)), 0.0
            for place, e in zip(block, row, strict=True):
                scales = [math.log1p(math.exp(w["s"][place])) / 6 for w in (q, p)]
                z = p["mu"][place] + scales[1] * e
                score += 0.5 * e**2 - 0.5 * ((z - q["mu"][place]) / scales[0]) ** 2 + math.log(scales[1] / scales[0])
            if score + gumbel > best:
                best, number = score + gumbel, i
        assert page.encoded(q, p, block, key) == number
        decoded = page.drawn(p, block, bl.random.fold_in(key, 0))[number]
        scale = np.log1p(np.exp(p["s"][block])) / 6
        np.testing.assert_allclose(decoded, p["mu"][block] + scale * noise[number], rtol=1e-12)


@pytest.mark.full
def test_a_learned_map_is_better_at_few_bits():
    page = whole("recombiner")
    with_map, without = page.trials.values()
    assert np.all(with_map[:, :2] > without[:, :2] + 0.2)
    assert page.equal
