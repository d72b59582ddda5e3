"""The recipe of a run as JSON and arrays, and back: graphs in place of functions, checksums of data."""

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from burlab._version import __version__
from burlab.errors import FileError
from burlab.graph import Graph, Node, tree
from burlab.graph.file.serial import digest
from burlab.optim.lazy_form import Correction, LazyForm
from burlab.optim.rule import UpdateRule
from burlab.problems.batch import BlockShuffle
from burlab.problems.data import Rows
from burlab.problems.kernels.loss import Loss
from burlab.problems.kernels.row_loss import row_loss
from burlab.problems.point import Point
from burlab.problems.sampling import Sampling, Stream, drawn, full, weights_of
from burlab.problems.trainable import Trainable
from burlab.run.loop.setup import Setup, Validation
from burlab.run.record.gradient_norms import BATCH
from burlab.run.record.stop import Stop, ended_by
from burlab.runtime.coerce import Array
from burlab.runtime.cpu import instruction_set
from burlab.runtime.dtypes import DTYPES, computed_in
from burlab.runtime.quoting import without_comments
from burlab.typing import ArrayLike

from . import structure
from .checksums import checked, checksum
from .graphs import GraphReader, GraphWriter, Specs, StoredSchedule, read_graph
from .loss_inputs import inputs_of, parted, query_of, stored_hypers, structure_of

_NUMBERS = ("seconds", "grad_norm", "value")


class Given(NamedTuple):
    """Arguments of `load_run` that a file does not hold."""

    data: Any
    validation: Any
    like: tree.Tree
    stop: Stop | None


def describe(setup: Setup) -> tuple[dict[str, Any], dict[str, Array]]:
    """A setup as JSON, and the arrays that it names."""
    rule, graphs = setup.rule, GraphWriter()
    document = {
        "structure": structure.to_json(setup.start.structure if setup.part is None else setup.part.whole),
        "trainable": None if setup.part is None else list(setup.part.chosen),
        "digits": None if setup.part is None else [kind and kind.name for kind in setup.part.kinds],
        "shapes": [leaf.shape for leaf in setup.start.leaves],
        "state": structure.to_json(rule.structure),
        "cells": [[shape, dtype.name] for shape, dtype in setup.buffers],
        "loss": graphs.kernels(setup.loss),
        "query_losses": _described_losses(setup.queries.losses, graphs),
        "update": graphs.add(setup.update.graph),
        "hypers": list(rule.hyper),
        "schedules": list(rule.schedules),
        "queries": list(rule.queries),
        "logged": list(rule.logged),
        "spent": [[name, int(count)] for name, count in setup.spent.items()],
        "value_at": rule.value_at,
        "output": rule.output and graphs.add(rule.output),
        "data": [checksum(array) for array in _data(setup)],
        "weighted": _described_losses(setup.queries.drawn_losses, graphs) if _is_weighted(setup.stream) else [],
        "stream": _described_stream(setup.stream),
        "size": rule.size and graphs.add(rule.size),
        "sampler": setup.stream.graph and graphs.add(setup.stream.graph),
        "threads": setup.threads,
        "budgets": list(setup.budgets),
        "stop": _described_stop(setup.stop),
        "validation": setup.validation and _described_validation(setup.validation, graphs),
        "lazy": rule.lazy and [int(rule.lazy.correction), rule.lazy.refresh, rule.lazy.lags],
        "full": setup.full and [graphs.kernels(setup.full.loss), setup.full.every],
        "bits": bits(setup),
        "clients": list(setup.queries.clients),
        "numbers": setup.numbers and list(setup.numbers)[:3],
    }
    if setup.numbers is not None and setup.numbers.state is not None:
        document["loss_state"] = [len(setup.loss_state_forms), structure.to_json(setup.numbers.state.structure)]
    more = {} if setup.stream.numbers is None else {"sampler": setup.stream.numbers}
    more |= {} if setup.part is None else {f"rest/{k}": array for k, array in enumerate(setup.part.others)}
    return document, {"hypers": np.array(list(rule.hyper.values()), np.float64)} | more | graphs.texts


def rebuild(document: dict[str, Any], arrays: dict[str, Array], start: list[Array], given: Given) -> Setup:
    """The setup that was described. start: x and the state at step 0.

    Raises FileError if the data differ or x cannot be built. Everything is checked before anything is compiled.
    """
    form = structure.from_json(document["structure"], given.like)
    if [[list(cell.shape), cell.dtype.name] for cell in start] != document["cells"]:
        raise FileError(f"the keyframes do not fit the recipe, whose x and state are {document['cells']}.")
    samples = checked(given.data, document["data"], "data")
    stream = _stream(document["stream"], arrays) if document.get("sampler") is None else _traced(document, arrays)
    part = _part(document, form, _leaves(start[0], document["shapes"]), arrays)
    point = Point(_leaves(start[0], document["shapes"]), form) if part is None else part.point
    if samples.samples != stream.samples or point.structure.num_leaves != len(point.leaves):
        raise FileError(f"the recipe is for {stream.samples} samples, and {len(point.leaves)} arrays in x.")
    clients = tuple(document.get("clients", ()))
    if clients and sum(clients) != samples.samples:
        raise FileError(f"its clients hold {sum(clients)} samples, but there are {samples.samples}. Use another copy.")
    hyper = stored_hypers(document["hypers"], arrays.get("hypers"))
    start, leaves, loss_state = parted(start, document.get("loss_state"))
    numbers, known = inputs_of(document.get("numbers"), hyper, leaves, loss_state)
    reader = GraphReader(arrays, point, samples, clients, known, () if loss_state is None else loss_state.leaves)
    update = _update(document, reader, start, hyper, int(stream.batch))
    if not hyper.keys() >= set(document["schedules"]):
        raise FileError(f"its schedules are of {document['schedules']}, its hyperparameters {list(hyper)}.")
    places = [list(hyper).index(name) for name in document["schedules"]]
    schedules = {
        name: StoredSchedule(update, len(start) + k, 3 + places[k]) for k, name in enumerate(document["schedules"])
    }
    weights = weights_of(stream, computed_in(start[0].dtype))
    drawn_reader = reader if weights is None else GraphReader(arrays, point, samples.with_array(weights), (), known)
    for query, points, described in document["query_losses"]:
        reader.know(query, points, described)
    for query, points, described in document.get("weighted", ()):
        drawn_reader.know(query, points, described)
    state = structure_of(document["state"], len(start) - 1)
    forms = tuple((leaf.shape, leaf.dtype) for leaf in start[1:])
    logged, output = tuple(document.get("logged", ())), _output(document, reader, start, hyper)
    size = _size(document, reader, start, hyper)
    stream.varies = size is not None
    queries, value_at = tuple(document["queries"]), document.get("value_at", "")
    lazy = _lazy(document)
    rule = UpdateRule(update, hyper, schedules, forms, state, queries, logged, output, size, value_at, lazy)
    loss = drawn_reader.make(query_of(document["loss"][0][1], loss_state), document["loss"])
    _check_lazy(rule, loss, point, stream)
    stop = ended_by(stream, _stop(document["stop"]) if given.stop is None else given.stop)
    validation = _validation(document["validation"], arrays, point, given.validation, known)
    full_gradient = _full_gradient(document.get("full"), reader, stream, document["threads"])
    return Setup.of(
        loss, rule, reader, point, stream,
        threads=document["threads"], stop=stop, budgets=tuple(document["budgets"]), validation=validation,
        spent=dict(document.get("spent", ())), part=part, drawn=drawn_reader, full=full_gradient,
        numbers=numbers,
    )  # fmt: skip


def bits(setup: Setup) -> str:
    """A hash of all that decides the bits of a step: the C++ that runs, the instruction set, the version of burlab."""
    validation = setup.validation
    kernels = setup.queries.used
    for other in (validation, setup.full):
        if other is not None:
            kernels = [*kernels, (other.loss.samples, int(other.stream.batch)), (other.loss.regularizer, 1)]
    others = [exe for kernel, size in kernels if kernel is not None for exe in kernel.kernels(size).values()]
    parts = [without_comments(executable.source) for executable in (*setup.executables, *others)]
    return hashlib.sha256("\n".join([__version__, instruction_set().name, *parts]).encode()).hexdigest()


def fingerprint(setup: Setup) -> str:
    """A hash of a run's computation: graphs, data, numbers. Names, lines, tiles and threads do not enter."""
    rule, validation = setup.rule, setup.validation
    asked = {id(loss): loss for found in setup.queries.both for loss in found.values()}
    losses = [setup.loss, *asked.values(), *([] if validation is None else [validation.loss])]
    kernels = [kernel for loss in losses for kernel in (loss.samples, loss.regularizer) if kernel is not None]
    other = [graph for graph in (rule.output, rule.size, setup.stream.graph) if graph is not None]
    graphs = [kernel.program.written for kernel in kernels] + [rule.graph, *other]
    table = [] if setup.stream.numbers is None else [checksum(setup.stream.numbers)]
    leaves = [checksum(leaf) for leaf in setup.loss_state_start]
    content = ({"loss_state": leaves} if leaves else {}) | {
        "graphs": [digest(graph) for graph in graphs],
        "data": [checksum(array) for array in {id(a): a for k in kernels for a in k.data.all_arrays}.values()],
        "start": [checksum(leaf) for leaf in setup.start.leaves],
        "hypers": [[name, float(value).hex()] for name, value in rule.hyper.items()],
        "streams": [_described_stream(setup.stream), table, validation and _described_stream(validation.stream)],
        "every": validation and validation.every,
        "stop": _described_stop(setup.stop),
    }
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()


def _described_stream(stream: Stream) -> list[Any]:
    block = [int(stream.rows)] if stream.sampling == Sampling.blocks else []
    return [stream.samples, stream.batch, Sampling(stream.sampling).name, int(stream.key[0]), *block]


def _stream(described: Any, arrays: dict[str, Array]) -> Stream:
    samples, batch, name, seed, *block = described
    if (name == Sampling.blocks.name) != bool(block):
        raise FileError("its sampler and its size of blocks do not fit. Use another copy.")
    if block:
        return drawn(samples, batch, BlockShuffle(*block), seed)
    if name not in (Sampling.table.name, Sampling.weighted.name):
        return drawn(samples, batch, name, seed)
    if "sampler" not in arrays:
        raise FileError("it has no samples of its steps, or probabilities. Use another copy.")
    return drawn(samples, batch, arrays["sampler"], seed)


def _traced(document: dict[str, Any], arrays: dict[str, Array]) -> Stream:
    """Batches by a function, of which the file holds the graph."""
    samples, batch, _, seed, *_ = document["stream"]
    graph = read_graph(arrays, document["sampler"], [((2,), np.dtype(np.uint64)), ((), np.dtype(np.int64))])
    if [(node.shape, node.dtype) for node in graph.outputs] != [((batch,), np.int64)]:
        raise FileError(f"its sampler does not give {batch} samples for a step. Use another copy.")
    return drawn(samples, batch, graph, seed)


def _is_weighted(stream: Stream) -> bool:
    return stream.sampling == Sampling.weighted


def _data(setup: Setup) -> Sequence[Rows]:
    """The arrays of the problem, of which weights of samples are none."""
    data = setup.loss.samples.data
    return (*data.wholes, *(data.arrays[:-1] if _is_weighted(setup.stream) else data.arrays))


def _described_losses(losses: Mapping[tuple[str, int], Loss], graphs: GraphWriter) -> list[Any]:
    return [[*key, graphs.kernels(loss)] for key, loss in losses.items()]


def _described_validation(validation: Validation, graphs: GraphWriter) -> dict[str, Any]:
    return {
        "loss": graphs.kernels(validation.loss),
        "data": [checksum(array) for array in validation.loss.samples.data.all_arrays],
        "stream": _described_stream(validation.stream),
        "threads": validation.threads,
        "every": validation.every,
    }


def _full_gradient(described: Any, reader: GraphReader, stream: Stream, threads: int) -> Validation | None:
    if described is None:
        return None
    batches = full(int(stream.samples))
    batches.key = stream.key
    return Validation(reader.make("grad", described[0]), batches, threads, described[1])


def _validation(
    described: Any,
    arrays: dict[str, Array],
    point: Point,
    data: tuple[ArrayLike, ...] | ArrayLike | None,
    numbers: tuple[Array, ...],
) -> Validation | None:
    if described is None:
        return None
    reader = GraphReader(arrays, point, checked(data, described["data"], "validation"), (), numbers)
    stream = drawn(*described["stream"])
    if reader.data.samples != stream.samples:
        raise FileError(f"the validation is of {stream.samples} samples, not of {reader.data.samples}.")
    return Validation(reader.make("value", described["loss"]), stream, described["threads"], described["every"])


def _update(
    document: dict[str, Any], reader: GraphReader, start: list[Array], hyper: dict[str, float], batch: int
) -> Graph:
    """The update, with the inputs and outputs that it has now; before, it did not see the numbers of its samples."""
    x, *state = [(cell.shape, cell.dtype) for cell in start]
    wide, number, keys = np.dtype(np.float64), np.dtype(np.int64), np.dtype(np.uint64)
    old = "logged" not in document
    indices: Specs = [] if old else [((batch,), number)]
    shape, dtype = x[0], computed_in(x[1])
    problem: Specs = [((), dtype), ((2,), keys), *indices, ((), number)]
    inputs = [(shape, dtype), x, ((), number), *[((), wide)] * len(hyper), *state, *problem]
    noted = len(document["schedules"]) + len(document.get("logged", ()))
    graph = reader.graph(document["update"], inputs, [x, *state, *[((), wide)] * noted], answered=True)
    if not old:
        return graph
    unseen = Node("input", (), "indices", (batch,), number)
    return Graph((*graph.inputs[:-1], unseen, graph.inputs[-1]), graph.outputs)


def _output(document: dict[str, Any], reader: GraphReader, start: list[Array], hyper: dict[str, float]) -> Graph | None:
    """The graph of the optimizer's output point, if it is not x."""
    if document.get("output") is None:
        return None
    x, *state = [(cell.shape, cell.dtype) for cell in start]
    inputs: Specs = [x, ((), np.dtype(np.int64)), *[((), np.dtype(np.float64))] * len(hyper), *state]
    return reader.graph(document["output"], inputs, [x])


def _size(document: dict[str, Any], reader: GraphReader, start: list[Array], hyper: dict[str, float]) -> Graph | None:
    """The graph of how many samples a step has, if that varies."""
    if document.get("size") is None:
        return None
    state = [(cell.shape, cell.dtype) for cell in start[1:]]
    inputs: Specs = [((), np.dtype(np.int64)), *[((), np.dtype(np.float64))] * len(hyper), *state]
    return reader.graph(document["size"], inputs, [((), np.dtype(np.int64))])


def _lazy(document: dict[str, Any]) -> LazyForm | None:
    """The form of an update that goes row by row through sparse data."""
    described = document.get("lazy")
    return None if described is None else LazyForm(Correction(described[0]), *described[1:])


def _check_lazy(rule: UpdateRule, loss: Loss, x: Point, stream: Stream) -> None:
    """Raise FileError unless a step can go row by row, if the rule does: C++ reads its state by these sizes."""
    form = rule.lazy
    if form is None:
        return
    snapshots = form.correction is Correction.SNAPSHOT
    single = int(stream.batch) == 1 and len(x.leaves) == 1 and x.leaves[0].dtype == np.float64
    fits = rule.state == form.state(x.leaves[0].size, int(stream.samples)) and snapshots == (form.refresh > 0)
    plain = not (rule.schedules or rule.logged or rule.queries or rule.output or rule.size)
    if not (single and fits and plain and row_loss(loss, x.leaves)):
        raise FileError(
            "its steps go through rows of sparse data, which its loss or state is not made for. Use another copy."
        )


def _leaves(flat: Array, shapes: list[list[int]]) -> list[Array]:
    sizes = [math.prod(shape) for shape in shapes]
    if not shapes or flat.ndim != 1 or sum(sizes) != flat.size:
        raise FileError(f"x has {flat.size} entries, but its shapes {shapes} have {sum(sizes)}.")
    return [part.reshape(shape) for part, shape in zip(np.split(flat, np.cumsum(sizes)[:-1]), shapes, strict=True)]


def _part(
    document: dict[str, Any], whole: tree.TreeDef, trained: list[Array], arrays: dict[str, Array]
) -> Trainable | None:
    """Return the trained part of x; None if all is trained."""
    chosen: list[bool] | None = document.get("trainable")
    if chosen is None:
        return None
    names: list[str | None] = document.get("digits") or [None] * len(trained)
    kinds = tuple(None if name is None else DTYPES[name] for name in names)
    others = [arrays[f"rest/{k}"] for k in range(whole.num_leaves - len(trained)) if f"rest/{k}" in arrays]
    try:
        return Trainable.of(whole, [flag is True for flag in chosen], trained, others, kinds)
    except ValueError as error:
        raise FileError(f"{error}. Use another copy.") from error


def _described_stop(stop: Stop) -> dict[str, Any]:
    numbers = {name: getattr(stop, name) for name in _NUMBERS}
    exact = {name: None if number is None else float(number).hex() for name, number in numbers.items()}
    return exact | {
        "steps": stop.steps and int(stop.steps),
        "non_finite": bool(stop.non_finite),
        "when": bool(stop.when),
        "of": stop.of,
        "every": int(stop.every),
    }


def _stop(described: dict[str, Any]) -> Stop:
    numbers = {name: described[name] for name in _NUMBERS}
    exact = {name: None if number is None else float.fromhex(number) for name, number in numbers.items()}
    of = {"of": described.get("of", BATCH), "every": described.get("every", 100)}
    return replace(Stop(steps=described["steps"], non_finite=described["non_finite"]), **exact, **of)
