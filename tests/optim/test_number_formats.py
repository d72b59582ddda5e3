"""`bl.Formats`, `bl.optim.rounded` and `LossScale`: training in narrow numbers."""

from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

import burlab as bl

RNG = np.random.default_rng(0)
A = RNG.normal(size=(400, 6)).astype(np.float32)
TRUTH = RNG.normal(size=6).astype(np.float32)
B = A @ TRUTH
START = np.zeros(6, np.float32)


def squares(x: Any, a: Any, b: Any) -> Any:
    return (a @ x - b) ** 2


def trained(
    formats: bl.Formats | None, steps: int = 1500, scale: float = 1.0, lr: float = 0.01
) -> tuple[float, bl.Run]:
    """The mean square at the end, unscaled, of Adam on squares times a factor."""
    problem = bl.FiniteSum(lambda x, a, b: scale * squares(x, a, b), (A, B))
    run = bl.minimize(problem, START, bl.optim.Adam(lr), batch=20, steps=steps, formats=formats)
    return float(np.mean((A @ run.x - B) ** 2)), run


def test_the_scale_is_that_of_torch() -> None:
    torch = pytest.importorskip("torch", reason="PyTorch, the second engine, is not installed: make peers")
    scale = bl.optim.LossScale(2.0**10, interval=3)
    ours = scale.init(np.dtype(np.float32))
    theirs, tracker = torch.tensor(2.0**10), torch.tensor(0, dtype=torch.int32)
    left_out = 0
    for finite in RNG.uniform(size=200) < 0.8:
        torch._amp_update_scale_(theirs, tracker, torch.tensor(float(not finite)), 2.0, 0.5, 3)
        ours = scale.after(ours, np.asarray(finite))
        left_out += not finite
        assert (float(ours["scale"]), int(ours["good"])) == (float(theirs), int(tracker))
    assert ours["skipped"] == left_out
    largest = bl.optim.LossScale(2.0**127, interval=1)
    with np.errstate(over="ignore"):
        kept = largest.after(largest.init(np.dtype(np.float32)), np.asarray(True))["scale"]
    assert kept == np.float32(2.0**127)


def test_a_scale_never_becomes_0() -> None:
    """The gradient is divided by it."""
    scale = bl.optim.LossScale(backoff=0.25)
    state = scale.init(np.dtype(np.float32))
    for _ in range(100):
        state = scale.after(state, np.array(False))
    assert 0 < state["scale"] < 1e-43
    assert state["skipped"] == 100


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_steps_by_hand(dtype: Any) -> None:
    """Gradient descent on a sum of cubes, whose first gradients overflow."""
    x0 = np.array([3.0, -2.0, 1e-4], dtype)
    low = bl.optim.rounded(bl.optim.GD(0.01), gradients="e5m2", scale=bl.optim.LossScale(2.0**14, interval=4))
    run = bl.minimize(lambda x: np.sum(np.abs(x) ** 3), x0, low, steps=30)
    x, scale, good, skipped, scales = x0, 2.0**14, 0, 0, []
    for _ in range(30):
        scaled = bl.round_to("e5m2", (3 * x * np.abs(x)).astype(dtype) * dtype(scale))
        scales.append(scale)
        if np.isfinite(scaled).all():
            x, good = x - dtype(0.01) * (scaled / dtype(scale)), good + 1
            if good == 4:
                scale, good = scale * 2, 0
        else:
            scale, good, skipped = scale / 2, 0, skipped + 1
    np.testing.assert_allclose(run.x, x, rtol=20 * np.finfo(dtype).eps)
    np.testing.assert_array_equal(run.history["loss_scale"], scales)
    assert run.history["skipped_steps"][-1] == skipped > 2
    assert run.x.dtype == dtype


def test_a_step_that_is_left_out_changes_no_state() -> None:
    """Momentum would decay by it."""
    low = bl.optim.rounded(
        bl.optim.Momentum(0.1, mu=0.5), gradients="e5m2", scale=bl.optim.LossScale(2.0**14, interval=2)
    )
    run = bl.minimize(np.sum, np.ones(2), low, steps=12)
    left_out = int(run.history["skipped_steps"][-1])
    assert left_out == 3  # after each two steps at 2^15
    plain = bl.minimize(np.sum, np.ones(2), bl.optim.Momentum(0.1, mu=0.5), steps=12 - left_out)
    np.testing.assert_allclose(run.x, plain.x, rtol=1e-14)
    for leaf, new in zip(bl.tree.leaves(plain.state), bl.tree.leaves(run.state["inner"]), strict=True):
        np.testing.assert_array_equal(leaf, new)


def test_eight_bits_learn_by_stochastic_rounding_or_by_master_weights() -> None:
    exact, _ = trained(None)
    master, run = trained(bl.Formats(params="e4m3", gradients="e4m3", state="bfloat16", scale="dynamic"))
    drawn, other = trained(bl.Formats(params="e4m3", gradients="e4m3", scale="dynamic", master=False))
    nearest, _ = trained(bl.Formats(params="e4m3", gradients="e4m3", scale="dynamic", master=False, stochastic=False))
    limit = float(np.mean((A @ bl.round_to("e4m3", TRUTH) - B) ** 2))
    assert exact < 1e-6 < limit / 100
    assert max(master, drawn) < 4 * limit
    assert nearest > 100 * limit
    for r in (run, other):
        np.testing.assert_array_equal(r.x, bl.round_to("e4m3", r.x))
    assert (run.iterate != run.x).any()
    moments = bl.tree.leaves(run.state)
    assert any(leaf.shape == (6,) and np.array_equal(bl.round_to("bfloat16", leaf), leaf) for leaf in moments)


def test_small_gradients_need_a_loss_scale() -> None:
    """Below 2^-10 all numbers of e4m3 are 0."""
    bare, _ = trained(bl.Formats(gradients="e4m3"), scale=1e-5)
    scaled, run = trained(bl.Formats(gradients="e4m3", scale="dynamic"), scale=1e-5)
    fixed, _ = trained(bl.Formats(gradients="e4m3", scale=2.0**20), scale=1e-5)
    assert bare == pytest.approx(float(np.mean(B**2)))
    assert max(scaled, fixed) < 1e-2 * bare
    assert run.history["loss_scale"][0] == 2.0**16


@pytest.mark.parametrize("name", ["e2m3", "e2m1", bl.Format.integer(6, scale=0.5)])
def test_a_dynamic_scale_shrinks_where_a_format_saturates(name: Any) -> None:
    """The gradient is 1 and 3; the largest numbers are 7.5, 6 and 15.5, so that scales of 4 and more are too large."""
    slopes = np.array([1.0, 3.0])
    largest = bl.Format.of(name).largest * bl.Format.of(name).scale
    scale = bl.optim.LossScale(64.0, interval=5)
    run = bl.minimize(lambda x: slopes @ x, np.zeros(2), bl.optim.rounded(bl.optim.GD(1.0), name, scale=scale), steps=9)
    fits = np.asarray(run.history["loss_scale"]) * 3.0 <= largest
    assert not fits[0]
    assert fits[8]
    np.testing.assert_array_equal(np.asarray(run.history["skipped_steps"]), np.cumsum(~fits))
    np.testing.assert_allclose(run.x, -slopes * fits.sum())


def test_a_scale_that_stays_clips_where_a_format_saturates() -> None:
    low = bl.optim.rounded(bl.optim.GD(1.0), "e2m1", scale=4.0)
    run = bl.minimize(lambda x: np.array([1.0, 3.0]) @ x, np.zeros(2), low, steps=2)
    np.testing.assert_array_equal(run.x, [-2.0, -3.0])  # of 12, 6 are left
    assert run.history["skipped_steps"][-1] == 0


def test_losses_are_computed_in_their_format() -> None:
    formats = bl.Formats(compute="bfloat16")
    x = RNG.normal(size=6).astype(np.float32)

    def penalty(x: Any) -> Any:
        return 1e-3 * np.sum(x * x)

    for problem, loss in (
        (bl.FiniteSum(squares, (A, B), penalty), squares),
        (bl.FiniteSum(lambda z, a, b: (z - b) ** 2, (A, B), model=lambda x, a, b: a @ x), squares),
        (bl.FiniteSum(lambda x, a, b: (squares(x, a, b), {"error": a @ x - b}), (A, B), has_aux=True), squares),
    ):
        run = bl.minimize(problem, x, bl.optim.GD(0.01), steps=1, formats=formats)
        low = bl.vmap(bl.precision(loss, "bfloat16"), in_axes=(None, 0, 0))
        value = np.mean(low(x, A, B).astype(float))
        value += float(bl.precision(penalty, "bfloat16")(x)) if problem.oracle.regularizer is not None else 0.0
        assert run.history["value"][0] == pytest.approx(value, rel=1e-5)
    run = bl.minimize(lambda x: np.sum(x**2), x, bl.optim.GD(0.1), steps=1, formats=formats)
    assert run.history["value"][0] == bl.precision(lambda x: np.sum(x**2), "bfloat16")(x)


def test_a_loss_that_overflows_costs_a_step_of_the_scale_only() -> None:
    """e^8 times the scale is infinite in float16: the first steps are left out."""
    half = bl.Formats(compute="float16", gradients="float16", scale=bl.optim.LossScale(2.0**15))
    run = bl.minimize(lambda x: np.sum(np.exp(x)), np.array([8.0, 1.0]), bl.optim.GD(1e-4), steps=40, formats=half)
    assert run.history["skipped_steps"][-1] > 5
    assert run.x[0] < 8.0


def test_runs_go_back_fork_and_come_from_files(tmp_path: Path) -> None:
    formats = bl.Formats(
        params="e5m2", gradients="e4m3", state="bfloat16", scale=bl.optim.LossScale(2.0**16, interval=20), master=False
    )
    problem = bl.FiniteSum(squares, (A, B))
    run = bl.minimize(problem, START, bl.optim.Adam(0.01), batch=20, steps=300, formats=formats)
    end, scales = run.x.copy(), np.asarray(run.history["loss_scale"]).copy()
    run.save(tmp_path / "run.burlab")
    run.seek(120)
    fork = run.fork()
    run.step(180)
    fork.step(180)
    loaded = bl.load_run(tmp_path / "run.burlab", (A, B))
    for other in (run, fork):
        np.testing.assert_array_equal(other.x, end)
        np.testing.assert_array_equal(np.asarray(other.history["loss_scale"])[-180:], scales[-180:])
    run.step(20)
    loaded.step(20)
    np.testing.assert_array_equal(loaded.x, run.x)
    again = bl.minimize(problem, START, bl.optim.Adam(0.01), batch=20, steps=300, formats=formats)
    np.testing.assert_array_equal(again.x, end)


def test_trees_and_wrappers_of_wrappers() -> None:
    x0 = {"w": np.zeros((2, 3), np.float32), "b": np.zeros(2, np.float32)}

    def loss(p: Any, a: Any, b: Any) -> Any:
        return np.sum((p["w"] @ a[:3] + p["b"] - b) ** 2)

    low = bl.optim.rounded(bl.optim.clip_by_norm(bl.optim.AdamW(0.01), 1.0), gradients="mxfp8_e4m3", params="bfloat16")
    run = bl.minimize(bl.FiniteSum(loss, (A, B)), x0, low, batch=10, steps=200)
    assert run.value < loss(x0, A[0], B[0]) + 10
    for leaf in bl.tree.leaves(run.x):
        np.testing.assert_array_equal(bl.round_to("bfloat16", leaf), leaf)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: bl.Formats(params="fp8"), "format is 'fp8'"),
        (lambda: bl.Formats(scale="static"), "scale is 'static', expected \"dynamic\""),
        (lambda: bl.Formats(scale=0.0), "start of LossScale must be a positive number"),
        *(
            (
                lambda scale=scale: bl.minimize(np.sum, START, bl.optim.rounded(bl.optim.GD(0.1), "e4m3", scale=scale)),
                "expected a positive number of float32",
            )
            for scale in (1e-50, 1e50)
        ),
        (lambda: bl.optim.LossScale(growth=0.5), "growth of LossScale is 0.5"),
        (lambda: bl.optim.LossScale(interval=0), "interval of LossScale"),
        (lambda: bl.optim.rounded(bl.optim.GD(0.1), gradients="half"), "format is 'half'"),
        (lambda: bl.minimize(np.sum, START, bl.optim.GD(0.1), formats=cast("Any", "half")), "formats is 'half'"),
        (lambda: bl.minimize(np.sum, START, bl.optim.SciPy(), formats=bl.Formats()), "formats are for optimizers"),
        (
            lambda: bl.minimize(np.sum, START, bl.optim.GD(0.1), steps=1, formats=bl.Formats(params=(11, 20))),
            "which float32 has not",
        ),
        (
            lambda: bl.minimize(
                bl.Residuals(lambda x, a, b: a @ x - b, (A, B)), START, bl.optim.GD(0.1),
                formats=bl.Formats(compute="bfloat16"),
            ),
            "expected no residuals",
        ),
    ],
)  # fmt: skip
def test_wrong_formats_are_named(call: Any, text: str) -> None:
    with pytest.raises(bl.BurlabError, match=text):
        call()
