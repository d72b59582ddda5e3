"""fixed_point and root: values in every gear, and derivatives of three orders against JAX through an unrolled loop."""

from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy import optimize

import burlab as bl
from burlab.compiler.executable import build
from burlab.errors import ArgumentError, DTypeError, ShapeError, TraceError
from burlab.graph import Graph
from burlab.graph.file.verify import verify
from burlab.graph.tracing.trace import trace
from tests.engines import GEARS, assert_close, jax_or_skip

W = np.array([[0.2, -0.3, 0.1], [0.05, 0.3, -0.2], [0.1, 0.2, 0.15]])
B = np.array([0.5, -1.0, 0.3])
ORDERS = ["r", "f", "rr", "rf", "fr", "ff", "rfr"]


def layer(np: Any, x: Any, w: Any, b: Any) -> Any:
    """A contraction over a tree: the layer of a deep equilibrium model."""
    return {"h": np.tanh(w @ x["h"] + b) * np.cos(x["s"]), "s": 0.3 * np.sin(np.sum(x["h"] * b))}


def equilibrium(w: Any, b: Any) -> Any:
    start = {"h": np.zeros(3), "s": 0.0}
    x = bl.fixed_point(lambda x, b: layer(np, x, w, b), start, b)  # w is read from around, b is an argument
    return np.sum(x["h"] ** 2) + x["s"]


def unrolled(jax: Any) -> Any:
    def f(w: Any, b: Any) -> Any:
        start = {"h": jax.numpy.zeros(3), "s": jax.numpy.asarray(0.0)}
        x = jax.lax.scan(lambda x, _: (layer(jax.numpy, x, w, b), None), start, None, length=80)[0]
        return jax.numpy.sum(x["h"] ** 2) + x["s"]

    return f


def equations(np: Any, x: Any, w: Any, b: Any) -> Any:
    return x**3 + x + np.sin(w @ x) - b


def zero(w: Any, b: Any) -> Any:
    return np.sum(bl.root(lambda x, w: equations(np, x, w, b), np.zeros(3), w) ** 2)


def stepped(jax: Any) -> Any:
    """Newton's method with exact derivatives of all orders: more steps than are needed."""

    def f(w: Any, b: Any) -> Any:
        def step(x: Any, _: Any) -> Any:
            jacobian = jax.jacfwd(lambda x: equations(jax.numpy, x, w, b))(x)
            return x - jax.numpy.linalg.solve(jacobian, equations(jax.numpy, x, w, b)), None

        return jax.numpy.sum(jax.lax.scan(step, jax.numpy.zeros(3), None, length=7)[0] ** 2)

    return f


def nested(engine: Any, f: Any, modes: str) -> Any:
    for mode in modes:
        f = (engine.jacrev if mode == "r" else engine.jacfwd)(f, (0, 1))
    return f


@cache
def by_jax(theirs: Any, order: int) -> Any:
    """In whichever order of the modes."""
    jax = jax_or_skip()
    return jax.jit(nested(jax, theirs(jax), "rff"[:order]))(W, B)


@pytest.mark.parametrize("modes", ORDERS)
@pytest.mark.parametrize(("ours", "theirs"), [(equilibrium, unrolled), (zero, stepped)])
def test_derivatives_equal_jaxs(ours: Any, theirs: Any, modes: str) -> None:
    wanted = by_jax(theirs, len(modes))
    f = nested(bl, ours, modes)
    kernel: Any = bl.compile(f, W, B, gear="replay")
    assert_close(kernel(W, B), wanted, 1e-8)


@pytest.mark.parametrize("gear", GEARS)
def test_gears_agree_on_implicit_functions(gear: Any) -> None:
    for f in (equilibrium, zero):
        value, gradient = bl.compile(f, W, B, gear=gear, argnums=1).value_and_grad(W, B)
        assert_close((value, gradient), (f(W, B), bl.grad(f, 1)(W, B)), 1e-12)


def test_solutions_solve() -> None:
    x = bl.fixed_point(lambda x: layer(np, x, W, B), {"h": np.zeros(3), "s": 0.0})
    assert_close(layer(np, x, W, B), x, 1e-11)
    x = bl.root(lambda x: equations(np, x, W, B), np.zeros(3))
    np.testing.assert_allclose(equations(np, x, W, B), 0, atol=1e-14)


def test_newton_takes_shorter_steps_where_full_ones_diverge() -> None:
    """arctan from 3: full steps run away. log from 5: a full step leaves its domain."""
    assert abs(bl.root(np.arctan, 3.0)) < 1e-15
    np.testing.assert_allclose(bl.root(np.log, 5.0), 1, rtol=1e-15)


def rosenbrock_gradient(x: Any) -> Any:
    return bl.grad(lambda x: np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2))(x)


def test_a_minimum_is_the_root_of_a_gradient() -> None:
    np.testing.assert_allclose(bl.root(rosenbrock_gradient, np.array([0.8, 0.7, 0.4])), 1, rtol=1e-10)


BRACKETED = [
    (lambda x, a: x**3 - a, (0.0, 10.0), 2.0),
    (lambda x, a: np.cos(x) - a * x, (-3.0, 3.0), 1.3),
    (lambda x, a: np.exp(x) * a - 5, (-50.0, 20.0), 0.1),
    (lambda x, a: np.tanh(1e3 * (x - a)), (-1.0, 9.0), 0.123),
    (lambda x, a: a - 1 / x, (0.01, 100.0), 3.0),
    (lambda x, a: x - a, (0.0, 1.0), 1.0),
    (lambda x, a: x - a, (0.0, 1.0), 0.0),
]


@pytest.mark.parametrize(("f", "bracket", "a"), BRACKETED)
def test_brackets_equal_scipys_brentq(f: Any, bracket: Any, a: float) -> None:
    wanted = optimize.brentq(f, *bracket, args=(a,), xtol=1e-14, rtol=1e-14)
    for start in (0.5, *bracket, 1e6):
        got = bl.root(f, start, a, bracket=bracket)
        assert abs(got - wanted) <= 4e-12 * (1 + abs(wanted))
    slope = -bl.grad(f, 1)(wanted, a) / bl.grad(f, 0)(wanted, a)
    np.testing.assert_allclose(bl.grad(lambda a: bl.root(f, 0.5, a, bracket=bracket))(a), slope, rtol=1e-8)


def test_brackets_may_be_traced_and_mapped() -> None:
    f = lambda a, low, high: bl.root(lambda x: x * x - a, low, bracket=(low, high))  # noqa: E731
    a = np.array([1.0, 2.0, 3.0, 1e4])
    got = bl.vmap(f, (0, None, None))(a, 0.0, 1000.0)
    np.testing.assert_allclose(got, np.sqrt(a), rtol=1e-11)
    np.testing.assert_allclose(bl.vmap(bl.grad(f), (0, None, None))(a, 0.0, 1000.0), 0.5 / np.sqrt(a), rtol=1e-11)


def test_solutions_under_vmap() -> None:
    rows = np.stack([B, 2 * B, -B])
    for f in (equilibrium, zero):
        got = bl.vmap(bl.value_and_grad(f, 1), (None, 0))(W, rows)
        for k, b in enumerate(rows):
            assert_close((got[0][k], got[1][k]), bl.value_and_grad(f, 1)(W, b), 1e-10)


def test_in_a_scan_and_in_float32() -> None:
    b = B.astype(np.float32)
    w = W.astype(np.float32)

    def f(w: Any, b: Any) -> Any:
        def iteration(x: Any, b: Any) -> Any:
            x = bl.fixed_point(lambda x: np.tanh(w @ x + b), x)
            return x, np.sum(x)

        return np.sum(bl.scan(iteration, np.zeros(3, w.dtype), np.stack([b, b * b]))[1])

    got, wanted = bl.grad(f, (0, 1))(w, b), bl.grad(f, (0, 1))(W, B)
    assert {g.dtype for g in got} == {np.dtype(np.float32)}
    assert_close(got, wanted, 1e-4)


def test_missing_solution_is_nan() -> None:
    assert np.isnan(bl.fixed_point(lambda x: 2 * x, 1.0))
    assert np.isnan(bl.fixed_point(lambda x: x / 2, 1.0, max_iterations=3))
    assert np.isnan(bl.root(lambda x: x * x + 1, 1.0))
    assert np.isnan(bl.root(lambda x: x * x + 1, 1.0, bracket=(-1.0, 2.0)))
    assert np.isnan(bl.root(lambda x: x - 1, 0.2, bracket=(0.0, 8.0), max_iterations=1))
    assert np.isnan(bl.grad(lambda a: bl.root(lambda x: x * x + a, 1.0))(1.0))


def test_no_derivative_by_the_start() -> None:
    assert bl.grad(lambda s: bl.root(lambda x: x**3 - 8, s))(1.0) == 0
    assert bl.fixed_point(lambda x: x, np.zeros(0)).shape == (0,)


def test_implicit_functions_with_wrong_arguments_raise() -> None:
    with pytest.raises(DTypeError, match=r"start of root is int64, expected floats\. Pass a float, such as 1\.0"):
        bl.root(lambda x: x, 1)
    with pytest.raises(DTypeError, match=r"g of fixed_point gave float64 for an argument of float32"):
        bl.fixed_point(lambda x: x.astype(np.float64), np.zeros(3, np.float32))
    with pytest.raises(TraceError, match=r"f of root gave an array or number, expected the tree \(\*, \*\)"):
        bl.root(lambda x: x[0], (1.0, 2.0))
    with pytest.raises(ShapeError, match=r"g of fixed_point gave shape \(\) for its argument of shape \(3,\)"):
        bl.fixed_point(lambda x: x[0], np.zeros(3))
    with pytest.raises(ArgumentError, match="must be two numbers"):
        bl.root(lambda x: x, 1.0, bracket=(1.0, 2.0, 3.0))  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="a bracket is for a function of one number, start has 2"):
        bl.root(lambda x: x, np.ones(2), bracket=(0.0, 1.0))
    for wrong in ({"tolerance": -1.0}, {"max_iterations": 0}, {"tolerance": "a"}):
        with pytest.raises(ArgumentError, match=next(iter(wrong))):
            bl.root(lambda x: x, 1.0, **wrong)  # type: ignore[arg-type]


SOLVERS = {
    "fixed point": lambda a: bl.fixed_point(lambda x: (x + a / x) / 2, 1.0),
    "Newton": lambda a: bl.root(lambda x: x * x - a, 1.0),
    "bracket": lambda a: bl.root(lambda x: x * x - a, 1.0, bracket=(0.0, 5.0)),
    "adjoint": lambda a: bl.odeint(lambda y, t: 0.5 / y, 1.0, np.stack([1.0, a]))[1],
    "direct": lambda a: bl.odeint(lambda y, t: 0.5 / y, 1.0, np.stack([1.0, a]), adjoint=False)[1],
}


@pytest.mark.parametrize("name", SOLVERS)
def test_square_roots_by_graphs_from_json_and_with_checks(name: str) -> None:
    """What solvers compute on the way is finite, or is not looked at; their graphs can be written."""
    f = SOLVERS[name]
    for gear in GEARS:
        value, slope = bl.compile(f, 2.0, check_finite=True, gear=gear).value_and_grad(2.0)
        np.testing.assert_allclose((value, slope), (2**0.5, 0.5 / 2**0.5), rtol=1e-7)
    graph = Graph.from_json(trace(f, (2.0,)).graph.to_json())
    verify(graph)
    assert build(graph)(np.array(2.0))[0] == bl.jit(f)(2.0)
