"""Levenberg-Marquardt: steps by their definition, NIST's problems with SciPy's MINPACK beside it, and costs."""

from typing import Any

import numpy as np
import pytest
from scipy import optimize

import burlab as bl
from burlab.errors import ArgumentError, BurlabError
from burlab.optim import LevenbergMarquardt
from tests.optim.probe import probe
from tests.optim.strd_cases import MODELS, STRD, observations
from tests.run.saved_cases import same

rng = np.random.default_rng(5)
T = np.linspace(0.1, 3.0, 31)
Y = 2.5 * np.exp(-1.3 * T) + 0.4 + 0.02 * rng.normal(size=T.size)
START = np.array([1.0, 0.2, 0.0])


def decay(p: Any, t: Any, y: Any) -> Any:
    return p[0] * np.exp(-p[1] * t) + p[2] - y


def valley(x: Any) -> Any:
    return np.stack([10 * (x[1] - x[0] ** 2), 1 - x[0]])


def helix(x: Any) -> Any:
    """Fletcher and Powell's helical valley, whose first steps are cut."""
    angle = np.arctan2(x[1], x[0]) / (2 * np.pi)
    return np.stack([10 * (x[2] - 10 * angle), 10 * (np.hypot(x[0], x[1]) - 1), x[2]])


STEPS: dict[str, tuple[Any, Any, float]] = {
    "decay": (bl.Residuals(decay, (T, Y)), START, 1.0),
    "valley": (bl.Residuals(valley), np.array([-1.2, 1.0]), 100.0),
    "helix": (bl.Residuals(helix), np.array([-1.0, 0.1, 0.0]), 0.1),
}


@pytest.mark.parametrize("name", STEPS)
def test_steps_are_those_of_the_definition(name: str) -> None:
    """By the normal equations in place of singular values: step, length, gain, prediction, as a run records them."""
    f, x0, factor = STEPS[name]
    run, n = bl.minimize(f, x0, LevenbergMarquardt(factor=factor)), len(f)
    scale, radius, x, lengths = np.zeros(x0.size), 0.0, x0, []
    for _ in range(8):
        r, rows = f.residuals(x), f.jacobian(x)
        scale = np.maximum(scale, np.linalg.norm(rows, axis=0))
        radius = radius or factor * np.linalg.norm(scale * x)
        run.step(1)
        row = {column: run.history[column][-1] for column in ("damping", "gain", "predicted", "relative_step")}
        damping = row["damping"]
        p = np.linalg.solve(rows.T @ rows + damping * np.diag(scale**2), -rows.T @ r)
        np.testing.assert_allclose(run.x, x + p, rtol=1e-7, atol=1e-10)
        length, value = np.linalg.norm(scale * p), f.value(x)
        lengths.append(damping > 0)
        model = np.sum((r + rows @ p) ** 2) / 2 / n
        np.testing.assert_allclose(row["predicted"], 1 - model / value, rtol=1e-7, atol=1e-12)
        if row["predicted"] > 1e-8:  # else both differences have a term for rounding
            np.testing.assert_allclose(row["gain"], (value - f.value(x + p)) / (value - model), rtol=1e-3, atol=1e-3)
        np.testing.assert_allclose(row["relative_step"], length / np.linalg.norm(scale * x), rtol=1e-7, atol=1e-15)
        tried = run.counts["values"] // n
        if tried == run.t:  # no trial was refused so far: the radius is known
            assert abs(length - radius) <= 0.1001 * radius if damping else length <= 1.1001 * radius
        radius = _next_radius(run.t == 1, radius, length, damping, row["gain"], f, x, p)
        x = run.x
    assert any(lengths), "no step of this problem is damped"


def _next_radius(first: bool, radius: float, length: float, damping: float, gain: float, f: Any, x: Any, p: Any) -> Any:
    """After lmder of MINPACK."""
    if first:
        radius = min(radius, length)
    if gain <= 0.25:
        actual, slope = 1 - f.value(x + p) / f.value(x), f.grad(x) @ p / f.value(x) / 2
        part = 0.5 if actual >= 0 else max(0.5 * slope / (slope + 0.5 * actual), 0.1)
        return part * min(radius, 10 * length)
    return 2 * length if gain >= 0.75 or damping == 0 else radius


@pytest.mark.parametrize("size", [1e-2, 1e-8])
def test_a_refused_step_cuts_the_radius_to_ten_times_its_length(size: float) -> None:
    """The second step is `size` long, the radius is 2: however short it is, as many trials are refused."""

    def bent(x: Any) -> Any:
        return np.where(x > 0.5, x, size + x + 3 / size * x**2)

    run = bl.minimize(bl.Residuals(bent), np.ones(1), LevenbergMarquardt(), steps=1)
    np.testing.assert_array_equal(run.x, [0.0])
    run.step(1)
    assert run.counts["values"] == 1 + 3  # the undamped step twice, as it has the radius of a tenth; then a damped one
    np.testing.assert_allclose(run.x, [-0.1 * size], rtol=1e-6)


def digits(x: Any, name: str) -> float:
    """Correct digits of the worst parameter; 11 are certified."""
    certified = np.array(STRD[name]["certified"])
    return float(min(11.0, -np.log10(np.max(np.abs(x - certified) / np.abs(certified)) + 1e-99)))


@pytest.mark.parametrize("start", [0, 1])
@pytest.mark.parametrize("name", STRD)
def test_the_problems_of_nist(name: str, start: int) -> None:
    """8.5 digits; MINPACK with the same exact Jacobian reaches as many in about half of the cases.

    From the first start of BoxBOD MINPACK's first radius, of 100, leads both to a plateau; with a radius of 1 it does
    not.
    """
    (x, y), x0 = observations(name), np.array(STRD[name]["starts"][start])
    f = bl.Residuals(lambda b, x, y: MODELS[name](b, x) - y, (x.T.copy(), y))
    far = (name, start) == ("BoxBOD", 0)
    run = bl.minimize(f, x0, LevenbergMarquardt(factor=1.0 if far else 100.0), steps=1000)
    assert digits(run.x, name) >= 8.5
    np.testing.assert_allclose(2 * len(f) * f.value(run.x), STRD[name]["squares"], rtol=1e-9, atol=1e-24)
    with np.errstate(all="ignore"):
        tight = {"ftol": 1e-15, "xtol": 1e-15, "gtol": 1e-15, "max_nfev": 2000}
        theirs = optimize.least_squares(f.residuals, x0, f.jacobian, method="lm", **tight)
    assert far == (digits(theirs.x, name) < 6)
    assert run.counts["values"] / len(f) < 2 * theirs.nfev + 30


def test_a_run_is_reproduced_to_the_bit(tmp_path: Any) -> None:
    f, rule = bl.Residuals(decay, (T, Y), threads=2), LevenbergMarquardt(factor=0.1)
    run = bl.minimize(f, START, rule, batch=7, seed=2, steps=9)
    run.save(tmp_path / "run.burlab")
    loaded, fork, end = bl.load_run(tmp_path / "run.burlab", (T, Y)), run.fork(), run.x
    run.seek(2)
    for other in (run, loaded, fork):
        other.seek(9)
        np.testing.assert_array_equal(other.x, end)
        other.step(2)
    same(loaded, run)
    np.testing.assert_array_equal(fork.x, run.x)


def test_it_ends_where_rounding_ends_it() -> None:
    """And costs are counted: a gradient and a Jacobian a step, a value for each trial."""
    run = bl.minimize(bl.Residuals(decay, (T, Y)), START, LevenbergMarquardt(), steps=500)
    assert run.stopped is not None
    assert run.stopped.reason == "stalled"
    assert run.counts["samples"] == 2 * T.size * (run.t + 1)
    assert run.counts["values"] % T.size == 0
    exact = optimize.least_squares(decay, START, args=(T, Y), xtol=1e-15, ftol=1e-15, gtol=1e-15)
    np.testing.assert_allclose(run.x, exact.x, rtol=1e-7)


def test_of_a_tree_a_part_may_be_trained_in_single_precision() -> None:
    def of_tree(p: Any, t: Any, y: Any) -> Any:
        return decay(np.stack([p["a"][0], p["b"], p["a"][1]]), t, y)

    single = T.astype(np.float32), Y.astype(np.float32)
    f, fixed = bl.Residuals(of_tree, single), np.float32(1.3)
    start = {"a": np.array([1.0, 0.0], np.float32), "b": fixed}
    run = bl.minimize(f, start, LevenbergMarquardt(), trainable={"a": True, "b": False}, steps=20)
    wanted = np.linalg.lstsq(np.stack([np.exp(-fixed * T), np.ones_like(T)], axis=1), Y)[0]
    np.testing.assert_allclose(run.x["a"], wanted, rtol=1e-5)
    assert run.x["a"].dtype == np.float32
    assert run.x["b"] == fixed


@pytest.mark.parametrize(("rows", "columns"), [(3, 5), (6, 4)])
def test_without_full_rank_the_first_step_is_the_shortest(rows: int, columns: int) -> None:
    """In the norm of the columns: the pseudoinverse of the scaled matrix."""
    a, b = rng.normal(size=(rows, columns)) * np.geomspace(1, 1e3, columns), rng.normal(size=rows)
    a[:, 0] = 2 * a[:, 1] if rows > columns else a[:, 0]
    run = bl.minimize(bl.Residuals(lambda x: a @ x - b), np.zeros(columns), LevenbergMarquardt(factor=1e3), steps=1)
    norms = np.linalg.norm(a, axis=0)
    np.testing.assert_allclose(run.x, np.linalg.pinv(a / norms, rcond=1e-12) @ b / norms, rtol=1e-9, atol=1e-12)
    assert run.history["damping"][0] == 0


def test_unknowns_that_no_residual_reads_stay() -> None:
    f = bl.Residuals(lambda x: np.stack([x[0] ** 2 - 2, x[0] - 1]))
    run = bl.minimize(f, np.array([3.0, 7.0]), LevenbergMarquardt(), steps=30)
    assert run.x[1] == 7.0
    np.testing.assert_allclose(f.grad(run.x), 0, atol=1e-7)


def test_weights_of_samples_scale_residuals() -> None:
    """With probabilities the samples are weighted: J'r / b is still the gradient of the step."""
    p = np.arange(1.0, T.size + 1) / np.sum(np.arange(1.0, T.size + 1))
    f = bl.Residuals(decay, (T, Y))

    def question(f: Any, x: Any) -> Any:
        r, rows = f.residuals_and_jacobian(x)
        return f.grad(x) - r @ rows / f.batch

    _, (off,), _ = probe(f, START, question, np.zeros(3), 4, batch=6, sampler=p)
    np.testing.assert_allclose(off, 0, atol=1e-14)


def test_a_point_without_a_value_is_no_step() -> None:
    """The full step goes to where the logarithm is nan; a shorter one is taken."""
    f = bl.Residuals(lambda x: np.stack([np.log(x[0]) + 5.0, 0.1 * x[0]]))
    run = bl.minimize(f, np.array([3.0]), LevenbergMarquardt(), steps=60)
    assert run.counts["values"] > run.t
    np.testing.assert_allclose(f.grad(run.x), 0, atol=1e-6)


def test_unsuitable_problems_and_arguments_raise() -> None:
    def refused(kind: type[BurlabError], match: str, call: Any) -> None:
        with pytest.raises(kind, match=match):
            call()

    def of(problem: Any) -> Any:
        return bl.minimize(problem, START, LevenbergMarquardt(), steps=1)

    modelled = bl.FiniteSum(lambda z, t, y: z**2, (T, Y), model=decay)
    refused(ArgumentError, r"or of residuals with bl.Residuals\(r, data\)", lambda: of(lambda x: np.sum(x**2)))
    refused(ArgumentError, "the targets of this problem are not residuals", lambda: of(modelled))
    refused(ArgumentError, "loss is 'squares', expected one of 'linear', .*'tukey'",
            lambda: bl.Residuals(decay, (T, Y), loss="squares"))  # fmt: skip
    refused(ArgumentError, "scale is 0.0, expected a number above 0", lambda: bl.Residuals(decay, (T, Y), scale=0.0))
    refused(ArgumentError, "model cannot be called with x and a sample", lambda: bl.Residuals(valley, (T, Y)))
    refused(ArgumentError, "trials=0", lambda: LevenbergMarquardt(trials=0))
    refused(ArgumentError, "factor of LevenbergMarquardt is 0", lambda: LevenbergMarquardt(factor=0.0))
