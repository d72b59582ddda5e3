"""float16 and bfloat16: stored as they are, and widened to float32 by the loop that reads them."""

import sys
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ConfigurationError, DTypeError, GraphError
from burlab.graph import Graph, Node
from burlab.graph.file.verify import verify
from burlab.graph.linear_nodes import convert
from burlab.graph.tracing.trace import trace
from burlab.runtime import dtypes
from tests.engines import GEARS

RNG = np.random.default_rng(3)


@pytest.fixture(params=["float16", "bfloat16"])
def dtype(request: pytest.FixtureRequest) -> Any:
    if request.param == "float16":
        return np.dtype(np.float16)
    return np.dtype(pytest.importorskip("ml_dtypes").bfloat16)


def normal(dtype: Any, *shape: int) -> Any:
    return RNG.normal(size=shape).astype(dtype)


@pytest.mark.parametrize("gear", GEARS)
@pytest.mark.parametrize("count", [65536, 65536 - 3, 8, 1])
def test_every_number_is_widened_exactly(dtype: Any, gear: Any, count: int) -> None:
    bits = np.arange(65536, dtype=np.uint16)[-count:]
    x = bits.view(dtype)
    wide = x.astype(np.float32)
    got = bl.compile(lambda x: x.copy(), x, gear=gear)(x)
    assert got.dtype == np.float32
    known = ~np.isnan(wide)
    np.testing.assert_array_equal(np.isnan(got), ~known)
    np.testing.assert_array_equal(got.view(np.uint32)[known], wide.view(np.uint32)[known])


@pytest.mark.parametrize("gear", GEARS)
def test_results_are_those_of_float32(dtype: Any, gear: Any) -> None:
    """Products, sums, views, entries, single numbers and trees; results and gradients are float32."""
    x, w, i = normal(dtype, 37, 20), RNG.normal(size=(20, 5)).astype(np.float32), np.array([3, 0, 3])

    def f(p: Any, w: Any, i: Any) -> Any:
        x = p["x"]
        y = np.tanh(x @ w)
        return y, np.sum(x.T[2:4] * 2, axis=1), x[i], x[4:6, ::2], x[1, 2] * p["s"], np.where(x > 0, x, 0).max(axis=0)

    narrow, wide = {"x": x, "s": x[0, 0]}, {"x": x.astype(np.float32), "s": np.float32(x[0, 0])}
    got, wanted = bl.compile(f, narrow, w, i, gear=gear)(narrow, w, i), bl.compile(f, wide, w, i, gear=gear)(wide, w, i)
    for mine, other in zip(got, wanted, strict=True):
        assert mine.dtype == np.float32
        np.testing.assert_allclose(mine, other, rtol=1e-6, atol=1e-6)


def test_derivatives_by_and_beside_narrow_floats_are_float32(dtype: Any) -> None:
    x, w = normal(dtype, 9, 4), RNG.normal(size=4).astype(np.float32)
    wide = x.astype(np.float32)
    f = lambda x, w: np.sum(np.sin(x @ w) ** 2)  # noqa: E731
    for k in range(4):
        for by in ((0,), (1,), (0, 1)):
            for mine, other in zip(bl.grad(f, by)(x, w * k), bl.grad(f, by)(wide, w * k), strict=True):
                assert mine.dtype == np.float32
                np.testing.assert_array_equal(mine, other)
    inner = bl.jit(lambda w: bl.grad(f, 1)(x, w) + bl.grad(f)(x, w).sum())
    np.testing.assert_allclose(inner(w), bl.grad(f, 1)(wide, w) + bl.grad(f)(wide, w).sum(), rtol=1e-5)
    np.testing.assert_array_equal(bl.vmap(lambda x: x @ w)(x), bl.vmap(lambda x: x @ w)(wide))
    np.testing.assert_allclose(bl.jvp(lambda x: x * x, (x,), (wide,))[1], 2 * wide * wide, rtol=1e-6)


@pytest.mark.parametrize("batch", [None, 5])
def test_samples_are_read_where_they_lie(dtype: Any, batch: int | None) -> None:
    x, y = normal(dtype, 40, 6), normal(dtype, 40)
    w = RNG.normal(size=6).astype(np.float32)
    loss = lambda w, x, y: (np.tanh(x @ w) - y) ** 2  # noqa: E731
    problem, wide = (bl.FiniteSum(loss, (a.astype(t), b.astype(t))) for a, b, t in ((x, y, dtype), (x, y, np.float32)))
    assert [a.ctypes.data for a in bl.FiniteSum(loss, (x, y)).oracle.data.arrays] == [x.ctypes.data, y.ctypes.data]
    np.testing.assert_allclose(problem.grad(w), wide.grad(w), rtol=1e-5)
    np.testing.assert_allclose(problem.per_sample_grads(w, [3, 1]), wide.per_sample_grads(w, [3, 1]), rtol=1e-5)
    got, wanted = (
        bl.minimize(p, w, bl.optim.Adam(0.1), batch=batch, steps=20, progress=False).x for p in (problem, wide)
    )
    np.testing.assert_allclose(got, wanted, rtol=1e-4)


def test_a_run_over_narrow_data_is_saved_and_opened_again(dtype: Any, tmp_path: Any) -> None:
    x, w = normal(dtype, 40, 6), np.ones(6, np.float32)
    problem = bl.FiniteSum(lambda w, x: np.sum(np.cos(x * w)), x)
    run = bl.minimize(problem, w, bl.optim.GD(0.1), batch=4, steps=5, progress=False)
    run.save(tmp_path / "run.b")
    again = bl.load_run(tmp_path / "run.b", x)
    again.step(5)
    run.step(5)
    np.testing.assert_array_equal(again.x, run.x)


def test_a_graph_of_narrow_floats_is_a_file(dtype: Any) -> None:
    x = normal(dtype, 7, 5)
    graph = bl.compile(lambda x: x[2:4] * 2, x).graph
    again = Graph.from_json(graph.to_json())
    assert again.inputs[0].dtype == dtype
    assert {n.op for n in again.nodes if n.dtype == dtype} >= {"input"}
    wrong = Node("input", (), "x", (3,), dtype)
    for bad in (convert(wrong, np.dtype(np.float64)), Node("neg", (wrong,), None, (3,), dtype)):
        with pytest.raises(GraphError):
            verify(Graph((wrong,), (bad,)))


def test_a_kernel_of_float32_takes_narrow_floats_and_not_the_other_way_round(dtype: Any) -> None:
    x = normal(dtype, 5)
    double = bl.compile(lambda x: x * 2, x.astype(np.float32))
    narrow = bl.compile(lambda x: x * 2, x)
    for _ in range(3):
        np.testing.assert_array_equal(double(x), narrow(x))
        with pytest.raises(DTypeError, match=f"must be {dtype.name}, got float32"):
            narrow(x.astype(np.float32))


def test_assignment_to_a_narrow_argument(dtype: Any) -> None:
    x = normal(dtype, 5)

    def f(x: Any) -> Any:
        x[1] = 7.0
        x += 1
        return x

    wanted = x.astype(np.float32)
    wanted[1] = 7
    np.testing.assert_array_equal(bl.jit(f)(x), wanted + 1)


def test_small_known_arrays_are_converted_once() -> None:
    x = normal(np.float16, 5)
    graph = trace(lambda y: x * y, (np.ones(5, np.float32),)).graph
    assert all(n.op != "convert" for n in graph.nodes)


def test_bfloat16_of_a_file_names_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ml_dtypes")
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    with pytest.raises(ConfigurationError, match="pip install ml_dtypes"):
        dtypes.dtype_of("bfloat16")
