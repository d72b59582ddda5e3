"""Graphs as JSON and DOT: round trips, versions, and files that no kernel may trust."""

import copy
import json
import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.compiler.executable import build
from burlab.errors import GraphError
from burlab.graph import Graph, scope
from burlab.graph.file.verify import verify
from burlab.graph.origin import source
from burlab.graph.rewrite.simplify import simplify
from burlab.graph.tracing.trace import trace
from tests.graph.spellings_of_arrays import ALL

X = np.array([0.5, -1.0, 2.0])


def graph_of(f: Any, *args: Any) -> Graph:
    return trace(f, args).graph


def everything(x: Any, i: Any, key: Any) -> Any:
    """A function that meets every kind of parameter."""
    with scope("head"):
        square = bl.custom_vjp(lambda x: x**2, lambda g, y, x: 2 * g * x, np.ones(3))
        y = np.sum(square(x)[::-1][i] * bl.random.uniform(bl.random.fold_in(key, 3), 2))
    z = np.einsum("a,b->ab", x, np.cumsum(x)) @ np.array([[1.0], [2.0], [-0.0]])
    return y + np.max(z) + np.argmax(x) + np.where(x > 0, x, 2.0).astype("f4").astype("f8")[0] * 2.5


EVERYTHING = graph_of(everything, X, np.array([0, 2]), bl.random.key(1))


def test_everything_survives_json() -> None:
    again = Graph.from_json(EVERYTHING.to_json())
    assert again.to_json() == EVERYTHING.to_json()
    assert str(again) == str(EVERYTHING)
    assert again.key == EVERYTHING.key
    arrays = [X, np.array([0, 2]), bl.random.key(1)]
    for a, b in zip(build(again, gear="replay")(*arrays), build(EVERYTHING, gear="replay")(*arrays), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("spelling", ALL[::7], ids=lambda s: s.name)
def test_gradients_survive_json(spelling: Any) -> None:
    graph = graph_of(bl.grad(lambda *a: np.sum(spelling.f(np, *a) * 1.0)), *spelling.args)
    for g in (graph, simplify(graph)):
        verify(g)
        assert Graph.from_json(g.to_json()).to_json() == g.to_json()


def test_constants_keep_their_bits() -> None:
    odd = np.array([0.0, -0.0, np.inf, np.nan, 5e-324])
    (y,) = Graph.from_json(graph_of(lambda x: x + odd, np.ones(5)).to_json()).outputs
    assert y.inputs[1].params.tobytes() == odd.tobytes()
    assert not y.inputs[1].params.flags.writeable


def test_the_key_is_of_what_is_computed() -> None:
    def f(x: Any) -> Any:
        return np.sin(x) * 2

    def g(other_name: Any) -> Any:
        with scope("elsewhere"):
            return np.sin(other_name) * 2

    assert graph_of(f, X).key == graph_of(g, X).key
    assert graph_of(f, X).key != graph_of(f, X[:2]).key
    assert graph_of(f, X).key != graph_of(lambda x: np.sin(x) * 3, X).key
    assert graph_of(lambda x: x * 0.0, X).key != graph_of(lambda x: x * -0.0, X).key


@pytest.mark.parametrize("text", ["", "{", "[]", "3", "null", '{"nodes": []}', '"burlab_graph"'])
def test_non_graph_json_raises(text: str) -> None:
    with pytest.raises(GraphError, match="expected a graph's JSON"):
        Graph.from_json(text)


@pytest.mark.parametrize("version", [0, 2, "1", None])
def test_another_version_is_refused(version: Any) -> None:
    data = json.loads(EVERYTHING.to_json()) | {"burlab_graph": version}
    with pytest.raises(GraphError, match=f"version 1, got version {version!r}"):
        Graph.from_json(json.dumps(data))


def rows(op: str) -> list[int]:
    return [k for k, n in enumerate(EVERYTHING.nodes) if n.op == op]


def change(of: str, **values: Any) -> Any:
    """EVERYTHING with the first node of an operation changed."""
    data = json.loads(EVERYTHING.to_json())
    data["nodes"][rows(of)[0]] |= values
    return data


def without(key: str) -> Any:
    data = json.loads(EVERYTHING.to_json())
    del data["nodes"][5][key]
    return data


DAMAGED = {
    "no nodes": {"burlab_graph": 1, "inputs": [], "outputs": []},
    "no outputs": {"burlab_graph": 1, "nodes": [], "inputs": []},
    **{f"no {key}": without(key) for key in ("op", "inputs", "params", "shape", "dtype", "weak", "origin", "scope")},
    "unknown operation": change("add", op="added"),
    "unknown partial": change("add", op="nothing'0"),
    "later node": change("add", inputs=[10_000, 0]),
    "itself": change("add", inputs=[rows("add")[0]] * 2),
    "negative node": change("add", inputs=[-1, 0]),
    "a node by a float": change("add", inputs=[0.0, 1.0]),
    "too few inputs": change("add", inputs=[0]),
    "other shape": change("add", shape=[7]),
    "negative size": change("input", shape=[-3]),
    "fractional size": change("input", shape=[2.5]),
    "text as a size": change("input", shape=["3"]),
    "other dtype": change("add", dtype="float32"),
    "unknown dtype": change("add", dtype="float8"),
    "complex": change("input", dtype="complex128"),
    "slice outside": change("slice", params=[[5], [-1], [3]]),
    "slice backwards": change("slice", params=[[0], [-1], [3]]),
    "slice without steps": change("slice", params=[[0], [0], [3]]),
    "slice of another rank": change("slice", params=[[0, 0], [1, 1], [3, 3]]),
    "a float parameter": change("slice", params=[[2.0], [-1.0], [3.0]]),
    "reshape": change("reshape", params=[4], shape=[4]),
    "gather of floats": change("gather", inputs=[0, 0]),
    "gather batch": change("gather", params=1),
    "sum axes": change("sum", params=[3]),
    "sum axis twice": change("sum", params=[0, 0]),
    "cumsum axis": change("cumsum", params=[1, False]),
    "contract spec": change("contract", params="ab,cd->ad"),
    "contract lonely": change("contract", params="a,b->a"),
    "contract without arrow": change("contract", params="ab"),
    "max over nothing": change("reduce_max", params=[4]),
    "argmax axis": change("argmax", params=5),
    "argmax dtype": change("argmax", dtype="int32"),
    "uniform shape": change("uniform", params=[[3], "float64"]),
    "uniform dtype": change("uniform", params=[[2], "float32"]),
    "key": change("fold_in", inputs=[1, 1]),
    "call of nothing": change("call", params=None),
    "call inside": change("call", params={"call": "f", "graph": {}, "backward": None}),
    "array too short": change("constant", params={"array": "AAAA", "shape": [3], "dtype": "float64"}),
    "array of another shape": change("constant", params={"array": "", "shape": [0], "dtype": "float64"}),
    "array not base64": change("constant", params={"array": "?", "shape": [3], "dtype": "float64"}),
    "constant without array": change("constant", params=None),
    "input with inputs": change("add", op="input", params="x"),
    "origin": change("add", origin=["file"]),
    "outputs": json.loads(EVERYTHING.to_json()) | {"outputs": [10_000]},
    "inputs": json.loads(EVERYTHING.to_json()) | {"inputs": [0, 0]},
    "inputs that are none": json.loads(EVERYTHING.to_json()) | {"inputs": [rows("add")[0]]},
    "nodes of another kind": json.loads(EVERYTHING.to_json()) | {"nodes": [1, 2]},
}  # fmt: skip


@pytest.mark.parametrize("name", DAMAGED)
def test_damaged_graph_raises_before_a_kernel_runs(name: str) -> None:
    with pytest.raises(GraphError, match=r"damaged|malformed|linear operation needs"):
        Graph.from_json(json.dumps(DAMAGED[name]))


def test_undamaged_graph_is_read() -> None:
    """So the cases above fail for what they damage."""
    Graph.from_json(json.dumps(copy.deepcopy(change("add"))))


def test_dot_has_every_node_and_edge() -> None:
    dot = EVERYTHING.to_dot()
    assert dot.startswith("digraph")
    assert dot.endswith("}")
    assert len(re.findall(r"^  n\d+ \[", dot, re.MULTILINE)) == len(EVERYTHING)
    edges = [tuple(map(int, e)) for e in re.findall(r"n(\d+) -> n(\d+);", dot)]
    assert sorted(edges) == sorted((EVERYTHING.index[x], k) for n, k in EVERYTHING.index.items() for x in n.inputs)
    assert dot.count("peripheries=2") == len(set(EVERYTHING.outputs))
    assert dot.count("shape=box") == sum(n.op in ("input", "constant") for n in EVERYTHING.nodes)


def test_dot_quotes_names() -> None:
    def f(**kwargs: Any) -> Any:
        return kwargs['a"b\\'] * 2

    dot = trace(f, (), {'a"b\\': 1.0}).graph.to_dot()
    assert r'label="input a\"b\\\nfloat64[]"' in dot


@pytest.mark.parametrize("kind", ["file", "pipe", "device"])
def test_origins_of_loaded_graphs_are_text_and_never_opened(kind: str, tmp_path: Path):
    """A graph may come from anywhere, and name any file as the one of its lines: the page must not show it."""
    place = tmp_path / "secret"
    if kind == "file":
        place.write_text("the secret of this machine\n")
    elif kind == "pipe":
        os.mkfifo(place)
    else:
        place = Path("/dev/zero")
    data = json.loads(graph_of(lambda x: np.sum(np.sin(x) * x), np.ones(3)).to_json())
    for row in data["nodes"]:
        row["origin"] = [str(place), 1]
    loaded = Graph.from_json(json.dumps(data))
    assert json.loads(loaded.to_json()) == data
    for graph in (loaded, Graph.from_json(loaded.to_json())):
        assert all(source(n.origin) == "" for n in graph.nodes if n.origin)
        bl.export_html(bl.GraphView(graph), tmp_path / "page.html")
        page = (tmp_path / "page.html").read_text()
        assert place.name in page
        assert "the secret of this machine" not in page


def test_the_line_of_the_users_own_code_is_shown():
    (n,) = graph_of(lambda x: np.sin(x), np.ones(3)).outputs  # noqa: PLW0108 - the line that is looked for
    assert n.origin is not None
    assert "the line that is looked for" in source(n.origin)
