"""The column "flops": against optimizers in plain Python on numbers that count, wherever a run goes."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import burlab as bl
from tests.counted_numbers import PlainLoops, counted, done

rng = np.random.default_rng(0)
A, B = rng.normal(size=(12, 3)), rng.normal(size=12)
START, BATCH, STEPS = np.array([0.3, -0.2, 0.1]), 4, 6
dot = PlainLoops().dot


def loss(x: Any, a: Any, b: Any) -> Any:
    return (a @ x - b) ** 2


def penalty(x: Any) -> Any:
    return 0.1 * np.sum(x * x)


def flops() -> int:
    return sum(done[kind] for kind in ("multiplications", "additions", "transcendental"))


def mean_gradient(x: Any, samples: Any, *, value: bool, penalized: bool = False) -> Any:
    """Gradient of the mean loss, and perhaps its value, number by number."""
    residuals = [(a, dot(a, x) - b) for a, b in samples]
    values = [residual * residual for _, residual in residuals] if value else []
    gradients = [a * (2.0 * residual) for a, residual in residuals]
    total, gradient = (mean(those) if those else None for those in (values, gradients))
    if penalized:
        total, gradient = total + PlainLoops().sum(x * x) * 0.1, gradient + x * 2.0 * 0.1
    return gradient


def mean(numbers: list[Any]) -> Any:
    """The mean of numbers or arrays, by a sum that begins at 0; of a single one nothing is computed."""
    return sum(numbers[1:], numbers[0] + 0.0) / len(numbers) if len(numbers) > 1 else numbers[0]


def samples_of(rows: Any) -> Any:
    return [(counted(A[row]), float(B[row])) for row in rows]


def descent(count: int, *, penalized: bool = False) -> list[int]:
    """Flops up to each step of gradient descent on so many samples."""
    done.clear()
    x, found = counted(START), []
    for _ in range(STEPS):
        x = x - mean_gradient(x, samples_of(range(count)), value=True, penalized=penalized) * 0.1
        found.append(flops())
    return found


def svrg() -> list[int]:
    """The same of SVRG, which takes the full gradient in each third step, and two gradients of the batch in all."""
    done.clear()
    x, found = counted(START), []
    snapshot, full = x, x
    for t in range(STEPS):
        if t % 3 == 0:
            snapshot, full = x, mean_gradient(x, samples_of(range(len(B))), value=False)
        batch = samples_of(range(BATCH))
        here = mean_gradient(x, batch, value=True)
        x = x - (here - mean_gradient(snapshot, batch, value=False) + full) * 0.1
        found.append(flops())
    return found


def finite_sum(**options: Any) -> bl.FiniteSum:
    return bl.FiniteSum(loss, (A, B), **options)


@pytest.mark.parametrize("batch", [1, BATCH, None])
def test_gradient_descent_counts_as_plain_python_does(batch: int | None) -> None:
    run = bl.minimize(finite_sum(), START, bl.optim.GD(0.1), batch=batch, steps=STEPS)
    np.testing.assert_array_equal(run.history["flops"], descent(batch or len(B)))
    assert run.history["flops"].dtype == np.float64
    assert run.counts["flops"] == run.history["flops"][-1]
    digest = run.digest()
    digest.read()
    np.testing.assert_array_equal(digest.cost("flops"), run.history["flops"])


def test_a_regularizer_counts_once_for_each_evaluation() -> None:
    run = bl.minimize(finite_sum(regularizer=penalty), START, bl.optim.GD(0.1), batch=BATCH, steps=STEPS)
    np.testing.assert_array_equal(run.history["flops"], descent(BATCH, penalized=True))


@dataclass(frozen=True)
class SVRG(bl.optim.Optimizer):
    """Johnson and Zhang 2013, option I, with a full gradient in each third step."""

    def init(self, x: Any) -> Any:
        return x, x

    def update(self, g: Any, state: Any, x: Any, t: Any, *, f: Any) -> Any:
        snapshot, full = bl.cond(t % 3 == 0, lambda: (x, f.full_grad(x)), lambda: state)
        return x - 0.1 * (g - f.grad(snapshot) + full), (snapshot, full)


def of_svrg(**options: Any) -> bl.Run:
    return bl.minimize(finite_sum(), START, SVRG(), batch=BATCH, **options)


def test_full_gradients_count_where_they_are_computed() -> None:
    np.testing.assert_array_equal(of_svrg(steps=STEPS).history["flops"], svrg())


def test_they_follow_a_change_in_the_past_a_fork_and_a_file(tmp_path: Any) -> None:
    run = of_svrg(steps=STEPS)
    run.seek(2)
    other = run.fork()
    run.step(3)
    other.step(4)
    run.save(tmp_path / "run.burlab")
    again = bl.load_run(tmp_path / "run.burlab", (A, B))
    again.step(1)
    np.testing.assert_array_equal(run.history["flops"], svrg())
    np.testing.assert_array_equal(other.history["flops"], svrg())
    np.testing.assert_array_equal(again.history["flops"], svrg())


def test_they_go_on_where_rows_were_merged() -> None:
    plain = bl.minimize(finite_sum(), START, bl.optim.GD(0.01), batch=BATCH, steps=5000)
    merged = bl.minimize(finite_sum(), START, bl.optim.GD(0.01), batch=BATCH, steps=5000, history_bytes=4096)
    assert merged.history.span > 2
    np.testing.assert_array_equal(merged.history["flops"], plain.history["flops"][merged.history["step"]])


def test_a_line_search_counts_its_trials() -> None:
    """Each value of a trial costs the same, and what a step does besides is the same in all steps."""
    rule = bl.optim.ArmijoGD(lr=1.0, warm=False)
    run = bl.minimize(finite_sum(), START, rule, steps=STEPS)
    trials = np.diff(run.history["values"], prepend=0) // len(B)
    done.clear()
    total, x = counted(0.0), counted(START)
    for a, b in samples_of(range(len(B))):
        residual = dot(a, x) - b
        total = total + residual * residual
    total = total / len(B)
    spent = np.diff(run.history["flops"], prepend=0)
    assert len(set(trials)) > 1, "the search backs off in some steps"
    assert len(set(spent - trials * flops())) == 1


def test_two_kinds_of_one_counter_in_the_open_are_exact() -> None:
    """Hessian-vector products over the batch, and over chosen samples, in each step."""

    @dataclass(frozen=True)
    class Curved(bl.optim.Optimizer):
        def init(self, x: Any) -> Any:
            return ()

        def update(self, g: Any, state: Any, x: Any, t: Any, *, f: Any) -> Any:
            return x - 0.1 * (f.hvp(x, g) + f.hvp(x, g, indices=[1, 2])), state

    problem = finite_sum(regularizer=penalty)
    one = bl.minimize(problem, START, Curved(), batch=BATCH, steps=2)
    each = bl.counts(lambda x, v, a, b: bl.hvp(lambda x: loss(x, a, b))(x, v), START, START, A[0], B[0]).flops
    extra = bl.counts(bl.hvp(penalty), START, START).flops
    plain = descent(BATCH, penalized=True)[0] - 2 * 3  # without the update of gradient descent
    products = (BATCH + 2) * each + (BATCH + 1 + 2 + 1) * 3 + 2 * (extra + 3)
    assert one.history["flops"][0] == plain + products + 3 + 2 * 3


def test_batches_of_varying_size_count_their_samples() -> None:
    sizes = bl.Batch(lambda t: 2 + 2 * (t % 2), most=4)
    run = bl.minimize(finite_sum(), START, bl.optim.GD(0.1), batch=sizes, steps=STEPS)
    spent = np.diff(run.history["flops"], prepend=0)
    assert spent[1] > spent[0] == spent[2]


@pytest.mark.parametrize(("method", "kind"), [("L-BFGS-B", bl.value_and_grad), ("Nelder-Mead", None)])
def test_minimizers_of_scipy_count_their_evaluations(method: str, kind: Any) -> None:
    def quadratic(x: Any) -> Any:
        return np.sum(x * x)

    run = bl.minimize(quadratic, START, bl.optim.SciPy(method), steps=3)
    each = bl.counts(quadratic if kind is None else kind(quadratic), START).flops
    np.testing.assert_array_equal(run.history["flops"], run.history["samples"] * each)


def test_a_budget_of_flops_ends_a_run() -> None:
    each = descent(BATCH)[0]
    stop = bl.Stop(when=lambda rows: rows["flops"] >= 3 * each)
    run = bl.minimize(finite_sum(), START, bl.optim.GD(0.1), batch=BATCH, steps=100, stop=stop)
    assert run.history["flops"][-1] == 3 * each


def test_sweeps_races_and_figures_have_them() -> None:
    problem = finite_sum()
    table = str(bl.sweep(problem, START, bl.optim.GD(0.1), steps=STEPS))
    assert f"{descent(len(B))[-1]:.3g}" in table
    race = bl.race(problem, START, {"a": bl.optim.GD(0.1), "b": bl.optim.Adam(0.1)}, steps=STEPS)
    rows = {row.name: row.flops for row in race.standings()}
    assert rows["a"] == descent(len(B))[-1] < rows["b"]
    assert "flops" in repr(race)
    lead = race.leader("flops")
    assert lead is not None
    assert lead.at == rows["a"]
    plot: Any = race.chart("flops").parts[0]
    (curve, *_) = plot.curves
    np.testing.assert_array_equal(curve.x[:STEPS], descent(len(B)))
    figure = bl.plots.compare({"a": race.runs["a"][0]}, against="flops")
    np.testing.assert_array_equal(figure.data[0].x, descent(len(B)))
    assert figure.layout.xaxis.title.text == "floating-point operations"
