"""The pages of docs/papers: what each says of itself, how it runs, its picture, and the index of all.

python docs/papers.py                       writes the index
python docs/papers.py top_kast monarch      runs these pages first, and writes their pictures
python docs/papers.py --all                 runs every page
"""

import ast
import re
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from burlab.plots.still_figure import still

FOLDER = Path(__file__).with_name("papers")
INDEX = FOLDER / "README.md"
VERDICTS = ("seen", "partly", "not seen")
TAGS = {
    "gradients": "Estimates of gradients",
    "distributed": "Many clients",
    "curvature": "Curvature",
    "rates": "Learning rates",
    "memory": "Less memory",
    "sparse": "Sparse networks",
    "numbers": "Few bits",
    "layers": "Layers",
    "search": "Architectures",
    "data": "Which data",
    "models": "Models and their analysis",
    "costs": "What things cost",
}
METHOD, CLAIM = "The method", "The claim in small"
HEADINGS = (METHOD, CLAIM, "What it costs", "What does not show here", "Which version")
_FENCE = re.compile(r"^```\{code-cell\}[^\n]*\n((?::[^\n]*\n)*)(.*?)^```$", re.MULTILINE | re.DOTALL)
_HEAD = """# Papers, each a page that shows its claim

Each page has what a paper claims, its method in a few lines of `bl.*`, the claim in small with three seeds, what it
costs, and what of the paper does not show at this size. A page runs in at most fifteen seconds, as a notebook where
jupytext is installed, or from top to bottom by `python docs/papers.py svrg`. Beside each page stands a test that holds
its method to an independent implementation, step by step.

**Seen** means that the ordering that the paper claims shows on our small problem; *partly*, that a part of it does;
*not seen*, that we looked for it and did not find it. `python docs/papers.py` writes this index.
"""


@dataclass(frozen=True)
class Page:
    """A page. cells: the line of the file on which each cell begins, and its code."""

    path: Path
    about: dict[str, Any]
    text: str
    cells: tuple[tuple[int, str], ...] = field(repr=False)

    @property
    def name(self) -> str:
        """The name of its file."""
        return self.path.stem

    @property
    def picture(self) -> Path:
        """The file of its picture."""
        return FOLDER / "pictures" / f"{self.name}.svg"

    def line_of(self, heading: str) -> int:
        """Return the number of the line of a heading of the second level."""
        return self.text.splitlines().index(f"## {heading}") + 1

    def method(self) -> list[str]:
        """Return the lines of code of the method, without empty lines and comments."""
        begin, end = self.line_of(METHOD), self.line_of(CLAIM)
        lines = [line for at, code in self.cells if begin < at < end for line in code.splitlines()]
        return [line for line in lines if line.strip() and not line.strip().startswith("#")]


def pages() -> list[Page]:
    """Return all pages, sorted by name."""
    return [read(path) for path in sorted(FOLDER.glob("*.md")) if path != INDEX]


def read(path: Path) -> Page:
    """Read a page: its head in YAML, and its cells of code."""
    text = path.read_text()
    head = text.split("---\n")[1]
    cells = tuple((text.count("\n", 0, found.start(2)) + 1, found[2]) for found in _FENCE.finditer(text))
    return Page(path, yaml.safe_load(head), text, cells)


def run(page: Page, until: str = "") -> tuple[dict[str, Any], list[Any]]:
    """Run a page's cells, those before the heading `until` only where there is one.

    Returns:
        The names that the cells define, and the values of cells that end with an expression.
    """
    end = page.line_of(until) if until else sys.maxsize
    names: dict[str, Any] = {"__name__": f"papers.{page.name}"}
    shown: list[Any] = []
    for at, code in page.cells:
        if at < end:
            # Empty lines first, so that errors name the line of the page.
            tree = ast.parse("\n" * (at - 1) + code, str(page.path))
            last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
            exec(compile(tree, str(page.path), "exec"), names)
            if isinstance(last, ast.Expr):
                shown.append(eval(compile(ast.Expression(last.value), str(page.path), "eval"), names))
    return names, [value for value in shown if value is not None]


def draw(page: Page) -> float:
    """Run a page, write the picture of its first figure, and return the seconds that it took."""
    begun = time.perf_counter()
    _, shown = run(page)
    seconds = time.perf_counter() - begun
    drawn = (still(value.to_plotly_json()) for value in shown if hasattr(value, "to_plotly_json"))
    picture = next((svg for svg in drawn if svg), None)
    if picture is None:
        raise SystemExit(f"{page.path} shows no figure of lines, dots and bands: end a cell with one.")
    page.picture.parent.mkdir(exist_ok=True)
    page.picture.write_text(picture + "\n")
    return seconds


def index(every: Iterable[Page]) -> str:
    """The index of these pages, by tag."""
    sections = [_HEAD]
    every = list(every)
    for tag, title in TAGS.items():
        if chosen := [page for page in every if page.about["tag"] == tag]:
            rows = "\n".join(_row(page) for page in chosen)
            sections.append(f"## {title}\n\n| | method | what the paper claims | |\n|---|---|---|---|\n{rows}\n")
    return "\n".join(sections)


def _row(page: Page) -> str:
    about = page.about
    picture = f'<img src="pictures/{page.name}.svg" width="240" alt="{about["title"]}">'
    source = f"[{about['arxiv']}](https://arxiv.org/abs/{about['arxiv']})" if about.get("arxiv") else about["source"]
    verdict = f"**{about['seen']}**" if about["seen"] == "seen" else f"*{about['seen']}*"
    return f"| {picture} | [{about['title']}]({page.name}.md) | {about['claim']} {source} | {verdict} |"


if __name__ == "__main__":
    wanted = sys.argv[1:]
    for one in pages():
        if one.name in wanted or wanted == ["--all"]:
            sys.stdout.write(f"{draw(one):5.1f} s  {one.name}\n")
    INDEX.write_text(index(pages()))
