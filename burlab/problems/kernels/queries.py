"""The queries of an update about its problem, as kernels: the ctypes mirror of `cpp/burlab/run/step/query.hpp`."""

import ctypes
from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np

from burlab.graph.query import QUERIES
from burlab.problems.data import Data
from burlab.problems.point import Point
from burlab.problems.sampling import Stream, full

from .abi import CLoss, Outcome, Summand
from .loss import Loss
from .sample_kernel import SampleKernel

_INT, _POINTER = ctypes.c_int64, ctypes.c_void_p


class _Form(NamedTuple):
    """How a query is answered. kernel: of the oracle; points: how many it is about; full: over all samples."""

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


class CQuery(ctypes.Structure):
    """One query."""

    _fields_ = (
        ("loss", CLoss),
        ("stream", Stream),
        ("points", _INT),
        ("value", _INT),
        ("vector", _INT),
        ("rows", _INT),
    )


class CQueries(ctypes.Structure):
    """The queries that the update of a run makes, and the form of x."""

    _fields_ = (
        ("list", _POINTER * len(QUERIES)),
        ("keyed", _INT),
        ("dimension", _INT),
        ("bytes", _INT),
        ("leaves", _INT),
        ("places", _POINTER),
    )


class Oracle(Protocol):
    """The source of the kernels: the oracle of a problem, or a file.

    keyed: whether samples take a random key. data: the samples.
    """

    keyed: bool
    data: Data

    def kernels(self, query: str, shared: Sequence[Point]) -> Loss:
        """The kernels that answer a query."""
        ...


class QueryKernels:
    """The kernels behind the queries of an update, for C++.

    names: the queries, and "key" where the update uses the key of the step. stream: the batches of the run. address: of
    the C++ struct, which lives as long as this; 0 if there are none. losses: by the oracle's name of the query, and by
    how many points it is about.
    """

    def __init__(self, oracle: Oracle, point: Point, names: Sequence[str], stream: Stream) -> None:
        self.losses: dict[tuple[str, int], Loss] = {}
        ends = np.cumsum([0, *(leaf.nbytes for leaf in point.leaves)])
        self._places = ends.astype(np.int64)
        size = point.leaves[0].itemsize
        dimension = int(ends[-1]) // size
        self._made: dict[int, tuple[Loss, int]] = {}  # by the number of a query, with its batch
        self._mirrors: list[CQuery] = []
        self._all = CQueries(keyed="key" in names, dimension=dimension, bytes=size, leaves=len(point.leaves))
        self._all.places = self._places.ctypes.data
        for name in names:
            if name in _FORMS:
                self._add(name, oracle, point, stream)
        self.address = ctypes.addressof(self._all) if names else 0

    def _add(self, name: str, oracle: Oracle, point: Point, stream: Stream) -> None:
        form, number = _FORMS[name], QUERIES.index(name)
        loss = self.losses[form.kernel, form.points] = oracle.kernels(form.kernel, [point] * form.points)
        batches = full(oracle.data.samples) if form.full else stream
        batch = 1 if form.rows else int(batches.batch)
        self._made[number] = loss, batch
        loss.measure(batch, point.leaves * form.points)
        offsets = loss.samples.layout.offsets
        rows = CLoss(samples=loss.samples.together, regularizer=Summand()) if form.rows else None
        query = CQuery(
            loss=rows or loss.mirror(int(batches.batch)),
            stream=batches,
            points=form.points,
            value=offsets[0] if form.has_value else -1,
            vector=offsets[int(form.has_value)] if form.has_vector else -1,
            rows=form.rows,
        )
        self._mirrors.append(query)
        self._all.list[number] = ctypes.addressof(query)
        self._all.keyed |= int(oracle.keyed)

    @property
    def used(self) -> list[tuple[SampleKernel | None, int]]:
        """The kernels, and the batches that they are for."""
        return [use for loss, batch in self._made.values() for use in ((loss.samples, batch), (loss.regularizer, 1))]

    def error(self, outcome: Outcome) -> Exception | None:
        """The exception for how a step ended, if a query failed."""
        if outcome.owner not in self._made:
            return None
        loss, batch = self._made[outcome.owner]
        error = loss.error(outcome, batch)
        error.add_note(f"The update asked for f.{QUERIES[outcome.owner]}.")
        return error
