"""A graph as versioned JSON and back, and the hash of what it computes.

Version 1: {"burlab_graph": 1, "nodes": [{"op", "inputs", "params", "shape", "dtype", "weak", "origin", "scope"}, ...],
"inputs": [...], "outputs": [...]}. Nodes refer to each other by position. Arrays are base64 of little-endian bytes;
tuples are lists; the sub-graphs of a `call`, and of control flow, are graphs in its params. Of control flow with
several results the first carries the sub-graphs, and the others name it.
"""

import base64
import hashlib
import json
from typing import Any, cast

import numpy as np

from burlab.errors import GraphError

from .graph import Call, Graph, Region, Result, Turns
from .node import Node
from .origin import Origin
from .verify import verify

VERSION = 1


def to_json(graph: Graph) -> str:
    """The graph as JSON text."""
    return json.dumps(_graph(graph, places=True))


def digest(graph: Graph) -> str:
    """A hash that equal computations share: names, lines and scopes do not enter."""
    return hashlib.sha256(json.dumps(_graph(graph, places=False)).encode()).hexdigest()


def _graph(graph: Graph, places: bool) -> dict[str, Any]:
    index = graph.index
    regions: dict[Region, int] = {}
    return {
        "burlab_graph": VERSION,
        "nodes": [_node(n, index, places, regions) for n in graph.nodes],
        "inputs": [index[x] for x in graph.inputs],
        "outputs": [index[y] for y in graph.outputs],
    }


def _node(n: Node, index: dict[Node, int], places: bool, regions: dict[Region, int]) -> dict[str, Any]:
    params = None if n.op == "input" and not places else n.params
    row: dict[str, Any] = {
        "op": n.op,
        "inputs": [index[x] for x in n.inputs],
        "params": _result(index[n], params, places, regions) if isinstance(params, Result) else _params(params, places),
        "shape": n.shape,
        "dtype": n.dtype.name,
        "weak": n.weak,
    }
    return row | {"origin": n.origin, "scope": n.scope} if places else row


def _params(params: Any, places: bool) -> Any:
    if isinstance(params, np.ndarray):
        array = cast("np.ndarray[Any, Any]", params)
        little = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
        return {"array": base64.b64encode(little.tobytes()).decode(), "shape": array.shape, "dtype": array.dtype.name}
    if isinstance(params, Call):
        backward = None if params.backward is None else _graph(params.backward, places)
        return {"call": params.name if places else "", "graph": _graph(params.graph, places), "backward": backward}
    return params


def _result(k: int, result: Result, places: bool, regions: dict[Region, int]) -> Any:
    region, item, batch = result
    first = regions.setdefault(region, k)
    graphs = [_graph(g, places) for g in region.graphs] if first == k else first
    row = {"region": graphs, "item": item, "batch": batch}
    return row if region.turns is None else row | {"turns": region.turns}


def from_json(text: str) -> Graph:
    """A graph from JSON text. Raises GraphError where the text is not one, or of another version."""
    try:
        data: Any = json.loads(text)
    except json.JSONDecodeError as error:
        raise GraphError(f"a graph's JSON was expected, got a text that is none ({error}).") from None
    if not isinstance(data, dict) or "burlab_graph" not in data:
        raise GraphError('a graph\'s JSON was expected, an object with the key "burlab_graph"; this text has none.')
    if data["burlab_graph"] != VERSION:
        raise GraphError(
            f"this burlab reads graphs of version {VERSION}, got version {data['burlab_graph']}. "
            "Save the graph again with this burlab, or use the one that wrote it."
        )
    try:
        graph = _read(cast("dict[str, Any]", data))
        verify(graph)
    except (AttributeError, KeyError, IndexError, TypeError, ValueError) as error:
        raise GraphError(f"the graph's JSON is damaged: {type(error).__name__} {error}.") from None
    return graph


def _read(data: dict[str, Any]) -> Graph:
    nodes: list[Node] = []
    for row in cast("list[dict[str, Any]]", data["nodes"]):
        nodes.append(_read_node(row, nodes))
    inputs, outputs = (tuple(nodes[k] for k in _positions(data[key], nodes)) for key in ("inputs", "outputs"))
    return Graph(inputs, outputs)


def _read_node(row: dict[str, Any], nodes: list[Node]) -> Node:
    n = Node.__new__(Node)
    n.op, n.inputs = str(row["op"]), tuple(nodes[k] for k in _positions(row["inputs"], nodes))
    n.params = _read_params(row["params"], nodes)
    n.shape, n.dtype, n.weak = tuple(row["shape"]), np.dtype(row["dtype"]), bool(row["weak"])
    n.origin, n.scope = None if row["origin"] is None else _origin(*row["origin"]), str(row["scope"])
    return n


def _positions(indices: Any, nodes: list[Node]) -> list[int]:
    for k in indices:
        if type(k) is not int or not 0 <= k < len(nodes):
            raise ValueError(f"node {len(nodes)} uses {k!r}, which is not a node before it")
    return indices


def _origin(file: Any, line: Any) -> Origin:
    return str(file), int(line)


def _read_params(params: Any, nodes: list[Node]) -> Any:
    if isinstance(params, list):
        return tuple(_read_params(p, nodes) for p in cast("list[Any]", params))
    if not isinstance(params, dict):
        if isinstance(params, float):
            raise TypeError(f"a parameter is {params}, not an integer")
        return params
    row = cast("dict[str, Any]", params)
    if "array" in row:
        dtype = np.dtype(row["dtype"])
        array = np.frombuffer(base64.b64decode(row["array"]), dtype.newbyteorder("<")).astype(dtype)
        array = array.reshape(row["shape"])
        array.flags.writeable = False
        return array
    if "region" in row:
        return Result(_read_region(row["region"], row.get("turns"), nodes), row["item"], tuple(row["batch"]))
    return Call(row["call"], _read(row["graph"]), None if row["backward"] is None else _read(row["backward"]))


def _read_region(graphs: Any, turns: Any, nodes: list[Node]) -> Region:
    if isinstance(graphs, list):
        return Region(tuple(_read(g) for g in cast("list[Any]", graphs)), None if turns is None else Turns(*turns))
    (first,) = _positions([graphs], nodes)
    region = nodes[first].params.region
    if not isinstance(region, Region):
        raise TypeError(f"node {graphs} executes no sub-graphs")
    return region
