"""A loop of PyTorch in a cell of a real JupyterLab, paused, stepped and turned while the cell runs."""

import re

import pytest

from burlab.widgets.panel.scales import scale_for
from tests.browser.panels import Panel

pytestmark = pytest.mark.browser
torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install 'burlab[bench]'")

SETUP = """
import time
import torch
import burlab as bl
torch.manual_seed(0)
torch.set_num_threads(1)
x = torch.randn(64, 2)
y = x[:, :1] * x[:, 1:]
"""
LOOP = """
model = torch.nn.Sequential(torch.nn.Linear(2, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
with bl.watch.torch(model, optimizer) as w:
    for step in range(STEPS):
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        w.log(loss=loss, accuracy=float(((model(x) - y).abs() < 0.1).float().mean()))
        time.sleep(PAUSE)
print("done", w.t)
"""
KNOB = "document.querySelector(\"[aria-label='lr value']\").value"


@pytest.fixture(scope="module")
def notebook(open_notebook):
    return open_notebook("watch", [SETUP, LOOP, "pass"])


@pytest.fixture
def start(notebook):
    """Start the loop of so many steps; gives its panel, which is shown while the cell runs."""

    def go(steps, pause=0.003):
        notebook.write(1, LOOP.replace("STEPS", str(steps)).replace("PAUSE", str(pause)))
        notebook.start(1)
        return Panel(notebook)

    yield go
    notebook.command("notebook:interrupt-kernel")
    notebook.prints("print('here', end='')", "here")  # what comes with an interrupt is given up


def resting_step(panel):
    """The step at which the panel says that the loop rests, when it does."""
    panel.says(r"^Paused at step [\d,]+$")
    return int(re.sub(r"\D", "", panel.status))


def test_a_loop_in_a_cell_is_paused_stepped_turned_and_played_by_hand(start, notebook):
    panel = start(1_000_000)
    panel.says(r"^Running: step [\d,]{2,}, .* steps per second")
    panel.press("pause")
    at = resting_step(panel)
    panel.page.wait_for_timeout(500)
    assert resting_step(panel) == at, "the loop rests"
    assert notebook.printed(1) == ""
    panel.press("step")
    panel.says(f"^Paused at step {at + 1:,}$")
    panel.enter("number of steps", "25")
    panel.says(f"^Paused at step {at + 26:,}$")
    slider = panel.find("[aria-label='lr'][type=range]")
    slider.focus()
    place = float(slider.input_value())
    for _ in range(3):
        panel.page.keyboard.press("ArrowLeft")
    turned = scale_for("lr", 0.1).value(place - 3 * 0.005)
    panel.page.wait_for_function(f"Number({KNOB}) === {turned}")
    assert 0 < turned < 0.1
    panel.enter("number of steps", "2")
    panel.says(f"^Paused at step {at + 28:,}$")
    panel.press("play")
    panel.says(r"^Running: step")
    panel.shot("watch_running")
    notebook.command("notebook:interrupt-kernel")
    panel.says(r"^The loop was interrupted after step [\d,]+\.")
    notebook.finish()
    known = (
        "print(len(w.history['step']), optimizer.param_groups[0]['lr'], w.events[-1].name, w.events[-1].value, end='')"
    )
    rows, rate, name, value = notebook.kernel(known).split()
    assert int(rows) > at + 28
    assert (float(rate), name, float(value)) == (turned, "lr", turned)
    for intent in ("play", "step", "steps", "pause"):
        assert panel.find(f"[data-intent={intent}]").is_disabled()


@pytest.mark.full
def test_ended_loop_is_reported_and_offers_no_step_back(start, notebook):
    panel = start(40)
    panel.says(r"^The loop has ended after step 39\.$")
    notebook.finish()
    assert notebook.printed(1) == "done 40\n"
    assert panel.find(".burlab-no-way-back").is_visible()
    assert panel.find("[data-intent=reset]").is_hidden()
    panel.shot("watch_ended")


@pytest.mark.full
def test_error_in_the_loop_is_shown_in_the_panel(start, notebook):
    panel = start(10, "-1")
    panel.says(r"^The loop has failed after step 0: ValueError: sleep length must be non-negative")


@pytest.mark.full
def test_a_page_loaded_anew_in_the_middle_steers_the_loop(start, notebook):
    panel = start(1_000_000)
    panel.says(r"^Running: step [\d,]{2,}, ")
    panel.press("pause")
    at = resting_step(panel)
    notebook.command("docmanager:save")
    panel.page.reload(wait_until="load")
    again = Panel(notebook)
    again.says(f"^Paused at step {at:,}$")
    again.press("step")
    again.says(f"^Paused at step {at + 1:,}$")
    again.press("play")
    again.says(r"^Running: step")
    again.press("pause")
    assert resting_step(again) > at + 1


@pytest.mark.full
def test_a_kernel_that_is_restarted_in_the_middle_leaves_words(start, notebook):
    panel = start(1_000_000)
    panel.says(r"^Running: step [\d,]{2,}, ")
    panel.press("pause")
    resting_step(panel)
    panel.page.evaluate("() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart()")
    panel.find(".burlab-gone").wait_for(state="visible")
    notebook.run(0)
    notebook.write(1, LOOP.replace("STEPS", "30").replace("PAUSE", "0.003"))
    notebook.run(1)
    Panel(notebook).says(r"^The loop has ended after step 29\.$")
