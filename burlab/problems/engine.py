"""A kernel of one sample, compiled, and its evaluation over batches by `cpp/burlab/run/sum_abi.hpp`."""

import ctypes
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from burlab.compiler.executable import build
from burlab.graph import Graph, tree
from burlab.graph.trace import trace
from burlab.runtime.status import Status
from burlab.runtime.wait import SLICE

from .data import Data
from .point import Array
from .sampling import Stream
from .summand import CKernel, Stretch, SumCall, Summand, sum_doors

_INT, _POINTER = ctypes.c_int64, ctypes.c_void_p
_SLICE = int(SLICE * 1e9)  # nanoseconds


@dataclass(frozen=True)
class Layout:
    """Where the outputs of a kernel lie in one block of memory: each group begins at a multiple of 64 bytes."""

    shapes: tuple[tuple[int, ...], ...]
    dtypes: tuple["np.dtype[Any]", ...]
    offsets: tuple[int, ...]
    nbytes: int

    @staticmethod
    def of(shapes: Sequence[tuple[int, ...]], dtypes: Sequence["np.dtype[Any]"], groups: Sequence[int]) -> "Layout":
        """groups: how many outputs each group has; inside of one they follow each other without a gap."""
        firsts = {sum(groups[:k]) for k in range(len(groups))}
        offsets: list[int] = []
        end = 0
        for k, (shape, dtype) in enumerate(zip(shapes, dtypes, strict=True)):
            step = 64 if k in firsts else dtype.itemsize
            offsets.append(-(-end // step) * step)
            end = offsets[-1] + math.prod(shape) * dtype.itemsize
        return Layout(tuple(shapes), tuple(dtypes), tuple(offsets), -(-max(end, 1) // 64) * 64)

    def stretches(self) -> list[Stretch]:
        """The outputs as stretches of one dtype."""
        return [
            Stretch(offset, math.prod(shape), dtype == np.float64)
            for shape, dtype, offset in zip(self.shapes, self.dtypes, self.offsets, strict=True)
        ]

    def views(self, block: Array) -> list[Array]:
        """The outputs in a block of bytes."""
        return [
            np.ndarray(shape, dtype, block, offset)
            for shape, dtype, offset in zip(self.shapes, self.dtypes, self.offsets, strict=True)
        ]

    def table(self, rows: int) -> "Layout":
        """The layout of every output repeated along a new first axis."""
        return Layout.of([(rows, *s) for s in self.shapes], self.dtypes, [1] * len(self.shapes))


class SampleKernel:
    """A function of shared arguments, one sample and a key, compiled. It returns a tuple of trees of floats.

    graph: inputs: leaves of the shared arguments, one sample of each data array, the key if it is keyed. structure: of
    the tuple that the outputs are. A result's memory is laid out with one group per tree.
    """

    def __init__(self, graph: Graph, structure: tree.TreeDef, data: Data, keyed: bool) -> None:
        self.executable = build(graph)
        self.graph = self.executable.graph
        self.structure = structure
        self.groups = tuple(child.num_leaves for child in structure.children())
        self.keyed = keyed
        self.data = data
        outputs = self.graph.outputs
        self.layout = Layout.of([y.shape for y in outputs], [y.dtype for y in outputs], self.groups)
        self._fixed = len(self.graph.inputs) - len(data.arrays) - keyed
        self._addresses = (_POINTER * max(len(data.arrays), 1))(*(a.ctypes.data for a in data.arrays))
        self._strides = _integers([a.strides[0] for a in data.arrays])
        self._sizes = _integers(
            [math.prod(s) * d.itemsize for s, d in zip(self.layout.shapes, self.layout.dtypes, strict=True)]
        )
        self._parts = (Stretch * len(outputs))(*self.layout.stretches())
        self._offsets = _integers(self.layout.offsets)
        self.summand = self._summand(self._offsets, self.layout.nbytes)

    @staticmethod
    def trace(f: Callable[..., Any], shared: Sequence[tree.Tree], data: Data, keyed: bool) -> "SampleKernel":
        """The kernel of a Python function. shared: examples of the arguments that all samples share."""
        keyword = {"key": np.zeros(2, np.uint64)} if keyed else {}
        traced = trace(f, (*shared, *data.example), keyword)
        return SampleKernel(traced.graph, traced.result, data, keyed)

    @property
    def metrics(self) -> tuple[str, ...]:
        """The keys of its third output, a dict of numbers, in their order; none where it has no third output."""
        children = self.structure.children()
        return tuple(children[2].entries()) if len(children) > 2 else ()

    def mean(
        self, fixed: Sequence[Array], stream: Stream, key: Any, threads: int, between: Callable[[], None] | None = None
    ) -> tree.Tree:
        """The mean of the outputs over a batch. fixed: the leaves of the shared arguments, C-contiguous.

        between: called between two slices of a long sum; it may wait, or raise to leave.
        """
        block = np.empty(self.layout.nbytes, np.uint8)
        self._call("sum", self.summand, fixed, stream, key, threads, block, between)
        return tree.unflatten(self.structure, self.layout.views(block))

    def rows(self, fixed: Sequence[Array], stream: Stream, key: Any) -> tree.Tree:
        """The outputs for every sample of a batch, stacked along a new first axis."""
        layout = self.layout.table(stream.batch)
        block = np.empty(layout.nbytes, np.uint8)
        offsets = _integers(layout.offsets)
        self._call("rows", self._summand(offsets, layout.nbytes), fixed, stream, key, 1, block)
        return tree.unflatten(self.structure, layout.views(block))

    @cached_property
    def together(self) -> Summand:
        """For a row of numbers per sample that holds all outputs one after another."""
        sizes = list(self._sizes)[: len(self.layout.shapes)]
        self._places = _integers([sum(sizes[:k]) for k in range(len(sizes))])
        self._steps = _integers([sum(sizes)] * len(sizes))
        summand = self._summand(self._places, sum(sizes))
        summand.rows = _at(self._steps)
        return summand

    def _summand(self, offsets: Any, nbytes: int) -> Summand:
        return Summand(
            CKernel.of(self.executable), self._fixed, len(self.data.arrays), self.keyed, len(self.layout.shapes),
            len(self.layout.shapes), _at(self._addresses), _at(self._strides), _at(offsets), _at(self._sizes),
            _at(self._parts), nbytes,
        )  # fmt: skip

    def _call(
        self, door: str, summand: Summand, fixed: Any, stream: Stream, key: Any, threads: int, block: Array,
        between: Callable[[], None] | None = None,
    ) -> None:  # fmt: skip
        addresses = (_POINTER * len(fixed))(*(a.ctypes.data for a in fixed))
        words = (ctypes.c_uint64 * 2)(*(int(word) for word in key))
        call = SumCall(summand, stream, words, _at(addresses), block.ctypes.data, threads, _SLICE, 0, None, -1)
        status: int = Status.STOPPED
        try:
            while status == Status.STOPPED:  # Python hears an interrupt between two slices
                status = sum_doors()[door](ctypes.byref(call))
                if between is not None and status == Status.STOPPED:
                    between()
        finally:
            if call.job:
                sum_doors()["drop"](ctypes.byref(call))
        if status:
            raise self.error(status, call.sample)

    def error(self, status: int, sample: int) -> Exception:
        """The exception for an outcome that is not 0, with a note on the sample."""
        error = self.executable.error(status)
        if self.data.arrays:
            error.add_note(f"In sample {sample} of the data.")
        return error


def _integers(values: Sequence[int]) -> Any:
    return (_INT * max(len(values), 1))(*values)


def _at(array: Any) -> int:
    return ctypes.addressof(array)
