"""States of losses: what a loss reads and returns anew in each step. Batches, queries, time travel, files."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.optim import GD, Hyper, Momentum, Optimizer

RNG = np.random.default_rng(3)
A, Y = RNG.normal(size=(24, 4)), RNG.normal(size=24)
X0 = RNG.normal(size=4)
LR = 0.05
START: Any = {
    "mean": np.full(4, 0.1),
    "seen": np.array(0, np.int32),
    "frozen": (np.array([0.1, 0.3, 0.7]), np.array([True, False])),
}


def loss(x: Any, a: Any, y: Any, *, state: Any) -> Any:
    """A regression on samples that are centred by a running mean. One leaf depends on the sample, the others do not."""
    new = {"mean": 0.8 * state["mean"] + 0.2 * a, "seen": state["seen"] + 1, "frozen": state["frozen"]}
    return ((a - state["mean"]) @ x - y) ** 2 * (1 + 0.01 * state["seen"]), new


def term(x: Any, state: Any) -> Any:
    """What the regularizer reads of it."""
    return 0.1 * np.sum((x - state["mean"]) ** 2)


def problem(**options: Any) -> bl.FiniteSum:
    return bl.FiniteSum(loss, (A, Y), term, loss_state=START, **options)


def by_hand(x: Any, i: Any, mean: Any, seen: int) -> tuple[float, Any, Any]:
    """Value, gradient, and the next mean."""
    rest, factor = (A[i] - mean) @ x - Y[i], 1 + 0.01 * seen
    value = factor * np.mean(rest**2) + 0.1 * np.sum((x - mean) ** 2)
    gradient = 2 * factor * rest @ (A[i] - mean) / len(i) + 0.2 * (x - mean)
    return value, gradient, 0.8 * mean + 0.2 * A[i].mean(axis=0)


def loop_by_hand(batch: int, steps: int) -> list[tuple[Any, Any, float]]:
    """x, the mean and the value of each step."""
    x, mean, rows = X0, START["mean"], []
    for t in range(steps + 1):
        value, gradient, after = by_hand(x, np.arange(t * batch, (t + 1) * batch) % 24, mean, t)
        rows.append((x, mean, value))
        x, mean = x - LR * gradient, after
    return rows


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("batch", [1, 6, 24])
def test_a_run_against_a_loop_by_hand(batch: int, threads: int, tmp_path: Path) -> None:
    """Seek, fork and save keep every bit."""
    run = bl.minimize(problem(threads=threads), X0, GD(LR), batch=batch, sampler="sequential")
    np.testing.assert_array_equal(run.loss_state["mean"], START["mean"])
    run.step(20)
    rows = loop_by_hand(batch, 20)
    np.testing.assert_allclose(run.history["value"], [row[2] for row in rows[:20]], rtol=1e-12)
    x, state = run.x, run.loss_state
    run.save(tmp_path / "run.burlab")
    loaded, fork = bl.load_run(tmp_path / "run.burlab", (A, Y)), run.fork()
    assert loaded.fingerprint == run.fingerprint
    for one in (run, loaded, fork):
        for t in (7, 20):
            if one is not fork or t == 20:
                one.seek(t)
            np.testing.assert_allclose(one.x, rows[one.t][0], rtol=1e-12)
            np.testing.assert_allclose(one.loss_state["mean"], rows[one.t][1], rtol=1e-12)
            assert one.loss_state["seen"] == one.t
            assert one.loss_state["seen"].dtype == np.int32
            np.testing.assert_allclose(one.row_value(), rows[one.t][2], rtol=1e-12)
        same(one.loss_state, state)
        np.testing.assert_array_equal(one.x, x)
        same(one.loss_state["frozen"], START["frozen"])
        one.step(5)
    for one in (loaded, fork):
        np.testing.assert_array_equal(one.x, run.x)
        same(one.loss_state, run.loss_state)


def same(state: Any, other: Any) -> None:
    leaves, structure = bl.graph.tree.flatten(state)
    others, found = bl.graph.tree.flatten(other)
    assert structure == found
    for a, b in zip(leaves, others, strict=True):
        np.testing.assert_array_equal(a, b)
        assert a.dtype == b.dtype


def test_what_no_sample_changes_keeps_every_bit_in_a_batch() -> None:
    """The mean of n equal numbers is another number at times: 0.1 + 0.1 + 0.1 over 3 is not 0.1."""
    run = bl.minimize(problem(), X0, GD(LR), batch=3, steps=300)
    same(run.loss_state["frozen"], START["frozen"])
    assert run.loss_state["seen"] == 300


def test_evaluations_read_the_state_and_do_not_write_it() -> None:
    other = bl.FiniteSum(loss, (A[:7], Y[:7]), term, loss_state=START)
    stop = bl.Stop(grad_norm=1e-9, of="full", every=1)
    run = bl.minimize(
        problem(), X0, GD(LR), batch=6, sampler="sequential", validation=other, validate_every=1, stop=stop, steps=20
    )
    rows = loop_by_hand(6, 20)
    for t in (0, 9, 19):
        x, mean, _ = rows[t]
        value, _, _ = by_hand(x, np.arange(7), mean, t)
        np.testing.assert_allclose(run.history["validation_value"][t], value, rtol=1e-12)
        _, full, _ = by_hand(x, np.arange(24), mean, t)
        np.testing.assert_allclose(run.history["full_gradient_norm"][t], np.linalg.norm(full), rtol=1e-12)
    x, state, f = run.x, run.loss_state, run.problem
    value, gradient, _ = by_hand(x, np.arange(24), state["mean"], 20)
    for _ in range(3):
        np.testing.assert_allclose(run.value, value, rtol=1e-12)
        np.testing.assert_allclose(f.value(x, state=state), value, rtol=1e-12)
        np.testing.assert_allclose(f.grad(x, state=state), gradient, rtol=1e-12)
    np.testing.assert_allclose(f.value(x), by_hand(x, np.arange(24), START["mean"], 0)[0], rtol=1e-12)
    np.testing.assert_allclose(np.mean(f.per_sample_values(x, state=state)) + term(x, state), value, rtol=1e-12)
    rows_of = np.mean(f.per_sample_grads(x, state=state), axis=0)
    np.testing.assert_allclose(rows_of + 0.2 * (x - state["mean"]), gradient, rtol=1e-12)
    np.testing.assert_allclose(f.jvp(x, X0, state=state), gradient @ X0, rtol=1e-12)
    np.testing.assert_allclose(f.partial_grad(x, [2], state=state), gradient[2:3], rtol=1e-12)
    same(run.loss_state, state)


def test_the_value_of_a_run_follows_the_state_alone() -> None:
    run = bl.minimize(problem(), X0, GD(0.0), batch=6, steps=3)
    first = run.value
    run.step()
    assert run.value != first
    np.testing.assert_allclose(run.value, run.problem.value(X0, state=run.loss_state), rtol=1e-14)


def test_the_value_at_one_step_of_two_pasts() -> None:
    """x, t and numbers are equal, the states are not: no value is taken for that of the other past."""

    def weighted(x: Any, a: Any, state: Any, hyper: Any) -> Any:
        return (x - a + state) ** 2, state + hyper.weight

    f = bl.FiniteSum(weighted, np.arange(4.0), loss_state=0.0, hyper={"weight": 1.0})
    run = bl.minimize(f, 0.0, GD(0.0), batch=2, steps=1)
    first = run.value
    run.seek(0)
    run.hyper.weight = 3.0
    run.step()
    run.hyper.weight = 1.0
    assert run.loss_state == 3.0
    assert run.value == f.value(0.0, state=3.0) != first


def test_metrics_and_narrow_numbers() -> None:
    def measured(x: Any, a: Any, y: Any, *, state: Any) -> Any:
        value, new = loss(x, a, y, state=state)
        return value, new, {"seen": state["seen"], "first": a[0]}

    f = bl.FiniteSum(measured, (A, Y), term, loss_state=START, has_aux=True)
    run = bl.minimize(f, X0, GD(LR), batch=6, sampler="sequential", steps=20)
    np.testing.assert_array_equal(run.history["seen"], np.arange(20.0))
    np.testing.assert_allclose(run.history["first"][:4], A[:, 0].reshape(4, 6).mean(axis=1), rtol=1e-12)
    np.testing.assert_allclose(run.x, loop_by_hand(6, 20)[20][0], rtol=1e-12)
    start = START | {name: np.float32(START[name]) for name in ("mean", "seen")}
    narrow = bl.FiniteSum(loss, (A.astype(np.float32), Y.astype(np.float32)), term, loss_state=start)
    for batch in (1, 6):
        few = bl.minimize(narrow, X0.astype(np.float32), GD(LR), batch=batch, sampler="sequential", steps=20)
        assert few.loss_state["mean"].dtype == few.x.dtype == np.float32
        np.testing.assert_allclose(few.x, loop_by_hand(batch, 20)[20][0], rtol=1e-4)
        np.testing.assert_allclose(few.loss_state["mean"], loop_by_hand(batch, 20)[20][1], rtol=1e-4, atol=1e-5)


@dataclass(frozen=True)
class Asking(Optimizer):
    """Gradient descent that logs what queries answer, or that reads the gradients of its samples."""

    lr: Hyper = LR

    def update(self, g: Any, state: Any, x: Any, t: Any, *, f: Any) -> Any:
        asked = {
            "asked_value": f.value(x - g),
            "asked_full": f.full_value(x),
            "asked_rows": np.sum(f.per_sample_grads(x) ** 2),
            "asked_chosen": f.value(x, indices=np.array([3, 5])),
        }
        return x - self.lr * g, (), asked

    def init(self, x: Any) -> Any:
        return ()


def test_queries_of_a_rule_read_the_state_of_the_step() -> None:
    f = problem()
    run = bl.minimize(f, X0, Asking(), batch=6, sampler="sequential", steps=20)
    rows = loop_by_hand(6, 20)
    np.testing.assert_allclose(run.x, rows[20][0], rtol=1e-12)
    for t in (0, 9, 18):
        run.seek(t)
        x, i, state = run.x, np.arange(6 * t, 6 * t + 6) % 24, run.loss_state
        g = f.grad(x, i, state=state)
        wanted = {
            "asked_value": f.value(x - g, i, state=state),
            "asked_full": f.value(x, state=state),
            "asked_rows": np.sum(f.per_sample_grads(x, i, state=state) ** 2),
            "asked_chosen": f.value(x, [3, 5], state=state),
        }
        for name, number in wanted.items():
            np.testing.assert_allclose(run.history[name][t], number, rtol=1e-11, err_msg=name)


@dataclass(frozen=True)
class Ahead(Optimizer):
    """A rule that reads no gradient of its step, but one elsewhere, and logs the value itself."""

    lr: Hyper = LR

    def init(self, x: Any) -> Any:
        return ()

    def update(self, g: Any, state: Any, x: Any, t: Any, *, f: Any) -> Any:
        value, gradient = f.value_and_grad(x + 0.0)  # at x itself the gradient of the step would be known
        return x - self.lr * gradient, (), {"value": value}


@pytest.mark.parametrize("batch", [1, 6])
def test_a_rule_that_does_not_read_the_gradient_of_the_step(batch: int) -> None:
    """The loss is evaluated at x all the same, for its state."""
    run = bl.minimize(problem(), X0, Ahead(), batch=batch, sampler="sequential", steps=20)
    assert run.engine.setup.rule.logs_value  # pyright: ignore[reportAttributeAccessIssue] - of a loop
    rows = loop_by_hand(batch, 20)
    np.testing.assert_allclose(run.x, rows[20][0], rtol=1e-12)
    np.testing.assert_allclose(run.loss_state["mean"], rows[20][1], rtol=1e-12)
    np.testing.assert_allclose(run.history["value"], [row[2] for row in rows[:20]], rtol=1e-12)


@pytest.mark.parametrize("rule", [GD(1e-3), Momentum(1e-3)])
def test_long_points_are_updated_in_place(rule: Optimizer, tmp_path: Path) -> None:
    """x and the optimizer's state are in memory once; the state of the loss follows all the same."""
    size = 70_000
    x0, table = RNG.normal(size=size), RNG.normal(size=(5, size))

    def tracked(x: Any, a: Any, state: Any) -> Any:
        average = 0.9 * state["average"] + 0.1 * x
        return np.sum((x - a) ** 2) + np.sum((x - state["average"]) ** 2), {"average": average, "t": state["t"] + 1}

    f = bl.FiniteSum(tracked, table, loss_state={"average": np.zeros(size), "t": np.array(0)})
    for batch in (1, 5):
        run = bl.minimize(f, x0, rule, batch=batch, sampler="sequential", steps=6)
        assert run.memory["parameters"] < 8 * 1.1 * size
        x, average, v = x0, np.zeros(size), np.zeros(size)
        for t in range(6):
            i = np.arange(t * batch, (t + 1) * batch) % 5
            g = 2 * (x - table[i].mean(axis=0)) + 2 * (x - average)
            average, v = 0.9 * average + 0.1 * x, (0.9 * v + g if isinstance(rule, Momentum) else g)
            x = x - 1e-3 * v
        np.testing.assert_allclose(run.x, x, rtol=1e-12)
        np.testing.assert_allclose(run.loss_state["average"], average, rtol=1e-12)
        state = run.loss_state
        run.seek(2)
        assert run.loss_state["t"] == 2
        run.seek(6)
        same(run.loss_state, state)
    stopped = bl.minimize(f, x0, rule, batch=5, stop=bl.Stop(value=1e9), steps=3)
    assert (stopped.t, stopped.loss_state["t"]) == (0, 0)  # a step that a criterion rejects writes nothing


def test_batches_of_a_size_that_changes() -> None:
    run = bl.minimize(problem(), X0, GD(LR), batch=bl.Batch(lambda t: 1 + t, most=8), steps=6)
    mean = START["mean"]
    for t in range(6):
        run.seek(t + 1)
        change = (run.loss_state["mean"] - 0.8 * mean) / 0.2
        assert np.all(np.abs(change) <= np.abs(A).max())
        mean = run.loss_state["mean"]
    assert run.loss_state["seen"] == 6
    one = bl.minimize(problem(), X0, GD(LR), batch=bl.Batch(24), steps=1)
    np.testing.assert_allclose(one.loss_state["mean"], 0.8 * START["mean"] + 0.2 * A.mean(axis=0), rtol=1e-12)


def test_a_trained_part_and_whole_numbers() -> None:
    x0 = {"w": X0, "b": np.array(0.5), "n": np.array(3)}

    def parted(x: Any, a: Any, y: Any, *, state: Any) -> Any:
        value, new = loss(x["w"], a, y, state=state)
        return value + x["b"] * x["n"], new

    f = bl.FiniteSum(parted, (A, Y), lambda x, state: term(x["w"], state), loss_state=START)
    run = bl.minimize(f, x0, GD(LR), batch=6, sampler="sequential", trainable=lambda name: name != "b", steps=20)
    rows = loop_by_hand(6, 20)
    np.testing.assert_allclose(run.x["w"], rows[20][0], rtol=1e-12)
    np.testing.assert_allclose(run.loss_state["mean"], rows[20][1], rtol=1e-12)
    np.testing.assert_allclose(run.value, f.value(run.x, state=run.loss_state), rtol=1e-12)


def test_a_step_that_changes_only_the_state_is_no_end() -> None:
    """A search that finds no better point waits for the state of the loss, which lets it go on."""

    def walled(x: Any, _: Any, state: Any) -> Any:
        value = np.where(state < 5, np.where(x < 0, 1e3 - x, x), (x + 1) ** 2)
        return value, state + 1

    f = bl.FiniteSum(walled, np.zeros(1), loss_state=np.array(0))
    run = bl.minimize(f, 0.0, bl.optim.ArmijoGD(lr=0.5, warm=False), steps=12)
    assert (run.t, run.x) == (12, -1.0)


def test_another_run_of_a_problem_begins_anew_and_goes_on_with_a_new_problem() -> None:
    f = problem()
    runs = [bl.minimize(f, X0, GD(LR), batch=6, sampler="sequential", steps=10) for _ in range(2)]
    same(runs[0].loss_state, runs[1].loss_state)
    runs[0].restart(X0)
    same(runs[0].loss_state, START)
    shifted = bl.FiniteSum(loss, (A, Y), term, loss_state=START | {"mean": np.ones(4)})
    assert np.any(bl.minimize(shifted, X0, GD(LR), batch=6, sampler="sequential", steps=10).x != runs[1].x)
    one, more = bl.minimize(f, X0, GD(LR), steps=6), bl.minimize(f, X0, GD(LR), steps=3)
    going_on = bl.FiniteSum(loss, (A, Y), term, loss_state=more.loss_state)
    last = bl.minimize(going_on, more.x, GD(LR), steps=3)
    np.testing.assert_array_equal(last.x, one.x)
    same(last.loss_state, one.loss_state)


def test_a_state_of_a_class_and_complex_numbers(tmp_path: Path) -> None:
    @bl.pytree
    @dataclass(frozen=True)
    class Memory:
        spectrum: Any
        key: Any

    def heard(x: Any, a: Any, state: Any) -> Any:
        new, drawn = bl.random.split(state.key)
        noise = bl.random.normal(drawn)
        return (x - a - 0.1 * noise) ** 2, Memory(0.5j * state.spectrum + 1.0, new)

    start = Memory(np.array([1.0 + 2.0j, 3.0]), bl.random.key(3))
    run = bl.minimize(bl.FiniteSum(heard, np.zeros(4), loss_state=start), 0.0, GD(0.5), batch=2, steps=3)
    spectrum, key, x = start.spectrum, start.key, 0.0
    for _ in range(3):
        key, drawn = bl.random.split(key)
        x, spectrum = x - 0.5 * 2 * (x - 0.1 * float(bl.random.normal(drawn))), 0.5j * spectrum + 1.0
    np.testing.assert_allclose(run.x, x, rtol=1e-12)
    np.testing.assert_allclose(run.loss_state.spectrum, spectrum, rtol=1e-14)
    np.testing.assert_array_equal(run.loss_state.key, key)
    run.save(tmp_path / "run.burlab")
    loaded = bl.load_run(tmp_path / "run.burlab", np.zeros(4))
    loaded.step(2)
    run.step(2)
    np.testing.assert_array_equal(loaded.x, run.x)


def test_a_failure_behind_the_mean_is_said() -> None:
    """What needs no sample is computed once for a batch; there it may fail, too."""

    def picked(x: Any, a: Any, state: Any) -> Any:
        table, k = state
        return (x - a) ** 2, (table + 0.0 * table[k], k + 1)

    f = bl.FiniteSum(picked, np.arange(6.0), loss_state=(np.arange(3.0), np.array(0)))
    run = bl.minimize(f, 0.0, GD(0.1), batch=2)
    with pytest.raises(bl.errors.IndexRangeError, match="test_loss_state"):
        run.step(9)
    assert run.t == 3
    assert run.loss_state[1] == 3
