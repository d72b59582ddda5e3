"""The panel of a race in a real JupyterLab, by mouse and keys."""

import pytest

from tests.browser.live import LivePanel

pytestmark = pytest.mark.browser
SETUP = "import burlab as bl\nf = bl.problems.rosenbrock()"
RACE = """
race = bl.race(f, f.start, {"momentum": bl.optim.Momentum(5e-4, mu=0.9), "Adam": bl.optim.Adam(2e-2)})
race
"""


class Panel(LivePanel):
    """The panel of a race that a cell shows."""

    kind = "burlab-race"

    def choose(self, menu, value):
        self.find(f"select[aria-label='{menu}']").select_option(value)

    def add(self, optimizer, rate):
        """Add a racer by the form."""
        self.choose("optimizer", optimizer)
        self.type("learning rate", rate)
        self.until(lambda: f"{optimizer} {rate}" in self.names, lambda: f"it never came: {self.names}")

    def rests(self, pauses=1):
        """Wait until the kernel has paused so often, also for steps: the page turns the button off before that."""
        self.notebook.prints(f"print(race.pauses >= {pauses} and not race.running, end='')", "True")

    @property
    def names(self):
        return self.find("tbody tr td:nth-child(2)").all_inner_texts()


@pytest.fixture(scope="module")
def notebook(open_notebook):
    return open_notebook("race", [SETUP, RACE, "pass"])


@pytest.fixture
def panel(notebook):
    notebook.run(1)
    fresh = Panel(notebook)
    fresh.says("Ready at step 0")
    yield fresh
    notebook.kernel("race.pause()")


def test_the_tab_key_comes_to_a_table_and_a_legend_once(panel):
    drops = panel.find("tbody button")
    assert drops.evaluate_all("all => all.filter((e) => e.tabIndex === 0).length") == 1
    drops.first.focus()
    panel.page.keyboard.press("ArrowDown")
    assert panel.page.evaluate("document.activeElement.ariaLabel") == drops.nth(1).get_attribute("aria-label")
    panel.page.keyboard.press("Tab")
    assert panel.page.evaluate("document.activeElement.ariaLabel") == "optimizer"


@pytest.mark.full
def test_step_n_by_the_keyboard_moves_all(panel):
    panel.type("number of steps", "250")
    panel.says("leads .* at step 250")
    steps = panel.notebook.kernel("print([runs[0].t for runs in race.runs.values()], end='')")
    assert steps == "[250, 250]"
    assert panel.status == panel.notebook.kernel("print(race.leader(), end='')")
    both = [["Adam", 251], ["momentum", 251]]
    panel.until(lambda: sorted(panel.curves("c.x.length")) == both, "the plot stayed")  # the words may come first
    assert panel.find("tbody tr").first.evaluate("e => e.className") == "burlab-first"


def test_play_goes_on_and_pause_rests(panel):
    panel.press("play")
    panel.says("leads .* at step [1-9]")
    assert panel.find("[data-intent=play]").is_disabled()
    panel.press("pause")
    panel.until(lambda: panel.find("[data-intent=pause]").is_disabled(), "the page never noticed")
    panel.rests()
    t = panel.notebook.kernel("import time; t = race.t; time.sleep(0.5); print(t == race.t > 0, end='')")
    assert t == "True"


@pytest.mark.full
def test_space_plays_and_pauses_and_arrows_step_all(panel):
    panel.find(".burlab-status").click()
    keyboard = panel.page.keyboard
    keyboard.press("ArrowRight")
    panel.says("at step 1$")
    keyboard.press("Shift+ArrowRight")
    panel.says("at step 11$")
    keyboard.press("Space")
    panel.says("leads .* at step (1[1-9]|[2-9])")
    keyboard.press("Space")
    panel.rests(pauses=3)
    t = panel.notebook.kernel("print(race.t, end='')")
    panel.find("[data-intent=play]").focus()
    keyboard.press("Enter")
    panel.until(lambda: panel.find("[data-intent=play]").is_disabled(), "it never played")
    assert panel.page.evaluate("document.activeElement.dataset.intent") == "pause"
    panel.notebook.prints(f"print(race.t > {t}, end='')", "True")
    field = panel.find("[aria-label='learning rate']")
    field.click()
    keyboard.type("1 2")
    assert field.input_value() == "1 2", "a field keeps its keys"


@pytest.mark.full
def test_screen_reader_announces_the_leader_without_flooding(panel):
    panel.choose("speed", "1000")
    heard = panel.listen()
    panel.press("play")
    panel.says(r"leads .* at step \d,\d{3}")
    panel.press("pause")
    panel.until(lambda: heard()[-1:] == [panel.status], lambda: f"it was never heard: {heard()}")
    assert len(heard()) <= 3, heard()


@pytest.mark.full
def test_full_speed_is_paused_soon(panel):
    panel.choose("speed", "0")
    panel.press("play")
    panel.until(lambda: int(panel.notebook.kernel("print(race.t, end='')")) > 20_000, "it did not get far")
    panel.press("pause")
    panel.rests()


@pytest.mark.full
def test_a_racer_comes_by_the_form_and_goes_by_its_button(panel):
    panel.press("step")
    panel.add("Nesterov", "1e-3")
    assert panel.notebook.kernel("print(race.runs['Nesterov 1e-3'][0].hyper['lr'], end='')") == "0.001"
    panel.find("[aria-label='drop Adam']").click()
    panel.until(lambda: sorted(panel.names) == ["Nesterov 1e-3", "momentum"], lambda: f"it stayed: {panel.names}")
    assert panel.notebook.kernel("print(*race.racers, end='')") == "momentum Nesterov 1e-3"


@pytest.mark.full
def test_adding_an_invalid_racer_shows_a_message(panel):
    panel.choose("optimizer", "Adam")
    panel.find("[aria-label='learning rate']").click()
    panel.page.keyboard.type("fast")
    panel.find(".burlab-add").click()
    panel.says("the learning rate is 'fast', expected a number")
    panel.press("step")
    panel.says("at step 1$")


@pytest.mark.full
def test_axes_and_columns_change_the_plot(panel):
    panel.press("steps")
    panel.says("at step 100$")
    panel.choose("axis", "gradients")
    panel.says("at 100 gradients")
    panel.until(lambda: panel.curves("c.x.at(-1)")[0][1] == 100, "the plot stayed")
    panel.choose("axis", "bytes")
    panel.says("holds the least")
    panel.choose("axis", "seconds")
    panel.says("after .* [µm]?s$")
    panel.choose("column", "gradient_norm")
    panel.until(lambda: "gradient norm" in panel.find(".burlab-unit").inner_text(), "the table stayed")


@pytest.mark.full
def test_diverged_racer_shows_its_reason_in_the_panel(panel):
    panel.add("GD", "5")
    panel.press("steps")
    panel.until(lambda: "Stopped at step" in panel.find("tbody").inner_text(), "its end was never said")
    assert panel.names[-1] == "GD 5"


@pytest.mark.full
def test_race_pauses_when_all_racers_have_converged(panel):
    panel.notebook.kernel(
        "for name in ('fast', 'slow'):\n    race.add(name, bl.optim.GD(1e-3 if name == 'fast' else 8e-4))\n"
        "race.drop('Adam'); race.drop('momentum')"
    )
    panel.until(lambda: sorted(panel.names) == ["fast", "slow"], lambda: f"they stayed: {panel.names}")
    panel.choose("speed", "0")
    panel.press("play")
    panel.says("^At rest: nothing has moved for 1,000 steps")
    assert panel.find("[data-intent=pause]").is_disabled()
    assert panel.notebook.kernel("print(race.running, race.finished, end='')") == "False False"
    t = panel.notebook.kernel("print(race.t, end='')")
    panel.press("play")
    panel.notebook.prints(f"print(race.t > {t}, end='')", "True")
    assert panel.find("[data-intent=play]").is_disabled(), "who plays on sees it go on"


@pytest.mark.full
@pytest.mark.parametrize("width", [420, 900, 1400])
@pytest.mark.parametrize("theme", ["Light", "Dark"])
def test_race_fits_the_page_at_any_width(panel, width, theme):
    def act():
        panel.type("number of steps", "400")
        panel.says("at step 400$")

    assert panel.fits("race", width, theme, act) == []
    first = "td:nth-child(2) > :first-child"
    swatches = panel.evaluate(f"e => [...e.querySelectorAll('{first}')].map(i => i.style.background)")
    assert len(set(swatches)) == len(swatches) > 1, "each racer keeps a colour of its own in another theme"


@pytest.mark.full
def test_a_race_without_its_kernel_names_the_remedy(panel, notebook):
    assert panel.find(".burlab-gone").is_hidden()
    panel.page.evaluate("() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart()")
    panel.find(".burlab-gone").wait_for(state="visible")
    notebook.run(0)
    notebook.run(1)
    Panel(notebook).says("Ready at step 0")
