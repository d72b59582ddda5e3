"""What a session of measurements leaves: lines, and where they were taken."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from burlab.runtime.files import as_path, write_text

from . import table
from .measure import Line
from .problem import Case


@dataclass(frozen=True, slots=True, repr=False)
class Report:
    """cases: in their order. lines: one per size, engine and variant. machine: words about where and how.

    It shows itself as tables, wherever it stands.
    """

    cases: tuple[Case, ...]
    lines: tuple[Line, ...]
    machine: Mapping[str, str]

    def of(self, case: Case) -> list[Line]:
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
        from .page import page

        sections = ((table.html(case, self.of(case)), figures(case, self.of(case))) for case in self.cases)
        write_text(as_path(path), page(self.machine, sections, self.data()))

    def data(self) -> dict[str, Any]:
        """Everything that was measured, as JSON takes it."""
        lines = [{**asdict(line), "passed": bool(line.verdict and line.verdict.passed)} for line in self.lines]
        return {"machine": dict(self.machine), "lines": json.loads(json.dumps(lines))}
