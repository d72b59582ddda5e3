"""The kernel of a loss that sees all samples of a batch at once."""

import ctypes
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from burlab.compiler.executable import Executable, build
from burlab.graph import Graph, Node, tree
from burlab.graph.tracing.trace import trace
from burlab.problems.data import Data
from burlab.runtime.coerce import Array

from .output_blocks import OutputLayout, at
from .sample_program import SampleProgram
from .tiles import DEFAULT_OPTIONS, KernelOptions
from .tiling import Tiling


class WholeBatch:
    """The kernel of a batch in the form of a tile: see `tiles.Tile`."""

    finish = None

    def __init__(self, executable: Executable, size: int, sums: OutputLayout, threads: int) -> None:
        self.executable, self.size, self.sums = executable, size, sums
        self.inside = threads > 1
        self.kernels = {"kernel": executable}
        self.prepared = OutputLayout.of_nodes((), ())
        self._table = (ctypes.c_void_p * size)()
        self._table[size - 1] = executable.function.context

    def contexts(self, _batch: int) -> int:
        """Return the address of a table with the context of the kernel."""
        return at(self._table)


class BatchProgram(SampleProgram):
    """The kernel of a function of x and a batch of `batch` samples, and a key. It returns a tuple of trees of floats.

    graph: inputs: leaves of the shared arguments, an array of `batch` samples for each data array, the key if keyed.
    Others: as for `SampleProgram`.
    """

    def __init__(
        self, graph: Graph, structure: tree.TreeDef, arrays: int, keyed: bool, batch: int, options: KernelOptions
    ) -> None:
        super().__init__(graph, structure, arrays, keyed, batch, options)
        self.batch = batch
        self._whole: WholeBatch | None = None
        self._shared: dict[int, BatchProgram] = {}

    @staticmethod
    def traced(
        f: Callable[..., Any],
        shared: Sequence[tree.Tree],
        data: Data,
        batch: int,
        keyed: bool,
        options: KernelOptions = DEFAULT_OPTIONS,
    ) -> "BatchProgram":
        """Return the kernel of a Python function. shared: examples of the arguments that all batches share."""
        keyword = {"key": np.zeros(2, np.uint64)} if keyed else {}
        samples = [Node("input", (), None, (batch, *a.shape[1:]), a.dtype) for a in data.arrays]
        found = trace(f, (*shared, *samples), keyword)
        return BatchProgram(found.graph, found.result, len(data.arrays), keyed, batch, options)

    def _of(self, graph: Graph, structure: tree.TreeDef, arrays: int) -> "BatchProgram":
        """Return the kernel of another graph of the same inputs."""
        return BatchProgram(graph, structure, arrays, self.keyed, self.batch, self.options)

    def on(self, threads: int) -> "BatchProgram":
        """Return the same for so many threads, which share the call."""
        with self.lock:
            if threads not in self._shared:
                options = self.options._replace(threads=threads)
                arrays = len(self.graph.inputs) - self.fixed - self.keyed
                form = self.structure, arrays, self.keyed, self.batch, options
                self._shared[threads] = BatchProgram(self._given, *form)
            return self._shared[threads]

    @property
    def executable(self) -> Executable:
        """The kernel."""
        with self.lock:
            if self._executable is None:
                self._executable = build(self.graph, remat=self.options.remat, threads=self.options.threads)
            return self._executable

    def kernels(self, batch: int) -> dict[str, Executable]:  # noqa: ARG002 - as of every program
        """Return the kernel by its field of `Summand`."""
        return {"kernel": self.executable}

    @property
    def tilings(self) -> Mapping[int, Tiling]:
        """None: a batch is not cut."""
        return {}

    def measure(self, batch: int, fixed: Sequence[Array], data: Data) -> None:
        """Do nothing: a batch is not cut."""

    def cut_evenly(self, batch: int) -> None:
        """Do nothing: a batch is not cut."""

    def tile(self, batch: int) -> Any:  # noqa: ARG002 - as of every program
        """Return the kernel in the form of a tile."""
        with self.lock:
            if self._whole is None:
                self._whole = WholeBatch(self.executable, self.batch, self.layout, self.options.threads)
            return self._whole
