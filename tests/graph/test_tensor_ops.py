"""Linear operations and those without a derivative: values, derivatives and batching rules, in both gears."""

import itertools
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from burlab.graph import Graph, Node, jvp, vjp
from burlab.graph.rewrite.batching import batch
from tests.engines import GEARS, inputs, jax_or_skip, ones, run
from tests.op_cases import LINEAR_CASES, OTHER_CASES, LinearCase, OtherCase

# Linear operations. Whole numbers make every sum exact, so equality is to the bit.


def whole(shape: tuple[int, ...], dtype: Any, seed: int) -> Any:
    return np.random.default_rng(seed).integers(-8, 9, shape).astype(dtype)


def linear_inputs(case: LinearCase, dtype: Any, seed: int) -> list[Any]:
    return [whole(shape, dtype, seed + k) for k, shape in enumerate(case.shapes)]


def index_of(case: LinearCase) -> list[Any]:
    return [] if case.index is None else [np.array(case.index)]


def named(case: Any) -> str:
    return f"{case.name}{'x'.join(map(str, case.shapes[0]))}"


@pytest.mark.parametrize("gear", GEARS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
def test_linear_values_are_numpys(gear: str, dtype: Any) -> None:
    outputs, xs, arrays, wanted = [], [], [], []
    cases = [case for case in LINEAR_CASES if dtype is not np.int64 or not case.floats]
    for seed, case in enumerate(cases):
        mine = [*linear_inputs(case, dtype, seed), *index_of(case)]
        own = inputs(*mine)
        outputs.append(case.make(*own))
        wanted.append(case.numpy(*mine))
        xs += own
        arrays += mine
    for case, got, value in zip(cases, run(outputs, xs, arrays, gear), wanted, strict=True):
        np.testing.assert_array_equal(got, value, err_msg=case.name)
        assert got.shape == value.shape


@pytest.mark.parametrize("case", LINEAR_CASES, ids=named)
def test_linear_derivatives(case: LinearCase) -> None:
    """Forward is the operation itself, reverse its transpose; the second order is that of a product."""
    values, moves, more = (linear_inputs(case, np.float64, seed) for seed in (1, 11, 21))
    index = index_of(case)
    xs, us, ws, i = (inputs(*rows) for rows in (values, moves, more, index))
    y = case.make(*xs, *i)
    cotangent = whole(y.shape, y.dtype, 5)
    (g,) = inputs(cotangent)
    pulled = vjp([y], xs, [g])
    pushed = jvp([y], xs, us)[0]
    twice_forward = jvp(pulled, xs, ws)
    twice_reverse = vjp(pulled, xs, ws)
    both = [*xs, *us, *ws, *i, g]
    got = iter(
        run([pushed, *pulled, *twice_forward, *twice_reverse], both, [*values, *moves, *more, *index, cotangent])
    )

    replaced = [[moves[k] if k == j else v for k, v in enumerate(values)] for j in range(len(values))]
    linear_in_each = case.name == "contract"
    terms = [case.numpy(*row, *index) for row in replaced] if linear_in_each else [case.numpy(*moves, *index)]
    tangent = next(got)
    np.testing.assert_array_equal(tangent, sum(terms))

    cotangents = [next(got) for _ in xs]
    assert [c.shape for c in cotangents] == [v.shape for v in values]
    assert np.sum(cotangent * tangent) == sum(np.sum(c * u) for c, u in zip(cotangents, moves, strict=True))
    for a, b in zip([next(got) for _ in xs], [next(got) for _ in xs], strict=True):
        np.testing.assert_array_equal(a, b)
        assert linear_in_each or not a.any()


@pytest.mark.parametrize("case", LINEAR_CASES, ids=named)
def test_linear_batches(case: LinearCase) -> None:
    """The batching rule, for every choice of batched inputs, gives what the operation gives sample by sample."""
    size = 3
    rows = [[*linear_inputs(case, np.float64, seed), *index_of(case)] for seed in range(size)]
    if case.index is not None:
        for k, row in enumerate(rows):
            row[-1] = (row[-1] + k) % 4
    xs = inputs(*rows[0])
    graph = Graph(xs, (case.make(*xs),))
    for flags in itertools.product((False, True), repeat=len(xs)):
        if not any(flags):
            continue
        many = batch(graph, flags, size)
        arrays = [np.stack([row[k] for row in rows]) if b else rows[0][k] for k, b in enumerate(flags)]
        (got,) = run(many.outputs, many.inputs, arrays)
        for sample in range(size):
            args = [rows[sample if b else 0][k] for k, b in enumerate(flags)]
            np.testing.assert_array_equal(got[sample], case.numpy(*args), err_msg=str(flags))


# Other operations.


def groups(case: OtherCase) -> list[tuple[Any, ...]]:
    return [a if isinstance(a, tuple) else (a,) for a in case.arrays]


@pytest.mark.parametrize("gear", GEARS)
@pytest.mark.parametrize("case", OTHER_CASES, ids=lambda c: c.name)
def test_others_are_numpys(case: OtherCase, gear: str) -> None:
    for arrays in groups(case):
        xs = inputs(*arrays)
        (got,) = run([case.make(*xs)], xs, arrays, gear)
        wanted = np.asarray(case.numpy(*arrays))
        assert (got.dtype, got.shape) == (wanted.dtype, wanted.shape)
        np.testing.assert_array_equal(got, wanted)


# JAX has no such function: `test_select.py` compares derivatives with those of sort; `after` has that of its input.
DERIVED = ("partition", "kth", "after")
CONSTANT = [c for c in OTHER_CASES if not c.jax and c.name not in ("uniform", "fold_in", *DERIVED)]


@pytest.mark.parametrize("case", CONSTANT, ids=lambda c: c.name)
def test_others_have_no_derivative(case: OtherCase) -> None:
    arrays = groups(case)[0]
    xs = inputs(*arrays)
    y = case.make(*xs)
    if y.dtype.kind == "f":
        pulled = run(vjp([y], [xs[0]], [ones(y)]), xs, arrays)
        pushed = run(jvp([y], [xs[0]], [ones(xs[0])]), xs, arrays)
        assert not pulled[0].any()
        assert not pushed[0].any()


@pytest.mark.parametrize("gear", GEARS)
def test_others_have_jaxs_derivatives(gear: str) -> None:
    """Reverse and forward mode, and each over the other, also where values tie."""
    jax = jax_or_skip()
    for case in (c for c in OTHER_CASES if c.jax):
        module, _, name = f"jax.{case.jax}".rpartition(".")
        function = getattr(import_module(module), name)
        for array in (a for a in case.arrays if a.dtype == np.float64):
            u, g = (np.random.default_rng(seed).normal(size=array.shape) for seed in (1, 2))
            nodes = x, du, dg = inputs(array, u, g)
            squares = case.make(x) * case.make(x)
            pulled, pushed = vjp([squares], [x], [dg]), jvp([squares], [x], [du])
            outputs = [*pulled, *pushed, *jvp(pulled, [x], [du]), *vjp(pushed, [x], [dg])]

            def square(x: Any) -> Any:
                return function(x) ** 2  # noqa: B023 - called within the loop

            def pull(x: Any) -> Any:
                return jax.vjp(square, x)[1](g)[0]  # noqa: B023

            def push(x: Any) -> Any:
                return jax.jvp(square, (x,), (u,))[1]  # noqa: B023

            wanted = pull(array), push(array), jax.jvp(pull, (array,), (u,))[1], jax.vjp(push, array)[1](g)[0]
            for got, value in zip(run(outputs, list(nodes), [array, u, g], gear), wanted, strict=True):
                np.testing.assert_allclose(got, value, rtol=1e-14, err_msg=case.name)


def test_a_surrogate_has_the_derivative_of_its_second_input() -> None:
    x = inputs(np.array([0.5, -1.5]))[0]
    y = Node("surrogate", (x * 0.0, x * x), None, x.shape, x.dtype)
    value, pulled, pushed = run([y, *vjp([y], [x], [ones(y)]), *jvp([y], [x], [ones(x)])], [x], [np.array([0.5, -1.5])])
    assert not value.any()
    np.testing.assert_array_equal(pulled, [1.0, -3.0])
    np.testing.assert_array_equal(pushed, [1.0, -3.0])


@pytest.mark.parametrize("case", OTHER_CASES, ids=lambda c: c.name)
def test_others_batch(case: OtherCase) -> None:
    arrays = groups(case)[0]
    rows = [arrays, tuple(np.flip(a, -1) if a.ndim else a for a in arrays)]
    xs = inputs(*arrays)
    many = batch(Graph(xs, (case.make(*xs),)), [True] * len(xs), 2)
    (got,) = run(many.outputs, many.inputs, [np.stack(column) for column in zip(*rows, strict=True)])
    for sample, row in zip(got, rows, strict=True):
        np.testing.assert_array_equal(sample, case.numpy(*row))
