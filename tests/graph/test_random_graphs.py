"""Random programs over all operations and shapes: both gears against JAX, both modes against each other."""

from typing import Any

import numpy as np
from hypothesis import example, given, settings

import burlab as bl
from burlab.compiler.codegen.emit import emit
from burlab.compiler.passes import make_plan
from burlab.compiler.planning.expand_products import expand_products
from burlab.graph import Graph
from burlab.graph.file.verify import verify
from burlab.graph.rewrite.simplify import simplify
from burlab.graph.tracing.trace import trace
from tests.engines import GEARS, assert_close, jax_or_skip, on
from tests.exploring import examples
from tests.graph.programs import Program, Step, programs

BOTH = (0, 1)
# A value that a loop computes and reads again through a view of itself.
VIEW_OPERATIONS = Program(((3, 1, 1), (0, 3)), (Step("along", "a / mean", (0,), (2,)), Step("binary", "outer", (2, 2))))


def moves(program: Program) -> list[Any]:
    return program.arguments(seed=1)


def curvature(f: Any, jvp: Any, grad: Any) -> Any:
    """(arguments, direction) -> value, gradient and Hessian times direction, in the words of an engine."""

    def all_three(args: Any, v: Any) -> Any:
        gradient, pushed = jvp(grad(f, BOTH), tuple(args), tuple(v))
        return f(*args), gradient, pushed

    return all_three


@settings(max_examples=examples(12))
@given(programs())
def test_programs_equal_jaxs(program: Program) -> None:
    jax = jax_or_skip()
    args, v = program.arguments(), moves(program)
    theirs = jax.jit(curvature(on(jax.numpy, program), jax.jvp, jax.grad))
    wanted = theirs(args, v)
    for gear in GEARS:
        ours = bl.compile(curvature(on(np, program), bl.jvp, bl.grad), args, v, gear=gear)
        assert_close(ours(args, v), wanted, 1e-9)


@settings(max_examples=examples(40))
@given(programs())
def test_modes_agree_on_programs(program: Program) -> None:
    """<g, J v> by both modes, and the Hessian by forward over reverse and by reverse over reverse."""
    args, v = program.arguments(), moves(program)
    f = on(np, program)

    def both(args: Any, v: Any) -> Any:
        value, pushed = bl.jvp(f, tuple(args), tuple(v))
        gradient, forward = bl.jvp(bl.grad(f, BOTH), tuple(args), tuple(v))
        return value, pushed, gradient, forward, bl.grad(slope, BOTH)(*args, *v)

    def slope(a: Any, b: Any, u: Any, w: Any) -> Any:
        ga, gb = bl.grad(f, BOTH)(a, b)
        return np.sum(ga * u) + np.sum(gb * w)

    value, pushed, gradient, forward, reverse = bl.compile(both, args, v, gear="replay")(args, v)
    np.testing.assert_allclose(value, f(*args), rtol=1e-12, atol=1e-12)
    slopes = sum(np.sum(g * u) for g, u in zip(gradient, v, strict=True))
    np.testing.assert_allclose(pushed, slopes, rtol=1e-10, atol=1e-10)
    assert_close(forward, reverse, 1e-10)


@settings(max_examples=examples(40))
@given(programs())
def test_programs_are_well_formed(program: Program) -> None:
    args = program.arguments()
    graph = trace(bl.vmap(bl.grad(on(np, program), BOTH)), tuple(np.stack([a, a]) for a in args)).graph
    verify(graph)
    assert Graph.from_json(graph.to_json()).key == graph.key


@settings(max_examples=examples(20))
@given(programs())
def test_programs_batch(program: Program) -> None:
    """vmap of a gradient gives what the gradient gives sample by sample."""
    rows = [program.arguments(seed) for seed in range(3)]
    gradient = bl.grad(on(np, program), BOTH)
    many = bl.compile(bl.vmap(gradient), *(np.stack(c) for c in zip(*rows, strict=True)), gear="replay")
    one = bl.compile(gradient, *rows[0], gear="replay")
    got = many(*(np.stack(c) for c in zip(*rows, strict=True)))
    for k, row in enumerate(rows):
        assert_close([g[k] for g in got], list(one(*row)), 1e-12)


@settings(max_examples=examples(60))
@given(programs())
@example(VIEW_OPERATIONS)
def test_programs_have_a_text(program: Program) -> None:
    """Value and gradient of many points at once are planned and written in the compiled gear; compiled below."""
    rows = [program.arguments(seed) for seed in range(2)]
    many = tuple(np.stack(column) for column in zip(*rows, strict=True))
    graph = trace(bl.vmap(bl.value_and_grad(on(np, program), BOTH)), many).graph
    assert emit(make_plan(expand_products(simplify(graph)))).text


@settings(max_examples=examples(5))
@given(programs())
@example(VIEW_OPERATIONS)
def test_programs_in_a_finite_sum_equal_jaxs(program: Program) -> None:
    """The second argument is a sample: value and gradient of the mean, and each sample's gradient, in tiles."""
    jax = jax_or_skip()
    rows = [program.arguments(seed) for seed in range(5)]
    x, data = rows[0][0], np.stack([row[1] for row in rows])
    theirs = jax.jit(jax.vmap(jax.value_and_grad(on(jax.numpy, program)), (None, 0)))(x, data)
    problem = bl.FiniteSum(on(np, program), data, tile=2)
    assert_close(problem.value_and_grad(x), tuple(np.mean(y, axis=0) for y in theirs), 1e-9)
    assert_close(problem.per_sample_grads(x, np.arange(5)), theirs[1], 1e-9)
