"""The modules that widgets send to the browser are joined from files that are there."""

import re

import pytest

from burlab.widgets.assets import WIDGETS, module


def test_files_are_joined_in_their_order_and_told_apart(tmp_path):
    (tmp_path / "a.js").write_text("const a = 1;")
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "b.js").write_text("export default { a };")
    assert module(tmp_path, "a.js", "inner/b.js") == "// a.js\nconst a = 1;\n// b.js\nexport default { a };"


def test_a_file_that_is_missing_is_told():
    with pytest.raises(FileNotFoundError, match="missing"):
        module(WIDGETS, "missing.js")


@pytest.mark.parametrize("sheet", ["panel/panel.css", "live/live.css", "branches/branches.css"])
def test_views_of_one_page_do_not_style_each_other(sheet):
    """A page may have the sheets of all of them: a rule begins with a name that only its own view has."""
    rules = re.findall(r"(?m)^\s*\.(burlab-[a-z-]+)[^{]*{", (WIDGETS / sheet).read_text())
    others = [path for folder in ("graph_view", "builder", "profile") for path in (WIDGETS / folder).glob("*.js")]
    used = {name for path in others for name in re.findall(r"burlab-[a-z-]+", path.read_text())}
    assert set(rules) & used <= {"burlab-gone"}, "which all of them have"
