"""The map of a panel as a control: its dot is carried to another place, and the run begins there."""

import pytest

from tests.browser.panels import ENDLESS, write_run

pytestmark = pytest.mark.browser

_DOT = "part('plane').dots.find(({ label }) => label === 'here')"
_HERE = f"[part('plane').frame.sx.at({_DOT}.x[0]), part('plane').frame.sy.at({_DOT}.y[0])]"


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
