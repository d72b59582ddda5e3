"""Runs in the lanes of one kernel have the bits of the runs alone."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.experiments import local_executor
from burlab.experiments.sweeps import Sweep
from burlab.graph import tree
from burlab.run import Opener, Run
from burlab.run.lanes import WIDTH, KernelLanes, LaneKernel, lane_graph
from burlab.run.loop.loop import RunLoop
from burlab.runtime import cpu
from burlab.runtime.cpu import cpu_flags

ABLE = [known.name for known in cpu._KNOWN if cpu_flags().issuperset(known.flags)]  # pyright: ignore[reportPrivateUsage] - a test's own look
STEPS = 700  # some chunks, and a part of one
P = bl.problems
PROBLEMS = {
    "beale": P.beale(),
    "booth": P.booth(),
    "branin": P.branin(),
    "goldstein_price": P.goldstein_price(),
    "himmelblau": P.himmelblau(),
    "ackley": P.ackley(2),
    "rastrigin": P.rastrigin(2),
    "rosenbrock": P.rosenbrock(),
    "styblinski_tang": P.styblinski_tang(2),
    "monkey_saddle": P.monkey_saddle(),
    "one_number": lambda x: np.sum(np.exp(-x) + np.log1p(x**2) * np.tanh(x)),
    "leaves": lambda x: np.sin(x["a"]) ** 2 + np.sum(np.arctan(x["b"]) * np.cos(x["a"] * x["b"])),
    "kinks": lambda x: bl.relu(x[0] - 0.3) + np.maximum(x[1], 0.1) + np.where(x[0] > x[1], x[0] ** 3, -x[1]),
    "functions": lambda x: bl.erf(x[0]) * bl.gelu(x[1]) + np.arcsinh(x[0] * x[1]) + np.cbrt(2 + x[0] ** 2) ** 1.7,
}
STARTS: dict[str, Any] = {"one_number": np.array([0.7]), "leaves": {"a": np.array(0.4), "b": np.array([1.0, -0.6])}}
SCHEDULE = bl.optim.cosine(1e-3, steps=500)
RULES = {
    "GD": bl.optim.GD,
    "Momentum": lambda lr: bl.optim.Momentum(lr, 0.8 + lr),
    "Nesterov": bl.optim.Nesterov,
    "Adagrad": bl.optim.Adagrad,
    "Adadelta": bl.optim.Adadelta,
    "RMSProp": bl.optim.RMSProp,
    "Adam": lambda lr: bl.optim.Adam(lr, b1=0.9 - lr),
    "AdamW": lambda lr: bl.optim.AdamW(lr, weight_decay=lr),
    "AMSGrad": bl.optim.AMSGrad,
    "Adamax": bl.optim.Adamax,
    "NAdam": bl.optim.NAdam,
    "RAdam": bl.optim.RAdam,
    "Lion": bl.optim.Lion,
    "SignSGD": bl.optim.SignSGD,
    "scheduled": lambda lr: bl.optim.Momentum(SCHEDULE, lr),
}
RATES = np.geomspace(1e-5, 1e-3, 5)


def opened(problem: Any, start: Any, rules: Sequence[Any], **more: Any) -> list[Run]:
    """Runs that share what they can."""
    opener = Opener(problem, **more)
    return [opener.open(start, rule, 0) for rule in rules]


def loops(runs: Sequence[Run]) -> list[RunLoop]:
    found = [run.engine for run in runs]
    assert all(isinstance(loop, RunLoop) for loop in found)
    return found  # type: ignore[return-value]


def kernel_of(run: Run) -> LaneKernel | None:
    return LaneKernel.of(loops([run])[0].setup)


def step(runs: Sequence[Run], target: int) -> KernelLanes:
    """Let runs step in lanes, and those that leave by themselves."""
    kernel = kernel_of(runs[0])
    assert kernel is not None
    assert all(kernel.serves(loop.setup) for loop in loops(runs))
    lanes = KernelLanes(kernel, loops(runs))
    while lanes.step < target and lanes.runs:
        lanes.advance(target)
    return lanes


def bits(run: Run) -> dict[str, bytes]:
    """All that a run is, besides time."""
    columns = {name: run.history[name].tobytes() for name in run.history if name != "time"}
    leaves = [*tree.flatten(run.x)[0], *tree.flatten(run.state)[0], *(run.path or ())]
    return columns | {str(k): np.asarray(leaf).tobytes() for k, leaf in enumerate(leaves)} | {"t": bytes(run.t)}


def check(problem: str, rule: str) -> None:
    """Compare runs in lanes with each alone: their records and states, where they seek, and where they go on."""
    f = PROBLEMS[problem]
    start = STARTS.get(problem, getattr(f, "start", np.array([0.2, -0.4])))
    rules = [RULES[rule](float(lr)) for lr in RATES]
    runs, alone = opened(f, start, rules), opened(f, start, rules)
    assert step(runs, STEPS).runs == len(runs)
    for run, one in zip(runs, alone, strict=True):
        one.step(STEPS)
        assert bits(run) == bits(one)
        assert run.fingerprint == one.fingerprint
    for run, one in zip(runs[:2], alone, strict=False):
        for other in (run, one):
            other.seek(STEPS // 3)
        assert bits(run) == bits(one)
        for other in (run, one):
            other.step(STEPS)
        assert bits(run) == bits(one)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_every_problem(problem: str) -> None:
    check(problem, "Adam")


@pytest.mark.parametrize("rule", RULES)
def test_every_rule(rule: str) -> None:
    check("himmelblau", rule)


@pytest.mark.full
@pytest.mark.parametrize("isa", ABLE)
def test_lanes_agree_in_every_instruction_set(isa: str) -> None:
    """All functions that there are, and a rule with powers and roots: in a process of its own."""
    work = "import test_lanes as t; [t.check(f, 'Adam') for f in ('rosenbrock', 'ackley', 'leaves', 'functions')]"
    paths = os.pathsep.join([str(Path(__file__).parent), str(Path.cwd())])
    environment = os.environ | {"BURLAB_ISA": isa, "PYTHONPATH": paths}
    done = subprocess.run([sys.executable, "-c", work], text=True, capture_output=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    assert "not vectorized" not in done.stderr


def test_a_longer_sum_has_an_order() -> None:
    """What is refused for its bits would have others."""
    f = P.rosenbrock(9)
    rules = [bl.optim.GD(float(lr)) for lr in RATES]
    runs, alone = opened(f, f.start, rules), opened(f, f.start, rules)
    assert kernel_of(runs[0]) is None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lane_graph, "_TERMS", 9)
        step(runs, STEPS)
    for run in alone:
        run.step(STEPS)
    assert any(bits(run) != bits(one) for run, one in zip(runs, alone, strict=True))


def test_a_run_that_stops_or_diverges_goes_on_by_itself() -> None:
    """And rests where it does alone; the others stay together."""
    f, stop = P.rosenbrock(), bl.Stop(value=1e-2, grad_norm=1e-9)
    rules = [bl.optim.GD(lr) for lr in (1e-5, 1e-4, 1e-3, 1.9e-3, 1.0)]
    runs, alone = opened(f, f.start, rules, stop=stop), opened(f, f.start, rules, stop=stop)
    assert step(runs, 20_000).runs == 2
    for run, one in zip(runs, alone, strict=True):
        run.start(20_000 - run.t)
        one.start(20_000)
        while run.running or one.running:
            pass
        assert bits(run) == bits(one)
        assert run.stopped == one.stopped
    assert [run.stopped and run.stopped.reason for run in runs] == [None, None, "value", "value", "non_finite"]


def test_run_with_a_new_order_takes_no_lane_results() -> None:
    """A run that got an order meanwhile, or is elsewhere, leaves as it is."""
    f = P.himmelblau()
    runs = opened(f, f.start, [bl.optim.GD(float(lr)) for lr in RATES])
    kernel = kernel_of(runs[0])
    assert kernel is not None
    lanes = KernelLanes(kernel, loops(runs))
    runs[0].hyper["lr"] = 1e-2
    runs[1].step(1)
    runs[2].breakpoints.add(every=100)
    before = [bits(run) for run in runs]
    lanes.advance(STEPS)
    assert lanes.runs == len(runs) - 3
    assert [bits(run) for run in runs[:3]] == before[:3]
    assert runs[3].t == runs[4].t


def test_runs_that_lanes_cannot_reproduce_are_left_out() -> None:
    f, rng = P.himmelblau(), np.random.default_rng(0)
    sample = bl.FiniteSum(lambda x, a: np.sum((x - a) ** 2), rng.normal(size=(9, 2)))
    three = lambda x: np.sum(x**2)  # noqa: E731
    refused = [
        bl.minimize(f, f.start.astype(np.float32), bl.optim.GD(1e-3)),
        bl.minimize(f, f.start, bl.optim.LBFGS()),
        bl.minimize(sample, np.zeros(2), bl.optim.GD(1e-3), batch=1),
        bl.minimize(sample, np.zeros(2), bl.optim.GD(1e-3)),
        bl.minimize(three, np.ones(3), bl.optim.GD(1e-3)),
        bl.minimize(P.quadratic([1.0, 3.0]), np.ones(2), bl.optim.GD(1e-3)),
        bl.minimize(f, f.start, bl.optim.GD(1e-3), validation=three),
        bl.minimize(f, f.start, bl.optim.GD(1e-3), stop=bl.Stop(seconds=9.0)),
        bl.minimize(f, f.start, bl.optim.GD(1e-3), stop=bl.Stop(when=lambda rows: rows["value"] < 0)),
    ]
    assert [kernel_of(run) for run in refused] == [None] * len(refused)
    first, other = (bl.minimize(f, f.start, bl.optim.GD(1e-3), stop=bl.Stop(value=v)) for v in (0.1, 0.2))
    kernel = kernel_of(first)
    assert kernel is not None
    assert not kernel.serves(loops([other])[0].setup)


def test_a_sweep_uses_lanes_where_it_can(monkeypatch: pytest.MonkeyPatch) -> None:
    """And gives the same rows, runs and bits without."""
    f, seen = P.rosenbrock(), list[int]()
    advance = KernelLanes.advance

    def counted(self: KernelLanes, target: int) -> None:
        seen.append(self.runs)
        advance(self, target)

    monkeypatch.setattr(KernelLanes, "advance", counted)
    grid = {"lr": [*np.geomspace(1e-5, 1e-3, WIDTH + 4), 1.0]}

    def swept(threads: int) -> Sweep:
        return bl.sweep(f, f.start, bl.optim.Momentum(), grid, steps=STEPS, threads=threads, progress=False)

    alone = swept(1)
    assert not seen
    monkeypatch.setattr(local_executor, "MIN_STEPS", 1)
    for threads in (1, 2):
        found = swept(threads)
        assert max(seen) == WIDTH
        for row, one in zip(found.rows, alone.rows, strict=True):
            assert row.as_json().split("seconds")[0] == one.as_json().split("seconds")[0]
            assert (row.steps, row.reason, row.message, row.counts) == (one.steps, one.reason, one.message, one.counts)
        assert all(bits(run) == bits(one) for run, one in zip(found.runs, alone.runs, strict=True))


def test_an_interrupt_leaves_runs_in_lanes_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sweep goes on later, to the same bits."""
    f, rates = P.rosenbrock(), {"lr": list(RATES)}
    rests = local_executor.LaneGroup.rests

    def interrupted(_self: local_executor.LaneGroup, _seconds: float) -> bool:
        monkeypatch.setattr(local_executor.LaneGroup, "rests", rests)
        raise KeyboardInterrupt

    alone = bl.sweep(f, f.start, bl.optim.Momentum(), rates, steps=10 * STEPS, progress=False)
    monkeypatch.setattr(local_executor, "MIN_STEPS", 1)
    monkeypatch.setattr(local_executor.LaneGroup, "rests", interrupted)
    with pytest.warns(RuntimeWarning, match="interrupted: 0 of 5"):
        found = bl.sweep(f, f.start, bl.optim.Momentum(), rates, steps=10 * STEPS, progress=False)
    found.go(progress=False)
    assert all(row.reason == "steps" for row in found.rows)
    assert all(bits(run) == bits(one) for run, one in zip(found.runs, alone.runs, strict=True))
