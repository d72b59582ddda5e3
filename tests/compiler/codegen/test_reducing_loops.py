"""Loops that end in sums: of everything, of squares, and of each row of a matrix times a vector."""

import numpy as np
import pytest

import burlab as bl
from burlab.compiler import build
from burlab.compiler.ir.plan import LoopStep
from burlab.compiler.passes import make_plan
from burlab.compiler.planning.expand_products import expand_products
from burlab.graph import Graph, Node
from burlab.graph.linear_nodes import broadcast, contract, linear
from burlab.graph.numpy_api.promotion import apply
from burlab.graph.numpy_api.reduction import sum_of_squares
from burlab.graph.rewrite.simplify import simplify
from tests.compiler.trace import traced

RNG = np.random.default_rng(0)
SHAPES = [
    (2,),
    (3,),
    (16,),
    (511,),
    (512,),
    (513,),
    (5000,),
    (100, 27),
    (40, 64),
    (9, 1100),
    (3, 5, 7),
    (7, 1, 600),
    (90, 4),
]
DTYPES = ["float32", "float64"]


def inputs(*shapes, dtype):
    return tuple(Node("input", (), None, shape, np.dtype(dtype)) for shape in shapes)


def loops(graph):
    return [step for step in make_plan(expand_products(simplify(graph))).steps if isinstance(step, LoopStep)]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_a_sum_in_a_loop_has_the_bits_of_the_library(shape, dtype):
    x = RNG.normal(size=shape).astype(dtype)

    def function(x):
        return np.sum((np.tanh(x) - 1) ** 2) + np.sum(x.T * 3.0)

    compiled, replayed = (bl.compile(function, x, gear=gear).value_and_grad(x) for gear in ("compiled", "replay"))
    for a, b in zip(compiled, replayed, strict=True):
        assert np.asarray(a).tobytes() == np.asarray(b).tobytes()


def test_only_float_sums_of_everything_end_a_loop():
    (loop,) = loops(traced(lambda x: np.sum(np.tanh(x)), np.zeros((40, 30))))
    assert [n.op for n in loop.nodes] == ["tanh", "sum"]
    assert [n.op for n in loop.stores] == ["sum"], "what is summed is not stored"
    for other in (lambda x: np.sum(x > 0), np.sum):
        assert all("sum" not in [n.op for n in loop.nodes] for loop in loops(traced(other, np.zeros((40, 30)))))


@pytest.mark.parametrize("where", [0, 300, -1])
@pytest.mark.parametrize("bad", [np.inf, np.nan])
def test_a_sum_that_is_not_finite_is_found(bad, where):
    x = np.ones(700)
    x[where] = bad
    assert not np.isfinite(bl.compile(lambda x: np.sum(x * 2.0), x)(x))
    with pytest.raises(bl.errors.NonFiniteError):
        bl.compile(lambda x: np.sum(x * 2.0), x, check_finite=True)(x)


@pytest.mark.parametrize("gear", ["compiled", "replay"])
@pytest.mark.parametrize("scale", [0.0, 1e-42, 1e-30, 1e-12, 1.0, 1e12, 1e30])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_squares_at_any_scale(shape, dtype, scale, gear):
    (x,) = inputs(shape, dtype=dtype)
    y = apply("mul", x, 3.0)
    exe = build(Graph((x,), (sum_of_squares(y), y)), gear=gear)
    values = (RNG.normal(size=shape) * scale).astype(dtype)
    total, tripled = exe(values)
    np.testing.assert_array_equal(tripled, values * np.dtype(dtype).type(3))
    np.testing.assert_allclose(total, np.sum(tripled.astype(float) ** 2), rtol=3e-6 if dtype == "float32" else 1e-14)


def test_squares_of_one_bad_number_are_bad():
    (x,) = inputs((40, 64), dtype="float32")
    exe = build(Graph((x,), (sum_of_squares(apply("mul", x, 3.0)),)))
    values = np.ones((40, 64), np.float32)
    values[39, 63] = np.inf
    assert exe(values)[0] == np.inf
    values[39, 63] = np.nan
    assert np.isnan(exe(values)[0])


def update(matrix, vector, other):
    """A fused step of a layer: its product backwards, and its new weights."""
    product = contract("ab,b->a", matrix, vector) if matrix.shape[1] == vector.size else None
    new = apply("sub", matrix, apply("mul", contract("a,b->ab", other, vector), 0.1))
    return product, new, sum_of_squares(apply("sub", new, matrix))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(2, 4), (7, 5), (64, 27), (30, 64), (9, 600), (5, 1031), (100, 16)])
def test_a_matrix_is_read_once_for_its_product_and_its_update(shape, dtype):
    nodes = inputs(shape, shape[1:], shape[:1], dtype=dtype)
    graph = Graph(nodes, update(*nodes))
    (loop,) = loops(graph)
    assert {n.op for n in loop.nodes} == {"matvec", "mul", "sub", "squares"}
    arrays = [RNG.normal(size=n.shape).astype(dtype) for n in nodes]
    product, new, squares = build(graph)(*arrays)
    w, v, u = (a.astype(np.longdouble) for a in arrays)
    eps = np.finfo(dtype).eps
    assert np.abs(product - w @ v).max() <= 2 * shape[1] ** 0.5 * eps * (np.abs(w) @ np.abs(v)).max()
    np.testing.assert_allclose(new, w - 0.1 * np.outer(u, v), rtol=4 * eps, atol=4 * eps)
    np.testing.assert_allclose(squares, np.sum((new.astype(float) - arrays[0]) ** 2), rtol=3e-6)


def test_infinities_stay_in_their_rows():
    nodes = inputs((40, 27), (27,), (40,), dtype="float32")
    arrays = [np.ones(n.shape, np.float32) for n in nodes]
    arrays[0][17, 3] = np.inf
    product, new, _ = build(Graph(nodes, update(*nodes)))(*arrays)
    assert np.isfinite(np.delete(product, 17)).all()
    assert product[17] == np.inf
    assert np.isfinite(new).sum() == new.size - 1


def test_sum_next_to_rows_of_its_length_has_its_own_loop():
    """Sums of a row's values have the shape of what ends here, but rows are reduced in loops of another kind."""
    x, y = inputs((8, 24), (8,), dtype="float64")
    rows = apply("mul", linear("sum", (1,), apply("mul", x, 2.0)), y)
    exe = build(Graph((x, y), (rows, sum_of_squares(apply("mul", y, 3.0)))))
    a, b = RNG.normal(size=(8, 24)), RNG.normal(size=8)
    got = exe(a, b)
    np.testing.assert_allclose(got[0], (2 * a).sum(1) * b, rtol=1e-13)
    np.testing.assert_allclose(got[1], np.sum(9 * b**2), rtol=1e-13)


def test_rows_stay_one_loop_next_to_leaves_of_their_number():
    """A row value has the shape of such a leaf, but belongs to the loop of its rows."""
    x, y = inputs((24, 30), (24,), dtype="float32")
    mean = apply("square", apply("mul", linear("sum", (1,), apply("mul", x, 0.1)), 1 / 3))
    shifted = apply("sub", x, broadcast(mean, (24, 30), (0,)))
    rows = apply("mul", shifted, 2.0)
    norms = [sum_of_squares(apply("mul", y, 3.0)), sum_of_squares(apply("sub", y, 1.0))]
    alone, beside = loops(Graph((x, y), (rows,))), loops(Graph((x, y), (rows, *norms)))
    assert len(alone) == 1
    assert [n.op for n in alone[0].nodes] in [[n.op for n in loop.nodes] for loop in beside]


def test_products_of_other_kinds_stay_what_they_are():
    matrix, vector, other = inputs((6, 5), (5,), (6,), dtype="float64")
    read = apply("mul", matrix, 2.0)
    for spec, x, y in [("ab,a->b", matrix, other), ("ab,cb->ac", matrix, matrix)]:
        kept = expand_products(Graph((matrix, vector, other), (contract(spec, x, y), read)))
        assert kept.outputs[0].op == "contract", spec
    square, across = inputs((6, 6), (6,), dtype="float64")
    columns = Graph((square, across), (contract("ab,a->b", square, across), apply("mul", square, 2.0)))
    assert expand_products(columns).outputs[0].op == "contract", "columns of a square matrix are not its rows"
    alone = expand_products(Graph((matrix, vector), (contract("ab,b->a", matrix, vector),)))
    assert alone.outputs[0].op == "contract", "nobody else reads the matrix"
    turned = expand_products(Graph((matrix, vector), (contract("b,ab->a", vector, matrix), read)))
    assert turned.outputs[0].op == "matvec"


def test_equal_leaves_share_a_loop():
    """Each leaf has a loop of its own, and those of equal leaves are one function."""
    leaves = inputs((40, 24), (40, 24), (40, 24), dtype="float32")
    new = [apply("sub", x, apply("mul", x, 0.1)) for x in leaves]
    graph = Graph(leaves, (*new, *(sum_of_squares(y) for y in new)))
    assert [[n.op for n in loop.nodes] for loop in loops(graph)] == [["mul", "sub", "squares"]] * 3
    assert build(graph).source.count("noexcept {\n") == 2, "a loop and the kernel"


@pytest.mark.parametrize("letters", ["a,b->ab", "a,b->ba", "ab,a->ab", "ab,b->ba"])
@pytest.mark.parametrize("scale", [0.0, 1e-30, 1.0, 1e25])
@pytest.mark.parametrize("dtype", DTYPES)
def test_squares_of_a_product_are_those_of_its_factors_multiplied(dtype, scale, letters):
    ins = letters.partition("->")[0]
    sizes = {"a": 40, "b": 27}
    nodes = inputs(*(tuple(sizes[c] for c in term) for term in ins.split(",")), dtype=dtype)
    graph = Graph(nodes, (sum_of_squares(contract(letters, *nodes)),))
    disjoint = not set.intersection(*map(set, ins.split(",")))
    assert any(n.op == "mul" and n.shape == () for n in expand_products(graph).nodes) == (
        disjoint and dtype == "float32"
    )
    x, y = (RNG.normal(size=n.shape).astype(dtype) for n in nodes)
    y *= scale
    exact = np.einsum(letters, x.astype(float), y.astype(float))
    np.testing.assert_allclose(build(graph)(x, y)[0], np.sum(exact**2), rtol=3e-6 if dtype == "float32" else 1e-13)


@pytest.mark.parametrize(("bad", "wanted"), [(np.inf, np.inf), (np.nan, np.nan), (3e38, np.inf)])
def test_squares_of_a_product_beyond_its_type_are_infinite(bad, wanted):
    nodes = inputs((40,), (27,), dtype="float32")
    x, y = (np.full(n.shape, 2, np.float32) for n in nodes)
    x[17] = bad
    assert str(build(Graph(nodes, (sum_of_squares(contract("a,b->ab", *nodes)),)))(x, y)[0]) == str(wanted)


@pytest.mark.parametrize("scale", [1e-30, 1.0])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [*SHAPES, (5, 1031), (6, 4100), (2, 9, 20)])
def test_padding_of_a_row_is_not_squared(shape, dtype, scale):
    x, row = inputs(shape, shape[:1], dtype=dtype)
    shifted = apply("add", x, broadcast(row, shape, (0,)))
    exe = build(Graph((x, row), (sum_of_squares(shifted), sum_of_squares(apply("div", scale, shifted)), shifted)))
    a, b = (RNG.uniform(1, 2, n.shape).astype(dtype) * np.dtype(dtype).type(scale) for n in (x, row))
    total, inverse, y = exe(a, b)
    rtol = 3e-6 if dtype == "float32" else 1e-14
    np.testing.assert_array_equal(y, a + b.reshape(-1, *[1] * (len(shape) - 1)))
    np.testing.assert_allclose(total, np.sum(y.astype(float) ** 2), rtol=rtol)
    np.testing.assert_allclose(inverse, np.sum((scale / y.astype(float)) ** 2), rtol=rtol)
