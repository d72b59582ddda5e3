"""cond: both sides against Python and JAX in every gear, derivatives, vmap, what it refuses."""

import re
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.compiler.executable import build
from burlab.errors import DTypeError, IndexRangeError, ShapeError, TraceError
from burlab.graph import Graph, tree
from tests.engines import GEARS, jax_or_skip

X = np.array([0.3, -1.2, 2.0])


def polar(np: Any, cond: Any, x: Any, w: Any) -> Any:
    """Several results, a value from around, an operand that one side does not read, a number that takes on a dtype."""
    return cond(
        np.sum(x) > 0,
        lambda v, n: {"a": np.sin(v) * w, "b": 2.0, "n": n + 1},
        lambda v, n: {"a": v @ v * w, "b": np.sum(v), "n": n},
        x,
        3,
    )


def nested(np: Any, cond: Any, x: Any, w: Any) -> Any:
    inner = lambda v: cond(w[0] > 0, lambda u: u * w[0], lambda u: u - w, v)  # noqa: E731
    return cond(np.max(x) > 1, lambda: inner(x), lambda: inner(-x) * 2)


PROGRAMS = [polar, nested]
POINTS = [(s * X, t * X[::-1]) for s in (1, -1) for t in (1, -1)]


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("point", POINTS)
def test_cond_equals_python_and_jax_in_all_gears(program: Any, point: Any) -> None:
    jax = jax_or_skip()
    f = lambda *args: program(np, bl.cond, *args)  # noqa: E731
    wanted = tree.flatten(f(*point))[0]
    want = jax.tree.leaves(program(jax.numpy, jax.lax.cond, *map(jax.numpy.asarray, point)))
    for gear in GEARS:
        got = tree.flatten(bl.compile(f, *point, gear=gear)(*point))[0]
        for a, b, c in zip(got, wanted, want, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-15)
            np.testing.assert_allclose(a, c, rtol=1e-15)


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("point", POINTS)
def test_derivatives_pass_through(program: Any, point: Any) -> None:
    """Of first and second order, in both modes, by operands and by values from around it."""

    def f(x: Any, w: Any) -> Any:
        result = program(np, bl.cond, x, w)
        return result["a"] * result["b"] if isinstance(result, dict) else np.sum(result**2)

    bl.check_grads(f, point, order=3)
    jax = jax_or_skip()

    def g(x: Any, w: Any) -> Any:
        result = program(jax.numpy, jax.lax.cond, x, w)
        return jax.numpy.sum(result["a"] * result["b"] if isinstance(result, dict) else result**2)

    want = jax.grad(g, argnums=(0, 1))(*point)
    got = bl.grad(lambda x, w: np.sum(f(x, w)), argnums=(0, 1))(*point)
    for a, b in zip(got, want, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-13)


@pytest.mark.parametrize("program", PROGRAMS)
def test_vmap_and_its_derivatives(program: Any) -> None:
    """Rows choose for themselves; what all rows share collects its derivative from all."""
    f = lambda x, w: np.sum(tree.flatten(program(np, bl.cond, x, w))[0][0])  # noqa: E731
    xs, ws = (np.stack(column) for column in zip(*POINTS, strict=True))
    np.testing.assert_allclose(bl.vmap(f)(xs, ws), [f(*point) for point in POINTS], rtol=1e-14)
    got = bl.vmap(bl.grad(f, argnums=(0, 1)))(xs, ws)
    for k in (0, 1):
        wanted = [bl.grad(f, argnums=(0, 1))(*point)[k] for point in POINTS]
        np.testing.assert_allclose(got[k], wanted, rtol=1e-14)
    total = lambda w: np.sum(bl.vmap(f, in_axes=(0, None))(xs, w))  # noqa: E731
    np.testing.assert_allclose(bl.grad(total)(ws[0]), sum(bl.grad(f, 1)(x, ws[0]) for x in xs), rtol=1e-13)
    twice = bl.vmap(bl.vmap(f, in_axes=(None, 0)), in_axes=(0, None))(xs, ws)
    np.testing.assert_allclose(twice, [[f(x, w) for w in ws] for x in xs], rtol=1e-14)


@pytest.mark.parametrize("gear", GEARS)
def test_only_one_side_is_executed(gear: Any) -> None:
    def f(x: Any, k: Any) -> Any:
        return bl.cond(k < 3, lambda: x[k], lambda: -1.0)

    kernel = bl.compile(f, X, np.int64(0), gear=gear)
    assert (kernel(X, np.int64(1)), kernel(X, np.int64(9))) == (X[1], -1.0)
    with pytest.raises(IndexRangeError, match=rf"line {f.__code__.co_firstlineno + 1}.*gather"):
        kernel(X, np.int64(-9))


def test_json_and_display() -> None:
    kernel = bl.compile(lambda x, w: polar(np, bl.cond, x, w), X, X)
    graph = Graph.from_json(kernel.graph.to_json())
    assert graph.key == kernel.graph.key
    assert "true of %" in str(graph)
    got = build(graph, gear="replay")(X, X)
    np.testing.assert_array_equal(got[0], kernel(X, X)["a"])


def test_known_choice_is_resolved_at_once() -> None:
    kernel = bl.compile(lambda x: bl.cond(True, np.sin, np.cos, x), X)
    assert [n.op for n in kernel.graph.nodes] == ["input", "sin"]
    assert bl.cond(np.bool_(False), lambda: "yes", lambda: "no") == "no"


def test_in_a_loop_and_around_one() -> None:
    def f(x: Any) -> Any:
        def iteration(s: Any) -> Any:
            k, y = s
            return k + 1, bl.cond(
                k * 0.5 < 1, lambda: y * 2, lambda: bl.while_loop(lambda z: z > 1, lambda z: z / 2, y)
            )

        return bl.while_loop(lambda s: s[0] < 5, iteration, (0, x))[1]

    assert bl.jit(f)(3.0) == f(3.0)


def test_cond_with_wrong_arguments_raises() -> None:
    line = test_cond_with_wrong_arguments_raises.__code__.co_firstlineno
    cases: list[tuple[Any, type[Exception], str]] = [
        (
            lambda x: bl.cond(np.sum(x), np.sin, np.cos, x),
            TraceError,
            "the choice of cond must be one bool, got float64",
        ),
        (
            lambda x: bl.cond(x > 0, np.sin, np.cos, x),
            TraceError,
            "the choice of cond must be one bool, got bool of shape (3,)",
        ),
        (lambda x: bl.cond(x[0] > 0, lambda: x, lambda: (x,)), TraceError, "return different structures"),
        (
            lambda x: bl.cond(x[0] > 0, lambda: x, lambda: x[:2]),
            ShapeError,
            "has shape (3,) on one side and (2,) on the other",
        ),
        (
            lambda x: bl.cond(x[0] > 0, lambda: x, lambda: x > 0),
            DTypeError,
            "is float64 on one side and bool on the other",
        ),
        (lambda x: bl.cond(x[0] > 0, lambda a: x, lambda a: x, "a"), TraceError, "an operand of cond is a str"),
    ]
    for f, kind, text in cases:
        with pytest.raises(kind, match=re.escape(text)) as caught:
            bl.jit(f)(X)
        found = re.search(r'test_cond.py", line (\d+)', str(caught.value))
        assert found
        assert line < int(found[1]) < line + 40
