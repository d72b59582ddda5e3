"""Results of traced operations are written to as NumPy's are: aliases, views, and what was computed before."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.errors import DTypeError, ShapeError, TraceError
from burlab.graph.tracing.trace import trace
from tests.engines import assert_close, jax_or_skip
from tests.graph.buffers.programs import X, traced

Function = Callable[..., Any]


def first_replaced(x: Any) -> Any:
    y = 2 * x
    y[0] = x[2] * x[1]
    return y


def read_before(x: Any) -> Any:
    y = np.exp(x)
    squares, part, kept = y**2, y[1:], np.array([0.0, 0.0, 1.0])
    kept[:2] = y[:2]
    y[1] = x[0]
    part *= x[0]
    return y, squares, part, kept


def names_of_one(x: Any) -> Any:
    y = 2 * x
    z = y
    y += x
    z *= 3.0
    y **= 2
    return y, z


def numbers_are_values(x: Any) -> Any:
    s = np.sum(x)
    before = s
    s += 1.0
    first = x[0]
    first *= 2.0
    return s, before, first, x


def an_argument(x: Any) -> Any:
    again = x
    x += 1.0
    v = x[1:]
    v *= 2.0
    return x, again, v, x[:2] * 1.0


def functions(x: Any) -> Any:
    A = np.outer(x, x)
    np.fill_diagonal(A, 3 * x)
    turned, flat = A.T, A.reshape(-1)
    turned[0, 2] = 5 * x[1]
    flat[3] -= x[0]
    np.put_along_axis(A, np.array([[1], [0], [2]]), x[0], 1)
    y, z = np.sin(x), np.cos(x)
    np.add(x, y, out=y)
    np.add.at(z, [0, 0], x[1])
    np.copyto(z, x, where=np.array([False, True, False]))
    w = x - 1.0
    w.sort()
    w[1:] += w[:2] * y[1:]
    f = x / 2.0
    f.fill(x[1])
    np.multiply(f, x, f)
    return A, turned, flat, y, z, w, f


def rows(x: Any) -> Any:
    A = np.outer(x, x) + 1.0
    for k, row in enumerate(A):
        row[k] = row[0] * 2
        np.add(row, A[0], out=row)
    first, *rest = np.split(A, 3)
    first[0, 1] = x[1]
    return A, first, rest


def what_is_given_back_is_another(x: Any) -> Any:
    y = 2 * x
    parts = [y.astype(float), np.concatenate([y]), +y, y.copy(), np.array(y), y[[0, 1, 2]], np.real(y) * 1.0]
    parts += [bl.at_set(x, slice(None), y), x.astype(float), np.broadcast_to(y, (3,)) * 1.0]
    for k, part in enumerate(parts):
        part[k % 3] = x[1]
    y[2] = 0.0
    columns = np.outer(x, x).T.ravel()  # NumPy copies here, and of an argument too
    columns[1] = 9.0
    taken, copied = x[[0, 1]], np.stack([x, x]).T.reshape(-1)
    taken[0] = copied[0] = 7.0
    return y, x, parts, columns, taken, copied


def shared(x: Any) -> Any:
    y = x * x
    z, w, v, u = y[...], y.ravel(), np.atleast_2d(y), y[None].T
    z[0] = x[1]
    w[1] = x[0]
    v[0, 2] += 1.0
    u[0] *= 3.0
    return y, z, w, v, u


def recurrence(x: Any) -> Any:
    y = x / 3.0
    for k in range(3):
        y[k] = y[k - 1] * np.sin(x[k])
        y *= 1.5
    return y[::-1]


def of_derivatives(x: Any) -> Any:
    y = 2 * x
    g = bl.grad(lambda a: np.sum(a * a * y))(y)
    value, pull = bl.vjp(lambda a: a * y, x)
    g[0] = 1.0
    value[1] = x[0]
    y[2] = 7.0
    return y, g, value, pull(np.ones(3))[0]


def of_loops(x: Any) -> Any:
    def body(carry: Any, row: Any) -> Any:
        new = carry * row
        new[0] = row
        new += 1.0
        return new, new[1] * 2.0

    end, out = bl.scan(body, x, np.arange(3.0))
    out[1:] = end[1:]
    rest = bl.vmap(lambda r: first_replaced(r) * x)(np.outer(x, x))
    rest[1] += out
    chosen = bl.cond(x[0] > 0, first_replaced, lambda a: a, end)
    chosen[1] = 0.0
    return end, out, rest, chosen


def dtypes(x: Any) -> Any:
    y = x.astype(np.float32) * np.float32(2.0)
    y += x.astype(np.float32)
    y[0] = x[1]
    i = (x > 0).astype(int)
    i[1] = 7
    m = x > 0
    m[0] = False
    return y, i, m


PROGRAMS = (
    first_replaced, read_before, names_of_one, numbers_are_values, an_argument, functions, rows,
    what_is_given_back_is_another, shared, recurrence, dtypes,
)  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_results_are_written_to_as_numpys(f: Function) -> None:
    got, wanted = traced(f, X), f(X.copy())
    assert_close(got, wanted, 1e-14)


@pytest.mark.parametrize("f", [of_derivatives, of_loops], ids=lambda f: f.__name__)
def test_inside_of_transforms(f: Function) -> None:
    got, wanted = traced(f, X), f(X.copy())
    assert_close(got, wanted, 1e-13)


def in_jax(jnp: Any) -> Function:
    def f(x: Any) -> Any:
        y = x / 3.0
        for k in range(3):
            y = y.at[k].set(y[k - 1] * jnp.sin(x[k])) * 1.5
        A = jnp.outer(x, y)
        A = A.at[:, 1].set(x * y).at[0].add(y**2)
        return jnp.sum(A * A * A) + jnp.sum(y)

    return f


def in_numpy(x: Any) -> Any:
    y = x / 3.0
    for k in range(3):
        y[k] = y[k - 1] * np.sin(x[k])
        y *= 1.5
    A = np.outer(x, y)
    column, row = A.T[1], A[0]
    column[...] = x * y
    row += y**2
    return np.sum(A * A * A) + np.sum(y)


def test_three_orders_equal_jaxs() -> None:
    jax = jax_or_skip()
    theirs = in_jax(jax.numpy)

    def orders(engine: Any, f: Any) -> Any:
        return lambda x: (engine.grad(f)(x), engine.hessian(f)(x), engine.jacfwd(engine.hessian(f))(x))

    points = np.stack([X, 2 * X, X - 1.0])
    wanted = jax.jit(jax.vmap(orders(jax, theirs)))(points)
    assert_close(traced(orders(bl, in_numpy), X), [np.asarray(w)[0] for w in wanted], 1e-11)
    assert_close(bl.vmap(bl.grad(in_numpy))(points), np.asarray(wanted[0]), 1e-12)


def test_gears_have_the_same_bits() -> None:
    strict, replay = (bl.compile(in_numpy, X, strict=True, gear=gear) for gear in ("compiled", "replay"))
    assert strict(X).tobytes() == replay(X).tobytes()
    assert strict.value_and_grad(X)[1].tobytes() == replay.value_and_grad(X)[1].tobytes()


def test_entries_that_are_written_in_a_loop_become_few_nodes() -> None:
    def f(x: Any) -> Any:
        y = np.sin(x)
        y[1:3] = x[:2]
        y[5:] *= 2.0
        return y

    assert len(trace(f, (np.arange(8.0),)).graph.nodes) <= 12


def into_an_argument(x: Any) -> None:
    x[0] = 1.0


def into_a_row_of_an_argument(x: Any) -> None:
    for row in x.reshape(3, 1):
        row[0] = 2.0


def by_out(x: Any) -> None:
    np.sin(x, out=x)


def by_a_function(x: Any) -> None:
    np.put_along_axis(x, np.array([1]), 2.0, 0)


def from_around(x: Any) -> None:
    y = 2 * x

    def body(carry: Any, row: Any) -> Any:
        y[0] = row
        return carry, row

    bl.scan(body, x, np.arange(3.0))


def another_shape(x: Any) -> None:
    y = 2 * x
    y += np.ones((2, 3))


def another_kind(x: Any) -> None:
    i = (x > 0).astype(int)
    i += x


def a_part_of_a_complex_array(x: Any) -> None:
    z = x * 1j
    z.imag[0] = 2.0


@pytest.mark.parametrize(
    ("f", "error", "words"),
    [
        (into_an_argument, TraceError, "argument of the function.*x.copy"),
        (into_a_row_of_an_argument, TraceError, "view of it.*x.copy"),
        (by_out, TraceError, "argument of the function"),
        (by_a_function, TraceError, "argument of the function"),
        (from_around, TraceError, "made outside of the function"),
        (another_shape, ShapeError, "cannot change the shape"),
        (another_kind, DTypeError, "same_kind.*astype"),
        (a_part_of_a_complex_array, TraceError, "part of a complex array"),
    ],
)
def test_writes_into_arguments_or_views_raise(f: Function, error: Any, words: str) -> None:
    with pytest.raises(error, match=words):
        trace(f, (X,))


def test_array_converted_to_complex_is_writable() -> None:
    def f(x: Any) -> Any:
        y = 2 * x
        z = y * np.exp(1j * y)
        y[0] = 0.0
        return np.abs(z) ** 2, y

    assert_close(traced(f, X), f(X), 1e-14)
