"""Short rows taken apart: the same values and gradients, in one loop, and only where that spares work."""

import numpy as np
import pytest

import burlab as bl
from burlab.compiler.ir.plan import Invoke, LoopStep
from burlab.compiler.passes import make_plan
from burlab.compiler.planning.split_columns import split_columns
from burlab.graph.rewrite.simplify import simplify
from burlab.runtime.cpu import instruction_set
from tests.compiler.trace import traced
from tests.engines import jax_or_skip, on

RNG = np.random.default_rng(0)
N = 37  # neither a multiple of lanes nor small


def across(xp, a, b):
    x, y = ((a[..., 1] * b[..., 2], a[..., 2] * b[..., 1]), (a[..., 2] * b[..., 0], a[..., 0] * b[..., 2]))
    z = a[..., 0] * b[..., 1], a[..., 1] * b[..., 0]
    return xp.stack([x[0] - x[1], y[0] - y[1], z[0] - z[1]], -1)


def turned(xp, v, r):
    """Rodrigues' formula, of rows."""
    angle = xp.sqrt(xp.sum(r * r, -1))[..., None]
    axis = r / angle
    along = xp.sum(axis * v, -1)[..., None]
    return v * xp.cos(angle) + across(xp, axis, v) * xp.sin(angle) + axis * along * (1 - xp.cos(angle))


def potential(xp, x, c):
    away = x[:, None, :] - c
    return xp.sum(1 / xp.sqrt(xp.sum(away**2, -1) + 0.1))


def by_matrix(xp, v, m, shift):
    moved = xp.einsum("nj,ij->ni", v, m) + shift
    return xp.sum(moved[:, ::-1] * across(xp, moved, v)) + xp.sum(m @ m @ xp.sum(v, 0))


def moved(xp, v, w):
    """Joined, rolled, cut and turned over along short axes and along others."""
    both = xp.concatenate([v, w[:, :1] * 2], 1)
    rolled = xp.roll(both, 1, 1) * both[:, ::-1]
    return xp.sum(xp.concatenate([rolled, rolled[:5] ** 2])[3:] * 0.5, 0) + xp.sum(w.T[1] * w[:, 2])


def pieces(xp, p):
    """Rows of a small array, each used by itself."""
    total = 0.0
    for a in range(2):
        for b in range(3):
            total = total + xp.sum(p[a, b] ** (a + b + 1)) * p[a, b, 0]
    return total


def masked(xp, v):
    longest = xp.sqrt(xp.sum(v * v, -1))
    return xp.sum(xp.where((v > 0) & (v[:, :1] < longest[:, None] / 2), v * longest[:, None], -v), 0)


def rows(*shape):
    return RNG.normal(size=shape)


PROGRAMS = {
    "turned": (turned, rows(N, 3), rows(N, 3)),
    "turned one": (turned, rows(3), rows(3)),
    "turned by one": (turned, rows(600, 3), rows(3)),
    "potential": (potential, rows(N, 3), rows(2, 3)),
    "potential of one": (potential, rows(1, 2), rows(2, 2)),
    "by a matrix": (by_matrix, rows(N, 3), rows(3, 3), rows(3)),
    "moved": (moved, rows(N, 3), rows(N, 3)),
    "pieces": (pieces, rows(2, 3, 3)),
    "masked": (masked, rows(N, 4)),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_values_and_gradients_are_those_of_jax(name):
    jax = jax_or_skip()
    f, *args = PROGRAMS[name]
    weights = np.cos(np.arange(np.size(f(np, *args)))).reshape(np.shape(f(np, *args)))

    def loss(xp, *args):
        return xp.sum(f(xp, *args) * weights)

    every = tuple(range(len(args)))
    value, wanted = jax.value_and_grad(on(jax.numpy, loss), every)(*args)
    graph = simplify(traced(on(np, loss), *args))
    assert split_columns(graph) is not graph, "nothing was taken apart"
    for gear in ("compiled", "replay"):
        got = bl.compile(on(np, loss), *args, argnums=every, gear=gear).value_and_grad(*args)
        np.testing.assert_allclose(got[0], value, rtol=1e-12)
        for a, b in zip(got[1], wanted, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-11 * np.abs(b).max())


def test_a_gradient_of_points_is_one_loop() -> None:
    """All that is computed for a point is in registers, but for what goes to the caller."""
    v, r = rows(N, 3), rows(3)
    kernel = bl.compile(lambda v, r: np.sum(turned(np, v, r) ** 2), v, r, argnums=(0, 1))
    plan = make_plan(split_columns(simplify(kernel.gradient_graph)))
    long = [step for step in plan.steps if isinstance(step, LoopStep) and step.shape]
    assert [step.shape for step in long] == [(N,)]
    assert not [step for step in plan.steps if isinstance(step, Invoke) and step.kernel.symbol.startswith("burlab_sum")]


@pytest.mark.parametrize("f", [
    lambda x, w: np.sum(np.tanh(x @ w) ** 2),  # the library multiplies matrices; a sum of everything ends a loop
    lambda x, w: np.sum(bl.softmax(x) * x),
    lambda x, w: x[:, :2] * 2.0 + 1.0,  # nothing meets but at the end
    lambda x, w: np.sum(np.sin(w[0] * 3) * np.cos(w[1]) * np.sin(w[0, ::-1])),  # a few numbers share lanes
])  # fmt: skip
def test_other_rows_stay(f) -> None:
    graph = simplify(traced(f, rows(N, 8), rows(8, 2)))
    assert split_columns(graph) is graph


def test_a_row_has_the_same_bits_alone() -> None:
    """Whether it is single numbers, a column of one or of many."""
    v, r = rows(9, 3), rows(9, 3)
    alone = bl.grad(lambda v, r: np.sum(turned(np, v, r) ** 2))
    many = bl.vmap(alone)(v, r)
    for k in range(9):
        np.testing.assert_array_equal(alone(v[k], r[k]), many[k])
    np.testing.assert_array_equal(bl.vmap(alone)(v[4:5], r[4:5])[0], many[4])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", [1, 5, 200])
def test_products_with_small_matrices_have_the_bits_of_the_library(size: int, dtype) -> None:
    v, m = RNG.normal(size=(size, 3)).astype(dtype), RNG.normal(size=(3, 3)).astype(dtype)

    def product(v, m):
        return np.einsum("nj,ij->ni", v * dtype(1.5), m)

    def longer(v, m):
        y = product(v, m)
        return y, across(np, across(np, y, v), v) * np.sqrt(np.sum(y * y, -1))[:, None]

    apart, alone = bl.compile(longer, v, m), bl.compile(product, v, m)
    assert "multiply_add" in apart.source
    assert "multiply_add" not in alone.source
    np.testing.assert_array_equal(apart(v, m)[0], alone(v, m))


def test_floats_are_added_in_double() -> None:
    v = (RNG.normal(size=(N, 3)) * np.array([1e4, 1.0, -1e4])).astype(np.float32)

    def norms(v):
        return np.stack([np.sum(v, -1), np.sum(v[:, ::-1] * v, -1)])

    got, wanted = bl.jit(norms)(v), norms(v.astype(np.float64))
    assert got.dtype == np.float32
    np.testing.assert_array_equal(got[0], wanted[0].astype(np.float32))
    np.testing.assert_allclose(got[1], wanted[1], rtol=1e-6)


def test_columns_are_not_split_beyond_the_statement_limit(monkeypatch) -> None:
    monkeypatch.setattr("burlab.compiler.executable.MAX_STATEMENTS", 20)
    executable = bl.compiler.build(traced(lambda a, b: across(np, a * b, b), rows(5, 4), rows(5, 4)))
    assert executable.gear == "compiled"
    assert executable.plan.statements <= 20


@pytest.mark.parametrize("size", [16, 17, 200, 511, 512, 513, 1600])
def test_sums_in_lanes_have_the_bits_of_the_library(size: int) -> None:
    x, y = RNG.uniform(1, 2, (size, 3)), RNG.uniform(2, 3, (2, size))

    def sums(x, y):
        a, (b, c) = x[:, 1], y  # the first lies apart
        terms = a * b - c, (a - b) * c, (a + b) * (c - b), a * c * b + a - c
        return np.stack([np.sum(t) for t in terms]), terms[2]

    kernel = bl.compile(sums, x, y)
    assert ("_lanes[" in kernel.source) == (instruction_set().register >= 16)
    got, term = kernel(x, y)
    np.testing.assert_array_equal(term, sums(x, y)[1])
    assert got[2] == bl.compile(np.sum, term)(term), "the order of the sum is another one"
    exact = sums(x.astype(np.longdouble), y.astype(np.longdouble))[0]
    np.testing.assert_allclose(got, exact.astype(float), rtol=1e-12)


@pytest.mark.parametrize("count", [1, 3, 32])
def test_empty_array_is_not_split(count):
    """An empty array beside numbers that are taken apart."""

    def f(scale, empty, a):
        product = np.prod(a) * scale
        return np.sum(product) + np.sum(np.einsum("x,->x", empty[::-1], product))

    scale, empty, a = np.float64(0.3), np.zeros(0), np.linspace(0.5, 1.5, count)
    value, (by_scale, by_empty, by_a) = bl.compile(bl.value_and_grad(f, (0, 1, 2)), scale, empty, a)(scale, empty, a)
    assert by_empty.shape == (0,)
    np.testing.assert_allclose([value, by_scale], [np.prod(a) * scale, np.prod(a)], rtol=1e-14)
    np.testing.assert_allclose(by_a, value / a, rtol=1e-13)
