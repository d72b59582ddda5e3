"""A page that is loaded anew while its kernel lives shows every view as it is, and each of them answers again."""

import pytest

from tests.browser.waits import until

pytestmark = pytest.mark.browser
CELLS = [
    "import numpy as np\nimport burlab as bl\nf = bl.problems.rosenbrock()",
    "bl.race(f, f.start, {'GD': bl.optim.GD(1e-3), 'Adam': bl.optim.Adam(1e-2)}, steps=300)",
    "run = bl.minimize(f, f.start, bl.optim.Momentum(1e-4), steps=300)\nbl.branches(run)",
    "bl.GraphView(lambda x: np.sum(np.tanh(x) ** 2), np.ones(3))",
    "bl.LandscapeView(run)",
    "with bl.watch(lr=0.5) as w:\n    for k in range(30):\n        w.log(k, value=w.lr**k)",
    "builder = bl.GraphBuilder()\nbuilder",
    "pass",
]


@pytest.fixture(scope="module")
def notebook(open_notebook):
    """All views in one page, loaded anew after they were shown."""
    opened = open_notebook("reload", CELLS)
    opened.page.set_viewport_size({"width": 1280, "height": 6000})  # JupyterLab draws what is in view
    for cell in range(len(CELLS)):
        opened.run(cell)
    for cell in range(1, len(CELLS) - 1):
        live(opened, cell).first.wait_for()
    opened.reload()
    return opened


def live(notebook, cell, selector=""):
    return notebook.page.locator(f".jp-Cell[data-windowed-list-index='{cell}'] .burlab-live {selector}")


def test_every_view_is_there_and_no_picture_covers_for_it(notebook):
    for cell in range(1, len(CELLS) - 1):
        live(notebook, cell).first.wait_for()
        live(notebook, cell, ":is(canvas, svg)").first.wait_for()
    for other in (".burlab-kept", "img[src^='data:image/svg']", ".burlab-gone"):
        visible = notebook.page.locator(f"{other}:visible")
        until(notebook.page, lambda visible=visible: not visible.count(), f"{other} stayed")
    assert "Error displaying widget" not in notebook.page.locator(".jp-Notebook").inner_text()


@pytest.mark.full
def test_a_graph_is_searched(notebook):
    live(notebook, 3, ".burlab-search").click()
    notebook.page.keyboard.type("tanh")
    notebook.page.keyboard.press("Enter")
    hits = live(notebook, 3, ".burlab-hits")
    until(notebook.page, lambda: hits.inner_text() == "1 of 1", "the search had no answer")


@pytest.mark.full
def test_a_landscape_becomes_a_surface(notebook):
    live(notebook, 4, "select").nth(1).select_option("surface")
    live(notebook, 4, "canvas.burlab-relief").wait_for()


@pytest.mark.full
def test_a_race_goes_on(notebook):
    steps = live(notebook, 1, "tbody")
    before = steps.inner_text()
    live(notebook, 1, "[data-intent=play]").click()
    until(notebook.page, lambda: steps.inner_text() != before, "it never went on")
    live(notebook, 1, "[data-intent=pause]").click()


@pytest.mark.full
def test_branch_is_created(notebook):
    notebook.kernel("run.seek(100); other = run.fork(lr=1e-3)")
    rows = live(notebook, 2, ".burlab-tree li")
    until(notebook.page, lambda: rows.count() == 2, "the branch was never seen")


@pytest.mark.full
def test_a_block_is_seen_that_the_kernel_adds(notebook):
    before = live(notebook, 6, ".burlab-block").count()
    notebook.kernel("builder.add('constant', value=2.0)")
    until(notebook.page, lambda: live(notebook, 6, ".burlab-block").count() == before + 1, "it was never seen")
