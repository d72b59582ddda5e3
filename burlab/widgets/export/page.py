"""One file of HTML that needs nothing else: its scripts, its styles and its data are inside."""

import hashlib
import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any, cast

from burlab._version import __version__
from burlab.charts.limits import shown_rows
from burlab.widgets.assets import CHART_STYLE, bundled, styles
from burlab.widgets.html_table import table

_STYLES = (CHART_STYLE, "surface/surface.css", "graph_view/view.css", "export/page.css")


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a page.

    kind: which function of the scripts brings it to life. still: SVG, seen where scripts are not run. data: what the
    function gets: what JSON can say, and buffers. title: its heading, "" for none.
    """

    kind: str
    still: str
    data: Mapping[str, Any]
    title: str = ""


@dataclass(frozen=True, slots=True)
class Page:
    """A page. title: its heading. facts: names and values below it. rows: a table, its head first; () for none."""

    title: str
    facts: Sequence[tuple[str, str]]
    sections: Sequence[Section]
    rows: Sequence[Sequence[str]] = field(default=())


def html(page: Page) -> str:
    """The text of the file. Whatever it shows is escaped; a policy inside lets nothing run but its own script.

    >>> html(Page("a < b", (), ())).count("a &lt; b")
    2
    """
    data = _text([{"kind": section.kind, "data": section.data} for section in page.sections])
    script = bundled("export/page.js")
    allowed = b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; script-src 'sha256-{allowed}'; style-src 'unsafe-inline'; img-src data: blob:; "
        "base-uri 'none'; form-action 'none'"
    )
    body = "".join(_section(section) for section in page.sections)
    facts = "".join(f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in page.facts)
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="burlab {__version__}">
<title>{escape(page.title)}</title>
<style>
{styles(*_STYLES)}
</style>
</head>
<body>
<header><h1>{escape(page.title)}</h1></header>
<main>
<dl class="burlab-facts">{facts}</dl>
{_table(page.rows)}
{body}
</main>
<footer>Made with burlab {__version__}</footer>
<script type="application/json" id="burlab-data">{data}</script>
<script type="module">{script}</script>
</body>
</html>
"""


def _section(section: Section) -> str:
    title = f"<h2>{escape(section.title)}</h2>" if section.title else ""
    return f'<section>{title}<div class="burlab-place"><div class="burlab-first">{section.still}</div></div></section>'


def _table(rows: Sequence[Sequence[str]]) -> str:
    if not rows:
        return ""
    others, more = shown_rows(rows[1:])
    return f'<div class="burlab-table">{table(rows[0], others)}{more}</div>'


def _text(data: Any) -> str:
    """JSON inside of a script element: buffers as base64, and nothing that could end the element."""
    return json.dumps(_plain(data), allow_nan=False, ensure_ascii=False).replace("<", "\\u003c")


def _plain(data: Any) -> Any:
    if isinstance(data, memoryview):
        return b64encode(cast("memoryview[int]", data)).decode()
    if isinstance(data, Mapping):
        return {str(key): _plain(value) for key, value in cast("Mapping[Any, Any]", data).items()}
    if isinstance(data, (list, tuple)):
        return [_plain(value) for value in cast("Sequence[Any]", data)]
    return data
