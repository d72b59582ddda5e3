"""Tables as HTML: parameters of layers, and other cells."""

from collections.abc import Collection, Sequence
from html import escape
from typing import TYPE_CHECKING

from burlab.charts.limits import shown_rows

from .drawing import framed

if TYPE_CHECKING:
    from burlab.analysis import DigitsReport, GearReport
    from burlab.compiler.inspection.operation_counts import Counts
    from burlab.nn import Layer, ModelSummary

Cells = Sequence[str]
_RED = ' style="color:#c62828"'


def table(head: Cells, rows: Sequence[Cells], *, foot: Cells = (), sides: str = "", red: Collection[int] = ()) -> str:
    """A table of text.

    foot: a row below a line. sides: "<" or ">" for each column; "" leaves that to a style sheet. red: numbers of rows
    to draw in red.

    >>> table(("name", "bytes"), [("<x>", "8")])
    '<table><thead><tr><th>name</th><th>bytes</th></tr></thead><tbody><tr><td>&lt;x&gt;</td><td>8</td></tr></tbody></table>'
    """
    styles = [f' style="text-align:{"right" if side == ">" else "left"};white-space:nowrap"' for side in sides]

    def line(tag: str, cells: Cells, style: str = "") -> str:
        entries = zip(styles or [""] * len(cells), cells, strict=True)
        return f"<tr{style}>{''.join(f'<{tag}{side}>{escape(cell)}</{tag}>' for side, cell in entries)}</tr>"

    body = "".join(line("td", row, _RED if k in red else "") for k, row in enumerate(rows))
    end = f"<tfoot>{line('th', foot)}</tfoot>" if foot else ""
    return f"<table><thead>{line('th', head)}</thead><tbody>{body}</tbody>{end}</table>"


def summary_html(summary: "ModelSummary") -> str:
    """A row per parameter, numbers to the right, the sums below a line.

    >>> import burlab as bl
    >>> text = summary_html(bl.nn.summary({"a<b": bl.random.normal(bl.random.key(0), (2, 3))}))
    >>> "a&lt;b" in text, text.count("<tr>")
    (True, 3)
    """
    head, *rows, total = summary.cells()
    shown, more = shown_rows(rows)
    rest = f"<div>{more}</div>" if more else ""
    return framed(table(head, shown, foot=total, sides="<<<>>") + rest, "parameters")


def counts_html(counts: "Counts") -> str:
    """The tables by operation and by module under a title, then what is assumed.

    >>> import numpy as np, burlab as bl
    >>> counts_html(bl.counts(np.tanh, np.ones(3))).count("<tr>")
    3
    """
    parts = (table(head, shown_rows(rows)[0], foot=total, sides="<" + ">" * 9)
             for head, *rows, total in counts.tables())  # fmt: skip
    notes = "".join(f"<div><i>{escape(note)}</i></div>" for note in counts.notes)
    return f"<div><b>{escape(counts.title)}</b></div>{framed(''.join(parts), 'operations by kind')}{notes}"


def gears_html(report: "GearReport") -> str:
    """A row per comparison under a title, broken promises in red, then the errors.

    >>> import burlab as bl
    >>> gears_html(bl.check_gears(lambda x: 2 * x, 1.0)).count("color:#c62828")
    0
    """
    head, *rows = report.cells()
    red = [k for k, row in enumerate(report.rows) if not row.ok]
    errors = "".join(f"<div>{escape(text)}</div>" for text in report.errors())
    title = f"<div><b>{escape(report.title)}</b></div>"
    return title + framed(table(head, rows, sides="<<>><", red=red), "differences between gears") + errors


def digits_html(report: "DigitsReport") -> str:
    """A row for each line under a title, those that lose digits in red.

    >>> import numpy as np, burlab as bl
    >>> digits_html(bl.digits(lambda x: np.exp(x) - 1)(1e-9)).count("color:#c62828")
    1
    """
    head, *rows = report.cells()
    red = [k for k, row in enumerate(report.shown) if row in report.losses]
    title = f"<div><b>{escape(report.title)}</b></div>"
    notes = "".join(f"<div><i>{escape(note)}</i></div>" for note in report.notes)
    return title + framed(table(head, rows, sides="<<<<>>>>", red=red), "right digits by line") + notes


def layer_html(layer: "Layer") -> str:
    """Return the table of a layer's parameters."""
    from burlab.nn import summary

    return summary_html(summary(layer))
