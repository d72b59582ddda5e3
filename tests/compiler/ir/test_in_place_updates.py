"""Loops that update arrays in place: the numbers of the same loop in NumPy, whatever else reads the arrays."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.compiler.executable import build
from burlab.compiler.ir.in_place_updates import loop_carries
from burlab.compiler.ir.plan import Execute, Invoke, MemoryKind
from burlab.graph import Graph
from burlab.graph.buffers.buffer_functions import at_add, at_set
from burlab.graph.tracing.trace import trace
from tests.engines import GEARS

SIZE, TIMES = 12, 9
X, Y = np.random.default_rng(3).normal(size=(2, SIZE))
Put = Callable[[Any, Any, Any], Any]


def added(x: Any, index: Any, rows: Any) -> Any:
    """NumPy's own."""
    x = x.copy()
    np.add.at(x, index, rows)
    return x


def written(x: Any, index: Any, rows: Any) -> Any:
    x = x.copy()
    x[index] = rows
    return x


def in_numpy(body: Any, x: Any, y: Any) -> Any:
    state = (x, y, 0.0)
    for k in range(TIMES):
        state = body(k, *state, added, written)
    return state


def by_while(body: Any, x: Any, y: Any) -> Any:
    def step(s: Any) -> Any:
        return (s[0] + 1, *body(s[0], *s[1:], at_add, at_set))

    return bl.while_loop(lambda s: s[0] < TIMES, step, (np.asarray(0), x, y, np.asarray(0.0)))[1:]


def by_scan(body: Any, x: Any, y: Any) -> Any:
    def step(s: Any, k: Any) -> Any:
        return body(k, *s, at_add, at_set), None

    return bl.scan(step, (x, y, np.asarray(0.0)), np.arange(TIMES))[0]


def one(k: Any, x: Any, y: Any, s: Any, add: Put, _: Put) -> Any:
    """An element that depends on itself."""
    return add(x, k, 2 * x[k] + 1), y, s


def rows(k: Any, x: Any, y: Any, s: Any, add: Put, put: Put) -> Any:
    """Overlapping rows of both arrays, each from the other's."""
    index = k + np.arange(3)
    return add(x, index, y[index] * 0.5), put(y, index, np.sin(x[index])), s


def read_before(k: Any, x: Any, y: Any, s: Any, add: Put, _: Put) -> Any:
    """The old array is summed, as a loop and through views, in the iteration that updates it."""
    return add(x, k, 1.0), y + x[::-1] * 0.1, s + np.sum(x * y) + x.reshape(3, 4).T[1, 2]


def read_with_new(k: Any, x: Any, y: Any, s: Any, add: Put, _: Put) -> Any:
    """What is made of the old and of the new array: the two cannot be one."""
    after = add(x, k, 1.0)
    return after, y + after * x, s + np.sum(after - x)


def old_kept(k: Any, x: Any, y: Any, s: Any, add: Put, _: Put) -> Any:
    """The old array is the next of the other."""
    return add(x, k, y[k]), x, s


def swapped(k: Any, x: Any, y: Any, s: Any, _: Put, put: Put) -> Any:
    """Each array is updated by all of the other."""
    index = (np.arange(SIZE) * 5 + k) % SIZE
    return put(x, index, y), put(y, index, x), s


def windows(k: Any, x: Any, y: Any, s: Any, add: Put, _: Put) -> Any:
    """A convolution of the old array, whose windows are views, with what takes long to be known."""
    index = np.arange(SIZE - 2)[:, None] + np.arange(3)
    kernel = np.sort(np.sort(y)[::-1] * (k + 1))[:6].reshape(3, 2)
    return add(x, k, 1.0), y, s + np.sum(np.tanh(x[index] @ kernel))


def twice(k: Any, x: Any, y: Any, s: Any, add: Put, put: Put) -> Any:
    """Two updates, one after the other."""
    return put(add(x, k, 1.0), k + 1, y[k]), y, s


def inner(k: Any, x: Any, y: Any, s: Any, add: Put, _: Put) -> Any:
    """A loop inside updates the array, which it reads around itself, too; the old one is read before and after."""
    first = x[k]

    def step(c: Any) -> Any:
        e, z, total = c
        return e + 1, add(z, e, 0.5 * z[k] + y[e]), total + z[e]

    if isinstance(x, np.ndarray):
        c = (0, x, 0.0)
        while c[0] < 3:
            c = step(c)
    else:
        c = bl.while_loop(lambda c: c[0] < 3, step, (np.asarray(0), x, np.asarray(0.0)))
    return c[1], add(y, k, first), s + c[2]


def inner_reads_old(k: Any, x: Any, y: Any, s: Any, add: Put, _: Put) -> Any:
    """A loop inside updates the array, and reads the old one as well."""

    def step(c: Any) -> Any:
        e, z = c
        return e + 1, add(z, e, x[e] + x[0] + y[k])

    if isinstance(x, np.ndarray):
        c = (0, x)
        while c[0] < 3:
            c = step(c)
    else:
        c = bl.while_loop(lambda c: c[0] < 3, step, (np.asarray(0), x))
    return c[1], y, s + np.sum(x)


BODIES = [one, rows, read_before, read_with_new, old_kept, swapped, windows, twice, inner, inner_reads_old]


@pytest.mark.parametrize("gear", GEARS)
@pytest.mark.parametrize("loop", [by_while, by_scan])
@pytest.mark.parametrize("body", BODIES)
def test_the_numbers_of_the_loop_in_numpy(body: Any, loop: Any, gear: Any) -> None:
    found = build(trace(lambda x, y: loop(body, x, y), (X, Y)).graph, gear=gear)(X, Y)
    for a, b in zip(found, in_numpy(body, X, Y), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("body", BODIES)
def test_rows_of_a_map_loop_by_themselves(body: Any) -> None:
    found = bl.jit(bl.vmap(lambda x, y: by_while(body, x, y)))(np.stack([X, Y]), np.stack([Y, X]))
    for a, *pair in zip(found, in_numpy(body, X, Y), in_numpy(body, Y, X), strict=True):
        np.testing.assert_allclose(a, np.stack(pair), rtol=1e-12, atol=1e-13)


def test_values_of_all_iterations_are_stored() -> None:
    """The derivative of a scan needs them, and reads each array as it was."""

    def total(x: Any) -> Any:
        return np.sum(np.sin(by_scan(one, x, Y)[0]) ** 2)

    step = 1e-6 * np.eye(SIZE)
    numbers = [np.sum(np.sin(in_numpy(one, X + e, Y)[0]) ** 2) - np.sum(np.sin(in_numpy(one, X - e, Y)[0]) ** 2)
               for e in step]  # fmt: skip
    np.testing.assert_allclose(bl.grad(total)(X), np.array(numbers) / 2e-6, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("gear", GEARS)
@pytest.mark.parametrize("loop", [by_while, by_scan])
@pytest.mark.parametrize(
    ("body", "updated"),
    [(one, {0, 1, 2}), (rows, {0, 1, 2}), (read_before, {0}), (read_with_new, set()), (inner, {0, 1})],
)
def test_no_array_is_copied_in_an_iteration(body: Any, updated: set[int], loop: Any, gear: Any) -> None:
    (loop_step,) = (
        s for s in build(trace(lambda x, y: loop(body, x, y), (X, Y)).graph, gear=gear).plan.steps
        if isinstance(s, Execute)
    )  # fmt: skip
    plan = loop_step.parts[-1]
    copies = [
        s for s in plan.steps
        if isinstance(s, Invoke) and "copy" in s.kernel.symbol and s.result.kind is MemoryKind.OUTPUT
    ]  # fmt: skip
    first = loop is by_while  # whose state begins with the number of the iteration
    assert plan.options.in_place == {(k + first, k + first) for k in updated}
    assert not updated or not copies


def test_of_two_arrays_that_wait_for_each_other_one_is_in_place() -> None:
    def body(x: Any, y: Any, index: Any) -> Any:
        return at_set(x, index, y), at_set(y, index, x)

    graph: Graph = trace(body, (X, Y, np.arange(SIZE))).graph
    assert loop_carries(graph, 2) == {(0, 0)}
