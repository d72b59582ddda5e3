"""A chart of the bytes that live during one call, above the time line of its steps."""

from collections.abc import Sequence

import numpy as np

from burlab.charts import Axis, Band, Chart, Dots, Mark, Plot
from burlab.compiler.inspection.profile import Profile, ProfileRow
from burlab.typing import Numbers

_COLOURS = {"forward": 0, "backward": 1, "update": 2}
_KINDS = {"inputs": 6, "constants": 5, "outputs": 2, "activations": 0, "temporaries": 1}
_MAX_TRIANGLES = 60  # steps that signs above them can tell apart


def live_chart(profile: Profile, row: int | None = None) -> Chart:
    """Bytes by kind, stacked, and below them the steps, over the seconds of the call. row: the one that is marked.

    >>> import numpy as np, burlab as bl
    >>> profile = bl.compile(lambda x: np.sum(np.tanh(x @ x)), np.ones((8, 8))).profile(np.ones((8, 8)))
    >>> [plot.name for plot in live_chart(profile).parts]
    ['live', 'steps']
    """
    rows = [r for r in profile.rows if r.phase != "residual"]
    axis = Axis("time in the call", "s")
    edges = _edges(rows)
    stacked, low = list[Band](), np.zeros(2 * len(rows))
    for kind, counts in profile.live.items():
        if any(counts):
            high = low + np.repeat(np.array(counts, np.float64), 2)
            stacked.append(Band(edges, low, high, kind, _KINDS[kind], solid=True))
            low = high
    chosen = rows[row : row + 1] if row is not None and row >= 0 else []
    marks = tuple(Mark(_middle(one), one.name, kind="cursor") for one in chosen)
    live = Plot("live", "Bytes that live", axis, Axis("", "B", low=0.0), bands=tuple(stacked), marks=marks, tall=1.3)
    flat = Axis("", low=0.0, high=1.0)
    bands = _spans(rows) + tuple(Band(_edges([one]), np.zeros(2), np.ones(2), one.name, -1) for one in chosen)
    steps = Plot("steps", "Steps", axis, flat, bands=bands, dots=_dots(rows), marks=marks, tall=0.6)
    return Chart((live, steps), profile.name, f"bytes by kind and steps over one call of {profile.name}")


def row_at(profile: Profile, seconds: float) -> int:
    """The number of the row that ran at a time of the call."""
    rows = [r for r in profile.rows if r.phase != "residual"]
    return int(np.argmin([abs(_middle(r) - seconds) - r.nanoseconds / 2e9 for r in rows]))


def _edges(rows: Sequence[ProfileRow]) -> Numbers:
    """Return the start and the end of each row, in seconds."""
    return np.array([t for r in rows for t in (r.start / 1e9, (r.start + r.nanoseconds) / 1e9)])


def _middle(row: ProfileRow) -> float:
    return (row.start + row.nanoseconds / 2) / 1e9


def _spans(rows: Sequence[ProfileRow]) -> tuple[Band, ...]:
    """One band per phase, as high as the plot where a step of it runs."""
    bands: list[Band] = []
    for phase, colour in _COLOURS.items():
        mine = [r for r in rows if r.phase == phase]
        if mine:
            x = np.repeat(_edges(mine), 2)
            high = np.tile([0.0, 0.8, 0.8, 0.0], len(mine))
            bands.append(Band(x, np.zeros(x.size), high, phase, colour, solid=True))
    return tuple(bands)


def _dots(rows: Sequence[ProfileRow]) -> tuple[Dots, ...]:
    x = np.array([_middle(r) for r in rows])
    words = (f"{r.name}: {r.nanoseconds:,} ns, {r.nbytes:,} B, {', '.join(r.lines)} {r.scope}" for r in rows)
    hints = tuple(map(str.strip, words))
    shape = "triangle" if x.size <= _MAX_TRIANGLES else "none"
    return (Dots(x, np.full(x.size, 0.9), "", -1, shape, hints),) if rows else ()
