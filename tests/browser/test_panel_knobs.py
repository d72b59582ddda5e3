"""The knobs of a panel, by mouse and keyboard."""

import pytest

from burlab.widgets.panel.scales import scale_for, texts
from tests.browser.panels import SCHEDULED, write_run
from tests.browser.waits import grab

pytestmark = pytest.mark.browser
# What a field says in the frame that follows each move of its slider; and, with every frame, all that it ever says.
ANNOUNCED = """([slider, field]) => {
  const said = window.said = { moves: [], all: [field.value] };
  const note = () => {
    if (said.all.at(-1) !== field.value) said.all.push(field.value);
    requestAnimationFrame(note);
  };
  note();
  slider.addEventListener("input", () => requestAnimationFrame(() => said.moves.push(field.value)));
}"""


def test_knob_changes_a_hyperparameter(panel):
    slider = panel.find("[aria-label='lr'][type=range]")
    box = grab(slider)
    panel.page.mouse.move(box["x"] + 7, box["y"] + box["height"] / 2, steps=5)
    panel.page.mouse.up()
    panel.page.wait_for_function("document.querySelector(\"[aria-label='lr value']\").value === '1e-7'")
    panel.notebook.prints("print(run.hyper['lr'], end='')", "1e-07")
    slider.press("ArrowRight")
    panel.page.wait_for_function("document.querySelector(\"[aria-label='lr value']\").value === '1.1e-7'")


@pytest.mark.full
def test_each_of_many_quick_keys_moves_a_knob(panel):
    slider = panel.find("[aria-label='lr'][type=range]")
    place = float(slider.input_value())
    field = panel.find("[aria-label='lr value']").element_handle()
    panel.page.evaluate(ANNOUNCED, [slider.element_handle(), field])
    slider.focus()
    for _ in range(40):
        panel.page.keyboard.press("ArrowRight")
    moved = round(place + 40 * 0.005, 3)
    assert float(slider.input_value()) == moved
    scale = scale_for("lr", 3e-4)
    told = f"print(run.hyper['lr'] == {scale.value(moved)}, end='')"
    panel.notebook.prints(told, "True")
    panel.page.wait_for_function("said.moves.length === 40")
    first = round(200 * place)
    passed = texts(scale)[first + 1 : first + 41]
    moves, shown = panel.page.evaluate("[said.moves, said.all]")
    assert moves[-1] == passed[-1], "the field moves with its slider"
    assert set(moves) <= set(passed)
    steps = [passed.index(text) for text in shown[1:]]
    assert steps == sorted(steps), "an answer of Python takes nothing back"


SLOW = """
worker = panel_of(run)._thread._worker
turn = worker._iterate
def slowly(intents):
    time.sleep(6.0 if intents else 0.0)
    return turn(intents)
worker._iterate = slowly
"""


@pytest.mark.full
def test_answers_that_come_late_take_no_key_back(panel):
    """As on a machine that does other work: the first key is answered when the last one was pressed seconds ago."""
    panel.notebook.kernel(SLOW)
    slider = panel.find("[aria-label='lr'][type=range]")
    place = float(slider.input_value())
    panel.page.evaluate(ANNOUNCED, [slider.element_handle(), panel.find("[aria-label='lr value']").element_handle()])
    slider.focus()
    for _ in range(10):
        panel.page.keyboard.press("ArrowRight")
    scale = scale_for("lr", 3e-4)
    panel.notebook.prints(f"print(run.hyper['lr'] == {scale.value(round(place + 0.05, 3))}, end='')", "True")
    first = round(200 * place)
    passed = texts(scale)[first + 1 : first + 11]
    panel.page.wait_for_function("said.moves.length === 10")
    panel.notebook.kernel("worker._iterate = turn")
    steps = [passed.index(text) for text in panel.page.evaluate("said.all.slice(1)")]
    assert steps == sorted(steps)
    assert steps[-1] == 9


@pytest.mark.full
def test_a_number_can_be_entered(panel):
    panel.enter("mu value", "0.995")
    panel.enter("lr value", "5e-4")
    panel.notebook.prints("print(run.hyper['mu'], run.hyper['lr'], end='')", "0.995 0.0005")
    panel.page.wait_for_function("document.querySelector(\"[aria-label='lr'][type=range]\").value > 0.5")
    panel.enter("lr value", "fast")
    panel.says("lr is 'fast', expected a number")
    panel.page.wait_for_function("document.querySelector(\"[aria-label='lr value']\").value === '5e-4'")


@pytest.mark.full
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


@pytest.mark.full
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


@pytest.mark.full
@pytest.mark.parametrize("panel", [write_run(SCHEDULED)], indirect=True)
def test_schedule_is_overridden_and_restored(panel):
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
