"""The page of FedNL: its rounds are a loop in NumPy, and their number does not grow with the condition."""

import numpy as np
import pytest

import burlab as bl
from burlab.typing import Array
from tests.papers.clients import gradients, hessians
from tests.papers.pages import method, whole

STEPS, L2 = 15, 1e-3


def largest(missing: Array, count: int) -> Array:
    """The entries on and above the diagonal that are largest by absolute value, and their mirrors."""
    upper = np.triu(np.ones(missing.shape[1:], bool))
    rows = np.where(upper, np.abs(missing), -1.0).reshape(len(missing), -1)
    kept = np.zeros(rows.shape, bool)
    np.put_along_axis(kept, np.argsort(-rows, axis=1)[:, :count], True, axis=1)
    half = np.where(kept.reshape(missing.shape), missing, 0.0)
    return half + np.triu(half, 1).transpose(0, 2, 1)


def rank_one(missing: Array) -> Array:
    values, vectors = np.linalg.eigh(missing)
    best = np.argmax(np.abs(values), axis=1)
    each = np.arange(len(missing))
    v = vectors[each, :, best]
    return values[each, best, None, None] * v[:, :, None] * v[:, None, :]


@pytest.mark.parametrize("name", ["FedNL, top 30", "FedNL, rank 1"])
def test_the_method_is_a_loop_in_numpy(name: str):
    page = method("fednl")
    clients = page.clients_of(100.0, 5)
    x, known = np.zeros(page.d), np.zeros((20, page.d, page.d))
    for _ in range(STEPS):
        missing = hessians(clients, x, L2) - known
        error = np.mean([np.linalg.norm(part) for part in missing])
        step = np.linalg.solve(known.mean(axis=0) + error * np.eye(page.d), gradients(clients, x, L2).mean(axis=0))
        x, known = x - step, known + (largest(missing, page.d) if "top" in name else rank_one(missing))
    run = bl.minimize(page.problem_of(clients), np.zeros(page.d), page.methods[name], steps=STEPS)
    np.testing.assert_allclose(run.x, x, rtol=1e-7, atol=1e-10)


@pytest.mark.full
def test_rounds_of_fednl_do_not_grow_with_the_condition():
    trials = whole("fednl").trials
    assert np.all(trials["EF21, top 3"][:, -1] > 5 * trials["EF21, top 3"][:, 0])
    for name in ("FedNL, top 30", "FedNL, rank 1"):
        assert np.all(trials[name][:, -1] < 1.5 * trials[name][:, 0])
        assert np.all(trials[name] < 0.2 * trials["EF21, top 3"])
