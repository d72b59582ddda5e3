"""The samples of every step as an array."""

import re
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ArgumentError, DTypeError, FileError, IndexRangeError, ShapeError
from burlab.optim import GD, Momentum
from tests.optim.probe import X0, A, B, loss, probe
from tests.run.saved_cases import same

TABLE = np.random.default_rng(5).integers(0, len(B), (12, 4))


@pytest.mark.parametrize("table", [TABLE, TABLE.astype(np.int32), TABLE.tolist(), np.asfortranarray(TABLE)])
def test_steps_use_the_rows(table: Any) -> None:
    """As a loop by hand does; a change of the array afterwards counts nothing."""
    problem = bl.FiniteSum(loss, (A, B))
    table = table if isinstance(table, list) else table.copy()
    run = bl.minimize(problem, X0, GD(0.1), sampler=table)
    table[0] = table[1]
    run.step(5)
    x = X0
    for i in TABLE[:5]:
        x = x - 0.1 * problem.grad(x, i)
    np.testing.assert_allclose(run.x, x, rtol=1e-13)
    np.testing.assert_array_equal(run.history["samples"], 4 * np.arange(1, 6))
    _, (got,), _ = probe(problem, X0, lambda f, x: f.indices, np.zeros(4, np.int64), 7, sampler=TABLE)
    np.testing.assert_array_equal(got, TABLE[6])


def test_a_run_ends_with_the_last_row(tmp_path: Any) -> None:
    problem = bl.FiniteSum(loss, (A, B))
    run = bl.minimize(problem, X0, Momentum(0.05), sampler=TABLE, steps=7)
    run.save(tmp_path / "run.burlab")
    loaded, fork = bl.load_run(tmp_path / "run.burlab", (A, B)), run.fork()
    late = bl.load_run(tmp_path / "run.burlab", (A, B), stop=bl.Stop(steps=100))
    run.seek(3)
    for other in (run, loaded, fork, late):
        other.step(100)
        assert (other.t, other.stopped.reason) == (12, "steps")
    same(loaded, run)
    np.testing.assert_array_equal(fork.x, run.x)
    np.testing.assert_array_equal(late.x, run.x)
    assert bl.minimize(problem, X0, GD(), sampler=TABLE, stop=bl.Stop(steps=3), steps=9).t == 3
    with pytest.raises(FileError):
        bl.load_run(tmp_path / "run.burlab", (A[:10], B[:10]))


def test_one_sample_a_step_and_threads() -> None:
    one = bl.minimize(bl.FiniteSum(loss, (A, B)), X0, GD(0.1), sampler=TABLE[:, :1], steps=9)
    x = X0
    for i in TABLE[:9, :1]:
        x = x - 0.1 * bl.FiniteSum(loss, (A, B)).grad(x, i)
    np.testing.assert_allclose(one.x, x, rtol=1e-13)
    many = np.random.default_rng(1).integers(0, len(B), (3, 64))
    runs = [bl.minimize(bl.FiniteSum(loss, (A, B), threads=k), X0, GD(0.1), sampler=many, steps=3) for k in (1, 2)]
    np.testing.assert_array_equal(runs[0].x, runs[1].x)


@pytest.mark.parametrize(
    ("options", "kind", "text"),
    [
        ({"sampler": TABLE / 2}, DTypeError, "sampler has dtype float64, expected integers from 0 to 22 of shape"),
        ({"sampler": TABLE[0]}, ShapeError, "sampler has shape (4,), expected (steps, b)"),
        ({"sampler": TABLE[:0]}, ShapeError, "sampler has shape (0, 4), expected (steps, b)"),
        ({"sampler": TABLE + 5}, IndexRangeError, "but there are 23 samples: use 0 to 22"),
        ({"sampler": TABLE, "batch": 5}, ArgumentError, "batch=5, but sampler has 4 samples for each step"),
        ({"sampler": 3.5}, ArgumentError, "got 3.5"),
        ({"sampler": "table"}, ArgumentError, "sampler must be one of 'reshuffle'"),
    ],
)
def test_tables_that_are_none(options: Any, kind: Any, text: str) -> None:
    with pytest.raises(kind, match=re.escape(text)):
        bl.minimize(bl.FiniteSum(loss, (A, B)), X0, GD(), **options)
