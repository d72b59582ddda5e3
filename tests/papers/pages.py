"""Pages of docs/papers for their tests: the names that their cells define."""

from functools import cache
from types import SimpleNamespace

from tests.project.programs import program

papers = program("papers")


@cache
def method(name: str) -> SimpleNamespace:
    """Run the method of a page, and nothing after it."""
    return SimpleNamespace(**papers.run(papers.read(papers.FOLDER / f"{name}.md"), papers.CLAIM)[0])


@cache
def whole(name: str) -> SimpleNamespace:
    """Run a page from top to bottom."""
    return SimpleNamespace(**papers.run(papers.read(papers.FOLDER / f"{name}.md"))[0])
