"""The gradient norms that criteria can read, and their columns in the record."""

from collections.abc import Sequence

from burlab.errors import ArgumentError
from burlab.optim.batches import ESTIMATOR_NORM
from burlab.runtime.checks.numbers import shown

BATCH, ESTIMATOR, FULL = "batch", "estimator", "full"
FULL_NORM = "full_gradient_norm"
NORMS = {BATCH: "gradient norm", ESTIMATOR: "norm of the estimate", FULL: "norm of the full gradient"}
"""Names for messages."""
_COLUMNS = {BATCH: "gradient_norm", ESTIMATOR: ESTIMATOR_NORM, FULL: FULL_NORM}


def check_of(of: object, limit: float | None, what: str) -> None:
    """Raise ArgumentError for a word that names no gradient, or one without a limit. what: the name of the limit."""
    if not isinstance(of, str) or of not in _COLUMNS:  # pyright: ignore[reportUnnecessaryIsInstance] - users pass anything
        raise ArgumentError(f"{what}.of must be one of {', '.join(map(repr, _COLUMNS))}; got {shown(of)}.")
    if of != BATCH and limit is None:
        raise ArgumentError(f"{what}.of={shown(of)} selects the norm of grad_norm. Pass grad_norm= with it.")


def column_of(of: str, columns: Sequence[str], steps_are_full: bool) -> int:
    """The column of a record that a criterion tests. Raises ArgumentError if the run has none.

    steps_are_full: True if every step computes the full gradient at `run.x`.
    """
    if of == FULL and steps_are_full:
        of = BATCH
    name = _COLUMNS[of]
    if name not in columns:
        advice = {
            ESTIMATOR: "its optimizer reports no estimate by f.estimated(v), or is not recorded: open the run with "
            'stop=bl.Stop(grad_norm=1e-6, of="estimator").',
            FULL: 'the run computes no full gradient: open it with stop=bl.Stop(grad_norm=1e-6, of="full").',
        }[of]
        raise ArgumentError(f"grad_norm is of={shown(of)}, but {advice}")
    return columns.index(name)
