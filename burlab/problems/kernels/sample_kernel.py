"""A function of one sample, compiled, and its evaluation over batches by `cpp/burlab/run/abi/sum.hpp`."""

import ctypes
import math
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from burlab.compiler.executable import Executable, build
from burlab.graph import Graph, tree
from burlab.graph.rewrite.simplify import simplify
from burlab.graph.tracing.trace import trace
from burlab.problems.data import Data
from burlab.problems.sampling import Sampling, Stream
from burlab.runtime.coerce import Array, ArraySpec
from burlab.runtime.gate import CallSignature, NativeFunction, make_callable
from burlab.runtime.memory import empty
from burlab.runtime.status import Status
from burlab.runtime.structs import CBlock, CKernel, CMeanKernel, COutcome, CSumCall, CSummand
from burlab.runtime.wait import SLICE
from burlab.typing import Key

from .output_blocks import OutputLayout, at, integers
from .sum_abi import Part, answer_of, kernel_of, mean_address, sum_exports
from .tiles import DEFAULT_OPTIONS, KernelOptions, Tile
from .tiling import Tiling, Tilings

_POINTER = ctypes.c_void_p
_SLICE = int(SLICE * 1e9)  # nanoseconds


class SampleKernel:
    """The kernel of a function of shared arguments, one sample and a key. It returns a tuple of trees of floats.

    graph: inputs: leaves of the shared arguments, one sample of each data array, the key if it is keyed. structure: of
    the tuple that the outputs are: value and gradient where there are several. A result's memory is laid out with one
    group per tree. least: samples of a slot. Several threads may use it at once.
    """

    def __init__(
        self,
        graph: Graph,
        structure: tree.TreeDef,
        data: Data,
        keyed: bool,
        least: int = 1,
        options: KernelOptions = DEFAULT_OPTIONS,
        placed: int = 0,
    ) -> None:
        """placed: number of last arrays of data with a row for each position of a batch, passed with the call."""
        self.placed = placed
        self.graph = simplify(graph)
        self.structure = structure
        self.groups = tuple(child.num_leaves for child in structure.children())
        self.keyed = keyed
        self.options = options if len(self.groups) > 1 else options._replace(remat=None)
        self.data = data
        self.layout = OutputLayout.of_nodes(self.graph.outputs, self.groups)
        self._fixed = len(self.graph.inputs) - len(data.arrays) - keyed
        self._sampled = [k >= self._fixed for k in range(len(self.graph.inputs))]
        self.least = least
        self._tilings = Tilings(self.graph, self._sampled, self.groups, least, self.options)
        self._addresses = (_POINTER * max(len(data.arrays), 1))(*(a.ctypes.data for a in data.arrays))
        sizes = [math.prod(a.shape[1:]) * a.itemsize for a in data.arrays]
        first = len(sizes) - placed
        self._strides = integers([*(a.strides[0] for a in data.arrays[:first]), *sizes[first:]])
        self._sizes = integers(sizes)
        self._steps = integers(self.layout.sizes)
        self._build_lock = threading.RLock()  # C++ holds addresses of kernels and layouts: built once, never replaced
        self._executable: Executable | None = None
        self._row: tuple[OutputLayout, Any] | None = None

    @staticmethod
    def trace(
        f: Callable[..., Any],
        shared: Sequence[tree.Tree],
        data: Data,
        keyed: bool,
        least: Callable[[Graph], int] = lambda _: 1,
        options: KernelOptions = DEFAULT_OPTIONS,
        placed: int = 0,
    ) -> "SampleKernel":
        """Return the kernel of a Python function. shared: examples of the arguments that all samples share.

        least: samples of a slot, from the graph.
        """
        keyword = {"key": np.zeros(2, np.uint64)} if keyed else {}
        traced = trace(f, (*shared, *data.example), keyword)
        return SampleKernel(traced.graph, traced.result, data, keyed, least(traced.graph), options, placed)

    def on(self, threads: int) -> "SampleKernel":
        """Return the same for sums on so many threads."""
        options = self.options._replace(threads=threads)
        return SampleKernel(self.graph, self.structure, self.data, self.keyed, self.least, options, self.placed)

    @property
    def metrics(self) -> tuple[str, ...]:
        """The keys of its third output, a dict of numbers, in their order; () without a third output."""
        children = self.structure.children()
        return tuple(children[2].entries()) if len(children) > 2 else ()

    def mean(self, fixed: Sequence[Array], stream: Stream, key: Key | None, threads: int,
             between: Callable[[], None] | None = None) -> tree.Tree:  # fmt: skip
        """Return the mean of the outputs over a batch. fixed: the leaves of the shared arguments, C-contiguous.

        between: called between two slices of a long sum; it may wait, or raise.
        """
        self.measure(int(stream.batch), fixed)
        block = empty((self.layout.nbytes,), np.dtype(np.uint8), "a sum over samples")
        self._call("sum", self.summand(int(stream.batch)), fixed, stream, key, threads, block, between)
        return tree.unflatten(self.structure, self.layout.views(block))

    def gate(self, stream: Stream, threads: int, fallback: Callable[..., Any]) -> Callable[..., Any]:
        """Return `mean` for batches of one size as a builtin function of arrays, which returns a tuple of them.

        Its arguments: the leaves that samples share, indices if the stream is listed, the key of a stochastic loss.
        """
        summand = self.summand(int(stream.batch))
        kernel = CMeanKernel(summand=summand, stream=stream, threads=threads)
        function = NativeFunction(mean_address(), lambda _: ctypes.addressof(kernel), 0, (self, kernel), loops=True)
        inputs = [ArraySpec(n.shape, n.dtype, "x") for n in self.graph.inputs[: self._fixed]]
        if stream.sampling == Sampling.listed:
            inputs.append(ArraySpec((int(stream.batch),), np.dtype(np.int64), "indices"))
        if self.keyed:
            inputs.append(ArraySpec((2,), np.dtype(np.uint64), "key"))
        outputs = [ArraySpec(n.shape, n.dtype, "result") for n in self.graph.outputs]
        return make_callable(function, CallSignature(inputs, outputs), fallback, releases=True, takes_out=False)

    def rows(self, fixed: Sequence[Array], stream: Stream, key: Key | None) -> tree.Tree:
        """Return the outputs for every sample of a batch, stacked along a new first axis."""
        layout = self.layout.table(stream.batch)
        block = empty((layout.nbytes,), np.dtype(np.uint8), f"the results of {stream.batch} samples")
        self._call("rows", self._single(layout, self._steps), fixed, stream, key, 1, block)
        return tree.unflatten(self.structure, layout.views(block))

    @property
    def executable(self) -> Executable:
        """The kernel of a single sample."""
        with self._build_lock:
            if self._executable is None:
                self._executable = build(self.graph, remat=self.options.remat)
            return self._executable

    def kernels(self, batch: int) -> dict[str, Executable]:
        """Return the kernels of the mean over a batch, by fields of `Summand`, in the order of a step."""
        return {"kernel": self.executable} if batch == 1 else self.tile(batch).kernels

    @property
    def tilings(self) -> Mapping[int, Tiling]:
        """The tiles chosen so far, by number of samples of a batch."""
        return self._tilings.chosen

    def measure(self, batch: int, fixed: Sequence[Array]) -> None:
        """Choose the tiles for a batch, unless they are chosen, by measuring at a point where that saves time.

        fixed: the leaves of the shared arguments, C-contiguous.
        """
        with self._build_lock:
            self._tilings.measure(batch, fixed, self.data, self.keyed)

    def cut_evenly(self, batch: int) -> None:
        """Choose tiles for a batch so that all are full: a batch of another size needs other kernels."""
        with self._build_lock:
            self._tilings.cut_evenly(batch)

    def tile(self, batch: int) -> Tile:
        """Return the tile of a batch of more than one sample."""
        with self._build_lock:
            return self._tilings.tile(batch)

    def summand(self, batch: int) -> CSummand:
        """Return the struct of a mean over a batch, valid as long as this."""
        if batch == 1:
            return self._single(self.layout, self._steps)
        with self._build_lock:
            tile = self.tile(batch)
            result = self.layout.block if tile.finish else tile.sums.block
            summand = self._summand(
                kernel_of(tile.executable), tile.size, tile.contexts(batch), None, tile.sums.block, result
            )
            for name, executable in tile.kernels.items():
                setattr(summand, name, kernel_of(executable))
            summand.prepared = tile.prepared.block
            summand.inside = tile.inside
            return summand

    @property
    def source(self) -> CSummand:
        """The struct with the samples alone, for a kernel of another module; valid as long as this."""
        none = CBlock()
        return self._summand(CKernel(), 0, None, None, none, none)

    @property
    def together(self) -> CSummand:
        """The struct of a row per sample, which holds all outputs one after another."""
        with self._build_lock:
            if self._row is None:
                sizes = self.layout.sizes
                steps = integers([sum(sizes)] * len(sizes))
                self._row = self.layout.at([sum(sizes[:k]) for k in range(len(sizes))]), steps
            return self._single(*self._row)

    def _single(self, layout: OutputLayout, steps: Any) -> CSummand:
        with self._build_lock:
            return self._summand(kernel_of(self.executable), 0, None, at(steps), layout.block, layout.block)

    def _summand(self, kernel: CKernel, tile: int, contexts: Any, rows: Any, sums: CBlock, result: CBlock) -> CSummand:
        return CSummand(
            kernel=kernel, tile=tile, contexts=contexts, fixed=self._fixed, arrays=len(self.data.arrays),
            keyed=self.keyed, placed=self.placed, least=self.least, data=at(self._addresses), strides=at(self._strides),
            sizes=at(self._sizes), rows=rows, sums=sums, result=result,
        )  # fmt: skip

    def _call(self, name: str, summand: CSummand, fixed: Sequence[Array], stream: Stream, key: Any,
              threads: int, block: Array, between: Callable[[], None] | None = None) -> None:  # fmt: skip
        addresses = (_POINTER * len(fixed))(*(a.ctypes.data for a in fixed))
        words = (ctypes.c_uint64 * 2)(*(int(word) for word in key))
        call = CSumCall(
            summand=summand, stream=stream, key=words, fixed=at(addresses), result=block.ctypes.data, threads=threads,
            slice=_SLICE,
        )  # fmt: skip
        status: int = Status.STOPPED
        try:
            while status == Status.STOPPED:  # Python handles signals between two slices
                status = sum_exports()[name](ctypes.byref(call))
                if between is not None and status == Status.STOPPED:
                    between()
        finally:
            if call.job:
                sum_exports()["abandon"](ctypes.byref(call))
        if status:
            raise self.error(call.outcome, int(stream.batch) if name == "sum" else 1)

    def error(self, outcome: COutcome, batch: int = 1) -> Exception:
        """Return the exception for a failure of the kernels for a batch, with a note on the sample."""
        if outcome.part == Part.PREPARE:
            return self.kernels(batch)["prepare"].error(answer_of(outcome))
        return self.with_sample(self.kernels(batch)["kernel"].error(answer_of(outcome)), outcome.sample)

    def with_sample(self, error: Exception, sample: int) -> Exception:
        """Return the exception with a note on the sample, unless data are empty."""
        if self.data.arrays and sample >= 0:
            error.add_note(f"In sample {sample} of the data.")
        return error
