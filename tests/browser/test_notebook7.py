"""Notebook 7, the other application of Jupyter: the same panels, graphs and pictures."""

import pytest

from tests.browser.panels import ENDLESS, SETUP, Panel, write_run
from tests.browser.views import shot

pytestmark = [pytest.mark.browser, pytest.mark.full]
GRAPH = "bl.GraphView(lambda x: np.sum(np.tanh(x) ** 2), np.ones(3))"
PICTURE = ".jp-Cell[data-windowed-list-index='{}'] img[src^='data:image/svg']"


@pytest.fixture(scope="module")
def notebook(open_notebook):
    return open_notebook("classic", [SETUP, write_run(ENDLESS), GRAPH, "pass"], run=3, classic=True)


def test_a_panel_plays_and_a_picture_of_it_stays(notebook):
    page, panel = notebook.page, Panel(notebook)
    assert "/notebooks/" in page.url
    panel.says("Ready at step 0")
    panel.find("[aria-label='speed']").select_option("0")
    panel.press("play")
    panel.says(r"Running: step [\d,]{5,}")
    page.keyboard.press("Space")
    panel.says("Paused at step")
    panel.enter("lr value", "2e-9")
    notebook.prints("print(run.hyper['lr'], end='')", "2e-09")
    panel.enter("go to step", "3")
    panel.says("At step 3 of")
    assert panel.settled_overlaps() == []
    panel.shot("notebook7-panel")

    graph = page.locator(".burlab-graphview[data-ready]")
    graph.locator(".burlab-box").first.wait_for()
    graph.locator(".burlab-surface").focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("document.querySelector('.burlab-step').innerText.includes('forward 1 of')")

    notebook.restart()
    for cell in (1, 2):
        page.locator(PICTURE.format(cell)).wait_for(state="visible")
    assert "Error displaying widget" not in page.locator(".jp-Notebook").inner_text()
    shot(page, "notebook7-still")
