"""The panel on a small laptop: what is used most is in one view of 600 pixels, and the rest is folded away."""

import pytest

from tests.browser.panels import FOLDS, Panel, write_run

pytestmark = pytest.mark.browser

LAPTOP, VIEW_PIXELS = {"width": 1366, "height": 768}, 600
MANY_KNOBS = """
run = bl.minimize(bl.problems.rosenbrock(), np.array([-1.2, 1.0]), bl.optim.ScheduleFreeAdamW(1e-3))
run
"""
# From the top of Play to the foot of all that is to be in one view; and whether what should be seen has a size.
SPAN = """root => {
  const shown = [...root.querySelectorAll("[data-intent=play], .burlab-knob, .burlab-readouts div"),
    ...["value", "plane"].map((name) => root.querySelector(".burlab-chart").chart.places.get(name).canvas)];
  const boxes = shown.map((e) => e.getBoundingClientRect());
  if (boxes.some(({ width, height }) => !(width > 40 && height > 20))) return Infinity;
  return Math.max(...boxes.map(({ bottom }) => bottom)) - Math.min(...boxes.map(({ top }) => top));
}"""


@pytest.fixture
def laptop(panel):
    """The panel in a page of 1366 by 768 pixels, with JupyterLab's file browser open."""
    panel.page.set_viewport_size(LAPTOP)
    panel.page.evaluate("() => window.jupyterapp.shell.expandLeft()")
    panel.until(lambda: panel.evaluate("e => e.clientWidth") < 1000, "the file browser never took its place")
    yield panel
    panel.page.evaluate("() => window.jupyterapp.shell.collapseLeft()")
    panel.page.set_viewport_size({"width": 1280, "height": 1500})


@pytest.mark.parametrize("panel", [write_run(), MANY_KNOBS], ids=["few", "many"], indirect=True)
def test_play_knobs_value_and_map_are_in_one_view(laptop):
    laptop.enter("number of steps", "900")
    laptop.says("Paused at step 900$")
    laptop.shows("all steps", "curve('value').x.at(-1) === 900 && part('value').frame.right > 0")
    laptop.until(
        lambda: laptop.evaluate(SPAN) <= VIEW_PIXELS,
        lambda: f"it takes {laptop.evaluate(SPAN)} pixels from top to foot",
    )
    side = "chart.places.get('plane').box.getBoundingClientRect().left"
    assert laptop.chart(f"{side} > chart.places.get('value').box.getBoundingClientRect().right - 1")
    laptop.shot("panel_laptop")


@pytest.mark.full
def test_a_notebook_remembers_what_was_unfolded(panel):
    panel.enter("number of steps", "10")
    panel.says("Paused at step 10$")
    folds = panel.find("details")
    closed = lambda: folds.evaluate_all("all => all.map((e) => e.open)")  # noqa: E731
    panel.until(lambda: closed() == [False, False, False], lambda: f"the folds are {closed()}")
    panel.unfold("memory")
    panel.notebook.reload()
    again = Panel(panel.notebook)
    assert again.find("details[open] > summary").all_inner_texts() == ["memory"]
    assert again.find(".burlab-total").is_visible()
    again.find("details[open] > summary").click()
    again.page.wait_for_function(f"{FOLDS}.length === 0")
