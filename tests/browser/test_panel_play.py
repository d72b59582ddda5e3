"""Buttons and speeds of a panel in a real JupyterLab."""

import pytest

from tests.browser.panels import ENDLESS, write_run

pytestmark = pytest.mark.browser
# From now on: of each update that comes to the page, the last step in it, and whether the page draws in the next frame.
UPDATES = """(el) => {
  const updates = window.updates = [], began = performance.now();
  let [parts, drawn] = [el.chart.parts, el.chart.frames];
  const look = () => {
    const [now, before] = [el.chart.frames, drawn];
    for (const one of updates) if (one.drawn === undefined) one.drawn = now > one.before;
    if (el.chart.parts !== parts) {
      parts = el.chart.parts;
      const { x } = parts[0].curves.find((curve) => !curve.faint);
      updates.push({ before, step: x.at(-1), at: performance.now() - began });
    }
    drawn = now;
    requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}"""
# In the kernel: whether each turn of the panel in which it may send an update does so.
COUNT_FRAMES = """
view, turns = panel_of(run), []
def show(model, show=view._show):
    before = view.state["tick"]
    show(model)
    turns.append(view.state["tick"] > before)
view._show = show
"""
# Whether Pause is off as soon as it is clicked, before any answer; milliseconds from a seek to numbers of another step.
PAUSE = """(root) => {
  const button = document.querySelector(`${root} [data-intent=pause]`);
  button.click();
  return button.disabled;
}"""
SEEK = """(root) => new Promise((done) => {
  const slider = document.querySelector(`${root} .burlab-seek [type=range]`);
  const value = document.querySelector(`${root} .burlab-readouts b`);
  const before = value.textContent, start = performance.now();
  slider.value = 1000;
  slider.dispatchEvent(new Event("change", { bubbles: true }));
  const look = () => (value.textContent !== before ? done(performance.now() - start) : setTimeout(look, 1));
  look();
})"""


@pytest.mark.parametrize("panel", [write_run(ENDLESS)], indirect=True)
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
    panel.shows("all of the gradient norm", f"curve('gradient_norm').x.at(-1) >= {panel.step - 1 - open_pair}")


@pytest.mark.full
def test_step_does_one(panel):
    panel.press("step")
    panel.says("Paused at step 1$")
    panel.press("step")
    panel.says("Paused at step 2$")
    assert panel.notebook.kernel("print(run.t, run.history['value'][-1], end='')").split()[0] == "2"


@pytest.mark.full
def test_step_n_does_the_number_of_steps_in_the_field(panel):
    panel.type("number of steps", "250")
    panel.press("steps")
    panel.says("Paused at step 250$")
    panel.enter("number of steps", "50")
    panel.says("Paused at step 300$")
    panel.enter("number of steps", "some")
    panel.says("the number of steps is 'some', expected a whole number")
    panel.shows("the value", "curve('value').x.length === 301")


@pytest.mark.full
@pytest.mark.parametrize("panel", [write_run(ENDLESS)], indirect=True)
def test_reset_goes_back_to_the_start(panel):
    panel.enter("number of steps", "100")
    panel.says("Paused at step 100$")
    panel.press("reset")
    panel.says("At step 0 of 100, in the past")
    assert panel.notebook.kernel("print(run.x.tolist(), end='')") == "[-1.2, 1.0]"
    panel.shows("the cursor at the start", "cursor === 0")
    panel.find("[aria-label='speed']").select_option("0")
    panel.press("play")
    panel.says(r"Running: step [\d,]{4,}")
    panel.shows("no cursor", "cursor === undefined")


@pytest.mark.full
def test_a_run_that_is_watched_comes_to_rest_by_itself(panel):
    panel.enter("lr value", "1e-3")
    panel.press("play")
    panel.says(r"Running: step \d{1,2}, ")
    panel.says("At rest at step .*: none of the last 1,000 steps moved x")
    panel.shows("a logarithmic axis of steps", "part('value').x.log")
    panel.shows("the start, left of the first step", "curve('value').x[0] === 0 && part('value').frame.sx.at(0) > 0")


@pytest.mark.full
def test_a_slow_speed_can_be_watched(panel):
    panel.find("[aria-label='speed']").select_option("100")
    panel.press("play")
    panel.says(r"Running: step [1-9][\d,]*, ")
    look = "print(time.monotonic(), run.t, end='')"  # by the kernel's own clock
    now, step = began, first = [float(word) for word in panel.notebook.kernel(look).split()]
    while step < first + 300 and now < began + 60:
        panel.page.wait_for_timeout(100)
        now, step = map(float, panel.notebook.kernel(look).split())
    assert 30 * (now - began) < step - first < 100 * (now - began) + 101, "at most a second's worth is owed"
    panel.press("pause")
    panel.says("Paused at step")


@pytest.mark.full
def test_panel_plays_backwards(panel):
    panel.enter("number of steps", "400")
    panel.says("Paused at step 400$")
    panel.find("[aria-label='speed']").select_option("10")
    panel.press("back")
    panel.says(r"Playing backwards: step 3\d\d of 400")
    first = panel.step
    panel.page.wait_for_function(f"Number(document.querySelector('.burlab-at').value) < {first} - 20")
    panel.press("pause")
    panel.says(r"At step \d+ of 400, in the past")
    panel.find("[aria-label='speed']").select_option("0")
    panel.press("back")
    panel.says("At step 0 of 400, in the past")
    assert panel.find("[data-intent=back]").is_disabled()
    assert panel.notebook.kernel("print(run.x.tolist(), end='')") == "[-1.2, 1.0]"


@pytest.mark.full
@pytest.mark.parametrize("panel", [write_run(ENDLESS)], indirect=True)
def test_panel_responds_at_full_speed_over_ten_million_steps(panel):
    """Machines that test may be busy, so nothing is held against a clock; times are written to panel_speed.txt."""
    panel.find("[aria-label='speed']").select_option("0")
    panel.press("play")
    panel.says(r"Running: step \d{2},\d{3},\d{3}")
    panel.notebook.kernel(COUNT_FRAMES)
    panel.find(".burlab-chart").evaluate(UPDATES)
    panel.page.wait_for_function("updates.length > 30")
    first, *_, last, _ = updates = panel.page.evaluate("updates")
    turns = panel.notebook.kernel("print(len(turns) - sum(turns), end='')")
    assert panel.page.evaluate(PAUSE, panel.root), "a button answers at once"
    panel.says(r"Paused at step \d{2},\d{3},\d{3}")
    seek = panel.page.evaluate(SEEK, panel.root)
    panel.says("in the past")
    redraws = 1000 * len(updates[1:-1]) / (last["at"] - first["at"])
    panel.report("panel_speed", f"redraws a second {redraws:.1f}, seek {seek:.0f} ms")
    assert turns == "0", "whenever the page keeps up, what is new is sent"
    assert all(one["drawn"] for one in updates[:-1]), "what has come is drawn at once"
    assert last["step"] > first["step"], "it moves"
    panel.shot("panel_long")


@pytest.mark.full
def test_breakpoints_are_set_by_hand_and_marked_where_they_were_hit(panel):
    panel.unfold("breakpoints")
    panel.find("[aria-label='breakpoint condition']").select_option("every")
    panel.enter("breakpoint value", "40")
    chip = panel.find(".burlab-break button").first
    chip.wait_for()
    assert chip.inner_text() == "every 40 steps"
    panel.find("[aria-label='speed']").select_option("0")
    panel.press("play")
    panel.says("Stopped at step 40 by breakpoint 1")
    panel.shows("a mark", "part('value').marks.some(({ kind, at }) => kind === 'break' && at === 40)")
    panel.shot("panel_breakpoint")
    chip.click()
    panel.page.wait_for_function("document.querySelector('.burlab-break button').ariaPressed === 'false'")
    panel.enter("number of steps", "100")
    panel.says("Paused at step 140$")
    hit = panel.find(".burlab-hit")
    value = panel.notebook.kernel("print(f'{run.breakpoints.hits[0].value:.4g}', end='')")
    assert hit.inner_text().split() == ["40", "every", "40", "steps,", "value", value]
    hit.focus()
    panel.page.keyboard.press("Enter")
    panel.says("At step 40 of 140, in the past")
    panel.shows("the cursor", "cursor === 40")
    panel.enter("go to step", "140")
    panel.says("Paused at step 140$")
    panel.find(".burlab-break button").nth(1).click()
    panel.find(".burlab-break").first.wait_for(state="detached")
    assert panel.notebook.kernel("print(len(run.breakpoints), end='')") == "0"
