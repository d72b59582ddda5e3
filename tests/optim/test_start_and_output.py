"""Start and output of a rule: `init(x, *, f)`, `output(x, state)`, `minimize(..., state=)`."""

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ArgumentError, DTypeError, IndexRangeError, ShapeError
from burlab.graph import tree
from burlab.optim import GD, Adam, Hyper, Momentum, Optimizer, clip_by_norm
from tests.optim.probe import X0, A, B, V, loss, noisy, ridge
from tests.run.saved_cases import same
from tests.run.test_sampler import batches


@dataclass(frozen=True)
class Starts(Optimizer):
    """Keeps what init asked."""

    def init(self, x: Any, *, f: Any) -> Any:
        value, gradient = f.value_and_grad(x)
        return {
            "value": f.value(2 * x),
            "both": (value, gradient),
            "few": f.grad(x, indices=[1, 4]),
            "full": (f.full_grad(x), f.full_value(x)),
            "hvp": f.hvp(x, V),
            "jvp": f.jvp(x, V),
            "rows": f.per_sample_grads(x),
            "sizes": np.array([f.batch, f.samples]),
            "key": f.key,
        }

    def update(self, g: Any, state: Any, x: Any, t: Any) -> Any:
        return x - 0.1 * g, state


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("wrapped", [False, True])
def test_init_queries_all_samples(threads: int, wrapped: bool) -> None:
    problem = bl.FiniteSum(loss, (A, B), ridge, threads=threads)
    rule = clip_by_norm(Starts(), 1.0) if wrapped else Starts()
    s = bl.minimize(problem, X0, rule, batch=5, seed=8).state
    value, gradient = problem.value_and_grad(X0)
    wanted = {
        "value": problem.value(2 * X0), "both": (value, gradient), "few": problem.grad(X0, [1, 4]),
        "full": (gradient, value), "hvp": problem.hvp(X0, V), "jvp": problem.jvp(X0, V),
        "rows": problem.per_sample_grads(X0), "sizes": np.array([5, 23]),
        "key": bl.random.fold_in(bl.random.key(8), -1),
    }  # fmt: skip
    for a, b in zip(tree.flatten(s)[0], tree.flatten(wanted)[0], strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-14)


def test_init_on_leaves_and_with_keys() -> None:
    @dataclass(frozen=True)
    class Leaves(Optimizer):
        per_leaf = True

        def init(self, x: Any, *, f: Any) -> Any:
            return f.grad({"w": 2 * x["w"]})

        def update(self, g: Any, state: Any, x: Any, t: Any) -> Any:
            return x, state

    run = bl.minimize(lambda p: np.sum(p["w"] ** 3), {"w": np.ones((2, 2))}, Leaves())
    np.testing.assert_array_equal(run.state["w"], np.full((2, 2), 12.0))

    @dataclass(frozen=True)
    class Keyed(Optimizer):
        def init(self, x: Any, *, f: Any) -> Any:
            return {"g": f.grad(x), "key": f.key}

        def update(self, g: Any, state: Any, x: Any, t: Any) -> Any:
            return x, state

    problem = bl.FiniteSum(noisy, (A, B))
    state = bl.minimize(problem, X0, Keyed(), seed=3).state
    np.testing.assert_array_equal(state["g"], problem.grad(X0, key=state["key"]))


@dataclass(frozen=True)
class Averaged(Optimizer):
    """Gradient descent that gives the mean of its points; `tail` is a live field of what it gives."""

    lr: Hyper = 0.1
    pull: Hyper = 0.0

    def init(self, x: Any) -> Any:
        return {"sum": np.zeros_like(x), "count": np.asarray(0.0, x.dtype)}

    def update(self, g: Any, state: Any, x: Any, t: Any) -> Any:
        return x - self.lr * g, {"sum": state["sum"] + x, "count": state["count"] + 1}

    def output(self, x: Any, state: Any) -> Any:
        return (1 - self.pull) * (state["sum"] + x) / (state["count"] + 1)


def by_hand(problem: Any, steps: int, batch: int, seed: int) -> tuple[Any, Any]:
    x, points = X0, [X0]
    for i in batches("reshuffle", len(B), batch, steps, seed=seed):
        x = x - 0.1 * problem.grad(x, i)
        points.append(x)
    return x, np.mean(points, axis=0)


def test_output_of_a_rule_is_x_of_the_run(tmp_path: Any) -> None:
    """run.x and validations; seek, fork and files; the iterates are those of plain descent."""
    problem = bl.FiniteSum(loss, (A, B))
    run = bl.minimize(problem, X0, Averaged(), batch=4, seed=2, validation=problem, validate_every=3)
    assert np.array_equal(run.x, X0)
    plain = bl.minimize(problem, X0, GD(0.1), batch=4, seed=2, steps=9)
    run.step(9)
    x, mean = by_hand(problem, 9, 4, 2)
    np.testing.assert_allclose(run.x, mean, rtol=1e-13)
    np.testing.assert_allclose(run.iterate, x, rtol=1e-13)
    np.testing.assert_array_equal(run.iterate, plain.x)
    np.testing.assert_array_equal(run.history["value"], plain.history["value"])
    for step in (0, 3, 6):
        assert run.history["validation_value"][step] == pytest.approx(problem.value(by_hand(problem, step, 4, 2)[1]))
    run.save(tmp_path / "run.burlab")
    loaded = bl.load_run(tmp_path / "run.burlab", (A, B), validation=(A, B))
    fork = run.fork()
    for other in (run, loaded, fork):
        other.step(3)
        other.seek(5)
        np.testing.assert_allclose(other.x, by_hand(problem, 5, 4, 2)[1], rtol=1e-13)
        other.seek(12)
    same(loaded, run)
    np.testing.assert_array_equal(fork.x, run.x)
    run.hyper["pull"] = 0.5
    np.testing.assert_allclose(run.x, fork.x / 2, rtol=1e-15)


def test_wrappers_leaves_and_float32_give_too() -> None:
    run = bl.minimize(lambda x: np.sum(x**2), X0.astype(np.float32), clip_by_norm(Averaged(), 1e9), steps=2)
    assert run.x.dtype == np.float32
    points = [X0, 0.8 * X0, 0.64 * X0]
    np.testing.assert_allclose(run.x, np.mean(points, axis=0), rtol=1e-6)

    @dataclass(frozen=True)
    class Leaves(Optimizer):
        per_leaf = True

        def update(self, g: Any, state: Any, x: Any, t: Any) -> Any:
            return x, state

        def output(self, x: Any, state: Any) -> Any:
            return {"w": 2 * x["w"]}

    run = bl.minimize(lambda p: np.sum(p["w"]), {"w": np.ones((2, 2))}, Leaves(), steps=1)
    np.testing.assert_array_equal(run.x["w"], np.full((2, 2), 2.0))


@pytest.mark.parametrize("rule", [Adam(0.1), Momentum(0.1), clip_by_norm(Averaged(), 1.0)], ids=repr)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_run_goes_on_from_the_state_of_another(rule: Any, dtype: Any) -> None:
    """Where the rule does not look at t; Adam does, and is compared in its state alone."""
    f = lambda x: np.sum(x**4 + x**2)  # noqa: E731
    first = bl.minimize(f, X0.astype(dtype), rule, steps=5)
    second = bl.minimize(f, first.iterate, rule, state=first.state)
    for a, b in zip(tree.flatten(first.state)[0], tree.flatten(second.state)[0], strict=True):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(first.x, second.x)
    first.step(3)
    second.step(3)
    if not isinstance(rule, Adam):
        np.testing.assert_array_equal(first.x, second.x)


@dataclass(frozen=True)
class Wrong(Optimizer):
    kind: str = "long"

    def init(self, x: Any, *, f: Any) -> Any:
        if self.kind == "indices":
            f.indices  # noqa: B018
        if self.kind == "outside":
            f.grad(x, indices=[99])
        return {"v": x}

    def update(self, g: Any, state: Any, x: Any, t: Any) -> Any:
        return x, state

    def output(self, x: Any, state: Any) -> Any:
        return {"long": x[:2], "none": None}.get(self.kind, x)

    def batch_size(self, state: Any) -> Any:
        return {"many": np.ones(3), "word": "all"}.get(self.kind)


@pytest.mark.parametrize(
    ("rule", "more", "kind", "text"),
    [
        (Wrong(), {}, ShapeError, "Wrong.output returned [((2,), dtype('float64'))], expected one vector as x is"),
        (Wrong("none"), {}, ShapeError, "Wrong.output returned [], expected one vector"),
        (Wrong("many"), {"batch": bl.Batch(2)}, ShapeError, "Wrong.batch_size gave has shape (3,), expected (): the"),
        (Wrong("word"), {"batch": bl.Batch(2)}, ArgumentError, "Wrong.batch_size gave is a str, expected a real"),
        (Wrong("indices"), {}, ArgumentError, "f.indices are the samples of a step, and init comes before the first"),
        (Wrong("outside"), {}, IndexRangeError, "indices of f.grad holds 99, but there are 23 samples"),
        (Momentum(0.1), {"state": {"m": X0}}, ArgumentError, "state has the structure"),
        (Momentum(0.1), {"state": {"v": X0[:2]}}, ShapeError, "state['v'] has shape (2,), expected (3,)"),
        (
            Momentum(0.1),
            {"state": {"v": X0.astype("f4")}},
            DTypeError,
            "state['v'] has dtype float32, expected",
        ),
        (bl.optim.SciPy("BFGS"), {"state": {}}, ArgumentError, "take no state"),
    ],
)
def test_invalid_init_or_output_raises(rule: Any, more: Any, kind: Any, text: str) -> None:
    with pytest.raises(kind, match=re.escape(text)):
        bl.minimize(bl.FiniteSum(loss, (A, B)), X0, rule, **more)
