"""Control flow and questions in graphs from files: what is altered is refused before a kernel trusts it."""

import copy
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.errors import GraphError
from burlab.graph import Graph, Node
from burlab.graph.file.reading import from_json
from burlab.graph.query import query
from burlab.graph.tracing.trace import trace


def program(x: Any, asker: Any) -> Any:
    def turn(s: Any) -> Any:
        k, y = s
        return k + 1, bl.cond(k > 1, lambda: y + x, lambda: y * query("grad", asker, y, (3,)))

    return bl.while_loop(lambda s: s[0] < 3, turn, (0, x))


TEXT = trace(program, (np.ones(3), np.int64(0))).graph.to_json()
Damage = Callable[[dict[str, Any], dict[str, Any], dict[str, Any], dict[str, Any]], Any]


def node(graph: dict[str, Any], op: str) -> dict[str, Any]:
    return next(n for n in graph["nodes"] if n["op"] == op)


def altered(damage: Damage) -> str:
    """damage(the graph, its while node, the cond node in the body, the ask node in its second side)."""
    graph = json.loads(TEXT)
    loop = node(graph, "while")
    choice = node(loop["params"]["region"][1], "cond")
    question = node(choice["params"]["region"][1], "ask")
    damage(graph, loop, choice, question)
    return json.dumps(graph)


DAMAGES: dict[str, Damage] = {
    "no region": lambda g, w, c, a: w.update(params=None),
    "one sub-graph": lambda g, w, c, a: w["params"]["region"].pop(),
    "an unknown result": lambda g, w, c, a: w["params"].update(item=2),
    "a negative result": lambda g, w, c, a: w["params"].update(item=-1),
    "a result by a float": lambda g, w, c, a: w["params"].update(item=0.0),
    "another result": lambda g, w, c, a: w["params"].update(item=1),
    "a batch that is not there": lambda g, w, c, a: w["params"].update(batch=[4]),
    "a later region": lambda g, w, c, a: g["nodes"][-1]["params"].update(region=len(g["nodes"])),
    "a region of no control flow": lambda g, w, c, a: g["nodes"][-1]["params"].update(region=0),
    "fewer inputs": lambda g, w, c, a: w["inputs"].pop(),
    "other inputs": lambda g, w, c, a: w.update(inputs=w["inputs"][1:] + w["inputs"][:1]),
    "another condition": lambda g, w, c, a: w["params"]["region"].reverse(),
    "a condition of two values": lambda g, w, c, a: w["params"]["region"][0]["outputs"].append(0),
    "a body of fewer leaves": lambda g, w, c, a: w["params"]["region"][1]["outputs"].pop(),
    "leaves that change places": lambda g, w, c, a: w["params"]["region"][1]["outputs"].reverse(),
    "sides of other results": lambda g, w, c, a: c["params"]["region"][0]["outputs"].append(0),
    "no choice": lambda g, w, c, a: c.update(inputs=[]),
    "a choice that is no bool": lambda g, w, c, a: c.update(inputs=c["inputs"][1:] + c["inputs"][:1]),
    "an unknown question": lambda g, w, c, a: a.update(params="everything"),
    "nobody to ask": lambda g, w, c, a: a.update(inputs=a["inputs"][::-1]),
    "an answer of another dtype": lambda g, w, c, a: a.update(dtype="float32"),
    "a broken sub-graph": lambda g, w, c, a: c["params"]["region"][1].update(inputs=[0, 0]),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_damaged_control_flow_raises_before_a_kernel_runs(name: str) -> None:
    with pytest.raises(GraphError, match=r"damaged|malformed|none"):
        from_json(altered(DAMAGES[name]), answered=True)


def test_undamaged_control_flow_is_read() -> None:
    """So the cases above fail for what they damage."""
    assert from_json(altered(lambda *_: None), answered=True).key == from_json(TEXT, answered=True).key


def test_query_addresses_in_a_file_raise() -> None:
    """Kernels call what lies at such an address: one from a file, or an integer of the caller's, would be a crash."""
    with pytest.raises(GraphError, match="its oracle must be an input"):
        Graph.from_json(TEXT)
    elsewhere = json.loads(TEXT)
    elsewhere["inputs"].reverse()
    with pytest.raises(GraphError, match="its oracle must be an input"):
        from_json(json.dumps(elsewhere), answered=True)


def test_random_changes_of_a_file_raise_or_verify() -> None:
    """Any one number, name or list changed: an error of ours, or a graph that is well-formed."""
    rng = np.random.default_rng(0)
    for _ in range(400):
        graph = json.loads(TEXT)
        alter(graph, rng)
        try:
            from_json(json.dumps(graph), answered=True)
        except GraphError:
            continue


def alter(value: Any, rng: np.random.Generator) -> None:
    """Change something somewhere in nested lists and dicts."""
    keys = list(value) if isinstance(value, dict) else list(range(len(value)))
    if not keys:
        return
    key = keys[rng.integers(len(keys))]
    if isinstance(value[key], (dict, list)) and value[key] and rng.random() < 0.85:
        alter(value[key], rng)
    else:
        value[key] = copy.deepcopy([None, -1, 0, 1, 2, 7, "grad", [], [1], {}, True, 0.5][rng.integers(12)])


def test_an_equal_computation_has_an_equal_key() -> None:
    """Names and lines do not count; what is executed does."""

    def loop(limit: float) -> Graph:
        return trace(lambda x: bl.while_loop(lambda s: s < limit, lambda s: s * 2, x), (1.0,)).graph

    assert loop(5.0).key == loop(5.0).key != loop(6.0).key


def test_a_node_is_of_the_line_that_loops() -> None:
    graph = trace(program, (np.ones(3), np.int64(0))).graph
    (line,) = {n.origin for n in graph.outputs}
    assert line is not None
    assert line[1] == program.__code__.co_firstlineno + 5
    assert isinstance(graph.outputs[0], Node)
