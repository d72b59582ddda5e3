"""A report as one HTML file that loads nothing: tables, pictures, where it was measured, and the raw data."""

import json
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 1100px; margin: 2rem auto; padding: 0 1rem; color: #222; }
h1, h2 { font-weight: 600; } h2 { margin-top: 2.5rem; } h3 { margin-bottom: .3rem; }
dl { display: grid; grid-template-columns: max-content auto; gap: .2rem 1.5rem; } dd { margin: 0; } dt { color: #666; }
table { border-collapse: collapse; font-size: 13px; } th, td { padding: .15rem .8rem .15rem 0; text-align: left; }
th { border-bottom: 1px solid #999; font-weight: 600; } td { font-variant-numeric: tabular-nums; }
"""
_LEGEND = """Each variant was timed only after its gradients agreed with a second engine (named, with the largest
relative error of a tensor) and with differences along random directions (diff), and, on tapes and in replay, after its
sweep had visited every node. "x limit" is the ratio to the first kernel written by hand, "x NumPy" that to the loop in
NumPy, in the same rounds; "first" is the time from the function to the first gradient or step in a running process,
compilation included; "arrays" what the engine counts; "process" the most that the operating system has given to the
whole process."""


def page(machine: Mapping[str, str], sections: Iterable[tuple[str, Sequence[Any]]], data: Any) -> str:
    """The page: where it was measured, a table and figures for each case, and the raw data as JSON.

    sections: for each case the HTML of its table, and Plotly figures. The data is in the element with the id "data".
    """
    facts = "".join(f"<dt>{escape(name)}</dt><dd>{escape(words)}</dd>" for name, words in machine.items())
    parts, scripts = list[str](), True
    for table, figures in sections:
        parts.append(table)
        for figure in figures:
            parts.append(figure.to_html(full_html=False, include_plotlyjs=scripts))
            scripts = False
    return _page("burlab bench", facts, parts, json.dumps(data).replace("</", "<\\/"))


def _page(title: str, machine: str, parts: Sequence[Any], data: str) -> str:
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title><style>{_STYLE}</style>'
        f"</head><body><h1>{title}</h1><dl>{machine}</dl><p>{escape(_LEGEND)}</p>{''.join(parts)}"
        f'<script type="application/json" id="data">{data}</script></body></html>\n'
    )
