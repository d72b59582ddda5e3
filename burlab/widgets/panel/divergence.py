"""Ends of an axis for records that diverged: what came before counts, and the rest leaves the picture."""

from collections.abc import Iterable

import numpy as np

from .pyramid import Series

_GROWTH = 1e3  # times the first value: beyond it a record that is not watched any more has diverged
_ROOM = 10.0  # of a logarithmic axis above what counts
_LINEAR_ROOM = 0.5  # of a linear one, in heights of what counts


def before_divergence(y: Series) -> Series:
    """Return the values up to the last one that is no larger than the first, if later ones are far larger.

    Args:
        y: Finite values in order, shape (n,).

    >>> before_divergence(np.array([2.0, 1.0, 3.0, 0.5, 40.0, 1e300]))
    array([2. , 1. , 3. , 0.5])
    >>> before_divergence(np.array([2.0, 1.0, 30.0])).size
    3
    """
    sizes = np.abs(y)
    if not y.size or not sizes.max() > _GROWTH * sizes[0] > 0:
        return y
    return y[: np.flatnonzero(sizes <= sizes[0])[-1] + 1]


def calm_ends(
    records: Iterable[Series], whole: Iterable[Series] = (), *, log: bool
) -> tuple[float | None, float | None]:
    """Return the ends of an axis that some records would stretch after they diverged; None where nothing does.

    Args:
        records: Values in order, shape (n,) each; NaN separates several in a row.
        whole: Those of records that count to their end.
        log: Whether the axis is logarithmic.

    >>> calm_ends([np.array([2.0, 1.0, 1e300])], log=True), calm_ends([np.array([2.0, 1.0])], log=True)
    ((None, 20.0), (None, None))
    """
    pieces = [piece for y in records for piece in _finite_pieces(y)]
    calm = [before_divergence(piece) for piece in pieces]
    if all(part.size == piece.size for part, piece in zip(calm, pieces, strict=True)):
        return None, None
    watched = [piece for y in whole for piece in _finite_pieces(y)]
    known, counted = np.concatenate([*pieces, *watched]), np.concatenate([*calm, *watched])
    low, high = float(counted.min()), float(counted.max())
    room = _LINEAR_ROOM * ((high - low) or abs(high))
    top = high * _ROOM if log else high + room
    bottom = low - room
    return (bottom if not log and known.min() < bottom else None), (top if known.max() > top else None)


def _finite_pieces(y: Series) -> list[Series]:
    parts = np.split(y, np.flatnonzero(np.isnan(y)))
    return [kept for part in parts if (kept := part[np.isfinite(part)]).size]
