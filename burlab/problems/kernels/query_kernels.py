"""The queries of an update to its problem, as kernels: the ctypes mirror of `cpp/burlab/run/step/query.hpp`."""

import ctypes
from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from burlab.errors import ArgumentError, IndexRangeError
from burlab.graph.query import CLIENT_QUERIES, PART_QUERIES, QUERIES, TARGET_QUERIES, Question
from burlab.problems.data import Data
from burlab.problems.point import Point, coordinates_of, scale_of
from burlab.problems.sampling import Stream, chosen, full
from burlab.runtime.structs import CLoss, COutcome, CQueries, CQuery, CSummand

from .client_queries import ClientTable, RemoteClients
from .loss import Loss
from .sample_kernel import SampleKernel
from .sum_abi import Part

_POINTER = ctypes.c_void_p


class _Form(NamedTuple):
    """The form of an answer.

    kernel: of the oracle; points: number of arguments; full: over all samples; counter: the column that counts it.
    """

    kernel: str
    has_value: bool
    has_vector: bool
    points: int = 1
    full: bool = False
    rows: bool = False
    counter: str = "samples"


_FORMS = {
    "value": _Form("value_like", True, False, counter="values"),
    "grad": _Form("grad", False, True),
    "value_and_grad": _Form("training", True, True),
    "hvp": _Form("hvp", False, True, points=2, counter="hvps"),
    "full_value": _Form("value_like", True, False, full=True, counter="values"),
    "full_grad": _Form("grad", False, True, full=True),
    "per_sample_grads": _Form("grad", False, True, rows=True),
    "jvp": _Form("jvp", True, False, points=2, counter="jvps"),
    "partial_grad": _Form("partial_grad", False, True, counter="partials"),
    "resampled_grad": _Form("resampled_grad", False, True),
    "targets": _Form("targets", False, True, rows=True),
    "surrogate": _Form("surrogate", True, True, counter="surrogates"),
    "per_sample_values": _Form("value_like", False, True, rows=True, counter="values"),
    "hessian": _Form("hessian", False, True, counter="hvps"),
    "residuals_and_jacobian": _Form("residuals_and_jacobian", False, True, rows=True),
    "part_value_and_grad": _Form("part_grad", True, True),
    "part_value": _Form("part_value", True, False, counter="values"),
    "part_hvp": _Form("part_curvature", False, True, points=2, counter="hvps"),
    "link_grads": _Form("link_grads", False, True),
}


def counter_of(query: str) -> str:
    """Return the column that counts the evaluations of a query.

    >>> counter_of("full_value"), counter_of("hvp"), counter_of("per_sample_grads")
    ('values', 'hvps', 'samples')
    """
    return _FORMS[query].counter if query in _FORMS else "samples"


def kernel_of(query: str, number: int) -> str:
    """Return the kernel of a query about the loss of a part. number: of its form.

    >>> kernel_of("part_hvp", 7)
    'part_curvature{7}'
    """
    return str(Question(_FORMS[query].kernel, entries=number))


MAX_CLIENT_BATCHES = 2  # sizes of batches of clients that get tiles of their own


class KernelSource(Protocol):
    """The source of the kernels: the oracle of a problem, or a file.

    keyed: whether samples take a random key. data: the samples. clients: number of samples of each
    client of a federation. batch: samples that the loss sees at once; None: one.
    """

    keyed: bool
    data: Data
    clients: tuple[int, ...]
    batch: int | None

    def remote(self, point: Point) -> RemoteClients | None:
        """Return the clients that are not in this process."""
        ...

    def kernels(self, query: str, shared: Sequence[Point]) -> Loss:
        """Return the kernels of a query."""
        ...


def check_whole(batch: int | None, question: Question, size: int) -> None:
    """Raise ArgumentError for a query that a loss of whole batches cannot answer. size: of the batches of steps."""
    if batch is None:
        return
    form = _FORMS[question.name]
    why = "which a loss of a whole batch does not have"
    if form.full or question.chosen:
        why = f"but batches of another size have another loss: this one sees {size} samples"
    elif not (form.rows or question.name in ("resampled_grad", *TARGET_QUERIES)):
        return
    raise ArgumentError(
        f"the optimizer reads f.{question.name}, {why}. Use a rule that reads the gradient of its batch, such as "
        "bl.optim.Adam, or a bl.FiniteSum of a loss of one sample."
    )


class _Answer(NamedTuple):
    """The kernels of a query. shared: its arguments. batch: samples of one call."""

    loss: Loss
    shared: list[Point]
    stream: Stream
    batch: int


class QueryKernels:
    """The kernels behind the queries of an update, for C++.

    names: the queries, and "key" and "indices" where the update uses these of the step. stream: the batches of the run.
    address: of the C++ struct, which lives as long as this; 0 if there are none. clients: number of samples of each, if
    queries are about clients. losses: by the kernel of `oracle` and the number of its points, or of entries of a
    gradient. drawn_losses: those of batches, if samples have weights.
    """

    def __init__(
        self,
        oracle: KernelSource,
        point: Point,
        names: Sequence[str],
        stream: Stream,
        drawn: KernelSource,
        threads: int = 1,
        numbers: int = 0,
    ) -> None:
        """drawn: the source for queries about the batches of the run, where samples may have weights.

        numbers: how many the loss reads behind the arguments of a query.
        """
        self._threads = threads
        self.losses: dict[tuple[str, int], Loss] = {}
        self.drawn_losses = self.losses if drawn is oracle else dict[tuple[str, int], Loss]()
        ends = np.cumsum([0, *(leaf.nbytes for leaf in point.leaves)])
        self._places, self._point = ends.astype(np.int64), point
        self._dimension = sum(leaf.size for leaf in point.leaves)
        size = point.leaves[0].itemsize
        self.questions = tuple(q for q in map(Question.of, names) if q.name in _FORMS)
        self._answers = [self._kernels(q, oracle, stream, drawn) for q in self.questions]
        about_clients = any(name in CLIENT_QUERIES for name in names)
        self._cuts_evenly = about_clients and len({q.chosen for q in self.questions if q.chosen}) <= MAX_CLIENT_BATCHES
        self.clients = oracle.clients if about_clients else ()
        remote = oracle.remote(point) if about_clients else None
        self._clients = ClientTable(oracle.clients, point, remote) if about_clients else None
        pairs = zip(self.questions, self._answers, strict=True)
        self._mirrors = [
            self._mirror(q, answer) for q, answer in pairs if remote is None
        ]  # of remote clients none is in this process
        self._list = (_POINTER * max(len(self._mirrors), 1))(*map(ctypes.addressof, self._mirrors))
        self._all = CQueries(
            count=len(self._mirrors),
            list=ctypes.addressof(self._list),
            keyed="key" in names or any(loss.samples.keyed for loss, *_ in self._answers),
            indexed="indices" in names,
            dimension=int(ends[-1]) // size,
            bytes=size,
            leaves=len(point.leaves),
            places=self._places.ctypes.data,
            clients=self._clients and self._clients.address,
            numbers=numbers,
        )
        self.address = ctypes.addressof(self._all) if names else 0

    @property
    def evaluations(self) -> "Iterator[tuple[Question, int, bool, Loss]]":
        """Each question with the samples of one answer, whether these have a row each, and its kernels."""
        for question, answer in zip(self.questions, self._answers, strict=True):
            yield question, int(answer.stream.batch), _FORMS[question.name].rows, answer.loss

    @property
    def only_gradient(self) -> Loss | None:
        """The loss with its gradient over the step's batch, if the only query is about that."""
        return self._answers[0].loss if self.questions == (Question("value_and_grad"),) else None

    @property
    def is_remote(self) -> bool:
        """Return True if clients in other processes answer."""
        return self._clients is not None and self._clients.remote is not None

    def _kernels(self, question: Question, oracle: KernelSource, stream: Stream, drawn: KernelSource) -> _Answer:
        """Return the kernels of a query, traced and not compiled."""
        form = _FORMS[question.name]
        check_whole(oracle.batch, question, int(stream.batch))
        own = not (form.full or question.chosen)
        source, losses = (drawn, self.drawn_losses) if own else (oracle, self.losses)
        kernel, shared, number = form.kernel, [self._point] * form.points, form.points
        if question.name in PART_QUERIES:
            kernel = kernel_of(question.name, question.entries)
        elif question.name == "surrogate":
            shared, number = [self._point, scale_of(self._point)], question.entries
        elif question.name in TARGET_QUERIES:
            number = question.entries
        elif question.entries:
            shared, number = [self._point, coordinates_of(np.zeros(question.entries, np.int64))], question.entries
        loss = losses[kernel, number] = source.kernels(kernel, shared).on(self._threads)
        batches = full(oracle.data.samples) if form.full else stream
        if question.chosen:
            batches = chosen(stream, question.chosen)
        return _Answer(loss, shared, batches, 1 if form.rows else int(batches.batch))

    def _mirror(self, question: Question, answer: _Answer) -> CQuery:
        form, loss = _FORMS[question.name], answer.loss
        if self._cuts_evenly and question.chosen > 1:
            loss.samples.program.cut_evenly(answer.batch)
        loss.measure(answer.batch, [leaf for point in answer.shared for leaf in point.leaves])
        if answer.stream.varies:
            loss.vary(answer.batch)
        offsets = loss.samples.layout.offsets
        rows = CLoss(samples=loss.samples.together, regularizer=CSummand()) if form.rows else None
        return CQuery(
            kind=QUERIES.index(question.name),
            chosen=question.chosen,
            entries=0 if question.name in (*TARGET_QUERIES, *PART_QUERIES) else question.entries,
            form=question.entries if question.name in PART_QUERIES else 0,
            loss=rows or loss.mirror(int(answer.stream.batch)),
            stream=answer.stream,
            points=form.points,
            value=offsets[0] if form.has_value else -1,
            vector=offsets[int(form.has_value)] if form.has_vector else -1,
            rows=form.rows,
            width=self._width(question, loss),
            goals=question.entries if question.name == "surrogate" else 0,
        )

    def _width(self, question: Question, loss: Loss) -> int:
        """Return how many numbers a vector of the answer has; 0: as many as x."""
        if question.name in ("residuals_and_jacobian", "link_grads"):
            return loss.samples.graph.outputs[0].size
        widths = {"targets": 2 * question.entries, "per_sample_values": 1, "hessian": self._dimension**2}
        return widths.get(question.name, 0)

    @property
    def both(self) -> tuple[dict[tuple[str, int], Loss], ...]:
        """The losses of queries, plain and of the batches drawn."""
        return self.losses, self.drawn_losses

    @property
    def used(self) -> list[tuple[SampleKernel | None, int]]:
        """The kernels, with the sizes of their batches."""
        return [use for loss, _, _, batch in self._answers for use in ((loss.samples, batch), (loss.regularizer, 1))]

    def error(self, outcome: COutcome) -> Exception | None:
        """Return the exception of a step, if a query failed."""
        error = None if self._clients is None else self._clients.error(outcome)
        if error is not None:
            return error
        if not 0 <= outcome.owner < len(self._answers):
            return None
        owner = int(outcome.owner)
        (loss, _, _, batch), name = self._answers[owner], self.questions[owner].name
        if outcome.part == Part.ENTRIES:
            size = self._dimension
            held = f"coordinates of f.{name} held {outcome.sample}"
            return IndexRangeError(f"{held}, but there are {size} entries of x: use 0 to {size - 1}.")
        if outcome.part == Part.CHOSEN:
            samples = loss.samples.data.samples
            return IndexRangeError(
                f"indices of f.{name} held {outcome.sample}, but there are {samples} samples: use 0 to {samples - 1}."
            )
        error = loss.error(outcome, batch)
        error.add_note(f"In the query f.{name} of the update.")
        return error
