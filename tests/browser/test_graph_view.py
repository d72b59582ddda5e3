"""GraphView in a real JupyterLab, by mouse and keyboard."""

import pytest

from tests.browser.views import View
from tests.browser.waits import lasting, rests

pytestmark = pytest.mark.browser
SETUP = """
import time
import numpy as np
import burlab as bl
gpt = bl.nn.GPT(key=bl.random.key(0))
tokens = np.array([3, 1, 4, 1, 5, 9, 2, 6])

w, x = np.linspace(-1, 1, 6).reshape(3, 2), np.linspace(0, 2, 12).reshape(4, 3)

def loss(w, x):
    y = np.tanh(x @ w)
    return np.sum((y - 0.5) ** 2)

def chain(x):
    for _ in range(1000):
        x = np.tanh(x) * x
    return x
"""
GPT = "view = bl.GraphView(gpt, tokens)\nview"
LOSS = "view = bl.GraphView(loss, w, x)\nview"
KERNEL = "view = bl.GraphView(bl.compile(loss, w, x))\nview"
CHAIN = "view = bl.GraphView(chain, 0.5)\nview"
PLACES = """root => [...root.querySelectorAll('.burlab-box')].map(e => [e, e.getBoundingClientRect()])
  .map(([e, r]) => [e.querySelector('text').textContent, (r.left + r.right) / 2, (r.top + r.bottom) / 2])"""


UNSEEN = """detail => [...detail.querySelectorAll('.burlab-python, .burlab-cpp')]
  .filter(e => e.getBoundingClientRect().top + 14 > detail.getBoundingClientRect().bottom).map(e => e.className)"""
WIDER = "root => root.scrollWidth > root.clientWidth + 1"
# Frames in a second, of a page that does nothing and of one that pans: what a busy machine takes, it takes from both.
PANS = """async (pans) => {
  const svg = document.querySelector('.burlab-graphview[data-boxes="2001"] .burlab-surface');
  let count = 0;
  const end = performance.now() + 1000;
  while (performance.now() < end) {
    if (pans) svg.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight', shiftKey: true, bubbles: true }));
    await new Promise(requestAnimationFrame);
    count += 1;
  }
  return count;
}"""


class Graph(View):
    """A GraphView that a cell shows."""

    kind = "burlab-graphview"

    def __init__(self, notebook, source, cell=1):
        notebook.write(cell, source)
        notebook.run(cell)
        super().__init__(notebook, cell)
        self.page.wait_for_selector(f"{self.root} .burlab-box")

    def box(self, title):
        """The box or frame with this text."""
        return self.find("[data-item]").filter(has=self.page.get_by_text(title, exact=True)).last

    def click(self, title):
        """With the mouse, on the text."""
        self.glides()
        self.find("[data-item]").filter(has=self.page.get_by_text(title, exact=True)).get_by_text(title).last.click(
            force=True
        )

    def places(self):
        """The middle of each box in sight, in pixels of the page, by its first line."""
        rows = self.evaluate(PLACES)
        return {title: (x, y) for title, x, y in rows}

    def in_sight(self, selector):
        """Return True if an element lies inside of the surface."""
        frame, box = self.find(".burlab-sheet").bounding_box(), self.find(selector).bounding_box()
        across = frame["x"] <= box["x"] and box["x"] + box["width"] <= frame["x"] + frame["width"]
        return across and frame["y"] <= box["y"] and box["y"] + box["height"] <= frame["y"] + frame["height"]

    def waits(self, what, condition):
        self.until(condition, f"it never happened: {what}")

    def glides(self):
        """Wait until the view has come to rest."""
        rests(
            self.page,
            f"""[...document.querySelectorAll("{self.root} .burlab-box")].map((box) => box.outerHTML)
          .concat(document.querySelector("{self.root} .burlab-surface > g").getAttribute("transform"))""",
        )

    @property
    def count(self):
        """How many boxes there are, those out of sight too."""
        return int(self.page.locator(self.root).get_attribute("data-boxes"))

    @property
    def transform(self):
        return self.find(".burlab-surface > g").get_attribute("transform")

    @property
    def scale(self):
        return float(self.transform.split("scale(")[1][:-1])

    def shot(self, name):
        self.glides()
        super().shot(name)


@pytest.fixture(scope="module")
def notebook(open_notebook):
    return open_notebook("graph_view", [SETUP, "pass", "pass"])


@pytest.mark.full
def test_a_gpt_opens_as_its_blocks_at_once(notebook):
    graph = Graph(notebook, GPT)
    assert graph.count == 8
    for title in ("embedding", *(f"blocks.{k}" for k in range(6)), "head"):
        assert graph.box(title).count() == 1
    work = "t = time.process_time(); bl.GraphView(gpt, tokens); print(time.process_time() - t)"
    assert float(notebook.kernel(work)) < 2  # 0.2 s, of the processor: a clock would count what else the machine does
    graph.glides()
    assert graph.scale > 0.85, "a long graph has the whole width, so that its words can be read"
    for title in ("embedding", "head"):
        assert graph.in_sight(f"[data-item]:has-text('{title}') >> nth=0")
    graph.shot("graph_gpt")


def test_a_group_opens_and_closes_by_mouse_and_by_key(notebook):
    graph = Graph(notebook, GPT)
    graph.click("blocks.2")
    graph.waits("the group is open", lambda: graph.count == 9)
    graph.click("attention")
    graph.waits("the inner group is open", lambda: graph.count > 40)
    graph.shot("graph_gpt_attention")
    graph.click("blocks.2")  # its frame, by the title
    graph.waits("all is closed", lambda: graph.count == 8)
    graph.find(".burlab-surface").focus()
    graph.page.keyboard.press("Enter")
    graph.waits("Enter opens what is selected", lambda: graph.count == 9)
    assert "blocks.2" in graph.find(".burlab-detail").inner_text()


@pytest.mark.full
def test_dragging_moves_and_the_wheel_zooms_where_the_mouse_is(notebook):
    graph = Graph(notebook, GPT)
    graph.page.wait_for_timeout(500)  # who has just scrolled the page goes on scrolling
    canvas = graph.find(".burlab-sheet").bounding_box()
    middle = canvas["x"] + canvas["width"] / 2, canvas["y"] + canvas["height"] - 20
    before, scale = graph.places(), graph.scale
    graph.page.mouse.move(*middle)
    graph.page.mouse.down()
    graph.page.mouse.move(middle[0] + 30, middle[1] - 10)
    graph.page.mouse.move(middle[0] + 80, middle[1] - 30)
    graph.page.mouse.up()
    graph.waits("dragged", lambda: abs(graph.places()["blocks.1"][0] - before["blocks.1"][0] - 80) < 40)
    at = graph.places()["blocks.3"]
    graph.page.mouse.move(*at)
    graph.page.mouse.wheel(0, -200)
    graph.waits("zoomed", lambda: graph.scale > 1.3 * scale)
    there = graph.places()["blocks.3"]
    assert abs(there[0] - at[0]) < 3
    assert abs(there[1] - at[1]) < 3
    graph.find("[data-act='zoom out']").click()
    graph.waits("zoomed out", lambda: graph.scale < 1.3 * scale)
    graph.find(".burlab-surface").focus()
    graph.page.keyboard.press("0")
    graph.waits("all of it again", lambda: abs(graph.scale - scale) < 0.02)
    graph.page.keyboard.press("+")
    graph.waits("a key zooms", lambda: graph.scale > 1.2 * scale)
    for key in "0++":  # keys that come while the view glides: none is lost
        graph.page.keyboard.press(key)
    graph.waits("two keys zoom", lambda: abs(graph.scale - 1.25**2 * scale) < 0.02)
    graph.glides()
    assert abs(graph.scale - 1.25**2 * scale) < 0.02


@pytest.mark.full
def test_typing_searches_and_enter_goes_to_the_next(notebook):
    graph = Graph(notebook, GPT)
    graph.find(".burlab-surface").focus()
    graph.page.keyboard.type("/exp")
    graph.waits("found", lambda: graph.find(".burlab-hits").inner_text() == "1 of 6")
    assert graph.find(".burlab-detail h4").inner_text() == "exp"
    graph.page.keyboard.press("Enter")
    graph.waits("the next", lambda: graph.find(".burlab-hits").inner_text() == "2 of 6")
    assert "blocks.1/attention" in graph.find(".burlab-detail").inner_text()
    graph.page.keyboard.press("Shift+Enter")
    graph.waits("the one before", lambda: graph.find(".burlab-hits").inner_text() == "1 of 6")
    graph.waits("it is in sight", lambda: graph.in_sight(".burlab-chosen rect"))


@pytest.mark.full
def test_each_of_many_quick_arrows_chooses_the_next(notebook):
    graph = Graph(notebook, LOSS)
    chosen, seen = graph.find(".burlab-chosen"), []
    graph.find(".burlab-surface").focus()
    for _ in range(4):
        graph.page.keyboard.press("ArrowDown")
        graph.waits("another", lambda: chosen.count() and chosen.get_attribute("data-item") not in seen)
        seen.append(chosen.get_attribute("data-item"))
    graph.page.keyboard.press("Escape")
    graph.waits("none", lambda: chosen.count() == 0)
    for _ in range(4):
        graph.page.keyboard.press("ArrowDown")
    graph.waits("the fourth", lambda: chosen.count() and chosen.get_attribute("data-item") == seen[3])


def test_both_sweeps_are_stepped_by_keys_with_rules_and_numbers(notebook):
    graph = Graph(notebook, LOSS)
    graph.find(".burlab-surface").focus()
    told = graph.find(".burlab-step")
    graph.page.keyboard.press("ArrowRight")
    graph.waits("the first step", lambda: "forward 1 of 10" in told.inner_text())
    assert "contract" in told.inner_text()
    graph.page.keyboard.press("ArrowRight")
    graph.waits("the second", lambda: "y = tanh(a)" in told.inner_text())
    assert "∇" not in graph.box("tanh").text_content()
    for _ in range(7):
        graph.page.keyboard.press("ArrowRight")
    graph.waits("backward", lambda: "backward 9 of 10" in told.inner_text())
    assert "ā += ȳ·(1 − y²)" in told.inner_text()
    assert "∇" in graph.box("tanh").text_content()
    graph.shot("graph_sweep")
    graph.page.keyboard.press("ArrowLeft")
    graph.waits("back", lambda: "backward 8 of 10" in told.inner_text())
    graph.find("[aria-label='to the end']").click()
    graph.waits("the end", lambda: "10 of 10" in told.inner_text())
    gradient = notebook.kernel("print(f'{np.max(bl.grad(loss)(w, x)):.3g}', end='')")
    assert gradient in graph.box("w").text_content()


@pytest.mark.full
def test_a_click_shows_the_line_of_python_and_the_cpp_and_the_cost(notebook):
    graph = Graph(notebook, KERNEL)
    assert graph.find(".back").count() > 3
    assert graph.box("∇ w").count() == 1
    graph.click("tanh")
    detail = graph.find(".burlab-detail")
    graph.waits("its line", lambda: "y = np.tanh(x @ w)" in detail.inner_text())
    assert "In[" in detail.inner_text()
    assert "tanh" in graph.find(".burlab-cpp").inner_text()
    assert graph.find(".burlab-detail").evaluate(UNSEEN) == [], "its Python and where its C++ begins are seen at once"
    graph.find("[aria-label='colour by']").select_option("time")
    graph.waits("measured", lambda: graph.find(".burlab-hot").count() > 3)
    graph.waits("its time", lambda: "ns" in detail.inner_text())
    graph.shot("graph_kernel")


def test_open_all_and_close_all_show_what_is_there_then(notebook):
    graph = Graph(notebook, GPT)
    graph.glides()
    for act, more in (("open", True), ("close", False)):
        graph.find(".burlab-surface").focus()
        for _ in range(12):
            graph.page.keyboard.press("Shift+ArrowRight")
        graph.glides()
        assert not graph.find("[data-item]:has-text('embedding') >> nth=0").count() or not graph.in_sight(
            "[data-item]:has-text('embedding') >> nth=0"
        )
        graph.find(f"[data-act={act}]").click()
        graph.waits(act, lambda more=more: (graph.count > 100) is more)
        graph.glides()
        assert graph.in_sight(".burlab-boxes .burlab-box >> nth=0")
        graph.shot(f"graph_{act}_all")
    assert graph.count == 8
    for title in ("embedding", "head"):
        assert graph.in_sight(f"[data-item]:has-text('{title}') >> nth=0")


@pytest.mark.full
def test_two_thousand_nodes_stay_usable(notebook):
    graph = Graph(notebook, CHAIN)
    assert graph.count < 60
    graph.find("[data-act=open]").click()
    graph.waits("all are open", lambda: graph.count == 2001)
    assert graph.find(".burlab-box").count() < 400  # what is out of sight is no element of the page
    idle, panning = (max(graph.page.evaluate(PANS, pans) for _ in range(3)) for pans in (False, True))
    assert panning > idle / 7
    graph.shot("graph_chain")


@pytest.mark.full
def test_labels_are_text(notebook):
    source = """a = bl.Value(2.0, label='<img src=x onerror="window.bad = 1">')
y = a * a + a
y.backward()
view = bl.GraphView(y)
view"""
    graph = Graph(notebook, source)
    graph.find("[data-item]").first.click()
    graph.waits("selected", lambda: "<img" in graph.find(".burlab-detail h4").inner_text())
    assert graph.find("img").count() == 0
    assert graph.page.evaluate("window.bad") is None


@pytest.mark.full
@pytest.mark.parametrize("width", [420, 900, 1400])
def test_the_view_fits_at_any_width_in_both_themes(notebook, width):
    graph = Graph(notebook, KERNEL)
    graph.page.set_viewport_size({"width": width, "height": 1100})
    try:
        for theme in ("JupyterLab Light", "JupyterLab Dark"):
            notebook.command("apputils:change-theme", theme=theme)
            graph.page.wait_for_function(f"document.body.dataset.jpThemeName === '{theme}'")
            rests(graph.page)
            assert not lasting(graph.page, lambda: graph.evaluate(WIDER))
            graph.find("[data-act=fit]").click()
            graph.glides()
            assert graph.scale >= 0.65  # letters of 12 units can be read
            assert graph.in_sight("[data-item] text >> nth=0")
            graph.shot(f"graph_{width}_{theme.split()[1].lower()}")
        graph.page.set_viewport_size({"width": width + 90, "height": 1100})
        graph.glides()
        fitted = graph.transform
        graph.find("[data-act=fit]").click()
        graph.glides()
        assert graph.transform == fitted, "who has not moved it sees all of it in any size"
    finally:
        notebook.command("apputils:change-theme", theme="JupyterLab Light")
        graph.page.set_viewport_size({"width": 1280, "height": 1500})


@pytest.mark.full
def test_body_of_scan_opens_by_mouse_and_steps_by_key(notebook):
    notebook.kernel(
        "def cumulated(w):\n"
        "    c, ys = bl.scan(lambda c, x: (np.tanh(c * w + x), np.sin(c)), 0.1, np.ones(4))\n"
        "    return c + np.sum(ys)"
    )
    graph = Graph(notebook, "view = bl.GraphView(cumulated, 0.6)\nview")
    assert graph.box("tanh").count() == 0
    graph.click("scan, 4 iterations")
    graph.waits("the body is open", lambda: graph.box("tanh").count() == 1)
    graph.find(".burlab-surface").focus()
    for _ in range(4):
        graph.page.keyboard.press("ArrowRight")
    graph.waits("a rule is told", lambda: "y = " in graph.find(".burlab-step").inner_text())
    graph.shot("graph_scan")
    graph.click("scan, 4 iterations")
    graph.waits("it is closed", lambda: graph.box("tanh").count() == 0)


def test_colours_show_where_digits_are_lost(notebook):
    graph = Graph(notebook, "view = bl.GraphView(lambda x: (1 - np.cos(x)) / x**2, 1e-7)\nview")
    graph.find("[aria-label='colour by']").select_option("digits")
    graph.waits("boxes are coloured", lambda: graph.find(".burlab-hot").count() == 4)
    shares = graph.evaluate(
        "root => [...root.querySelectorAll('.burlab-hot')].map(e => parseFloat(e.style.getPropertyValue('--heat')))"
    )
    assert sorted(share > 80 for share in shares) == [False, False, True, True], "the difference, and what reads it"
    graph.shot("graph_digits")
