"""Schedule-free optimizers: the mean that a run gives, step for step as the authors'."""

import numpy as np
import pytest

from burlab.errors import ArgumentError
from burlab.optim import ScheduleFreeAdamW, ScheduleFreeSGD
from tests.optim.paths import assert_same_path, burlab_path, torch_path

ROWS = [
    (ScheduleFreeSGD(1e-3), "SGDScheduleFreeReference", {"lr": 1e-3}),
    (
        ScheduleFreeSGD(2e-3, mu=0.7, r=0.5, power=1.0, warmup=20),
        "SGDScheduleFreeReference",
        {"lr": 2e-3, "momentum": 0.7, "r": 0.5, "weight_lr_power": 1.0, "warmup_steps": 20},
    ),
    (ScheduleFreeAdamW(0.01), "AdamWScheduleFreeReference", {"lr": 0.01}),
    (
        ScheduleFreeAdamW(0.02, b1=0.8, b2=0.95, eps=0.1, weight_decay=0.1, r=0.5, power=1.0, warmup=20),
        "AdamWScheduleFreeReference",
        {"lr": 0.02, "betas": (0.8, 0.95), "eps": 0.1, "weight_decay": 0.1, "r": 0.5, "weight_lr_power": 1.0,
         "warmup_steps": 20},
    ),
]  # fmt: skip


@pytest.mark.parametrize("problem", ["quadratic", "rosenbrock", "logistic"])
@pytest.mark.parametrize(("rule", "name", "options"), ROWS, ids=str)
def test_the_mean_is_the_authors(rule, name, options, problem):
    found = pytest.importorskip("schedulefree", reason="schedulefree, the authors' code, is not installed: make peers")
    means = []

    def make(_optim):
        def optimizer(xs):
            made = getattr(found, name)(xs, **options)
            made.train()
            return made

        return optimizer

    def keep(optimizer, _t):
        means.append(next(iter(optimizer.state.values()))["x"].detach().numpy().copy())

    points = torch_path(make, problem, np.float64, after=keep)
    assert_same_path(burlab_path(rule, problem, np.float64), np.array(means), np.float64)
    assert np.abs(points[-1] - means[-1]).max() > 1e-6


@pytest.mark.parametrize("kind", [ScheduleFreeSGD, ScheduleFreeAdamW])
def test_a_warmup_that_is_none_is_named(kind):
    with pytest.raises(ArgumentError, match="warmup=-1"):
        kind(warmup=-1)
