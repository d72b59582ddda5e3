"""Lines as tables: for a terminal and for a page."""

from collections.abc import Sequence
from html import escape

from .measure import Line
from .problem import Case, label

HEADS = ("engine", "way", "gate", "time", "x limit", "first", "arrays", "process")


def text(case: Case, lines: Sequence[Line]) -> str:
    """A table for a terminal."""
    parts = [case.title + (f"\n{case.note}" if case.note else "")]
    for size in _sizes(lines):
        group = [line for line in lines if line.size == size]
        rows = [HEADS, *(cells(line, limit(group)) for line in group)]
        widths = [max(len(row[k]) for row in rows if len(row) == len(HEADS)) for k in range(len(HEADS))]
        parts.append(
            "\n".join([f"-- {label(size)}"] * bool(size) + ["  ".join(_padded(row, widths)).rstrip() for row in rows])
        )
    return "\n".join(parts)


def html(case: Case, lines: Sequence[Line]) -> str:
    """The same as a piece of HTML."""
    parts = [f"<h2>{escape(case.title)}</h2>", f"<p>{escape(case.note)}</p>" * bool(case.note)]
    for size in _sizes(lines):
        group = [line for line in lines if line.size == size]
        parts.append(f"<h3>{escape(label(size))}</h3>" * bool(size))
        rows = "".join(_row(cells(line, limit(group))) for line in group)
        parts.append(f"<table><tr>{''.join(f'<th>{head}</th>' for head in HEADS)}</tr>{rows}</table>")
    return "".join(parts)


def cells(line: Line, best: float | None) -> tuple[str, ...]:
    """What a table says of a line; of one without a time, why it has none."""
    if line.seconds is None or line.verdict is None:
        reason = line.gap or "NOT TIMED: " + "; ".join(line.verdict.complaints[:3] if line.verdict else ())
        return line.engine, line.way, reason
    facts = line.facts
    return (
        line.engine,
        line.way,
        gate(line),
        duration(line.seconds),
        f"{line.seconds / best:.2f}" if best else "",
        duration(facts["jit"]) if "jit" in facts else "",
        volume(facts["arrays"]) if "arrays" in facts else "",
        volume(facts["peak_rss"]) if "peak_rss" in facts else "",
    )


def gate(line: Line) -> str:
    """What a verdict was based on: "jax 2e-16, differences 1e-9, 9/9 nodes"."""
    verdict = line.verdict
    if verdict is None:
        return ""
    parts = [verdict.against + (f" {max(verdict.error.values()):.0e}" if verdict.error else "")]
    if verdict.difference is not None:
        parts.append(f"diff {verdict.difference:.0e}")
    if verdict.visited:
        parts.append(f"{verdict.visited[0]:,}/{verdict.visited[1]:,} nodes")
    return ", ".join(parts)


def limit(lines: Sequence[Line]) -> float | None:
    """The time of the first kernel written by hand, where there is one: what ratios are to."""
    return next((line.seconds for line in lines if line.engine == "golden" and line.seconds), None)


def duration(seconds: float) -> str:
    """A time with its unit.

    >>> duration(1.234e-8), duration(0.5), duration(12.0)
    ('12.3 ns', '500 ms', '12 s')
    """
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def volume(nbytes: float) -> str:
    """An amount of memory with its unit.

    >>> volume(24.0), volume(1.5e6)
    ('24 B', '1.5 MB')
    """
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if nbytes >= size:
            return f"{nbytes / size:.3g} {unit}"
    return f"{nbytes:.0f} B"


def _sizes(lines: Sequence[Line]) -> list[dict[str, int]]:
    found = list[dict[str, int]]()
    for line in lines:
        if dict(line.size) not in found:
            found.append(dict(line.size))
    return found


def _padded(row: Sequence[str], widths: Sequence[int]) -> list[str]:
    return [f"{cell:<{width}}" for cell, width in zip(row, widths, strict=False)]


def _row(row: Sequence[str]) -> str:
    whole = len(row) == len(HEADS)
    last = "" if whole else f' colspan="{len(HEADS) - len(row) + 1}"'
    return (
        "<tr>"
        + "".join(f"<td{last if k == len(row) - 1 else ''}>{escape(cell)}</td>" for k, cell in enumerate(row))
        + "</tr>"
    )
