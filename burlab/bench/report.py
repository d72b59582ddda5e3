"""Report of a session of measurements: results, and the machine that gave them."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from html import escape
from pathlib import Path
from typing import Any

from burlab.runtime.files import as_path, write_text

from . import table
from .measure import VariantResult
from .problem import Case

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


def page(machine: Mapping[str, str], sections: Iterable[tuple[str, Sequence[Any]]], data: object) -> str:
    """The page: where it was measured, a table and figures for each case, and the raw data as JSON.

    sections: for each case the HTML of its table, and Plotly figures. The data is in the element with the id "data".
    """
    facts = "".join(f"<dt>{escape(name)}</dt><dd>{escape(words)}</dd>" for name, words in machine.items())
    parts, scripts = list[str](), True
    for text, figures in sections:
        parts.append(text)
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


@dataclass(frozen=True, slots=True, repr=False)
class Report:
    """cases: in their order. lines: one per size, engine and variant. machine: words about where and how.

    It shows itself as tables, wherever it stands.
    """

    cases: tuple[Case, ...]
    lines: tuple[VariantResult, ...]
    machine: Mapping[str, str]

    def of(self, case: Case) -> list[VariantResult]:
        """The lines of one case."""
        return [line for line in self.lines if line.case == case.name]

    def __str__(self) -> str:
        parts = [table.text(case, self.of(case)) for case in self.cases]
        return "\n\n".join([*parts, "\n".join(f"{name:<9} {words}" for name, words in self.machine.items())])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return "".join(table.html(case, self.of(case)) for case in self.cases)

    def _repr_markdown_(self) -> str:
        return "\n\n".join(table.markdown(case, self.of(case)) for case in self.cases)

    def figures(self) -> list[Any]:
        """Plotly figures of all cases: times as bars, or time and memory against size."""
        from .figures import figures

        return [figure for case in self.cases for figure in figures(case, self.of(case))]

    def write(self, path: str | Path) -> None:
        """Write tables, figures and raw data as one HTML file that loads nothing from a network."""
        from .figures import figures
        from .report import page

        sections = ((table.html(case, self.of(case)), figures(case, self.of(case))) for case in self.cases)
        write_text(as_path(path), page(self.machine, sections, self.data()))

    def data(self) -> dict[str, Any]:
        """Everything that was measured, as JSON takes it."""
        lines = [{**asdict(line), "passed": bool(line.verdict and line.verdict.passed)} for line in self.lines]
        return {"machine": dict(self.machine), "lines": json.loads(json.dumps(lines))}
