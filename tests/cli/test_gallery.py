"""Pages of tutorials: what GitHub shows of each kind of output."""

import re
from xml.etree import ElementTree as ET

import pytest

from burlab import cli
from burlab.cli import gallery


def code(*outputs):
    return {"cell_type": "code", "source": "x = 1", "outputs": list(outputs)}


def shown(tmp_path, *cells):
    return gallery.write(tmp_path.parent / "all" / "first.ipynb", cells, tmp_path).read_text()


def test_prose_and_code_stand_as_they_are(tmp_path):
    text = shown(
        tmp_path,
        {"cell_type": "markdown", "source": "# To [b](b.ipynb) and [c](recipes/c.md), [d](https://d.org/e.md)"},
        code({"text": "1\n2\n"}),
    )
    prose = "# To [b](../all/b.ipynb) and [c](../all/recipes/c.md), [d](https://d.org/e.md)"
    assert text == prose + "\n\n```python\nx = 1\n```\n\n```\n1\n2\n```\n"


def test_pictures_are_files_and_older_ones_go(tmp_path):
    (tmp_path / "first").mkdir()
    (tmp_path / "first" / "7.svg").write_text("old")
    page = {"text/html": "<div><svg width='1'>a</svg></div>"}
    text = shown(tmp_path, code({"data": {"image/svg+xml": '<svg xmlns="x">b</svg>'}}, {"data": page}))
    assert text.count("](first/") == 2
    assert sorted(path.name for path in (tmp_path / "first").iterdir()) == ["1.svg", "2.svg"]
    assert (tmp_path / "first" / "1.svg").read_text() == '<svg xmlns="x">b</svg>\n'
    found = ET.parse(tmp_path / "first" / "2.svg").getroot()
    assert found.tag == "{http://www.w3.org/2000/svg}svg"
    assert found.get("color").startswith("#")


def test_a_widget_and_its_note_are_left_to_the_picture(tmp_path):
    view = {"application/vnd.jupyter.widget-view+json": {}, "text/plain": "a panel"}
    note = {"text/html": '<div class="burlab-kept">run it again</div>', "text/plain": "<HTML>"}
    assert "a panel" not in (text := shown(tmp_path, code({"data": view}, {"data": note})))
    assert "HTML" not in text


def test_output_with_markdown_is_shown_as_markdown(tmp_path):
    table = "| a | b |\n| --- | ---: |\n| x | 1 |"
    data = {"text/plain": "Report(...)", "text/html": "<table></table>", "text/markdown": table}
    text = shown(tmp_path, code({"data": data}))
    assert table in text
    assert "Report" not in text


def test_plotly_is_mentioned_and_long_texts_are_cut(tmp_path):
    long = "\n".join(str(k) for k in range(100))
    text = shown(tmp_path, code({"data": {"application/vnd.plotly.v1+json": {}}}, {"text": f"\x1b[31m{long}\x1b[0m"}))
    assert "plotly stands here" in text
    assert "... 60 more lines" in text
    assert "\x1b" not in text


def test_a_warning_names_no_file_of_the_machine_that_ran_it(tmp_path):
    text = shown(tmp_path, code({"text": "/tmp/ipykernel_77/3877118025.py:9: RuntimeWarning: It stopped.\n  run()\n"}))
    assert "```\nRuntimeWarning: It stopped.\n  run()\n```" in text


def test_unknown_tutorial_is_reported(tmp_path, capsys: pytest.CaptureFixture[str]):
    assert cli.main(["gallery", "no_such", "--out", str(tmp_path)]) == 2
    assert "01_gradients" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_pages_of_the_gallery_are_whole_and_small(root):
    pages = sorted((root / "docs" / "gallery").glob("*.md"))
    assert pages
    for page in pages:
        shown = re.findall(r"\]\((\S+\.svg)\)", page.read_text())
        assert sorted(shown) == sorted(f"{page.stem}/{path.name}" for path in (page.parent / page.stem).glob("*"))
        for name in shown:
            assert ET.parse(page.parent / name).getroot().tag == "{http://www.w3.org/2000/svg}svg"
    assert sum(path.stat().st_size for path in (root / "docs" / "gallery").rglob("*")) < 3_000_000


def test_bars_are_a_table_and_lines_a_picture(tmp_path):
    bars = {"type": "bar", "name": "a|b", "x": ["one", "two"], "y": [1.0, 2.5]}
    lines = {"data": [{"x": [0, 1], "y": {"dtype": "f8", "bdata": "AAAAAAAA8D8AAAAAAAAAQA=="}}], "layout": {}}
    lying = {"data": [bars | {"x": bars["y"], "y": bars["x"], "orientation": "h"}], "layout": {}}
    figures = [{"data": [bars], "layout": {"yaxis": {"title": {"text": "ns"}}}}, lines, lying]
    text = shown(tmp_path, code(*({"data": {"application/vnd.plotly.v1+json": figure}} for figure in figures)))
    assert "*ns*\n\n|  | a\\|b |\n| --- | ---: |\n| one | 1 |\n| two | 2.5 |" in text
    assert text.count("| two | 2.5 |") == 2
    assert "](first/1.svg)" in text
    assert ET.parse(tmp_path / "first" / "1.svg").getroot().tag.endswith("svg")
