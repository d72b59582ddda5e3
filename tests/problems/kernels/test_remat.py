"""Sums whose kernels compute values again instead of keeping them: less memory, the same bits."""

from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ArgumentError
from burlab.problems.point import as_point

RNG = np.random.default_rng(0)
X = [0.3 * RNG.normal(size=(24, 24)) for _ in range(12)]
DATA = RNG.normal(size=(90, 5, 24))


def loss(ws: Any, a: Any) -> Any:
    for w in ws:
        a = np.tanh(np.exp(-(a**2)) @ w) + a
    return np.sum(a**2)


def same(one: Any, other: Any) -> None:
    for a, b in zip(one, other, strict=True):
        np.testing.assert_array_equal(a, b)


def kernel(problem: bl.FiniteSum, batch: int) -> Any:
    return problem.oracle.kernels("value_and_grad", [as_point(X, "x")]).samples.kernels(batch)["kernel"]


@pytest.mark.parametrize(
    ("remat", "options"),
    [("sqrt", {"tile": 8}), ("sqrt", {"tile": 3, "threads": 2}), (150_000, {"tile": 8}), (60_000, {"tile": 3})],
)
def test_remat_stores_less_and_changes_no_bit(remat: Any, options: Any):
    plain, less = bl.FiniteSum(loss, DATA, **options), bl.FiniteSum(loss, DATA, remat=remat, **options)
    values, gradients = zip(*(p.value_and_grad(X) for p in (plain, less)), strict=True)
    assert values[0] == values[1]
    same(*gradients)
    same(less.grad(X), plain.grad(X))
    same(less.grad(X, [7]), plain.grad(X, [7]))
    most = remat if remat != "sqrt" else 0.7 * kernel(plain, 90).workspace_bytes
    assert kernel(less, 90).workspace_bytes <= most < kernel(plain, 90).workspace_bytes
    assert ("grad", 90) not in less.tiles, "gradients are asked of kernels that can compute again"


def test_bytes_make_tiles_small_first():
    sizes = []
    for remat in (None, 10**9, 100_000, 20_000, 15_000):
        problem = bl.FiniteSum(loss, DATA, remat=remat)
        problem.value_and_grad(X)
        sizes.append(problem.tiles["value_and_grad", 90].size)
        assert kernel(problem, 90).workspace_bytes <= (remat or 10**9)
    assert sizes[0] == sizes[1] > sizes[2] > 1
    assert sizes[3:] == [1, 1]


def test_runs_take_less_memory_go_on_from_files_and_are_profiled(tmp_path: Any):
    runs = [
        bl.minimize(bl.FiniteSum(loss, DATA, tile=8, remat=remat), X, bl.optim.GD(1e-3), batch=32, steps=3)
        for remat in (None, "sqrt")
    ]
    assert runs[1].memory["activations"] < 0.7 * runs[0].memory["activations"]
    runs[1].save(tmp_path / "a.burlab")
    again = bl.load_run(tmp_path / "a.burlab", DATA)  # warns if other code would run
    assert again.memory["activations"] == runs[1].memory["activations"]
    for run in (*runs, again):
        run.step(3)
        same(run.x, runs[0].x)
    assert len(runs[1].profile().rows) > len(runs[0].profile().rows)


def test_steps_on_one_sample_compute_again_too():
    runs = [
        bl.minimize(bl.FiniteSum(loss, DATA, remat=remat), X, bl.optim.Adam(1e-3), batch=1, steps=20)
        for remat in (None, 20_000)
    ]
    same(runs[0].x, runs[1].x)
    kinds = "activations", "scratch"
    assert sum(runs[1].memory[k] for k in kinds) < 0.7 * sum(runs[0].memory[k] for k in kinds)


def test_too_few_bytes_and_wrong_words_are_refused():
    with pytest.raises(ArgumentError, match="remat=100"):
        bl.FiniteSum(loss, DATA, remat=100).value_and_grad(X)
    for remat in ("root", -1, True, 1.5):
        with pytest.raises(ArgumentError, match="remat must be"):
            bl.FiniteSum(loss, DATA, remat=remat)
