"""Upper bounds on the size of charts, pictures and tables, whatever was recorded.

A page draws a chart anew many times a second on one thread, which handles no event meanwhile. Thinned curves keep
their ends, extremes and gaps; a note counts what is left out altogether.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from burlab.typing import Indices, Numbers

from .chart import Band, Chart, Curve, Dots, Map, Mark, Plot
from .stretch_extremes import extremes

POINTS = 2_500  # of a curve, a band, or dots: more than a screen has columns
POINTS_OF_PART = 6_000  # of all that one plot or map shows
POINTS_OF_CHART = 24_000  # of a chart that a page draws
POINTS_OF_STILL = 12_000  # of a picture that is stored in a notebook
CURVES = 300  # curves, bands or sets of dots of one plot or map
DOT = 8  # points that one dot counts for: each is a shape of its own
MARKS = 300  # lines across one plot
PARTS = 40  # plots and maps of a chart
SIDE = 201  # points along each side of a map
ROWS = 200  # of a table
_MIN_POINTS = 8  # of anything thinned
_MAX_UNTHINNED = 80  # points of a path that is never thinned
_VISIBLE_LENGTHS = 800  # lengths of a path across a picture that can be seen apart


def bounded(chart: Chart, most: int = POINTS_OF_CHART) -> Chart:
    """A chart that looks like this one and holds at most `most` points; itself where it holds no more.

    >>> steps = np.arange(1e6)
    >>> from burlab.charts import Axis
    >>> part = Plot("value", "Value", Axis("step"), Axis(), (Curve(steps, np.sin(steps)),))
    >>> bounded(Chart((part,))).parts[0].curves[0].x.size <= POINTS
    True
    """
    shown = chart.parts[:PARTS]
    counts = [_size(part) for part in shown]
    room = _shares(counts, most)
    parts = [_part(part, min(share, POINTS_OF_PART)) for part, share in zip(shown, room, strict=True)]
    if len(parts) < len(chart.parts):
        left = f"{len(chart.parts) - len(parts):,} more are not drawn"
        parts[-1] = replace(parts[-1], note="; ".join(filter(None, (parts[-1].note, left))))
    same = len(parts) == len(chart.parts) and all(a is b for a, b in zip(parts, chart.parts, strict=True))
    return chart if same else replace(chart, parts=tuple(parts))


def shown_rows(rows: Sequence[Any]) -> tuple[Sequence[Any], str]:
    """Return the rows of a table that are shown, and a note on the others, "" if there are none.

    >>> shown_rows(range(3)), shown_rows(range(1_200))[1]
    ((range(0, 3), ''), 'and 1,000 more')
    """
    more = len(rows) - ROWS
    return (rows, "") if more <= 0 else (rows[:ROWS], f"and {more:,} more")


def along(points: Numbers, most: int = POINTS, box: Numbers | None = None) -> Indices:
    """Positions of points, first and last among them, such that a line through them looks like all of it.

    points: shape (n, 2). They are as far apart along the path as can be seen, or farther where they are more than
    `most`. box: what is seen, shape (2, 2), the ends of both axes; None for all of the path.

    >>> along(np.ones((1000, 2)))
    array([  0, 999])
    """
    if len(points) <= min(_MAX_UNTHINNED, most):
        return np.arange(len(points))
    if box is not None:
        (low, high), reach = np.transpose(box), np.ptp(box, axis=1)
        points = np.clip(points, low - reach, high + reach)  # the distance of points outside does not matter
    lengths = np.linalg.norm(np.diff(points, axis=0), axis=1)
    length = np.concatenate([[0.0], np.cumsum(np.where(np.isfinite(lengths), lengths, 0.0))])
    extent = float(np.nanmax(np.ptp(points, axis=0), initial=0.0))
    missing: Any = np.isnan(points).any(axis=1)
    gaps = np.flatnonzero(missing & ~np.concatenate([[False], missing[:-1]]))[
        : most // 2
    ]  # where the line is interrupted
    cell = np.floor(length / max(extent / _VISIBLE_LENGTHS, length[-1] / max(most - gaps.size - 2, 1), 1e-300))
    kept = np.concatenate([[True], (np.diff(cell) > 0)[:-1], [True]])
    kept[gaps] = True
    return np.flatnonzero(kept)


def spread_extremes(rows: Sequence[Numbers], most: int) -> Any:
    """Positions of at most so many points of curves over one axis, all of one length.

    Of each stretch of equally many points the lowest and the highest of every curve and the first gap, and both ends.

    >>> spread_extremes([np.array([3.0, 1.0, 2.0, np.nan, 4.0, 0.0, 7.0, 6.0])], 5)
    array([0, 3, 5, 6, 7])
    """
    n = rows[0].size
    if n <= most:
        return np.arange(n)
    starts = np.linspace(0, n, max((most - 2) // (3 * len(rows)), 1), endpoint=False).astype(int)
    gaps = [extremes(np.where(np.isnan(y), 0.0, np.nan), starts) for y in rows if np.isnan(y).any()]
    return np.unique(np.concatenate([[0, n - 1], *(extremes(y, starts) for y in rows), *gaps]))


def _size(part: Plot | Map) -> int:
    bands = part.bands if isinstance(part, Plot) else ()
    return sum(_weight(one) * one.x.size for one in (*part.curves, *bands, *part.dots))


def _weight(one: Curve | Band | Dots) -> int:
    return DOT if isinstance(one, Dots) else 1


def _shares(sizes: Sequence[int], most: int) -> list[int]:
    """Return the number of points each may have, `most` in all: the small ones keep theirs.

    >>> _shares([10, 1000, 500], 510)
    [10, 250, 250]
    """
    room, left = dict.fromkeys(range(len(sizes)), 0), most
    order = sorted(room, key=lambda k: sizes[k])
    for done, k in enumerate(order):
        room[k] = min(sizes[k], left // (len(order) - done))
        left -= room[k]
    return [room[k] for k in range(len(sizes))]


def _part(part: Plot | Map, most: int) -> Plot | Map:
    plot = part if isinstance(part, Plot) else None
    groups: list[tuple[Any, ...]] = [part.curves, plot.bands if plot else (), part.dots]
    marks: tuple[Mark, ...] = plot.marks if plot else ()
    every = [one for group in groups for one in group]
    if isinstance(part, Map) and part.heights is not None and max(part.heights.shape) > SIDE:
        part = replace(part, heights=_field(part.heights), shade=None if part.shade is None else _field(part.shade))
    long = max((one.x.size for one in every), default=0) > POINTS
    if len(every) <= CURVES and len(marks) <= MARKS and _size(part) <= most and not long:
        return part
    every = every[:CURVES]
    left = sum(map(len, groups)) - len(every)
    room = _shares([_weight(one) * one.x.size for one in every], most)
    box = None if plot else np.array([[part.x.low, part.x.high], [part.y.low, part.y.high]], np.float64)
    kept = [_thinned(one, min(share // _weight(one), POINTS), box) for one, share in zip(every, room, strict=True)]
    curves = tuple(one for one in kept if isinstance(one, Curve))
    bands = tuple(one for one in kept if isinstance(one, Band))
    dots = tuple(one for one in kept if isinstance(one, Dots))
    note = "; ".join(filter(None, (part.note, f"{left:,} more are not drawn" if left else "")))
    common: dict[str, Any] = {"curves": curves, "dots": dots, "note": note}
    return replace(part, **common, **({} if plot is None else {"bands": bands, "marks": marks[-MARKS:]}))


def _field(heights: Numbers) -> Numbers:
    """A field of heights of at most `SIDE` rows and columns, by linear interpolation.

    >>> bool(np.allclose(_field(np.add.outer(np.arange(1_000.0), np.arange(3.0)))[-1], [999, 1000, 1001]))
    True
    """
    field: Any = heights
    for axis in (0, 1):
        n: int = field.shape[axis]
        if n > SIDE:
            at: Numbers = np.linspace(0, n - 1, SIDE)
            k = np.minimum(at.astype(int), n - 2)
            share = (at - k).reshape((-1, 1) if axis == 0 else (1, -1))
            field = (1 - share) * field.take(k, axis) + share * field.take(k + 1, axis)
    return field


def _thinned(one: Curve | Band | Dots, most: int, box: Numbers | None) -> Curve | Band | Dots:
    """A curve, a band or dots of at most so many points. box: of a map, on which curves go back and forth."""
    most = max(most, _MIN_POINTS)
    if one.x.size <= most:
        return one
    kept: Any
    if isinstance(one, Dots):
        ends = [end(np.where(np.isnan(at), 0.0, at)) for at in (one.x, one.y) for end in (np.argmin, np.argmax)]
        kept = np.unique([*np.linspace(0, one.x.size - 1, most - len(ends)).astype(int), *ends])
        chosen: list[int] = kept.tolist()
        hints = tuple(one.hints[k] for k in chosen) if len(one.hints) == one.x.size else one.hints
        return replace(one, x=one.x[kept], y=one.y[kept], hints=hints)
    if isinstance(one, Band):
        kept = spread_extremes((one.low, one.high), most)
        return replace(one, x=one.x[kept], low=one.low[kept], high=one.high[kept])
    kept = spread_extremes((one.y,), most) if box is None else along(np.stack([one.x, one.y], axis=1), most, box)
    return replace(one, x=one.x[kept], y=one.y[kept])
