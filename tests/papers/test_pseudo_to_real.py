"""The page of Pseudo-to-Real: both stages are those of a GPT of PyTorch, and its claim holds."""

import numpy as np
import pytest

import burlab as bl
from tests.engines import torch_or_skip
from tests.nn import torch_gpt
from tests.papers.pages import method, whole

STEPS, RATE = 20, 0.1


def test_both_stages_are_those_of_torch():
    t, page = torch_or_skip(), method("pseudo_to_real")
    tokens, following = page.text[:6], page.following[:6]
    sizes = (len(page.data.vocabulary), page.context, page.width, 4)
    t.manual_seed(0)
    module, single = (torch_gpt.make(t, *sizes, layers, qkv_bias=False).double() for layers in (page.depth, 1))
    for block in module.blocks:
        block.load_state_dict(single.blocks[0].state_dict())
    for name in ("tokens", "positions", "norm", "head"):
        getattr(module, name).load_state_dict(getattr(single, name).state_dict())
    start = bl.nn.from_torch(page.model(0, 1, np.float64), single.state_dict())
    pseudo = bl.minimize(bl.FiniteSum(page.pseudo_loss, (tokens, following)), start, bl.optim.GD(RATE), steps=STEPS)
    real_problem = bl.FiniteSum(page.real_loss, (tokens, following))
    real = bl.minimize(real_problem, page.delinked(pseudo.x), bl.optim.GD(RATE), steps=STEPS)
    for stage, run in (("pseudo", pseudo), ("real", real)):
        for _ in range(STEPS):
            module.zero_grad()
            logits = module(t.tensor(tokens).long())
            t.nn.functional.cross_entropy(logits.flatten(0, 1), t.tensor(following).long().flatten()).backward()
            with t.no_grad():
                for names in zip(*(dict(block.named_parameters()).items() for block in module.blocks), strict=True):
                    total = sum(p.grad for _, p in names)
                    for _, p in names:
                        p.sub_(RATE * (total if stage == "pseudo" else p.grad))
                for name, p in module.named_parameters():
                    p.sub_(RATE * p.grad * (not name.startswith("blocks")))
        found = page.delinked(run.x) if stage == "pseudo" else run.x
        wanted = bl.nn.from_torch(found, module.state_dict())
        for got, array in zip(bl.tree.leaves(found), bl.tree.leaves(wanted), strict=True):
            np.testing.assert_allclose(got, array, rtol=1e-9, atol=1e-12)


def test_the_loss_is_the_same_at_the_switch():
    page = method("pseudo_to_real")
    shared, rows = page.model(3, 1), (page.text[:5], page.following[:5])
    before, after = bl.FiniteSum(page.pseudo_loss, rows), bl.FiniteSum(page.real_loss, rows)
    assert before.value(shared) == after.value(page.delinked(shared))


@pytest.mark.full
def test_delinked_layers_end_better_than_shared_ones_and_close_to_real_ones():
    page = whole("pseudo_to_real")
    pseudo, real, both = (values[:, -1] for values in page.trials.values())
    assert np.all(both < pseudo - 0.02)
    assert np.all(np.abs(both - real) < 0.1)
    assert np.all(real < pseudo)
