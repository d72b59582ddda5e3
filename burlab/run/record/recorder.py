"""The protocol between records and their readers: history, path and live views."""

from typing import TYPE_CHECKING, Protocol

from burlab.runtime.coerce import Array

from .tables import PathColumns, RecordColumns, TableReader
from .view import EngineState

if TYPE_CHECKING:
    from .flop_model import FlopModel

FIRST, SAMPLES = "step", "samples"
COUNTERS = SAMPLES, "values", "hvps", "jvps", "partials", "surrogates"  # of one sample each, by the numbers of C++
FLOPS = "flops"  # which follow from the other counters: see `FlopModel`
BITS = "bits"  # a metric that a rule logs under this name is added up
COSTS = {
    SAMPLES: "sample gradients",
    "values": "sample values",
    "hvps": "Hessian-vector products of samples",
    "jvps": "derivatives of samples along vectors",
    "partials": "partial derivatives of samples",
    "surrogates": "surrogates of samples",
    BITS: "bits sent",
    FLOPS: "floating-point operations",
}
"""Labels of costs by column names; a record without the column has a cost of 0."""
IMPLICIT = SAMPLES, FLOPS, "time"  # columns that a record need not store; most hyperparameters are others


class Recorder(Protocol):
    """The owner of a record: a loop in C++, or a minimizer written in Python.

    columns: of the record, in order: value, gradient_norm, step_norm, what else is stored; among them hyperparameters
    that the update gives. start_hypers: all hyperparameters at step 0. batch: samples per step. dimension: of x.
    """

    columns: tuple[str, ...]
    start_hypers: dict[str, float]
    batch: int
    dimension: int

    @property
    def flops(self) -> "FlopModel":
        """Floating-point operations of steps and counts."""
        ...

    @property
    def record(self) -> RecordColumns:
        """A row per step."""
        ...

    @property
    def path(self) -> PathColumns | None:
        """Steps and points, if x has one or two entries."""
        ...

    @property
    def traces(self) -> TableReader:
        """Samples of its cost: the columns `traces.SAMPLED`."""
        ...

    def event_rows(self) -> tuple[Array, Array, Array]:
        """The changes so far: steps, positions among the hyperparameters, values."""
        ...

    def settle(self) -> None:
        """Wait until all changes are among the event rows."""
        ...

    def view(self) -> EngineState:
        """Return its state."""
        ...
