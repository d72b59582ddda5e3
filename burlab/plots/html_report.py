"""A page for people who were not there: text and figures in one HTML file that carries its scripts inside."""

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from burlab.errors import ArgumentError
from burlab.runtime.files import write_text

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 960px; margin: 2rem auto; padding: 0 1rem; color: #222; }
h1 { font-weight: 600; } h2 { font-weight: 600; margin-top: 2rem; }
dl { display: grid; grid-template-columns: max-content auto; gap: .2rem 1.5rem; } dd { margin: 0; }
dt { color: #666; } ul { columns: 4; list-style: none; padding: 0; }
"""


def write_report(
    path: Path, title: str, facts: Mapping[str, str], figure: Any, lists: Mapping[str, Sequence[str]]
) -> None:
    """Write one HTML file that loads nothing from a network: a title, named facts, a plotly figure, lists of words.

    >>> import tempfile, plotly.graph_objects as go
    >>> folder = tempfile.TemporaryDirectory()
    >>> page = Path(folder.name) / "report.html"
    >>> write_report(page, "A run", {"loss": "2.3"}, go.Figure(), {"names": ["smith"]})
    >>> "<title>A run</title>" in page.read_text()
    True
    >>> folder.cleanup()
    """
    if not (isinstance(facts, Mapping) and isinstance(lists, Mapping) and hasattr(figure, "to_html")):  # pyright: ignore[reportUnnecessaryIsInstance] - users pass anything
        raise ArgumentError("write_report takes facts and lists by name, and a plotly figure between them.")
    title = str(title)
    rows = "".join(f"<dt>{escape(str(name))}</dt><dd>{escape(str(fact))}</dd>" for name, fact in facts.items())
    parts = "".join(
        f"<h2>{escape(str(name))}</h2><ul>{''.join(f'<li>{escape(str(word))}</li>' for word in words)}</ul>"
        for name, words in lists.items()
    )
    drawn = figure.to_html(full_html=False, include_plotlyjs=True, default_height="420px")
    write_text(
        path,
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f"<style>{_STYLE}</style></head><body><h1>{escape(title)}</h1><dl>{rows}</dl>{drawn}{parts}</body></html>\n",
    )
