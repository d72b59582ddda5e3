"""Which size of tiles is chosen: by rule, by measurement, or as given; and where one sees it."""

from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.errors import IndexRangeError
from burlab.graph.tracing.trace_cache import forget_traces
from burlab.problems.kernels import tiling
from burlab.problems.kernels.tiles import MAX_INSIDE_BYTES, sizes_for
from burlab.problems.kernels.tiling import Tiling
from burlab.problems.point import as_point
from tests.problems.kernels.tile_cases import CASES

ALWAYS, NEVER = 10**12, 0  # evaluations that are expected


def perceptron(**options: Any) -> tuple[bl.FiniteSum, Any]:
    forget_traces()
    loss, x, data = CASES["perceptron"]
    return bl.FiniteSum(loss, tuple(np.tile(d, (5, 1)) for d in data), **options), x


def chosen(problem: bl.FiniteSum) -> Tiling:
    (found,) = problem.tiles.values()
    return found


def test_the_size_is_measured_where_that_is_repaid(monkeypatch: pytest.MonkeyPatch):
    gradients = {}
    for calls, how in ((NEVER, "by cache size"), (ALWAYS, "measured")):
        monkeypatch.setattr(tiling, "_CALLS", calls)
        problem, x = perceptron()
        gradients[how] = problem.grad(x)
        found = chosen(problem)
        assert found.how == how
        assert (found.size in found.nanoseconds) == (how == "measured")
        assert len(found.nanoseconds) in ((0,) if how == "by cache size" else (2, 3))
        assert all(0 < took < 1e6 for took in found.nanoseconds.values())
        assert found.calls == 16 * -(-(505 // 16) // found.size)
    for name, expected in gradients["by cache size"].items():
        np.testing.assert_array_equal(gradients["measured"][name], expected)


@pytest.mark.parametrize("fastest", [8, 16, 32])
def test_another_size_is_taken_where_it_is_clearly_faster(monkeypatch: pytest.MonkeyPatch, fastest: int):
    monkeypatch.setattr(tiling, "_CALLS", ALWAYS)
    monkeypatch.setattr(tiling, "sizes_for", lambda *_: (16, (32, 8)))
    monkeypatch.setattr(tiling.Stopwatch, "time", lambda _, tile: 900.0 if tile.size == fastest else 1000.0)
    problem, x = perceptron()
    problem.grad(x)
    assert chosen(problem).size == fastest
    monkeypatch.setattr(tiling.Stopwatch, "time", lambda _, tile: 990.0 if tile.size == fastest else 1000.0)
    problem, x = perceptron()
    problem.grad(x)
    assert chosen(problem).size == 16, "not for a hundredth"


def test_a_choice_stays_and_belongs_to_a_batch(monkeypatch: pytest.MonkeyPatch):
    problem, x = perceptron()
    monkeypatch.setattr(tiling, "_CALLS", NEVER)
    problem.grad(x)
    before = dict(problem.tiles)
    monkeypatch.setattr(tiling, "_CALLS", ALWAYS)
    problem.grad(x)
    assert problem.tiles == before
    problem.grad(x, np.arange(100))
    assert problem.tiles["grad", 100].how == "measured"
    assert problem.tiles["grad", 505] == before["grad", 505]
    problem.grad(x, [3])
    assert ("grad", 1) not in problem.tiles


def test_runs_measure_at_their_start_and_show_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(tiling, "_CALLS", ALWAYS)
    problem, x = perceptron()
    run = bl.minimize(problem, x, bl.optim.GD(1e-3), batch=100)
    found = problem.tiles["training", 100]
    assert found.how == "measured"
    assert f"training of 100 in {found}" in repr(problem)
    name = run.profile().name
    assert name == f"a step on 100 samples, {found}"
    assert f"of {found.size} (measured per sample: " in name


def test_a_given_size_is_not_measured(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(tiling, "_CALLS", ALWAYS)
    problem, x = perceptron(tile=3)
    problem.grad(x, np.arange(20))
    assert str(chosen(problem)) == "8 tiles of 3 (given)"


def test_failing_or_endless_losses_are_not_timed(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(tiling, "_CALLS", ALWAYS)
    loss, x, (tokens, targets) = CASES["characters"]
    wrong = tokens.copy()
    wrong[1, 2] = 11
    problem = bl.FiniteSum(loss, (wrong, targets))
    with pytest.raises(IndexRangeError) as caught:
        problem.grad(x)
    assert "In sample 1 of the data." in caught.value.__notes__
    assert chosen(problem).how == "by cache size"
    monkeypatch.setattr(tiling, "sizes_for", lambda *_: (1, (2,)))
    problem = bl.FiniteSum(loss, (wrong, targets))
    problem.grad(x, np.arange(2, 40))
    assert chosen(problem).size == 1, "two samples at a time fail"
    loss, x, data = CASES["searched"]
    problem = bl.FiniteSum(loss, data)
    problem.grad(x)
    assert chosen(problem).how == "by cache size"


def test_random_losses_and_few_samples_are_measured(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(tiling, "_CALLS", ALWAYS)
    loss, x, data = CASES["noisy"]
    problem = bl.FiniteSum(loss, tuple(d[:3] for d in data))
    value = problem.value(x, [0, 1, 2] * 30, key=bl.random.key(1))
    assert chosen(problem).how == "measured"
    other = bl.FiniteSum(loss, tuple(d[:3] for d in data), tile=1)
    assert other.value(x, [0, 1, 2] * 30, key=bl.random.key(1)) == value


def test_no_size_takes_more_than_half_a_megabyte_or_than_the_result():
    for width, depth in ((8, 3), (64, 4), (200, 6), (500, 2)):
        x = [np.zeros((width, width), np.float32)] * depth
        problem = bl.FiniteSum(lambda p, a: np.sum(_through(p, a) ** 2), np.zeros((1000, width), np.float32))
        kernel = problem.oracle.kernels("training", [as_point(x, "x")]).samples
        good, others = sizes_for(kernel.graph, [False] * depth + [True], 1000, 1)
        each = 4 * width * depth  # at least: what a layer gives is needed by the backward pass
        for size in (good, *others):
            assert 1 <= size <= 64
            assert size & (size - 1) == 0
            assert size * each <= max(1 << 19, 4 * width * width * depth)


def scanned(units: int, turns: int) -> tuple[int, tuple[int, ...]]:
    """The sizes for a recurrent layer on sequences."""

    def loss(w: Any, a: Any) -> Any:
        def iteration(h: Any, row: Any) -> Any:
            h = np.tanh(h @ w + row)
            return h, h

        return np.sum(bl.scan(iteration, np.zeros(units, np.float32), a)[0] ** 2)

    problem = bl.FiniteSum(loss, np.zeros((1000, turns, units), np.float32))
    kernel = problem.oracle.kernels("training", [as_point(np.zeros((units, units), np.float32), "x")]).samples
    return sizes_for(kernel.graph, [False, True], 1000, 1)


def test_scan_tile_repays_reading_its_weights_each_iteration():
    """What is kept of a sample, for the backward pass, grows with units and turns; what is read, with units squared."""
    narrow, wide, long = scanned(8, 4000), scanned(256, 125), scanned(256, 12_000)
    assert wide[0] >= 8 * narrow[0]
    for (good, others), kept in ((narrow, 4 * 8 * 4000), (wide, 4 * 256 * 125), (long, 4 * 256 * 12_000)):
        assert all(size * kept <= 1 << 25 for size in (good, *others))


def _through(p: Any, a: Any) -> Any:
    for w in p:
        a = np.tanh(a @ w)
    return a


def test_a_run_from_a_file_has_the_same_tiles(monkeypatch: pytest.MonkeyPatch, tmp_path: Any):
    monkeypatch.setattr(tiling, "_CALLS", NEVER)
    problem, x = perceptron()
    data = problem.oracle.data.arrays
    own = bl.minimize(problem, x, bl.optim.GD(1e-3), batch=100)
    size = problem.tiles["training", 100].size // 2
    problem, _ = perceptron(tile=size)
    run = bl.minimize(problem, x, bl.optim.GD(1e-3), batch=100, validation=problem)
    run.save(tmp_path / "a.burlab")
    again = bl.load_run(tmp_path / "a.burlab", data, validation=data)  # warns if other code would run
    for each in (own, run, again):
        each.step(3)
    assert f" of {size} (given)" in again.profile().name
    for name in x:
        np.testing.assert_array_equal(again.x[name], run.x[name])
        np.testing.assert_array_equal(again.x[name], own.x[name])


@pytest.mark.parametrize(("width", "size"), [(200, 32), (400, 16)])
def test_a_tile_that_threads_share_has_one_large_sample_for_each(width: int, size: int) -> None:
    """Two where the values of so many samples are small."""
    rows = np.random.default_rng(0).normal(size=(64, width)).astype(np.float32)
    bl.set_threads(16)
    try:
        problem = bl.FiniteSum(lambda w, a: np.sum(np.tanh(np.tanh(np.outer(a, a) @ w) @ w)), rows, threads=16)
        run = bl.minimize(problem, np.zeros((width, width), np.float32), bl.optim.GD(1e-6), batch=64)
    finally:
        bl.set_threads("auto")
    assert chosen(problem).size == size
    assert run.memory["activations"] < MAX_INSIDE_BYTES
