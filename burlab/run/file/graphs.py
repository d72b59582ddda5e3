"""The kernels of a run as graphs in a file: nothing of the user's Python is needed to run them again."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from burlab.compiler.executable import Executable, build
from burlab.errors import FileError, GraphError, UnregisteredError
from burlab.graph import Graph, tree
from burlab.graph.file import reading, serial
from burlab.graph.query import ENTRY_QUERIES, TARGET_QUERIES, Question
from burlab.problems.data import Data
from burlab.problems.kernels.batch_program import BatchProgram
from burlab.problems.kernels.client_queries import RemoteClients
from burlab.problems.kernels.loss import Loss
from burlab.problems.kernels.query_rules import STATEFUL
from burlab.problems.kernels.sample_kernel import SampleKernel
from burlab.problems.kernels.sample_program import SampleProgram
from burlab.problems.kernels.targets import with_goals
from burlab.problems.kernels.tiles import KernelOptions
from burlab.problems.point import Point
from burlab.runtime.checks.numbers import shown
from burlab.runtime.coerce import Array
from burlab.runtime.dtypes import computed_in

_SIZED = (*ENTRY_QUERIES, *TARGET_QUERIES)  # with a number: of entries, or of numbers of a target
_OF_PARTS = ("part_value", "part_grad", "part_curvature")  # with the number of a form behind
_QUERIES = ("value_like", "grad", "training", "hvp", "hessian", "jvp", "resampled_grad", *_OF_PARTS, *_SIZED)
_WITH_BATCH = 2  # numbers at the end of a kernel of whole batches
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

    def kernels(self, loss: Loss) -> list[Any]:
        """Return descriptions of the kernels of a loss: of its samples, and of the regularizer, or None.

        Of each: its graph, how many arrays each of its outputs has, the names in the third, whether it takes a key,
        the sizes of its tiles, by batch, what is computed again, how many samples a slot has at least, and of a loss
        of whole batches their size.
        """
        return [None if kernel is None else self._kernel(kernel) for kernel in (loss.samples, loss.regularizer)]

    def _kernel(self, kernel: SampleKernel) -> list[Any]:
        tiles = [[batch, tiling.size] for batch, tiling in kernel.tilings.items()]
        form = [self.add(kernel.program.written), kernel.groups, kernel.metrics, kernel.keyed]
        whole = [kernel.program.batch] if kernel.program.batch else []
        return [*form, tiles, kernel.options.remat, kernel.least, *whole]


class GraphReader:
    """Makes kernels of the graphs in a file. An oracle for the queries of the file.

    arrays: of the file. point: x; data: the samples. clients: how many of them each client holds. numbers: that losses
    read, at step 0, and the state of the loss. state: the form of its leaves.
    """

    def __init__(
        self,
        arrays: dict[str, Array],
        point: Point,
        data: Data,
        clients: tuple[int, ...] = (),
        numbers: tuple[Array, ...] = (),
        state: Sequence[tuple[tuple[int, ...], "np.dtype[Any]"]] = (),
    ) -> None:
        self._numbers, self._state = numbers, list(state)
        self._arrays = arrays
        self._point = point
        self.data = data
        self.clients = clients
        self.keyed = False
        self.batch: int | None = None
        self._known: dict[tuple[str, int], Loss] = {}

    def graph(self, name: str, inputs: Specs, outputs: Specs | None = None, answered: bool = False) -> Graph:
        """A graph, which must have these inputs and, if given, these outputs: C++ allocates memory for no others.

        answered: whether its last input is the address of an oracle.
        """
        return read_graph(self._arrays, name, inputs, outputs, answered)

    def make(self, query: str, described: list[Any], number: int = 0, computed: bool = False) -> Loss:
        """The kernels that `GraphWriter.kernels` described for a query. number: of entries of a gradient.

        computed: whether the query is about points that an update computes.
        """
        samples, regularizer = described
        point = self._point.computed if computed else self._point
        kernel = self._kernel(query, samples, point, self.data, number)
        self.keyed = self.keyed or kernel.keyed
        if regularizer is None:
            return Loss(kernel, None)
        query = STATEFUL.get(query, query)  # a regularizer gives no state
        if (regularizer[1], regularizer[2], regularizer[3]) != (samples[1][:3], samples[2], False):
            raise FileError(
                f"what {regularizer[0]} gives cannot be added to what {samples[0]} gives. Use another copy."
            )
        return Loss(kernel, self._kernel(query, regularizer, point, Data.none(), number))

    def remote(self, point: Point) -> RemoteClients | None:  # noqa: ARG002 - as of every oracle
        """Return None: the samples are in this process."""
        return None

    def know(self, query: str, points: int, described: list[Any]) -> None:
        """Add the kernels for a query."""
        name = Question.of(query).name if query.startswith("part_") else query
        if name not in _QUERIES or not (points > 0 if query in _SIZED else points == _points(query)):
            raise FileError(f"expected a query of updates, got {shown(query)} about {points} points.")
        self._known[query, points] = self.make(query, described, points, computed=True)

    def kernels(self, query: str, shared: Sequence[Point]) -> Loss:
        """The kernels for a query about points."""
        number = shared[1].leaves[0].size if query in ENTRY_QUERIES else len(shared)
        if query in TARGET_QUERIES:  # a problem has targets of one size
            number = next((size for name, size in self._known if name == query), 0)
        if (query, number) not in self._known:
            raise FileError(f"its update has the query {query}, but the file has no kernel for it. Use another copy.")
        return self._known[query, number]

    def _kernel(self, query: str, described: list[Any], point: Point, data: Data, number: int) -> SampleKernel:
        name, groups, metrics, keyed, tiles, remat, *least = described
        batch = () if len(least) < _WITH_BATCH else (least[1],)  # samples that it sees at once
        given = [(leaf.shape, leaf.dtype) for leaf in point.leaves]
        leaves = [(shape, computed_in(dtype)) for shape, dtype in given]
        more: Specs = [((number,), np.dtype(np.int64))] if query in ENTRY_QUERIES else []
        more += [((), leaves[0][1])] if query == "surrogate" else []
        placed = int(query == "surrogate" and bool(data.arrays))
        data = with_goals(data, number, leaves[0][1]) if placed else data
        known = *self._numbers, *data.wholes
        inputs = given * _points(query) + more + [(array.shape, array.dtype) for array in known]
        inputs += [((*batch, *array.shape[1:]), array.dtype) for array in data.arrays]
        inputs += [((2,), np.dtype(np.uint64))] * keyed
        graph = self.graph(name, inputs)
        found = [(node.shape, node.dtype) for node in graph.outputs]
        wanted = _groups(query, leaves, found[:1], len(metrics), number, self._state)
        expected = [form for group in wanted for form in group]
        sizes = [len(group) for group in wanted]
        measured = sum(sizes[2:3])
        if (found, groups, len(set(metrics))) != (expected, sizes, measured) or len(metrics) != measured:
            raise FileError(f"the graph {name} gives {found}, in groups {groups}, expected {expected} for {query}.")
        trees: list[Any] = [(0,) * size for size in sizes]
        trees[2:3] = [dict.fromkeys(metrics, 0) for _ in sizes[2:3]]
        structure = tree.flatten(tuple(trees))[1]
        options = KernelOptions(dict(tiles), remat)
        if batch:
            self.batch = batch[0]
            return SampleKernel(
                BatchProgram(graph, structure, len(data.arrays), keyed, batch[0], options), data, self._numbers
            )
        counts = least[0] if least else 1, options, placed, len(data.wholes)
        program = SampleProgram(graph, structure, len(data.arrays), keyed, *counts)
        return SampleKernel(program, data, self._numbers)


def read_graph(
    arrays: dict[str, Array], name: str, inputs: Specs, outputs: Specs | None = None, answered: bool = False
) -> Graph:
    """A graph of a file, which must have these inputs and outputs: see `GraphReader.graph`."""
    if name not in arrays or arrays[name].dtype != np.uint8:
        raise FileError(f"the file holds no graph {shown(name)}. Use another copy.")
    try:
        graph = reading.from_json(arrays[name].tobytes().decode(), answered)
    except UnregisteredError:
        raise
    except (GraphError, UnicodeDecodeError) as error:
        raise FileError(f"the graph {name} cannot be read: {error}") from error
    found = [(node.shape, node.dtype) for node in graph.inputs]
    given = [(node.shape, node.dtype) for node in graph.outputs]
    if found != inputs or given != (given if outputs is None else outputs):
        raise FileError(f"the graph {name} takes {found} and gives {given}, expected {inputs} and {outputs}.")
    return graph


def _points(query: str) -> int:
    """Return the number of points of a query."""
    return 2 if query in ("hvp", "jvp") or query.startswith("part_curvature") else 1


def _groups(query: str, leaves: Specs, first: Specs, metrics: int, entries: int, state: Specs) -> list[Specs]:
    """Return the outputs of the kernel of a query: gradients have the form of x's leaves, numbers x's dtype.

    first: the form of its first output; the value of a validation is of any floating dtype. state: of the loss.
    """
    number: Specs = [((), leaves[0][1])]
    dimension = sum(math.prod(shape) for shape, _ in leaves)
    if query == "value":
        return [[((), dtype) for _, dtype in first if dtype.kind == "f"]]
    groups = {
        "value_like": [number],
        "jvp": [number],
        "partial_grad": [[((entries,), leaves[0][1])]],
        "link_grads": [[((math.prod(shape),), leaves[0][1]) for shape, _ in first]],  # as many as blocks have
        "targets": [[((2 * entries,), leaves[0][1])]],
        "residuals_and_jacobian": [[((math.prod(shape),), leaves[0][1]) for shape, _ in first]],  # of rows of x, or all
        "surrogate": [number, leaves],
        "hessian": [[((dimension, dimension), leaves[0][1])]],
        "training": [number, leaves],
        "part_value": [number],
        "part_grad": [number, leaves],
        "measured": [number, leaves, number * metrics],
        "measured_value": [number, [], number * metrics],
        "stateful": [number, leaves, number * metrics, state],
        "stateful_value": [number, [], number * metrics, state],
    }
    return groups.get(Question.of(query).name, [leaves])


class StoredSchedule:
    """A schedule as a part of the graph of the update: from the step to an output."""

    def __init__(self, update: Graph, output: int, hyper: int) -> None:
        """output, hyper: which output of the update it is, and which input the hyperparameter."""
        self._graph = Graph((update.inputs[2], update.inputs[hyper]), (update.outputs[output],))
        self._executable: Executable | None = None

    def __call__(self, t: int) -> float:
        """The value of step t."""
        self._executable = self._executable or build(self._graph)
        return float(self._executable(np.int64(t), np.float64(np.nan))[0])
