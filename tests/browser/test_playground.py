"""A playground in a real JupyterLab, by mouse and keys."""

import pytest

from tests.browser.live import LivePanel
from tests.browser.waits import grab, rests

pytestmark = pytest.mark.browser
CELL = "play = bl.playground()\nplay"
_NETWORK = "e => [...e.querySelectorAll('.burlab-layer')].map(layer => layer.querySelectorAll('canvas').length)"
_MAP = "e => [...e.chart.parts.find(part => part.kind === 'map').heights.values.slice(0, 200)].join()"


class Playground(LivePanel):
    """The playground that a cell shows."""

    kind = "burlab-playground"

    @property
    def widths(self):
        return self.evaluate(_NETWORK)

    @property
    def map(self):
        return self.find(".burlab-plots").evaluate(_MAP)

    def ask(self, expression):
        return self.notebook.kernel(f"print({expression}, end='')")

    def pause(self):
        """Pause what plays from the start."""
        self.says("^Running: step [1-9]")
        self.press("pause")
        self.says("^Paused at step")


@pytest.fixture(scope="module")
def notebook(open_notebook):
    return open_notebook("playground", ["import burlab as bl", CELL, "pass"])


@pytest.fixture
def panel(notebook):
    notebook.run(1)
    fresh = Playground(notebook)
    yield fresh
    notebook.kernel("play.opened and play.run.pause()")


def test_it_moves_by_itself_and_pauses(panel):
    before = panel.map
    panel.says("^Running: step [1-9]")
    panel.until(lambda: panel.map != before, "the map stood still")
    panel.press("pause")
    panel.says("^Paused at step")
    assert panel.widths == [2, 4, 3, 1]


def test_buttons_change_data_and_network(panel):
    panel.pause()
    panel.find("[aria-label=spirals]").click()
    panel.until(lambda: panel.ask("play.setting.data") == "spirals", "the data stayed")
    panel.find("[aria-label='Add a hidden layer']").click()
    panel.until(lambda: panel.widths == [2, 4, 3, 3, 1], lambda: f"no layer came: {panel.widths}")
    panel.find("[aria-label='Remove a neuron from layer 1']").click()
    panel.until(lambda: panel.widths == [2, 3, 3, 3, 1], lambda: f"the neuron stayed: {panel.widths}")
    panel.press("step")
    panel.says("^Paused at step 1$")
    assert panel.ask("play.run.t, play.setting.hidden") == "1 (3, 3, 3)"


def test_sliders_change_noise_and_learning_rate(panel):
    panel.pause()
    box = grab(panel.find("input[type=range][aria-label=noise]"))
    panel.page.mouse.move(box["x"] + 0.9 * box["width"], box["y"] + box["height"] / 2, steps=5)
    panel.page.mouse.up()
    panel.until(lambda: float(panel.ask("play.setting.noise")) > 0.8, "the noise stayed")
    panel.press("step")
    panel.says("^Paused at step 1$")
    panel.type("lr value", "0.5")
    panel.until(lambda: panel.ask("play.run.hyper['lr']") == "0.5", "the rate stayed")


def test_menus_change_optimizer_and_numbers(panel):
    panel.pause()
    panel.find("select[aria-label=optimizer]").select_option("Momentum")
    panel.until(lambda: panel.find("[aria-label='mu value']").count() == 1, "its knob never came")
    panel.find("select[aria-label=dtype]").select_option("float64")
    panel.until(lambda: panel.ask("play.setting.dtype") == "float64", "the numbers stayed")
    panel.press("step")
    panel.says("^Paused at step 1$")
    assert panel.ask("play.run.x.layers[0].weight.dtype") == "float64"


def test_numbers_of_eight_bits_stall_and_learn_by_chance(panel):
    panel.pause()
    numbers, rounding = (panel.find(f"select[aria-label={name}]") for name in ("numbers", "rounding"))
    assert rounding.is_disabled()
    assert "choose a format first" in rounding.get_attribute("title")
    numbers.focus()
    for _ in range(4):
        panel.page.keyboard.press("ArrowDown")
    assert numbers.input_value() == "e4m3"
    panel.until(lambda: panel.ask("play.setting.numbers") == "e4m3", "the numbers stayed")
    panel.until(lambda: "in float8 e4m3" in panel.find(".burlab-status em").inner_text(), "the title stayed")
    panel.until(rounding.is_enabled, "the rounding never could be chosen")
    rounding.select_option("stochastic")
    panel.until(lambda: panel.ask("play.setting.rounding") == "stochastic", "the rounding stayed")
    panel.press("step")
    panel.says("^Paused at step 1$")
    leaf = "play.run.x.layers[0].weight"
    assert panel.ask(f"bool((bl.round_to('e4m3', {leaf}) == {leaf}).all())") == "True"


def test_code_makes_the_run_that_is_shown(panel):
    panel.pause()
    panel.find("[data-does=code]").click()
    panel.until(lambda: panel.find(".burlab-code pre").count() == 1, "no code came")
    text = panel.find(".burlab-code pre").inner_text()
    panel.notebook.kernel(f"own = {{}}\nexec({text!r}, own)")
    same = "own['run'].t == play.run.t and bool((own['run'].x.layers[1].weight == play.run.x.layers[1].weight).all())"
    assert panel.ask(same) == "True"
    panel.find(
        ".burlab-code button",
    ).last.click()
    assert panel.find(".burlab-code pre").count() == 0


def test_page_is_saved_as_a_file(panel):
    panel.pause()
    with panel.page.expect_download() as found:
        panel.find("[data-does=page]").click()
    path = found.value.path()
    assert found.value.suggested_filename == "playground.html"
    assert "Adam on circles" in path.read_text()


def test_branch_goes_on_beside_the_run(panel):
    panel.pause()
    panel.find("[data-does=fork]").click()
    panel.until(lambda: panel.ask("play.run.parent is not None") == "True", "it never branched")
    panel.press("back")
    panel.says("^At step|^Ready|^Playing backwards")


def test_pointer_over_a_neuron_shows_its_answer(panel):
    panel.pause()
    own = panel.map
    panel.find(".burlab-neuron").nth(3).hover()
    says = lambda: panel.find(".burlab-caption").all_inner_texts()[-1]  # noqa: E731
    panel.until(lambda: panel.map != own and "neuron 2 of layer 1" in says(), "the map stayed")
    shown = panel.map
    panel.page.mouse.move(0, 0)
    panel.until(lambda: panel.map != shown and "neuron" not in says(), "the map never came back")


@pytest.mark.full
@pytest.mark.parametrize("width", [600, 900, 1366])
@pytest.mark.parametrize("theme", ["Light", "Dark"])
def test_playground_fits_the_page_at_any_width(panel, width, theme):
    def act():
        panel.says("^Running: step [1-9]|^Paused")

    assert panel.fits("playground", width, theme, act) == []


def test_playground_fits_a_laptop(panel):
    """Everything is in one view of 600 pixels beside an open file browser."""
    panel.pause()
    page = panel.page
    page.set_viewport_size({"width": 1366, "height": 768})
    page.evaluate("() => window.jupyterapp.commands.execute('filebrowser:activate')")
    rests(page)
    height = panel.evaluate("e => e.getBoundingClientRect().height")
    panel.shot("playground-laptop")
    page.evaluate("() => window.jupyterapp.shell.collapseLeft()")
    assert height <= 600


def test_buttons_work_while_the_first_step_is_compiled(open_notebook, tmp_path):
    cold = f"import os\nos.environ['BURLAB_CACHE'] = {str(tmp_path)!r}\nimport burlab as bl"
    notebook = open_notebook("playground_cold", [cold, CELL, "pass"])
    notebook.run(0)
    notebook.run(1)
    panel = Playground(notebook)
    panel.says("^Compiling")
    panel.find("[aria-label='Add a hidden layer']").click()
    panel.until(lambda: panel.widths == [2, 4, 3, 3, 1], lambda: f"no layer came: {panel.widths}")
    assert panel.status.startswith("Compiling")
    panel.says("^Running: step [1-9]")
    assert panel.widths == [2, 4, 3, 3, 1]
