"""switch and fori_loop against JAX, in every gear, with derivatives and under vmap."""

from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ArgumentError, TraceError
from tests.engines import GEARS, assert_close, jax_or_skip

X = np.array([0.3, -1.2, 2.0])


def branches(np: Any, scale: Any) -> list[Any]:
    """They read a value from around them; numbers become arrays."""
    return [
        lambda x: (np.sin(x) * scale, 1.0),
        lambda x: (np.exp(x), np.sum(x)),
        lambda x: (x * x * scale, 2.0),
        lambda x: (x, np.max(x)),
        lambda x: (np.tanh(x), scale),
    ]


@pytest.mark.parametrize("count", [1, 2, 3, 5])
@pytest.mark.parametrize("gear", GEARS)
def test_switch_takes_one_branch(count: int, gear: Any) -> None:
    f = lambda k, x, s: bl.switch(k, branches(np, s)[:count], x)  # noqa: E731
    kernel: Any = bl.compile(f, np.array(0), X, 3.0, gear=gear)
    for k in range(-1, count + 1):
        wanted = branches(np, 3.0)[min(max(k, 0), count - 1)](X)
        assert_close(kernel(np.array(k), X, 3.0), wanted)
        assert_close(f(k, X, 3.0), wanted)


def test_derivatives_of_switch_equal_jaxs() -> None:
    jax = jax_or_skip()

    def program(np: Any, switch: Any) -> Any:
        def f(x: Any, s: Any, k: Any) -> Any:
            y, z = switch(k, branches(np, s), x)
            return np.sum(y**2) * z

        return f

    def both(engine: Any, f: Any) -> Any:
        return engine.jit(lambda *args: (engine.grad(f, (0, 1))(*args), engine.hessian(f)(*args)))

    ours, theirs = both(bl, program(np, bl.switch)), both(jax, program(jax.numpy, jax.lax.switch))
    for k in range(5):
        args = (X, 1.7, np.array(k))
        assert_close(ours(*args), theirs(*args))


def test_switch_executes_the_chosen_branch_alone() -> None:
    endless = lambda x: bl.while_loop(lambda x: np.array(True) | (x > 0), lambda x: x + 1, x)  # noqa: E731
    f = bl.jit(lambda k, x: bl.switch(k, [np.sin, endless, np.cos], x))
    assert f(np.array(2), 0.0) == 1


def test_switch_under_vmap() -> None:
    ks = np.array([3, 0, -2, 9, 1])
    rows = np.outer(np.arange(1.0, 6), X)
    got = bl.vmap(lambda k, x: bl.switch(k, branches(np, 2.0), x))(ks, rows)
    wanted = [branches(np, 2.0)[min(max(k, 0), 4)](x) for k, x in zip(ks, rows, strict=True)]
    assert_close(got, (np.stack([y for y, _ in wanted]), np.array([z for _, z in wanted])))


def test_switch_with_wrong_arguments_raises() -> None:
    for wrong in ([], [np.sin, 3.0]):
        with pytest.raises(ArgumentError, match="expected one or more functions"):
            bl.switch(0, wrong, 1.0)
    with pytest.raises(TraceError, match="index of switch must be one integer, got float64"):
        bl.jit(lambda k: bl.switch(k, [np.sin, np.cos], 1.0))(0.5)
    with pytest.raises(TraceError, match="index of switch must be one integer, got a float"):
        bl.switch(0.5, [np.sin, np.cos], 1.0)


def sums(np: Any, fori_loop: Any, lower: Any, upper: Any, x: Any) -> Any:
    """The body reads its index and a value from around it; the state has an integer."""

    def body(i: Any, state: Any) -> Any:
        count, y = state
        return count + i, np.sin(y + i * x) * x

    return fori_loop(lower, upper, body, (0, x * 0.5))


@pytest.mark.parametrize("ends", [(0, 5), (2, 3), (3, 3), (4, 1), (-3, 2)])
def test_fori_loop_equals_jaxs(ends: Any) -> None:
    jax = jax_or_skip()
    lower, upper = ends
    wanted = sums(jax.numpy, jax.lax.fori_loop, lower, upper, X)
    assert_close(sums(np, bl.fori_loop, lower, upper, X), wanted)
    assert_close(bl.jit(lambda x: sums(np, bl.fori_loop, lower, upper, x))(X), wanted)
    traced = bl.jit(lambda a, b, x: sums(np, bl.fori_loop, a, b, x))
    assert_close(traced(np.array(lower), np.array(upper), X), wanted)


def test_derivatives_of_fori_loop_equal_jaxs() -> None:
    jax = jax_or_skip()
    ours = lambda x: np.sum(sums(np, bl.fori_loop, 1, 6, x)[1])  # noqa: E731
    theirs = lambda x: jax.numpy.sum(sums(jax.numpy, jax.lax.fori_loop, 1, 6, x)[1])  # noqa: E731
    assert_close(bl.grad(ours)(X), jax.grad(theirs)(X), 1e-12)
    assert_close(bl.hessian(ours)(X), jax.hessian(theirs)(X), 1e-11)


def test_fori_loop_with_wrong_arguments_raises() -> None:
    with pytest.raises(TraceError, match="upper end of fori_loop must be one integer, got an array of shape"):
        bl.fori_loop(0, X, lambda i, s: s, 1.0)
    with pytest.raises(ArgumentError, match="body of fori_loop cannot be called with an index and a state"):
        bl.fori_loop(0, 3, lambda s: s, 1.0)  # type: ignore[arg-type]
    with pytest.raises(TraceError, match=r"derivative through bl\.while_loop is not defined"):
        bl.grad(lambda x, n: bl.fori_loop(0, n, lambda i, s: s * x, 1.0))(2.0, np.array(3))
