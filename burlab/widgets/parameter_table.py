"""Layers and tables of their parameters as HTML."""

from html import escape
from typing import TYPE_CHECKING

from burlab.charts.limits import shown_rows

from .drawing import framed

if TYPE_CHECKING:
    from burlab.nn import Layer, ModelSummary


def summary_html(table: "ModelSummary") -> str:
    """A row per parameter, numbers to the right, the sums below a line.

    >>> import burlab as bl
    >>> text = summary_html(bl.nn.summary({"a<b": bl.random.normal(bl.random.key(0), (2, 3))}))
    >>> "a&lt;b" in text, text.count("<tr>")
    (True, 3)
    """
    head, *rows, total = table.cells()
    shown, more = shown_rows(rows)
    body = "".join(_row("td", row) for row in shown)
    table_text = (
        f"<table><thead>{_row('th', head)}</thead><tbody>{body}</tbody><tfoot>{_row('th', total)}</tfoot></table>"
    )
    return framed(table_text + (f"<div>{more}</div>" if more else ""), "parameters")


def layer_html(layer: "Layer") -> str:
    """Return the table of a layer's parameters."""
    from burlab.nn import summary

    return summary_html(summary(layer))


def _row(kind: str, cells: tuple[str, ...]) -> str:
    sides = ["left"] * 3 + ["right"] * 2
    return f"<tr>{''.join(_cell(kind, side, text) for side, text in zip(sides, cells, strict=True))}</tr>"


def _cell(kind: str, side: str, text: str) -> str:
    return f'<{kind} style="text-align:{side};white-space:nowrap">{escape(text)}</{kind}>'
