"""The style sheets that widgets send to the browser."""

import re

import pytest

from burlab.widgets.assets import WIDGETS


@pytest.mark.parametrize("sheet", ["panel/panel.css", "live/live.css", "branches/branches.css"])
def test_views_of_one_page_do_not_style_each_other(sheet):
    """A page may have the sheets of all of them: a rule begins with a name that only its own view has."""
    rules = re.findall(r"(?m)^\s*\.(burlab-[a-z-]+)[^{]*{", (WIDGETS / sheet).read_text())
    others = [path for folder in ("graph_view", "builder", "profile") for path in (WIDGETS / folder).glob("*.js")]
    used = {name for path in others for name in re.findall(r"burlab-[a-z-]+", path.read_text())}
    assert set(rules) & used <= {"burlab-gone"}, "which all of them have"
