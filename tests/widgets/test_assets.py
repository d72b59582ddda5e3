"""The modules that widgets send to the browser are joined from files that are there."""

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
