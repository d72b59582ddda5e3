"""The panel of a run in a real JupyterLab: one test per control, and what happens around it.

Pictures go to build/screenshots; `cp build/screenshots/panel.png docs/images/` makes the one of the README again.
"""

import re
import time

import pytest

from tests.browser.panels import Panel

pytestmark = pytest.mark.browser
SETUP = """
import asyncio, time
import numpy as np
import burlab as bl
from burlab.widgets.panel.panel import panel_of
"""
RUN = """
run = bl.minimize(bl.problems.rosenbrock(), np.array([-1.2, 1.0]), bl.optim.Momentum(MAKE, mu=0.9))
run
"""
ENDLESS = "1e-9"  # so slow that it does not come to rest
FIXED, SCHEDULED = "3e-4", "bl.optim.linear(1e-3, steps=1000)"


@pytest.fixture(scope="module")
def notebook(open_notebook):
    opened = open_notebook("panel", [SETUP, RUN.replace("MAKE", FIXED), "run", "pass"])
    opened.run(0)
    return opened


@pytest.fixture
def panel(notebook, request):
    """A panel of a new run at step 0."""
    make = getattr(request, "param", FIXED)
    notebook.write(1, RUN.replace("MAKE", make))
    notebook.run(1)
    fresh = Panel(notebook)
    fresh.says("Ready at step 0")
    yield fresh
    notebook.kernel("run.pause()")


@pytest.mark.parametrize("panel", [ENDLESS], indirect=True)
def test_play_runs_and_pause_rests(panel):
    panel.find("[aria-label='speed']").select_option("0")
    panel.press("play")
    panel.says(r"Running: step [\d,]{4,}, .* steps per second")
    assert panel.find("[data-intent=play]").is_disabled()
    panel.press("pause")
    panel.says("Paused at step")
    assert panel.find("[data-intent=pause]").is_disabled()
    assert int(panel.notebook.kernel("print(run.t, end='')")) == panel.step > 1000
    span = int(panel.notebook.kernel("print(run.history.span, end='')"))
    open_pair = span if span > 2 else 0  # a record that was merged shows whole pairs, so its last rows may wait
    panel.shows("all of the gradient norm", f"data[4].x.at(-1) >= {panel.step - 1 - open_pair}")


def test_step_does_one(panel):
    panel.press("step")
    panel.says("Paused at step 1$")
    panel.press("step")
    panel.says("Paused at step 2$")
    assert panel.notebook.kernel("print(run.t, run.history['value'][-1], end='')").split()[0] == "2"


def test_step_n_does_as_many_as_the_field_says(panel):
    panel.type("number of steps", "250")
    panel.press("steps")
    panel.says("Paused at step 250$")
    panel.enter("number of steps", "50")
    panel.says("Paused at step 300$")
    panel.enter("number of steps", "some")
    panel.says("the number of steps is 'some', expected a whole number")
    panel.shows("the value", "data[1].x.length === 300")


@pytest.mark.parametrize("panel", [ENDLESS], indirect=True)
def test_reset_goes_back_to_the_start(panel):
    panel.enter("number of steps", "100")
    panel.says("Paused at step 100$")
    panel.press("reset")
    panel.says("At step 0 of 100, in the past")
    assert panel.notebook.kernel("print(run.x.tolist(), end='')") == "[-1.2, 1.0]"
    panel.shows("a veil over all of the record", "layout.shapes[0].visible && layout.shapes[0].x1 === 100")
    panel.find("[aria-label='speed']").select_option("0")
    panel.press("play")
    panel.says(r"Running: step [\d,]{4,}")
    panel.shows("no veil", "layout.shapes[0].visible === false")


def test_the_slider_goes_through_the_record(panel):
    panel.enter("number of steps", "1000")
    panel.says("Paused at step 1,000$")
    slider = panel.find(".burlab-seek [type=range]")
    box = slider.bounding_box()
    panel.page.mouse.move(box["x"] + box["width"] - 7, box["y"] + box["height"] / 2)
    panel.page.mouse.down()
    for part in (0.9, 0.7, 0.5, 0.4):
        panel.page.mouse.move(box["x"] + part * box["width"], box["y"] + box["height"] / 2)
    panel.page.mouse.up()
    panel.says(r"At step (39|40|41)\d of 1,000, in the past")
    slider.focus()
    before = panel.step
    panel.page.keyboard.press("ArrowLeft")
    panel.says(f"At step {before - 1} of 1,000")
    panel.shows("the cursor", f"layout.shapes[1].x0 === {before - 1}")
    row = panel.notebook.kernel("print(f'{run.history[\"value\"][run.t]:.4g}', end='')")
    assert panel.find(".burlab-readouts b").first.inner_text().replace("−", "-") == row.replace("e-0", "e-")


def test_the_field_beside_it_goes_to_a_step(panel):
    panel.enter("number of steps", "1000")
    panel.says("Paused at step 1,000$")
    panel.enter("go to step", "123")
    panel.says("At step 123 of 1,000")
    panel.enter("go to step", "9999")
    panel.says("Paused at step 1,000$")


def test_a_knob_turns_a_hyperparameter(panel):
    slider = panel.find("[aria-label='lr'][type=range]")
    box = slider.bounding_box()
    panel.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    panel.page.mouse.down()
    panel.page.mouse.move(box["x"] + 7, box["y"] + box["height"] / 2, steps=5)
    panel.page.mouse.up()
    panel.page.wait_for_function("document.querySelector(\"[aria-label='lr value']\").value === '1e-7'")
    assert panel.notebook.kernel("print(run.hyper['lr'], end='')") == "1e-07"
    slider.press("ArrowRight")
    panel.page.wait_for_function("document.querySelector(\"[aria-label='lr value']\").value === '1.1e-7'")


def test_a_number_can_be_entered(panel):
    panel.enter("mu value", "0.995")
    panel.enter("lr value", "5e-4")
    panel.page.wait_for_function("document.querySelector(\"[aria-label='lr'][type=range]\").value > 0.5")
    assert panel.notebook.kernel("print(run.hyper['mu'], run.hyper['lr'], end='')") == "0.995 0.0005"
    panel.enter("lr value", "fast")
    panel.says("lr is 'fast', expected a number")
    panel.page.wait_for_function("document.querySelector(\"[aria-label='lr value']\").value === '5e-4'")


def test_a_field_is_edited_with_the_keys_of_a_text_field(panel):
    cells = panel.notebook.cells
    panel.type("number of steps", "1209")
    for key in ("ArrowLeft", "Backspace", "Home", "Delete", "End", "ArrowLeft"):
        panel.page.keyboard.press(key)
    panel.page.keyboard.type("5")
    assert panel.find("[aria-label='number of steps']").input_value() == "259"
    panel.page.keyboard.press("Enter")
    panel.says("Paused at step 259$")
    for label in ("number of steps", "go to step", "lr value"):
        panel.type(label, "abddxyz")  # JupyterLab's command mode would add cells and take some away
    assert panel.notebook.cells == cells


def test_escape_leaves_a_field_with_what_it_was(panel):
    panel.enter("number of steps", "300")
    panel.says("Paused at step 300$")
    before = panel.notebook.kernel("print(run.hyper, end='')")
    fields = {"number of steps": "300", "go to step": "300", "lr value": "3e-4", "mu value": "0.9"}
    for label, was in fields.items():
        panel.type(label, "12")
        panel.page.keyboard.press("Escape")
        assert panel.find(f"[aria-label='{label}']:not([type=range])").input_value() == was
        assert panel.focused != label
    panel.page.wait_for_timeout(500)  # for what was sent, if anything was
    assert panel.notebook.kernel("print(run.hyper, end='')") == before
    panel.says("Paused at step 300$")


def test_who_sees_only_the_foot_of_the_panel_sees_it_live(panel):
    panel.page.set_viewport_size({"width": 1280, "height": 500})
    try:
        panel.find(".burlab-memory").scroll_into_view_if_needed()
        panel.page.wait_for_timeout(500)  # for the page to say what is in sight
        head = panel.find(".burlab-head").bounding_box()
        assert head["y"] + head["height"] < 0
        panel.enter("mu value", "fast")
        panel.says("mu is 'fast', expected a number")
    finally:
        panel.page.set_viewport_size({"width": 1280, "height": 1500})


def test_the_tab_key_goes_through_the_controls_and_out_again(panel):
    panel.enter("number of steps", "9")
    panel.says("Paused at step 9$")
    field = panel.find("[aria-label='number of steps']")
    field.click()
    seen = [panel.focused]
    for _ in range(6):
        panel.page.keyboard.press("Tab")
        seen.append(panel.focused)
    expected = ["number of steps", "Step n", "Reset", "CSV", "step axis", "speed", "step"]
    assert seen == expected
    panel.page.keyboard.press("Tab")
    assert panel.focused == "go to step"
    panel.page.keyboard.type("4")  # what Tab comes to is selected
    panel.page.keyboard.press("Tab")
    assert panel.focused not in ("go to step", "step")
    panel.says("At step 4 of 9")
    panel.find("[aria-label='lr'][type=range]").focus()
    order = ["lr", "lr value", "mu", "mu value"]
    for name in order[1:]:
        panel.page.keyboard.press("Tab")
        assert panel.focused == name
    panel.page.keyboard.press("Tab")
    assert panel.focused not in order
    panel.page.keyboard.press("Shift+Tab")
    assert panel.focused == "mu value"


def test_buttons_and_the_speed_answer_to_keys(panel):
    panel.find("[data-intent=step]").focus()
    panel.page.keyboard.press("Enter")
    panel.says("Paused at step 1$")
    panel.page.keyboard.press("Space")
    panel.says("Paused at step 2$")
    speed = panel.find("[aria-label='speed']")
    speed.focus()
    panel.page.keyboard.type("100 s")
    assert speed.input_value() == "100"
    panel.page.keyboard.press("ArrowUp")
    assert speed.input_value() == "1000"


@pytest.mark.parametrize("panel", [SCHEDULED], indirect=True)
def test_a_schedule_is_taken_over_and_given_back(panel):
    button = panel.find("[aria-label='lr schedule']")
    assert button.inner_text() == "schedule"
    panel.enter("number of steps", "500")
    panel.says("Paused at step 500$")
    button.click()
    panel.page.wait_for_function("document.querySelector(\"[aria-label='lr schedule']\").textContent === 'by hand'")
    panel.enter("number of steps", "100")
    panel.says("Paused at step 600$")
    assert panel.notebook.kernel("print(run.hyper['lr'], end='')") == "0.0005"
    button.click()
    panel.page.wait_for_function("document.querySelector(\"[aria-label='lr schedule']\").textContent === 'schedule'")
    assert float(panel.notebook.kernel("print(run.hyper['lr'], end='')")) == pytest.approx(0.0004)
    assert panel.find("[aria-label='mu schedule']").is_hidden()


def test_a_run_that_is_watched_comes_to_rest_by_itself(panel):
    panel.enter("lr value", "1e-3")
    panel.press("play")
    panel.says(r"Running: step \d{1,2}, ")
    panel.says("At rest at step .*: none of the last 1,000 steps moved x", seconds=90)
    panel.shows("a logarithmic axis of steps", "layout.xaxis.type === 'log'")
    panel.shows("the start at one half", "data[1].x[0] === 0.5")


def test_curves_are_saved_as_a_table_and_nothing_is_offered_to_a_cloud(panel):
    panel.enter("number of steps", "40")
    panel.says("Paused at step 40$")
    panel.shows("the value", "data[1].x.length === 40")
    with panel.page.expect_download() as saved:
        panel.find(".burlab-csv").click()
    lines = saved.value.path().read_text().splitlines()
    assert lines[0] == "curve,x,y"
    assert sum(line.startswith('"value",') for line in lines) == 40
    titles = [button.get_attribute("data-title") for button in panel.find(".modebar-btn").all()]
    assert "Download plot as a PNG" in titles
    assert not [title for title in titles if "hare" in title or "loud" in title]


def test_a_slow_speed_can_be_watched(panel):
    panel.find("[aria-label='speed']").select_option("100")
    panel.press("play")
    panel.says(r"Running: step [1-9]\d, ")
    look = "print(time.monotonic(), run.t, end='')"  # by the kernel's own clock
    now, step = began, first = [float(word) for word in panel.notebook.kernel(look).split()]
    while step < first + 300 and now < began + 60:
        panel.page.wait_for_timeout(100)
        now, step = map(float, panel.notebook.kernel(look).split())
    assert 30 * (now - began) < step - first < 100 * (now - began) + 101, "at most a second's worth is owed"
    panel.press("pause")
    panel.says("Paused at step")


def test_a_knob_turned_in_the_past_branches_off(panel):
    panel.enter("number of steps", "800")
    panel.says("Paused at step 800$")
    panel.enter("go to step", "200")
    panel.says("At step 200 of 800, in the past")
    panel.enter("lr value", "1e-3")
    panel.says("Paused at step 200$")
    panel.shows("the old line", "data[0].x.length > 700")
    panel.enter("number of steps", "700")
    panel.says("Paused at step 900$")
    panel.shows("the new line", "data[1].x.at(-1) === 899")
    assert panel.notebook.kernel("print(run.parent.length, run.hyper['lr'], end='')") == "800 0.001"
    panel.shows("the change", "data.some(t => t.hovertext?.[0] === 'lr = 0.001')")
    panel.page.mouse.move(0, 0)
    panel.shot("panel")


def test_zooming_in_shows_every_step(panel):
    panel.find("[aria-label='step axis']").select_option("linear")
    panel.enter("number of steps", "100000")
    panel.says("Paused at step 100,000$")
    panel.shows("the value", "data[1].x.at(-1) === 99999")
    plot = panel.find(".nsewdrag").first
    box = plot.bounding_box()
    middle = box["y"] + box["height"] / 2
    inside = "data[1].x.filter(x => x >= layout.xaxis.range[0] && x <= layout.xaxis.range[1])"
    for _ in range(2):  # also after a choice that was given up
        panel.page.mouse.move(box["x"] + 0.5 * box["width"], middle)
        panel.page.mouse.down()
        panel.page.mouse.move(box["x"] + 0.502 * box["width"] + 12, middle, steps=4)
        panel.page.mouse.up()
        panel.shows("a part", "layout.xaxis.range[1] - layout.xaxis.range[0] < 10000")
        panel.shows("more points of it", f"{inside}.length > 400")
        panel.shot("panel_zoomed")
        panel.page.wait_for_timeout(500)  # else it is one more click of the same
        plot.dblclick()
        panel.shows("all of it", "layout.xaxis.range[1] > 90000 && layout.yaxis4.tickmode === 'linear'")
        panel.shows("no more points than that", "data[1].x.filter(x => x > 50000 && x < 52500).length < 100")


def test_two_parameters_are_seen_on_their_way(panel):
    panel.shows("the landscape", "data.some(t => t.type === 'contour' && t.z?.length === 121)")
    panel.shows("the minimum", "data.some(t => t.name === 'minimum' && t.x[0] === 1 && t.y[0] === 1)")
    panel.enter("number of steps", "300")
    panel.says("Paused at step 300$")
    x = panel.notebook.kernel("print(run.x[0], end='')")
    panel.shows("the point", f"data.some(t => t.name === 'point' && t.x[0] === {x})")
    assert panel.find(".burlab-key").inner_text().startswith("parameters")


@pytest.mark.parametrize("panel", [ENDLESS], indirect=True)
def test_it_is_live_while_a_cell_blocks_and_after_an_interrupt(panel):
    panel.notebook.write(3, "while True: sum(range(1000))")
    panel.notebook.start(3)
    panel.page.wait_for_selector(".jp-Notebook-ExecutionIndicator[data-status=busy]")
    panel.find("[aria-label='speed']").select_option("0")
    panel.press("play")
    panel.says(r"Running: step [\d,]{5,}")
    first = panel.step
    panel.page.wait_for_function(f"Number(document.querySelector('.burlab-at').value) > {first}")
    panel.notebook.command("notebook:interrupt-kernel")
    panel.page.wait_for_selector(".jp-Notebook-ExecutionIndicator[data-status=idle]")
    with pytest.raises(AssertionError, match="KeyboardInterrupt"):
        panel.notebook.printed(3)
    first = panel.step
    panel.page.wait_for_function(f"Number(document.querySelector('.burlab-at').value) > {first}")
    panel.press("pause")
    panel.says("Paused at step")


def test_pausing_ends_the_wait_of_a_cell(panel):
    panel.notebook.write(3, "run.step(10**12); print('on we go')")
    panel.notebook.start(3)
    panel.says(r"Running: step [\d,]{5,}")
    panel.press("pause")
    panel.says("Paused at step")
    panel.page.wait_for_selector(".jp-Notebook-ExecutionIndicator[data-status=idle]")
    assert panel.notebook.printed(3) == "on we go\n"


def test_displays_of_one_run_are_one_panel(panel):
    panel.notebook.run(2)
    second = Panel(panel.notebook, cell=2)
    second.enter("number of steps", "40")
    panel.says("Paused at step 40$")
    second.shows("the value", "data[1].x.length === 40")
    panel.shows("the value", "data[1].x.length === 40")
    panel.notebook.kernel("import burlab.widgets.panel.panel as life; life._GRACE = 0.3; p = panel_of(run)")
    panel.notebook.write(2, "pass")
    panel.notebook.run(2)
    panel.page.wait_for_timeout(700)
    assert panel.notebook.kernel("print(p.closed, end='')") == "False"
    panel.notebook.write(1, "pass")
    panel.notebook.run(1)
    end = time.monotonic() + 60
    while panel.notebook.kernel("print(p.closed, p.view.root.comm, end='')") != "True None":
        assert time.monotonic() < end, "a panel that no cell shows was not closed"
        panel.page.wait_for_timeout(100)
    panel.notebook.write(2, "run")
    panel.notebook.kernel("life._GRACE = 10.0")


@pytest.mark.parametrize("panel", [SCHEDULED], indirect=True)
@pytest.mark.parametrize("theme", ["Light", "Dark"])
def test_nothing_overlaps_at_any_width_in_any_theme(panel, theme):
    panel.notebook.command("apputils:change-theme", theme=f"JupyterLab {theme}")
    panel.enter("number of steps", "900")
    panel.says("Paused at step 900$")
    panel.enter("go to step", "400")
    panel.says("At step 400 of 900")
    try:
        for width in (900, 1150, 1400):
            panel.page.set_viewport_size({"width": width, "height": 1500})
            wide = "Math.abs(e.clientWidth - layout.width) < 2 || e._fullLayout.width <= e.clientWidth + 1"
            panel.shows("the width of the panel", wide)
            panel.page.wait_for_timeout(300)  # until it is drawn, or longer
            end = time.monotonic() + 20
            while (bad := panel.overlaps()) and time.monotonic() < end:
                panel.page.wait_for_timeout(100)
            panel.shot(f"panel_{theme.lower()}_{width}")
            assert bad == []
    finally:
        panel.page.set_viewport_size({"width": 1280, "height": 1500})
        panel.notebook.command("apputils:change-theme", theme="JupyterLab Light")


def test_a_page_loaded_anew_shows_what_is(panel):
    panel.enter("number of steps", "600")
    panel.says("Paused at step 600$")
    panel.enter("go to step", "200")
    panel.enter("mu value", "0.5")
    panel.says("Paused at step 200$")
    panel.notebook.reload()
    again = Panel(panel.notebook)
    again.says("Paused at step 200$")
    again.shows("both lines", "data[0].x.length > 500 && data[1].x.length === 200")
    panel.page.wait_for_function("document.querySelector(\"[aria-label='mu value']\")?.value === '0.5'")
    again.press("step")
    again.says("Paused at step 201$")
    again.shows("the new row", "data[1].x.length === 201")


def test_a_panel_without_its_kernel_says_what_to_do(panel):
    panel.enter("number of steps", "10")
    panel.says("Paused at step 10$")
    assert panel.find(".burlab-gone").is_hidden()
    assert panel.page.locator(".burlab-note").first.is_hidden()
    panel.notebook.page.evaluate("() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart()")
    panel.find(".burlab-gone").wait_for(state="visible", timeout=120_000)
    assert "Run this cell again" in panel.find(".burlab-gone").inner_text()
    panel.notebook.reload()
    note = panel.page.locator(".burlab-note").first
    note.wait_for(state="visible", timeout=120_000)
    assert "run this cell again" in note.inner_text()
    panel.notebook.run(0)
    panel.notebook.run(1)
    Panel(panel.notebook).says("Ready at step 0")
    assert note.is_hidden()


def test_nothing_was_asked_of_another_machine(notebook):
    hosts = {
        re.sub(r"^(\w+://[^/]*).*", r"\1", url) for url in notebook.requests if not url.startswith(("data:", "blob:"))
    }
    assert {re.sub(r":\d+$", "", host) for host in hosts} <= {"http://127.0.0.1", "ws://127.0.0.1"}
