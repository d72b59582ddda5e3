"""The switch for formats of numbers on a panel, by mouse and keyboard."""

import pytest

from tests.browser.panels import ENDLESS, write_run
from tests.browser.views import SHOTS

pytestmark = pytest.mark.browser
RESIDUALS = """
run = bl.minimize(bl.Residuals(lambda x, a: a * x - 1.0, np.arange(4.0)), np.zeros(()), bl.optim.GD(1e-3))
run
"""
SCIPY = """
f = bl.problems.rosenbrock()
run = bl.minimize(f, f.start, bl.optim.SciPy())
run
"""


def named(panel, label):
    return panel.find(f"[aria-label='{label}']")


def test_the_run_goes_on_in_chosen_formats_and_back(panel):
    panel.enter("number of steps", "40")
    panel.says("Paused at step 40$")
    panel.unfold("formats of numbers")
    apply = panel.find(".burlab-apply")
    assert apply.is_disabled(), "nothing was chosen yet"
    assert named(panel, "rounding").is_disabled()
    named(panel, "format of x").select_option("e4m3")
    named(panel, "format of state").select_option("bfloat16")
    assert named(panel, "format of all").input_value() == "mixed"
    panel.find("label:has-text('master copy of x') input").uncheck()
    named(panel, "rounding").select_option("nearest")
    apply.click()
    panel.until(
        lambda: "in params e4m3, state bfloat16" in panel.find(".burlab-status em").inner_text(), "the title stayed"
    )
    panel.says("Paused at step 40$")
    panel.notebook.prints(
        "print(run.formats == bl.Formats(params='e4m3', state='bfloat16', master=False, stochastic=False), end='')",
        "True",
    )
    panel.enter("number of steps", "20")
    panel.says("(Paused|Stopped) at step")
    panel.notebook.prints("print((run.x == bl.round_to('e4m3', run.x)).all(), end='')", "True")
    panel.shows(
        "a mark", "part('value').marks.some(({ label, at }) => at === 40 && label.startsWith('from here params e4m3'))"
    )
    panel.enter("go to step", "12")
    panel.says("At step 12 of")
    panel.until(lambda: named(panel, "format of x").input_value() == "", "step 12 had no format")
    panel.notebook.prints("print(run.formats, end='')", "None")
    panel.enter("go to step", "41")
    panel.until(lambda: named(panel, "format of x").input_value() == "e4m3", "step 41 has a format")


@pytest.mark.parametrize("panel", [write_run(ENDLESS)], indirect=True)
def test_a_playing_run_is_switched_by_keys_alone(panel):
    page = panel.page
    panel.unfold("formats of numbers")
    panel.press("play")
    panel.says("^Running: step [1-9]")
    panel.find("summary:text-is('formats of numbers')").focus()
    page.keyboard.press("Tab")
    assert panel.focused == "format of all"
    page.keyboard.type("bf")  # a menu that is closed takes the entry that begins so
    assert named(panel, "format of loss").input_value() == "bfloat16"
    for _ in range(8):  # four menus, rounding if it has a use, two boxes
        if panel.focused != "Go on in these":
            page.keyboard.press("Tab")
    assert panel.focused == "Go on in these"
    page.keyboard.press("Enter")
    panel.until(lambda: "in bfloat16" in panel.find(".burlab-status em").inner_text(), "the title stayed")
    panel.says("^Running: step [1-9]")
    assert panel.focused == "formats of numbers", "a button that is disabled gives the focus to its fold"
    panel.press("pause")
    panel.says("Paused at step")
    panel.notebook.prints("print(run.formats.summary, len(run.formats_from), end='')", "bfloat16 2")


@pytest.mark.parametrize("panel", [RESIDUALS], indirect=True)
def test_residuals_are_exact_and_the_rest_can_change(panel):
    panel.unfold("formats of numbers")
    loss = named(panel, "format of loss")
    assert loss.is_disabled()
    assert "Residuals are computed in x0's dtype" in loss.get_attribute("title")
    named(panel, "format of all").select_option("e5m2")
    assert (loss.input_value(), named(panel, "format of gradient").input_value()) == ("", "e5m2")
    panel.find(".burlab-apply").click()
    panel.until(lambda: "gradients e5m2" in panel.find(".burlab-status em").inner_text(), "the title stayed")


@pytest.mark.parametrize("panel", [SCIPY], indirect=True)
def test_a_run_that_cannot_says_why(panel):
    panel.unfold("formats of numbers")
    assert "Formats cannot change: a minimizer of SciPy" in panel.find(".burlab-reason").inner_text()
    assert named(panel, "format of x").is_disabled()
    assert panel.find(".burlab-apply").is_disabled()


@pytest.mark.full
@pytest.mark.parametrize("width", [600, 1366])
@pytest.mark.parametrize("theme", ["Light", "Dark"])
def test_the_switch_fits_the_page(panel, width, theme):
    panel.enter("number of steps", "300")
    panel.says("Paused at step 300$")
    panel.unfold("formats of numbers")
    named(panel, "format of x").select_option("e4m3")
    named(panel, "format of state").select_option("mxfp8_e4m3")
    panel.find(".burlab-apply").click()
    panel.until(lambda: "in params e4m3" in panel.find(".burlab-status em").inner_text(), "the title stayed")
    panel.enter("number of steps", "300")
    panel.says("(Paused|Stopped) at step")
    panel.notebook.command("apputils:change-theme", theme=f"JupyterLab {theme}")
    panel.page.set_viewport_size({"width": width, "height": 1300 if width < 700 else 768})
    panel.find(".burlab-formats").scroll_into_view_if_needed()
    try:
        bad = panel.settled_overlaps()
        panel.page.screenshot(path=SHOTS / f"formats_{width}_{theme}.png")
        assert bad == []
    finally:
        panel.page.set_viewport_size({"width": 1280, "height": 1500})
        panel.notebook.command("apputils:change-theme", theme="JupyterLab Light")
