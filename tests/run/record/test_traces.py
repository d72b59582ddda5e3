"""Costs that a run reports: parts that add up, shares that follow the work, samples that travel with the run."""

import csv
from dataclasses import dataclass

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ArgumentError, FileError
from burlab.run.record.traces import PARTS, SAMPLED

RNG = np.random.default_rng(0)


def least_squares(samples: int, width: int, batch: int, optimizer: bl.optim.Optimizer | None = None, **more) -> bl.Run:
    data = RNG.normal(size=(samples, width)), RNG.normal(size=samples)
    problem = bl.FiniteSum(lambda w, a, b: (a @ w - b) ** 2, data, **more)
    return bl.minimize(problem, np.zeros(width), optimizer or bl.optim.GD(1e-4), batch=batch)


def go_through_samples(run: bl.Run, steps: int) -> None:
    """Step until there are nine samples: a fast machine does many steps in between, and the first may be cold."""
    while run.traces["step"].size < 9:
        run.step(steps)


def of_a_step(run: bl.Run, part: str) -> float:
    """Nanoseconds, the median over the samples."""
    return float(np.median(run.traces[part]))


@pytest.mark.parametrize(("batch", "threads"), [(1, 1), (64, 1), (4096, 1), (4096, 2)])
def test_the_parts_add_up_to_the_step(batch: int, threads: int) -> None:
    run = least_squares(4096, 30, batch, threads=threads)
    go_through_samples(run, 60_000 // (1 + batch // 8))
    rows = run.tail()[0]
    per_step = np.diff(rows["stamp_time"]) / np.diff(rows["stamp_step"])
    whole = sum(of_a_step(run, part) for part in PARTS)
    low, high = np.percentile(per_step, [1, 99])
    assert low / 2 < whole < 2 * high  # each from other steps of a machine that others use, too
    assert all((run.traces[part] >= 0).all() for part in PARTS)


def test_copying_samples_is_data() -> None:
    """The same samples, but drawn in disorder from an array that is far larger than any cache."""
    wide = RNG.normal(size=(20_000, 400))
    problem = bl.FiniteSum(lambda w, a: a[0] * w[0], wide)
    shares: list[float] = []
    for sampler in ("sequential", "uniform"):
        run = bl.minimize(problem, np.zeros(1), bl.optim.GD(1e-9), batch=512, sampler=sampler, steps=300)
        shares.append(of_a_step(run, "data") / sum(of_a_step(run, part) for part in PARTS))
    assert shares[1] > 0.5
    assert shares[1] > 1.5 * shares[0]


@dataclass(frozen=True)
class Slow(bl.optim.Optimizer):
    """An update that takes its time."""

    lr: bl.optim.Hyper = 1e-3

    def update(self, g, state, x, t):
        drag = bl.scan(lambda c, _: (np.tanh(c + g), None), g, None, length=200)[0]
        return x - self.lr * (g + 1e-12 * drag), state


def test_a_heavy_update_is_update() -> None:
    light, heavy = (least_squares(512, 200, 64, rule) for rule in (bl.optim.GD(1e-3), Slow()))
    shares: list[float] = []
    for run in (light, heavy):
        go_through_samples(run, 300)
        shares.append(of_a_step(run, "update") / sum(of_a_step(run, part) for part in PARTS))
    assert shares[0] < 0.3
    assert shares[1] > 0.7


def test_a_heavy_forward_pass_is_forward() -> None:
    """Powers whose derivatives nobody needs are computed for the value alone."""

    def loss(x):
        def iteration(c, _):
            return np.tanh(c), None

        return np.sum(x**2) + 1e-12 * np.sum(bl.scan(iteration, bl.stop_gradient(x), None, length=300)[0])

    run = bl.minimize(loss, np.ones(1000), bl.optim.GD(1e-3), steps=100)
    assert of_a_step(run, "forward") > 0.8 * sum(of_a_step(run, part) for part in PARTS)


def test_tracing_is_cheap_and_reports_its_cost() -> None:
    run = bl.minimize(lambda x: np.sum((x - 1.0) ** 2), np.zeros(2), bl.optim.GD(1e-6), steps=2_000_000)
    traces = run.traces
    assert len(traces["step"]) > 10
    assert 0 < traces["watching"].sum() < 0.05 * run.history["time"][-1]  # planned are one in two hundred
    assert (np.diff(traces["step"]) > 0).all()
    assert (np.diff(traces["time"]) > 0).all()


def test_samples_speak_of_their_moment() -> None:
    run = bl.minimize(lambda x: np.sum((x - 1.0) ** 2), np.zeros(2), bl.optim.GD(1e-6))
    run.step(10)
    first = run.traces["history"][-1]
    go_through_samples(run, 1_000_000)
    traces, times = run.traces, run.history["time"]
    assert traces["history"][-1] > 10 * first
    assert (np.diff(traces["history"]) >= 0).all()
    assert 0.5 < traces["history"][-1] / run.memory["history"] <= 1
    np.testing.assert_allclose(traces["time"][1:], times[traces["step"][1:]], rtol=0.3)
    assert (traces["resident"] > traces["history"]).all()


def test_a_sample_holds_until_the_next_one() -> None:
    run = bl.minimize(lambda x: np.sum((x - 1.0) ** 2), np.zeros(2), bl.optim.GD(1e-6))
    go_through_samples(run, 500_000)
    traces = run.traces
    second, third = traces["step"][1:3].tolist()
    assert traces.at(0) is None or traces["step"][0] == 0
    for step in (second, (second + third) // 2, third - 1):
        assert traces.at(step) == {name: float(traces[name][1]) for name in traces}
    assert traces.at(third)["step"] == third
    with pytest.raises(ArgumentError, match=r"step=1\.5 is not a whole number"):
        traces.at(1.5)
    with pytest.raises(KeyError, match=r"the column must be one of step, time, data.*got 'speed'"):
        traces["speed"]


def test_a_single_step_has_a_sample() -> None:
    run = bl.minimize(lambda x: np.sum(x**2), np.ones(2), bl.optim.GD(1e-3), steps=1)
    assert run.traces["step"].tolist() == [0]
    assert bl.minimize(lambda x: np.sum(x**2), np.ones(2), bl.optim.GD(1e-3)).traces["step"].size == 0


def test_samples_change_no_bit_of_the_run() -> None:
    """Runs that rest at every step are sampled at other steps than those that go through."""
    through, resting = (least_squares(256, 5, 8, bl.optim.Adam(1e-3)) for _ in range(2))
    through = resting.fork()
    through.step(600)
    for _ in range(600):
        resting.step()
    np.testing.assert_array_equal(through.x, resting.x)
    for name in ("value", "gradient_norm", "step_norm"):
        np.testing.assert_array_equal(through.history[name], resting.history[name])


def test_traces_are_saved_forked_and_cut(tmp_path) -> None:
    run = bl.minimize(lambda x: np.sum((x - 1.0) ** 2), np.zeros(2), bl.optim.GD(1e-6), steps=300_000)
    before = run.traces
    run.save(tmp_path / "a.burlab")
    again = bl.load_run(tmp_path / "a.burlab")
    for name in SAMPLED:
        if name in before:
            np.testing.assert_array_equal(again.traces[name], before[name])
    again.step(300_000)
    assert again.traces["step"][-1] > 300_000

    run.seek(100_000)
    assert run.traces["step"].tolist() == before["step"].tolist()  # they lie ahead, as the history does
    fork = run.fork()
    kept = before["step"][before["step"] < 100_000]
    assert fork.traces["step"].tolist() == kept.tolist()
    run.hyper["lr"] = 1e-5
    assert run.traces["step"].tolist() == kept.tolist()
    assert run.parent.traces["step"].tolist() == before["step"].tolist()
    run.step(1000)
    assert run.traces["step"][-1] >= 100_000


@pytest.mark.parametrize("broken", ["steps", "kinds"])
def test_samples_that_cannot_be_are_refused(tmp_path, broken: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from burlab.run.file import save_run

    run = bl.minimize(lambda x: np.sum(x**2), np.ones(2), bl.optim.GD(1e-3), steps=50)
    write = save_run.container.write

    def spoil(path, kind, document, arrays):
        name = "traces/0" if broken == "steps" else f"traces/{len(SAMPLED) - 1}"
        arrays[name] = arrays[name] + (50 if broken == "steps" else -1e9)
        write(path, kind, document, arrays)

    monkeypatch.setattr(save_run.container, "write", spoil)
    run.save(tmp_path / "a.burlab")
    with pytest.raises(FileError, match="its traces do not fit the rest"):
        bl.load_run(tmp_path / "a.burlab")


def test_of_scipy_the_whole_function_is_known() -> None:
    run = bl.minimize(lambda x: np.sum((x[1:] - x[:-1] ** 2) ** 2), np.full(20, 0.5), bl.optim.SciPy("BFGS"), steps=20)
    traces = run.traces
    assert 0 < len(traces["step"]) <= 20
    assert np.isnan([traces["data"], traces["forward"], traces["backward"]]).all()
    assert (traces["fused"] > 0).all()
    assert (traces["update"] > 0).all()
    assert traces["keyframes"][-1] > 0
    fork = run.fork()
    fork.step()
    assert fork.traces["step"][-1] == run.t
    assert fork.traces["step"][:-1].tolist() == traces["step"].tolist()


def test_a_history_is_a_csv_file(tmp_path) -> None:
    run = least_squares(64, 3, 8)
    run.step(40_000)
    for columns in (run.history, run.traces):
        columns.to_csv(tmp_path / "a.csv")
        with (tmp_path / "a.csv").open(newline="") as stream:
            names, *rows = csv.reader(stream)
        assert names == list(columns)
        for name, texts in zip(names, zip(*rows, strict=True), strict=True):
            np.testing.assert_array_equal(np.array(texts, columns[name].dtype), columns[name])
    with pytest.raises(FileError, match="is a folder"):
        run.history.to_csv(tmp_path)
