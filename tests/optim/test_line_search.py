"""Steps of the searches against their definitions, NumPy by hand, and SciPy's search."""

import numpy as np
import pytest
from scipy import optimize

import burlab as bl
from burlab.optim import line_search
from burlab.optim.search_line import SearchLine, cubic_minimizer
from tests.optim.plain import Oracle

C1, TRIALS = 1e-4, 20


def smooth(seed, dtype=np.float64, d=4):
    """A random smooth function with many valleys, and a random start."""
    rng = np.random.default_rng(seed)
    w, b, a, x = (v.astype(dtype) for v in (rng.normal(size=(6, d)), *rng.uniform(-3, 3, (2, 6)), rng.normal(size=d)))
    return lambda x: np.sum(a * np.sin(w @ x + b)) + 0.05 * x @ x, x


class Recording(Oracle):
    """Keeps the points of all trials and their values."""

    def __init__(self, f):
        super().__init__(f)
        self.answers = []

    def value_and_grad(self, y):
        value, gradient = super().value_and_grad(y)
        self.answers.append((y, value))
        return value, gradient


FUNCTIONS = [smooth(seed) for seed in range(40)]


def search(f, x, p, c2=0.9, first=1.0, trials=TRIALS, c1=C1):
    oracle = Oracle(f)
    g = oracle.at(x)
    line = SearchLine.through(oracle, x, g, p)
    end = line_search.wolfe(line, g, np.asarray(first, x.dtype), c1, c2, trials)
    return line, end, oracle.counts["grad"]


@pytest.mark.parametrize("c2", [0.9, 0.1, 1e-3])
@pytest.mark.parametrize("first", [1.0, 1e-4, 1e3])
def test_strong_wolfe_conditions(c2, first):
    for k, (f, x) in enumerate(FUNCTIONS):
        g = bl.grad(f)(x)
        p = -g if k % 2 else np.random.default_rng(k).normal(size=4)
        p = p if g @ p < 0 else -p
        _, end, _ = search(f, x, p, c2, first)
        a = end["step"]
        assert end["found"]
        assert f(x + a * p) <= f(x) + C1 * a * (g @ p) + 1e-12 * abs(f(x))
        assert abs(bl.grad(f)(x + a * p) @ p) <= c2 * abs(g @ p) * (1 + 1e-9)
        np.testing.assert_allclose(end["value"], f(x + a * p), rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(end["gradient"], bl.grad(f)(x + a * p), rtol=1e-10, atol=1e-12)


def test_the_step_is_the_lowest_trial_that_is_enough():
    """What Algorithm 3.6 keeps up from turn to turn, on functions that are all waves."""
    for seed in range(60):
        f, x = smooth(seed, d=2)
        oracle = Recording(lambda x, f=f: f(7 * x))
        g = oracle.at(x)
        line = SearchLine.through(oracle, x, g, -g)
        end = line_search.wolfe(line, g, np.asarray(1.0), C1, 0.3, TRIALS)
        trials = [((x - y) @ g / (g @ g), value) for y, value in oracle.answers]
        assert end["value"] == min(value for a, value in trials if value <= line.value + C1 * a * line.slope)


def test_no_more_evaluations_than_scipy():
    ours = theirs = 0
    for f, x in FUNCTIONS:
        gradient = bl.grad(f)
        p = -gradient(x)
        found = optimize.line_search(f, gradient, x, p, c1=C1, c2=0.4)
        _, end, count = search(f, x, p, 0.4)
        if found[0] is not None:
            assert end["found"]
            ours += count
            theirs += max(found[1], found[2])
    assert 0 < ours <= theirs


def test_backtracking_is_algorithm_3_1():
    for f, x in FUNCTIONS:
        for first, shrink in ((1.0, 0.5), (7.0, 0.3)):
            oracle = Oracle(f)
            g = oracle.at(x)
            a = first
            while f(x - a * g) > f(x) - 0.1 * a * (g @ g):
                a *= shrink
            line = SearchLine.through(oracle, x, g, -g)
            assert line_search.armijo(line, first, shrink, 0.1, 60) == a
            assert oracle.counts["value"] == round(np.log(a / first) / np.log(shrink)) + 1
            assert oracle.counts["grad"] == 0


@pytest.mark.parametrize("c2", [0.9, 1e-6])
def test_an_exact_search_on_a_parabola_takes_two_trials(c2):
    f, x, p = (lambda x: 3 * (x[0] - 2) ** 2), np.zeros(1), np.ones(1)
    for first in (0.3, 9.0):
        _, end, count = search(f, x, p, c2, first)
        assert abs(end["step"] - 2) < (1e-12 if c2 == 1e-6 else 2)
        assert count <= 2


def test_cubic_interpolation_finds_the_minimum_of_a_cubic():
    def value(t):
        return 2 * t**3 - 5 * t**2 - 4 * t + 1  # its minimum, where 6 t^2 - 10 t - 4 = 0

    slope = bl.grad(value)
    at = [{"step": t, "value": value(t), "slope": slope(t)} for t in (0.4, 3.0)]
    best = np.roots([6.0, -10.0, -4.0]).max()
    assert abs(slope(best)) < 1e-12
    for a, b in (at, at[::-1]):
        np.testing.assert_allclose(cubic_minimizer(a, b, 0.0), best, rtol=1e-14)
        zero = cubic_minimizer(a, b, 1e300)  # values are noise: the line through the slopes
        np.testing.assert_allclose((zero - a["step"]) / (b["step"] - zero), -a["slope"] / b["slope"], rtol=1e-12)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("edge", [0.5, 1e-6])
def test_trials_outside_of_the_domain_are_refused(bad, edge):
    """A barrier at the edge: what lies beyond is nan, or inf."""

    def f(x):
        return np.where(x[0] < edge, -np.log(np.where(x[0] < edge, 1 - x[0] / edge, 1.0)) - 3 * x[0] / edge, bad)

    x = np.zeros(1)
    with np.errstate(all="ignore"):
        line, end, count = search(f, x, np.ones(1), 0.1, 1.0, 40)
        back = line_search.armijo(line, 1.0, 0.5, C1, 60)
    assert end["found"]
    assert count < 12
    np.testing.assert_allclose(end["step"], edge * 2 / 3, rtol=0.15)  # where 1 / (1 - t) = 3
    assert 0 < back < edge
    assert f(np.array([back])) < 0


def test_no_step_without_descent():
    f = FUNCTIONS[0][0]
    x = FUNCTIONS[0][1]
    g = bl.grad(f)(x)
    for p in (g, np.zeros_like(g), np.full_like(g, np.nan)):
        with np.errstate(all="ignore"):
            line, end, count = search(f, x, p)
            assert end["step"] == 0 == line_search.armijo(line, 1.0, 0.5, C1, 60)
            np.testing.assert_array_equal(line.to(end["step"]), x)
        assert not end["found"]
        assert count == 0


def test_trials_are_bounded():
    """No step of a falling line meets the second condition; the best one so far is what comes back."""
    f = lambda x: -np.sum(x)  # noqa: E731 - as a user writes it
    line, end, count = search(f, np.zeros(2), np.ones(2), trials=7)
    assert count == 7
    assert not end["found"]
    assert f(line.to(end["step"])) == end["value"] < -1e5
    never = lambda x: np.where(x[0] == 0, 0.0, np.abs(x[0]) + 1) - 1e-3 * x[0]  # noqa: E731 - a step upwards
    line = SearchLine.through(oracle := Oracle(never), np.zeros(1), np.array([-1e-3]), np.ones(1))
    oracle.x, oracle.known = line.x, (0.0, np.array([-1e-3]))
    line = SearchLine.through(oracle, line.x, np.array([-1e-3]), np.ones(1))
    assert line_search.armijo(line, 1.0, 0.5, C1, 9) == 0
    assert oracle.counts["value"] >= 9
    end = line_search.wolfe(line, np.array([-1e-3]), np.asarray(1.0), C1, 0.9, 9)
    assert end["step"] == 0
    assert not end["found"]


@pytest.mark.parametrize("offset", [0.0, 1.0, -1e6])
def test_steps_go_on_where_values_no_longer_differ(offset):
    """|f| is so large that the decrease of a step is below a rounding: slopes decide (Hager and Zhang)."""
    f = lambda x: offset + 0.5 * x @ x  # noqa: E731 - as a user writes it
    x = np.array([1e-6, -2e-6])
    _, end, _ = search(f, x, -x, 0.1, 0.3)
    assert end["found"]
    np.testing.assert_allclose(end["step"], 1, rtol=0.1)
    oracle = Oracle(f)
    line = SearchLine.through(oracle, x, oracle.at(x), -x)
    assert line_search.armijo(line, 3.0, 0.5, C1, 60) == 1.5  # 3 ends higher than it began
    assert (oracle.counts["grad"] > 0) == (offset != 0)


def test_line_search_stays_in_float32():
    for seed in range(20):
        f, x = smooth(seed, np.float32)
        p = -bl.grad(f)(x)
        _, end, _ = search(f, x, p, 0.1)
        assert end["found"]
        assert {end[k].dtype for k in ("step", "value", "slope", "gradient")} == {np.dtype(np.float32)}


def falling(x):
    """x + exp(-10 x), whose minimum is at log(10) / 10: far from it the curvature is exp(-10 x)."""
    return np.sum(x + np.exp(-10 * x))


SEARCHES = [
    bl.optim.NewtonCG(), bl.optim.ModifiedNewton(), bl.optim.LBFGS(), bl.optim.NonlinearCG(), bl.optim.WolfeGD(),
    bl.optim.BarzilaiBorwein(), bl.optim.TrustRegion(), bl.optim.TrustRegion(radius=1e15, max_radius=1e15),
    bl.optim.ArmijoGD(lr=1e6),
]  # fmt: skip


@pytest.mark.parametrize("rule", SEARCHES, ids=lambda rule: type(rule).__name__)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_directions_beyond_all_numbers_are_cut_to_the_size_of_x(rule, dtype):
    for start in (1.0, 5.0, 10.0, 40.0, 70.0, 74.4, 80.0):
        run = bl.minimize(falling, np.full(2, start, dtype), rule, steps=200)
        np.testing.assert_allclose(run.x, np.log(10) / 10, rtol=1e-3, err_msg=str(start))


def cliff(x):
    """Falls to the left, but is known at 1 alone."""
    return np.sum(np.where(x == 1.0, 2.0 * x, np.inf))


@pytest.mark.parametrize("rule", SEARCHES[:5] + SEARCHES[-1:], ids=lambda rule: type(rule).__name__)
def test_line_search_that_would_fail_again_stops_with_a_message(rule):
    run = bl.minimize(cliff, np.ones(2), rule, steps=200)
    assert run.stopped.reason == "stalled", run.stopped
    assert run.t < 5
    assert run.length == run.t + 1
    assert "no better point" in run.stopped.message
    np.testing.assert_array_equal(run.x, np.ones(2))
    run.step()  # goes on when told to
    assert run.t >= 1


def test_runs_that_may_change_do_not_count_as_stalled():
    """Steps of batches, of schedules and of rules that read t; a rule without a search; a point without a gradient."""
    rows = bl.FiniteSum(lambda x, a: np.sum(np.where(x == 1.0, a * x, np.inf)), np.arange(1.0, 5.0))
    batches = bl.minimize(rows, np.ones(2), bl.optim.ArmijoGD(), batch=bl.Batch(2), steps=9)
    scheduled = bl.minimize(cliff, np.ones(2), bl.optim.ArmijoGD(lr=lambda t: 1.0 / (t + 1)), steps=9)
    still = bl.minimize(lambda x: np.sum(x**2), np.zeros(2), bl.optim.ArmijoGD(), steps=9)
    plain = bl.minimize(lambda x: np.sum(1e-30 * x), np.ones(2), bl.optim.GD(1.0), steps=9)
    for run in (batches, scheduled, still, plain):
        assert (run.t, run.stopped) == (9, None)
    whole = bl.minimize(rows, np.ones(2), bl.optim.ArmijoGD(), steps=9)
    assert whole.stopped.reason == "stalled"


def steep(x):
    """Has its minimum at 1, with another curvature along each axis."""
    return np.sum((x - 1) ** 2 * np.array([1, 2, 5], x.dtype)) + np.sum((x - 1) ** 4)


SCALED = [
    *SEARCHES[:7], bl.optim.NonlinearCG(form="HS"), bl.optim.NonlinearCG(form="FR"),
    bl.optim.BarzilaiBorwein(form="short"), bl.optim.clip_by_norm(bl.optim.GD(0.05), 1.0),
]  # fmt: skip


@pytest.mark.parametrize("rule", SCALED, ids=lambda rule: type(rule).__name__)
def test_gradients_whose_squares_overflow_are_followed(rule):
    start = np.array([2.0, -1.0, 0.5])
    for dtype, scales in ((np.float64, (1e100, 1e155, 1e160, 1e250)), (np.float32, (1e13, 1e15, 1e20, 1e30))):
        for scale in scales:
            f = lambda x: dtype(scale) * steep(x)  # noqa: B023, E731 - used within the loop
            run = bl.minimize(f, start.astype(dtype), rule, steps=120)
            far = 0.06 if isinstance(rule, bl.optim.clip_by_norm) else 2e-3  # whose steps are all 0.05 long
            np.testing.assert_allclose(run.x, 1.0, atol=far, err_msg=f"{scale}")
            norms = run.history["gradient_norm"]
            assert np.all(np.isfinite(norms))
            exact = np.linalg.norm(bl.grad(steep)(start).astype(np.float64)) * scale
            np.testing.assert_allclose(norms[0], exact, rtol=1e-5)
