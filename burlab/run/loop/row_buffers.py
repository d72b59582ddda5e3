"""Buffers of a run of which a step writes some rows, as the table of SAGA: only these are copied from step to step."""

import ctypes
from typing import NamedTuple

import numpy as np

from burlab.compiler.ir.in_place_updates import put_of
from burlab.compiler.ir.options import Aliases
from burlab.graph import Graph
from burlab.graph.linear_nodes import convert, reshape
from burlab.runtime.structs import CRowBuffer

_BEFORE_STATE = 3  # inputs of an update before the hyperparameters: g, x, t


class RowBuffer(NamedTuple):
    """A buffer by its number, the bytes of a row of it, and how many rows a step writes."""

    buffer: int
    row: int
    rows: int


def row_buffers_of(graph: Graph, hypers: int, count: int) -> tuple[Graph, Aliases, tuple[RowBuffer, ...]]:
    """Return an update that also returns the rows it wrote, pairs of inputs and outputs in place, and row buffers.

    count: number of its buffers. The update has a further output for each row buffer.
    """
    inputs = [1, *range(_BEFORE_STATE + hypers, _BEFORE_STATE + hypers + count - 1)]
    outputs, pairs, found = list(graph.outputs), list[tuple[int, int]](), list[RowBuffer]()
    for k, source in enumerate(inputs):
        n = put_of(graph, source, k)
        if n is None:
            continue
        x, index = n.inputs[0], n.inputs[2]
        if 2 * index.size > x.shape[0]:  # copying all of it is as well
            continue
        outputs.append(convert(reshape(index, (index.size,)), np.dtype(np.int64)))
        pairs.append((source, k))
        found.append(RowBuffer(k, x.nbytes // x.shape[0] if x.size else 0, index.size))
    return Graph(graph.inputs, tuple(outputs)), frozenset(pairs), tuple(found)


def mirrored(rows: tuple[RowBuffer, ...]) -> "ctypes.Array[CRowBuffer]":
    """Return row buffers as C++ reads them."""
    return (CRowBuffer * len(rows))(*(CRowBuffer(**row._asdict()) for row in rows))
