"""`burlab gallery`: the tutorials with their outputs, as pages of Markdown with SVG pictures that GitHub shows."""

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from burlab.charts.palette import INK
from burlab.plots.still_figure import Content, numbers, still
from burlab.runtime.extras import require
from burlab.runtime.files import write_text

_SECONDS = 900  # that a cell may take
_LINES = 40  # of an output's text
WAIT_CODE = "import time; time.sleep(3)"  # pictures of what has just come to rest are on their way
_SVG = re.compile(r"<svg\b.*?</svg>", re.DOTALL)
_CODES = re.compile(r"\x1b\[[0-9;]*m")  # colours of a terminal
_CELL_FILE = re.compile(r"^\S*ipykernel_\d+\S*:\d+: (?=\w*Warning: )", re.MULTILINE)  # where a cell was kept
_LOCAL_LINK = re.compile(r"\]\((?=[\w./-]+\.(?:ipynb|md)\))")  # the beginning of one to a tutorial or a recipe
_ELSEWHERE = "*A figure of plotly stands here in the notebook.*"


def make(notebooks: Iterable[Path], folder: Path) -> Iterator[Path]:
    """Run notebooks, each in a kernel of its own, and write a page and a folder of pictures for each. Gives the pages.

    Raises nbclient's CellExecutionError where a cell raises.
    """
    nbformat, nbclient = require("nbformat", "lab"), require("nbclient", "lab")
    for path in notebooks:
        content = nbformat.read(path, as_version=4)
        content.cells.append(nbformat.v4.new_code_cell(WAIT_CODE))
        where = {"metadata": {"path": str(path.parent)}}
        nbclient.NotebookClient(content, timeout=_SECONDS, resources=where).execute()
        yield write(path, content.cells[:-1], folder)


def write(notebook: Path, cells: Iterable[Any], folder: Path) -> Path:
    """Write the page of a notebook that was run, with its pictures beside it; those of an older page go."""
    name, beside = notebook.stem, Path(os.path.relpath(notebook.parent, folder)).as_posix()
    pictures = folder / name
    pictures.mkdir(parents=True, exist_ok=True)
    for old in pictures.glob("*.svg"):
        old.unlink()
    shown: list[str] = []
    for cell in cells:
        if cell["cell_type"] == "markdown":
            shown.append(_LOCAL_LINK.sub(rf"]({beside}/", cell["source"]))
        elif cell["cell_type"] == "code":
            shown.append(f"```python\n{cell['source']}\n```")
            shown += [text for output in _joined(cell["outputs"]) for text in _shown(output, pictures)]
    page = folder / f"{name}.md"
    write_text(page, "\n\n".join(text.strip("\n") for text in shown) + "\n")
    return page


def _joined(outputs: Iterable[Any]) -> list[Any]:
    """Outputs, where what was printed in pieces is one."""
    joined: list[Any] = []
    for output in outputs:
        if joined and "text" in output and "text" in joined[-1]:
            joined[-1] = {"text": joined[-1]["text"] + output["text"]}
        else:
            joined.append(output)
    return joined


def _shown(output: dict[str, Any], pictures: Path) -> Iterator[str]:
    """Yield the Markdown of an output."""
    data = output.get("data", {})
    if "image/svg+xml" in data:
        yield _write_picture(data["image/svg+xml"], pictures)
    elif "application/vnd.plotly.v1+json" in data:
        figure = data["application/vnd.plotly.v1+json"]
        drawn = still(figure)
        yield _write_picture(drawn, pictures) if drawn else _table(figure) or _ELSEWHERE
    elif drawn := _SVG.findall(data.get("text/html", "")):
        yield from (_write_picture(_alone(svg), pictures) for svg in drawn)
    elif "text/markdown" in data:
        yield data["text/markdown"]
    elif "application/vnd.jupyter.widget-view+json" not in data and "burlab-kept" not in data.get("text/html", ""):
        words = output.get("text") or data.get("text/plain", "")
        yield from _text_block(
            "" if words.startswith("<IPython.core.display") else words
        )  # a page that moved, as progress does


def _table(figure: Content) -> str:
    """The bars of a figure as a table: a column for each trace, a row for each bar. "" for another figure."""
    bars = figure.get("data", ())
    if not bars or any(bar.get("type") != "bar" for bar in bars):
        return ""
    lying = any(bar.get("orientation") == "h" for bar in bars)
    place, length = ("y", "x") if lying else ("x", "y")
    columns = [dict(zip(numbers(bar[place]).tolist(), numbers(bar[length]).tolist(), strict=True)) for bar in bars]
    rows = [["", *(bar.get("name", "").replace("|", r"\|") for bar in bars)], ["---", *("---:" for _ in bars)]]
    places = dict.fromkeys(place for column in columns for place in column)
    rows += [[str(x), *(f"{column[x]:.3g}" if x in column else "" for column in columns)] for x in places]
    layout = figure["layout"]
    titles = [place.get("title", {}).get("text", "") for place in (layout, layout.get(f"{length}axis", {}))]
    head = f"*{': '.join(filter(None, titles))}*\n\n" if any(titles) else ""
    return head + "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _write_picture(svg: str, pictures: Path) -> str:
    """Write a picture to a file and return the link to it."""
    place = pictures / f"{len(list(pictures.glob('*.svg'))) + 1}.svg"
    write_text(place, svg + "\n")
    return f"![{pictures.name}]({pictures.name}/{place.name})"


def _alone(svg: str) -> str:
    """Return a picture that no page surrounds, with the colours that a page would set."""
    head = svg.partition(">")[0]
    missing = [("xmlns", "http://www.w3.org/2000/svg"), ("color", INK)]
    added = "".join(f' {name}="{value}"' for name, value in missing if f" {name}=" not in head)
    return svg.replace("<svg", f"<svg{added}", 1)


def _text_block(text: str) -> Iterator[str]:
    lines = _CELL_FILE.sub("", _CODES.sub("", text)).splitlines()
    if any(line.strip() for line in lines):
        more = [f"... {len(lines) - _LINES} more lines"] if len(lines) > _LINES else []
        yield "\n".join(["```", *lines[:_LINES], *more, "```"])
