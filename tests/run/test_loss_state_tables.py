"""Tables in the state of a loss, of which a step writes some rows: only these are copied."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.errors import IndexRangeError
from burlab.optim import GD

RNG = np.random.default_rng(6)
N, ROWS, D = 40, 400, 3
A = RNG.normal(size=(N, D))
PLACES = RNG.integers(-ROWS, ROWS, size=N)  # with repeats, and negative ones
PLACES[1] = PLACES[0]
START: Any = {"bank": RNG.normal(size=(ROWS, D)), "seen": np.zeros(2 * ROWS, np.int64), "last": np.zeros(D)}
LR = 0.1


def recalled(x: Any, a: Any, i: Any, state: Any) -> Any:
    """Two tables of which rows are written, and a leaf that is given as a whole."""
    z = a * x
    bank, seen = state["bank"].copy(), state["seen"].copy()
    bank[i] = z
    seen[i] += 1
    new = {"bank": bank, "seen": seen, "last": 0.5 * state["last"] + x}
    return np.mean(np.sum((z - state["bank"][i]) ** 2, axis=-1)), new


def by_hand(batch: int, steps: int) -> list[tuple[Any, Any]]:
    x, state = np.ones(D), {name: leaf.copy() for name, leaf in START.items()}
    found = [(x, state)]
    for t in range(steps):
        rows = np.arange(t * batch, (t + 1) * batch) % N
        a, i = A[rows], PLACES[rows]
        z, old = a * x, state["bank"][i]
        state = {name: leaf.copy() for name, leaf in state.items()}
        counts = state["seen"][i] + 1
        for k, place in enumerate(i):  # the last one of equal places counts
            state["bank"][place], state["seen"][place] = z[k], counts[k]
        state["last"] = 0.5 * state["last"] + x
        x = x - LR * 2 * np.mean((z - old) * a, axis=0)
        found.append((x, state))
    return found


def check(run: bl.Run, rows: list[tuple[Any, Any]]) -> None:
    x, state = rows[run.t]
    np.testing.assert_allclose(run.x, x, rtol=1e-12)
    for name, leaf in run.loss_state.items():
        np.testing.assert_allclose(leaf, state[name], rtol=1e-12, err_msg=f"{name} at {run.t}")


def problem(kind: Any, places: Any = PLACES) -> Any:
    return kind(recalled, (A, places), loss_state=START)


@pytest.mark.parametrize(("kind", "batch"), [(bl.FiniteSum, 1), (bl.BatchLoss, 1), (bl.BatchLoss, 7)])
def test_rows_against_a_loop_by_hand(kind: Any, batch: int, tmp_path: Path) -> None:
    run = bl.minimize(problem(kind), np.ones(D), GD(LR), batch=batch, sampler="sequential")
    assert run.engine.setup.state_rows == (batch, 0, batch)  # pyright: ignore[reportAttributeAccessIssue] - of a loop
    rows = by_hand(batch, 25)
    for _ in range(20):
        run.step()
        check(run, rows)
    for t in (0, 13, 14, 3, 20):
        run.seek(t)
        check(run, rows)
    run.seek(9)
    fork = run.fork()
    run.save(tmp_path / "run.burlab")
    loaded = bl.load_run(tmp_path / "run.burlab", (A, PLACES))
    for one in (run, fork, loaded):
        one.step()
        check(one, rows)
        one.row_value()
        one.step(15)
        check(one, rows)
    assert np.isfinite(run.profile().total)


def test_a_step_that_is_rejected_or_measured_leaves_the_tables_as_they_are() -> None:
    rows = by_hand(7, 20)
    f = problem(bl.BatchLoss)
    run = bl.minimize(f, np.ones(D), GD(LR), batch=7, sampler="sequential", stop=bl.Stop(value=1e9))
    for t in range(4):  # each call passes the step at which the last one was stopped
        run.step(5)
        assert (run.t, run.stopped.reason if run.stopped else None) == (t, "value")
        check(run, rows)
    run = bl.minimize(f, np.ones(D), GD(LR), batch=7, sampler="sequential")
    number = run.breakpoints.add(rises=0.0)
    while run.t < 20:
        run.step(20 - run.t)
        check(run, rows)
        if run.t < 20:
            run.breakpoints.disable(number)
            run.step()
            run.breakpoints.enable(number)
            check(run, rows)


def test_tables_beside_a_point_that_is_updated_in_place() -> None:
    size = 70_000

    def long(x: Any, a: Any, i: Any, state: Any) -> Any:
        bank = state.copy()
        bank[i] = np.sum(x[:2]) * a
        return np.sum((x - a[0]) ** 2) + np.sum(state[i]), bank

    f = bl.FiniteSum(long, (A, np.arange(N)), loss_state=np.zeros((ROWS, D)))
    run = bl.minimize(f, np.zeros(size), GD(0.25), batch=1, sampler="sequential", steps=12)
    assert run.memory["parameters"] < 8 * 1.1 * size
    x, bank = 0.0, np.zeros((ROWS, D))
    for t in range(12):
        bank[t] = 2 * x * A[t]
        x = x - 0.5 * (x - A[t, 0])
    np.testing.assert_allclose(run.loss_state, bank, rtol=1e-12, atol=1e-14)
    state = run.loss_state
    run.seek(5)
    assert np.count_nonzero(run.loss_state) < np.count_nonzero(state)
    run.seek(12)
    np.testing.assert_array_equal(run.loss_state, state)


def test_a_row_that_does_not_exist() -> None:
    """The step is refused with the user's line, and the state before it stays."""
    places = np.arange(N)
    places[5] = ROWS

    def written(x: Any, a: Any, i: Any, state: Any) -> Any:
        bank = state.copy()
        bank[i] = a * x  # here
        return np.sum((x - a) ** 2), bank

    f = bl.FiniteSum(written, (A, places), loss_state=np.zeros((ROWS, D)))
    run = bl.minimize(f, np.ones(D), GD(LR), batch=1, sampler="sequential")
    with pytest.raises(IndexRangeError, match=rf"test_loss_state_tables.*loss_state was written at row {ROWS}, but it"):
        run.step(9)
    assert run.t == 5
    assert np.count_nonzero(run.loss_state.any(axis=1)) == 5
