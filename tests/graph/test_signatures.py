"""Signatures of operations: tracing follows them, `verify` checks files by them, and kernels exist for them."""

import json
from collections.abc import Callable

import numpy as np
import pytest

import burlab as bl
import burlab.graph.rare
from burlab.compiler.executable import build
from burlab.errors import BurlabError, GraphError
from burlab.graph import Graph, Node, fourier, linear_nodes
from burlab.graph.file.verify import verify
from burlab.graph.numpy_api.promotion import node
from burlab.graph.operation import STRUCTURAL, ScalarOperation, repeated
from burlab.graph.scalar import arity, scalar_ops
from burlab.graph.tracing.trace import trace
from burlab.runtime.dtypes import DTYPES
from tests.op_cases import OTHER_CASES


def given(shape: tuple[int, ...], dtype: str) -> Node:
    return Node("input", (), "x", shape, DTYPES[dtype])


def scalar(op: str, dtype: str) -> tuple[list[Node], Node]:
    """An operation on arrays of a dtype, and its inputs."""
    xs = [given((3,), dtype) for _ in range(arity(op))]
    if op.startswith("where"):
        xs[0] = given((3,), "bool")
    return xs, node(op, *xs)


INDEX = given((2,), "int64")
LINEAR_NODES: dict[str, Callable[[Node], Node]] = {
    "sum": lambda x: linear_nodes.linear("sum", (0,), x),
    "broadcast": lambda x: repeated(x, 4),
    "reshape": lambda x: linear_nodes.reshape(x, (3, 2)),
    "transpose": lambda x: linear_nodes.transpose(x, (1, 0)),
    "slice": lambda x: linear_nodes.slice_(x, (0, 2), (1, -1), (2, 3)),
    "pad": lambda x: linear_nodes.pad(x, (1, 0), (1, 2), (4, 6)),
    "concatenate": lambda x: linear_nodes.concatenate([x, x], 1),
    "gather": lambda x: linear_nodes.gather(x, INDEX),
    "scatter": lambda x: linear_nodes.scatter(x, INDEX, 0, 5),
    "put": lambda x: linear_nodes.put(x, x, INDEX, adds=True),
    "cumsum": lambda x: linear_nodes.cumsum(x, 1, True),
    "convert": lambda x: linear_nodes.convert(x, DTYPES["float32" if x.dtype != np.float32 else "int32"]),
    "contract": lambda x: linear_nodes.contract("ab,cb->ac", x, x),
    "fft": fourier.fft,
    "rfft": fourier.rfft,
    "irfft": lambda x: fourier.irfft(x, 4),
}
OTHERS = [case for case in OTHER_CASES if not isinstance(case.arrays[0], tuple)]  # of one array


def accepted(graph: Graph) -> bool:
    try:
        verify(graph)
    except GraphError:
        return False
    return True


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_kernel_exists_for_all_that_is_accepted(dtype: str) -> None:
    """Otherwise a file would end in messages of the C++ compiler."""
    inputs: list[Node] = [INDEX]
    outputs: list[Node] = []
    for op in scalar_ops():
        xs, y = scalar(op, dtype)
        fits = accepted(Graph(tuple(xs), (y,)))
        assert fits == (DTYPES[dtype] in ScalarOperation(op).dtypes), op
        if fits:
            inputs += xs
            outputs.append(y)
    for make in (*LINEAR_NODES.values(), *(case.make for case in OTHERS)):
        x = given((2, 3), dtype)
        y = make(x)
        if accepted(Graph((x, INDEX), (y,))):
            inputs.append(x)
            outputs.append(y)
    graph = Graph(tuple(inputs), tuple(outputs))
    for gear in ("replay", "compiled"):
        results = build(graph, gear=gear)(*(np.ones(x.shape, x.dtype) for x in inputs))
        assert [(y.shape, y.dtype) for y in results] == [(y.shape, y.dtype) for y in outputs]


def test_undefined_dtypes_are_not_accepted() -> None:
    def refused(op: str) -> set[str]:
        xs = {dtype: given((2, 3), dtype) for dtype in DTYPES}
        return {dtype for dtype, x in xs.items() if not accepted(Graph((x, INDEX), (LINEAR_NODES[op](x),)))}

    linear_ops = {name for name, row in STRUCTURAL.items() if isinstance(row, linear_nodes.LinearOp)}
    assert set(LINEAR_NODES) == linear_ops
    whole = set(DTYPES) - {"float32", "float64"}
    totals = {dtype for dtype in whole if DTYPES[dtype].itemsize < 8}  # NumPy's sums of these are of 64 bits
    assert {op: refused(op) for op in linear_ops} == {op: set() for op in linear_ops} | {
        "sum": totals, "cumsum": totals, "scatter": {"bool"}, "put": {"bool"}, "contract": {"bool"},
        "fft": whole, "rfft": whole, "irfft": whole,
    }  # fmt: skip
    assert {dtype for dtype in DTYPES if DTYPES[dtype] in ScalarOperation("tanh").dtypes} == {"float32", "float64"}
    assert {dtype for dtype in DTYPES if DTYPES[dtype] in ScalarOperation("logical_and").dtypes} == {"bool"}


@pytest.mark.parametrize("dtype", DTYPES)
def test_traced_graphs_are_accepted(dtype: str) -> None:
    """NumPy functions of one and two arrays, on every dtype: each has a graph that keeps to the rules, or an error."""
    x = np.ones((2, 3), dtype)
    names = "sum mean prod cumsum max min argmax any all sort var std square abs negative sign exp tanh sqrt isnan"
    names += " isfinite logical_not floor_divide remainder add multiply subtract maximum less equal where dot power"
    for name in names.split():
        f = getattr(np, name)
        for args in ((x,), (x, x), (x, x.T)):
            try:
                graph = trace(lambda *xs, f=f: f(*xs), args).graph
            except (BurlabError, TypeError, ValueError, AttributeError, IndexError):
                continue
            verify(graph)


MATRIX = trace(lambda a, b: a @ b, (np.ones((2, 3)), np.ones((3, 4)))).graph.to_json()


@pytest.mark.parametrize(
    "spec",
    ["ab,bc->aab", "aa,bc->ac", "ab,bb->ab", "ab,bc->ad", "ab,bc", "a,bc->ac", "ab,cb->ac", "ab,bc->ac\n", "äb,bc->äc"],
)
def test_letters_are_counted(spec: str) -> None:
    data = json.loads(MATRIX)
    data["nodes"][2]["params"] = spec
    with pytest.raises(GraphError):
        Graph.from_json(json.dumps(data))


def test_masks_are_zeros_and_ones() -> None:
    """C++ takes any other byte in a bool for what cannot be."""
    text = trace(lambda x: np.where(np.array([True, False, True]), x, 2.0), (np.ones(3),)).graph.to_json()
    assert text.count("AQAB") == 1
    Graph.from_json(text)
    with pytest.raises(GraphError, match="3 bytes of bool in base64"):
        Graph.from_json(text.replace("AQAB", "AQAC"))


def test_graphs_within_graphs_end_somewhere() -> None:
    """Regions that execute regions, each many times: small files that would be endless work, or endless recursion."""
    loop = trace(lambda x: bl.while_loop(lambda s: s < 9, lambda s: s + 1, x), (np.int64(0),)).graph.to_json()
    body = json.loads(loop)
    deep = body
    for _ in range(40):
        deep = json.loads(loop)
        deep["nodes"][1]["params"]["region"][1] = body
        body = deep
    with pytest.raises(GraphError, match="lie in one another at most"):
        Graph.from_json(json.dumps(deep))
    wide = json.loads(loop)
    for _ in range(20):
        outer = json.loads(loop)
        outer["nodes"][1]["params"]["region"][1] = wide
        again = {**outer["nodes"][1], "params": {"region": 1, "item": 0, "batch": []}}
        outer["nodes"] += [{**again, "inputs": [k]} for k in range(1, 4)]
        outer["outputs"] = [4]
        wide = outer
    with pytest.raises(GraphError, match="executes more than"):  # 4 ** 20 nodes
        Graph.from_json(json.dumps(wide))


def test_extra_and_unused_things_are_refused() -> None:
    extra = json.loads(MATRIX)
    extra["nodes"][2]["note"] = ""
    unused = json.loads(MATRIX)
    unused["nodes"].append(unused["nodes"][2])
    for data in (extra, unused, {**json.loads(MATRIX), "more": 1}):
        with pytest.raises(GraphError, match="damaged"):
            Graph.from_json(json.dumps(data))
