"""Lines as tables: for a terminal, for a page, and for text that a page is made of."""

from collections.abc import Sequence
from html import escape
from typing import Any

from burlab.runtime.checks.text_table import columns

from .measure import VariantResult
from .problem import Case, label

HEADS = ("engine", "variant", "gate", "time", "x limit", "first", "arrays", "process", "added", "energy")
_RATIO = {"numpy": "x NumPy"}  # the head of ratios, where the baseline is no kernel written by hand
_WORDS = HEADS[:3]  # columns without numbers
_Rows = list[tuple[str, ...]]


def text(case: Case, lines: Sequence[VariantResult]) -> str:
    """A table for a terminal."""
    parts = [case.title + (f"\n{case.note}" if case.note else "")]
    for size in _sizes(lines):
        rows = _rows([line for line in lines if line.size == size])
        parts += [f"-- {label(size)}"] if size else []
        parts += columns(rows)
    return "\n".join([*parts, *case.conclusions(lines)])


def html(case: Case, lines: Sequence[VariantResult]) -> str:
    """The same as a piece of HTML."""
    parts = [f"<h2>{escape(case.title)}</h2>", f"<p>{escape(case.note)}</p>" if case.note else ""]
    for size in _sizes(lines):
        heads, *rows = _rows([line for line in lines if line.size == size])
        parts.append(f"<h3>{escape(label(size))}</h3>" if size else "")
        top = "".join(f"<th>{head}</th>" for head in heads)
        parts.append(f"<table><tr>{top}</tr>{''.join(_row(row, len(heads)) for row in rows)}</table>")
    parts += [f"<p>{escape(sentence)}</p>" for sentence in case.conclusions(lines)]
    return "".join(parts)


def markdown(case: Case, lines: Sequence[VariantResult]) -> str:
    """The same as Markdown, as GitHub shows it."""
    parts = [f"*{case.title}*", *([case.note] if case.note else [])]
    for size in _sizes(lines):
        heads, *rows = _rows([line for line in lines if line.size == size])
        rule = ["---" if head in _WORDS else "---:" for head in heads]
        whole = [[*row, *[""] * (len(heads) - len(row))] for row in rows]
        table = [f"| {' | '.join(cell.replace('|', '&#124;') for cell in row)} |" for row in (heads, rule, *whole)]
        parts += [*([label(size)] if size else []), "\n".join(table)]
    return "\n\n".join([*parts, *case.conclusions(lines)])


def _rows(lines: Sequence[VariantResult]) -> _Rows:
    """The heads and a row for each line, without the columns that would be empty; one without a time is shorter."""
    best = baseline(lines)
    heads = tuple(_RATIO.get(best.engine, head) if best and head == HEADS[4] else head for head in HEADS)
    rows = _merged([cells(line, limit(lines)) for line in lines])
    used = [k for k, _ in enumerate(HEADS) if k < 4 or any(len(row) > k and row[k] for row in rows)]
    whole = len(HEADS)
    return [tuple(row[k] for k in used) if len(row) == whole else row for row in [heads, *rows]]


def _merged(rows: _Rows) -> _Rows:
    """Variants of one engine without a time, for one and the same reason, are one row."""
    found: _Rows = []
    for row in rows:
        before = found[-1] if found else ()
        if len(row) == len(_WORDS) and before[::2] == row[::2]:
            found[-1] = (row[0], "", row[2])
        else:
            found.append(row)
    return found


def cells(line: VariantResult, best: float | None) -> tuple[str, ...]:
    """Return the cells of a result; of one without a time, the reason."""
    if line.seconds is None or line.verdict is None:
        reason = line.gap or "NOT TIMED: " + "; ".join(line.verdict.complaints[:3] if line.verdict else ())
        return line.engine, line.variant, reason
    facts = line.facts
    return (
        line.engine,
        line.variant,
        gate(line),
        duration(line.seconds),
        ratio(line.seconds / best) if best else "",
        duration(facts["jit"]) if "jit" in facts else "",
        volume(facts["arrays"]) if "arrays" in facts else "",
        volume(facts["peak_rss"]) if "peak_rss" in facts else "",
        volume(max(facts["added"], 0.0)) if "added" in facts else "",
        quantity(facts["joules"], "J") if "joules" in facts else "",
    )


def gate(line: VariantResult) -> str:
    """Return the evidence of a verdict: "jax 2e-16, differences 1e-9, 9/9 nodes"."""
    verdict = line.verdict
    if verdict is None:
        return ""
    parts = [verdict.against + (f" {_error(max(verdict.error.values()))}" if verdict.error else "")]
    if verdict.difference is not None:
        parts.append(f"diff {_error(verdict.difference)}")
    if verdict.visited:
        parts.append(f"{verdict.visited[0]:,}/{verdict.visited[1]:,} nodes")
    return ", ".join(parts)


def baseline(lines: Sequence[VariantResult]) -> VariantResult | None:
    """Return the result that ratios are to: the first kernel written by hand, else the first loop in NumPy, if any."""
    timed = [line for line in lines if line.seconds is not None]
    return next((line for name in ("golden", "numpy") for line in timed if line.engine == name), None)


def limit(lines: Sequence[VariantResult]) -> float | None:
    """The time of the baseline."""
    line = baseline(lines)
    return line.seconds if line else None


def ratio(number: float) -> str:
    """Return a ratio as text.

    >>> ratio(1.234), ratio(35954.06)
    ('1.23', '35,954')
    """
    return f"{number:.2f}" if number < 100 else f"{number:,.0f}"


def duration(seconds: float) -> str:
    """A time with its unit.

    >>> duration(1.234e-8), duration(0.5), duration(12.0)
    ('12.3 ns', '500 ms', '12 s')
    """
    return quantity(seconds, "s")


def volume(nbytes: float) -> str:
    """An amount of memory with its unit.

    >>> volume(24.0), volume(1.5e6), volume(0.0)
    ('24 B', '1.5 MB', '0 B')
    """
    return quantity(nbytes, "B")


def quantity(number: float, unit: str) -> str:
    """Three digits, and a unit of the right size.

    >>> quantity(0.00123, "J")
    '1.23 mJ'
    """
    if not number:
        return f"0 {unit}"
    for prefix, size in (("G", 1e9), ("M", 1e6), ("k", 1e3), ("", 1.0), ("m", 1e-3), ("u", 1e-6)):
        if number >= size and (unit != "s" or size <= 1.0):
            return f"{number / size:.3g} {prefix}{unit}"
    return f"{number / 1e-9:.3g} n{unit}"


def _error(number: float) -> str:
    return f"{number:.0e}" if number else "0"


def _sizes(lines: Sequence[VariantResult]) -> list[dict[str, Any]]:
    found = list[dict[str, Any]]()
    for line in lines:
        if dict(line.size) not in found:
            found.append(dict(line.size))
    return found


def _row(row: Sequence[str], columns: int) -> str:
    last = "" if len(row) == columns else f' colspan="{columns - len(row) + 1}"'
    shown = [f"<td{last if k == len(row) - 1 else ''}>{escape(cell)}</td>" for k, cell in enumerate(row)]
    return f"<tr>{''.join(shown)}</tr>"
