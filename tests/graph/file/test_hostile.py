"""Graphs from files that are out to run code: nothing of a name, a path or a label is ever a statement."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.compiler.executable import build
from burlab.errors import GraphError
from burlab.graph import Graph, Node
from burlab.graph.scalar import cpp_type, parsed
from burlab.graph.tracing.trace import trace

RUN = '{ std::fclose(std::fopen("sentinel", "w")); }'
LINE_ENDS = ["\n", "\r", "\r\n", "\u2028", "\u2029", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x85", "\\\n", "??/\n"]
TEXT = trace(lambda x: np.sum(np.tanh(x) * np.cumsum(x)) + x[0], (np.ones(3),)).graph.to_json()


@pytest.fixture
def sentinel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file that appears where such a statement is run."""
    monkeypatch.chdir(tmp_path)
    return tmp_path / "sentinel"


@pytest.mark.parametrize("end", LINE_ENDS, ids=repr)
def test_a_file_name_is_never_a_statement(end: str, sentinel: Path) -> None:
    data = json.loads(TEXT)
    for row in data["nodes"]:
        row["origin"] = [f"x{end}{RUN}{end}#define z", 7]
    graph = Graph.from_json(json.dumps(data))
    executable = build(graph)
    executable(np.ones(3))
    assert RUN not in executable.source  # its quotes would be plain
    assert not sentinel.exists()


REFUSED = r"is not an operation|expected a derivative"
OPERATIONS = [
    f"tanh'0(){{ return 0; }} {RUN}", "tanh'0, 0>::x(){}", "tanh'9", "tanh'", "tanh''0", "tanh'1", "tanh'-1", "tanh'0 ",
    "tanh'0\n", "Tanh", "tanh'\u0660", "TANH", "tanh;", "less'0", "where'0", "add'2",
    "tanh" + "'0" * 9, "", "'0", "__class__",
]  # fmt: skip


@pytest.mark.parametrize("op", OPERATIONS, ids=repr)
def test_an_operation_is_one_of_the_table(op: str, sentinel: Path) -> None:
    for name in (parsed, cpp_type):
        with pytest.raises(GraphError, match=REFUSED):
            name(op)
    x = Node("input", (), "x", (3,), np.dtype(float))
    with pytest.raises(GraphError, match=REFUSED):
        build(Graph((x,), (Node(op, (x, x), None, (3,), np.dtype(float)),)))  # one that no door has seen
    data = json.loads(TEXT)
    (row,) = (row for row in data["nodes"] if row["op"] == "tanh")
    row["op"] = op
    with pytest.raises(GraphError):
        Graph.from_json(json.dumps(data))
    assert not sentinel.exists()


def test_names_of_arguments_scopes_and_functions_are_not_code(sentinel: Path) -> None:
    nasty = f"a\n{RUN}\n"

    def f(p: Any) -> Any:
        with bl.scope(nasty):
            return np.sum(np.tanh(p[nasty]) * p[nasty])

    f.__name__ = nasty
    k = bl.compile(f, {nasty: np.ones(3)})
    k.value_and_grad({nasty: np.ones(3)})
    k.profile({nasty: np.ones(3)})
    for text in (k.source, k.to_cpp()):
        assert "sentinel" not in text
    assert not sentinel.exists()
