"""Integers and masks of x0 beside floats: state of the run, which the loss reads and a rule may change."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ArgumentError, DTypeError
from burlab.optim import GD, Adam, Hyper, Muon, Optimizer, SciPy
from burlab.run.opener import Opener

RNG = np.random.default_rng(8)
DTYPES = [np.float64, np.float32]


def start(dtype: Any) -> Any:
    return {
        "w": RNG.normal(size=(4, 3)).astype(dtype),
        "mask": np.array([True, False, True, True]),
        "rows": np.array([3, 0, 2, 2], np.int8),
        "count": np.array(-(1 << 40)),
        "key": np.array([2**64 - 1, 5], np.uint64),
    }


def loss(p: Any) -> Any:
    w = np.where(p["mask"][:, None], p["w"], 0)[p["rows"]]
    return np.sum(w**2) + np.sum(p["w"] ** 4)


@dataclass(frozen=True)
class Pruning(Optimizer):
    """Gradient descent that turns the mask, counts its steps, and moves the rows and the key."""

    all_leaves = True
    lr: Hyper = 0.05

    def update(self, g: Any, state: Any, x: Any, t: Any) -> Any:
        after = {
            "w": x["w"] - self.lr * g["w"],
            "mask": np.roll(x["mask"], 1),
            "rows": (x["rows"] + 1) % 4 - 2 * (t % 2),
            "count": x["count"] + 3,
            "key": x["key"] ^ (x["key"] << 7),
        }
        after["rows"] = after["rows"].astype(np.int8)
        return after, state


def by_hand(x: Any, steps: int, lr: float) -> Any:
    x = {name: leaf.copy() for name, leaf in x.items()}
    for t in range(steps):
        g = bl.grad(lambda w: loss(x | {"w": w}))(x["w"])  # noqa: B023 - called at once
        x = {
            "w": x["w"] - x["w"].dtype.type(lr) * g,
            "mask": np.roll(x["mask"], 1),
            "rows": ((x["rows"] + 1) % 4 - 2 * (t % 2)).astype(np.int8),
            "count": x["count"] + 3,
            "key": x["key"] ^ (x["key"] << np.uint64(7)),
        }
    return x


def same(got: Any, wanted: Any, rtol: float = 0.0) -> None:
    for name, leaf in wanted.items():
        assert got[name].dtype == leaf.dtype, name
        assert got[name].shape == leaf.shape, name
        np.testing.assert_allclose(got[name], leaf, rtol=rtol if leaf.dtype.kind == "f" else 0)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("optimizer", [GD(0.05), Adam(0.05), Muon(0.05)])
def test_other_rules_leave_them_and_the_loss_reads_them(dtype: Any, optimizer: Any) -> None:
    x = start(dtype)
    run = bl.minimize(loss, x, optimizer, steps=5)
    alone = bl.minimize(lambda p: loss(x | p), {"w": x["w"]}, optimizer, steps=5)
    same(run.x, x | alone.x)
    assert run.x["w"].dtype == dtype


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("steps", [0, 1, 7])
def test_a_rule_changes_them(dtype: Any, steps: int) -> None:
    x = start(dtype)
    run = bl.minimize(loss, x, Pruning(0.05), steps=steps)
    same(run.x, by_hand(x, steps, 0.05), rtol=1e-5 if dtype is np.float32 else 1e-12)


def test_their_change_is_no_step_of_x() -> None:
    x = start(np.float64)
    run = bl.minimize(loss, x, Pruning(0.0), steps=4)
    assert run.x["count"] == x["count"] + 12
    assert (run.history["step_norm"] < 1e-80).all()


def test_runs_go_back_fork_and_are_files(tmp_path: Any) -> None:
    x = start(np.float32)
    run = bl.minimize(loss, x, Pruning(0.05), steps=20)
    last = run.x
    run.seek(6)
    same(run.x, by_hand(x, 6, 0.05), rtol=1e-5)
    other = run.fork(lr=0.1)
    other.step(2)
    assert other.x["count"] == x["count"] + 24
    run.save(tmp_path / "run.b")
    again = bl.load_run(tmp_path / "run.b")
    again.seek(20)
    same(again.x, last)
    again.step(3)
    assert again.x["count"] == x["count"] + 69
    frozen = bl.minimize(loss, x, GD(0.05), steps=3)
    frozen.save(tmp_path / "frozen.b")
    same(bl.load_run(tmp_path / "frozen.b").x, frozen.x)


def test_runs_of_one_opener_start_from_their_own() -> None:
    opener, first = Opener(loss), start(np.float64)
    second = first | {"count": np.array(5), "w": first["w"] * 2}
    for x in (first, second, first):
        for optimizer in (Pruning(0.05), GD(0.05)):
            run = opener.open(x, optimizer, 0)
            run.step(3)
            wanted = (
                by_hand(x, 3, 0.05) if isinstance(optimizer, Pruning) else bl.minimize(loss, x, optimizer, steps=3).x
            )
            same(run.x, wanted, rtol=1e-12)


def test_they_are_never_trained_alone_and_keep_their_dtype() -> None:
    x = start(np.float64)
    with pytest.raises(ArgumentError, match="trainable is False for all floats of x0"):
        bl.minimize(loss, x, GD(0.1), trainable=lambda path: path == "mask")

    @dataclass(frozen=True)
    class Counting(Pruning):
        def update(self, g: Any, state: Any, x: Any, t: Any) -> Any:
            return x | {"count": x["count"] + 1}, state

    run = bl.minimize(loss, x, Counting(), trainable=lambda path: path in ("w", "count"), steps=2)
    same(run.x, x | {"count": x["count"] + 2})

    @dataclass(frozen=True)
    class Wrong(Pruning):
        def update(self, g: Any, state: Any, x: Any, t: Any) -> Any:
            return x | {"count": x["count"] + 0.5}, state

    with pytest.raises(DTypeError, match="a leaf of float64, expected int64"):
        bl.minimize(loss, x, Wrong())


def test_integers_alone_and_python_numbers_become_floats() -> None:
    run = bl.minimize(lambda x: np.sum((x - 0.5) ** 2), np.array([1, 2]), GD(0.25), steps=1)
    np.testing.assert_array_equal(run.x, [0.75, 1.25])
    both = bl.minimize(lambda p: p["a"] ** 2 + np.sum(p["b"] ** 2), {"a": 3, "b": np.ones(2)}, GD(0.25), steps=1)
    assert both.x["a"] == 1.5


def test_scipy_leaves_them() -> None:
    x = start(np.float64)
    run = bl.minimize(loss, x, SciPy("BFGS"), steps=3)
    same({k: v for k, v in run.x.items() if k != "w"}, {k: v for k, v in x.items() if k != "w"})


def test_problems_answer_at_trees_that_hold_them() -> None:
    problem = bl.FiniteSum(lambda p, a: a * loss(p), np.arange(1.0, 4.0))
    for k in range(3):
        x = start(np.float64) | {"count": np.array(k)}
        wanted = bl.grad(lambda w, x=x: 2 * loss(x | {"w": w}))(x["w"])
        value, gradient = problem.value_and_grad(x)
        np.testing.assert_allclose(value, 2 * loss(x))
        np.testing.assert_allclose(problem.value(x, [2]), 3 * loss(x))
        np.testing.assert_allclose(gradient["w"], wanted)
        assert {name for name, leaf in problem.grad(x).items() if leaf is None} == {"mask", "rows", "count", "key"}
    run = bl.minimize(problem, x, Pruning(0.01), batch=1, steps=4)
    np.testing.assert_allclose(run.value, problem.value(run.x))
    fold = problem.subset([0])
    np.testing.assert_allclose(fold.value(x), loss(x))
    np.testing.assert_allclose(problem.value(x), 2 * loss(x))
