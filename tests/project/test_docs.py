"""Pages and notebooks name files, functions and classes that exist, and link to pages that exist."""

import json
import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import scipy.special

ROOT = Path(__file__).parents[2]
NOTEBOOKS = [*(ROOT / "docs").glob("*.ipynb"), *(ROOT / "notebooks").glob("*.ipynb")]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "notebooks").rglob("*.md"), *NOTEBOOKS])
OF_TODAY = [path for path in PAGES if path.name not in ("CHANGELOG.md",)]
SUFFIXES = (".py", ".hpp", ".js", ".ts")
FOLDERS = (ROOT, ROOT / "burlab", ROOT / "cpp", ROOT / "cpp" / "burlab")


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def text(page: Path) -> str:
    """Return a page as Markdown; cells of code are blocks of code."""
    if page.suffix != ".ipynb":
        return page.read_text()
    cells = [(cell["cell_type"], "".join(cell["source"])) for cell in json.loads(page.read_text())["cells"]]
    return "\n".join(f"```python\n{source}\n```" if kind == "code" else source for kind, source in cells)


def prose(page: Path) -> str:
    """Return a page without its blocks of code."""
    return re.sub(r"^ *```.*?^ *```", "", text(page), flags=re.MULTILINE | re.DOTALL)


@cache
def words_of_the_sources() -> frozenset[str]:
    """Return every word of the package, the headers and the tests, and the names of NumPy and of scipy.special."""
    files = [file for folder in ("burlab", "cpp", "tests") for file in (ROOT / folder).rglob("*.*")]
    texts = [file.read_text() for file in files if file.suffix in (".py", ".hpp", ".cpp", ".js", ".ts", ".css")]
    return frozenset(re.findall(r"\w+", "\n".join(texts))) | {*dir(np), *dir(scipy.special)}


def identifiers(markdown: str) -> set[str]:
    """Return the names in backticks that are no plain words: with an underscore, or a capital inside."""
    names = re.findall(r"(?<![\w/])[A-Za-z_]\w*", " ".join(re.findall(r"`([^`\n]+)`", markdown)))
    whole = [name for name in names if not name.endswith("_")]  # not the beginning of a name
    return {name for name in whole if "_" in name.strip("_") or re.search("[a-z][A-Z]", name)}


def unresolved(markdown: str) -> list[str]:
    """Return the public names, such as `bl.optim.Adam`, that do not exist and that the page does not define."""
    import burlab as bl

    defined = set(re.findall(r"(?:class|def) (\w+)", markdown))
    missing: list[str] = []
    for chain in set(re.findall(r"\bbl((?:\.[A-Za-z_]\w*)+)", markdown)):
        owner: object = bl
        for name in chain[1:].split("."):
            if not hasattr(owner, name):
                missing += [] if name in defined else [f"bl{chain}"]
                break
            owner = getattr(owner, name)
    return missing


@pytest.mark.parametrize("page", OF_TODAY, ids=name)
def test_names_in_backticks_exist(page: Path):
    own = set(re.findall(r"\w+", " ".join(re.findall(r"```.*?```", text(page), re.DOTALL))))
    assert identifiers(prose(page)) - words_of_the_sources() - own == set()


@pytest.mark.parametrize("page", OF_TODAY, ids=name)
def test_public_names_exist(page: Path):
    assert unresolved(text(page)) == []


def test_a_name_that_is_gone_is_found():
    assert identifiers("`f.tell_all(x)` and `OldName`, `plain`") == {"tell_all", "OldName"}
    assert unresolved("`bl.optim.Adam`, `bl.optim.Eve`, `bl.gone.f`") in (
        ["bl.optim.Eve", "bl.gone.f"],
        ["bl.gone.f", "bl.optim.Eve"],
    )


def files(text: str) -> set[str]:
    """Return files and folders named in backticks; `a/{b,c}.py` names two."""
    found: set[str] = set()
    for path in re.findall(r"`([\w./{},-]+(?:\.(?:py|hpp|md|toml|js)|/))`", text):
        braces = re.fullmatch(r"(.*)\{(.*)\}(.*)", path)
        found |= {braces[1] + part + braces[3] for part in braces[2].split(",")} if braces else {path}
    return {path for path in found if "/" in path}


@pytest.mark.parametrize("page", OF_TODAY, ids=name)
def test_files_exist(page: Path):
    new = set(re.findall(r"A new file\s+`([^`]+)`", text(page)))
    missing = [path for path in files(prose(page)) - new if not any((folder / path).exists() for folder in FOLDERS)]
    assert missing == []


def test_sources_name_files_that_exist():
    """In comments and docstrings, by the end of their path: `chart/chart.js`, or a file's name alone."""
    every = [file for folder in ("burlab", "cpp", "tests") for file in (ROOT / folder).rglob("*.*")]
    texts = [file for file in every if file.suffix in SUFFIXES and "node_modules" not in file.parts]
    known = {name(file).split("/", k)[-1] for file in texts for k in range(len(file.relative_to(ROOT).parts))}
    named = re.compile(r"`([\w./]+\.(?:py|hpp|js|ts))`")
    sources = [file for file in texts if not name(file).startswith("tests/")]
    found = [(name(file), other) for file in sources for other in named.findall(file.read_text())]
    assert len(found) > 50
    assert [(file, other) for file, other in found if other not in known] == []


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_somewhere(page: Path):
    links = re.findall(r"\]\(([^)#:]+)\)", prose(page))
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_stated_errors_are_those_that_are_tested():
    from tests.numbers.test_accuracy import STATED

    page = (ROOT / "docs" / "internals" / "numbers.md").read_text()
    rows = re.findall(r"^\| (?:(?=\| exp )|float(?:32|64), below )\|(.*)\|$", page, re.MULTILINE)
    names, single, double = (row.split("|") for row in rows)
    shown = {
        op.strip(): (float(a), float(b))
        for ops, a, b in zip(names, single, double, strict=True)
        for op in ops.split(",")
    }
    assert {op for op in shown if op not in STATED} == {"pow", "arctan2"}  # of two arguments
    for op, limits in STATED.items():
        assert all(tested <= stated for tested, stated in zip(limits, shown[op], strict=True)), op
