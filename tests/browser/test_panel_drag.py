"""What is dragged in a panel: the dot of its map, to where the run begins, and the slider of a hyperparameter."""

import pytest

from tests.browser.panels import ENDLESS, write_run
from tests.browser.waits import grab

pytestmark = pytest.mark.browser

_DOT = "part('plane').dots.find(({ label }) => label === 'here')"
_HERE = f"[part('plane').frame.sx.at({_DOT}.x[0]), part('plane').frame.sy.at({_DOT}.y[0])]"

_CHANGES = "part('value').dots.find(({ label }) => label === 'changes')"
_FIELD = "e.closest('.burlab-panel').querySelector(\"[aria-label='lr value']\").value"


@pytest.mark.parametrize("panel", [write_run(ENDLESS)], indirect=True)
def test_the_dot_is_carried_to_another_place_and_the_run_begins_there(panel):
    panel.enter("number of steps", "10")
    panel.says("Paused at step 10$")
    x, y = panel.place("plane", 0.8, 0.2)
    canvas = panel.canvas("plane")
    box, (u, v) = canvas.bounding_box(), panel.chart(_HERE)
    mouse = panel.page.mouse
    mouse.move(box["x"] + u, box["y"] + v)
    panel.until(lambda: canvas.evaluate("e => e.style.cursor") == "grab", "the dot cannot be grabbed")
    mouse.down()
    mouse.move(x, y, steps=5)
    assert panel.notebook.kernel("print(run.t, run.x, end='')").startswith("10 [-1.19"), "it waits for the release"
    goal = panel.chart(f"[part('plane').frame.sx.back({x - box['x']}), part('plane').frame.sy.back({y - box['y']})]")
    mouse.up()
    panel.says(r"Running: step [\d,]+")
    start = panel.notebook.kernel("run.pause(); print(*run.path[1][0], run.t > 0, end='')").split()
    assert [float(number) for number in start[:2]] == pytest.approx(goal, abs=0.02)
    assert start[2] == "True"


@pytest.mark.parametrize("panel", [write_run(ENDLESS)], indirect=True)
def test_a_drag_of_a_knob_is_one_event_and_each_of_its_values_counts(panel):
    kernel = panel.notebook.kernel
    panel.press("play")
    panel.says(r"Running: step [\d,]+")
    box = grab(panel.find("[aria-label='lr'][type=range]"))
    for across in (0.45, 0.4, 0.35):
        panel.page.mouse.move(box["x"] + across * box["width"], box["y"] + box["height"] / 2, steps=4)
        panel.shows("the value at hand", f"{_CHANGES}.hints.at(-1).replace('−', '-') === 'lr = ' + {_FIELD}")
    panel.page.mouse.up()
    kernel("run.pause()")
    assert int(kernel("print(len(set(run.history['lr'])), end='')")) > 2, "values count while the slider moves"
    panel.shows("one change", f"{_CHANGES}.x.length === 1")
    panel.find("[aria-label='lr'][type=range]").press("ArrowRight")
    panel.press("step")
    panel.shows("another one", f"{_CHANGES}.x.length === 2")
