"""Landscapes and what else `burlab.analysis` finds, in a real JupyterLab: planes chosen by mouse and by keys."""

import pytest

from tests.browser.views import shot
from tests.browser.waits import lasting, rests, until

pytestmark = pytest.mark.browser
CELLS = [
    """import numpy as np
import burlab as bl
rng = np.random.default_rng(0)
data, labels = rng.normal(size=(80, 2)), np.arange(80) % 2
def score(net, p):
    return net["out"] @ np.tanh(net["in"] @ p)
def loss(net, p, y):
    return bl.softplus((1 - 2 * y) * score(net, p))
start = {"in": rng.normal(size=(12, 2)), "out": rng.normal(size=12)}
run = bl.minimize(bl.FiniteSum(loss, (data, labels.astype(float))), start, bl.optim.Adam(0.02), batch=10, steps=200)""",
    "view = bl.LandscapeView(run)\nview",
    "bl.analysis.spectrum(run)",
    "bl.analysis.samples(run)",
    "bl.analysis.boundary(lambda p: score(run.x, p), data, labels)",
    "spectrum = bl.SpectrumView(run)\nspectrum",
    "pass",
]


# Pictures of the surface and frames of the page in 1.5 s in which it is turned.
ROTATIONS = """async (canvas) => {
  const before = Number(canvas.dataset.frames), start = performance.now();
  let frames = 0;
  while (performance.now() - start < 1500) {
    canvas.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight', bubbles: true }));
    frames += await new Promise((done) => requestAnimationFrame(() => done(1)));
  }
  return [Number(canvas.dataset.frames) - before, frames];
}"""
INK = """c => {
  const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
  let n = 0;
  for (let k = 3; k < d.length; k += 4) n += d[k] > 0;
  return n / (c.width * c.height);
}"""


@pytest.fixture(scope="module")
def notebook(open_notebook):
    return open_notebook("landscapes", CELLS, run=6)


def output(notebook, cell):
    return notebook.page.locator(f".jp-Notebook .jp-Cell[data-windowed-list-index='{cell}'] .jp-OutputArea")


def says(notebook, cell, text, place=".burlab-plane-bar span"):
    label = output(notebook, cell).locator(place)
    until(notebook.page, lambda: text in label.inner_text(), lambda: f"{text!r} was never said: {label.inner_text()!r}")


def view_direction(notebook, label):
    """Wait until what is shown is a plane with this label, as fine as it gets."""
    begins = f"print(bool(view.landscape) and view.landscape.labels[0].startswith({label!r}), end='')"
    notebook.prints(begins, "True")
    says(notebook, 1, "8,281 points")


@pytest.mark.full
def test_a_plane_is_chosen_with_the_mouse_and_with_keys(notebook):
    view_direction(notebook, "random direction 1")
    output(notebook, 1).locator("select").first.select_option(label="axes of the path")
    view_direction(notebook, "principal axis 1")
    output(notebook, 1).locator("select").first.focus()
    notebook.page.keyboard.press("ArrowDown")
    view_direction(notebook, "eigenvector")
    assert output(notebook, 1).locator("select").first.input_value() == "curvature"


@pytest.mark.full
def test_again_recentres_at_the_current_point(notebook):
    notebook.kernel("run.step(50)")
    output(notebook, 1).locator(".burlab-plane-bar button").click()
    notebook.prints("print(view.landscape.path_steps[-1], end='')", "250.0")


def stepping(notebook, steps):
    """Have the run step in the background."""
    notebook.kernel(f"import threading; threading.Thread(target=run.step, args=({steps},)).start()")


def test_the_path_goes_on_by_itself_while_the_run_does_steps(notebook):
    end = int(notebook.kernel("print(run.t + 100)"))
    stepping(notebook, 100)
    output(notebook, 1).scroll_into_view_if_needed()  # the view rests while nobody sees it
    says(notebook, 1, f"step {end:,}")
    points, values = notebook.kernel(
        "f = view.landscape; print(f.path_steps[-1], np.allclose(f.path_values[-1], run.problem.value(run.x)))"
    ).split()
    assert (float(points), values) == (end, "True")
    notebook.page.evaluate("document.querySelector('.jp-Notebook').parentElement.scrollTop = 0")


@pytest.mark.full
def test_a_surface_is_turned_by_mouse_and_keys_and_its_picture_with_it(notebook):
    page, cell = notebook.page, output(notebook, 1)
    cell.locator("select").nth(1).select_option("surface")
    relief = cell.locator(".burlab-relief")
    relief.scroll_into_view_if_needed()

    def pose():
        return [float(one) for one in (relief.get_attribute("data-pose") or "0 0 0").split()]

    def rotates(what, condition):
        until(page, lambda: condition(pose()), lambda: f"{what}, but it is seen from {pose()}")

    rotates("drawn", lambda p: p == [30, 35, 1])
    page.wait_for_timeout(500)  # who has just scrolled the page goes on scrolling
    box = relief.bounding_box()
    u, v = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(u, v)
    page.mouse.down()
    page.mouse.move(u + 40, v + 30)
    page.mouse.up()
    rotates("dragged to the right and down", lambda p: p == [50, 47, 1])
    page.mouse.wheel(0, -100)
    rotates("zoomed", lambda p: p[:2] == [50, 47] and 1.1 < p[2] < 1.4)
    relief.focus()
    page.keyboard.press("0")
    rotates("as at first", lambda p: p == [30, 35, 1])
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Shift+ArrowDown")
    rotates("turned by keys", lambda p: p == [25, 55, 1])
    pictures, frames = max(relief.evaluate(ROTATIONS) for _ in range(3))
    assert pictures > frames / 10, "it turns"
    page.keyboard.press("0")
    rotates("as at first", lambda p: p == [30, 35, 1])
    notebook.prints("print(view._pose, end='')", "Pose(turn=30.0, lift=35.0, zoom=1.0)")
    assert notebook.kernel("print(view.picture().count('<polygon') > 1900, end='')") == "True"


def test_spectrum_follows_the_run_and_separates_layers(notebook):
    cell = output(notebook, 5)
    cell.scroll_into_view_if_needed()
    says(notebook, 5, "2 / lr = 100", ".burlab-status span")
    step = int(notebook.kernel("run.step(3); print(run.t)"))
    says(notebook, 5, f"step {step:,}, exact", ".burlab-status span")
    cell.locator("select").focus()
    notebook.page.keyboard.press("ArrowDown")
    parts = "document.querySelector('.burlab-live-chart').chart.parts.map(part => part.name)"
    until(notebook.page, lambda: notebook.page.evaluate(parts) == ["in", "out"], "the layers were never told apart")


def flaws(notebook, cell):
    """Return the flaws of the first canvas of a cell."""
    canvas = output(notebook, cell).locator("canvas:visible").first
    box, frame, inked = canvas.bounding_box(), output(notebook, cell).bounding_box(), canvas.evaluate(INK)
    beside = box["x"] < frame["x"] - 1 or box["x"] + box["width"] > frame["x"] + frame["width"] + 1
    found = {"narrow": box["width"] <= 150, "beside its cell": beside, "blank": inked <= 0.02}
    return [name for name, so in found.items() if so]


@pytest.mark.full
@pytest.mark.parametrize("width", [420, 900, 1400])
@pytest.mark.parametrize("theme", ["Light", "Dark"])
def test_charts_are_drawn_at_every_width_and_in_both_themes(notebook, width, theme):
    notebook.page.set_viewport_size({"width": width, "height": 2600})
    notebook.command("apputils:change-theme", theme=f"JupyterLab {theme}")
    notebook.page.wait_for_function(f"document.body.dataset.jpThemeName === 'JupyterLab {theme}'")
    rests(notebook.page)
    for cell in range(1, 6):
        assert not lasting(notebook.page, lambda cell=cell: flaws(notebook, cell)), f"cell {cell}"
    shot(notebook.page, f"landscapes-{theme.lower()}-{width}")
