"""The column "samples" of rules with queries: every answer costs its samples, wherever the run goes."""

import numpy as np
import pytest

import burlab as bl
from tests.optim.probe import A, B, loss
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
    np.testing.assert_array_equal(digest.samples, svrg_counts(20))


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
        costs.append(1 + trials)
    np.testing.assert_array_equal(np.diff(run.history["samples"], prepend=0), costs)
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
