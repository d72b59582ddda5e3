"""Every optimizer of the tables, on batches of a network's samples: going back, branches and files, bit for bit."""

import inspect

import numpy as np
import pytest

import burlab as bl
from burlab.experiments.optimizer_fields import with_fields
from burlab.optim import (
    GD,
    AdAdaGrad,
    Adam,
    CoordinateDescent,
    GaussNewton,
    LevenbergMarquardt,
    Newton,
    Optimizer,
    ScheduleFreeAdamW,
    ScheduleFreeSGD,
)
from burlab.optim.live_fields import live_fields
from burlab.run import Opener
from tests.optim.curvature_cases import OPTIMIZERS
from tests.optim.estimator_cases import ESTIMATORS
from tests.optim.federated_cases import FEDERATED
from tests.optim.optimizer_cases import CASES
from tests.optim.preconditioned_cases import PRECONDITIONED
from tests.optim.wrapper_cases import ADAPTIVE

STEPS, MIDDLE, EARLY = 23, 11, 4
_rng = np.random.default_rng(5)
DATA = (_rng.normal(size=(40, 4)), _rng.normal(size=(40, 3)))
START = {"b": np.zeros(3), "w": 0.3 * _rng.normal(size=(4, 3))}


def tenths(p):
    return bl.tree.map(lambda leaf: 0.1 * np.rint(10 * leaf), p)


RULES = {
    **{type(case.optimizer).__name__: case.optimizer for case in CASES},
    **OPTIMIZERS,
    **{type(rule).__name__: rule for rule in ADAPTIVE},
    **PRECONDITIONED,
    "ScheduleFreeAdamW": ScheduleFreeAdamW(0.02),
    "ScheduleFreeSGD": ScheduleFreeSGD(0.05, warmup=5),
    **ESTIMATORS,
    "CoordinateDescent": CoordinateDescent(0.05),
    "AdAdaGrad": AdAdaGrad(0.05, eta=3.0),
    "GaussNewton": GaussNewton(0.3),
    "LevenbergMarquardt": LevenbergMarquardt(factor=1.0),
    "clip_by_norm": bl.optim.clip_by_norm(GD(0.05), 1.0),
    "clip_by_value": bl.optim.clip_by_value(Adam(0.01), 0.3),
    "decoupled_weight_decay": bl.optim.decoupled_weight_decay(Adam(0.01), 0.1),
    "gradient_noise": bl.optim.gradient_noise(GD(0.01), 0.3),
    "projected": bl.optim.projected(GD(0.05), bl.optim.ball(1.5)),
    "proximal": bl.optim.proximal(GD(0.05), bl.optim.l1(0.1)),
    "EM": bl.optim.EM(0.3, 0.1),
    "alternating": bl.optim.alternating({"b": Adam(0.02), "w": (GD(0.02), 3)}),
    "bilevel": bl.optim.alternating({"w": GD(0.02), "b": bl.optim.bilevel(Adam(0.02), "w", terms=3, eta=0.01)}),
    "unrolled": bl.optim.alternating({"w": GD(0.02), "b": bl.optim.unrolled(Adam(0.02), "w", xi=0.02)}),
    "rounded": bl.optim.rounded(Adam(0.02), "e4m3", "bfloat16", "bfloat16", bl.optim.LossScale(2.0**12, interval=3)),
    "through": bl.optim.through(Adam(0.02), tenths, at="T(x)"),
    "SAM": bl.optim.SAM(Adam(0.02), 0.1),
    "TopKAST": bl.optim.TopKAST(Adam(0.02), 0.3, 0.6, 0.01),
    "weight_decay": bl.optim.weight_decay(GD(0.01), 0.2),
}


def model(p, x, y):
    return np.tanh(x @ p["w"]) + p["b"]


def residuals(p, x, y):
    return model(p, x, y) - y


def residual_loss(p, x, y):
    return np.sum(residuals(p, x, y) ** 2)


def loss(z, x, y):
    return np.sum((z - y) ** 2)


def resampled(p, x, y, key):
    """The loss for an output that the model draws."""
    z = model(p, x, y)
    return loss(z, x, z + bl.random.normal(key, (3,)))


def linear(p, x, y):
    return x @ p["w"] + p["b"]


def problem_of(rule):
    """Newton's steps need a convex one, those of least squares residuals."""
    if isinstance(rule, (GaussNewton, LevenbergMarquardt)):
        return bl.Residuals(residuals, DATA)
    if isinstance(rule, bl.optim.alternating):
        return bl.problems.Alternating(dict.fromkeys("bw", residual_loss), DATA)
    return bl.FiniteSum(loss, DATA, resampled=resampled, model=linear if isinstance(rule, Newton) else model)


def batch_of(rule):
    return bl.Batch(2, 20) if isinstance(rule, AdAdaGrad) else 8


def begin(rule):
    return bl.minimize(problem_of(rule), START, rule, batch=batch_of(rule), seed=3)


def test_every_optimizer_has_a_row_for_going_back():
    """Optimizers of clients go back in test_federated.py, that of links in test_rewiring.py."""
    found = {getattr(bl.optim, name) for name in bl.optim.__all__}
    kinds = {kind for kind in found if isinstance(kind, type) and issubclass(kind, Optimizer)}
    turns = [turn.optimizer for rule in RULES.values() if isinstance(rule, bl.optim.alternating) for turn in rule.parts]
    assert {kind for kind in kinds if not inspect.isabstract(kind)} == {
        type(rule) for rule in (*RULES.values(), *turns, *FEDERATED.values())
    } | {bl.optim.rewire, bl.optim.SET, bl.optim.RigL, bl.optim.GSE}


def same(run, other):
    for name, leaf in other.items():
        np.testing.assert_array_equal(run.x[name], leaf)


@pytest.mark.parametrize("name", RULES)
def test_run_is_the_same_after_seek_fork_or_load(name, tmp_path):
    run = begin(RULES[name])
    run.step(EARLY)
    early = run.x
    run.step(MIDDLE - EARLY)
    middle = run.x
    run.save(tmp_path / "a.burlab")
    run.step(STEPS - MIDDLE)
    end = run.x
    assert np.isfinite(end["w"]).all()
    assert np.any(end["w"] != middle["w"])
    run.seek(EARLY)
    same(run, early)
    run.step(STEPS - EARLY)
    same(run, end)
    run.seek(MIDDLE)
    for other in (run.fork(), bl.load_run(tmp_path / "a.burlab", DATA)):
        same(other, middle)
        other.step(STEPS - MIDDLE)
        same(other, end)


@pytest.mark.parametrize("name", RULES)
def test_a_run_that_shares_kernels_is_the_run_alone(name):
    rule = RULES[name]
    rate = next((field for field in live_fields(rule) if field.name == "lr" and not callable(field.start)), None)
    other = rule if rate is None else with_fields(rule, {"lr": 0.5 * rate.number})
    problem, batch = problem_of(rule), batch_of(rule)
    opener, start = Opener(problem, batch=batch), {leaf: 0.5 * x for leaf, x in START.items()}
    opener.open(START, rule, 3)
    runs = opener.open(start, other, 3), bl.minimize(problem, start, other, batch=batch, seed=3)
    assert runs[0].fingerprint == runs[1].fingerprint
    for run in runs:
        run.step(STEPS)
    same(runs[0], runs[1].x)
    assert runs[0].counts == runs[1].counts
