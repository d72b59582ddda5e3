"""Steps on one sample of a long x, which a second kernel writes over: as one kernel would do them, in less memory."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.compiler.executable import build
from burlab.graph import Graph
from burlab.graph.linear_nodes import broadcast
from burlab.graph.node import Node
from burlab.graph.numpy_api.promotion import node
from burlab.graph.numpy_api.reduction import sum_of_squares
from burlab.graph.tracing.trace_cache import forget_traces
from burlab.run.loop import fused
from burlab.run.loop.step_halves import writes_last
from tests.run.loop.alike_runs import check_alike

RNG = np.random.default_rng(0)
OPTIMIZERS = {
    "gd": bl.optim.GD(0.1),
    "momentum": bl.optim.Momentum(lr=0.05),
    "adam": bl.optim.Adam(lr=bl.optim.cosine(1e-2, steps=20)),
    "decayed": bl.optim.AdamW(lr=1e-2, weight_decay=0.1),
    "nesterov": bl.optim.Nesterov(lr=0.02),
    "rmsprop": bl.optim.RMSProp(1e-3),
}


@pytest.fixture
def by(monkeypatch: pytest.MonkeyPatch):
    """Calls a function while steps are in halves, or are not."""

    def call(halves: bool, make: Callable[[], Any]) -> Any:
        forget_traces()
        with monkeypatch.context() as patch:
            patch.setattr(fused, "MIN_BYTES", 0 if halves else 1 << 60)
            made = make()
        forget_traces()
        return made

    yield call
    forget_traces()


def dense(p: Any, a: Any, label: Any) -> Any:
    h = np.tanh(a @ p["w"] + p["b"])
    return bl.nn.cross_entropy((h * p["scale"]) @ p["v"], label)


def looked_up(p: Any, a: Any, label: Any) -> Any:
    return bl.nn.cross_entropy(
        p["v"][label] * p["scale"] @ p["v"].T + np.sum(p["w"] @ p["w"].T) + np.sum(p["b"]), label
    )


def start(dtype: str) -> dict[str, Any]:
    rng = np.random.default_rng(2)
    shapes: dict[str, tuple[int, ...]] = {"w": (13, 37), "b": (37,), "v": (37, 5), "scale": (), "no": (0, 3)}
    return {name: np.asarray(0.3 * rng.normal(size=shape)).astype(dtype) for name, shape in shapes.items()}


def samples(dtype: str) -> tuple[Any, Any]:
    rng = np.random.default_rng(1)
    return rng.normal(size=(40, 13)).astype(dtype), rng.integers(0, 5, 40)


def problem(dtype: str, loss: Any = dense) -> bl.FiniteSum:
    return bl.FiniteSum(loss, samples(dtype), regularizer=lambda p: 0.01 * np.sum(p["w"] ** 2) + np.sum(p["no"]))


def is_in_halves(run: bl.Run) -> bool:
    return run.engine.setup.update.halves is not None  # type: ignore[attr-defined]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_halves_equal_one_kernel(name: str, dtype: str, by: Any) -> None:
    sum_, x0 = problem(dtype), start(dtype)
    one, two = (
        by(h, lambda: bl.minimize(sum_, x0, OPTIMIZERS[name], batch=1, seed=3, steps=40)) for h in (False, True)
    )
    assert is_in_halves(two)
    assert not is_in_halves(one)
    check_alike(one, two, dtype)


@pytest.mark.parametrize("loss", [looked_up, dense])
def test_a_gradient_that_is_stored_between_the_halves(loss: Any, by: Any) -> None:
    sum_, x0 = problem("float64", loss), start("float64")
    rule = bl.optim.Adam(1e-3)
    one, two = (by(h, lambda: bl.minimize(sum_, x0, rule, batch=1, steps=30)) for h in (False, True))
    assert is_in_halves(two)
    assert (two.memory["gradients"] >= x0["w"].nbytes) == (loss is looked_up)
    for leaf in x0:
        np.testing.assert_allclose(two.x[leaf], one.x[leaf], rtol=1e-11)


@pytest.mark.parametrize("threads", [2, 3, 5])
def test_threads_change_no_bit(threads: int, by: Any) -> None:
    x0 = {"w": np.ones((301, 203)), "b": np.zeros(203), "v": RNG.normal(size=(203, 5)), "scale": np.ones(())}
    data = RNG.normal(size=(9, 301)), RNG.integers(0, 5, 9)

    def make(threads: int) -> bl.Run:
        return bl.minimize(bl.FiniteSum(dense, data), x0, bl.optim.Adam(1e-3), batch=1, steps=9, threads=threads)

    one, more = (by(True, lambda n=n: make(n)) for n in (1, threads))
    for leaf in x0:
        np.testing.assert_array_equal(one.x[leaf], more.x[leaf])
    for column in ("value", "gradient_norm", "step_norm"):
        np.testing.assert_array_equal(one.history[column], more.history[column])


def test_its_past_comes_back_from_keyframes_forks_files_and_new_starts(by: Any, tmp_path: Path) -> None:
    sum_, x0 = problem("float32"), start("float32")

    def check() -> None:
        run = bl.minimize(sum_, x0, bl.optim.Adam(1e-2), batch=1, steps=200)
        assert is_in_halves(run)
        last, value = run.x["w"], run.history["value"][-1]
        run.seek(40)
        middle = run.x["w"]
        fork = run.fork()
        run.save(tmp_path / "run")
        run.seek(200)
        fork.step(160)
        other = bl.load_run(tmp_path / "run", samples("float32"))
        np.testing.assert_array_equal(other.x["w"], middle)
        other.step(160)
        for one in (run, fork, other):
            np.testing.assert_array_equal(one.x["w"], last)
            assert one.history["value"][-1] == value
        run.restart(x0)
        run.step(200)
        np.testing.assert_array_equal(run.x["w"], last)
        run.seek(40)
        run.hyper.lr = 1e-3
        run.step(1)
        assert (run.x["w"] != middle).any()
        assert run.t == 41

    by(True, check)


@pytest.mark.parametrize("rule", [bl.optim.GD(1.0), bl.optim.Momentum(1.0)])
def test_the_last_good_point_stays(rule: Any, by: Any) -> None:
    def loss(x: Any, a: Any) -> Any:
        return np.sum(np.outer(a, a) * x["w"]) + np.sqrt(1.5 - x["s"]) - x["s"]

    x0 = {"w": np.ones((30, 30)), "s": np.zeros(())}

    def check() -> None:
        run = bl.minimize(bl.FiniteSum(loss, np.ones((4, 30))), x0, rule, batch=1)
        with pytest.warns(RuntimeWarning, match="the value is nan"):
            run.step(50)
        assert is_in_halves(run)
        assert run.stopped is not None
        assert not np.isfinite(run.history["value"][-1])
        assert np.isfinite(run.x["w"]).all()
        other = bl.minimize(bl.FiniteSum(loss, np.ones((4, 30))), x0, rule, batch=1, steps=run.t)
        for mine, its in ((run.x, other.x), (run.state, other.state)):
            for a, b in zip(bl.tree.leaves(mine), bl.tree.leaves(its), strict=True):
                np.testing.assert_array_equal(a, b)

    by(True, check)


def test_a_step_that_a_criterion_ends_is_described_and_not_done(by: Any) -> None:
    sum_, x0 = problem("float64"), start("float64")

    def check() -> None:
        free = bl.minimize(sum_, x0, bl.optim.Adam(1e-2), batch=1, steps=12)
        run = bl.minimize(sum_, x0, bl.optim.Adam(1e-2), batch=1, stop=bl.Stop(value=free.history["value"][7]))
        run.step(12)
        assert run.t < 12
        reached = free.history
        assert run.history["step_norm"][-1] == reached["step_norm"][run.t]
        before = bl.minimize(sum_, x0, bl.optim.Adam(1e-2), batch=1, steps=run.t)
        np.testing.assert_array_equal(run.x["w"], before.x["w"])

    by(True, check)


@pytest.mark.parametrize("size", [1e-170, 1.0, 1e170])
def test_norms_of_steps_that_are_far_from_one(size: float, by: Any) -> None:
    def check() -> None:
        run = bl.minimize(lambda x: np.sum(x) * size, np.zeros((7, 9)), bl.optim.GD(1.0), steps=1)
        assert is_in_halves(run)
        np.testing.assert_allclose(run.history["gradient_norm"], size * np.sqrt(63), rtol=1e-12)
        np.testing.assert_allclose(run.history["step_norm"], size * np.sqrt(63), rtol=1e-12)

    by(True, check)


def test_pauses_leave_no_half_step() -> None:
    x0 = np.linspace(0, 1, 1 << 22, dtype=np.float32).reshape(2048, -1)
    data = RNG.normal(size=(8, 2048)).astype(np.float32)
    made = bl.FiniteSum(lambda x, a: np.sum((a @ x) ** 2), data, threads=1)
    run, whole = (bl.minimize(made, x0, bl.optim.Adam(1e-3), batch=1, keyframe_bytes=0) for _ in range(2))
    assert is_in_halves(run)
    run.start()
    for _ in range(20):
        run.pause()
        run.start()
    run.pause()
    whole.step(run.t)
    np.testing.assert_array_equal(run.x, whole.x)


@pytest.mark.parametrize(("rule", "vectors"), [("GD", 1), ("Momentum", 2), ("Adam", 3)])
def test_x_and_the_state_are_there_once(rule: str, vectors: int) -> None:
    x0 = {"w": np.zeros((2000, 1000), np.float32), "v": np.zeros(1000, np.float32)}
    data = RNG.normal(size=(10, 2000)).astype(np.float32)
    made = bl.FiniteSum(lambda p, a: np.sum((a @ p["w"] - p["v"] - 1) ** 2), data)
    run = bl.minimize(made, x0, getattr(bl.optim, rule)(1e-6), batch=1, keyframe_bytes=0, steps=2)
    assert run.memory["parameters"] + run.memory["optimizer_state"] < vectors * 4 * 2_001_000 * 1.001
    assert run.memory["total"] < 1.1 * vectors * 4 * 2_001_000


def test_an_input_that_is_read_after_it_was_written_over_is_found() -> None:
    x, y = (Node("input", (), name, (5000,), np.dtype(np.float64)) for name in "xy")
    half = node("mul", x, y)
    total = sum_of_squares(half)  # which the next loop waits for
    other = node("add", x, broadcast(total, x.shape))
    plan = build(Graph((x, y), (half, other))).plan
    assert len(plan.steps) > 1
    assert writes_last(plan, [1, 0])
    assert not writes_last(plan, [0, 1])
