"""Each page of docs/papers has its parts, its picture and its test; the index is that of today."""

from pathlib import Path
from typing import Any

import pytest

from tests.papers.pages import papers

PAGES = papers.pages()


def test_the_index_is_up_to_date():
    assert papers.INDEX.read_text() == papers.index(PAGES), "run: python docs/papers.py"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_has_its_parts(page: Any):
    about = page.about
    assert about["tag"] in papers.TAGS
    assert about["seen"] in papers.VERDICTS
    assert about["claim"].endswith(".")
    assert about.get("arxiv") or about["source"]
    headings = [line[3:] for line in page.text.splitlines() if line.startswith("## ")]
    assert tuple(headings) == papers.HEADINGS
    assert f"# {about['title']}\n" in page.text
    assert f"(pictures/{page.name}.svg)" in page.text
    assert page.picture.read_text().startswith("<svg")
    assert 1 <= len(page.method()) <= 60


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_has_a_test_of_its_method_and_its_claim(page: Any):
    test = Path(__file__).with_name(f"test_{page.name}.py").read_text()
    assert f'method("{page.name}")' in test
    assert f'whole("{page.name}")' in test


def test_lines_of_errors_are_those_of_the_page(tmp_path: Path):
    path = tmp_path / "broken.md"
    path.write_text("---\ntitle: x\n---\n# x\n\n```{code-cell}\n:tags: [hide-input]\nx = 1\n\n1 / 0\n```\n")
    with pytest.raises(ZeroDivisionError) as raised:
        papers.run(papers.read(path))
    last = raised.traceback[-1]
    assert (str(last.path), last.lineno + 1) == (str(path), 10)
