"""Runs of every kind that a file may hold, and what it means that two of them are the same."""

from pathlib import Path
from typing import Any

import numpy as np

import burlab as bl
from burlab.graph import tree
from burlab.optim import GD, LBFGS, Adam, ArmijoGD, Momentum, clip_by_norm, cosine
from tests.run.test_run import START, A, B, problem

RNG = np.random.default_rng(3)
FEATURES, TARGETS = RNG.normal(size=(50, 3)), RNG.normal(size=50)


def flat(x) -> np.ndarray:
    return np.concatenate([np.ravel(leaf) for leaf in tree.flatten(x)[0]])


def same(ours: bl.Run, theirs: bl.Run, since: int = 0) -> None:
    """Every bit of two runs is equal, but from row `since` on what a clock said."""
    assert (ours.t, ours.length) == (theirs.t, theirs.length)
    assert tree.flatten(ours.x)[1] == tree.flatten(theirs.x)[1]
    for mine, other in zip(
        tree.flatten((ours.x, ours.state))[0], tree.flatten((theirs.x, theirs.state))[0], strict=True
    ):
        assert (mine.shape, mine.dtype) == (other.shape, other.dtype)
        assert mine.tobytes() == other.tobytes()
    assert repr(ours.events) == repr(theirs.events)
    assert dict(ours.hyper) == dict(theirs.hyper)
    mine, other = ours.history, theirs.history
    assert list(mine) == list(other)
    assert mine.span == other.span
    for name in set(mine) - {"time"}:
        np.testing.assert_array_equal(mine[name], other[name], err_msg=name)
    np.testing.assert_array_equal(mine["time"][:since], other["time"][:since])
    assert (np.diff(mine["time"]) >= 0).all()
    if ours.path is not None:
        for points, others in zip(ours.path, theirs.path, strict=True):
            np.testing.assert_array_equal(points, others)


def replayed(run: bl.Run, data: Any, path: Path, step: int, more: int) -> bl.Run:
    """Return a fork of a run; the run, the fork and the loaded run seek to `step` and take `more` steps.

    Checks that the loaded run ends with the record of the run.
    """
    run.save(path / "run.burlab")
    loaded, fork = bl.load_run(path / "run.burlab", data), run.fork()
    run.seek(2)
    for other in (run, loaded, fork):
        other.seek(step)
        other.step(more)
    same(loaded, run)
    return fork


def noisy(x, a, b, *, key):
    return (a @ x - b) ** 2 * (1 + bl.random.uniform(key, ()))


def least_squares(x, a, b):
    return (a @ x - b) ** 2


def ridge(x):
    return 0.1 * np.sum(x**2)


def valley(x):
    return 100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2


DATA = FEATURES, TARGETS
SUM = {"regularizer": ridge}
CASES: dict[str, Any] = {
    "function": lambda: (bl.minimize(valley, np.array([-1.2, 1.0]), GD(1e-3)), None),
    "one number": lambda: (bl.minimize(lambda x: (x - 3) ** 2, np.float64(1.0), Momentum(0.01)), None),
    "float32": lambda: (bl.minimize(valley, np.array([-1.2, 1.0], np.float32), Adam(1e-2)), None),
    "tree": lambda: (bl.minimize(problem(), START, Adam(0.01), batch=16, seed=3), (A, B)),
    "batches": lambda: (
        bl.minimize(bl.FiniteSum(least_squares, DATA, **SUM), np.zeros(3), Momentum(0.01), batch=7),
        DATA,
    ),
    "uniform": lambda: (
        bl.minimize(bl.FiniteSum(least_squares, DATA), np.zeros(3), GD(0.01), batch=9, sampler="uniform", seed=2**63),
        DATA,
    ),
    "random": lambda: (
        bl.minimize(bl.FiniteSum(noisy, DATA, threads=2), np.zeros(3), Adam(0.01), batch=30, seed=9),
        DATA,
    ),
    "schedule": lambda: (bl.minimize(valley, np.zeros(2), Adam(cosine(1e-2, steps=300))), None),
    "questions": lambda: (
        bl.minimize(bl.FiniteSum(least_squares, DATA, **SUM), np.zeros(3), ArmijoGD(), batch=11),
        DATA,
    ),
    "curvature": lambda: (
        bl.minimize(valley, np.array([-1.2, 1.0, 0.0]), LBFGS(), stop=bl.Stop(non_finite=False)),
        None,
    ),
    "wrapped": lambda: (bl.minimize(valley, np.array([-1.2, 1.0]), clip_by_norm(GD(1e-3), 1.0)), None),
    "metrics": lambda: (
        bl.minimize(
            bl.FiniteSum(lambda x, a, b: ((a @ x - b) ** 2, {"miss": a @ x - b, "b": b}), DATA, ridge, has_aux=True),
            np.zeros(3),
            Adam(0.01),
            batch=7,
            validation=lambda x: np.sum(x**4),
            validate_every=10,
        ),
        DATA,
    ),
    "merged": lambda: (bl.minimize(valley, np.zeros(4), GD(1e-4), history_bytes=3000, keyframe_bytes=300), None),
}
