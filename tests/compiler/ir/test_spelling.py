"""The formulas of generated code are the C++ structs, bit for bit: in every dtype, at edges, kinks and ties."""

import numpy as np
import pytest

from burlab.compiler import build
from burlab.compiler.ir.spelling import FORMULAS, INTEGER_FORMULAS, literal, spelled
from burlab.compiler.passes import make_plan, make_runnable
from burlab.graph import Graph, Node
from burlab.graph.numpy_api.promotion import node
from burlab.graph.scalar import arity, scalar_ops

FLOATS = ["float64", "float32"]
INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
INTEGER_OPS = [op for op in INTEGER_FORMULAS if not op.startswith(("logical", "where"))]
INTEGER_OPS += ["power", "floor_divide", "remainder", "gcd", "lcm"]
EDGES = [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, -3.25, 1e-8, 709.0, -745.0, 1e300, 5e-324, np.inf, -np.inf, np.nan, 0.1]


def numbers(dtype, count, seed):
    """`count` arrays: every pair of edges meets, then ordinary numbers, whose count leaves a rest of a packet."""
    rng = np.random.default_rng(seed)
    with np.errstate(over="ignore"):
        if dtype == "bool":
            return [rng.random(277) < 0.5 for _ in range(count)]
        if dtype in INTEGERS:
            limits = np.iinfo(dtype)
            few = rng.integers(0, 9, (count, 77)).astype(dtype)  # what the others may be raised to
            every = rng.integers(limits.min, limits.max, (count, 200), dtype, endpoint=True)
            every[1:] = np.abs(every[1:] // 2)
            return [*np.concatenate([few, every], axis=1)]
        columns = [np.repeat(EDGES, 16), np.tile(EDGES, 16), rng.permutation(np.tile(EDGES, 16)), rng.normal(size=256)]
        return [np.concatenate([columns[k % 4], rng.normal(size=21)]).astype(dtype) for k in range(count)]


def graph_of(op, dtype):
    """One operation on inputs of its own; of masks where it takes them."""
    count = arity(op)
    kinds = ["bool" if op.startswith("logical") or (op.startswith("where") and k == 0) else dtype for k in range(count)]
    inputs = tuple(Node("input", (), f"x{k}", (277,), np.dtype(kind)) for k, kind in enumerate(kinds))
    return Graph(inputs, (node(op, *inputs),)), kinds


def both_gears(op, dtype):
    graph, kinds = graph_of(op, dtype)
    arrays = [numbers(kind, k + 1, 7 * k)[k] for k, kind in enumerate(kinds)]
    return [build(graph, gear=gear, strict=True)(*arrays)[0] for gear in ("compiled", "replay")]


def assert_same_bits(a, b):
    nan = np.isnan(a) & np.isnan(b) if a.dtype.kind == "f" else np.zeros(a.shape, bool)
    assert a.dtype == b.dtype
    assert np.array_equal(a[~nan].view(np.uint8), b[~nan].view(np.uint8))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("op", FORMULAS)
def test_a_formula_is_its_struct(op, dtype):
    assert_same_bits(*both_gears(op, dtype))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("op", ["gelu", "softplus'0", "tanh'0'1", "div'1'1", "gelu'0'0", "where'1'1", "sigmoid'0'1'1"])
def test_operations_without_formula_are_called(op, dtype):
    assert op not in FORMULAS
    assert_same_bits(*both_gears(op, dtype))


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("op", INTEGER_OPS)
def test_integer_formulas_have_the_same_bits(op, dtype):
    assert_same_bits(*both_gears(op, dtype))


def test_every_operation_runs_in_both_gears():
    for op in scalar_ops():
        assert_same_bits(*both_gears(op, "float64"))


def test_a_wrong_formula_is_noticed(monkeypatch):
    monkeypatch.setitem(FORMULAS, "relu'0", "{1} >= 0 ? {T}(1) : {T}(0)")
    with pytest.raises(AssertionError):
        assert_same_bits(*both_gears("relu'0", "float64"))


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "int32", "bool"])
def test_literals_read_back_exactly(dtype):
    kind = np.dtype(dtype)
    if kind.kind == "f":
        with np.errstate(over="ignore"):
            edges = np.array(EDGES).astype(kind)
        values = np.array([*edges, np.finfo(kind).max, np.finfo(kind).tiny, np.pi, -1 / 3], kind)
    elif kind.kind == "i":
        values = np.array([0, 1, -1, np.iinfo(kind).max, np.iinfo(kind).min], kind)
    else:
        values = np.array([True, False])
    x = Node("input", (), "x", (), kind)
    for value in values:
        constant = Node("constant", (), np.array(value), (), kind)
        mask = Node("constant", (), np.array(True), (), np.dtype(bool))
        chosen = Node("where", (mask, constant, x), None, (), kind)
        plan = make_plan(Graph((x,), (chosen,)))  # not simplified: the literal stays
        assert literal(value, kind) in spelled(chosen, ["true", literal(value, kind), "x"])
        (got,) = compiled(plan)(np.zeros((), kind))
        assert got.tobytes() == value.tobytes() or np.isnan([got, value]).all()


def compiled(plan):
    from burlab.compiler.executable import Executable, Explain

    return Executable(plan, make_runnable(plan), "compiled", Explain(plan.graph, strict=False))
