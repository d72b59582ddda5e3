"""Products with rows of a sparse matrix: values, derivatives of both orders, and batches, against dense matrices."""

import itertools
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.compiler.executable import build
from burlab.errors import IndexRangeError
from burlab.graph import Graph, Node
from burlab.graph.node import as_node
from burlab.graph.rewrite.batching import batch
from burlab.graph.sparse.row_operations import RowParams, row_products, row_samples, spread_rows
from tests.engines import GEARS, inputs, jax_or_skip, run

SIZE, ENTRIES = 6, 23
MAKE = {"row_products": row_products, "spread_rows": spread_rows, "row_samples": row_samples}


def places(rng: Any, shape: tuple[int, ...]) -> tuple[Any, Any]:
    """Starts and ends of rows, which may be empty, overlap, and come in any order."""
    starts = rng.integers(0, ENTRIES, shape)
    return starts, np.minimum(starts + rng.integers(0, 9, shape), ENTRIES)


def given(op: str, rows: tuple[int, ...], width: tuple[int, ...], apart: bool, seed: int = 0) -> Any:
    """Two arrays, columns, starts and ends."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(*(rows if apart else ()), SIZE, *width))
    values, y = rng.normal(size=ENTRIES), rng.normal(size=(*rows, *width))
    arrays = {"row_products": (values, x), "spread_rows": (values, y), "row_samples": (x, y)}[op]
    return *arrays, rng.integers(0, SIZE, ENTRIES), *places(rng, rows)


def by_hand(op: str, apart: bool, first: Any, second: Any, columns: Any, starts: Any, ends: Any, np: Any = np) -> Any:
    """The definition, entry by entry, in the words of any array library."""
    count = len(columns)
    rows = [(r, e) for r in range(starts.size) for e in range(starts.reshape(-1)[r], ends.reshape(-1)[r])]
    of, at = (np.asarray([pair[k] for pair in rows], int) for k in (0, 1))
    n, to = starts.size, columns[at]
    lead = starts.shape

    def flat(x: Any, axes: int) -> Any:
        return x.reshape((-1, *x.shape[axes:]))

    def times(a: Any, b: Any) -> Any:
        return a.reshape(a.shape + (1,) * (b.ndim - 1)) * b

    def added(size: int, where: Any, what: Any) -> Any:
        return np.einsum("en,e...->n...", (where[:, None] == np.arange(size)).astype(what.dtype), what)

    deep = len(lead) + 1 if apart else 1
    place = of * SIZE + to if apart else to
    if op == "row_products":
        products = times(first[at], flat(second, deep)[place])
        return added(n, of, products).reshape((*lead, *second.shape[deep:]))
    if op == "spread_rows":
        products = times(first[at], flat(second, len(lead))[of])
        whole = added(n * SIZE if apart else SIZE, place, products)
        return whole.reshape((*(lead if apart else ()), SIZE, *second.shape[len(lead) :]))
    products = flat(first, deep)[place] * flat(second, len(lead))[of]
    return added(count, at, products.sum(axis=tuple(range(1, products.ndim))))


CASES = list(itertools.product(MAKE, [(), (1,), (5,), (2, 3), (0,)], [(), (1,), (3,), (2, 2), (17,)], [False, True]))


@pytest.mark.parametrize("gear", GEARS)
def test_values_are_those_of_the_definition(gear: str) -> None:
    for op, rows, width, apart in CASES:
        args = given(op, rows, width, apart)
        params = RowParams(SIZE, 3, apart)
        for dtype, index in (("float64", "int64"), ("float32", "int32")):
            arrays = [a.astype(dtype) for a in args[:2]] + [a.astype(index) for a in args[2:]]
            xs = inputs(*arrays)
            (found,) = run([MAKE[op](params, *xs)], xs, arrays, gear)
            wanted = by_hand(op, apart, *args)
            digits = 1e-12 if dtype == "float64" else 1e-5
            np.testing.assert_allclose(found, wanted, digits, digits)


def test_rows_of_many_entries_and_many_rows() -> None:
    rng = np.random.default_rng(5)
    counts = rng.integers(0, 300, 400)
    ends = np.cumsum(counts)
    x, values, columns = rng.normal(size=50), rng.normal(size=ends[-1]), rng.integers(0, 50, ends[-1])
    dense = np.zeros((400, 50))
    np.add.at(dense, (np.repeat(np.arange(400), counts), columns), values)
    y = rng.normal(size=400)
    indices = columns, ends - counts, ends
    for op, arrays, wanted in (
        ("row_products", (values, x), dense @ x),
        ("spread_rows", (values, y), dense.T @ y),
        ("row_samples", (x, y), x[columns] * np.repeat(y, counts)),
    ):
        xs = inputs(*arrays, *indices)
        (found,) = run([MAKE[op](RowParams(50, 150), *xs)], xs, (*arrays, *indices), "compiled")
        np.testing.assert_allclose(found, wanted, 1e-12, 1e-11)


FORMS = [((), (), False), ((4,), (), False), ((4,), (2,), True), ((2, 3), (), True), ((), (2,), True)]


@pytest.mark.parametrize("form", FORMS, ids=str)
@pytest.mark.parametrize("op", MAKE)
def test_derivatives_of_both_orders_are_those_of_jax(op: str, form: Any) -> None:
    jax = jax_or_skip()
    apart = form[2]
    first, second, *indices = given(op, *form, 1)

    def ours(a: Any, b: Any) -> Any:
        nodes = [as_node(i) for i in indices]
        return np.sum(np.sin(MAKE[op](RowParams(SIZE, 3, apart), as_node(a), as_node(b), *nodes)))

    def theirs(a: Any, b: Any) -> Any:
        return jax.numpy.sum(jax.numpy.sin(by_hand(op, apart, a, b, *indices, np=jax.numpy)))

    def squared(lab: Any, number: Any, f: Any, k: int) -> Any:
        return lambda a, b: number.sum(lab.grad(f, argnums=k)(a, b) ** 2)

    for k, j in itertools.product((0, 1), repeat=2):
        gradient, wanted = bl.grad(ours, argnums=k)(first, second), jax.grad(theirs, argnums=k)(first, second)
        np.testing.assert_allclose(gradient, wanted, 1e-11, 1e-12)
        of = bl.grad(squared(bl, np, ours, k), argnums=j)(first, second)
        of_jax = jax.grad(squared(jax, jax.numpy, theirs, k), argnums=j)(first, second)
        np.testing.assert_allclose(of, of_jax, 1e-10, 1e-11)
    v = np.ones_like(first), np.ones_like(second)
    pushed = bl.jvp(ours, (first, second), v)[1]
    np.testing.assert_allclose(pushed, jax.jvp(theirs, (first, second), v)[1], 1e-11, 1e-12)


@pytest.mark.parametrize("op", MAKE)
@pytest.mark.parametrize("flags", list(itertools.product([False, True], repeat=5))[1:])
def test_batches_are_those_of_single_calls(op: str, flags: tuple[bool, ...]) -> None:
    many = 3
    for rows, width, apart in (((), (), False), ((4,), (2,), False), ((2,), (), True), ((), (3,), True)):
        samples = [given(op, rows, width, apart, seed) for seed in range(many)]
        args = [np.stack([s[k] for s in samples]) if flag else samples[0][k] for k, flag in enumerate(flags)]
        if flags[3] != flags[4]:  # ends behind starts whatever the sample
            args[4] = np.maximum(args[4], args[3]) if flags[4] else np.maximum(args[4], args[3].max(axis=0))
        singles = inputs(*(a[0] if flag else a for a, flag in zip(args, flags, strict=True)))
        node = MAKE[op](RowParams(SIZE, 3, apart), *singles)
        together = batch(Graph(tuple(singles), (node,)), flags, many)
        (found,) = build(together)(*args)
        wanted = [
            by_hand(op, apart, *(a[k] if flag else a for a, flag in zip(args, flags, strict=True))) for k in range(many)
        ]
        np.testing.assert_allclose(found, np.stack(wanted), 1e-12, 1e-12)


@pytest.mark.parametrize("gear", GEARS)
@pytest.mark.parametrize(
    ("place", "number"),
    [(2, SIZE), (2, -1), (3, -1), (4, ENTRIES + 1), (2, 2**40), (3, 2**40)],
)
def test_entries_that_do_not_exist_are_said(gear: str, place: int, number: int) -> None:
    values, x, columns, starts, ends = given("row_products", (5,), (), False)
    starts[:], ends[:] = 0, ENTRIES
    arrays = [values, x, columns, starts, ends]
    arrays[place][2 % len(arrays[place])] = number
    xs = inputs(*arrays)
    with pytest.raises(IndexRangeError):
        run([row_products(RowParams(SIZE, 3), *xs)], xs, arrays, gear)


def test_the_sum_over_samples_is_taken_in_one_call() -> None:
    from burlab.graph.rewrite.batch_sum import tiled

    values, y, columns, starts, ends = given("spread_rows", (), (), False)
    xs = inputs(values, y, columns, starts, ends)
    graph = Graph(xs, (spread_rows(RowParams(SIZE, 3), *xs),))
    tile = tiled(graph, [False, True, False, True, True], 8, 64)
    assert [n.op for n in tile.graph.nodes if not n.row.leaf] == ["spread_rows"]
    assert tile.graph.outputs[0].shape == (SIZE,)
    assert isinstance(tile.graph.outputs[0], Node)
