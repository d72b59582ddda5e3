"""What an update asks about a problem, as kernels: the ctypes mirror of `cpp/burlab/run/step/ask.hpp`."""

import ctypes
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from burlab.graph.query import QUESTIONS
from burlab.problems.data import Data
from burlab.problems.point import Point
from burlab.problems.sampling import Stream, full

from .abi import Summand
from .sample_kernel import SampleKernel

_INT, _POINTER = ctypes.c_int64, ctypes.c_void_p
_NODE_BITS = 48  # of an outcome's status; above them is the number of the question, from 1


class _Form(NamedTuple):
    """How a question is answered. kernel: of the oracle; points: how many it is about; full: over all samples."""

    kernel: str
    has_value: bool
    has_vector: bool
    points: int = 1
    full: bool = False
    rows: bool = False


_FORMS = {
    "value": _Form("value_like", True, False),
    "grad": _Form("grad", False, True),
    "value_and_grad": _Form("training", True, True),
    "hvp": _Form("hvp", False, True, points=2),
    "full_value": _Form("value_like", True, False, full=True),
    "full_grad": _Form("grad", False, True, full=True),
    "per_sample_grads": _Form("grad", False, True, rows=True),
}


class CQuestion(ctypes.Structure):
    """One question."""

    _fields_ = (
        ("samples", Summand),
        ("once", Summand),
        ("stream", Stream),
        ("points", _INT),
        ("value", _INT),
        ("vector", _INT),
        ("rows", _INT),
    )


class CQuestions(ctypes.Structure):
    """What the update of a run asks, and the form of x."""

    _fields_ = (
        ("list", _POINTER * len(QUESTIONS)),
        ("keyed", _INT),
        ("dimension", _INT),
        ("bytes", _INT),
        ("leaves", _INT),
        ("places", _POINTER),
    )


class Answers(Protocol):
    """Who has the kernels: an oracle, or a file.

    keyed: whether samples take a random key. data: the samples.
    """

    keyed: bool
    data: Data

    def kernels(self, question: str, shared: Sequence[Point]) -> tuple[SampleKernel, SampleKernel | None]:
        """The kernel over samples, and the regularizer's if there is one."""
        ...


class Asked:
    """The kernels behind the questions of an update, for C++.

    names: the questions, and "key" where the update uses the key of the step. stream: the batches of the run.
    address: of the C++ struct, which lives as long as this; 0 if nothing is asked. kernels: by what was asked of the
    oracle, and about how many points.
    """

    def __init__(self, oracle: Answers, point: Point, names: Sequence[str], stream: Stream) -> None:
        self.kernels: dict[tuple[str, int], tuple[SampleKernel, SampleKernel | None]] = {}
        ends = np.cumsum([0, *(leaf.nbytes for leaf in point.leaves)])
        self._places = ends.astype(np.int64)
        size = point.leaves[0].itemsize
        dimension = int(ends[-1]) // size
        self._kernels: dict[int, tuple[SampleKernel, SampleKernel | None]] = {}
        self._batches: dict[int, int] = {}
        self._questions: list[CQuestion] = []
        self._all = CQuestions(keyed="key" in names, dimension=dimension, bytes=size, leaves=len(point.leaves))
        self._all.places = self._places.ctypes.data
        for name in names:
            if name in _FORMS:
                self._add(name, oracle, point, stream)
        self.address = ctypes.addressof(self._all) if names else 0

    def _add(self, name: str, oracle: Answers, point: Point, stream: Stream) -> None:
        form, number = _FORMS[name], QUESTIONS.index(name)
        samples, once = self._kernels[number] = oracle.kernels(form.kernel, [point] * form.points)
        self.kernels[form.kernel, form.points] = samples, once
        offsets = samples.layout.offsets
        batches = full(oracle.data.samples) if form.full else stream
        self._batches[number] = 1 if form.rows else int(batches.batch)
        samples.measure(self._batches[number], point.leaves * form.points)
        question = CQuestion(
            samples.together if form.rows else samples.summand(int(batches.batch)),
            once.summand(1) if once and not form.rows else Summand(),
            batches,
            form.points,
            offsets[0] if form.has_value else -1,
            offsets[int(form.has_value)] if form.has_vector else -1,
            form.rows,
        )
        self._questions.append(question)
        self._all.list[number] = ctypes.addressof(question)
        self._all.keyed |= int(oracle.keyed)

    @property
    def used(self) -> list[tuple[SampleKernel | None, int]]:
        """The kernels, and the batches that they are for."""
        pairs = [(self._kernels[number], batch) for number, batch in self._batches.items()]
        return [use for (samples, once), batch in pairs for use in ((samples, batch), (once, 1))]

    def error(self, status: int, sample: int) -> Exception | None:
        """The exception for an outcome of a step, if it was an answer that failed."""
        number = (status >> _NODE_BITS) - 1
        if number not in self._kernels:
            return None
        samples, once = self._kernels[number]
        of_samples = sample >= 0 or once is None
        batch = self._batches[number] if of_samples else 1
        cause: Any = samples if of_samples else once
        error = cause.error(status & ((1 << _NODE_BITS) - 1), sample, batch)
        error.add_note(f"The update asked for f.{QUESTIONS[number]}.")
        return error
