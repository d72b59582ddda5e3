"""Tracing: what is traced and what is static, trees of arguments, origins and scopes, leaks, frozen random numbers."""

import subprocess
import sys
import threading
from collections import namedtuple
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.errors import TraceError
from burlab.graph import Graph, Node, scope
from burlab.graph.file.verify import verify
from burlab.graph.rewrite.simplify import simplify
from burlab.graph.tracing.trace import trace

X = np.array([0.5, -1.0, 2.0])
GENERATOR = np.random.default_rng(0)


@bl.pytree
@dataclass(frozen=True)
class Layer:
    weight: Any
    bias: Any
    activation: str = field(default="tanh", metadata={"static": True})


Pair = namedtuple("Pair", "left right")


class Counted:
    """A function that counts how often it is traced."""

    def __init__(self, f: Any) -> None:
        self.f = f
        self.tally = SimpleNamespace(traces=0)  # a number here would be part of what the function reads

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self.tally.traces += 1
        return self.f(*args, **kwargs)

    @property
    def count(self) -> int:
        """How often."""
        return self.tally.traces


# Static and traced arguments, and when a kernel is made anew.


def test_the_second_call_traces_nothing() -> None:
    f = Counted(lambda x: x * 2)
    g = bl.jit(f)
    assert [g(X)[0], g(X + 1)[0], g(np.zeros(3))[0]] == [1.0, 3.0, 0.0]
    assert f.count == 1
    assert g(np.zeros(4)).shape == (4,)
    assert g(X.astype(np.float32)).dtype == np.float32
    assert f.count == 3
    assert bl.jit(f) is g


def test_a_gradient_in_a_loop_is_compiled_once() -> None:
    f = Counted(lambda x: np.sum(x * x))
    for k in range(5):
        np.testing.assert_array_equal(bl.grad(f)(X + k), 2 * (X + k))
    assert f.count == 1


def test_static_arguments_are_part_of_the_key() -> None:
    f = Counted(lambda x, n: x * n if n is not None else x)
    g = bl.jit(f)
    assert [g(X, 2)[0], g(X, 3)[0], g(X, 2)[0], g(X, None)[0]] == [1.0, 1.5, 1.0, 0.5]
    assert f.count == 3


def test_equal_static_arguments_of_different_types_differ() -> None:
    g = bl.jit(lambda x, n: (x, isinstance(n, bool), n == "1"))
    assert [bool(g(X, 1)[1]), bool(g(X, True)[1]), bool(g(X, 1)[1])] == [False, True, False]
    assert [bool(g(X, "1")[2]), bool(g(X, 1)[2])] == [True, False]


def test_python_floats_are_traced_and_integers_are_not() -> None:
    graph = trace(lambda x, a, n, flag, name: x * a if flag else x * n, (X, 2.0, 3, True, "s")).graph
    assert [(x.params, x.shape, x.weak) for x in graph.inputs] == [("x", (3,), False), ("a", (), True)]


def test_keyword_arguments() -> None:
    f = Counted(lambda x, *, scale=1.0, power=2: np.sum(scale * x**power))
    g = bl.jit(f)
    assert g(X, scale=2.0) == 2 * np.sum(X**2)
    assert g(X, scale=3.0, power=3) == pytest.approx(3 * np.sum(X**3))
    assert g(X) == np.sum(X**2)
    assert f.count == 3
    assert bl.grad(f)(X, scale=2.0).tolist() == (4 * X).tolist()


def test_methods_and_callables() -> None:
    class Model:
        def loss(self, x: Any) -> Any:
            return np.sum(x**2)

    model = Model()
    assert bl.grad(model.loss)(X).tolist() == (2 * X).tolist()
    assert trace(model.loss, (X,)).graph.inputs[0].params == "x"
    assert bl.grad(Counted(np.sum))(X).tolist() == [1, 1, 1]


# Trees.


def predict(layer: Layer, x: Any) -> Any:
    z = layer.weight @ x + layer.bias
    return np.tanh(z) if layer.activation == "tanh" else z


def test_a_registered_dataclass_is_a_tree() -> None:
    layer = Layer(np.ones((2, 3)), np.zeros(2))
    gradient = bl.grad(lambda p, x: np.sum(predict(p, x)))(layer, X)
    assert isinstance(gradient, Layer)
    assert gradient.activation == "tanh"
    np.testing.assert_allclose(gradient.bias, 1 - np.tanh(layer.weight @ X) ** 2)
    linear = bl.grad(lambda p, x: np.sum(predict(p, x)))(Layer(layer.weight, layer.bias, "none"), X)
    np.testing.assert_array_equal(linear.bias, [1, 1])


def test_only_dataclasses_can_be_registered() -> None:
    with pytest.raises(TypeError, match="dataclass"):
        bl.pytree(int)


def test_gradients_have_the_structure_of_their_argument() -> None:
    def f(p: Any) -> Any:
        return np.sum(p["a"][0]) * p["b"]["c"] + np.sum(p["a"][1][0] ** 2) + p["d"].left * p["d"].right[0]

    p = {"a": [X, (M := np.ones((2, 2)),)], "b": {"c": 2.0, "none": None}, "d": Pair(3.0, (np.float64(4),))}
    g = bl.grad(f)(p)
    assert list(g) == list(p)
    assert isinstance(g["a"], list)
    assert isinstance(g["a"][1], tuple)
    assert isinstance(g["d"], Pair)
    assert g["b"]["none"] is None
    np.testing.assert_array_equal(g["a"][0], 2 * np.ones(3))
    np.testing.assert_array_equal(g["a"][1][0], 2 * M)
    assert g["b"]["c"] == np.sum(X)
    assert (g["d"].left, g["d"].right[0]) == (4, 3)


def test_results_may_be_trees_of_anything_traced_or_not() -> None:
    out = bl.jit(lambda x: {"sum": np.sum(x), "known": [1, 2.5, np.arange(2)], "itself": x, "nothing": None})(X)
    assert out["sum"] == np.sum(X)
    assert [out["known"][0], out["known"][1], *out["known"][2]] == [1, 2.5, 0, 1]
    np.testing.assert_array_equal(out["itself"], X)
    assert out["nothing"] is None


def test_arrays_of_every_form() -> None:
    wide = np.arange(12.0).reshape(3, 4)
    frozen = X.copy()
    frozen.flags.writeable = False
    g = bl.jit(lambda x: x * 2)
    for a in (
        wide[:, ::2],
        wide.T,
        wide[::-1],
        np.zeros((0, 3)),
        np.array(2.0),
        frozen,
        X.astype(">f8"),
        np.asfortranarray(wide),
    ):
        np.testing.assert_array_equal(g(a), a * 2)


# Known arrays indexed by traced integers.


def test_asarray_is_indexed_by_traced_integers() -> None:
    table = bl.asarray(np.arange(12.0).reshape(3, 4))
    assert table[1, 2] == 6
    i, rows = np.array(1), np.array([2, -1])
    f = bl.jit(
        lambda i, rows: (table[i], table[i, 2], table[rows], table[rows, 1:3], table[1:, i], table[[0, 1], rows])
    )
    for got, wanted in zip(
        f(i, rows),
        (table[1], table[1, 2], table[rows], table[rows, 1:3], table[1:, 1], table[[0, 1], rows]),
        strict=True,
    ):
        np.testing.assert_array_equal(got, np.asarray(wanted))
    assert bl.grad(lambda x, i: np.sum(x * table[i]))(np.ones(4), i).tolist() == [4, 5, 6, 7]


# Where nodes come from.


def lines_of(graph: Graph) -> set[tuple[str, int]]:
    return {(Path(n.origin[0]).name, n.origin[1]) for n in graph.nodes if n.origin and n.op != "input"}


def test_every_node_names_the_users_line_in_the_backward_pass_too() -> None:
    def f(x: Any) -> Any:
        y = np.tanh(x)
        with scope("head"), scope("norm"):
            z = y / np.linalg.norm(y)
        return np.sum(z * X)

    first = f.__code__.co_firstlineno
    graph = bl.compile(f, X, gear="replay").gradient_graph
    places = {
        (Path(n.origin[0]).name, n.origin[1] - first)
        for n in graph.nodes
        if n.origin and n.op not in ("input", "constant")
    }
    assert places == {("test_trace.py", 1), ("test_trace.py", 3), ("test_trace.py", 4)}
    by_line = {
        n.scope for n in graph.nodes if n.origin and n.origin[1] == first + 3 and n.op not in ("input", "constant")
    }
    assert by_line == {"head/norm"}
    listing = str(graph)
    assert listing.count(f"test_trace.py:{first + 1}") >= 2  # tanh and its derivative
    assert "head/norm" in listing


@pytest.mark.parametrize(
    "f",
    [
        bl.grad(lambda x: 2.0),
        lambda x: bl.vjp(lambda a, b: np.sum(a), x, x)[1](1.0),
    ],
    ids=["grad", "vjp"],
)
def test_zeros_that_a_sweep_makes_up_name_no_line_of_a_library(f: Any) -> None:
    files = {n.origin[0] for n in bl.compile(f, X, gear="replay").graph.nodes if n.origin}
    assert files <= {__file__}


def test_a_listing_has_a_line_per_node() -> None:
    graph = trace(lambda x, i: np.sum(np.exp(x)[i] * 2.5), (X, np.array([0, 1]))).graph
    lines = str(graph).splitlines()
    assert len(lines) == len(graph) + 1
    for k, (line, n) in enumerate(zip(lines, graph.nodes, strict=False)):
        assert line.startswith(f"%{k} ")
        assert n.op in line
        assert f"{n.dtype.name}{list(n.shape)}" in line
        assert all(f"%{graph.index[x]}" in line for x in n.inputs)
    assert "test_trace.py" in lines[2]
    assert lines[-1] == f"return %{len(graph) - 1}"


def test_scopes_and_traces_belong_to_their_thread() -> None:
    barrier = threading.Barrier(2)
    found: dict[str, Any] = {}

    def work(name: str) -> None:
        def f(x: Any) -> Any:
            with scope(name):
                barrier.wait()
                y = x * 2
                barrier.wait()
            return y

        found[name] = trace(f, (X,)).graph.outputs[0].scope

    threads = [threading.Thread(target=work, args=(name,)) for name in ("one", "two")]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert found == {"one": "one", "two": "two"}


def test_a_scope_ends_with_an_error() -> None:
    with pytest.raises(ZeroDivisionError), scope("inner"):
        raise ZeroDivisionError
    assert trace(lambda x: x * 2, (X,)).graph.outputs[0].scope == ""


# Leaks.


def test_value_of_an_earlier_trace_raises() -> None:
    kept: list[Any] = []
    bl.jit(lambda x: kept.append(x) or x * 2)(X)
    with pytest.raises(TraceError, match=r"kept from an earlier trace.*Return it"):
        bl.jit(lambda y: y + kept[0])(X)


def test_values_of_the_surrounding_trace_are_free_to_use() -> None:
    f = bl.grad(lambda x: np.sum(x * bl.grad(lambda y: np.sum(x * y**2))(x)))
    np.testing.assert_allclose(f(X), 6 * X**2)


# Random numbers of NumPy's inside of a trace.


def test_frozen_random_numbers_are_warned_of() -> None:
    local = np.random.default_rng(1)
    drawing = (
        lambda x: x + np.random.normal(size=3),  # noqa: NPY002 - what users write
        lambda x: x + GENERATOR.normal(size=3),
        lambda x: x + local.normal(size=3),
        lambda x: x + np.random.default_rng(0).normal(size=3),
    )
    for f in drawing:
        with pytest.warns(UserWarning, match=r"draws from np.random .*bl.random.normal\(key, shape\)"):
            trace(f, (X,))
    trace(lambda x: x + (GENERATOR is local), (X,))  # reaches one, draws nothing
    bl.jit(lambda x, k: x + bl.random.normal(k, 3))(X, bl.random.key(0))


def test_the_first_draw_of_a_process_is_warned_of() -> None:
    """NumPy's generators cost 15 ms to import: burlab leaves that to who draws."""
    code = """
import sys, warnings, numpy as np, burlab as bl
warnings.simplefilter("error")
bl.grad(lambda x: x * x)(1.0)
assert "numpy.random" not in sys.modules
def first(x): return x * np.random.{call}
try: bl.grad(first)(1.0)
except UserWarning as warning: print(warning)
"""
    for call, said in (("rand()", "first draws from np.random"), ("__name__.count('r')", "")):
        command = [sys.executable, "-c", code.format(call=call)]
        done = subprocess.run(command, text=True, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith(said) if said else not done.stdout, call


def test_frozen_random_numbers_are_warned_of_once_where_they_are_drawn() -> None:
    def drawing(x: Any) -> Any:
        return np.sum(x * GENERATOR.normal(size=x.shape))

    with pytest.warns(UserWarning, match="^drawing draws") as caught:  # two traces, one in the other
        bl.grad(drawing)(X)
    (only,) = caught
    code = drawing.__code__
    assert (only.filename, only.lineno) == (code.co_filename, code.co_firstlineno)


# Size.


def test_twenty_thousand_nodes() -> None:
    def chain(x: Any) -> Any:
        for _ in range(4_200):
            x = np.sin(x) * 1.5
        return x

    graph = trace(bl.grad(chain), (1.0,)).graph
    assert len(graph) > 20_000
    small = simplify(graph)
    assert len(small) > 20_000
    verify(small)
    assert len(str(small).splitlines()) == len(small) + 1
    again = Graph.from_json(small.to_json())
    assert len(again) == len(small)
    assert again.key == small.key
    assert small.to_dot().count("->") == sum(len(n.inputs) for n in small.nodes)


def test_a_node_deep_in_a_graph_can_be_forgotten() -> None:
    """A chain is freed node by node: the interpreter's own recursion limit for deallocation holds."""
    x = Node("input", (), "x", (), np.dtype(float))
    y = x
    for _ in range(300_000):
        y = Node("neg", (y,), None, (), y.dtype)
    del y
