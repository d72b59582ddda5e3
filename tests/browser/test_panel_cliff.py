"""A panel of a run that dies, and keys that belong to the notebook."""

import pytest

from tests.browser.panels import write_run

pytestmark = pytest.mark.browser

DIES = """
run = bl.minimize(lambda x: np.sum(np.exp(x**2)), np.array([1.0, 0.5]), bl.optim.GD(2.0))
run
"""


@pytest.mark.parametrize("panel", [DIES], indirect=True)
def test_a_run_that_dies_offers_a_way_back_and_its_graph(panel):
    panel.enter("number of steps", "200")
    panel.says("Stopped at step")
    cause = panel.find(".burlab-cliff span")
    panel.until(lambda: "is the first inf" in cause.inner_text(), "the cause was never said")
    assert panel.find("[data-intent=play]").is_disabled()
    panel.shot("panel_cliff")
    panel.find(".burlab-cliff button:text('Show it in the graph')").click()
    note = panel.page.locator(f"{panel.cell} .burlab-graphview .burlab-note")
    panel.until(lambda: note.count() and "inf begins here: exp" in note.inner_text(), "the graph never came")
    panel.find(".burlab-rescue").click()
    panel.says("At step 0 of|Ready at step 0")
    panel.notebook.prints("print(run.t, run.hyper['lr'], end='')", "0 0.2")
    assert not panel.find(".burlab-cliff").is_visible()


@pytest.mark.parametrize("panel", [write_run()], indirect=True)
def test_shortcuts_with_ctrl_reach_the_notebook(panel):
    panel.enter("number of steps", "10")
    panel.says("Paused at step 10$")
    panel.page.evaluate("() => { window.jupyterapp.shell.currentWidget.context.model.dirty = true; }")
    panel.find("[aria-label='number of steps']").focus()
    panel.page.keyboard.press("Control+s")
    panel.page.wait_for_function("!window.jupyterapp.shell.currentWidget.context.model.dirty")
    cells = panel.notebook.cells
    panel.find("[data-intent=step]").focus()
    panel.page.keyboard.type("dd")
    assert panel.notebook.cells == cells, "keys without Ctrl stay in the panel"
    panel.page.keyboard.press("Home")
    panel.says("At step 0 of 10")
    panel.page.keyboard.press("End")
    panel.says("Paused at step 10$")
