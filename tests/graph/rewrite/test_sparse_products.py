"""Sparse matrices as values with rows and columns: the bits of np.add.at, derivatives of JAX, no array of products."""

from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.errors import IndexRangeError
from burlab.graph.executions import every_node
from burlab.graph.rewrite.match_sparse import match_sparse
from burlab.graph.rewrite.simplify import simplify
from burlab.graph.tracing.trace import trace
from tests.engines import GEARS, jax_or_skip

SIZE, INNER = 13, 11
_rng = np.random.default_rng(3)


def product(values: Any, x: Any, columns: Any, rows: Any) -> Any:
    y = np.zeros((SIZE, *x.shape[1:]), x.dtype)
    np.add.at(y, rows, np.reshape(values, (-1,) + (1,) * (x.ndim - 1)) * x[columns])
    return y


def fused(f: Any, *args: Any) -> list[str]:
    graph = match_sparse(simplify(trace(f, args, {}).graph))
    return [n.op for n in every_node(graph)]


def given(count: int, row: tuple[int, ...], dtype: str = "float64", index: str = "int64", ordered: bool = False) -> Any:
    rows = _rng.integers(0, SIZE, count)
    indices = _rng.integers(0, INNER, count), np.sort(rows) if ordered else rows
    values, x = _rng.normal(size=count), _rng.normal(size=(INNER, *row))
    return values.astype(dtype), x.astype(dtype), *(k.astype(index) for k in indices)


@pytest.mark.parametrize("gear", GEARS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("index", ["int64", "int32", "uint8"])
@pytest.mark.parametrize("row", [(), (1,), (3,), (8,), (17,), (2, 5), (24,), (0,)])
def test_bits_are_those_of_numpy(gear: Any, dtype: str, index: str, row: tuple[int, ...]) -> None:
    for count, ordered in ((0, False), (1, False), (60, False), (5000, True), (5000, False)):
        args = given(count, row, dtype, index, ordered)
        np.testing.assert_array_equal(bl.compile(product, *args, gear=gear)(*args), product(*args))
    assert ("sparse_product" in fused(product, *args)) == (row != (0,))
    if index != "uint8":
        values, x, columns, rows = args
        args = values, x, columns - INNER, rows - SIZE
        np.testing.assert_array_equal(bl.compile(product, *args, gear=gear)(*args), product(*args))


@pytest.mark.parametrize("row", [(), (4,), (17,)])
@pytest.mark.parametrize("captured", [False, True])
def test_derivatives_are_those_of_jax(row: tuple[int, ...], captured: bool) -> None:
    jax = jax_or_skip()
    values, x, columns, rows = given(70, row)
    w = _rng.normal(size=(SIZE, *row))

    def of_jax(values: Any, x: Any) -> Any:
        each = values.reshape((-1,) + (1,) * (x.ndim - 1)) * x[columns]
        return (w * jax.numpy.tanh(jax.numpy.zeros((SIZE, *row)).at[rows].add(each))).sum()

    def f(values: Any, x: Any, columns: Any = columns, rows: Any = rows) -> Any:
        return np.sum(w * np.tanh(product(values, x, columns, rows)))

    args = (values, x) if captured else (values, x, columns, rows)
    for got, wanted in zip(bl.grad(f, argnums=(0, 1))(*args), jax.grad(of_jax, argnums=(0, 1))(values, x), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=0, atol=1e-12)
    turned = lambda v: jax.jvp(lambda v: jax.grad(of_jax)(v, x), (v,), (values[::-1],))[1]  # noqa: E731
    np.testing.assert_allclose(
        bl.hvp(lambda v: f(v, x, *args[2:]))(values, values[::-1].copy()), turned(values), rtol=0, atol=1e-11
    )
    found = fused(bl.grad(f, argnums=(0, 1)), *args)
    assert found.count("sparse_product") == 2
    assert found.count("sampled_product") == 1
    assert not {"gather", "scatter", "put"}.intersection(found)


@pytest.mark.parametrize("index", [(0, SIZE), (INNER, 0), (-INNER - 1, 0), (0, -SIZE - 1)])
@pytest.mark.parametrize("gear", GEARS)
def test_an_index_out_of_range_is_refused(gear: Any, index: tuple[int, int]) -> None:
    values, x, columns, rows = given(20, ())
    columns[7], rows[7] = index
    f = bl.value_and_grad(lambda v, x, c, r: np.sum(product(v, x, c, r) ** 2), argnums=(0, 1))
    with pytest.raises(IndexRangeError, match=r"test_sparse_products\.py"):
        bl.compile(f, values, x, columns, rows, gear=gear)(values, x, columns, rows)


def test_products_that_are_read_elsewhere_are_stored() -> None:
    def f(values: Any, x: Any, columns: Any, rows: Any) -> Any:
        z = values * x[columns]
        y = np.zeros(SIZE)
        np.add.at(y, rows, z)
        y[rows[:5]] += z[:5]
        return y, np.sum(z)

    args = given(40, ())
    assert "sparse_product" not in fused(f, *args)
    for got, wanted in zip(bl.jit(f)(*args), f(*args), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-13)


def test_a_loop_and_a_batch_have_sparse_products() -> None:
    values, _, columns, rows = given(40, ())
    square = np.minimum(columns, SIZE - 1)
    step = lambda c, _: (np.tanh(product(values, c, square, rows)), None)  # noqa: E731
    looped = lambda c: bl.scan(step, c, None, length=3)[0]  # noqa: E731
    start = _rng.normal(size=SIZE)
    wanted = start
    for _ in range(3):
        wanted = step(wanted, None)[0]
    np.testing.assert_allclose(bl.jit(looped)(start), wanted, rtol=1e-13)
    assert "sparse_product" in fused(looped, start)
    many = _rng.normal(size=(4, INNER))
    np.testing.assert_array_equal(
        bl.vmap(lambda x: product(values, x, columns, rows))(many), [product(values, x, columns, rows) for x in many]
    )


@pytest.mark.parametrize("gear", GEARS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("index", ["int64", "int32", "uint16", "int8"])
@pytest.mark.parametrize(
    ("mean", "row"), [(1, ()), (4, ()), (9, ()), (40, ()), (1200, ()), (3, (2,)), (9, (5,)), (40, (20,)), (9, (70,))]
)
def test_rows_of_any_length_have_the_bits_of_numpy(
    gear: Any, dtype: str, index: str, mean: int, row: tuple[int, ...]
) -> None:
    size = 100  # rows that ascend are added side by side, in blocks of 4096 entries, which cut some of them
    lengths = _rng.poisson(mean, size) * _rng.integers(0, 2, size)
    lengths[7] = 30 * mean  # in the same lanes as short ones
    rows = np.repeat(np.arange(size), lengths)
    values, x = _rng.normal(size=len(rows)).astype(dtype), _rng.normal(size=(size, *row)).astype(dtype)
    values[rows == 2], values[rows == 50], x[3] = np.inf, -0.0, np.nan
    columns = _rng.integers(0, size, len(rows))

    def f(values: Any, x: Any, columns: Any, rows: Any) -> Any:
        y = np.zeros((size, *row), x.dtype)
        np.add.at(y, rows, np.reshape(values, (-1,) + (1,) * len(row)) * x[columns])
        return y

    turned = rows.copy()  # does not ascend at one place
    turned[len(rows) // 2 :] = rows[: len(rows) - len(rows) // 2]
    places = [(columns, rows), (columns, turned)]
    if not index.startswith("u"):
        places += [(columns - size, rows), (columns, rows - size), (columns, np.where(rows < 2, rows - size, rows))]
    args = values, x, columns.astype(index), rows.astype(index)
    kernel = bl.compile(f, *args, gear=gear)
    with np.errstate(invalid="ignore"):
        for pair in places:
            args = values, x, *(k.astype(index) for k in pair)
            got, wanted = kernel(*args), f(*args)
            np.testing.assert_array_equal(got, wanted)
            np.testing.assert_array_equal(np.signbit(got)[got == 0], np.signbit(wanted)[wanted == 0])
    for k, wrong in ((2, size), (3, size), *(() if index.startswith("u") else ((2, -size - 1), (3, -size - 1)))):
        bad = [a.copy() for a in args]
        bad[k][-1] = wrong
        with pytest.raises(IndexRangeError):
            kernel(*bad)
