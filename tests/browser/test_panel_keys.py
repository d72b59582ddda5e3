"""A panel without a mouse."""

import pytest

from tests.browser.panels import ENDLESS, write_run

pytestmark = [pytest.mark.browser, pytest.mark.full]


def test_the_tab_key_goes_through_the_controls_and_out_again(panel):
    panel.enter("number of steps", "9")
    panel.says("Paused at step 9$")
    field = panel.find("[aria-label='number of steps']")
    field.click()
    seen = [panel.focused]
    for _ in range(4):
        panel.page.keyboard.press("Tab")
        seen.append(panel.focused)
    expected = ["number of steps", "Step n", "Reset", "speed", "step"]
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


@pytest.mark.parametrize("panel", [write_run(ENDLESS)], indirect=True)
def test_space_plays_and_pauses_and_arrows_step_wherever_the_focus_is(panel):
    panel.find(".burlab-status").click()
    panel.page.keyboard.press("ArrowRight")
    panel.says("Paused at step 1$")
    panel.page.keyboard.press("Shift+ArrowRight")
    panel.says("Paused at step 11$")
    panel.page.keyboard.press("ArrowLeft")
    panel.says("At step 10 of 11")
    panel.page.keyboard.press("Shift+ArrowLeft")
    panel.says("At step 0 of 11")
    panel.press("step")  # by the mouse: the focus is on a button now
    panel.says("At step 1 of 11")
    panel.page.keyboard.press("Space")
    panel.says("Running: step")
    panel.page.keyboard.press("Space")
    panel.says("Paused at step|At step")
    panel.find("[aria-label='speed']").select_option("0")
    panel.find("[aria-label='lr'][type=range]").focus()
    panel.page.keyboard.press("Space")
    panel.says(r"Running: step [\d,]{5,}")
    panel.page.keyboard.press("Space")
    panel.says("Paused at step")
    before = panel.step
    panel.page.keyboard.press("ArrowRight")
    panel.page.wait_for_function("document.querySelector(\"[aria-label='lr value']\").value !== '1e-9'")
    assert panel.step == before, "the arrows of a slider are its own"


def test_text_fields_keep_their_keys(panel):
    panel.enter("number of steps", "50")
    panel.says("Paused at step 50$")
    panel.type("go to step", "12")
    for key in ("ArrowLeft", "Space", "Shift+ArrowLeft"):
        panel.page.keyboard.press(key)
    panel.page.wait_for_timeout(300)  # for what was sent, if anything was
    assert panel.notebook.kernel("print(run.t, run.running, end='')") == "50 False"


@pytest.mark.parametrize("panel", [write_run(ENDLESS)], indirect=True)
def test_screen_reader_announces_the_position_without_flooding(panel):
    heard = panel.listen()
    panel.press("play")
    panel.says(r"Running: step [\d,]{3,}")
    panel.press("pause")
    panel.says("Paused at step")
    panel.until(lambda: heard()[-1:] == [panel.status], lambda: f"it was never heard: {heard()}")
    assert len(heard()) <= 3, heard()
    plots = panel.find(".burlab-plots")
    panel.until(lambda: plots.get_attribute("aria-label").startswith("value, gradient norm"), "the plots have no name")
    assert panel.canvas("value").get_attribute("aria-label").startswith("value")
