"""Gradients at another point, `bl.optim.through`: against loops in NumPy, costs, time travel, files and refusals."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ArgumentError, BurlabError, DTypeError, ShapeError, TraceError
from burlab.optim import GD, Hyper, clip_by_norm, through
from tests.optim import federated_cases, probe
from tests.optim.federated_cases import FEDERATED
from tests.optim.through_loops import LOOPS
from tests.optim.through_methods import METHODS, SAM, START, A, B, run_of
from tests.run.saved_cases import replayed
from tests.run.test_sampler import batches

STEPS = 20


@pytest.mark.parametrize("batch", [8, 1])
@pytest.mark.parametrize("name", METHODS)
def test_methods_are_loops_in_numpy(name: str, batch: int) -> None:
    """Point, values and costs: the history has what the loop evaluates, and no more is computed."""
    run = run_of(name, batch, steps=STEPS)
    wanted = LOOPS[name](batches("reshuffle", len(B), batch, STEPS, seed=5))
    for part in START:
        np.testing.assert_allclose(run.x[part], wanted.x[part], rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(run.history["value"], wanted.values, rtol=1e-11)
    assert (run.counts["samples"], run.counts["values"]) == (wanted.twin.gradients, wanted.twin.values)
    assert np.abs(run.x["w"] - START["w"]).max() > 0.1


@pytest.mark.parametrize("batch", [8, 1])
@pytest.mark.parametrize("name", METHODS)
def test_seek_fork_and_files_keep_the_bits(name: str, batch: int, tmp_path: Path) -> None:
    run = run_of(name, batch, steps=9)
    fork = replayed(run, (A, B), tmp_path, 6, 5)
    for part in START:
        np.testing.assert_array_equal(fork.x[part], run.x[part])
    loaded = bl.load_run(tmp_path / "run.burlab", (A, B))
    assert loaded.value_name == run.value_name
    other = run_of(name, batch, steps=11)
    np.testing.assert_array_equal(other.x["w"], run.x["w"])


def test_the_panel_says_where_values_are() -> None:
    names = {name: run_of(name).value_name for name in ("quantized", "quantized, at x", "averaged", "averaged, at x")}
    assert list(names.values()) == [f"batch value at {at}" for at in ("T(x)", "x", "x", "x")]
    run = bl.minimize(lambda x: np.sum(x**2), np.ones(2), through(GD(0.1), np.rint, at="T(x)"), steps=3)
    assert run.value_name == "value at T(x)"
    assert run.value == np.sum(run.x**2)


def test_values_of_t_that_reads_the_gradient_at_x_are_at_x() -> None:
    run = bl.minimize(lambda x: np.sum(x**2), np.ones(2), through(GD(0.1), ascent, at=lambda x: 2 * x), steps=1)
    assert (run.history["value"][0], run.value_name, run.counts["values"]) == (2.0, "value at x", 0)
    np.testing.assert_array_equal(run.x, 2 * run.iterate)


def test_a_value_that_the_optimizer_logs_counts_where_it_is_about_the_point_of_the_run() -> None:
    """MeZO knows the value at T(x) from its two; at x it is another one, which is computed."""
    f = lambda x: np.sum(x**2)  # noqa: E731
    for at, wanted, values in (("x", 3.0, 3), ("T(x)", 12.0, 2)):
        run = bl.minimize(f, np.ones(3), through(bl.optim.MeZO(0.01), lambda x: x + 1, at=at), steps=1)
        assert run.history["value"][0] == pytest.approx(wanted, rel=1e-5)
        assert run.counts["values"] == values


def ascent(x: Any, f: Any) -> Any:
    return x + 0.1 * f.grad(x)


SHIFT = np.array([0.5, -0.25, 1.0])
RULES = [
    GD(0.1), bl.optim.Adam(0.1), bl.optim.Nesterov(0.1), bl.optim.ArmijoGD(), bl.optim.WolfeGD(), bl.optim.LBFGS(),
    bl.optim.NonlinearCG(), bl.optim.Newton(), bl.optim.NewtonCG(), bl.optim.TrustRegion(), bl.optim.AdaHessian(0.1),
    bl.optim.CoordinateDescent(0.1), bl.optim.SVRG(0.1), bl.optim.SAGA(0.05), bl.optim.STORM(0.1), bl.optim.MeZO(0.01),
    bl.optim.forward_gradient(GD(0.05)), bl.optim.zeroth_order(GD(0.05)), bl.optim.mechanic(GD(1.0)),
    bl.optim.ScheduleFreeSGD(0.1), bl.optim.gradient_noise(GD(0.1)), bl.optim.BarzilaiBorwein(),
]  # fmt: skip


@pytest.mark.parametrize("batch", [None, 5])
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: type(rule).__name__)
def test_a_shift_is_the_shifted_problem(rule: Any, batch: int | None) -> None:
    """All queries of the optimizer inside go through T, in its init too: f(x + c) has the gradient of f at x + c."""
    problem = bl.FiniteSum(probe.loss, (probe.A, probe.B), probe.ridge)
    shifted = bl.FiniteSum(
        lambda x, a, b: probe.loss(x + SHIFT, a, b), (probe.A, probe.B), lambda x: probe.ridge(x + SHIFT)
    )
    options: Any = {"batch": batch, "seed": 3, "steps": 8}
    run = bl.minimize(problem, probe.X0, through(rule, lambda x: x + SHIFT, at="T(x)"), **options)
    plain = bl.minimize(shifted, probe.X0, rule, **options)
    np.testing.assert_allclose(run.iterate, plain.iterate, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(run.x, plain.x + SHIFT, rtol=1e-9, atol=1e-12)
    for name in ("value", "gradient_norm"):
        np.testing.assert_allclose(run.history[name], plain.history[name], rtol=1e-9)
    rows = 8 * (batch or 23) * isinstance(rule, bl.optim.SAGA)  # whose gradient is not that of the step beside rows
    wanted = {**plain.counts, "samples": plain.counts["samples"] + rows, "flops": run.counts["flops"]}
    assert run.counts == wanted  # the loss without the shift takes less operations


@pytest.mark.parametrize("name", FEDERATED)
def test_clients_compute_at_t_of_their_points(name: str) -> None:
    """The shifted federation: one point for all, a point for each after local steps, Hessians, in init too."""
    clients = list(zip(federated_cases.FEATURES, federated_cases.LABELS, strict=True))
    c = 0.3 * np.cos(np.arange(federated_cases.D))
    ridge = lambda x: federated_cases.MU / 2 * (x @ x)  # noqa: E731
    plain = bl.problems.federated(federated_cases.loss, clients, ridge)
    shifted = bl.problems.federated(lambda x, a, b: federated_cases.loss(x + c, a, b), clients, lambda x: ridge(x + c))
    rule, options = FEDERATED[name], {"seed": 3, "steps": 6}
    run = bl.minimize(plain, federated_cases.X0, through(rule, lambda x: x + c, at="T(x)"), **options)
    other = bl.minimize(shifted, federated_cases.X0, rule, **options)
    np.testing.assert_allclose(run.iterate, other.iterate, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(run.history["value"], other.history["value"], rtol=1e-9)
    for counter in ("samples", "hvps", "bits"):
        assert run.counts[counter] == other.counts[counter]
    assert np.abs(run.x).max() > 1e-3


def test_gradients_of_clients_are_mapped_one_by_one() -> None:
    """Signs do not commute with means: T.gradient acts on each client, at its own point."""

    @dataclass(frozen=True)
    class Signs:
        def __call__(self, x: Any) -> Any:
            return 2 * x

        def gradient(self, g: Any, x: Any) -> Any:
            return np.sign(g) + x

    run = bl.minimize(
        federated_cases.problem(), federated_cases.X0, through(bl.optim.FedAvg(0.1, 2), Signs(), at="T(x)"), steps=3
    )
    x = federated_cases.X0
    for _ in range(3):
        rows = np.tile(x, (5, 1))
        for _ in range(2):
            rows = rows - 0.1 * (np.sign(federated_cases.grads(2 * rows)) + rows)
        x = rows.mean(axis=0)
    np.testing.assert_allclose(run.iterate, x, rtol=1e-11, atol=1e-13)
    with pytest.raises(ArgumentError, match=r"asks f\.client_hessians, which through does not answer: T\.gradient"):
        bl.minimize(federated_cases.problem(), federated_cases.X0, through(FEDERATED["FedNL"], Signs()))


def test_losses_of_parts_are_refused_by_name() -> None:
    saddle = bl.problems.Alternating({"a": lambda x: x["a"] * x["b"], "b": lambda x: -x["a"] * x["b"]})

    @dataclass(frozen=True)
    class Asks(bl.optim.Optimizer):
        def update(self, g: Any, state: Any, x: Any, t: Any, *, f: Any) -> Any:
            return x - f.part("a").grad(), state

    with pytest.raises(ArgumentError, match=r"asks f\.part\('a'\), which through does not answer: T is of all of x"):
        bl.minimize(saddle, {"a": 1.0, "b": 1.0}, through(Asks(), lambda x: x))


def test_rules_by_targets_and_residuals_go_through() -> None:
    r = lambda x, t, y: np.exp(-x[0] * t) * x[1] - y  # noqa: E731
    t = np.linspace(0, 2, 12)
    data = t, 2 * np.exp(-t)
    c = np.array([0.25, -0.5])
    run = bl.minimize(
        bl.Residuals(r, data), np.ones(2), through(bl.optim.LevenbergMarquardt(), lambda x: x + c, at="T(x)"), steps=12
    )
    plain = bl.minimize(bl.Residuals(r, data), np.ones(2) + c, bl.optim.LevenbergMarquardt(), steps=12)
    np.testing.assert_allclose(run.x, plain.x, rtol=1e-8)


@dataclass(frozen=True)
class Half:
    """The gradient mapped to half of it."""

    def __call__(self, x: Any) -> Any:
        return x

    def gradient(self, g: Any, x: Any) -> Any:
        return g / 2


def test_a_mapped_gradient_is_that_of_every_query_of_gradients() -> None:
    half = bl.minimize(probe.loss_of_all, probe.X0, through(bl.optim.SVRG(0.2), Half()), steps=6)
    plain = bl.minimize(probe.loss_of_all, probe.X0, bl.optim.SVRG(0.1), steps=6)
    np.testing.assert_allclose(half.x, plain.x, rtol=1e-12)
    with pytest.raises(ArgumentError, match=r"asks f\.hvp, which through does not answer: T\.gradient maps"):
        bl.minimize(probe.loss_of_all, probe.X0, through(bl.optim.NewtonCG(), Half()))


def test_live_fields_of_t_are_live() -> None:
    run = run_of("SAM")
    assert run.hyper["rho"] == 0.1
    run.hyper["rho"] = 0.0
    run.step(5)
    plain = bl.minimize(run.problem, START, bl.optim.Momentum(0.05, mu=0.5), batch=8, seed=5, steps=5)
    np.testing.assert_allclose(run.x["w"], plain.x["w"], rtol=1e-12)
    planned = bl.minimize(run.problem, START, through(GD(0.05), SAM(lambda t: 1 / (1 + t))), batch=8, steps=3)
    np.testing.assert_allclose(planned.history["rho"], [1, 1 / 2, 1 / 3])


def test_sweeps_and_races_have_the_bits_of_single_runs() -> None:
    f = lambda x: np.sum((x - 1.3) ** 4)  # noqa: E731
    rule = through(GD(0.01), np.rint, at="T(x)")
    sweep = bl.sweep(f, np.zeros(3), rule, {"lr": [0.01, 0.05]}, steps=6)
    race = bl.race(f, np.zeros(3), {"through": rule, "plain": GD(0.01)}, steps=6)
    single = bl.minimize(f, np.zeros(3), rule, steps=6)
    np.testing.assert_array_equal(sweep.runs[0].iterate, single.iterate)
    np.testing.assert_array_equal(race.runs["through"][0].x, single.x)
    assert not np.array_equal(sweep.runs[1].iterate, single.iterate)


SCALE = 1.0


@dataclass(frozen=True)
class Scaled:
    lr: Hyper = 1.0

    def __call__(self, x: Any) -> Any:
        return SCALE * x


@pytest.mark.parametrize("place", [Scaled(), lambda x: SCALE * x])
def test_what_t_reads_is_read_anew_by_the_next_run(place: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def end() -> float:
        return bl.minimize(lambda x: x**2, 1.0, through(GD(0.1), place), steps=1).x

    assert end() == pytest.approx(0.8)
    monkeypatch.setattr("tests.optim.test_through.SCALE", 2.0)
    assert end() == pytest.approx(0.6)


def test_places_nest_and_draw_apart() -> None:
    """The outer T gets what the inner one gives, and each draws numbers of its own."""
    c, d = np.array([1.0, 2.0]), np.array([0.25, 0.5])
    f = lambda x: np.sum(x**4)  # noqa: E731
    nested = through(through(GD(0.01), lambda x: d * x, at="T(x)"), lambda x: x + c, at="T(x)")
    run = bl.minimize(f, np.ones(2), clip_by_norm(nested, 1e9), steps=3)
    x = np.ones(2)
    for t in range(3):
        assert run.history["value"][t] == pytest.approx(f(d * x + c))
        x = x - 0.01 * 4 * (d * x + c) ** 3
    np.testing.assert_allclose(run.x, d * x + c, rtol=1e-13)
    assert run.counts["samples"] == 3

    def drawn(x: Any, key: Any) -> Any:
        return x + bl.random.normal(key, x.shape)

    twice = bl.minimize(np.sum, np.zeros(2), through(through(GD(1.0), drawn), drawn))
    assert twice.queries == ("value_and_grad",)


def test_float32_and_a_criterion_on_the_gradient_there() -> None:
    x0 = np.zeros(2, np.float32)
    end = bl.Stop(grad_norm=1e-3, of="estimator")
    run = bl.minimize(lambda x: np.sum((x - 1) ** 2), x0, through(GD(0.4), lambda x: x / 2), stop=end, steps=99)
    assert (run.x.dtype, run.stopped.reason) == (np.float32, "grad_norm")
    np.testing.assert_allclose(run.x, 2.0, atol=1e-2)


def takes(what: str) -> Any:
    """A T that has a fault."""
    return {
        "shape": lambda x: x[:1],
        "structure": lambda x: {"x": x},
        "dtype": lambda x: x.astype(np.float32),
        "branch": lambda x: x if x[0] > 0 else -x,
        "strange": lambda x, alpha: alpha * x,
        "none": lambda: 1.0,
        "state": lambda x, state: (x, state),
        "draws": lambda x, key: x + bl.random.normal(key, x.shape),
        "asks": lambda x, f: x + f.gradient(x),
    }[what]


class Stateful:
    def __init__(self, after: Any) -> None:
        self.after = after

    def init(self, x: Any) -> Any:
        return {"s": x}

    def __call__(self, x: Any, state: Any) -> Any:
        return self.after(x, state)


@pytest.mark.parametrize(
    ("make", "kind", "text"),
    [
        (lambda: takes("shape"), ShapeError, "T of through returned a tree with leaves of shapes ((1,),), expected"),
        (lambda: takes("structure"), ArgumentError, "T of through returned a tree of structure"),
        (lambda: takes("dtype"), DTypeError, "T of through returned float32, expected float64"),
        (lambda: takes("strange"), ArgumentError, "T of through takes alpha, but it can take x, and by name state"),
        (lambda: takes("none"), ArgumentError, "T of through takes no x, but"),
        (lambda: takes("state"), ArgumentError, "T of through takes state, but has no init"),
        (lambda: takes("asks"), TraceError, "f.gradient is nothing that an update can ask"),
        (lambda: 3.0, ArgumentError, "T of through is 3.0, expected a function of x"),
        (lambda: Stateful(lambda x, s: x), ArgumentError, "T of through takes state, so it returns a pair"),
        (lambda: Stateful(lambda x, s: (x, {})), ArgumentError, "T of through returned a state of structure"),
        (lambda: Stateful(lambda x, s: (x, {"s": x[:1]})), ShapeError, "T of through returned a state of shape (1,)"),
    ],
)
def test_a_wrong_t_is_refused_before_the_first_step(make: Any, kind: Any, text: str) -> None:
    with pytest.raises(kind, match=re.escape(text)) as caught:
        bl.minimize(lambda x: np.sum(x**2), np.ones(2), through(GD(), make()))
    assert isinstance(make(), float) != (f'File "{__file__}", line' in str(caught.value))


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: through(GD(), takes("draws"), at="T(x)"), 'takes key, which only a step has, but at="T(x)" asks'),
        (lambda: through(GD(), ascent, at="T(x)"), "takes f, which only a step has"),
        (lambda: through(GD(), np.rint, at="y"), 'at of through is \'y\', expected "x", "T(x)" or a function of x'),
        (
            lambda: through(GD(), np.rint, at=lambda x, key: x),
            "at of through takes key, but it can take x, and by name",
        ),
        (lambda: through(GD, np.rint), "through is put around an optimizer"),
    ],
)
def test_wrong_arguments_are_refused(make: Any, text: str) -> None:
    with pytest.raises(ArgumentError, match=re.escape(text)):
        make()


def test_a_t_that_cannot_be_traced_is_named() -> None:
    with pytest.raises(BurlabError) as caught:
        bl.minimize(lambda x: np.sum(x**2), np.ones(2), through(GD(), takes("branch")))
    assert f'File "{__file__}", line' in str(caught.value)
    assert any("T of through was traced" in note for note in caught.value.__notes__)
