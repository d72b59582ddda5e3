"""Pictures in saved notebooks: after a restart and a reload, in the file, and in what nbconvert makes of it."""

import json
import subprocess
import sys
from base64 import b64decode

import pytest

from tests.browser.panels import SETUP, Panel, write_run
from tests.browser.views import shot
from tests.browser.waits import lasting, rests, until

pytestmark = pytest.mark.browser
CELLS = [SETUP, write_run(), "run.step(640)", "pass"]
PICTURE = ".jp-Cell[data-windowed-list-index='{}'] img[src^='data:image/svg']"


@pytest.fixture
def notebook(open_notebook):
    return open_notebook("still", CELLS, run=2)


def until_saved(notebook, words):
    until(notebook.page, lambda: words in notebook.picture(1), f"{words!r} was never saved")
    return notebook.saved()


def seen_alone(notebook):
    """Page loaded after its kernel was restarted: it shows the picture and no error."""
    page = notebook.page
    notebook.restart()
    picture = page.locator(PICTURE.format(1))
    picture.wait_for(state="visible")
    page.wait_for_timeout(3000)  # for an error to come
    assert "Error displaying widget" not in page.locator(".jp-Notebook").inner_text()
    assert "run this cell again" in page.locator(".burlab-kept").inner_text()
    return picture


def misplaced(page, picture, width):
    """Return the flaws of the picture's place in a page of this width."""
    place = page.locator(".jp-Cell[data-windowed-list-index='1'] .jp-OutputArea-output:has(img)").bounding_box()
    wide = picture.bounding_box()["width"]
    fits = abs(max(640, min(place["width"], 860)) - wide) <= 2 and place["x"] + place["width"] <= width
    return [] if fits else [place, wide]


def test_a_run_is_seen_without_its_kernel(notebook):
    picture = notebook.page.locator(PICTURE.format(1))
    Panel(notebook).says("Ready at step 0")
    picture.wait_for(state="hidden")
    notebook.page.locator(".burlab-kept").wait_for(state="hidden")
    notebook.run(2)
    content = until_saved(notebook, "Paused at step 640")
    assert content["cells"][1]["outputs"][0]["data"]["text/plain"].startswith("the panel of <Run")
    seen_alone(notebook)


@pytest.mark.full
def test_its_picture_fits_every_page_and_what_nbconvert_makes(notebook, tmp_path):
    page, picture = notebook.page, notebook.page.locator(PICTURE.format(1))
    notebook.run(2)
    content = until_saved(notebook, "Paused at step 640")
    seen_alone(notebook)
    for width in (420, 900, 1400):
        page.set_viewport_size({"width": width, "height": 900})
        rests(page)
        assert not lasting(page, lambda width=width: misplaced(page, picture, width))
        for theme in ("Light", "Dark"):
            notebook.command("apputils:change-theme", theme=f"JupyterLab {theme}")
            page.wait_for_function(f"document.body.dataset.jpThemeName === 'JupyterLab {theme}'")
            shot(page, f"still-{theme.lower()}-{width}")
    (tmp_path / "still.ipynb").write_text(json.dumps(content))
    subprocess.run([sys.executable, "-m", "nbconvert", "--to", "html", tmp_path / "still.ipynb"], check=True)
    page.goto((tmp_path / "still.html").as_uri())
    picture = page.locator("img[src^='data:image/svg+xml'], .jp-OutputArea svg")
    picture.wait_for(state="visible")  # and there is no other
    assert picture.evaluate("image => image.complete && image.naturalWidth") == 860
    assert "Paused at step 640" in b64decode(picture.get_attribute("src").partition("base64,")[2]).decode()
    assert "Error displaying widget" not in page.content()
    shot(page, "still-nbconvert")


SHOWN = {
    "run": "run = bl.minimize(f, f.start, bl.optim.Momentum(1e-4), steps=200)\nrun",
    "race": "bl.race(f, f.start, {'GD': bl.optim.GD(1e-3), 'Adam': bl.optim.Adam(1e-2)}, steps=200)",
    "graph": "bl.GraphView(lambda x: np.sum(np.tanh(x) ** 2), np.ones(3))",
}


@pytest.mark.full
def test_in_a_notebook_without_trust_pictures_are_seen_once(open_notebook):
    """As one that somebody else has made: JupyterLab then shows neither widgets nor SVG, and keeps no styles."""
    first = "import numpy as np\nimport burlab as bl\nf = bl.problems.rosenbrock()"
    notebook = open_notebook("untrusted", [first, *SHOWN.values()], run=1 + len(SHOWN))
    page = notebook.page
    page.set_viewport_size({"width": 1280, "height": 4000})  # JupyterLab draws what is in view
    for cell in range(1, 1 + len(SHOWN)):
        until(page, lambda cell=cell: "</svg>" in notebook.picture(cell), f"cell {cell} has no picture")
    notebook.distrust()
    for cell, name in enumerate(SHOWN, 1):
        image = page.locator(PICTURE.format(cell))  # one: else what follows fails
        image.wait_for(state="visible")
        page.wait_for_function("image => image.complete && image.naturalWidth > 50", arg=image.element_handle())
        assert image.get_attribute("alt"), name
    assert page.locator("style:has-text('burlab-kept'), .jp-OutputArea-output svg").count() == 0, "else it is trusted"
    assert "Error displaying widget" not in page.locator(".jp-Notebook").inner_text()
    shot(page, "still-untrusted")


OTHERS = [
    "import numpy as np\nimport burlab as bl\nf = bl.problems.rosenbrock()",
    "bl.race(f, f.start, {'GD': bl.optim.GD(1e-3), 'Adam': bl.optim.Adam(1e-2)}, steps=300)",
    "bl.branches(bl.minimize(f, f.start, bl.optim.Momentum(1e-4), steps=300))",
    "bl.GraphView(lambda x: np.sum(np.tanh(x) ** 2), np.ones(3))",
    "bl.GraphView(lambda x: np.sum(np.exp(x)), np.ones(3))",
    "bl.analysis.spectrum(f, f.start)",
    "with bl.watch(lr=0.5) as w:\n    for k in range(30):\n        w.log(k, value=w.lr**k)",
    "pass",
]
SMALL = 4  # the cell of a picture that is smaller than any page


@pytest.mark.full
def test_every_other_widget_has_a_picture(open_notebook):
    notebook = open_notebook("others", OTHERS, run=len(OTHERS))
    page, shown = notebook.page, range(1, len(OTHERS) - 1)
    page.set_viewport_size({"width": 1280, "height": 6000})  # JupyterLab draws what is in view
    for cell in shown:
        page.locator(f".jp-Cell[data-windowed-list-index='{cell}'] .burlab-live").wait_for()
        page.locator(PICTURE.format(cell)).wait_for(state="hidden")
    notebook.restart()
    for cell in shown:
        page.locator(PICTURE.format(cell)).wait_for(state="visible")
    small = page.locator(PICTURE.format(SMALL))
    assert small.bounding_box()["width"] == small.evaluate("image => image.naturalWidth")
    page.wait_for_timeout(3000)  # for an error to come
    assert "Error displaying widget" not in page.locator(".jp-Notebook").inner_text()
    shot(page, "still-others")
