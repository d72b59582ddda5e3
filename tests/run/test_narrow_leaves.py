"""float16 and bfloat16 in x0: they stay so in memory, and the loss and the rule compute with float32."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.compiler.executable import build
from burlab.errors import DTypeError
from burlab.graph import Graph, Node
from burlab.graph.linear_nodes import convert
from burlab.run.loop.update import MIN_IN_PLACE
from tests.engines import GEARS

RNG = np.random.default_rng(4)


@pytest.fixture(params=["float16", "bfloat16"])
def dtype(request: pytest.FixtureRequest) -> Any:
    if request.param == "float16":
        return np.dtype(np.float16)
    return np.dtype(pytest.importorskip("ml_dtypes").bfloat16)


def loss(p: Any) -> Any:
    return np.sum((np.tanh(p["w"]).sum(0) + p["b"] - 1.3) ** 2)


def wide(x: Any) -> Any:
    return {name: leaf.astype(np.float32) for name, leaf in x.items()}


def start(dtype: Any, rows: int = 3) -> Any:
    return {"w": RNG.normal(size=(rows, 5)).astype(dtype), "b": np.zeros(5, dtype)}


def by_hand(x: Any, steps: int, lr: float) -> Any:
    """Gradient descent in float32, with a rounded point after every step."""
    for _ in range(steps):
        g, full = bl.grad(loss)(wide(x)), wide(x)
        x = {name: (full[name] - np.float32(lr) * g[name]).astype(x[name].dtype) for name in x}
    return x


def assert_same(got: Any, wanted: Any) -> None:
    for name, leaf in wanted.items():
        assert got[name].dtype == leaf.dtype
        np.testing.assert_array_equal(got[name].view(np.uint16), leaf.view(np.uint16))


@pytest.mark.parametrize("gear", GEARS)
@pytest.mark.parametrize("count", [65536, 65536 - 3, 1])
def test_every_number_is_rounded_as_numpy_does(dtype: Any, gear: Any, count: int) -> None:
    """All numbers of 16 bits, their neighbours, and those half way between two."""
    with np.errstate(all="ignore"):
        exact = np.arange(65536, dtype=np.uint16)[:count].view(dtype).astype(np.float32)
        halves = ((exact.astype(np.float64) + np.roll(exact, 1)) / 2).astype(np.float32)
    x = Node("input", (), "x", (count,), np.dtype(np.float32))
    rounded = build(Graph((x,), (convert(x, dtype),)), gear=gear)
    with np.errstate(all="ignore"):
        for numbers in (exact, halves, np.nextafter(halves, np.float32(1)), np.nextafter(halves, np.float32(-1))):
            got, wanted = rounded(numbers)[0], numbers.astype(dtype)
            known = ~np.isnan(numbers)
            np.testing.assert_array_equal(got.view(np.uint16)[known], wanted.view(np.uint16)[known])
            assert np.isnan(got[~known].astype(np.float32)).all()


@pytest.mark.parametrize("rows", [3, MIN_IN_PLACE // 4])
def test_steps_compute_in_float32_and_round_the_point(dtype: Any, rows: int) -> None:
    x = start(dtype, rows)
    run = bl.minimize(loss, x, bl.optim.GD(0.01), steps=5)
    after = {steps: by_hand(x, steps, 0.01) for steps in (0, 2, 5)}
    for steps in (5, 2, 0):
        run.seek(steps)
        if rows == 3:
            assert_same(run.x, after[steps])
        for name in x:
            np.testing.assert_allclose(wide(run.x)[name], wide(after[steps])[name], atol=1e-2)
    once = by_hand(x, 1, 0.01)
    moved = np.sqrt(sum(np.sum((wide(once)[name] - wide(x)[name]) ** 2, dtype=float) for name in x))
    np.testing.assert_allclose(run.history["step_norm"][0], moved, rtol=1e-2 if rows > 3 else 1e-5)
    g = bl.grad(loss)(wide(x))
    np.testing.assert_allclose(
        run.history["gradient_norm"][0], np.sqrt(sum(np.sum(a**2, dtype=float) for a in g.values())), rtol=1e-4
    )


@pytest.mark.parametrize(
    "rule", [bl.optim.Adam(0.01), bl.optim.LBFGS(memory=2), bl.optim.MeZO(0.01), bl.optim.Muon(0.01)],
    ids=lambda rule: type(rule).__name__,
)  # fmt: skip
def test_rules_see_float32(dtype: Any, rule: bl.optim.Optimizer) -> None:
    """Within the rounding of the point, a first step is that of float32; the state is float32."""
    x = start(dtype)
    run, same = bl.minimize(loss, x, rule, steps=1), bl.minimize(loss, wide(x), rule, steps=1)
    for name, leaf in wide(run.x).items():
        np.testing.assert_allclose(leaf, same.x[name].astype(dtype).astype(np.float32), atol=0.02)
        assert run.x[name].dtype == dtype


def test_forks_files_and_other_batches(dtype: Any, tmp_path: Path) -> None:
    x, data = start(dtype), np.arange(1, 9, dtype=np.float32)
    problem = bl.FiniteSum(lambda p, a: a * loss(p), data)
    run = bl.minimize(problem, x, bl.optim.Adam(0.01), batch=3, steps=6)
    run.save(tmp_path / "run")
    run.seek(4)
    fork = run.fork()
    fork.step(2)
    run.seek(6)
    assert_same(fork.x, run.x)
    again = bl.load_run(tmp_path / "run", data)
    assert_same(again.x, run.x)
    again.step(2)
    run.step(2)
    assert_same(again.x, run.x)


def test_problems_answer_at_narrow_points(dtype: Any) -> None:
    x, problem = start(dtype), bl.FiniteSum(lambda p, a: a * loss(p), np.arange(3.0, dtype=np.float32))
    np.testing.assert_allclose(problem.value(x), problem.value(wide(x)), rtol=1e-6)
    for got, wanted in ((problem.grad(x), problem.grad(wide(x))), (problem.hvp(x, x), problem.hvp(wide(x), wide(x)))):
        for name in x:
            assert got[name].dtype == np.float32
            np.testing.assert_allclose(got[name], wanted[name], rtol=1e-5, atol=1e-6)


def test_memory_of_a_narrow_vector(dtype: Any) -> None:
    size = MIN_IN_PLACE
    problem = bl.FiniteSum(lambda x, a: np.sum((x - a) ** 2), np.arange(2, dtype=np.float32))
    memory = bl.minimize(problem, np.ones(size, dtype), bl.optim.Adam(), keyframe_bytes=0, steps=1).memory
    assert memory["parameters"] <= 2 * size + 64
    assert memory["optimizer_state"] <= 2 * 4 * size + 256


def test_untrained_leaves_keep_their_dtype(dtype: Any) -> None:
    x = {"w": RNG.normal(size=(3, 5)).astype(dtype), "b": np.zeros(5, np.float32)}
    run = bl.minimize(loss, x, bl.optim.GD(0.01), steps=3, trainable={"w": False, "b": True})
    same = bl.minimize(loss, wide(x), bl.optim.GD(0.01), steps=3, trainable={"w": False, "b": True})
    assert run.x["w"].dtype == dtype
    np.testing.assert_array_equal(wide(run.x)["w"], wide(x)["w"])
    np.testing.assert_array_equal(run.x["b"], same.x["b"])


def test_refusals(dtype: Any) -> None:
    x = np.ones(3, dtype)
    with pytest.raises(DTypeError, match=r"a run has one dtype.*trainable="):
        bl.minimize(lambda p: np.sum(p[0]) + np.sum(p[1]), (x, np.ones(2, np.float32)), bl.optim.GD())
    with pytest.raises(DTypeError, match="step in float64"):
        bl.minimize(np.sum, x, bl.optim.SciPy("L-BFGS-B"))
