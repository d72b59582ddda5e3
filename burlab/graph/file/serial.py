"""A graph as versioned JSON, and the hash of what it computes. `reading.py` goes the other way.

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

from burlab.graph.graph import Call, Graph, Region, Result
from burlab.graph.node import Node
from burlab.typing import Params

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
    params = None if n.is_input and not places else n.params
    row: dict[str, Any] = {
        "op": n.op,
        "inputs": [index[x] for x in n.inputs],
        "params": _result(index[n], params, places, regions) if isinstance(params, Result) else _params(params, places),
        "shape": n.shape,
        "dtype": n.dtype.name,
        "weak": n.weak,
    }
    return row | {"origin": n.origin, "scope": n.scope} if places else row


def _params(params: Params, places: bool) -> Any:
    if isinstance(params, np.ndarray):
        array = cast("np.ndarray[Any, Any]", params)
        little = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
        return {"array": base64.b64encode(little.tobytes()).decode(), "shape": array.shape, "dtype": array.dtype.name}
    if isinstance(params, Call):
        backward = _graph(params.backward, places) if isinstance(params.backward, Graph) else None
        return {"call": params.name if places else "", "graph": _graph(params.graph, places), "backward": backward}
    return params


def _result(k: int, result: Result, places: bool, regions: dict[Region, int]) -> Any:
    region, item, batch = result
    first = regions.setdefault(region, k)
    graphs = [_graph(g, places) for g in region.graphs] if first == k else first
    row = {"region": graphs, "item": item, "batch": batch}
    return row if region.iterations is None else row | {"turns": region.iterations}
