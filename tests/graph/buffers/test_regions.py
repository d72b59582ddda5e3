"""Arrays that are written to inside of loops, branches, maps and derivatives; and where writing is refused."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.errors import DTypeError, IndexRangeError, LayoutError, TraceError
from burlab.graph.tracing.trace import trace
from tests.engines import assert_close
from tests.graph.buffers.programs import X, traced


def residuals(x: Any) -> Any:
    r = np.zeros(4)
    for k in range(3):
        r[k] = 10.0 * x[k] ** 2 - x[(k + 1) % 3]
    r[3] = x[0] * x[1] * x[2]
    r *= r
    return np.sum(r)


def by_scan(x: Any) -> Any:
    def body(carry: Any, row: Any) -> Any:
        out = np.zeros(3)
        out[1:] = carry[:2] * row
        out[0] = row
        return out, out[0] + carry[2]

    return bl.scan(body, x, np.arange(4.0))


def by_while(x: Any) -> Any:
    def body(state: Any) -> Any:
        count, values = state
        new = np.zeros(3)
        new[0] = values[2]
        new[1:] = values[:2]
        return count + 1.0, new

    return bl.while_loop(lambda state: state[0] < 4.0, body, (0.0, x))


def by_cond(x: Any) -> Any:
    def true(x: Any) -> Any:
        out = np.zeros(3)
        out[::2] = x[:2]
        return out

    before = np.ones(3)
    before[1] = x[0]
    return bl.cond(x[0] > 0, true, lambda x: before * x, x), bl.cond(x[0] < 0, true, lambda x: before * x, x)


@pytest.mark.parametrize("f", [by_scan, by_while, by_cond])
def test_control_flow(f: Callable[..., Any]) -> None:
    assert_close(traced(f, X), f(X), 1e-14)


def test_derivatives_maps_and_gears() -> None:
    def smooth(x: Any) -> Any:
        r = np.stack([10.0 * x[k] ** 2 - x[(k + 1) % 3] for k in range(3)] + [x[0] * x[1] * x[2]])
        return np.sum(r * r)

    batch = np.stack([X, 2 * X])
    assert_close(bl.grad(residuals)(X), bl.grad(smooth)(X))
    assert_close(bl.hessian(residuals)(X), bl.hessian(smooth)(X))
    assert_close(
        bl.grad(lambda x: np.sum(bl.grad(residuals)(x) ** 2))(X), bl.grad(lambda x: np.sum(bl.grad(smooth)(x) ** 2))(X)
    )
    assert_close(bl.vmap(bl.grad(residuals))(batch), np.stack([bl.grad(smooth)(x) for x in batch]))
    strict, replay = (bl.compile(residuals, X, strict=True, gear=gear) for gear in ("compiled", "replay"))
    assert strict.value_and_grad(X)[0] == replay.value_and_grad(X)[0]
    assert strict.value_and_grad(X)[1].tobytes() == replay.value_and_grad(X)[1].tobytes()


def test_an_inner_function_takes_what_the_array_holds_then() -> None:
    def f(x: Any) -> Any:
        a = np.zeros(3)
        a[:] = x
        g = bl.grad(lambda y: np.sum(y * y * a))(a)  # by y, not by the a around it
        a[0] = 7.0
        return a, g

    assert_close(traced(f, X), (np.array([7.0, *X[1:]]), 2 * X * X), 1e-15)


def test_functions_of_burlab_take_what_the_array_holds() -> None:
    def f(x: Any) -> Any:
        a = np.zeros(3)
        a[1:] = x[1:]
        return bl.softmax(a), bl.relu(a), bl.at_add(a, 0, 2.0), a

    a = np.array([0.0, *X[1:]])
    assert_close(traced(f, X), (bl.softmax(a), bl.relu(a), np.array([2.0, *X[1:]]), a))


def test_updates_with_a_traced_index() -> None:
    def f(x: Any, i: Any) -> Any:
        table = np.ones((4, 3))
        table[i] = x
        table[i, 1] += 5.0
        return table, bl.at_set(table, np.stack([i, i]), np.stack([x, 2 * x])), bl.at_add(table, (i, 0), x[0])

    for k in range(4):
        table = np.ones((4, 3))
        table[k] = X
        table[k, 1] += 5.0
        last, more = table.copy(), table.copy()
        last[k] = 2 * X
        more[k, 0] += X[0]
        assert_close(traced(f, X, np.array(k)), (table, last, more), 0.0)


def test_minimize() -> None:
    run = bl.minimize(residuals, X, bl.optim.GD(1e-3), steps=3)
    x = X
    for _ in range(3):
        x = x - 1e-3 * bl.grad(residuals)(x)
    assert_close(run.x, x, 1e-12)


def argument(x: Any) -> Any:
    x[0] = 1.0


def view_of_argument(x: Any) -> Any:
    x[1:][0] = 1.0


def from_around(x: Any) -> Any:
    out = np.zeros(3)

    def body(carry: Any, row: Any) -> Any:
        out[0] = row
        return carry, row

    bl.scan(body, x, np.arange(4.0))


def integers(x: Any) -> Any:
    out = np.zeros(3, int)
    out += x


def half_numbers(x: Any) -> Any:
    np.zeros(3, np.float16)[0] = x[0]


def read_only(x: Any) -> Any:
    np.broadcast_to(np.zeros(3), (2, 3))[0] = x


def too_long(x: Any) -> Any:
    np.zeros((2, 3))[0] = np.concatenate([x, x])


def outside(x: Any) -> Any:
    np.zeros(3)[3] = x[0]


def numbers_requested(x: Any) -> Any:
    out = np.zeros(3)
    out[0] = x[0]
    float(out[0])


def by_c(x: Any) -> Any:
    out = np.zeros(3)
    out[0] = x[0]
    return x + np.ndarray.tolist(out)


@pytest.mark.parametrize(
    ("f", "error", "words"),
    [
        (argument, TraceError, "argument of the function.*np.array"),
        (view_of_argument, TraceError, "np.array"),
        (from_around, TraceError, "made outside of the function"),
        (integers, DTypeError, "same_kind.*dtype=float"),
        (half_numbers, DTypeError, "float16 cannot hold traced"),
        (read_only, (LayoutError, ValueError), "read-only"),
        (too_long, ValueError, "broadcast"),
        (outside, (IndexError, IndexRangeError), "out of bounds"),
        (numbers_requested, TraceError, "float"),
        (by_c, TraceError, "past NumPy"),
    ],
)
def test_unsupported_writes_to_regions_raise(f: Callable[..., Any], error: Any, words: str) -> None:
    with pytest.raises(error, match=words):
        trace(f, (X,))
