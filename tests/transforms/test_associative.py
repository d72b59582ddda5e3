"""`associative_scan` against JAX's: values, trees, axes, both directions, derivatives, vmap."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ArgumentError, BurlabError, ShapeError
from tests.engines import GEARS, jax_or_skip

RNG = np.random.default_rng(5)
ROWS, STACK = RNG.normal(size=(3, 7, 4)), RNG.normal(size=(6, 3, 3)) / 2


def affine(_: Any, a: Any, b: Any) -> Any:
    """The composition of x -> m x + c, as in a linear recurrence."""
    return {"m": a["m"] * b["m"], "c": b["m"] * a["c"] + b["c"]}


def matrices(xp: Any, a: Any, b: Any) -> Any:
    """Products of matrices, which do not commute."""
    return xp.matmul(a, b)


def left(_: Any, a: Any, b: Any) -> Any:
    """What does not commute, of elements."""
    return a + 0 * b


CASES: list[tuple[Callable[..., Any], Any, int]] = [
    (affine, {"m": ROWS, "c": ROWS[::-1]}, 0), (affine, {"m": ROWS, "c": ROWS[::-1]}, 1),
    (affine, {"m": ROWS, "c": ROWS[::-1]}, -1), (matrices, STACK, 0),
    (left, ROWS, 2), (lambda _, a, b: a + b, ROWS, 1),
    (lambda _, a, b: (a[0] + b[0], a[1] * b[1]), (ROWS, ROWS[:, :, :2]), -2),
    (lambda xp, a, b: xp.logaddexp(a, b), ROWS, 1), (lambda _, a, b: a * b, np.arange(1, 6), 0),
    (lambda _, a, b: a * b, ROWS[0, :, 0] + 1j * ROWS[1, :, 0], 0),
]  # fmt: skip


def both(jax: Any, fn: Any, axis: int, reverse: bool) -> tuple[Any, Any]:
    ours = lambda elems: bl.associative_scan(lambda a, b: fn(np, a, b), elems, reverse, axis)  # noqa: E731
    theirs = lambda elems: jax.lax.associative_scan(  # noqa: E731 - JAX reverses no negative axis
        lambda a, b: fn(jax.numpy, a, b), elems, reverse, axis % jax.tree.leaves(elems)[0].ndim
    )
    return ours, theirs


def assert_equal_trees(got: Any, wanted: Any, rtol: float = 1e-12) -> None:
    pairs = zip(bl.tree.leaves(got), bl.tree.leaves(bl.tree.map(np.asarray, wanted)), strict=True)
    for a, b in pairs:
        assert np.asarray(a).dtype == b.dtype
        np.testing.assert_allclose(a, b, rtol=rtol, atol=1e-14)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("case", range(len(CASES)))
def test_values_are_jaxs(case: int, reverse: bool) -> None:
    fn, elems, axis = CASES[case]
    jax = jax_or_skip()
    jax_elems = jax.tree.map(jax.numpy.asarray, elems)
    ours, theirs = both(jax, fn, axis, reverse)
    wanted = jax.tree.map(np.asarray, theirs(jax_elems))
    assert_equal_trees(ours(elems), wanted)
    for gear in GEARS:
        assert_equal_trees(bl.compile(ours, elems, gear=gear)(elems), wanted)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("case", [0, 3])
def test_derivatives_and_batches_are_jaxs(case: int, reverse: bool) -> None:
    jax = jax_or_skip()
    fn, elems, axis = CASES[case]
    ours, theirs = both(jax, fn, axis, reverse)

    def loss(xp: Any, scan: Any) -> Any:
        def f(elems: Any) -> Any:
            found = scan(elems)
            return sum(xp.sum(xp.sin(y)) for y in (found.values() if isinstance(found, dict) else [found]))

        return f

    mine, other = loss(np, ours), loss(jax.numpy, theirs)
    assert_equal_trees(bl.grad(mine)(elems), jax.grad(other)(elems), 1e-10)
    direction = bl.tree.map(np.cos, elems)
    along = lambda f, jvp: lambda e: jvp(f, (e,), (direction,))[1]  # noqa: E731
    assert_equal_trees(bl.grad(along(mine, bl.jvp))(elems), jax.grad(along(other, jax.jvp))(elems), 1e-9)
    many = bl.tree.map(lambda x: np.stack([x, 2 * x, -x]), elems)
    assert_equal_trees(bl.vmap(ours)(many), jax.vmap(theirs)(many))
    assert_equal_trees(bl.vmap(bl.grad(mine))(many), jax.vmap(jax.grad(other))(many), 1e-9)


@pytest.mark.parametrize("ufunc", [np.add, np.multiply, np.maximum, np.minimum])
@pytest.mark.parametrize("reverse", [False, True])
def test_accumulated_ufuncs_equal_the_loop(ufunc: Any, reverse: bool) -> None:
    loop = lambda x: bl.associative_scan(lambda a, b: ufunc(a, b), x, reverse, 1)  # noqa: E731,PLW0108
    closed = lambda x: bl.associative_scan(ufunc, x, reverse, 1)  # noqa: E731
    np.testing.assert_allclose(closed(ROWS), loop(ROWS), rtol=1e-13)
    np.testing.assert_allclose(bl.jit(closed)(ROWS), loop(ROWS), rtol=1e-13)
    slopes = [bl.grad(lambda x, f=f: np.sum(np.sin(f(x))))(ROWS) for f in (closed, loop)]
    np.testing.assert_allclose(slopes[0], slopes[1], rtol=1e-10, atol=1e-13)
    assert closed(np.arange(3, dtype=np.int8).reshape(1, 3)).dtype == np.int8


@pytest.mark.parametrize("n", [0, 1, 2])
def test_short_arrays(n: int) -> None:
    x = np.arange(float(n)) + 1
    np.testing.assert_array_equal(bl.associative_scan(lambda a, b: a * b, x), np.cumprod(x))
    np.testing.assert_array_equal(bl.jit(lambda x: bl.associative_scan(lambda a, b: a * b, x))(x), np.cumprod(x))


def test_what_does_not_fit_is_refused() -> None:
    add = lambda a, b: a + b  # noqa: E731
    wrong: list[tuple[Callable[[], Any], type[BurlabError], str]] = [
        (lambda: bl.associative_scan(add, np.ones(3), axis=1), BurlabError, "axis of associative_scan"),
        (lambda: bl.associative_scan(add, 3.0), BurlabError, "axis of associative_scan"),
        (lambda: bl.associative_scan(add, {}), ArgumentError, "without arrays"),
        (lambda: bl.associative_scan(add, (np.ones(3), np.ones(2))), ShapeError, "lengths 3, 2"),
        (lambda: bl.associative_scan(lambda a, b: (a, b), np.ones(3)), ArgumentError, "returned the tree"),
        (lambda: bl.associative_scan(lambda a, b: (a + b)[0], np.ones(3)), ShapeError, r"returned the shape \(\)"),
        (lambda: bl.associative_scan(lambda a: a, np.ones(3)), ArgumentError, "fn of associative_scan"),
    ]
    for call, error, says in wrong:
        for run in (call, bl.jit(call)):
            with pytest.raises(error, match=says):
                run()
