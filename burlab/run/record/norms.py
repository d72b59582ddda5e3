"""Which gradient's norm a criterion is about, and the column of the record that holds it."""

from collections.abc import Sequence
from typing import Any

from burlab.errors import ArgumentError
from burlab.optim.batches import ESTIMATOR_NORM
from burlab.runtime.checks.numbers import shown

BATCH, ESTIMATOR, FULL = "batch", "estimator", "full"
FULL_NORM = "full_gradient_norm"
NORMS = {BATCH: "gradient norm", ESTIMATOR: "norm of the estimate", FULL: "norm of the full gradient"}
"""In words."""
_COLUMNS = {BATCH: "gradient_norm", ESTIMATOR: ESTIMATOR_NORM, FULL: FULL_NORM}


def check_of(of: Any, limit: float | None, what: str) -> None:
    """Raise ArgumentError for a word that names no gradient, or one without a limit. what: has the limit."""
    if not isinstance(of, str) or of not in _COLUMNS:  # pyright: ignore[reportUnnecessaryIsInstance] - users pass anything
        raise ArgumentError(f"{what}.of={shown(of)} is unknown, expected one of {', '.join(map(repr, _COLUMNS))}.")
    if of != BATCH and limit is None:
        raise ArgumentError(f"{what}.of={shown(of)} says which norm grad_norm is about. Pass grad_norm= with it.")


def column_of(of: str, columns: Sequence[str], steps_are_full: bool) -> int:
    """The column of a record that a criterion is about. Raises ArgumentError where the run has none.

    steps_are_full: whether the gradient of every step is the full one, at the point that the run gives.
    """
    if of == FULL and steps_are_full:
        of = BATCH
    name = _COLUMNS[of]
    if name not in columns:
        advice = {
            ESTIMATOR: "its optimizer says no estimate, by f.estimated(v), or was not asked to: open the run with "
            'stop=bl.Stop(grad_norm=1e-6, of="estimator").',
            FULL: 'the run computes no full gradient: open it with stop=bl.Stop(grad_norm=1e-6, of="full").',
        }[of]
        raise ArgumentError(f"grad_norm is of={shown(of)}, but {advice}")
    return columns.index(name)
