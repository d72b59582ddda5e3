"""Losses that read live numbers (`hyper`) and the step (`t`): schedules, changes by hand, queries, files."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

import burlab as bl
from burlab.errors import ArgumentError, BurlabError, DTypeError
from burlab.optim import GD, Hyper, Optimizer

RNG = np.random.default_rng(5)
A, Y = RNG.normal(size=(24, 4)), np.sign(RNG.normal(size=24))
X0 = RNG.normal(size=4)
LR = 0.3


def warm(t: Any) -> Any:
    return 0.02 * t


def loss(x: Any, a: Any, y: Any, hyper: Any, *, t: Any) -> Any:
    """A distilled score at a temperature, and a part that drifts with the step."""
    return hyper.T**2 * np.logaddexp(0.0, -y * (a @ x) / hyper["T"]) + 0.01 * t * x[0]


def term(x: Any, hyper: Any) -> Any:
    """What a KL weight multiplies."""
    return hyper.beta * np.sum(x**2)


def problem(**options: Any) -> bl.FiniteSum:
    return bl.FiniteSum(loss, (A, Y), term, hyper={"T": 2.0, "beta": warm}, **options)


def value_by_hand(x: Any, i: Any, T: float, beta: float, t: int) -> float:
    return float(np.mean(T**2 * np.logaddexp(0, -Y[i] * (A[i] @ x) / T)) + 0.01 * t * x[0] + beta * x @ x)


def gradient_by_hand(x: Any, i: Any, T: float, beta: float, t: int) -> Any:
    slope = -T * Y[i] / (1 + np.exp(Y[i] * (A[i] @ x) / T))
    return slope @ A[i] / len(i) + 0.01 * t * np.eye(4)[0] + 2 * beta * x


def numbers(t: int) -> tuple[float, float, int]:
    """Return T, beta and t of a step: T is set to 0.5 before step 8, beta to 0.3 from 12 to 15."""
    return (2.0 if t < 8 else 0.5), (0.3 if 12 <= t < 16 else warm(t)), t


def steered(run: bl.Run) -> bl.Run:
    run.step(8)
    run.hyper.T = 0.5
    run.step(4)
    run.hyper["beta"] = 0.3
    run.step(4)
    run.hyper["beta"] = None
    return run.step(4) or run


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("batch", [1, 6, 24])
def test_a_schedule_and_changes_by_hand(batch: int, threads: int, tmp_path: Any) -> None:
    """Against a loop in NumPy; seek, fork and save keep every bit."""
    run = bl.minimize(problem(threads=threads), X0, GD(LR), batch=batch, sampler="sequential")
    assert dict(run.hyper) == {"lr": LR, "T": 2.0, "beta": 0.0}
    steered(run)
    x, values, points = X0, [], [X0]
    for t in range(20):
        i = np.arange(t * batch, (t + 1) * batch) % 24
        values.append(value_by_hand(x, i, *numbers(t)))
        x = x - LR * gradient_by_hand(x, i, *numbers(t))
        points.append(x)
    np.testing.assert_allclose(run.x, x, rtol=1e-12)
    np.testing.assert_allclose(run.history["value"], values, rtol=1e-12)
    np.testing.assert_allclose(run.history["beta"], [numbers(t)[1] for t in range(20)], rtol=1e-15)
    np.testing.assert_array_equal(run.history["T"], [numbers(t)[0] for t in range(20)])
    last = run.x
    run.save(tmp_path / "run.burlab")
    loaded, fork = bl.load_run(tmp_path / "run.burlab", (A, Y)), run.fork()
    run.seek(10)
    np.testing.assert_allclose(run.x, points[10], rtol=1e-12)
    assert (run.hyper.T, run.hyper.beta) == (0.5, warm(10))
    run.seek(20)
    for one in (run, loaded, fork):
        np.testing.assert_array_equal(one.x, last)
        one.step(5)
    np.testing.assert_array_equal(loaded.x, run.x)
    np.testing.assert_array_equal(fork.x, run.x)
    loaded.seek(10)
    np.testing.assert_allclose(loaded.x, points[10], rtol=1e-12)


def test_float32_keeps_its_dtype() -> None:
    data = A.astype(np.float32), Y.astype(np.float32)
    f = bl.FiniteSum(loss, data, term, hyper={"T": 2.0, "beta": warm})
    run = bl.minimize(f, X0.astype(np.float32), GD(LR), batch=6, steps=10)
    wide = bl.minimize(problem(), X0, GD(LR), batch=6, steps=10)
    assert run.x.dtype == np.float32
    np.testing.assert_allclose(run.x, wide.x, rtol=1e-5)
    assert f.value(run.x, t=3).dtype == np.float32


@dataclass(frozen=True)
class Asking(Optimizer):
    """Gradient descent that logs what queries answer, and a part of it as state."""

    lr: Hyper = LR

    def init(self, x: Any, f: Any) -> Any:
        return (f.value(x),)

    def update(self, g: Any, state: Any, x: Any, t: Any, f: Any) -> Any:
        asked = {
            "asked_value": f.value(x - g),
            "asked_full": f.full_value(x),
            "asked_slope": f.jvp(x, g),
            "asked_curvature": g @ f.hvp(x, g),
            "asked_gradient": np.sum(f.grad(2 * x)),
            "asked_rows": np.sum(f.per_sample_grads(x) ** 2),
            "asked_entry": np.sum(f.partial_grad(x, np.array([0, 2]))),
            "asked_chosen": f.value(x, indices=np.array([3, 5])),
        }
        return x - self.lr * g, (state[0],), asked


def test_queries_of_a_rule_see_the_numbers_of_the_step() -> None:
    f = problem()
    run = bl.minimize(f, X0, Asking(), batch=6, sampler="sequential")
    assert run.state[0] == f.value(X0)  # before the first step: t = 0
    steered(run)
    for t in (0, 9, 13, 18):
        run.seek(t)
        x, i = run.x, np.arange(6 * t, 6 * t + 6) % 24
        T, beta, _ = numbers(t)
        told: Any = {"hyper": {"T": T, "beta": beta}, "t": t}
        g = f.grad(x, i, **told)
        wanted = {
            "asked_value": f.value(x - g, i, **told),
            "asked_full": f.value(x, **told),
            "asked_slope": f.jvp(x, g, i, **told),
            "asked_curvature": g @ f.hvp(x, g, i, **told),
            "asked_gradient": np.sum(f.grad(2 * x, i, **told)),
            "asked_rows": np.sum(f.per_sample_grads(x, i, **told) ** 2),
            "asked_entry": np.sum(f.partial_grad(x, [0, 2], i, **told)),
            "asked_chosen": f.value(x, [3, 5], **told),
        }
        for name, number in wanted.items():
            np.testing.assert_allclose(run.history[name][t], number, rtol=1e-11, err_msg=name)
        np.testing.assert_allclose(wanted["asked_full"], value_by_hand(x, np.arange(24), T, beta, t), rtol=1e-12)
        np.testing.assert_allclose(g, gradient_by_hand(x, i, T, beta, t), rtol=1e-12)


@pytest.mark.parametrize("fallback", [False, True])
def test_repeated_queries_of_a_problem(fallback: bool) -> None:
    """The second and the third of a kind go through the gate of C."""
    f = problem(has_aux=False)
    x, i = (X0.tolist() if fallback else X0), np.arange(24)
    x = np.array(x)
    for T, t in ((2.0, 0), (0.5, 3), (1.5, 7)):
        told: Any = {"hyper": {"T": T}, "t": t}
        np.testing.assert_allclose(f.value(x, **told), value_by_hand(x, i, T, warm(t), t), rtol=1e-13)
        np.testing.assert_allclose(f.grad(x, **told), gradient_by_hand(x, i, T, warm(t), t), rtol=1e-13)
        np.testing.assert_allclose(np.mean(f.per_sample_values(x, **told)) + warm(t) * x @ x, f.value(x, **told))
        both = f.value_and_grad(x, **told)
        np.testing.assert_allclose(both[1], f.grad(x, **told), rtol=1e-13)
        change = f.grad_difference(x, 2 * x, **told)
        np.testing.assert_allclose(change, f.grad(x, **told) - f.grad(2 * x, **told), atol=1e-13)
    assert f.value(x) == f.value(x, hyper={"T": 2.0, "beta": 0.0}, t=0)
    assert f.subset(np.arange(5)).value(x, hyper={"T": 0.5}, t=2) == f.value(x, np.arange(5), hyper={"T": 0.5}, t=2)


def test_validation_value_and_full_gradient_are_those_of_the_step() -> None:
    other = problem().subset(np.arange(7))
    stop = bl.Stop(grad_norm=1e-9, of="full", every=1)
    run = steered(bl.minimize(problem(), X0, GD(LR), batch=6, validation=other, validate_every=1, stop=stop))
    for t in (0, 9, 13, 18):
        run.seek(t)
        T, beta, _ = numbers(t)
        wanted = value_by_hand(run.x, np.arange(7), T, beta, t)
        np.testing.assert_allclose(run.history["validation_value"][t], wanted, rtol=1e-12)
        full = np.linalg.norm(gradient_by_hand(run.x, np.arange(24), T, beta, t))
        np.testing.assert_allclose(run.history["full_gradient_norm"][t], full, rtol=1e-12)
        np.testing.assert_allclose(run.value, value_by_hand(run.x, np.arange(24), T, beta, t), rtol=1e-12)
    run.hyper.T = 3.0
    np.testing.assert_allclose(run.value, value_by_hand(run.x, np.arange(24), 3.0, warm(18), 18), rtol=1e-12)
    plain = bl.minimize(problem(), X0, GD(LR), steps=3, validation=lambda x, hyper: hyper.T * x[0], validate_every=1)
    assert plain.history["validation_value"][0] == 2.0 * X0[0]


def test_functions_of_x_alone() -> None:
    def gated(x: Any, hyper: Any, *, t: Any) -> Any:
        gate = 1 / (1 + np.exp(-hyper.sharpness * x))
        return np.sum((gate * x - 1) ** 2) / (1 + t)

    def by_hand(x: Any, s: float, t: int) -> Any:
        return bl.grad(lambda x: np.sum((x / (1 + np.exp(-s * x)) - 1) ** 2) / (1 + t))(x)

    run = bl.minimize(gated, X0, GD(0.1), hyper={"sharpness": lambda t: 1.0 + t}, steps=10)
    run.hyper.sharpness = 2.0
    run.step(10)
    x = X0
    for t in range(20):
        x = x - 0.1 * by_hand(x, 1.0 + t if t < 10 else 2.0, t)
    np.testing.assert_allclose(run.x, x, rtol=1e-12)
    only = bl.minimize(lambda x, *, t: (x - t) ** 2, 0.0, GD(0.5), steps=4)
    assert only.x == 3.0
    assert list(only.hyper) == ["lr"]


def test_keys_metrics_weights_parts_and_sparse_rows() -> None:
    def noisy(x: Any, a: Any, y: Any, hyper: Any, *, key: Any, t: Any) -> Any:
        noise = bl.random.normal(key)
        return hyper.T * (a @ x["w"] - y + 0.1 * noise) ** 2 + t * x["b"] * x["n"], {
            "noise": noise,
            "seen": hyper.T + t,
        }

    x0 = {"w": X0, "b": np.array(0.5), "n": np.array(3)}
    f = bl.FiniteSum(noisy, (A, Y), hyper={"T": lambda t: 1.0 + t}, has_aux=True)
    chances = np.arange(1.0, 25.0) / 300
    run = bl.minimize(f, x0, GD(0.01), batch=4, sampler=chances, trainable=lambda name: name != "b", steps=4)
    weights = run.history["seen"] / (1 + 2 * np.arange(4.0))  # a mean of weights, which metrics are multiplied by
    assert np.all(weights > 0)
    assert run.x["b"] == 0.5
    assert run.x["n"] == 3
    whole = bl.minimize(f, x0, GD(0.01), batch=4, steps=4)
    np.testing.assert_allclose(whole.history["seen"], 1 + 2 * np.arange(4.0), rtol=1e-15)
    rows = csr_array(np.where(A > 0.5, A, 0.0))

    def linear(x: Any, a: Any, y: Any, hyper: Any) -> Any:
        return hyper.T * np.logaddexp(0, -y * (a @ x) / hyper.T)

    sparse = bl.FiniteSum(linear, (rows, Y), hyper={"T": 2.0})
    dense = bl.FiniteSum(linear, (rows.toarray(), Y), hyper={"T": 2.0})
    for told in ({}, {"T": 0.5}):
        got = sparse.per_sample_grads(X0, hyper=told)
        np.testing.assert_allclose(got.toarray(), dense.per_sample_grads(X0, hyper=told), rtol=1e-13)
    runs = [bl.minimize(one, X0, GD(0.1), batch=5, steps=8) for one in (sparse, dense)]
    np.testing.assert_allclose(runs[0].x, runs[1].x, rtol=1e-12)


def test_equal_losses_share_kernels_and_not_numbers() -> None:
    one, two = (bl.FiniteSum(loss, (A, Y), term, hyper={"T": T, "beta": warm}) for T in (2.0, 0.5))
    runs = [bl.minimize(f, X0, GD(LR), steps=3) for f in (one, two, one)]
    assert [run.hyper.T for run in runs] == [2.0, 0.5, 2.0]
    np.testing.assert_array_equal(runs[0].x, runs[2].x)
    assert np.any(runs[0].x != runs[1].x)
    other = bl.FiniteSum(loss, (A, Y), term, hyper={"T": 2.0, "beta": lambda t: 0.05 * t})
    assert np.any(bl.minimize(other, X0, GD(LR), steps=3).x != runs[0].x)


def test_a_sweep_tries_numbers_of_the_loss() -> None:
    swept = bl.sweep(problem(), X0, GD(LR), {"T": [0.5, 2.0], "lr": [0.1, 0.2]}, steps=5, progress=False)
    for row in swept.rows:
        x = X0
        for t in range(5):
            x = x - row.hypers["lr"] * gradient_by_hand(x, np.arange(24), row.hypers["T"], warm(t), t)
        np.testing.assert_allclose(swept.runs[row.number].x, x, rtol=1e-12)
        np.testing.assert_allclose(row.value, value_by_hand(x, np.arange(24), row.hypers["T"], warm(5), 5), rtol=1e-12)


def test_a_search_that_fails_goes_on_where_the_loss_moves_with_t() -> None:
    """A step that changes nothing does not repeat for ever: the wall beside 0 is there until step 5."""

    def walled(x: Any, *, t: Any) -> Any:
        return np.where(t < 5, np.where(x < 0, 1e3 - x, x), (x + 1) ** 2)

    run = bl.minimize(walled, 0.0, bl.optim.ArmijoGD(lr=0.5, warm=False), steps=12)
    assert run.t == 12
    assert run.x == -1.0
    still = bl.minimize(lambda x: np.where(x < 0, 1e3 - x, x), 0.0, bl.optim.ArmijoGD(lr=0.5, warm=False), steps=12)
    assert still.stopped


def _of(hyper: Any, f: Any = lambda x, a, hyper: x * a * hyper.b) -> bl.FiniteSum:
    return bl.FiniteSum(f, np.ones(3), hyper=hyper)


REFUSED = [
    (lambda: bl.problems.federated(lambda x, a, *, t: x * a, [np.ones(2)]), ArgumentError, "cannot read the step t"),
    (lambda: _of(3.0), ArgumentError, "hyper is 3.0"),
    (lambda: _of({}), ArgumentError, "hyper is {}"),
    (lambda: _of({2: 1.0}), ArgumentError, "hyper holds 2"),
    (lambda: _of({"a b": 1.0}), ArgumentError, "hyper holds 'a b'"),
    (lambda: _of({"batch": 1.0}), ArgumentError, "size of a batch"),
    (lambda: _of({"b": "1"}), DTypeError, r"hyper\['b'\]"),
    (lambda: _of({"b": np.inf}), ArgumentError, r"hyper\['b'\] is inf"),
    (lambda: _of({"b": lambda: 1.0}), ArgumentError, r"hyper\['b'\]"),
    (lambda: _of({"b": lambda t: np.ones(2)}).value(1.0), ArgumentError, "of b gave"),
    (lambda: _of({"b": 1.0}, lambda x, a: x), ArgumentError, "no function takes them"),
    (lambda: _of(None), ArgumentError, "missing a required argument: 'hyper'"),
    (lambda: _of(None, lambda x, a, t: x), ArgumentError, "behind a star"),
    (lambda: _of({"c": 1.0}).value(1.0), AttributeError, "has no 'b'; it has c"),
    (lambda: _of({"b": 1.0}).value(1.0, hyper={"c": 2.0}), ArgumentError, "hyper holds 'c'"),
    (lambda: _of({"b": 1.0}).value(1.0, hyper={"b": np.nan}), ArgumentError, "NaN"),
    (lambda: _of({"b": 1.0}).grad(1.0, t=-1), ArgumentError, "t=-1"),
    (lambda: _of(None, lambda x, a: x).grad(1.0, t=1), ArgumentError, "t was given"),
    (lambda: _of(None, lambda x, a: x).grad(1.0, hyper={"b": 1.0}), ArgumentError, "hyper was given"),
    (lambda: bl.minimize(_of({"b": 1.0}), 1.0, GD(), hyper={"b": 2.0}), ArgumentError, "FiniteSum"),
    (lambda: bl.minimize(_of({"lr": 1.0}, lambda x, a, hyper: x * hyper.lr), 1.0, GD()), ArgumentError, "'lr'"),
    (lambda: bl.minimize(_of({"value": 1.0}, lambda x, a, hyper: x), 1.0, GD()), ArgumentError, "'value' is a column"),
    (lambda: bl.minimize(_of({"b": 1.0}), 1.0, bl.optim.SciPy("BFGS")), ArgumentError, "SciPy"),
    (lambda: bl.minimize(lambda x: x**2, 1.0, GD(), validation=_of({"b": 1.0})), ArgumentError, "validation reads"),
    (lambda: bl.minimize(_of({"b": 1.0}), 1.0, GD(), validation=problem()), ArgumentError, "validation reads .* 'T'"),
    (
        lambda: bl.FiniteSum(lambda z, a, *, t: z, np.ones(3), model=lambda x, a: x * a),
        ArgumentError,
        "not for one with model=",
    ),
]


@pytest.mark.parametrize(("bad", "error", "words"), REFUSED)
def test_bad_numbers_are_refused(bad: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words) as found:
        bad()
    assert error is AttributeError or isinstance(found.value, BurlabError)


def ranged(x: Any, a: Any, hyper: Any) -> Any:
    return hyper.beta * (x - a) ** 2


def test_numbers_stay_in_the_ranges_that_are_given() -> None:
    problem = bl.FiniteSum(ranged, np.arange(3.0), hyper={"beta": (0.5, 0.0, 2.0)})
    run = bl.minimize(problem, 0.0, bl.optim.GD(0.1))
    run.hyper.beta = 2
    run.step()
    assert run.history["beta"].tolist() == [2.0]
    for act in (
        lambda: setattr(run.hyper, "beta", 2.5),
        lambda: problem.value(0.0, hyper={"beta": -1.0}),
        lambda: bl.FiniteSum(ranged, np.arange(3.0), hyper={"beta": (3.0, 0.0, 2.0)}),
        lambda: bl.sweep(problem, 0.0, bl.optim.GD(0.1), {"beta": [3.0]}, steps=1, progress=False),
    ):
        with pytest.raises(ArgumentError, match="expected a number at least 0 and at most 2"):
            act()
    assert run.fork().hyper.range_of("beta") == run.hyper.range_of("beta") is not None
    plain = bl.minimize(lambda x, hyper: hyper.c * x**2, 1.0, bl.optim.GD(0.1), hyper={"c": (lambda t: 1.0 + t, 0, 9)})
    assert (plain.hyper.c, plain.hyper.range_of("c")) == (1.0, (0.0, 9.0, False, False, False))


def test_a_list_of_runs_may_set_numbers_of_the_loss() -> None:
    problem = bl.FiniteSum(ranged, np.arange(3.0), hyper={"beta": (0.5, 0.0, 2.0)})
    listed = [{"optimizer": bl.optim.GD(0.1), "beta": 2.0}, {"optimizer": bl.optim.GD(0.1)}]
    sweep = bl.sweep(problem, 0.0, listed, steps=3, progress=False)
    for row, beta in zip(sweep.rows, (2.0, 0.5), strict=True):
        alone = bl.FiniteSum(ranged, np.arange(3.0), hyper={"beta": beta})
        assert row.value == bl.minimize(alone, 0.0, bl.optim.GD(0.1), steps=3).value
    with pytest.raises(ArgumentError, match="sets 'gamma', but GD has: lr; the loss: beta"):
        bl.sweep(problem, 0.0, [{"optimizer": bl.optim.GD(0.1), "gamma": 2.0}], steps=3)


def test_a_parameter_with_a_value_of_its_own_keeps_it() -> None:
    f = bl.FiniteSum(lambda x, a, t=2.0: t * x * a, np.ones(3))
    assert f.value(1.0) == 2.0
    times = bl.FiniteSum(lambda x, t: x * t, np.arange(4.0))
    assert times.value(1.0) == 1.5


def test_losses_of_whole_batches(tmp_path: Any) -> None:
    """Against a loop in NumPy: a variance of embeddings at a temperature."""

    def embedded(p: Any, a: Any) -> Any:
        return a @ p

    def spread(p: Any, z: Any, a: Any, hyper: Any, *, t: Any) -> Any:
        return np.var(z) / hyper.T + 0.1 * t * p[0]

    f = bl.BatchLoss(spread, A, lambda p, hyper: hyper.T * p @ p, embed=embedded, chunks=4, hyper={"T": 2.0})
    run = bl.minimize(f, X0, GD(0.05), batch=8, sampler="sequential", steps=10)
    run.hyper.T = 1.0
    run.step(10)
    x = X0
    for t in range(20):
        a, T = A[np.arange(8 * t, 8 * t + 8) % 24], 2.0 if t < 10 else 1.0
        centred = a - a.mean(axis=0)
        x = x - 0.05 * (2 * centred.T @ (centred @ x) / 8 / T + 0.1 * t * np.eye(4)[0] + 2 * T * x)
    np.testing.assert_allclose(run.x, x, rtol=1e-12)
    told: Any = {"hyper": {"T": 1.0}, "t": 20}
    means = [f.value(run.x, np.arange(k, k + 8), **told) for k in (0, 8, 16)]
    np.testing.assert_allclose(run.value, np.mean(means), rtol=1e-12)
    run.save(tmp_path / "run.burlab")
    loaded = bl.load_run(tmp_path / "run.burlab", A)
    loaded.step(3)
    run.step(3)
    np.testing.assert_array_equal(loaded.x, run.x)
