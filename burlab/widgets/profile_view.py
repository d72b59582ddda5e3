"""How a `Profile` looks in a notebook: a table, with a bar as long as a step's share of the time."""

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from burlab.compiler.inspection.profile import Profile, Row

_COLORS = {"forward": "#4c78a8", "backward": "#f58518", "update": "#54a24b", "residual": "#9d9d9d"}
_STYLE = "text-align:left;padding:1px 8px;white-space:nowrap"


def profile_html(profile: "Profile") -> str:
    """A row per step, in their order; the phases have colours, and their sums stand above.

    >>> import numpy as np, burlab as bl
    >>> profile_html(bl.compile(np.tanh, 0.5).profile(0.5)).count("<tr>")
    3
    """
    phases = dict.fromkeys(row.phase for row in profile.rows)
    sums = " ".join(
        f'<span style="color:{_COLORS[p]}">&#9632;</span> {p} {profile.nanoseconds(p) / 1e3:,.2f} us' for p in phases
    )
    head = f"<b>{escape(profile.name)}</b>, {profile.gear}: {profile.total / 1e3:,.2f} us<br>{sums}"
    titles = ("", "time, us", "bytes", "step", "shape", "line", "scope")
    first = "".join(f'<th style="{_STYLE}">{title}</th>' for title in titles)
    body = "".join(_row(row, profile.total) for row in profile.rows)
    table = f'<table style="font-size:90%"><tr>{first}</tr>{body}</table>'
    return f'<div style="overflow:auto;max-height:36em">{head}{table}</div>'


def _row(row: "Row", total: int) -> str:
    width = 120 * row.nanoseconds / max(total, 1)
    bar = f'<div style="height:0.8em;width:{max(width, 1):.1f}px;background:{_COLORS[row.phase]}"></div>'
    cells = (
        f"{row.nanoseconds / 1e3:,.2f}",
        f"{row.nbytes:,}",
        escape(row.name),
        " x ".join(map(str, row.shape)),
        escape(", ".join(row.lines)),
        escape(row.scope),
    )
    texts = "".join(f'<td style="{_STYLE}">{cell}</td>' for cell in cells)
    return f'<tr><td style="{_STYLE}">{bar}</td>{texts}</tr>'
