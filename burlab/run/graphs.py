"""The kernels of a run as graphs in a file: nothing of the user's Python is needed to run them again."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from burlab.compiler.executable import Executable, build
from burlab.compiler.remat import check_remat
from burlab.errors import FileError, GraphError
from burlab.graph import Graph, reading, serial, tree
from burlab.problems.data import Data
from burlab.problems.engine import SampleKernel
from burlab.problems.numbers import whole
from burlab.problems.point import Point
from burlab.problems.tiles import LARGEST, Told

from .tables import Array

Kernels = tuple[SampleKernel, SampleKernel | None]
Specs = list[tuple[tuple[int, ...], "np.dtype[Any]"]]


class GraphWriter:
    """Gives each graph a name; texts: the graphs as JSON in UTF-8, by name."""

    def __init__(self) -> None:
        self._names: dict[int, str] = {}
        self.texts: dict[str, Array] = {}

    def add(self, graph: Graph) -> str:
        """The name of a graph, the same for the same one."""
        name = self._names.setdefault(id(graph), f"graph/{len(self._names)}")
        if name not in self.texts:
            self.texts[name] = np.frombuffer(serial.to_json(graph).encode(), np.uint8)
        return name

    def kernels(self, kernels: Kernels) -> list[Any]:
        """What describes the kernels of a loss and a regularizer.

        Of each: its graph, how many arrays each of its outputs has, the names in the third, whether it takes a key,
        the sizes of its tiles, by batch, and what is computed again.
        """
        return [None if kernel is None else self._kernel(kernel) for kernel in kernels]

    def _kernel(self, kernel: SampleKernel) -> list[Any]:
        tiles = [[batch, tiling.size] for batch, tiling in kernel.tilings.items()]
        return [self.add(kernel.graph), kernel.groups, kernel.metrics, kernel.keyed, tiles, kernel.told.remat]


class GraphReader:
    """Makes kernels of the graphs in a file. It answers like an oracle, for the questions that it has.

    arrays: of the file. point: x; data: the samples.
    """

    def __init__(self, arrays: dict[str, Array], point: Point, data: Data) -> None:
        self._arrays = arrays
        self._point = point
        self.data = data
        self.keyed = False
        self._known: dict[tuple[str, int], Kernels] = {}

    def graph(self, name: str, inputs: Specs, outputs: Specs | None = None, answered: bool = False) -> Graph:
        """A graph, which must have these inputs, and at least these outputs.

        answered: whether its last input is the address of who answers its questions.
        """
        if name not in self._arrays or self._arrays[name].dtype != np.uint8:
            raise FileError(f"the file holds no graph {name!r}. Use another copy.")
        try:
            graph = reading.from_json(self._arrays[name].tobytes().decode(), answered)
        except (GraphError, UnicodeDecodeError) as error:
            raise FileError(f"the graph {name} cannot be read: {error}") from error
        found = [(node.shape, node.dtype) for node in graph.inputs]
        given = [(node.shape, node.dtype) for node in graph.outputs][: len(outputs or [])]
        if found != inputs or given != (outputs or []):
            raise FileError(f"the graph {name} takes {found} and gives {given}, expected {inputs} and {outputs}.")
        return graph

    def make(self, described: list[Any], points: int) -> Kernels:
        """The kernels that `GraphWriter.kernels` described; points: how many points they are about."""
        samples, once = described
        kernel = self._kernel(samples, points, self.data)
        self.keyed = self.keyed or kernel.keyed
        return kernel, None if once is None else self._kernel(once, points, Data.none())

    def know(self, question: str, points: int, described: list[Any]) -> None:
        """Have an answer."""
        self._known[question, points] = self.make(described, points)

    def kernels(self, question: str, shared: Sequence[Point]) -> Kernels:
        """The kernels for a question about points."""
        return self._known[question, len(shared)]

    def _kernel(self, described: list[Any], points: int, data: Data) -> SampleKernel:
        name, groups, metrics, keyed, tiles, remat = described
        leaves = [(leaf.shape, leaf.dtype) for leaf in self._point.leaves]
        inputs = leaves * points + [(array.shape[1:], array.dtype) for array in data.arrays]
        inputs += [((2,), np.dtype(np.uint64))] * bool(keyed)
        trees: list[Any] = [(0,) * int(count) for count in groups]
        if metrics:
            trees[2] = dict.fromkeys(metrics, 0)
        structure = tree.flatten(tuple(trees))[1]
        graph = self.graph(name, inputs)
        number = [((), leaves[0][1])]
        found = [(node.shape, node.dtype) for node in graph.outputs]
        several = len(groups) > 1  # value, gradient, metrics
        if len(found) != structure.num_leaves or (several and found != number + leaves + number * len(metrics)):
            raise FileError(f"the graph {name} gives {found}, expected value, gradient and the metrics {metrics}.")
        sizes = {whole(batch, "batch", 2): whole(size, "tile", 1, LARGEST) for batch, size in tiles}
        return SampleKernel(graph, structure, data, bool(keyed), Told(sizes, check_remat(remat)))


class Schedule:
    """What a schedule gives, by the graph of the update: its output, from the step and no live value."""

    def __init__(self, update: Graph, output: int, hyper: int) -> None:
        """output, hyper: which output of the update it is, and which input the hyperparameter."""
        self._graph = Graph((update.inputs[2], update.inputs[hyper]), (update.outputs[output],))
        self._executable: Executable | None = None

    def __call__(self, t: int) -> float:
        """The value of step t."""
        self._executable = self._executable or build(self._graph)
        return float(self._executable(np.int64(t), np.float64(np.nan))[0])
