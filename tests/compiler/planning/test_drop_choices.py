"""Inner choices that outer ones decide: they go where all users are inside, and no bit changes."""

import numpy as np
import pytest

import burlab as bl
from burlab.compiler.planning.drop_choices import drop_choices
from burlab.graph import Graph
from burlab.graph.rewrite.simplify import simplify
from tests.compiler.trace import traced
from tests.engines import jax_or_skip

RNG = np.random.default_rng(0)
X = np.where(np.arange(40) % 7 == 3, 0.0, RNG.normal(size=40))


def count(graph: Graph, op: str) -> int:
    return sum(n.op == op for n in graph.nodes)


def both(f, *args) -> tuple[Graph, Graph]:
    graph = simplify(traced(f, *args))
    return graph, drop_choices(graph)


def twice(xp, x):
    zero = x == 0.0
    return xp.where(zero, x, xp.sin(1.0 / xp.where(zero, 1.0, x)))


def where_true(xp, x):
    high = x > 0.5
    return xp.where(high, xp.sqrt(xp.where(high, x, 1.0)) + 1.0, x)


def nested(xp, x):
    high, low = x > 0.5, x < -0.5
    inner = xp.where(low, 2.0, xp.where(high, x, 3.0) * x)
    return xp.where(high, inner, 0.0 * x)


def used_outside(xp, x):
    zero = x == 0.0
    safe = xp.where(zero, 1.0, x)
    return xp.where(zero, x, 1.0 / safe) + safe


def other_mask(xp, x):
    return xp.where(x == 0.0, x, 1.0 / xp.where(x == 0.5, 1.0, x))


def other_side(xp, x):
    zero = x == 0.0
    safe = xp.where(zero, 1.0, x)
    return xp.where(zero, 2.0 * safe, 1.0 / safe)


def through_a_sum(xp, x):
    zero = x == 0.0
    return xp.where(zero, x, xp.sum(1.0 / xp.where(zero, 1.0, x)))


def other_elements(xp, x):
    zero = x == 0.0
    return xp.where(zero, x, (1.0 / xp.where(zero, 1.0, x))[::-1])


FEWER = (twice, where_true, nested)
AS_MANY = (used_outside, other_mask, other_side, through_a_sum, other_elements)


@pytest.mark.parametrize("f", FEWER)
def test_decided_choices_go(f) -> None:
    before, after = both(lambda x: f(np, x), X)
    assert count(after, "where") < count(before, "where")


@pytest.mark.parametrize("f", AS_MANY)
def test_others_stay(f) -> None:
    before, after = both(lambda x: f(np, x), X)
    assert after is before


@pytest.mark.parametrize("f", FEWER + AS_MANY)
def test_no_bit_changes(f) -> None:
    kernel = bl.compile(lambda x: f(np, x), X)
    wanted = bl.compile(lambda x: f(np, x), X, gear="replay")(X)
    assert kernel(X).tobytes() == wanted.tobytes()


def test_the_gradient_of_a_force_has_one_root_and_one_division_a_charge() -> None:
    def force(p):
        return bl.grad(lambda x: 1 / np.sqrt(np.sum((x - p[1]) ** 2)))(p[0])[0]

    p = np.array([[0.3, 1.0], [2.0, -1.0]])
    before, after = both(bl.grad(force), p)
    assert (count(before, "sqrt"), count(after, "sqrt")) == (2, 1)

    jax = jax_or_skip()

    def same(p):
        return jax.grad(lambda x: 1 / jax.numpy.sqrt(jax.numpy.sum((x - p[1]) ** 2)))(p[0])[0]

    np.testing.assert_allclose(bl.grad(force)(p), jax.grad(same)(p), rtol=1e-13)


def test_zeros_of_a_norm_are_as_before() -> None:
    x = np.array([[0.0, 0.0], [3.0, 4.0]])
    gradient = bl.grad(lambda x: np.sum(np.linalg.norm(x, axis=1)))(x)
    np.testing.assert_array_equal(gradient[0], 0.0)
    np.testing.assert_allclose(gradient[1], [0.6, 0.8], rtol=1e-15)
