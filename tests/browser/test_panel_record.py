"""The record of a run in its panel: seeking, branching, zooming, saving."""

import pytest

from tests.browser.waits import grab

pytestmark = pytest.mark.browser


def drag(panel, x, y, to):
    """Move the mouse from a place to another one at the same height, with its button down."""
    panel.page.mouse.move(x, y)
    panel.page.mouse.down()
    panel.page.mouse.move(to, y, steps=6)
    panel.page.mouse.up()


def drag_the_cursor(panel, plot):
    """Drag the cursor of a plot to about step 700 of 1000."""
    to, y = panel.place(plot, 0.7)
    drag(panel, panel.canvas(plot).bounding_box()["x"] + panel.chart(f"part('{plot}').frame.sx.at(cursor)"), y, to)
    panel.says(r"At step [67]\d\d of 1,000")


def test_the_slider_goes_through_the_record(panel):
    panel.enter("number of steps", "1000")
    panel.says("Paused at step 1,000$")
    slider = panel.find(".burlab-seek [type=range]")
    box = grab(slider, across=1.0)
    for part in (0.9, 0.7, 0.5, 0.4):
        panel.page.mouse.move(box["x"] + part * box["width"], box["y"] + box["height"] / 2)
    panel.page.mouse.up()
    panel.says(r"At step (39|40|41)\d of 1,000, in the past")
    slider.focus()
    before = panel.step
    panel.page.keyboard.press("ArrowLeft")
    panel.says(f"At step {before - 1} of 1,000")
    panel.shows("the cursor", f"cursor === {before - 1}")
    row = panel.notebook.kernel("print(f'{run.history[\"value\"][run.t]:.4g}', end='')")
    assert panel.find(".burlab-readouts b").first.inner_text().replace("−", "-") == row.replace("e-0", "e-")


@pytest.mark.full
def test_step_field_seeks(panel):
    panel.enter("number of steps", "1000")
    panel.says("Paused at step 1,000$")
    panel.enter("go to step", "123")
    panel.says("At step 123 of 1,000")
    panel.enter("go to step", "9999")
    panel.says("Paused at step 1,000$")


@pytest.mark.full
def test_a_knob_turned_in_the_past_branches_off(panel):
    panel.enter("number of steps", "800")
    panel.says("Paused at step 800$")
    panel.enter("go to step", "200")
    panel.says("At step 200 of 800, in the past")
    panel.enter("lr value", "1e-3")
    panel.says("Paused at step 200$")
    panel.shows("the old line", "faint('value').x.length > 700")
    panel.enter("number of steps", "700")
    panel.says("Paused at step 900$")
    panel.shows("the new line", "curve('value').x.at(-1) === 900")
    assert panel.notebook.kernel("print(run.parent.length, run.hyper['lr'], end='')") == "800 0.001"
    panel.shows("the change", "part('value').dots[0].hints[0] === 'lr = 0.001'")
    panel.page.mouse.move(0, 0)
    panel.shot("panel")


@pytest.mark.full
def test_zooming_in_shows_every_step(panel):
    panel.find("[aria-label='axis scale']").select_option("linear")
    panel.enter("number of steps", "100000")
    panel.says("Paused at step 100,000$")
    panel.shows("the value", "curve('value').x.at(-1) === 100000")
    inside = "curve('value').x.filter(x => x >= part('value').frame.sx.low && x <= part('value').frame.sx.high)"
    seen = "part('value').frame.sx"
    panel.unfold("norms and time")
    for _ in range(2):  # also after a choice that was given up
        x, y = panel.place("value", 0.5)
        drag(panel, x, y, x + 24)
        panel.shows("a part", f"{seen}.high - {seen}.low < 10000")
        panel.shows("more points of it", f"{inside}.length > 400")
        panel.shows("the same part beside it", f"part('step_norm').frame.sx.low === {seen}.low")
        panel.shot("panel_zoomed")
        panel.page.mouse.dblclick(x, y)
        panel.shows("all of it", f"{seen}.high > 90000")
        panel.shows("no more points than that", "curve('value').x.filter(x => x > 50000 && x < 52500).length < 100")


@pytest.mark.full
def test_the_wheel_zooms_where_the_mouse_rests_and_keys_do_too(panel):
    panel.enter("number of steps", "1000")
    panel.says("Paused at step 1,000$")
    panel.shows("the value", "curve('value').x.length === 1001")
    seen = "part('value').frame.sx"
    panel.page.mouse.move(*panel.place("value", 0.5))
    panel.page.mouse.wheel(0, -100)
    panel.page.wait_for_timeout(300)  # for what it may do
    assert panel.chart(f"{seen}.low") == 0, "the wheel scrolls the page"
    panel.page.mouse.click(*panel.place("value", 0.5))
    for _ in range(4):
        panel.page.mouse.wheel(0, -100)
    panel.shows("a part around the mouse", f"{seen}.low > 100 && {seen}.high < 900")
    panel.canvas("value").focus()
    panel.page.keyboard.press("0")
    panel.shows("all of it", f"{seen}.low === 0")
    panel.page.keyboard.press("+")
    panel.shows("a part", f"{seen}.low > 50")


@pytest.mark.full
def test_the_cursor_is_dragged_along_the_curves(panel):
    panel.enter("number of steps", "1000")
    panel.says("Paused at step 1,000$")
    panel.enter("go to step", "200")
    panel.says("At step 200 of 1,000")
    panel.unfold("norms and time")
    panel.shows("the cursor", "cursor === 200")
    drag_the_cursor(panel, "gradient_norm")


@pytest.mark.full
def test_curves_are_drawn_over_what_steps_cost_and_the_cursor_goes_along(panel):
    panel.enter("number of steps", "1000")
    panel.says("Paused at step 1,000$")
    axis = panel.find("[aria-label='axis']")
    panel.find("[aria-label='smoothing']").focus()
    panel.page.keyboard.press("Tab")
    assert panel.focused == "axis"
    for _ in range(3):
        panel.page.keyboard.press("ArrowDown")
    assert axis.input_value() == "flops"
    panel.shows("flops", "part('value').x.label === 'floating-point operations'")
    flops = panel.notebook.kernel("print(*run.history['flops'], end='')").split()
    assert panel.chart("[...curve('value').x]")[:1000] == [float(n) for n in flops]
    panel.enter("go to step", "200")
    panel.says("At step 200 of 1,000")
    panel.shows("the cursor", f"cursor === {flops[200]}")
    drag_the_cursor(panel, "value")
    panel.shows("the cursor at this step", f"{[float(n) for n in flops]}[{panel.step}] === cursor")
    panel.shot("panel_flops")
    panel.page.keyboard.press("ArrowLeft")
    panel.shows("the cursor a step before", f"{[float(n) for n in flops]}[{panel.step}] === cursor")
    x, y = panel.place("value", 0.2)
    drag(panel, x, y, x + 60)
    panel.shows("a part", f"part('value').frame.sx.high - part('value').frame.sx.low < {flops[-1]} / 4")
    axis.select_option("step")
    panel.shows("all steps", "part('value').x.label === 'step' && part('value').frame.sx.high >= 1000")
    panel.shows("the cursor at its step", f"cursor === {panel.step}")


@pytest.mark.full
def test_the_mouse_over_one_plot_reads_all_of_them(panel):
    panel.enter("number of steps", "100")
    panel.says("Paused at step 100$")
    panel.shows("the value", "curve('value').x.length === 101")
    panel.page.mouse.move(*panel.place("value", 0.5))
    panel.shows("a place", "chart.hover?.across === 'x step'")
    step = panel.chart("chart.hover.x")
    assert 45 <= step <= 55
    told = panel.notebook.kernel(f"print(float(run.history['gradient_norm'][{step}]), end='')")
    assert panel.chart(f"curve('gradient_norm').y[{step}]") == float(told)
    panel.shot("panel_hover")
    panel.page.mouse.move(2, 2)
    panel.shows("no place", "chart.hover === null")


@pytest.mark.full
def test_noise_is_smoothed_and_stays_behind_it(panel):
    panel.enter("number of steps", "2000")
    panel.says("Paused at step 2,000$")
    slider = panel.find("[aria-label='smoothing']")
    assert slider.input_value() == "0"
    slider.focus()
    for _ in range(8):
        panel.page.keyboard.press("ArrowRight")
    panel.shows("both", "faint('value')?.x.length > 500 && curve('value').x.length > 100")
    assert slider.input_value() == "0.4"
    assert panel.notebook.kernel("print(run.t, end='')") == "2000", "its arrows do no steps"


@pytest.mark.full
def test_panel_saves_a_table_and_a_picture(panel):
    panel.enter("number of steps", "40")
    panel.says("Paused at step 40$")
    panel.shows("the value", "curve('value').x.length === 41")
    with panel.page.expect_download() as saved:
        panel.find(".burlab-csv").click()
    assert saved.value.suggested_filename == "momentum-on-rosenbrock-step-40.csv"
    lines = saved.value.path().read_text().splitlines()
    assert lines[0] == "plot,curve,x,y"
    assert sum(line.startswith('"value","value",') for line in lines) == 41
    with panel.page.expect_download() as saved:
        panel.find(".burlab-svg").click()
    assert saved.value.suggested_filename == "momentum-on-rosenbrock-step-40.svg"
    assert saved.value.path().read_text().startswith("<svg")
    with panel.page.expect_download() as saved:
        panel.find(".burlab-png").click()
    assert saved.value.suggested_filename == "momentum-on-rosenbrock-step-40.png"
    data = saved.value.path().read_bytes()
    width, height = (int.from_bytes(data[k : k + 4]) for k in (16, 20))
    box = panel.find(".burlab-chart").bounding_box()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    assert (width, height) >= (2 * int(box["width"]), 2 * int(box["height"]))


@pytest.mark.full
def test_two_parameters_are_seen_on_their_way(panel):
    panel.shows("the landscape", "part('plane').heights?.rows === 121")
    panel.shows("the minimum", "part('plane').dots.some(t => t.label === 'minimum' && t.x[0] === 1 && t.y[0] === 1)")
    panel.enter("number of steps", "300")
    panel.says("Paused at step 300$")
    x = panel.notebook.kernel("print(run.x[0], end='')")
    panel.shows("the point", f"part('plane').dots.some(t => t.label === 'here' && t.x[0] === {x})")
    panel.unfold("memory")
    assert panel.find(".burlab-key").inner_text().startswith("parameters")
