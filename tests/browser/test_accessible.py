"""Every widget by the rules of axe-core, light and dark: names, roles, contrast, what the keyboard reaches."""

from pathlib import Path

import pytest

from burlab.widgets.hatch_build import FOLDER, install
from tests.browser.builders import Builder

pytestmark = [pytest.mark.browser, pytest.mark.full]
SETUP = """
import numpy as np
import burlab as bl
f = bl.problems.rosenbrock()
run = bl.minimize(f, f.start, bl.optim.Momentum(1e-4), steps=300)
"""
WIDGETS = {
    "panel": ("run", ".burlab-panel[data-ready]"),
    "race": (
        'bl.race(f, f.start, {"GD": bl.optim.GD(1e-3), "Adam": bl.optim.Adam(1e-2)})',
        ".burlab-panel[data-ready]",
    ),
    "branches": ("bl.branches(run)", ".burlab-panel[data-ready]"),
    "spectrum": ("bl.SpectrumView(run)", ".burlab-panel[data-ready]"),
    "playground": ("bl.playground()", ".burlab-panel[data-ready]"),
    "graph": ("bl.GraphView(lambda x: np.sum(np.tanh(x) ** 2), np.ones(3))", ".burlab-graphview[data-ready]"),
    "builder": ('b = bl.GraphBuilder(); b.add("tanh", b.add("input")); b', ".burlab-builder"),
    "landscape": ("bl.LandscapeView(f, f.start)", ".burlab-chart-view"),
    "chart": ("bl.analysis.landscape(f, f.start)", ".burlab-chart-view"),
    "profile": ("bl.compile(lambda x: np.sum(x @ x), np.ones((8, 8))).profile(np.ones((8, 8)))", ".burlab-profile"),
}
UNFOLD = "place => { for (const fold of place.querySelectorAll('details')) fold.open = true; }"
FINDINGS = """async place => {
  const found = await axe.run(place, { resultTypes: ["violations"] });
  return found.violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${help}\\n${html.slice(0, 200)}\\n${failureSummary}`));
}"""


@pytest.fixture(scope="module")
def axe():
    """The source of axe-core, which npm installs with what else only tests need."""
    path = Path(FOLDER) / "node_modules" / "axe-core" / "axe.min.js"
    if not path.exists():
        install(development=True)
    return path.read_text()


@pytest.fixture(scope="module")
def notebook(open_notebook):
    cells = [SETUP, *(code for code, _ in WIDGETS.values())]
    return open_notebook("accessible", cells, run=len(cells))


@pytest.mark.parametrize("theme", ["Light", "Dark"])
@pytest.mark.parametrize("name", WIDGETS)
def test_a_widget_has_no_findings(notebook, axe, name, theme):
    page = notebook.page
    page.evaluate(
        f"() => window.jupyterapp.commands.execute('apputils:change-theme', {{ theme: 'JupyterLab {theme}' }})"
    )
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(axe)
    index = 1 + list(WIDGETS).index(name)
    place = page.locator(f".jp-Cell[data-windowed-list-index='{index}'] {WIDGETS[name][1]}").first
    place.scroll_into_view_if_needed()
    place.wait_for(state="visible")
    page.wait_for_function(f"document.body.dataset.jpThemeLight === '{str(theme == 'Light').lower()}'")
    place.evaluate(UNFOLD)
    assert place.evaluate(FINDINGS) == []


@pytest.mark.parametrize("theme", ["Light", "Dark"])
def test_menu_and_search_of_the_builder_have_no_findings(notebook, axe, theme):
    page = notebook.page
    notebook.command("apputils:change-theme", theme=f"JupyterLab {theme}")
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(axe)
    builder = Builder(notebook, 1 + list(WIDGETS).index("builder"))
    builder.click(2, button="right")
    builder.find("[role=menu]").wait_for()
    assert page.locator(builder.root).evaluate(FINDINGS) == []
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    builder.find("[role=listbox]").wait_for()
    assert page.locator(builder.root).evaluate(FINDINGS) == []
    page.keyboard.press("Escape")
