"""Structural hashes of nodes: by operation, parameters and inputs."""

import hashlib
from collections.abc import Mapping
from typing import Any, cast

import numpy as np

from burlab.typing import Params

from .graph import Call, Graph, Result
from .node import Node


def structural_keys(graph: Graph, inputs: Mapping[Node, str] | None = None) -> dict[Node, str]:
    """A hash for each node, equal for nodes that compute the same from inputs of the same name, in any two graphs.

    Lines, scopes and the order of nodes do not enter. inputs: identifiers of inputs, in place of their names.

    >>> import burlab as bl
    >>> first, second = (bl.compile(f, 0.5).graph for f in (lambda x: x * x + 1, lambda x: 2 - x * x))
    >>> len(set(structural_keys(first).values()) & set(structural_keys(second).values()))  # x and x * x
    2
    """
    keys: dict[Node, str] = {}
    for n in graph.nodes:
        params: Any = (inputs[n] if inputs else str(n.params)) if n.is_input else _described(n.params)
        text = repr((n.op, params, n.shape, n.dtype.name, [keys[x] for x in n.inputs]))
        keys[n] = hashlib.sha256(text.encode()).hexdigest()[:24]
    return keys


def _described(params: Params) -> Any:
    """Parameters as text that does not depend on addresses in memory."""
    if isinstance(params, np.ndarray):
        array: np.ndarray[Any, Any] = cast("Any", params)
        return hashlib.sha256(array.tobytes()).hexdigest()
    if isinstance(params, Call):
        return params.name, params.graph.key
    if isinstance(params, Result):
        return [g.key for g in params.region.graphs], params.region.iterations, params.item, params.batch
    return params
