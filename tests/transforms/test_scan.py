"""scan: programs against Python and JAX in every gear; every order of derivative; vmap; what it costs and refuses."""

import re
from functools import cache
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.compiler.executable import build
from burlab.compiler.ir.plan import Execute
from burlab.errors import ArgumentError, DTypeError, IndexRangeError, NonFiniteError, ShapeError, TraceError
from burlab.graph import Graph, tree
from burlab.graph.file.verify import verify
from burlab.graph.rewrite.simplify import simplify
from burlab.graph.tracing.trace import trace
from tests.engines import GEARS, assert_close, jax_or_skip
from tests.transforms.scans import LENGTHS, PROGRAMS, arguments, counter, lstm, rnn, swapped

EACH = pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)


def flat(result: Any) -> list[Any]:
    return [np.asarray(leaf) for leaf in tree.flatten(result)[0]]


def ours(program: Any) -> Any:
    return lambda *args: program(np, bl.scan, *args)


def theirs(program: Any) -> Any:
    jax = jax_or_skip()
    return lambda *args: program(jax.numpy, jax.lax.scan, *map(jax.numpy.asarray, args))


def total(program: Any, module: Any) -> Any:
    """One number that every float of the result enters."""

    def f(*args: Any) -> Any:
        leaves = [leaf for leaf in tree.flatten(program(*args))[0] if leaf.dtype.kind == "f"]
        return sum(module.sum(module.sin(leaf) * (k + 1)) for k, leaf in enumerate(leaves))

    return f


@EACH
@pytest.mark.parametrize("length", LENGTHS)
def test_scan_equals_python_and_jax_in_all_gears(program: Any, length: int) -> None:
    f, args = ours(program), arguments(length)
    wanted = flat(f(*args))
    for got in (*(flat(bl.compile(f, *args, gear=gear)(*args)) for gear in GEARS), flat(theirs(program)(*args))):
        assert_close(got, wanted, 1e-13)
    for got, want in zip(flat(bl.jit(f)(*args)), wanted, strict=True):
        assert got.dtype == want.dtype


@EACH
@pytest.mark.parametrize("length", LENGTHS)
def test_scan_gradients_equal_jax(program: Any, length: int) -> None:
    jax, args = jax_or_skip(), arguments(length)
    wanted = jax.jit(jax.grad(total(theirs(program), jax.numpy), argnums=(0, 1, 2)))(*args)
    for gear in GEARS if length == 7 else GEARS[:1]:
        got = bl.compile(bl.grad(total(ours(program), np), argnums=(0, 1, 2)), *args, gear=gear)(*args)
        assert_close(got, wanted, 1e-11)


def nested(engine: Any, f: Any, modes: str, v: tuple[Any, ...]) -> Any:
    """The derivative along v, and of that again, by the modes."""

    def reverse(f: Any) -> Any:
        def along(*args: Any) -> Any:
            gradient = engine.grad(f, argnums=(0, 1, 2))(*args)
            return sum((g * d).sum() for g, d in zip(gradient, v, strict=True))

        return along

    def forward(f: Any) -> Any:
        return lambda *args: engine.jvp(f, args, v)[1]

    for mode in modes:
        f = reverse(f) if mode == "r" else forward(f)
    return f


@cache
def nested_by_jax(program: Any, order: int) -> Any:
    """A derivative along one direction is a number, whatever the modes: by forward mode."""
    args, v = with_direction()
    jax = jax_or_skip()
    return jax.jit(nested(jax, total(theirs(program), jax.numpy), "f" * order, v))(*args)


def with_direction() -> tuple[Any, Any]:
    args = arguments(3)
    return args, tuple(np.random.default_rng(1).normal(size=a.shape) for a in args)


NESTED = [(p, modes) for p in PROGRAMS for modes in ("rf", "fr", "ff", *(["rrr"] if p in (counter, swapped) else []))]


@pytest.mark.parametrize(("program", "modes"), NESTED, ids=lambda v: getattr(v, "__name__", v))
def test_nested_scan_derivatives_equal_jax(program: Any, modes: str) -> None:
    """Forward and reverse in every order, by all arguments at once."""
    args, v = with_direction()
    got = bl.compile(nested(bl, total(ours(program), np), modes, v), *args, gear="replay")(*args)
    assert_close(got, nested_by_jax(program, len(modes)), 1e-10)


@EACH
def test_derivatives_agree_with_differences(program: Any) -> None:
    bl.check_grads(total(ours(program), np), arguments(4), order=2)


@EACH
@pytest.mark.parametrize("axes", [(0, 0, 0), (0, None, None), (None, 0, None), (None, None, 0)], ids=str)
def test_vmap_is_a_loop_over_samples(program: Any, axes: tuple[Any, ...]) -> None:
    """Values and gradients, of some arguments mapped and some shared."""
    samples = [tuple(a * scale for a in arguments(5)) for scale in (1.0, -0.7, 1.3)]
    columns = list(zip(*samples, strict=True))
    args = tuple(np.stack(c) if axis == 0 else c[0] for axis, c in zip(axes, columns, strict=True))
    rows = [tuple(c[k if axis == 0 else 0] for axis, c in zip(axes, columns, strict=True)) for k in range(3)]
    f = bl.value_and_grad(total(ours(program), np), argnums=(0, 1, 2))
    one = bl.compile(f, *rows[0], gear="replay")
    wanted = [flat(one(*row)) for row in rows]
    got = flat(bl.compile(bl.vmap(f, in_axes=axes), *args, gear="replay")(*args))
    assert_close(got, [np.stack(leaf) for leaf in zip(*wanted, strict=True)], 1e-11)


@EACH
def test_gradient_of_a_vmap_by_what_the_samples_share(program: Any) -> None:
    (xs, w, h), f = arguments(5), total(ours(program), np)
    samples = np.stack([xs, xs[::-1], 2 * xs])
    gradient = bl.grad(lambda w: np.sum(bl.vmap(f, in_axes=(0, None, None))(samples, w, h)))
    together = bl.compile(gradient, w, gear="replay")
    one = bl.compile(bl.grad(f, argnums=1), samples[0], w, h, gear="replay")
    assert_close(together(w), sum(one(x, w, h) for x in samples), 1e-11)


@EACH
def test_graphs_of_scan_survive_json(program: Any) -> None:
    args = arguments(3)
    kernel = bl.compile(bl.grad(total(ours(program), np), argnums=(0, 1, 2)), *args, gear="replay")
    graph = Graph.from_json(kernel.graph.to_json())
    assert graph.key == kernel.graph.key
    verify(graph)
    assert_close(build(graph, gear="replay")(*args), kernel(*args), 0.0)
    assert "turn of %" in str(graph)
    assert "scan" in graph.to_dot()


def test_one_execution_forward_and_one_back() -> None:
    """Value, last carry, outputs and the trail for reverse mode come from the same loop."""
    args = arguments(9)
    graph = trace(bl.value_and_grad(total(ours(rnn), np), argnums=(0, 1, 2)), args).graph
    plan = build(graph).plan
    assert len([step for step in plan.steps if isinstance(step, Execute)]) == 2


def test_shares_of_weights_are_summed_after_the_loop() -> None:
    """The reverse scan carries cotangents of the state only; the factors of the others are stacked, and multiplied."""
    args = (np.ones((9, 20)), np.ones((20, 20)), np.ones(20))
    graph = simplify(trace(bl.grad(total(ours(rnn), np), argnums=1), args).graph)
    scans = {n.params.region: n.params.region.iterations for n in graph.nodes if n.op == "scan"}
    assert [(turns.carries, turns.reverse) for turns in scans.values()] == [(1, False), (1, True)]


def bodies(graph: Graph) -> list[Graph]:
    regions = dict.fromkeys(n.params.region for n in graph.nodes if n.op == "scan")
    return [region.graphs[0] for region in sorted(regions, key=lambda region: region.iterations.reverse)]


@pytest.mark.parametrize("vmapped", [False, True])
@pytest.mark.parametrize("program", [rnn, lstm], ids=["rnn", "lstm"])
def test_no_product_of_matrices_is_computed_again_on_the_way_back(program: Any, vmapped: bool) -> None:
    """What products go into is stacked by the one forward scan, also where sweeps come before samples."""
    f, args = bl.value_and_grad(total(ours(program), np), argnums=(0, 1, 2)), arguments(4)
    if vmapped:
        f, args = bl.vmap(f, in_axes=(0, None, 0)), (np.stack([args[0]] * 3), args[1], np.stack([args[2]] * 3))
    forward, back = bodies(simplify(trace(f, args).graph))
    counts = [sum(n.op == "contract" for n in body.nodes) for body in (forward, back)]
    assert counts == [1, 1]


@pytest.mark.parametrize("vmapped", [False, True])
def test_what_branches_store_comes_from_the_forward_scan(vmapped: bool) -> None:
    """The scan of a choice that the residuals of both branches need is the one that gives the value."""

    def loss(w: Any, x: Any, which: Any) -> Any:
        def body(h: Any, element: Any) -> Any:
            row, k = element
            return bl.cond(k, lambda h: np.tanh(h @ w + row), lambda h: np.sin(h @ w - row), h), None

        return np.sum(bl.scan(body, np.zeros(3), (x, which))[0] ** 2)

    def plain(w: Any, x: Any, which: Any) -> Any:
        h = np.zeros(3)
        for row, k in zip(x, which, strict=True):
            h = np.tanh(h @ w + row) if k else np.sin(h @ w - row)
        return np.sum(h**2)

    rng = np.random.default_rng(0)
    w, x, which = rng.normal(size=(3, 3)), rng.normal(size=(6, 3)), np.array([1, 0, 0, 1, 1, 0], bool)
    f, data = (bl.vmap(loss, (None, 0, None)), np.stack([x, -x])) if vmapped else (loss, x)
    summed = bl.value_and_grad(lambda w, x, which: np.sum(f(w, x, which)))
    assert len(bodies(simplify(trace(summed, (w, data, which)).graph))) == 2
    value, gradient = summed(w, data, which)
    rows = [*data] if vmapped else [x]
    assert_close(value, sum(plain(w, row, which) for row in rows), 1e-12)
    moves = np.eye(9).reshape(9, 3, 3) * 1e-6
    slopes = [sum(plain(w + v, row, which) - plain(w - v, row, which) for row in rows) / 2e-6 for v in moves]
    np.testing.assert_allclose(gradient.ravel(), slopes, rtol=1e-6, atol=1e-8)


def test_a_recurrence_of_numbers_keeps_trails_only() -> None:
    def f(x: Any, a: Any) -> Any:
        last, ys = bl.scan(lambda s, x: (np.tanh(a * s + x), np.exp(s)), 0.1, x)
        return last + np.sum(ys)

    forward, _ = bodies(simplify(trace(bl.value_and_grad(f, argnums=(0, 1)), (np.ones(5), 0.5)).graph))
    assert len(forward.outputs) == 2


def test_scans_that_differ_stay_apart() -> None:
    def f(x: Any, w: Any) -> Any:
        one = bl.scan(lambda s, x: (s * w, s + x), 0.5, x)
        two = bl.scan(lambda s, x: (s * w, s - x), 0.5, x)
        more = bl.scan(lambda s, x: (s * w, (s - x, s + x, s * x)), 0.5, x)
        return one, two, more

    x = np.arange(4.0)
    graph = simplify(trace(f, (x, 0.9)).graph)
    assert len(bodies(graph)) == 1  # the third gives all that the others give
    for found, expected in zip(flat(bl.compile(f, x, 0.9)(x, 0.9)), flat(f(x, 0.9)), strict=True):
        np.testing.assert_allclose(found, expected)

    def g(x: Any, w: Any) -> Any:
        return bl.scan(lambda s, x: (s * w, s + x), 0.5, x), bl.scan(lambda s, x: (s + w, (s + x, x)), 0.5, x)

    assert len(bodies(simplify(trace(g, (x, 0.9)).graph))) == 2


def test_memory_of_forward_mode_does_not_grow_with_the_length() -> None:
    def last(w: Any, length: int) -> Any:
        return np.sum(bl.scan(lambda h, _: (np.tanh(w @ h), h), np.ones(3), None, length=length)[0])

    w = arguments(0)[1]
    short, long = (
        build(trace(lambda w, v, n=n: bl.jvp(lambda w: last(w, n), (w,), (v,)), (w, w)).graph).memory["workspace"]
        for n in (10, 10_000)
    )
    assert short == long


def test_compiling_takes_the_time_of_one_step() -> None:
    """A turn is traced as often, and the text of a kernel does not depend on the length."""

    def work(length: int) -> tuple[int, int, str]:
        turns: list[int] = []

        def scan(iteration: Any, *args: Any) -> Any:
            return bl.scan(lambda *taken: turns.append(1) or iteration(*taken), *args)

        k = bl.compile(bl.grad(total(lambda *args: rnn(np, scan, *args), np)), *arguments(length))
        k(*arguments(length))
        return len(turns), len(k.graph.nodes), re.sub(r"burlab_\w+|\d+", "", k.source)

    assert work(64) == work(1000) == work(2001)  # in shorter loops over the sequence lanes are masked


def test_float32_stays_float32() -> None:
    args = tuple(a.astype(np.float32) for a in arguments(5))
    value, gradient = bl.value_and_grad(lambda *args: np.sum(rnn(np, bl.scan, *args)[1]), argnums=(0, 1, 2))(*args)
    assert {a.dtype for a in (value, *gradient)} == {np.dtype(np.float32)}
    f = lambda x: bl.scan(lambda c, x: (c + x[0], c), 0.0, x)  # noqa: E731 - the number takes on the dtype of the body
    assert {y.dtype for y in bl.jit(f)(args[0])} == {np.dtype(np.float32)}


def test_samples_of_a_finite_sum_and_steps_of_a_run() -> None:
    """Recurrent networks train: gradients of a batch are means of single ones, the loss falls."""
    rng = np.random.default_rng(3)
    xs, ys = rng.normal(size=(37, 6, 3)), rng.normal(size=37)

    def loss(p: Any, x: Any, y: Any) -> Any:
        h = rnn(np, bl.scan, x, p["w"], p["h"])[0]
        return (np.sum(h) - y) ** 2

    p = {"w": arguments(0)[1], "h": arguments(0)[2]}
    problem = bl.FiniteSum(loss, (xs, ys))
    wanted = [bl.grad(loss)(p, x, y) for x, y in zip(xs, ys, strict=True)]
    assert_close(problem.grad(p), {k: np.mean([g[k] for g in wanted], axis=0) for k in p}, 1e-12)
    run = bl.minimize(problem, p, bl.optim.Adam(3e-2), batch=5, steps=100)
    assert problem.value(run.x) < 0.8 * problem.value(p)


def test_plain_scans_inside_of_a_trace_stay_plain() -> None:
    def f(x: Any) -> Any:
        n = bl.scan(lambda c, k: (c + k, None), 0, np.arange(4))[0]
        return x[: int(n)]

    assert bl.jit(f)(np.ones(9)).shape == (6,)


@pytest.mark.parametrize("gear", GEARS)
def test_failing_iteration_names_the_users_line(gear: Any) -> None:
    def f(x: Any, k: Any) -> Any:
        def iteration(c: Any, i: Any) -> Any:
            picked = x[i]  # the line at fault
            return c + picked, np.log(picked)

        return bl.scan(iteration, 0.0, k)

    x = np.arange(1.0, 5.0)
    kernel = bl.compile(f, x, np.arange(3), gear=gear)
    with pytest.raises(IndexRangeError, match=rf"line {f.__code__.co_firstlineno + 2}.*gather"):
        kernel(x, np.array([0, 9, 0]))
    checked = bl.compile(f, x, np.arange(3), gear=gear, check_finite=True)
    assert checked(x, np.arange(3))[0] == 6
    with pytest.raises(NonFiniteError, match=rf"line {f.__code__.co_firstlineno + 3}, log.*nan"):
        checked(-x, np.arange(3))


@pytest.mark.parametrize("traced", [True, False])
def test_scan_with_wrong_arguments_raises(traced: bool) -> None:
    x = np.ones(3)
    wrap = bl.jit if traced else lambda f: f
    cases: list[tuple[Any, type[Exception], str]] = [
        (lambda x: bl.scan(lambda c, x: c + x, 0.0, x), TraceError, "something else than a pair (carry, y)"),
        (lambda x: bl.scan(lambda c, x: (c, x, 1), 0.0, x), TraceError, "something else than a pair"),
        (lambda x: bl.scan(lambda c, x: ((c, c), x), 0.0, x), TraceError, "gave a carry of structure"),
        (lambda x: bl.scan(lambda c, _: (c[:2], c), x, x), ShapeError, "turns carry of shape (3,) into (2,)"),
        (
            lambda x: bl.scan(lambda c, x: ({"a": c["a"] > 0}, x), {"a": x[0]}, x),
            DTypeError,
            "turns carry['a'] of float64 into bool",
        ),
        (lambda x: bl.scan(lambda c, _: (c, c), x), ArgumentError, "neither xs nor a length"),
        (lambda x: bl.scan(lambda c, _: (c, c), x, length=-1), ArgumentError, "length=-1 must be"),
        (lambda x: bl.scan(lambda c, _: (c, c), x, (x, x[:2])), ShapeError, "xs[0]: 3, xs[1]: 2"),
        (lambda x: bl.scan(lambda c, _: (c, c), x, x, length=2), ShapeError, "xs: 3, length: 2"),
        (lambda x: bl.scan(lambda c, _: (c, c), x, {"t": x[0]}), ShapeError, "xs['t'] of scan is a number"),
        (lambda x: bl.scan(lambda c, _: (c, c), "a", x), TraceError, "a leaf of the carry of scan is a str"),
        (lambda x: bl.scan(lambda c: (c, c), 0.0, x), ArgumentError, "the body of scan cannot be called with a carry"),
        (lambda x: bl.scan(None, 0.0, x), ArgumentError, "the body of scan is a NoneType, expected a function"),
    ]
    for f, kind, text in cases:
        with pytest.raises(kind, match=re.escape(text)) as caught:
            wrap(f)(x)
        assert "test_scan.py" in str(caught.value)
