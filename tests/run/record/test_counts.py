"""The column "samples" of rules with queries: every answer costs its samples, wherever the run goes."""

from dataclasses import dataclass

import numpy as np
import pytest

import burlab as bl
from burlab.optim import GD, Optimizer
from tests.optim.probe import A, B, loss
from tests.optim.test_queries import model, outer
from tests.optim.test_query_rules import SVRG

BATCH, START = 4, np.array([0.3, -0.2, 0.1])


def svrg(**options):
    return bl.minimize(bl.FiniteSum(loss, (A, B)), START, SVRG(m=3), batch=BATCH, **options)


def svrg_counts(steps):
    """Two gradients of the batch in every step, and one of all samples in each third."""
    return np.cumsum([2 * BATCH + len(B) * (t % 3 == 0) for t in range(steps)])


def test_each_answer_counts_its_samples():
    run = svrg(steps=20)
    np.testing.assert_array_equal(run.history["samples"], svrg_counts(20))
    assert run.history["samples"].dtype == np.int64
    digest = run.digest()
    digest.read()
    np.testing.assert_array_equal(digest.cost("samples"), svrg_counts(20))


def test_a_line_search_counts_its_trials():
    """Backtracking written out: the gradient, and the value at each trial."""
    rule = bl.optim.ArmijoGD(lr=1.0, shrink=0.5, c1=1e-4, warm=False)
    run = bl.minimize(lambda x: np.sum(x**4), 3 * np.ones(2), rule, steps=6)
    x, costs = 3 * np.ones(2), []
    for _ in range(6):
        g, step, trials = 4 * x**3, 1.0, 1
        while np.sum((x - step * g) ** 4) > np.sum(x**4) - 1e-4 * step * g @ g:
            step, trials = step / 2, trials + 1
        x = x - step * g
        costs.append(trials)
    np.testing.assert_array_equal(np.diff(run.history["values"], prepend=0), costs)
    assert run.history["values"].dtype == np.int64
    np.testing.assert_array_equal(run.history["samples"], np.arange(1, 7))
    assert run.counts == {
        "samples": 6,
        "values": sum(costs),
        "hvps": 0,
        "jvps": 0,
        "partials": 0,
        "surrogates": 0,
        "bits": 0,
        "flops": run.history["flops"][-1],
    }
    digest = run.digest()
    digest.read()
    np.testing.assert_array_equal(digest.evaluations, run.history["samples"] + run.history["values"])
    assert len(set(costs)) > 1, "the search backs off in some steps"


def test_counts_follow_a_change_in_the_past_a_fork_and_a_file(tmp_path):
    run = svrg(steps=20)
    run.seek(7)
    other = run.fork()
    run.hyper["lr"] = 0.01
    run.step(6)
    other.step(9)
    run.save(tmp_path / "run.burlab")
    again = bl.load_run(tmp_path / "run.burlab", (A, B))
    again.step(4)
    for one, steps in ((run, 13), (other, 16), (again, 17)):
        np.testing.assert_array_equal(one.history["samples"], svrg_counts(steps))


@pytest.mark.parametrize("step", [1000, 4321])
def test_counts_go_on_where_rows_were_merged(step):
    run = svrg(steps=5000, history_bytes=4096)
    assert run.history.span > 2
    assert run.history["samples"][-1] == svrg_counts(5000)[-1]
    run.seek(step)
    run.hyper["lr"] = 0.01
    run.step(5)
    assert run.history["samples"][-1] == svrg_counts(step + 5)[-1]


def test_a_step_that_is_done_again_counts_once():
    run = svrg(stop=bl.Stop(steps=9))
    run.step(9)
    run.seek(3)
    run.step(5)
    np.testing.assert_array_equal(run.history["samples"], svrg_counts(9))


@dataclass(frozen=True)
class QueryingRule(Optimizer):
    """Of everything, in init and in each step, and logs bits."""

    def init(self, x, *, f):
        return {"v": f.grad(x, indices=[1, 2]) + f.full_grad(x), "r": 0 * f.value(x) + f.jvp(x, x, indices=[3])}

    def update(self, g, state, x, t, *, f):
        y = x + 1
        rows = np.sum(f.per_sample_grads(y, indices=[1, 2, 3]), axis=0)
        extra = bl.while_loop(lambda s: s[0] < t % 3, lambda s: (s[0] + 1, s[1] + f.value(y * s[1])), (0, x[0]))[1]
        v = (
            rows
            + f.hvp(y, x)
            + f.hvp(y, x, indices=[5, 6])
            + f.jvp(y, x) * x
            + f.value_and_grad(y)[1]
            + f.full_value(y)
        )
        z = f.targets(y)[0]
        half = f.surrogate(y, z, 1.0)[0] + f.surrogate(x, z, 1.0)[0]
        few = half + np.sum(f.partial_grad(y, [2, 0])) + f.partial_grad(y, 1, indices=[4, 5, 6])
        return x - 1e-4 * g, {"v": 0 * v + 0 * extra + 0 * few, "r": state["r"]}, {"bits": 32 * t, "other": 1.0}


def test_everything_is_counted_where_it_belongs(tmp_path):
    """Against sums by hand; and seek, fork and files keep them."""
    n, steps = len(B), 12
    problem = bl.FiniteSum(outer, (A, B), model=model)
    run = bl.minimize(problem, START, QueryingRule(), batch=BATCH, steps=steps)
    t = np.arange(1, steps + 1)
    wanted = {
        "samples": 2 + n + t * (BATCH + 3 + BATCH + BATCH),
        "values": n + t * n + np.cumsum((t - 1) % 3) * BATCH,
        "hvps": t * (BATCH + 2),
        "jvps": 1 + t * BATCH,
        "partials": t * (2 * BATCH + 3),
        "surrogates": t * 2 * BATCH,
        "bits": np.cumsum(32 * (t - 1)),
    }
    for name, column in wanted.items():
        np.testing.assert_array_equal(run.history[name], column, err_msg=name)
    np.testing.assert_array_equal(run.history["other"], np.ones(steps))
    wanted["flops"] = run.history["flops"]
    assert run.counts == {name: column[-1] for name, column in wanted.items()}
    run.save(tmp_path / "run.burlab")
    again, fork = bl.load_run(tmp_path / "run.burlab", (A, B)), run.fork()
    run.seek(4)
    for other in (run, again, fork):
        other.seek(steps)
        other.step(6)
        assert other.counts == run.counts
    early = fork.fork()
    assert early.counts == fork.counts
    run.seek(0)
    begun = run.fork()
    assert begun.length == 0
    begun.step(1)
    assert begun.counts == {name: column[0] for name, column in wanted.items()}


def test_figures_are_drawn_against_every_cost():
    problem = bl.FiniteSum(outer, (A, B), model=model)
    runs = {
        "asks": bl.minimize(problem, START, QueryingRule(), steps=3),
        "gd": bl.minimize(problem, START, GD(0.1), steps=3),
    }
    for name in ("samples", "values", "hvps", "jvps", "partials", "surrogates", "bits"):
        figure = bl.plots.compare(runs, against=name)
        np.testing.assert_array_equal(figure.data[0].x, runs["asks"].history[name])
        if name != "samples":
            np.testing.assert_array_equal(figure.data[1].x, np.zeros(3))
