"""The pages of docs name files that exist, link to pages that exist, and show code that runs."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
OF_TODAY = [path for path in PAGES if path.name not in ("CHANGELOG.md",)]
FOLDERS = (ROOT, ROOT / "burlab", ROOT / "cpp", ROOT / "cpp" / "burlab")


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def prose(page: Path) -> str:
    """A page without its blocks of code."""
    return re.sub(r"^ *```.*?^ *```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)


def files(text: str) -> set[str]:
    """What is named in backticks and has a folder and an ending, or ends in a slash; `a/{b,c}.py` names two."""
    found: set[str] = set()
    for path in re.findall(r"`([\w./{},-]+(?:\.(?:py|hpp|md|toml|js)|/))`", text):
        braces = re.fullmatch(r"(.*)\{(.*)\}(.*)", path)
        found |= {braces[1] + part + braces[3] for part in braces[2].split(",")} if braces else {path}
    return {path for path in found if "/" in path}


@pytest.mark.parametrize("page", OF_TODAY, ids=name)
def test_files_exist(page: Path):
    new = set(re.findall(r"A new file\s+`([^`]+)`", page.read_text()))
    missing = [path for path in files(prose(page)) - new if not any((folder / path).exists() for folder in FOLDERS)]
    assert missing == []


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
