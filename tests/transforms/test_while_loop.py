"""while_loop: programs against NumPy and JAX in every gear; vmap; what it refuses."""

import re
import threading
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.compiler.executable import build
from burlab.compiler.ir.plan import Execute
from burlab.errors import ArgumentError, DTypeError, IndexRangeError, NonFiniteError, ShapeError, TraceError
from burlab.graph import Graph, tree
from burlab.graph.file.verify import verify
from burlab.graph.tracing.trace import trace
from tests.engines import GEARS, jax_or_skip
from tests.interrupts import alarm, interrupt
from tests.transforms.loops import PROGRAMS, M, Program, X

EACH = pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.name)


def of_burlab(program: Program) -> Any:
    return lambda *args: program.f(np, bl.while_loop, *args)


def flat(result: Any) -> list[Any]:
    return [np.asarray(leaf) for leaf in tree.flatten(result)[0]]


def assert_same(got: Any, wanted: Any, *, bits: bool = True, dtypes: bool = True) -> None:
    for a, b in zip(flat(got), flat(wanted), strict=True):
        assert a.shape == b.shape
        assert a.dtype == b.dtype or not dtypes
        if bits:
            np.testing.assert_array_equal(a, b)
        else:
            np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-14)


@EACH
def test_gears_equal_the_python_loop(program: Program) -> None:
    """Bit for bit where NumPy's own arithmetic is exact about it; the gears always."""
    f = of_burlab(program)
    wanted = f(*program.args)
    results = [bl.compile(f, *program.args, gear=gear, strict=True)(*program.args) for gear in GEARS]
    assert_same(results[0], results[1])
    assert_same(results[0], wanted, bits=program.exact)


@EACH
def test_while_loop_equals_jax(program: Program) -> None:
    jax = jax_or_skip()
    want = program.f(jax.numpy, jax.lax.while_loop, *map(jax.numpy.asarray, program.args))
    assert_same(bl.jit(of_burlab(program))(*program.args), want, bits=False, dtypes=False)


@EACH
def test_graphs_of_while_loop_survive_json(program: Program) -> None:
    kernel = bl.compile(of_burlab(program), *program.args, gear="replay")
    graph = Graph.from_json(kernel.graph.to_json())
    assert graph.key == kernel.graph.key
    verify(graph)
    arrays = [np.asarray(a) for a in program.args]
    assert_same(build(graph, gear="replay")(*arrays), tuple(flat(kernel(*program.args))))
    assert "body of %" in str(graph)
    assert "while" in graph.to_dot()


@pytest.mark.parametrize("program", PROGRAMS[:4] + PROGRAMS[6:12], ids=lambda p: p.name)
def test_every_row_of_a_vmap_loops_by_itself(program: Program) -> None:
    rows = [program.args, tuple(np.asarray(a + a).astype(np.asarray(a).dtype) for a in program.args)]
    f = of_burlab(program)
    wanted = [flat(f(*row)) for row in rows]
    got = flat(bl.vmap(f)(*(np.stack(column) for column in zip(*rows, strict=True))))
    for k, leaf in enumerate(got):
        np.testing.assert_array_equal(leaf, np.stack([row[k] for row in wanted]))


def test_vmap_within_vmap_and_shared_arguments() -> None:
    """A finished row asks for nothing more: its next index would lie outside."""

    def below(x: Any, limit: Any) -> Any:
        return bl.while_loop(lambda s: s[0] + x[s[1]] < limit, lambda s: (s[0] + x[s[1]], s[1] + 1), (0.0, 0))

    limits = np.array([[0.5, 2.5], [3.5, 1.5], [0.0, 3.0]])
    x = np.ones(4)
    wanted = np.array([[below(x, limit)[1] for limit in row] for row in limits])
    got = bl.vmap(bl.vmap(below, in_axes=(None, 0)), in_axes=(None, 0))(x, limits)[1]
    np.testing.assert_array_equal(got, wanted)
    many = np.stack([x, x * 2, x * 3])
    got = bl.vmap(bl.vmap(below, in_axes=(None, 0)))(many, limits)[1]
    np.testing.assert_array_equal(got, [[below(m, v)[1] for v in row] for m, row in zip(many, limits, strict=True)])


def test_one_execution_gives_all_results_and_copies_nothing_that_rows_share() -> None:
    def f(m: Any, x: Any) -> Any:
        return bl.while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, m @ s[1], s[2] + 1.0), (0, x, x))

    big, xs = np.eye(200), np.ones((5, 200))
    executable = build(trace(bl.vmap(f, in_axes=(None, 0)), (big, xs)).graph)
    assert [len(step.nodes) for step in executable.plan.steps if isinstance(step, Execute)] == [3]
    assert executable.memory["workspace"] < big.nbytes


def test_a_start_of_plain_numbers_may_read_traced_values() -> None:
    def count(x: Any) -> Any:
        return bl.while_loop(lambda k: k < x, lambda k: k + 1, 0)

    assert bl.jit(count)(3.5) == count(3.5) == 4
    assert bl.jit(count)(3.5).dtype == np.int64


def test_plain_loops_inside_of_a_trace_stay_plain() -> None:
    seen: list[Any] = []

    def f(x: Any) -> Any:
        n = bl.while_loop(lambda k: k < 5, lambda k: k + 1, 0)
        seen.append(n)
        return x[:n]

    np.testing.assert_array_equal(bl.jit(f)(X), X[:5])
    assert seen == [5]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_python_number_takes_on_the_dtype_that_the_body_gives(dtype: Any) -> None:
    def total(x: Any) -> Any:
        return bl.while_loop(lambda s: s[1] < 3, lambda s: (s[0] + x[s[1]], s[1] + 1), (0, 0))

    x = X.astype(dtype)
    got = bl.jit(total)(x)
    assert (got[0].dtype, got[1].dtype) == (dtype, np.int64)
    assert got[0] == x[0] + x[1] + x[2]


def test_captured_values_are_read_and_not_copied() -> None:
    """Values from around a loop are read where they lie: the workspace does not grow with them."""
    big = np.ones((64, 64))

    def f(a: Any, x: Any) -> Any:
        return bl.while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, a @ s[1]), (0, x))[1]

    kernel = bl.compile(f, big, np.ones(64))
    kernel(big, np.ones(64))
    assert kernel._program("value", kernel._examples).executable.memory["workspace"] < 4096


def test_memory_is_planned_before_the_loop_runs() -> None:
    def f(x: Any) -> Any:
        return bl.while_loop(lambda s: s[0] < 100, lambda s: (s[0] + 1, np.cumsum(np.cumsum(s[1]) * 0.1)), (0, x))[1]

    one, many = (bl.compile(f, np.ones(n)).memory["scratch"] for n in (100, 1100))
    assert one < many < 1000 * 8 * 6


# Errors.


@pytest.mark.parametrize("wrap", [lambda f: f, bl.jit], ids=["plain", "traced"])
def test_while_loop_with_wrong_arguments_raises(wrap: Any) -> None:
    x = np.ones(3)
    cases: list[tuple[Any, type[Exception], str]] = [
        (lambda x: bl.while_loop(lambda s: s > 0, lambda s: s, x), TraceError, "one bool, got bool of shape (3,)"),
        (lambda x: bl.while_loop(np.sum, lambda s: s, x), TraceError, "one bool, got float64 of shape ()"),
        (
            lambda x: bl.while_loop(lambda s: np.all(s > 0), lambda s: s[:2], x),
            ShapeError,
            "state of shape (3,) into (2,)",
        ),
        (
            lambda x: bl.while_loop(lambda s: np.all(s["a"] > 0), lambda s: {"a": s["a"] > 0}, {"a": x}),
            DTypeError,
            "state['a'] of float64 into bool",
        ),
        (
            lambda x: bl.while_loop(lambda s: np.all(s > 0), lambda s: (s, s), x),
            TraceError,
            "gave a state of structure",
        ),
        (lambda x: bl.while_loop(lambda s: np.all(s[0] > 0), lambda s: s, (x, "a")), TraceError, "while_loop is a str"),
        (lambda x: bl.while_loop(lambda s: True, lambda s: s, ()), TraceError, "without arrays"),
        (lambda x: bl.while_loop(lambda a, b: True, lambda s: s, (x, x)), ArgumentError, "the condition of while_loop"),
        (lambda x: bl.while_loop(lambda s: True, lambda a, b: a, (x, x)), ArgumentError, "a tuple where start is one"),
    ]
    for f, kind, text in cases:
        with pytest.raises(kind, match=re.escape(text)) as caught:
            wrap(f)(x)
        assert "test_while_loop.py" in str(caught.value)


def test_a_branch_in_a_body_is_refused_on_its_line() -> None:
    def body(s: Any) -> Any:
        return s * 2 if s > 3 else s + 1

    with pytest.raises(TraceError, match=rf"line {body.__code__.co_firstlineno + 1}: a branch on a traced value"):
        bl.jit(lambda x: bl.while_loop(lambda s: s < 9, body, x))(1.0)


@pytest.mark.parametrize("gear", GEARS)
def test_a_failing_kernel_inside_names_the_users_line(gear: Any) -> None:
    """Also two loops deep, in a condition, and behind another loop."""

    def walk(x: Any, stop: Any) -> Any:
        def inner(s: Any) -> Any:
            picked = x[s[0]]  # the line at fault
            return s[0] + 1, s[1] + picked

        first = bl.while_loop(lambda s: s[0] < 2, lambda s: (s[0] + 1, s[1] * 2), (0, 1.0))[1]
        outer = lambda s: bl.while_loop(lambda r: r[0] < stop, inner, (0, s))[1] * 2  # noqa: E731
        return bl.while_loop(lambda s: s < 50, outer, first)

    kernel = bl.compile(walk, X, 3.0, gear=gear)
    assert kernel(np.ones(7), 3.0) >= 50
    with pytest.raises(IndexRangeError, match=rf"line {walk.__code__.co_firstlineno + 2}.*gather"):
        kernel(X, 9.0)

    def guarded(x: Any, k: Any) -> Any:
        return bl.while_loop(lambda s: x[s] > 0, lambda s: s + 1, k)

    kernel = bl.compile(guarded, np.ones(3), np.int64(0), gear=gear)
    with pytest.raises(IndexRangeError, match=rf"line {guarded.__code__.co_firstlineno + 1}.*gather"):
        kernel(np.ones(3), np.int64(0))


@pytest.mark.parametrize("gear", GEARS)
def test_check_finite_checks_loops_and_branches(gear: Any) -> None:
    def f(x: Any) -> Any:
        return bl.while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, np.log(s[1])), (0, x))[1]

    kernel = bl.compile(f, 2.0, gear=gear, check_finite=True)
    assert np.isfinite(kernel(100.0))
    with pytest.raises(NonFiniteError, match=rf"line {f.__code__.co_firstlineno + 1}, log.*nan"):
        kernel(2.0)

    def g(x: Any) -> Any:
        return bl.while_loop(
            lambda s: s < 3,
            lambda s: bl.cond(s < x, lambda: s + 1, lambda: s / (x - x)),  # the line at fault
            0.0,
        )

    with pytest.raises(NonFiniteError, match=rf"line {g.__code__.co_firstlineno + 3}, div.*inf"):
        bl.compile(g, 2.0, gear=gear, check_finite=True)(2.0)


# Derivatives.


def test_no_derivative_passes_through() -> None:
    def f(x: Any) -> Any:
        return bl.while_loop(lambda s: s < 10, lambda s: s * s, x)

    line = f.__code__.co_firstlineno + 1
    for derivative in (bl.grad(f), lambda x: bl.jvp(f, (x,), (1.0,)), lambda x: bl.vjp(f, x)[1](1.0), bl.hessian(f)):
        with pytest.raises(TraceError, match=rf"line {line}: a derivative through bl.while_loop.*stop_gradient"):
            derivative(2.0)
    with pytest.raises(TraceError, match=r"a derivative through bl\.while_loop"):  # by a value from around it
        bl.grad(lambda x: bl.while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, s[1] * x), (0, 1.0))[1])(2.0)


def test_derivatives_around_a_loop() -> None:
    """Counters, comparisons, leaves that the argument never reaches, and stopped gradients are no obstacle."""

    def iterations(x: Any) -> Any:
        return bl.while_loop(lambda s: s[0] * 2.0 < x, lambda s: (s[0] + 1, s[1] * 2, s[2] + x), (0, 1.0, 0.0))

    assert bl.grad(lambda x: x * x + iterations(x)[0])(3.0) == 6.0
    assert bl.grad(lambda x: x * iterations(x)[1])(3.0) == 4.0
    assert bl.grad(lambda x: x * bl.stop_gradient(iterations(x)[2]))(3.0) == 6.0
    assert bl.grad(lambda x: x * iterations(bl.stop_gradient(x))[2])(3.0) == 6.0
    with pytest.raises(TraceError, match=r"a derivative through bl\.while_loop"):
        bl.grad(lambda x: x * iterations(x)[2])(3.0)


def test_leaf_reached_after_some_iterations_has_no_derivative() -> None:
    """The argument enters the last leaf of a chain, and needs two turns to the first."""

    def chain(x: Any) -> Any:
        return bl.while_loop(lambda s: s[3] < 5, lambda s: (s[1], s[2], s[2] * 1.0, s[3] + 1), (0.0, 0.0, x, 0))[0]

    with pytest.raises(TraceError, match=r"a derivative through bl\.while_loop"):
        bl.grad(chain)(2.0)


def test_a_rule_of_ones_own_gives_a_loop_its_derivative() -> None:
    def root(a: Any) -> Any:
        return bl.while_loop(lambda x: np.abs(x * x - a) > 1e-14 * a, lambda x: (x + a / x) / 2, a)

    sqrt = bl.custom_vjp(root, lambda g, y, a: g / (2 * y), 2.0, surrogate=True)
    x = np.float64(2.0)
    assert bl.grad(sqrt)(2.0) == pytest.approx(0.5 / np.sqrt(x), rel=1e-15)


# Interrupts.


@pytest.mark.parametrize("gear", GEARS)
@pytest.mark.parametrize("calls", [0, 3])
def test_an_endless_loop_can_be_interrupted(gear: Any, calls: int) -> None:
    """The first call of a kernel goes around the gate, later ones through it."""

    def endless(x: Any) -> Any:
        return bl.while_loop(lambda s: s[0] >= 0, lambda s: (s[0], s[1] + 1.0), (x, 0.0))

    bl.compile(endless, 1.0, gear=gear)(-1.0)  # the C++ compiler brings a handler of SIGALRM, which ours replaces
    kernel = bl.compile(endless, 1.0, gear=gear)
    for _ in range(calls):
        kernel(-1.0)
    alarm(lambda: kernel(1.0))
    assert kernel(-1.0)[1] == 0.0


@pytest.mark.parametrize("threads", [1, 2])
def test_an_endless_row_of_a_map_can_be_interrupted(threads: int) -> None:
    """On the main thread by the signal, on others by the stop that it makes the main thread give."""

    def endless(x: Any) -> Any:
        return bl.while_loop(lambda s: s >= 0, lambda s: s, x)

    kernel = bl.compile(endless, 1.0, threads=threads)
    rows = -np.ones(200)
    np.testing.assert_array_equal(kernel.map(rows), rows)
    others = {*threading.enumerate()}
    alarm(lambda: kernel.map(-rows))
    for thread in {*threading.enumerate()} - others:
        thread.join(60)  # its work is done, and it may still be about to end
        assert not thread.is_alive()


def test_other_threads_run_while_a_loop_does() -> None:
    """One of them interrupts it, after some turns of its own."""
    kernel = bl.compile(lambda n: bl.while_loop(lambda s: s < n, lambda s: s + 1.0, 0.0), 1.0)
    kernel(2.0), kernel(2.0)
    iterations = iter(range(10))
    interrupt(lambda: kernel(1e10), lambda: next(iterations, None) is None)
    assert M.shape == (4, 4)


def test_a_derivative_stops_behind_a_loop() -> None:
    """Forward mode does not ask the loop for a derivative that nothing needs."""
    f = lambda a: bl.stop_gradient(bl.while_loop(lambda x: x < 10, lambda x: x * a, 1.0)) * a  # noqa: E731
    assert bl.jvp(f, (3.0,), (1.0,)) == (81, 27)
    assert bl.grad(f)(3.0) == 27
