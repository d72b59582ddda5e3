"""A graph from its JSON (`serial.py`): every field is checked by type and vocabulary before anything is made of it."""

import base64
import binascii
import json
from collections.abc import Sequence
from typing import Any, NoReturn, cast

import numpy as np

from burlab.errors import GraphError
from burlab.graph import parameters
from burlab.graph.graph import Call, Graph, Region, Result, ScanIterations
from burlab.graph.node import Node
from burlab.graph.operation import ROWS
from burlab.graph.origin import RecordedFile
from burlab.runtime.checks.stored import LONGEST, Check, flag, one_of, optional, record, size, text, whole
from burlab.runtime.dtypes import STORED, dtype_of

from .serial import VERSION
from .verify import DEEPEST, verify

_NESTED = 8  # lists inside of one another
_LONGEST_PLACE = 120  # characters of a message
_ORIGIN = record(text, whole(0, 1 << 31))  # a file, which may be called anything, and a line
_GRAPH = ("burlab_graph", "nodes", "inputs", "outputs")
_NODE = ("op", "inputs", "params", "shape", "dtype", "weak", "origin", "scope")


def from_json(written: str, answered: bool = False) -> Graph:
    """A graph from JSON text. Raises GraphError if the text is no graph, or of another version.

    answered: whether its last input is the address of the oracle of its queries (`query.py`).
    """
    try:
        data: Any = json.loads(written)
    except (TypeError, ValueError, RecursionError) as error:  # numbers of more than 4300 digits are no JSONDecodeError
        raise GraphError(f"expected a graph's JSON, got a text that cannot be read ({error}).") from None
    if not isinstance(data, dict) or "burlab_graph" not in data:
        raise GraphError('expected a graph\'s JSON, an object with the key "burlab_graph"; this text has none.')
    graph = _graph(data, "the graph", 0)
    verify(graph, graph.inputs[-1] if answered and graph.inputs else None)
    return graph


def _graph(data: Any, where: str, depth: int) -> Graph:
    if depth > DEEPEST:
        _damaged(where, f"graphs that lie in one another at most {DEEPEST} deep", "deeper ones")
    version = cast("dict[str, Any]", data).get("burlab_graph", VERSION) if isinstance(data, dict) else VERSION
    if version != VERSION or type(version) is not int:
        raise GraphError(
            f"this burlab reads graphs of version {VERSION}, got version {_short(version)} for {where}. "
            "Save the graph again with this burlab, or use the one that wrote it."
        )
    row = _fields(data, where, _GRAPH)
    nodes: list[Node] = []
    for k, written in enumerate(_list(row["nodes"], f"the nodes of {where}")):
        nodes.append(_node(written, f"node {k} of {where}", nodes, depth))
    inputs, outputs = (_nodes(row[key], f"the {key} of {where}", nodes) for key in ("inputs", "outputs"))
    graph = Graph(inputs, outputs)
    if len(graph.nodes) != len(nodes):
        _damaged(where, "nodes that the outputs need, and inputs that are named once", f"{len(nodes)} nodes")
    return graph


def _node(data: object, where: str, nodes: Sequence[Node], depth: int) -> Node:
    row = _fields(data, where, _NODE)
    n = Node.__new__(Node)
    n.op = _field(row["op"], where, text, "the name of an operation")
    n.row = ROWS[n.op]
    n.inputs = _nodes(row["inputs"], f"the inputs of {where}", nodes)
    n.params = _params(row["params"], where, nodes, depth)
    n.shape = _field(_tuples(row["shape"], where), where, parameters.shape, "a shape, sizes that memory can hold")
    n.dtype = dtype_of(_field(row["dtype"], where, one_of(STORED), f"one of the dtypes {', '.join(sorted(STORED))}"))
    n.weak = _field(row["weak"], where, flag, "true or false for weak")
    origin = _field(_tuples(row["origin"], where), where, optional(_ORIGIN), "a file and a line, or null")
    n.origin = origin and (RecordedFile(origin[0]), origin[1])
    n.scope = _field(row["scope"], where, text, "the name of a scope")
    return n


def _params(data: object, where: str, nodes: Sequence[Node], depth: int) -> Any:
    if not isinstance(data, dict):
        return _tuples(data, where)
    row = cast("dict[str, Any]", data)
    if "array" in row:
        return _array(_fields(row, where, ("array", "shape", "dtype")), where)
    if "region" in row:
        row = _fields({"turns": None} | row, where, ("region", "item", "batch", "turns"))
        region = _region(row["region"], row["turns"], where, nodes, depth)
        return Result(region, row["item"], _tuples(row["batch"], where))
    row = _fields(row, where, ("call", "graph", "backward"))
    backward = None if row["backward"] is None else _graph(row["backward"], f"the reverse rule of {where}", depth + 1)
    called = _graph(row["graph"], f"what is called by {where}", depth + 1)
    return Call(_field(row["call"], where, text, "the name of a function"), called, backward)


def _array(row: dict[str, Any], where: str) -> "np.ndarray[Any, Any]":
    """The numbers of a constant: of masks every byte is 0 or 1, as C++ takes for granted."""
    shape = _field(_tuples(row["shape"], where), where, parameters.shape, "the shape of an array")
    dtype = dtype_of(_field(row["dtype"], where, one_of(STORED), "the dtype of an array"))
    written = _field(row["array"], where, text, "an array in base64")
    nbytes = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    try:
        raw = base64.b64decode(written, validate=True) if len(written) == -(-nbytes // 3) * 4 else b""
    except (binascii.Error, ValueError):
        raw = b""
    if len(raw) != nbytes or (dtype.kind == "b" and raw.strip(b"\0\1")):
        _damaged(where, f"{nbytes} bytes of {dtype} in base64", f"{_short(written)} of {len(written)} characters")
    array = np.frombuffer(raw, dtype.newbyteorder("<")).astype(dtype).reshape(shape)
    array.flags.writeable = False
    return array


def _region(data: object, iterations: object, where: str, nodes: Sequence[Node], depth: int) -> Region:
    if isinstance(data, list):
        titles = (f"sub-graph {k} of {where}" for k in range(len(cast("list[Any]", data))))
        graphs = tuple(_graph(g, title, depth + 1) for g, title in zip(cast("list[Any]", data), titles, strict=True))
        kinds = record(size, size, whole(0, LONGEST), flag)
        repeats = _field(_tuples(iterations, where), where, optional(kinds), "carries, sequences, length, reverse")
        return Region(graphs, None if repeats is None else ScanIterations(*repeats))
    (first,) = _nodes([data], f"the region of {where}", nodes)
    if not isinstance(first.params, Result):
        _damaged(where, "a node that executes sub-graphs", f"node {data}")
    region = first.params.region
    if iterations is not None and region.iterations != _tuples(iterations, where):
        _damaged(where, f"the iterations of node {data}", _short(iterations))
    return region


def _nodes(data: object, where: str, nodes: Sequence[Node]) -> tuple[Node, ...]:
    found: list[Node] = []
    for k in _list(data, where):
        if type(k) is not int or not 0 <= k < len(nodes):
            _damaged(where, f"numbers of the {len(nodes)} nodes before", _short(k))
        found.append(nodes[k])
    return tuple(found)


def _tuples(data: Any, where: str, depth: int = 0) -> Any:
    """Lists as tuples."""
    if not isinstance(data, list):
        return data
    if depth > _NESTED:
        _damaged(where, f"lists that lie in one another at most {_NESTED} deep", "deeper ones")
    items: list[Any] = [_tuples(item, where, depth + 1) for item in cast("list[Any]", data)]
    return tuple(items)


def _fields(data: Any, where: str, names: Sequence[str]) -> dict[str, Any]:
    if not isinstance(data, dict):
        _damaged(where, f"an object with {', '.join(names)}", _short(data))
    row = cast("dict[str, Any]", data)
    if row.keys() != set(names):
        _damaged(where, f"an object with {', '.join(names)}", f"one with {', '.join(map(_short, row)) or 'nothing'}")
    return row


def _field(value: object, where: str, fits: Check, expected: str) -> Any:
    if not fits(value):
        _damaged(where, expected, _short(value))
    return value


def _list(data: object, where: str) -> list[Any]:
    return _field(data, where, lambda value: isinstance(value, list), "a list")


def _short(value: object) -> str:
    """Return a received value as text, no longer than a line."""
    shown = ascii(value) if isinstance(value, (str, int, float, bool, type(None))) else f"a {type(value).__name__}"
    return shown if len(shown) <= 60 else f"{shown[:57]}..."


def _damaged(where: str, expected: str, came: str) -> NoReturn:
    where = where if len(where) <= _LONGEST_PLACE else f"{where[:_LONGEST_PLACE]}..."  # of graphs in one another
    raise GraphError(f"{where} is damaged: expected {expected}, got {came}. Use another copy of the file.")
