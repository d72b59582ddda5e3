"""Sweeps, races and workers of Dask with losses that have a state."""

from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.optim import GD, Momentum

A = np.random.default_rng(2).normal(size=(12, 3))
START = {"mean": np.zeros(3), "seen": np.array(0)}


def centred(x: Any, a: Any, state: Any, hyper: Any) -> Any:
    new = {"mean": 0.9 * state["mean"] + 0.1 * a, "seen": state["seen"] + 1}
    return hyper.weight * np.sum((x - a - state["mean"]) ** 2), new


def checked(x: Any, a: Any, state: Any) -> Any:
    return np.sum((x - a - 2.0 * state["mean"]) ** 2), state


PROBLEM = bl.FiniteSum(centred, A, loss_state=START, hyper={"weight": 1.0})
CHECK = bl.FiniteSum(checked, A[:5], loss_state=START)
HYPERS = {"lr": [0.01, 0.02], "weight": [0.5, 1.0]}


def swept(cluster: Any = None) -> Any:
    return bl.sweep(
        PROBLEM, np.zeros(3), GD(), HYPERS, batch=4, steps=10, validation=CHECK, cluster=cluster, progress=False
    )


def by_hand(lr: float, weight: float, seed: int = 0) -> tuple[float, float]:
    """Value and validation at the end, from a run on the same samples that is told each of its steps."""
    order = bl.minimize(
        bl.BatchLoss(lambda x, i, state: (0.0 * x, i), np.arange(12), loss_state=np.zeros(4, int)),
        0.0,
        GD(1.0),
        batch=4,
        seed=seed,
    )
    x, mean = np.zeros(3), np.zeros(3)
    for _ in range(10):
        order.step()
        rows = A[order.loss_state].mean(axis=0)
        x, mean = x - lr * 2 * weight * (x - rows - mean), 0.9 * mean + 0.1 * rows
    value = weight * np.mean(np.sum((x - A - mean) ** 2, axis=1))
    return value, np.mean(np.sum((x - A[:5] - 2.0 * mean) ** 2, axis=1))


def test_a_sweep() -> None:
    """Values and validations at the end are those with the state of the run."""
    found = swept()
    assert len(found.rows) == 4
    for row in found.rows:
        value, validation = by_hand(row.hypers["lr"], row.hypers["weight"])
        np.testing.assert_allclose(row.value, value, rtol=1e-12)
        np.testing.assert_allclose(row.validation, validation, rtol=1e-12)
        assert found.runs[row.number].loss_state["seen"] == 10


def test_a_race() -> None:
    race = bl.race(PROBLEM, np.zeros(3), {"gd": GD(0.01), "momentum": Momentum(0.01)}, batch=4, steps=10)
    for runs in race.runs.values():
        for run in runs:
            assert run.loss_state["seen"] == 10
    (run,) = race.runs["gd"]
    np.testing.assert_allclose(run.value, by_hand(0.01, 1.0)[0], rtol=1e-12)


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_workers_of_dask_have_the_same_bits() -> None:
    import distributed

    with (
        distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0") as cluster,
        distributed.Client(cluster) as client,
    ):
        far = swept(client)
    here = swept()
    assert [(row.value, row.validation) for row in far.rows] == [(row.value, row.validation) for row in here.rows]
