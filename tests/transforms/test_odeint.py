"""odeint: solutions against SciPy, derivatives of both kinds against JAX, against differences, and of each other."""

from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy import integrate

import burlab as bl
from burlab.errors import ArgumentError, DTypeError, ShapeError, TraceError
from burlab.graph.node import as_node
from burlab.transforms.ode.steps import Options, scheduled
from tests.engines import GEARS, assert_close, jax_or_skip, on

T = np.array([0.0, 0.4, 1.5, 1.7, 3.0])
Y0 = {"prey": np.array([1.0, 0.5]), "hunters": 0.8}
A = np.array([[0.9, -0.2], [0.3, 0.7]])
BOTH = pytest.mark.parametrize("adjoint", [True, False])


def lotka(np: Any, y: Any, t: Any, a: Any, b: Any) -> Any:
    """Two kinds of prey and their hunters, in a season: a tree, a matrix, a number, and the time."""
    prey, hunters = y["prey"], y["hunters"]
    return {"prey": np.tanh(a @ prey) - b * prey * hunters, "hunters": 0.3 * np.sum(prey) - hunters * np.cos(t) * 0.5}


def solved(y0: Any, t: Any, a: Any, b: Any, **options: Any) -> Any:
    """b is an argument, a is read from around."""
    return bl.odeint(lambda y, t, b: lotka(np, y, t, a, b), y0, t, b, **options)


def total(np: Any, ys: Any) -> Any:
    return np.sum(np.sin(ys["prey"]) * ys["hunters"][:, None]) + np.sum(ys["hunters"] ** 2)


def theirs(jax: Any, tolerance: float = 1e-10) -> Any:
    from jax.experimental.ode import odeint

    def f(y0: Any, t: Any, a: Any, b: Any) -> Any:
        return odeint(on(jax.numpy, lotka), y0, t, a, b, rtol=tolerance, atol=tolerance)

    return f


FINE = {"rtol": 1e-10, "atol": 1e-10}


@cache
def nested_by_jax(order: int) -> Any:
    """In reverse mode, the only one of its odeint; jacrev of jacrev is as any other order of the modes."""
    jax = jax_or_skip()
    f: Any = lambda b: total(jax.numpy, theirs(jax)(Y0, T, A, b))  # noqa: E731
    for _ in range(order):
        f = jax.jacrev(f)
    return np.asarray(jax.jit(f)(0.4))


@cache
def gradients_by_jax() -> Any:
    jax = jax_or_skip()
    return jax.jit(jax.grad(lambda *args: total(jax.numpy, theirs(jax)(*args)), (0, 1, 2, 3)))(Y0, T, A, 0.4)


@pytest.mark.parametrize("times", [T, T[::-1] - 1, np.linspace(0, 3, 40), T[[0, 0, 2, 2]], T[:1]])
@BOTH
def test_solutions_equal_scipys(times: Any, adjoint: bool) -> None:
    def field(t: float, v: Any) -> Any:
        y = lotka(np, {"prey": v[:2], "hunters": v[2]}, t, A, 0.4)
        return np.append(y["prey"], y["hunters"])

    kept = np.unique(times)[:: 1 if times[-1] >= times[0] else -1]
    wanted = np.array([[1.0, 0.5, 0.8]])
    if len(kept) > 1:
        wanted = integrate.solve_ivp(field, kept[[0, -1]], wanted[0], "DOP853", kept, rtol=1e-12, atol=1e-12).y.T
    rows = wanted[[list(kept).index(t) for t in times]]
    got = solved(Y0, times, A, 0.4, adjoint=adjoint, **FINE)
    np.testing.assert_allclose(got["prey"], rows[:, :2], rtol=1e-8)
    np.testing.assert_allclose(got["hunters"], rows[:, 2], rtol=1e-8)


@BOTH
def test_odeint_gradients_equal_jax(adjoint: bool) -> None:
    """By the start, the times, what is read from around, and an argument."""
    f = lambda *args: total(np, solved(*args, adjoint=adjoint, **FINE))  # noqa: E731
    assert_close(bl.grad(f, (0, 1, 2, 3))(Y0, T, A, 0.4), gradients_by_jax(), 1e-6)


@pytest.mark.parametrize("modes", ["f", "rr", "fr", "rf", "ff"])
@BOTH
def test_nested_odeint_derivatives_equal_jax(modes: str, adjoint: bool) -> None:
    f = lambda b: total(np, solved(Y0, T, A, b, adjoint=adjoint, **FINE))  # noqa: E731
    for mode in modes:
        f = (bl.jacrev if mode == "r" else bl.jacfwd)(f)
    kernel: Any = bl.compile(f, 0.4, gear="replay")
    assert_close(kernel(0.4), nested_by_jax(len(modes)), 1e-5)


def test_direct_derivatives_are_those_of_the_steps() -> None:
    """The accepted steps, coarse ones, taken again in JAX by SciPy's table of the method."""
    jax, rk = jax_or_skip(), integrate.RK45
    field = lambda np, y, t, b: np.stack([y[1] * t, -b * np.sin(y[0])])  # noqa: E731
    y0, times, options = np.array([1.0, 0.5]), np.array([0.0, 1.0, 3.0]), Options(1e-2, 1e-2, 50)

    def steps(y0: Any, times: Any, b: Any) -> Any:
        return scheduled(lambda y, t: field(np, y, t, b), as_node(y0), as_node(times), options)

    _, (intervals, begins, ends), counts = bl.jit(steps)(y0, times, 2.0)

    def again(y: Any, times: Any, b: Any) -> Any:
        def step(y: Any, interval: Any) -> Any:
            k, begin, end = interval
            t, length = times[k], times[k + 1] - times[k]
            h, slopes = length * (end - begin), []
            for row, c in zip(rk.A, rk.C, strict=True):
                at = y + h * sum((w * s for w, s in zip(row, slopes, strict=False)), jax.numpy.zeros(2))
                slopes.append(field(jax.numpy, at, t + length * begin + c * h, b))
            y = y + h * sum(w * s for w, s in zip(rk.B, slopes, strict=True))
            return y, y

        taken = tuple(x[: counts[-1]] for x in (intervals, begins, ends))
        rows = jax.lax.scan(step, y, taken)[1]
        return jax.numpy.concatenate([y[None], rows])[counts]

    def ours(y0: Any, times: Any, b: Any) -> Any:
        return bl.odeint(lambda y, t, b: field(np, y, t, b), y0, times, b, rtol=1e-2, atol=1e-2, adjoint=False)

    args = (y0, times, 2.0)
    assert 2 < counts[-1] < 12
    assert_close(ours(*args), jax.jit(again)(*args), 1e-12)
    for nested in (lambda e, f: e.jacrev(f, (0, 1, 2)), lambda e, f: e.jacfwd(e.jacrev(f, (0, 1, 2)), (1, 2))):
        assert_close(nested(bl, ours)(*args), jax.jit(nested(jax, again))(*args), 1e-10)
    exact = bl.jacobian(lambda b: bl.odeint(lambda y, t: field(np, y, t, b), y0, times))(2.0)
    assert 1e-5 < np.max(np.abs(bl.jacobian(ours, 2)(*args) - exact)) < 1  # they are coarse


@pytest.mark.parametrize("gear", GEARS)
@BOTH
def test_gears_agree_on_odeint(gear: Any, adjoint: bool) -> None:
    f = lambda b: total(np, solved(Y0, T, A, b, adjoint=adjoint))  # noqa: E731
    kernel: Any = bl.compile(f, 0.4, gear=gear)
    assert_close(kernel.value_and_grad(0.4), bl.value_and_grad(f)(0.4), 1e-9)


@BOTH
def test_under_vmap(adjoint: bool) -> None:
    """Each row takes steps of its own."""
    f = lambda b, y: total(np, solved({"prey": y, "hunters": 0.8}, T, A, b, adjoint=adjoint))  # noqa: E731
    bs, ys = np.array([0.1, 0.4, 2.0]), np.array([[1.0, 0.5], [0.2, 3.0], [1.0, 1.0]])
    value, slopes = bl.vmap(bl.value_and_grad(f, (0, 1)))(bs, ys)
    for k in range(3):
        assert_close((value[k], [g[k] for g in slopes]), bl.value_and_grad(f, (0, 1))(bs[k], ys[k]), 1e-9)


def test_errors_follow_the_tolerance() -> None:
    errors = []
    for tolerance in (1e-3, 1e-6, 1e-9):
        y = bl.odeint(lambda y, t: np.stack([y[1], -y[0]]), np.array([0.0, 1.0]), np.array([0.0, 10.0]),
                      rtol=tolerance, atol=tolerance)  # fmt: skip
        errors.append(abs(y[1, 0] - np.sin(10)))
        assert errors[-1] < 30 * tolerance
    assert errors[0] > 100 * errors[1] > 1e4 * errors[2]


def test_odeint_stays_in_float32() -> None:
    y0 = np.array([1.0, 2.0], np.float32)
    f = lambda y0: np.sum(bl.odeint(lambda y, t: -y * t, y0, T, rtol=1e-5, atol=1e-5) ** 2)  # noqa: E731
    assert bl.grad(f)(y0).dtype == np.float32
    assert_close(bl.grad(f)(y0), bl.grad(f)(y0.astype(float)), 1e-3)


@BOTH
def test_unreached_times_are_nan(adjoint: bool) -> None:
    """y' = y^2 from 1 is infinite at t = 1; and steps may be too few."""
    y = bl.odeint(lambda y, t: y * y, 1.0, np.array([0.0, 0.5, 2.0, 3.0]), adjoint=adjoint)
    np.testing.assert_allclose(y[:2], [1, 2], rtol=1e-7)
    assert np.isnan(y[2:]).all()
    few = bl.odeint(lambda y, t: np.cos(50 * t), 0.0, np.array([0.0, 3.0]), adjoint=adjoint, max_steps=5)
    assert few[0] == 0
    assert np.isnan(few[1])


def test_odeint_with_wrong_arguments_raises() -> None:
    decay = lambda y, t: -y  # noqa: E731
    with pytest.raises(ShapeError, match=r"t of odeint has shape \(\), expected times"):
        bl.odeint(decay, 1.0, 3.0)
    with pytest.raises(DTypeError, match="start of odeint is int64, expected floats"):
        bl.odeint(decay, 1, T)
    with pytest.raises(TraceError, match="f of odeint gave the tree"):
        bl.odeint(lambda y, t: (y, y), 1.0, T)
    with pytest.raises(ShapeError, match=r"f of odeint gave shape \(3,\)"):
        bl.odeint(lambda y, t: y * np.ones(3), 1.0, T)
    with pytest.raises(ArgumentError, match="rtol"):
        bl.odeint(decay, 1.0, T, rtol=-1.0)


@BOTH
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_field_is_not_evaluated_beyond_the_times(adjoint: bool, dtype: Any) -> None:
    """A field that is nan outside of the interval, whatever its place, direction and the size of y there."""
    rng = np.random.default_rng(3)

    def field(y: Any, t: Any, low: Any, high: Any) -> Any:
        return np.where((t >= low) & (t <= high), np.tanh(y) + np.sin(t), np.nan)

    def solve(y0: Any, times: Any, low: Any, high: Any) -> Any:
        return bl.odeint(field, y0, times, low, high, rtol=1e-4, atol=1e-4, adjoint=adjoint, max_steps=200)

    gradient = bl.grad(lambda y0, *rest: np.sum(solve(y0, *rest)))
    for size in (1e-8, 1.0, 1e3, 1e8):
        for times in (rng.normal(size=3), 1e3 + rng.normal(size=3), np.array([-1e-3, -2e-4, 0.0])):
            for order in (1, -1):
                t = np.sort(times)[::order].astype(dtype)
                args = dtype(size), t, np.min(t), np.max(t)
                assert np.all(np.isfinite(solve(*args))), (size, t)
                assert np.isfinite(gradient(*args)), (size, t)


INFINITE = {
    "logarithm": (lambda y, t: np.log(2 - t), 1.9, 2.0, 0.1 * np.log(0.1) - 0.1),
    "reads y": (lambda y, t: np.log(2 - t) + 0 * y, 1.9, 2.0, 0.1 * np.log(0.1) - 0.1),
    "ends at 0": (lambda y, t: np.log(-t), -0.1, 0.0, 0.1 * np.log(0.1) - 0.1),
    "backwards": (lambda y, t: np.log(t - 1), 1.1, 1.0, 0.1 - 0.1 * np.log(0.1)),
    "root": (lambda y, t: np.sqrt(2 - t), 1.0, 2.0, 2 / 3),
}


@BOTH
@pytest.mark.parametrize("name", INFINITE)
def test_a_field_that_is_infinite_at_the_end_is_integrated(name: str, adjoint: bool) -> None:
    f, begin, end, integral = INFINITE[name]
    for y0 in (1.0, 100.0):
        y = bl.odeint(f, y0, np.array([begin, end]), adjoint=adjoint)[1]
        np.testing.assert_allclose(y, y0 + integral, rtol=1e-6)
    slope = bl.grad(lambda y0: bl.odeint(f, y0, np.array([begin, end]), adjoint=False)[1])(1.0)
    np.testing.assert_allclose(slope, 1.0, rtol=1e-12)


def pendulum(y: Any, t: Any) -> Any:
    return np.stack([y[1], -np.sin(y[0]) + 0.1 * np.cos(t)])


def loop_field(y: Any, t: Any) -> Any:
    """A field with a loop and a choice, whose coefficients depend on each other from one order to the next."""
    _, rows = bl.scan(lambda c, a: (c * np.cos(a * y[0]), c), 1.0 + t, np.array([0.2, 0.9, -0.4]))
    return bl.cond(rows[0] > 0, lambda y: -y * rows[1], lambda y: -y + rows[2], y)


@pytest.mark.parametrize("field", [pendulum, loop_field])
@pytest.mark.parametrize("order", [2, 9, 25])
def test_taylor_steps_reach_the_solutions_of_dormand_and_prince(field: Any, order: int) -> None:
    y0 = np.array([0.7, -0.4])
    tolerance = 1e-7 if order == 2 else 1e-12
    wanted = bl.odeint(field, y0, T, rtol=1e-13, atol=1e-13)
    for times in (T, T[::-1].copy()):
        start = y0 if times is T else wanted[-1]
        got = bl.odeint(field, start, times, rtol=tolerance, atol=tolerance, order=order)
        np.testing.assert_allclose(got, wanted if times is T else wanted[::-1], rtol=0, atol=1e3 * tolerance)


@BOTH
def test_taylor_steps_have_derivatives(adjoint: bool) -> None:
    def last(b: Any, **options: Any) -> Any:
        return total(np, solved(Y0, T, A, b, **options))

    options = {"adjoint": adjoint, "max_steps": 200, "rtol": 1e-11, "atol": 1e-11}
    assert bl.grad(lambda b: last(b, order=12, **options))(0.4) == pytest.approx(bl.grad(last)(0.4), rel=1e-6)
    assert bl.grad(lambda b: last(b, order=12, **options))(0.4) == pytest.approx(float(nested_by_jax(1)), rel=1e-7)


def test_taylor_steps_are_few_and_exact_where_tolerances_are_small() -> None:
    """A circle: 15 digits, with a tenth of the steps of Dormand and Prince."""

    def steps(order: int | None) -> int:
        options = Options(1e-13, 1e-13, 5000, order)
        f: Any = lambda y, t: np.stack([y[1], -y[0]])  # noqa: E731
        return int(bl.jit(lambda y, t: scheduled(f, as_node(y), as_node(t), options)[2])(np.array([0.0, 1.0]), T)[-1])

    got = bl.odeint(lambda y, t: np.stack([y[1], -y[0]]), np.array([0.0, 1.0]), T, rtol=1e-15, atol=1e-15, order=25)
    np.testing.assert_allclose(got, np.stack([np.sin(T), np.cos(T)], axis=1), rtol=0, atol=2e-15)
    assert steps(25) * 10 < steps(None)


def test_errors_of_taylor_steps_follow_the_tolerance() -> None:
    times = np.linspace(0, 20, 5)
    wanted = bl.odeint(pendulum, np.array([1.0, 0.0]), times, rtol=1e-13, atol=1e-13)
    for tolerance in (1e-3, 1e-6, 1e-9):
        got = bl.odeint(pendulum, np.array([1.0, 0.0]), times, rtol=tolerance, atol=tolerance, order=8)
        assert 1e-3 * tolerance < np.abs(got - wanted).max() < 30 * tolerance


@pytest.mark.parametrize("order", [1, 0, -3, 2.5, "9", 101, 2**63])
def test_the_order_of_taylor_steps_is_checked(order: Any) -> None:
    with pytest.raises(ArgumentError, match=r"order of odeint=.* is not a whole number from 2 to 100"):
        bl.odeint(pendulum, np.ones(2), T, order=order)
