"""A `Profile` as a table, with a bar as long as a step's share of the time."""

from html import escape
from typing import TYPE_CHECKING

from burlab.charts.palette import PALETTE
from burlab.widgets.drawing import framed

if TYPE_CHECKING:
    from burlab.compiler.inspection.profile import Profile, ProfileRow

MAX_ROWS = 200  # rows that a page shows at once and stays quick
_STILL_ROWS = 12  # rows of a page that cannot scroll
_COLOURS: dict[str, str] = {
    "forward": PALETTE[0], "backward": PALETTE[1], "update": PALETTE[2], "residual": PALETTE[-1]
}  # fmt: skip
_CELL = "padding:1px 8px;white-space:nowrap;text-align:"
_SIDES = ("left", "right", "right", "left", "left", "left", "left")


def profile_html(profile: "Profile") -> str:
    """A row per step, in their order; the phases have colours, and their sums stand above.

    Of a long profile those rows that take most of the time, and a word on the others.

    >>> import numpy as np, burlab as bl
    >>> profile_html(bl.compile(np.tanh, 0.5).profile(0.5)).count("<tr>")
    3
    """
    phases = dict.fromkeys(row.phase for row in profile.rows)
    sums = " ".join(
        f'<span style="color:{_COLOURS[p]}">&#9632;</span> {p} {profile.nanoseconds(p) / 1e3:,.2f} us' for p in phases
    )
    head = f"<b>{escape(profile.name)}</b>, {profile.gear}: {profile.total / 1e3:,.2f} us<br>{sums}"
    costly = sorted(range(len(profile.rows)), key=lambda k: -profile.rows[k].nanoseconds)
    shown = [profile.rows[k] for k in sorted(costly[:MAX_ROWS])]
    hidden = [profile.rows[k] for k in costly[MAX_ROWS:]]
    if hidden:
        share = sum(row.nanoseconds for row in hidden) / max(profile.total, 1)
        head += (
            f'<div role="note"><i>{len(hidden):,} of {len(profile.rows):,} rows are not shown, the shortest, '
            f"{share:.1%} of the time together. print(profile) lists all of them.</i></div>"
        )
    titles = ("", "time, us", "bytes", "step", "shape", "line", "scope")
    body = _line("th", titles) + "".join(_row(row, profile.total) for row in shown)
    return f"<div>{head}</div>{framed(f'<table>{body}</table>', 'steps of the profile')}"


def profile_markdown(profile: "Profile") -> str:
    """The same for pages that read no HTML, such as GitHub's: the rows that take most, the longest first.

    >>> import numpy as np, burlab as bl
    >>> print(profile_markdown(bl.compile(np.tanh, 0.5).profile(0.5)).splitlines()[3])
    | ---: | ---: | ---: | --- | --- | --- | --- |
    """
    costly = sorted(profile.rows, key=lambda row: -row.nanoseconds)
    shown = costly[:_STILL_ROWS]
    hidden = len(costly) - len(shown)
    head = f"{profile.name}, {profile.gear}: {profile.total / 1e3:,.2f} µs in {len(costly):,} steps"
    lines = [f"{head}; the {len(shown)} longest" if hidden else head, ""]
    lines += [
        "| time, µs | share | bytes | step | phase | scope | line |",
        "| ---: | ---: | ---: | --- | --- | --- | --- |",
    ]
    for row in shown:
        share = row.nanoseconds / max(profile.total, 1)
        words = (row.name, row.phase, row.scope, ", ".join(row.lines))
        texts = (word.replace("|", r"\|").replace("*", r"\*") for word in words)
        lines.append(f"| {row.nanoseconds / 1e3:,.2f} | {share:.1%} | {row.nbytes:,} | {' | '.join(texts)} |")
    return "\n".join(lines)


def _line(kind: str, cells: tuple[str, ...]) -> str:
    """A row of cells that hold HTML."""
    entries = (f'<{kind} style="{_CELL}{side}">{cell}</{kind}>' for side, cell in zip(_SIDES, cells, strict=True))
    return f"<tr>{''.join(entries)}</tr>"


def _row(row: "ProfileRow", total: int) -> str:
    width = 120 * row.nanoseconds / max(total, 1)
    bar = f'<div style="height:0.8em;width:{max(width, 1):.1f}px;background:{_COLOURS[row.phase]}"></div>'
    cells = (
        f"{row.nanoseconds / 1e3:,.2f}",
        f"{row.nbytes:,}",
        escape(row.name),
        " x ".join(map(str, row.shape)),
        escape(", ".join(row.lines)),
        escape(row.scope),
    )
    return _line("td", (bar, *cells))
