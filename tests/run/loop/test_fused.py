"""Steps of one sample, and of plain functions, as one kernel: what they compute, and when they are made."""

from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.errors import IndexRangeError
from burlab.run.loop.fused import FusedStep
from tests.run.loop.alike_runs import check_alike, step_of

RNG = np.random.default_rng(0)
TOKENS, LABELS = RNG.integers(0, 9, (40, 3)), RNG.integers(0, 5, 40)
OPTIMIZERS = {
    "gd": bl.optim.GD(0.1),
    "momentum": bl.optim.Momentum(lr=0.05),
    "adam": bl.optim.Adam(lr=bl.optim.cosine(1e-2, steps=20)),
    "decayed": bl.optim.AdamW(lr=1e-2, weight_decay=0.1),
    "sign": bl.optim.SignSGD(1e-3),
}


def start(dtype: str) -> dict[str, Any]:
    """The same whatever was tested before: from some points rounding errors grow a thousandfold in sixty steps."""
    rng = np.random.default_rng(2)
    shapes: dict[str, tuple[int, ...]] = {
        "e": (9, 4),
        "w": (12, 20),
        "b": (20,),
        "v": (20, 5),
        "scale": (),
        "no": (0, 3),
    }
    return {name: (0.5 * rng.normal(size=shape)).astype(dtype) for name, shape in shapes.items()}


def loss(p: Any, tokens: Any, label: Any) -> Any:
    h = np.tanh(np.reshape(p["e"][tokens], -1) @ p["w"] + p["b"])
    return bl.nn.cross_entropy((h * p["scale"]) @ p["v"], label)


def noisy(p: Any, tokens: Any, label: Any, *, key: Any) -> Any:
    value = loss(p, tokens, label) + bl.random.normal(key, (20,)).astype(p["b"].dtype) @ p["b"]
    return value, {"twice": 2 * value}


def penalty(p: Any) -> Any:
    return 0.01 * np.sum(p["w"] ** 2) + np.sum(p["no"])


def problem(function: Any = loss, **options: Any) -> bl.FiniteSum:
    return bl.FiniteSum(function, (TOKENS, LABELS), regularizer=penalty, **options)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_fused_step_equals_separate_kernels(name: str, dtype: str, apart: Any):
    x0 = start(dtype)

    def make() -> bl.Run:
        return bl.minimize(problem(), x0, OPTIMIZERS[name], batch=1, seed=3, steps=60)

    one, two = make(), apart(make)
    assert isinstance(step_of(one), FusedStep)
    assert not isinstance(step_of(two), FusedStep)
    check_alike(two, one, dtype)


def test_keys_metrics_and_validation(apart: Any):
    x0 = start("float64")

    def make() -> bl.Run:
        sum_ = problem(noisy, has_aux=True)
        return bl.minimize(sum_, x0, bl.optim.Adam(1e-2), batch=1, steps=30, validation=problem(), validate_every=7)

    one, two = make(), apart(make)
    assert isinstance(step_of(one), FusedStep)
    for column in ("value", "twice", "validation_value", "gradient_norm", "step_norm"):
        np.testing.assert_allclose(one.history[column], two.history[column], rtol=1e-9, err_msg=column)


def test_fused_step_stores_no_gradient():
    x0 = {"w": np.zeros((300, 200)), "v": np.zeros(200)}
    data = RNG.normal(size=(10, 300))
    run = bl.minimize(
        bl.FiniteSum(lambda p, a: np.sum((a @ p["w"] - p["v"]) ** 2), data), x0, bl.optim.GD(1e-3), batch=1
    )
    run.step(2)
    assert run.memory["gradients"] == 0
    assert run.memory["activations"] + run.memory["scratch"] < 300 * 200 * 8 / 4


def test_a_step_of_gradient_descent_by_hand():
    a = RNG.normal(size=(7, 5))
    run = bl.minimize(lambda x: np.sum((a @ x) ** 2), np.ones(5), bl.optim.GD(0.01), steps=3)
    x = np.ones(5)
    for k in range(3):
        g = 2 * a.T @ (a @ x)
        np.testing.assert_allclose(run.history["value"][k], np.sum((a @ x) ** 2), rtol=1e-13)
        np.testing.assert_allclose(run.history["gradient_norm"][k], np.linalg.norm(g), rtol=1e-13)
        np.testing.assert_allclose(run.history["step_norm"][k], 0.01 * np.linalg.norm(g), rtol=1e-13)
        x = x - 0.01 * g
    np.testing.assert_allclose(run.x, x, rtol=1e-13)


@pytest.mark.parametrize(
    ("optimizer", "batch"),
    [
        (bl.optim.GD(0.1), 2),
        (bl.optim.clip_by_norm(bl.optim.GD(0.1), 1.0), 1),
        (bl.optim.Newton(), 1),
        (bl.optim.LBFGS(), 1),
    ],
)
def test_updates_that_mix_entries_or_query_are_not_fused(optimizer: Any, batch: int):
    x0 = {"w": np.eye(3)}
    run = bl.minimize(
        bl.FiniteSum(lambda p, a: np.sum((p["w"] @ a) ** 2), RNG.normal(size=(9, 3))), x0, optimizer, batch=batch
    )
    assert not isinstance(step_of(run), FusedStep)
    run.step(2)


def test_its_past_comes_back_and_a_fork_goes_on():
    x0 = start("float32")
    run = bl.minimize(problem(), x0, bl.optim.Adam(1e-2), batch=1, steps=200)
    last = run.x["w"]
    run.seek(40)
    fork = run.fork(lr=1e-2)
    run.seek(200)
    np.testing.assert_array_equal(run.x["w"], last)
    fork.step(160)
    np.testing.assert_array_equal(fork.x["w"], last)


def test_failing_sample_of_a_fused_step_is_named():
    bad = TOKENS.copy()
    bad[17] = 99
    run = bl.minimize(
        bl.FiniteSum(loss, (bad, LABELS)), start("float64"), bl.optim.GD(0.1), batch=1, sampler="sequential"
    )
    with pytest.raises(IndexRangeError) as caught:
        run.step(30)
    assert run.t == 17
    assert "In sample 17 of the data." in caught.value.__notes__


@pytest.mark.parametrize("batch", [1, 2])
def test_a_regularizer_at_fault_is_named_without_a_sample(batch: int):
    table = bl.asarray(np.arange(5.0))
    problem = bl.FiniteSum(
        lambda x, a: np.sum((x - a) ** 2),
        np.ones((6, 3)),
        regularizer=lambda x: np.sum(table[(10 * x).astype(np.int64)]) * 0.0 + np.sum(x**2),
    )
    run = bl.minimize(problem, np.zeros(3), bl.optim.GD(0.4), batch=batch)
    with pytest.raises(IndexRangeError, match="gather") as caught:
        run.step(10)
    assert not hasattr(caught.value, "__notes__")
