"""Buffers of a run that a step shifts by a row, as the pairs of L-BFGS: the loop moves the rows in one buffer."""

import ctypes
from typing import NamedTuple

import numpy as np

from burlab.graph import Graph, Node
from burlab.graph.linear_nodes import convert, reshape
from burlab.graph.node import constant
from burlab.runtime.structs import CShiftBuffer

_BEFORE_STATE = 3  # inputs of an update before the hyperparameters: g, x, t


class ShiftBuffer(NamedTuple):
    """A buffer by its number, and the bytes of a row of it."""

    buffer: int
    row: int


def shift_buffers_of(graph: Graph, hypers: int, count: int) -> tuple[Graph, tuple[ShiftBuffer, ...]]:
    """Return an update that gives the new rows of shifted buffers in place of the whole, and these buffers.

    It has a further output for each of them: whether to shift it. count: number of its buffers, x among them, which is
    never shifted.
    """
    outputs, flags, found = list(graph.outputs), list[Node](), list[ShiftBuffer]()
    for k in range(1, count):
        x = graph.inputs[_BEFORE_STATE + hypers + k - 1]
        if (known := _shift_of(graph.outputs[k], x)) is None:
            continue
        row, flag = known
        outputs[k] = reshape(row, (row.size,))
        flags.append(convert(flag, np.dtype(np.int64)))
        found.append(ShiftBuffer(k, row.nbytes))
    return Graph(graph.inputs, (*outputs, *flags)), tuple(found)


def _shift_of(output: Node, x: Node) -> tuple[Node, Node] | None:
    """The new row of a matrix, and whether it comes: of concatenate([x[1:], row]), or where(flag, that, x)."""
    flag = constant(np.array(True))
    if output.op == "where" and output.inputs[2] is x and output.inputs[0].op == "broadcast":
        flag, output = output.inputs[0].inputs[0], output.inputs[1]
    if x.ndim < 2 or flag.shape or output.op != "concatenate" or output.params != 0 or len(output.inputs) != 2:
        return None
    rest, row = output.inputs
    if rest.op != "slice" or rest.inputs[0] is not x or row.shape != (1, *x.shape[1:]):
        return None
    starts, steps, _ = rest.params
    begins = starts == (1, *(0,) * (x.ndim - 1)) and set(steps) == {1}
    return (row, flag) if begins and rest.shape == (x.shape[0] - 1, *x.shape[1:]) else None


def mirrored(shifts: tuple[ShiftBuffer, ...]) -> "ctypes.Array[CShiftBuffer]":
    """Return shift buffers as C++ reads them."""
    return (CShiftBuffer * len(shifts))(*(CShiftBuffer(**shift._asdict()) for shift in shifts))
