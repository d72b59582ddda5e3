"""A function of one sample as kernels, whatever the data: what problems with samples of one form share."""

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from burlab.compiler.executable import Executable, build
from burlab.graph import Graph, tree
from burlab.graph.rewrite.match_sparse import match_sparse
from burlab.graph.rewrite.simplify import simplify
from burlab.graph.tracing.trace import trace
from burlab.problems.data import Data
from burlab.runtime.coerce import Array

from .derived_arrays import derived
from .output_blocks import OutputLayout, integers
from .table_rows import rows_of_tables
from .tiles import DEFAULT_OPTIONS, KernelOptions, Tile
from .tiling import Tiling, Tilings

VALUE_ALONE = tree.flatten((0,))[1]
"""The structure of what a kernel of a value gives."""


class SampleProgram:
    """The kernels of a function of shared arguments, one sample and a key. It returns a tuple of trees of floats.

    graph: inputs: leaves of the shared arguments, whole arrays, one sample of each data array, the key if it is keyed.
    structure: of the tuple that the outputs are: value and gradient where there are several. A result's memory is laid
    out with one group per tree. arrays, wholes: of data; placed: the number of last arrays with a row for each position
    of a batch, passed with the call. fixed: the number of inputs that samples share, whole arrays too. derived: what
    whole arrays alone decide; graph takes it, as more of them; `written` computes it, as files hold it. least: samples
    of a slot. Several threads may use it at once.
    """

    def __init__(
        self,
        graph: Graph,
        structure: tree.TreeDef,
        arrays: int,
        keyed: bool,
        least: int = 1,
        options: KernelOptions = DEFAULT_OPTIONS,
        placed: int = 0,
        wholes: int = 0,
    ) -> None:
        self._given, self._wholes = graph, wholes
        self.written = match_sparse(simplify(graph))
        points = len(graph.inputs) - arrays - keyed - wholes
        self.derived = derived(self.written, points, wholes) if wholes else None
        self.graph = self.derived.rest if self.derived else self.written
        self.structure = structure
        self.groups = tuple(child.num_leaves for child in structure.children())
        self.keyed = keyed
        self.placed = placed
        self.options = options if len(self.groups) > 1 else options._replace(remat=None)
        self.layout = OutputLayout.of_nodes(self.graph.outputs, self.groups)
        self.fixed = len(self.graph.inputs) - arrays - keyed
        sampled = [k >= self.fixed for k in range(len(self.graph.inputs))]
        self.least = least
        self.batch = 0  # samples that a call sees together; 0: it computes one, or adds up a tile
        self._tilings = Tilings(self.graph, sampled, self.groups, least, self.options)
        self.steps = integers(self.layout.sizes)
        self.lock = threading.RLock()  # C++ holds addresses of kernels and layouts: built once, never replaced
        self._executable: Executable | None = None
        self._row: tuple[OutputLayout, Any] | None = None
        self._on_threads: dict[int, SampleProgram] = {}

    @staticmethod
    def trace(
        f: Callable[..., Any],
        shared: Sequence[tree.Tree],
        data: Data,
        keyed: bool,
        least: Callable[[Graph], int] = lambda _: 1,
        options: KernelOptions = DEFAULT_OPTIONS,
        placed: int = 0,
    ) -> "SampleProgram":
        """Return the kernels of a Python function. shared: examples of the arguments that all samples share.

        data: has samples of the form. least: samples of a slot, from the graph.
        """
        keyword = {"key": np.zeros(2, np.uint64)} if keyed else {}
        traced = trace(f, (*shared, *data.sample(0)), keyword)
        graph = _in_order(traced.graph, data.order, keyed)
        how = least(graph), options, placed, len(data.wholes)
        return SampleProgram(graph, traced.result, len(data.arrays), keyed, *how)

    def by_rows(self) -> "tuple[SampleProgram, tuple[int, ...]]":
        """Return the kernels with rows in place of tables, and for each leaf of a new state the number of its rows.

        A leaf that is the old one with some rows written becomes these, behind their numbers, int64; 0 for others.
        """
        outputs, rows = rows_of_tables(self._given, self.summed, self._first_state)
        arrays = len(self.graph.inputs) - self.fixed - self.keyed
        trees = [tree.unflatten(child, range(child.num_leaves)) for child in self.structure.children()[:3]]
        structure = tree.flatten((*trees, (0,) * (len(outputs) - self.summed)))[1]
        return self._of(Graph(self._given.inputs, outputs), structure, arrays), rows

    @property
    def _first_state(self) -> int:
        """The number of inputs before those of the old state, which are the last ones that come with a call."""
        given = len(self._given.inputs) - (len(self.graph.inputs) - self.fixed) - self._wholes
        return given - self.state

    def _of(self, graph: Graph, structure: tree.TreeDef, arrays: int) -> "SampleProgram":
        """Return the kernels of another graph of the same inputs."""
        how = self.least, self.options, self.placed, self._wholes
        return SampleProgram(graph, structure, arrays, self.keyed, *how)

    def value_alone(self) -> "SampleProgram":
        """Return the kernels of its first output."""
        value = Graph(self._given.inputs, self._given.outputs[:1])
        return self._of(value, VALUE_ALONE, len(self.graph.inputs) - self.fixed - self.keyed)

    def on(self, threads: int) -> "SampleProgram":
        """Return the same for sums on so many threads."""
        with self.lock:
            if threads not in self._on_threads:
                arrays = len(self.graph.inputs) - self.fixed - self.keyed
                options = self.options._replace(threads=threads)
                self._on_threads[threads] = SampleProgram(
                    self._given, self.structure, arrays, self.keyed, self.least, options, self.placed, self._wholes
                )
            return self._on_threads[threads]

    @property
    def metrics(self) -> tuple[str, ...]:
        """The keys of its third output, a dict of numbers, in their order; () without a third output."""
        children = self.structure.children()
        return tuple(children[2].entries()) if len(children) > 2 else ()

    @property
    def summed(self) -> int:
        """The number of its first outputs that a regularizer is added to: all but a new state, its fourth tree."""
        return sum(self.groups[:3])

    @property
    def state(self) -> int:
        """The number of leaves of a new state, its last outputs."""
        return sum(self.groups[3:])

    @property
    def executable(self) -> Executable:
        """The kernel of a single sample."""
        with self.lock:
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

    def measure(self, batch: int, fixed: Sequence[Array], data: Data) -> None:
        """Choose the tiles for a batch, unless they are chosen, by measuring at a point where that saves time.

        fixed: the leaves of the shared arguments, C-contiguous.
        """
        with self.lock:
            self._tilings.measure(batch, fixed, data, self.keyed)

    def cut_evenly(self, batch: int) -> None:
        """Choose tiles for a batch so that all are full: a batch of another size needs other kernels."""
        with self.lock:
            self._tilings.cut_evenly(batch)

    def tile(self, batch: int) -> Tile:
        """Return the tile of a batch of more than one sample."""
        with self.lock:
            return self._tilings.tile(batch)

    @property
    def together(self) -> tuple[OutputLayout, Any]:
        """The layout of a row per sample, which holds all outputs one after another, and its steps for C++."""
        with self.lock:
            if self._row is None:
                sizes = self.layout.sizes
                steps = integers([sum(sizes)] * len(sizes))
                self._row = self.layout.at([sum(sizes[:k]) for k in range(len(sizes))]), steps
            return self._row


def _in_order(graph: Graph, order: Sequence[int], keyed: bool) -> Graph:
    """Return the graph with the inputs of a sample in another order, behind those that samples share."""
    first = len(graph.inputs) - len(order) - keyed
    sample, key = graph.inputs[first : first + len(order)], graph.inputs[first + len(order) :]
    return Graph((*graph.inputs[:first], *(sample[k] for k in order), *key), graph.outputs)
