"""Work of a tile that needs no sample is done once for all tiles of a batch: same bits, less time, counted memory."""

import warnings
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.errors import IndexRangeError
from burlab.graph import tree
from burlab.graph.tracing.trace_cache import forget_traces
from burlab.problems.kernels import hoisted, sample_kernel
from burlab.problems.point import as_point
from tests.problems.kernels.tile_cases import CASES

CHOSEN = ["mixture", "softmaxed"]


def problem(name: str, **options: Any) -> tuple[bl.FiniteSum, Any]:
    loss, x, data = CASES[name]
    return bl.FiniteSum(loss, data, **options), x


def kernels(sums: bl.FiniteSum, x: Any, batch: int, question: str = "training") -> dict[str, Any]:
    return sums.oracle.kernels(question, [as_point(x, "x")]).samples.kernels(batch)


def same(one: Any, other: Any) -> None:
    for a, b in zip(tree.flatten(one)[0], tree.flatten(other)[0], strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("name", CHOSEN)
def test_the_bits_are_those_of_tiles_that_do_all_themselves(name: str, monkeypatch: pytest.MonkeyPatch):
    indices = np.random.default_rng(1).integers(0, 101, 77)
    sums, x = problem(name, tile=4, threads=2)
    answers = sums.value_and_grad(x, indices), sums.hvp(x, x, indices)
    assert "prepare" in kernels(sums, x, 77, "value_and_grad")
    monkeypatch.setattr(hoisted, "_SHARE", 0)
    forget_traces()
    sums, x = problem(name, tile=4)
    same((sums.value_and_grad(x, indices), sums.hvp(x, x, indices)), answers)
    assert "prepare" not in kernels(sums, x, 77, "value_and_grad")


def test_only_what_no_sample_needs_and_what_is_worth_it_is_prepared():
    sums, x = problem("softmaxed", tile=4)
    made = kernels(sums, x, 64)
    shapes = {y.shape for y in made["prepare"].graph.outputs}
    assert {(30, 9), (18, 18)} <= shapes
    assert all(len(n.shape) < 3 for n in made["kernel"].graph.nodes), "nothing of the table's size for each sample"
    assert not any(n.op in ("exp", "reduce_max", "div") for n in made["kernel"].graph.nodes)
    assert "prepare" not in kernels(sums, x, 4), "one tile needs no help"
    for name in ("regression", "scalars", "positions", "searched"):
        sums, x = problem(name, tile=32)
        assert "prepare" not in kernels(sums, x, 101), name


def test_interruptions_change_nothing(monkeypatch: pytest.MonkeyPatch):
    answers = []
    for slice_ in (sample_kernel._SLICE, 100_000):  # nanoseconds
        monkeypatch.setattr(sample_kernel, "_SLICE", slice_)
        sums, x = problem("mixture", tile=2)
        answers.append(sums.value_and_grad(x, np.arange(5000) % 101))
    same(*answers)


@pytest.mark.parametrize("threads", [1, 2])
def test_runs_count_its_memory_once_and_profile_its_steps(threads: int, monkeypatch: pytest.MonkeyPatch):
    forget_traces()
    sums, x = problem("softmaxed", tile=4, threads=threads)
    run = bl.minimize(sums, x, bl.optim.GD(1e-4), batch=64)
    run.step(4)
    made = kernels(sums, x, 64)
    profile = run.profile()
    assert len(profile.rows) == sum(len(exe.plan.steps) for exe in made.values()) + 2  # the update, the residual
    (exp,) = (row for row in profile.rows if "exp" in row.name and row.phase == "forward")
    assert 0 < exp.nbytes <= 3 * 8 * 30 * 9, "once in a step"
    monkeypatch.setattr(hoisted, "_SHARE", 0)
    forget_traces()
    sums, x = problem("softmaxed", tile=4, threads=threads)
    other = bl.minimize(sums, x, bl.optim.GD(1e-4), batch=64)
    other.step(4)
    same(run.x, other.x)
    alone = kernels(sums, x, 64)
    forget_traces()
    held = sum(-(-y.nbytes // 64) * 64 for y in made["prepare"].graph.outputs) + made["prepare"].workspace_bytes
    saved = threads * (alone["kernel"].workspace_bytes - made["kernel"].workspace_bytes)
    more = run.memory["activations"] - other.memory["activations"]
    assert 0 <= more - (held - saved) <= 512  # tables of addresses


def test_a_saved_run_goes_on(tmp_path: Any):
    sums, x = problem("mixture", tile=4)
    run = bl.minimize(sums, x, bl.optim.GD(1e-3), batch=40, steps=3)
    run.save(tmp_path / "a.burlab")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = bl.load_run(tmp_path / "a.burlab", sums.oracle.data.arrays)
    for each in (run, again):
        each.step(5)
    same(run.x, again.x)


def far(p: Any, a: Any) -> Any:
    row = np.exp(p["table"])[np.argmax(p["v"]) + 5]
    return np.sum((row - a) ** 2)


def test_a_failure_without_a_sample_names_none():
    x = {"table": np.ones((7, 50)), "v": np.array([1.0, 0.0])}
    data = np.zeros((64, 50))
    sums = bl.FiniteSum(far, data, tile=2)
    sums.grad(x)
    assert "prepare" in kernels(sums, x, 64, "grad")
    x = {"table": np.ones((7, 50)), "v": np.arange(3.0)}
    sums = bl.FiniteSum(far, data, tile=2)
    with pytest.raises(IndexRangeError, match="7") as caught:
        sums.grad(x)
    assert not hasattr(caught.value, "__notes__")
    run = bl.minimize(sums, x, bl.optim.GD(0.1), batch=64)
    with pytest.raises(IndexRangeError):
        run.step(1)
    assert run.t == 0
