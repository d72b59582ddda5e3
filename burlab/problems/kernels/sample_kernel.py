"""A function of one sample over data, and its evaluation over batches by `cpp/burlab/run/abi/sum.hpp`."""

import ctypes
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from burlab.compiler.executable import Executable
from burlab.graph import tree
from burlab.problems.data import Data, Rows
from burlab.problems.sampling import Sampling, Stream
from burlab.runtime.coerce import Array, ArraySpec
from burlab.runtime.gate import CallSignature, NativeFunction, make_callable
from burlab.runtime.memory import empty
from burlab.runtime.sharded import ShardedArray
from burlab.runtime.status import Status
from burlab.runtime.structs import CBlock, CKernel, CMeanKernel, COutcome, CShards, CSumCall, CSummand
from burlab.runtime.wait import SLICE
from burlab.typing import Key

from .output_blocks import OutputLayout, at, integers
from .sample_program import SampleProgram
from .sum_abi import Part, answer_of, kernel_of, mean_address, sum_exports
from .tiling import Tiling

_POINTER = ctypes.c_void_p
_SLICE = int(SLICE * 1e9)  # nanoseconds


def _first_byte(array: Rows) -> int:
    return array.parts[0].ctypes.data if isinstance(array, ShardedArray) else array.ctypes.data


def _shards(arrays: Sequence[Rows]) -> Any:
    """Return where the parts of each array are, None where all arrays have one."""
    if not any(isinstance(array, ShardedArray) for array in arrays):
        return None
    return (CShards * len(arrays))(*(a.struct if isinstance(a, ShardedArray) else CShards() for a in arrays))


class SampleKernel:
    """The kernels of a function of one sample, over data.

    program: the kernels, which other data may share. numbers: the last of the leaves that samples share, where a call
    gives none. Several threads may use it at once.
    """

    def __init__(self, program: SampleProgram, data: Data, numbers: tuple[Array, ...] = ()) -> None:
        self.program = program
        self.data = data
        self.numbers = numbers
        self.graph, self.structure, self.groups = program.graph, program.structure, program.groups
        self.keyed, self.options, self.layout = program.keyed, program.options, program.layout
        self.least, self.placed = program.least, program.placed
        self._addresses = (_POINTER * max(len(data.arrays), 1))(*map(_first_byte, data.arrays))
        self._shards = _shards(data.arrays)
        sizes = [math.prod(a.shape[1:]) * a.itemsize for a in data.arrays]
        first = len(sizes) - self.placed
        self._strides = integers([*(a.strides[0] for a in data.arrays[:first]), *sizes[first:]])
        self._sizes = integers(sizes)
        self.wholes = (*data.wholes, *(program.derived.arrays(data) if program.derived else ()))
        self._wholes = (_POINTER * max(len(self.wholes), 1))(*(a.ctypes.data for a in self.wholes))
        self._batches: set[int] = set()  # whose tiles it has used

    def on(self, threads: int) -> "SampleKernel":
        """Return the same for sums on so many threads."""
        return SampleKernel(self.program.on(threads), self.data, self.numbers)

    def by_rows(self) -> "tuple[SampleKernel, tuple[int, ...]]":
        """Return the kernels with rows in place of tables: see `SampleProgram.by_rows`."""
        program, rows = self.program.by_rows()
        return SampleKernel(program, self.data, self.numbers), rows

    def value_alone(self) -> "SampleKernel":
        """Return the kernels of its first output."""
        return SampleKernel(self.program.value_alone(), self.data, self.numbers)

    @property
    def metrics(self) -> tuple[str, ...]:
        """The keys of its third output, a dict of numbers, in their order; () without a third output."""
        return self.program.metrics

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
        inputs = [ArraySpec(n.shape, n.dtype, "x") for n in self.graph.inputs[: self._points]]
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
        self._call("rows", self._single(layout, self.program.steps), fixed, stream, key, 1, block)
        return tree.unflatten(self.structure, layout.views(block))

    @property
    def _points(self) -> int:
        """The number of inputs that come with a call: the leaves of the shared arguments."""
        return self.program.fixed - len(self.wholes)

    @property
    def executable(self) -> Executable:
        """The kernel of a single sample."""
        return self.program.executable

    def kernels(self, batch: int) -> dict[str, Executable]:
        """Return the kernels of the mean over a batch, by fields of `Summand`, in the order of a step."""
        return self.program.kernels(batch)

    @property
    def tilings(self) -> Mapping[int, Tiling]:
        """The tiles that it uses, by number of samples of a batch."""
        chosen = self.program.tilings
        return {batch: chosen[batch] for batch in self._batches if batch in chosen}

    def measure(self, batch: int, fixed: Sequence[Array]) -> None:
        """Choose the tiles for a batch: see `SampleProgram.measure`."""
        self._batches.add(batch)
        self.program.measure(batch, [*self._complete(fixed), *self.wholes], self.data)

    def _complete(self, fixed: Sequence[Array]) -> Sequence[Array]:
        """Return all leaves that samples share."""
        return fixed if len(fixed) == self._points else [*fixed, *self.numbers]

    def summand(self, batch: int) -> CSummand:
        """Return the struct of a mean over a batch, valid as long as this."""
        if batch == 1:
            return self._single(self.layout, self.program.steps)
        self._batches.add(batch)
        with self.program.lock:
            tile = self.program.tile(batch)
            result, summed = self.layout.block_of(self.program.summed), tile.sums.block
            if self.program.batch:  # nothing is added up but the regularizer
                summed = result
            summand = self._summand(kernel_of(tile.executable), tile.size, tile.contexts(batch), None, summed, result)
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
        return self._single(*self.program.together)

    def _single(self, layout: OutputLayout, steps: Any) -> CSummand:
        with self.program.lock:
            block = layout.block_of(self.program.summed)
            return self._summand(kernel_of(self.executable), 0, None, at(steps), block, block)

    def _summand(self, kernel: CKernel, tile: int, contexts: Any, rows: Any, sums: CBlock, result: CBlock) -> CSummand:
        return CSummand(
            kernel=kernel, tile=tile, contexts=contexts, fixed=self._points, wholes=len(self.wholes),
            arrays=len(self.data.arrays), keyed=self.keyed, placed=self.placed, least=self.least,
            whole=at(self._wholes), data=at(self._addresses), strides=at(self._strides), sizes=at(self._sizes),
            rows=rows, sums=sums, result=result, shards=self._shards and at(self._shards),
            whole_batch=self.program.batch > 0,
        )  # fmt: skip

    def _call(self, name: str, summand: CSummand, fixed: Sequence[Array], stream: Stream, key: Any,
              threads: int, block: Array, between: Callable[[], None] | None = None) -> None:  # fmt: skip
        fixed = self._complete(fixed)
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
        if outcome.part in (Part.PREPARE, Part.FINISH):
            part = "prepare" if outcome.part == Part.PREPARE else "finish"
            return self.kernels(batch)[part].error(answer_of(outcome))
        return self.with_sample(self.kernels(batch)["kernel"].error(answer_of(outcome)), outcome.sample)

    def with_sample(self, error: Exception, sample: int) -> Exception:
        """Return the exception with a note on the sample, unless data are empty."""
        if self.data.arrays and sample >= 0:
            error.add_note(f"In sample {sample} of the data.")
        return error
