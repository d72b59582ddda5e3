"""Drawn graphs, tables and figures as a reader sees them: legible at any width of the page, in both themes."""

import pytest

from tests.browser.views import shot
from tests.browser.waits import rests

pytestmark = [pytest.mark.browser, pytest.mark.full]

CELLS = {
    "imports": "import numpy as np\nimport burlab as bl\nimport plotly.graph_objects as go\nbl.plots.theme()",
    "doubled": """c = bl.Value(3.0, label='<img src=x onerror="window.hacked = 1">')
d = c + c
e = d * 2
for _ in range(9):
    e = e.tanh()
e.backward()
e""",
    "large": """def long(x):
    for _ in range(1000):
        x = np.tanh(x) + 1
    return x
kernel = bl.compile(long, 0.5, gear="replay")
kernel""",
    "profile": "kernel.profile(0.5)",
    "parameters": "bl.nn.summary(bl.nn.GPT(vocabulary=65, block=8, width=24, heads=6, layers=6, key=bl.random.key(0)))",
    "contour": """f = bl.problems.himmelblau()
runs = {}
for k in range(3):
    runs[f"from start number {k}"] = bl.minimize(f, np.array([k - 1.0, 0.5]), bl.optim.Adam(0.1))
    runs[f"from start number {k}"].step(200)
bl.plots.contour(f, paths=runs, title="Where three runs go")""",
    "compare": 'bl.plots.compare(runs, title="How they get there")',
    "plain": """figure = go.Figure(layout=dict(title="A figure of one's own"))
figure.add_bar(x=["one", "two"], y=[3, 4], name="bars")
figure.update_yaxes(title="time, ms")""",
    "words": """words = ["Muon", "Adam", "Lion", "Adafactor", "GaLore", "APOLLO", "APOLLO-Mini", "FRUGAL", "SOAP"]
go.Figure(go.Bar(x=words, y=np.arange(9)), layout=dict(title="Words along an axis"))""",
    "last": "",
}
# Pixels between the letters of words that follow one another, and whether they are turned.
GAPS = """output => {
  const boxes = [...output.querySelectorAll(".xtick text")].map(text => {
    const { firstChild: node, firstChild: { data } } = text, range = document.createRange();
    range.setStart(node, data.length - data.trimStart().length);
    range.setEnd(node, data.trimEnd().length);
    return range.getBoundingClientRect();
  });
  const turned = /rotate/.test(output.querySelector(".xtick text").getAttribute("transform"));
  return { turned, gaps: boxes.slice(1).map((box, k) => box.left - boxes[k].right) };
}"""

# Words and numbers of an output: their size as shown in CSS pixels, and their contrast (WCAG 2.1) to what lies behind.
LETTERS = """output => {
  const channel = v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  const light = c => 0.2126 * channel(c[0]) + 0.7152 * channel(c[1]) + 0.0722 * channel(c[2]);
  const parse = text => { const c = text.match(/[\\d.]+/g).map(Number); return c.length < 4 ? [...c, 1] : c; };
  const over = (top, below) => [0, 1, 2].map(k => top[3] * top[k] + (1 - top[3]) * below[k]);
  const ground = e => {
    if (!e) return [255, 255, 255];
    const own = parse(getComputedStyle(e).backgroundColor);
    return own[3] === 1 ? own : over(own, ground(e.parentElement));
  };
  const seen = [];
  const walker = document.createTreeWalker(output, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const e = walker.currentNode.parentElement;
    const text = walker.currentNode.data.trim();
    if (!/[\\p{L}\\p{N}]/u.test(text) || !e.getClientRects().length) continue;
    if (e.closest("style, script, title, .modebar, .jp-OutputPrompt")) continue;
    const style = getComputedStyle(e), drawn = e instanceof SVGElement;
    const scale = drawn ? (e.closest("text") ?? e).getScreenCTM() : null;
    const size = parseFloat(style.fontSize) * (scale ? Math.hypot(scale.a, scale.b) : 1);
    const ink = parse(drawn ? style.fill : style.color);
    ink[3] *= parseFloat(style.opacity) * (drawn ? parseFloat(style.fillOpacity) : 1);
    const back = ground(e), [a, b] = [light(over(ink, back)), light(back)];
    const least = e.style.fontSize === "70%" ? 11 : 11.9;  // exponents of powers
    seen.push({ text, size, least, contrast: (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05) });
  }
  return seen;
}"""
SIZES = """output => {
  const box = e => e && e.getBoundingClientRect().toJSON();
  const frame = output.querySelector("[role=region]");
  return {
    place: box(output.querySelector(".jp-OutputArea-output")),
    frame: box(frame),
    plot: box(output.querySelector(".main-svg")),
    slabs: [...output.querySelectorAll(".main-svg")]
      .filter(e => !/, 0\\)$/.test(getComputedStyle(e).backgroundColor)).length +
      [...output.querySelectorAll(".bglayer .bg")].filter(e => getComputedStyle(e).fillOpacity > 0).length,
    squares: box(output.querySelector(".nsewdrag")),
    scrolls: frame && frame.scrollWidth > frame.clientWidth,
    boxes: output.querySelectorAll(".burlab-graph rect").length,
    note: output.querySelector("[role=note]")?.innerText,
    page: document.documentElement.scrollWidth - window.innerWidth,
  };
}"""


@pytest.fixture(scope="module")
def pictures(open_notebook):
    notebook = open_notebook("pictures", list(CELLS.values()), run=len(CELLS))
    yield notebook
    notebook.command("apputils:change-theme", theme="JupyterLab Light")


def output(pictures, name, drawn):
    """The output of a cell, in view and drawn."""
    k = list(CELLS).index(name)
    pictures.page.evaluate("k => window.jupyterapp.shell.currentWidget.content.scrollToItem(k, 'start')", k)
    found = pictures.page.locator(f".jp-Cell[data-windowed-list-index='{k}'] .jp-Cell-outputArea")
    found.locator(drawn).first.wait_for()
    cell = f".jp-Cell[data-windowed-list-index='{k}']"
    places = f"{cell} .main-svg, {cell} .jp-OutputArea-output"
    look = f"[...document.querySelectorAll({places!r})].map((one) => one.getBoundingClientRect().width)"
    rests(pictures.page, look, frames=30)  # plotly follows a new width a tenth of a second later
    return found


DRAWN = {name: "table" if name in ("profile", "parameters") else "svg" for name in list(CELLS)[1:-1]}


@pytest.mark.parametrize("theme", ["JupyterLab Light", "JupyterLab Dark"])
@pytest.mark.parametrize("width", [420, 900, 1400])
def test_every_letter_can_be_read(pictures, width, theme):
    page = pictures.page
    page.set_viewport_size({"width": width, "height": 900})
    pictures.command("apputils:change-theme", theme=theme)
    page.wait_for_function(f"() => document.body.dataset.jpThemeName === '{theme}'")
    for name, drawn in DRAWN.items():
        found = output(pictures, name, drawn)
        shot(found, f"picture_{name}_{width}_{theme.split()[1].lower()}")
        letters, sizes = found.evaluate(LETTERS), found.evaluate(SIZES)
        assert letters, name
        small = [letter for letter in letters if letter["size"] < letter["least"]]
        assert not small, (name, small[:3])
        assert max(letter["size"] for letter in letters) < 20, name
        faint = [letter for letter in letters if letter["contrast"] < 4.2]
        assert not faint, (name, faint[:3])
        assert not sizes["slabs"], f"{name} has a ground of its own"
        assert sizes["page"] <= 0, f"{name} makes the page wider"
        if sizes["frame"]:
            assert sizes["frame"]["right"] <= sizes["place"]["right"] + 1, name
        else:
            assert abs(sizes["plot"]["width"] - sizes["place"]["width"]) < 24, f"{name} is as wide as its cell"
    assert page.evaluate("() => window.hacked") is None


def test_large_graph_reports_omitted_nodes_and_small_one_scrolls(pictures):
    pictures.page.set_viewport_size({"width": 900, "height": 900})
    large = output(pictures, "large", "svg").evaluate(SIZES)
    assert large["boxes"] == 120
    assert "1,881 of 2,001 nodes are not drawn" in large["note"]
    assert large["scrolls"]
    frame = output(pictures, "doubled", "svg").locator("[role=region]")
    frame.hover()
    pictures.page.mouse.wheel(150, 0)
    pictures.page.wait_for_function("e => e.scrollLeft > 0", arg=frame.element_handle())


def test_a_contour_has_equal_scales(pictures):
    pictures.page.set_viewport_size({"width": 900, "height": 900})
    squares = output(pictures, "contour", ".nsewdrag").evaluate(SIZES)["squares"]
    assert squares["width"] == pytest.approx(squares["height"], abs=2)  # the domain is a square


PLACED = """output => {
  const box = (name) => output.querySelector(name).getBoundingClientRect();
  const first = Math.min(...[...output.querySelectorAll(".legendtext")].map((e) => e.getBoundingClientRect().top));
  return { gap: box(".nsewdrag").top - box(".legend").bottom, over: first - box(".gtitle").bottom,
    beyond: box(".gtitle").right - box(".main-svg").right };
}"""


@pytest.mark.parametrize("width", [420, 1400])
def test_the_keys_of_a_contour_lie_on_it_below_its_title(pictures, width):
    pictures.page.set_viewport_size({"width": width, "height": 900})
    placed = output(pictures, "contour", ".nsewdrag").evaluate(PLACED)
    assert 0 <= placed["gap"] < 12, "a plot of equal scales is lower than a narrow figure: nothing lies between"
    assert placed["over"] >= 0, "the title has a line of its own"
    assert placed["beyond"] <= 0, "and all of it is seen"


def test_a_figure_is_saved_as_png_and_offered_to_nobody(pictures):
    page = pictures.page
    page.set_viewport_size({"width": 900, "height": 900})
    found = output(pictures, "plain", ".nsewdrag")
    found.locator(".nsewdrag").hover()
    assert found.locator(".modebar-btn[data-title*='loud'], .modebar-btn[data-title*='hart Studio']").count() == 0
    with page.expect_download() as saved:
        found.locator(".modebar-btn[data-title*='PNG']").click()
    assert saved.value.path().read_bytes().startswith(b"\x89PNG")


def test_words_of_an_axis_have_room_between_them_or_are_turned(pictures):
    seen = set()
    for width in range(780, 1181, 40):
        pictures.page.set_viewport_size({"width": width, "height": 900})
        found = output(pictures, "words", ".xtick text").evaluate(GAPS)
        seen.add(found["turned"])
        assert len(found["gaps"]) == 8
        assert found["turned"] or min(found["gaps"]) >= 8, width
    assert seen == {True, False}
