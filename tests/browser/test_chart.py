"""Charts on a canvas in a page without a kernel: numbers, axes, zoom, legend, themes, and what people write."""

import base64
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest

from burlab.charts import Axis, Band, Chart, Curve, Dots, Map, Mark, Plot
from burlab.widgets.assets import CHART_STYLE, styles
from burlab.widgets.chart import encode
from burlab.widgets.hatch_build import esbuild
from tests.browser.views import SHOTS
from tests.browser.waits import open_page

pytestmark = pytest.mark.browser
STEPS = np.arange(1000.0)
NAUGHTY = '<img src=x onerror="window.hacked = 1">'
GRID = np.linspace(-1.0, 1.0, 21)
HEIGHTS = np.add.outer(GRID**2, GRID**2)


def chart(title="value"):
    curves = (Curve(STEPS, 0.99**STEPS, "first"), Curve(STEPS, 2 * 0.99**STEPS, NAUGHTY, 1))
    step = Axis("step")
    mark = Mark(400.0, kind="cursor")
    stack = (Band(STEPS, 0 * STEPS, STEPS, "low", solid=True), Band(STEPS, STEPS, 3 * STEPS, "high", 1, solid=True))
    return Chart(
        (
            Plot("value", title, step, Axis(log=True), curves, marks=(mark,), tall=2),
            Plot("bytes", "bytes", step, Axis(unit="B"), bands=stack),
            Map(
                "plane", "plane", Axis("x", low=-1, high=1), Axis("y", low=-1, high=1), HEIGHTS, 1,
                dots=(Dots(np.zeros(1), np.zeros(1), "minimum", -1, "star"),), equal=True,
            ),
        ),
        about="a test",
    )  # fmt: skip


def plain(value):
    """Buffers as base64, as a page without a kernel has them."""
    if isinstance(value, dict):
        return {name: plain(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [plain(inner) for inner in value]
    return base64.b64encode(value).decode() if isinstance(value, memoryview) else value


@pytest.fixture(scope="module")
def page(browser):
    page = open_page(browser, viewport={"width": 1000, "height": 800})
    page.set_content(f"""<!doctype html><style>body {{ margin: 0; }} {styles(CHART_STYLE)}</style><div id="place"></div>
<script type="module">{esbuild(Path(__file__).with_name("chart_page.js"))}</script>""")
    page.wait_for_function("'drawChart' in window")
    yield page
    page.close()


@pytest.fixture
def drawn(page):
    """The page with a new chart in it; `chart` in its window is what the chart holds."""
    page.set_viewport_size({"width": 1000, "height": 800})
    page.evaluate(
        """data => {
          window.handle?.close();
          window.said = [];
          document.body.style.color = "black";
          window.handle = drawChart(document.getElementById("place"), data, { onIntent: (one) => said.push(one) });
          window.chart = document.getElementById("place").chart;
          window.part = (name) => chart.parts.find((one) => one.name === name);
        }""",
        plain(encode(chart())),
    )
    page.wait_for_function("part('value').frame && chart.frames > 0")
    return page


def place(page, name, across, up=0.5):
    """A place of the page within a plot."""
    canvas = page.locator("canvas").nth(page.evaluate(f"[...chart.places.keys()].indexOf('{name}')")).bounding_box()
    left, right, top, bottom = page.evaluate(
        f"(({{ left, right, top, bottom }}) => [left, right, top, bottom])(part('{name}').frame)"
    )
    return canvas["x"] + left + across * (right - left), canvas["y"] + bottom - up * (bottom - top)


def letters(page, *parts):
    """Texts on the canvas of each part."""
    script = """async data => {
      const write = CanvasRenderingContext2D.prototype.fillText;
      CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) {
        (this.canvas.texts ??= []).push(text);
        return write.call(this, text, ...rest);
      };
      window.handle?.close();
      window.handle = drawChart(document.getElementById("place"), data, { onIntent: () => {} });
      const { chart } = document.getElementById("place");
      while (!chart.frames) await new Promise(requestAnimationFrame);
      CanvasRenderingContext2D.prototype.fillText = write;
      return [...document.querySelectorAll("#place canvas")].map(({ texts }) => texts ?? []);
    }"""
    return page.evaluate(script, plain(encode(Chart(parts))))


def test_an_axis_under_bands_alone_has_its_numbers(page):
    times = Axis("time", "s", low=0.0)
    band = Band(np.array([0.0, 5e-6, 8e-6]), np.zeros(3), np.ones(3), "steps", solid=True)
    (texts,) = letters(page, Plot("steps", "steps", times, Axis(), bands=(band,)))
    assert {"0", "2 µs", "4 µs"} <= set(texts)


def test_the_axis_on_the_right_always_has_a_number(page):
    for most in (490e6, 560e6, 700e6, 1010e6):
        line = Curve(np.arange(3.0), np.full(3, 0.7 * most), "the process", right=True)
        stack = Band(np.arange(3.0), np.zeros(3), np.ones(3), "history", solid=True)
        right = Axis(unit="B", low=0.0, high=most)
        (texts,) = letters(page, Plot("m", "m", Axis("step"), Axis(unit="B"), (line,), (stack,), tall=1.2, right=right))
        assert [text for text in texts if text.endswith((" MB", " GB"))]


def test_plot_without_numbers_shows_a_message(page):
    empty = Plot("value", "value", Axis("step"), Axis(), (Curve(np.empty(0), np.empty(0)),))
    assert letters(page, empty) == [["nothing yet"]]


def test_dots_without_a_shape_are_not_drawn_but_show_hints(page):
    colours = """() => { const c = document.querySelector("#place canvas");
      const { data } = c.getContext("2d").getImageData(0, 0, c.width, c.height);
      return data.filter((_, k) => k % 4 === 0 && data[k] > 180 && data[k + 1] < 120 && data[k + 3] > 200).length; }"""
    found = []
    for shape in ("dot", "none"):
        dots = Dots(np.array([1.0, 2.0]), np.ones(2), "", 1, shape, ("one", "two"))
        letters(page, Plot("a", "a", Axis("x"), Axis(low=0.0, high=2.0), dots=(dots,)))
        found.append(page.evaluate(colours))
    assert found[0] > 50
    assert not found[1]
    hints = "hintsAt(chart, part(), part().frame, part().frame.sx.at(2), 0)"
    page.evaluate("window.chart = document.getElementById('place').chart, window.part = () => chart.parts[0], 0")
    assert page.evaluate(hints) == ["two"]


def test_labels_with_html_are_shown_as_text(drawn):
    assert drawn.locator(".burlab-entry").all_inner_texts().count(NAUGHTY) == 1
    assert drawn.locator("#place img").count() == 0
    assert drawn.evaluate("window.hacked") is None


def test_the_legend_hides_a_curve_and_the_axis_follows(drawn):
    high = drawn.evaluate("part('value').frame.sy.high")
    entry = drawn.get_by_role("button", name=NAUGHTY)
    entry.click()
    drawn.wait_for_function(f"part('value').frame.sy.high < {high / 1.5}")
    assert entry.get_attribute("aria-pressed") == "false"
    entry.press("Enter")
    drawn.wait_for_function(f"part('value').frame.sy.high === {high}")


def test_a_legend_is_one_stop_of_the_tab_key_and_arrows_move_in_it(drawn):
    legend = drawn.get_by_role("group", name="legend").first
    entries = legend.locator("button")
    names = entries.all_inner_texts()
    assert len(names) == 2
    now = "document.activeElement.innerText"
    entries.first.focus()
    for key, at in (("ArrowRight", 1), ("ArrowRight", 0), ("ArrowLeft", 1), ("End", 1), ("Home", 0)):
        drawn.keyboard.press(key)
        assert drawn.evaluate(now) == names[at]
    drawn.keyboard.press("Tab")
    assert drawn.evaluate(now) not in names
    drawn.keyboard.press("Shift+Tab")
    assert drawn.evaluate(now) == names[0], "it comes back to where it was"
    drawn.keyboard.press("Space")
    drawn.wait_for_function(f"{now.replace('innerText', 'ariaPressed')} === 'false'")
    assert drawn.evaluate(now) == names[0], "drawn anew, it keeps the focus"
    drawn.keyboard.press("Space")


def test_a_drag_zooms_all_plots_of_an_axis_and_a_double_click_ends_that(drawn):
    x, y = place(drawn, "value", 0.2)
    to, _ = place(drawn, "value", 0.4)
    drawn.mouse.move(x, y)
    drawn.mouse.down()
    drawn.mouse.move(to, y, steps=3)
    drawn.mouse.up()
    drawn.wait_for_function("part('bytes').frame.sx.low > 150 && part('bytes').frame.sx.high < 450")
    ends = drawn.evaluate("[part('value').frame.sx.low, part('value').frame.sx.high]")
    assert drawn.evaluate("said.at(-1)") == {
        "type": "zoom", "part": "value", "axis": "step", "low": ends[0], "high": ends[1]
    }  # fmt: skip
    assert drawn.evaluate("part('bytes').frame.sy.high") < 1500, "upwards it fits what is in sight"
    drawn.mouse.dblclick(x, y)
    drawn.wait_for_function("part('bytes').frame.sx.low === 0")
    assert drawn.evaluate("said.filter(({ type }) => type === 'zoom').at(-1).low") is None


def test_a_drag_that_ends_before_an_update_is_drawn_zooms(drawn):
    x, y = place(drawn, "value", 0.2)
    to, _ = place(drawn, "value", 0.4)
    drawn.mouse.move(x, y)
    drawn.mouse.down()
    drawn.mouse.move(to, y, steps=3)
    drawn.evaluate(
        """([data, x, y]) => {
          handle.update(data);
          const event = { clientX: x, clientY: y, bubbles: true };
          document.elementFromPoint(x, y).dispatchEvent(new PointerEvent("pointerup", event));
        }""",
        [plain(encode(chart())), to, y],
    )
    drawn.mouse.up()
    assert drawn.evaluate("said.filter(({ type }) => type === 'zoom').map(({ part }) => part)") == ["value"]


def test_cursor_is_draggable_and_a_click_reports_its_place(drawn):
    x, y = place(drawn, "value", 0.1)
    x += drawn.evaluate("part('value').frame.sx.at(400) - part('value').frame.sx.at(0)") - (
        drawn.evaluate("0.1 * (part('value').frame.right - part('value').frame.left)")
    )
    to, _ = place(drawn, "value", 0.8)
    drawn.mouse.move(x, y)
    drawn.mouse.down()
    drawn.mouse.move(to, y, steps=3)
    drawn.mouse.up()
    assert drawn.evaluate("said.at(-1).type") == "seek"
    assert 750 < drawn.evaluate("said.at(-1).x") < 850
    drawn.mouse.click(*place(drawn, "plane", 0.5, 0.5))
    assert drawn.evaluate("said.at(-1)") | {"x": 0, "y": 0} == {
        "type": "pick", "part": "plane", "label": "minimum", "x": 0, "y": 0
    }  # fmt: skip


def test_map_has_equal_scales_and_is_drawn_once(drawn):
    frame = "part('plane').frame"
    wide, high = drawn.evaluate(f"[{frame}.right - {frame}.left, {frame}.bottom - {frame}.top]")
    assert wide == pytest.approx(high, abs=0.01)
    before = drawn.evaluate("window.picture = part('plane').cache.picture, chart.frames")
    drawn.evaluate("chart.redraw()")
    drawn.wait_for_function(f"chart.frames > {before}")
    assert drawn.evaluate("picture === part('plane').cache.picture")


def test_the_colours_of_a_map_part_at_its_middle(drawn):
    """The heights are x^2 + y^2: below 0.5 in the middle, above it in a corner."""
    picture = "part('plane').cache.picture.getContext('2d').getImageData"
    drawn.evaluate(
        "part('plane').middle = 0.5; part('plane').cache.key = ''; window.drawn = chart.frames; chart.redraw()"
    )
    drawn.wait_for_function("chart.frames > window.drawn")
    size = "part('plane').cache.picture"
    middle = drawn.evaluate(f"[...{picture}({size}.width / 2, {size}.height / 2 + 9, 1, 1).data]")
    corner = drawn.evaluate(f"[...{picture}(3, 3, 1, 1).data]")
    below, above = drawn.evaluate("chart.theme.sides")
    assert middle[:3] == pytest.approx(below, abs=3)
    assert corner[:3] == pytest.approx(above, abs=3)
    assert corner[3] > 100


def test_the_ink_follows_the_page(drawn):
    assert not drawn.evaluate("chart.theme.dark")
    drawn.evaluate("document.getElementById('place').style.setProperty('--jp-ui-font-color1', '#eee')")
    drawn.evaluate("document.body.dataset.jpThemeName = 'Night'")
    drawn.wait_for_function("chart.theme?.dark === true")
    drawn.evaluate("document.getElementById('place').style.removeProperty('--jp-ui-font-color1')")
    drawn.evaluate("document.body.dataset.jpThemeName = 'Day'")
    drawn.wait_for_function("chart.theme?.dark === false")


@pytest.mark.parametrize(("width", "columns"), [(420, 1), (1000, 2)])
def test_a_narrow_page_has_one_column_and_nothing_sticks_out(drawn, width, columns):
    drawn.set_viewport_size({"width": width, "height": 800})
    lefts = "new Set([...chart.places.values()].map(({ box }) => box.getBoundingClientRect().left)).size"
    drawn.wait_for_function(f"{lefts} === {columns}")
    assert drawn.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


# Draws a chart, told the same again in every frame until each canvas was drawn twice; canvases drawn by frame.
HINTS = """async data => {
  const clear = CanvasRenderingContext2D.prototype.clearRect, frames = [[]], seen = new Map();
  CanvasRenderingContext2D.prototype.clearRect = function (...box) {
    frames.at(-1).push(this.canvas);
    seen.set(this.canvas, (seen.get(this.canvas) ?? 0) + 1);
    return clear.call(this, ...box);
  };
  window.handle?.close();
  window.handle = drawChart(document.getElementById("place"), data, { onIntent: () => {} });
  const twice = () => [...document.querySelectorAll("#place canvas")].every((one) => seen.get(one) >= 2);
  for (let k = 0; k < 500 && !twice(); k++) {
    await new Promise(requestAnimationFrame);
    frames.push([]);
    window.handle.update(data, {});
  }
  CanvasRenderingContext2D.prototype.clearRect = clear;
  return [twice(), document.getElementById("place").chart.frames, ...frames.map((drawn) => drawn.length)];
}"""


@pytest.mark.parametrize(("count", "most"), [(3, 3), (40, 20)])
def test_a_chart_of_many_plots_is_drawn_over_several_frames_and_none_is_left_behind(page, count, most):
    curve = Curve(STEPS, np.random.default_rng(0).normal(size=STEPS.size))
    parts = tuple(Plot(f"plot {k}", f"plot {k}", Axis("step"), Axis(), (curve,)) for k in range(count))
    all_twice, frames, *drawn = page.evaluate(HINTS, plain(encode(Chart(parts))))
    assert all_twice
    assert frames >= 2
    assert max(drawn) <= most


def test_a_chart_is_saved_as_lines_and_letters(drawn):
    """The drawing has what the canvas has: letters as text, curves as paths, the map as a picture."""
    with drawn.expect_download() as saved:
        drawn.evaluate("handle.svg('a run, step 3')")
    assert saved.value.suggested_filename == "a-run-step-3.svg"
    text = saved.value.path().read_text()
    root = ET.fromstring(text)
    named = "{http://www.w3.org/2000/svg}"
    letters = [one.text for one in root.iter(f"{named}text")]
    assert {"value", "bytes", "plane", "first", NAUGHTY, "step"} <= set(letters)
    assert all(ET.tostring(one).decode().count("<img") == 0 for one in root)
    colours = drawn.evaluate("[0, 1].map((k) => `rgba(${chart.theme.curve(k).join(', ')}, 1)`)")
    strokes = [one.get("stroke") for one in root.iter(f"{named}path") if len(one.get("d")) > 1000]
    assert set(colours) <= set(strokes)
    assert len([*root.iter(f"{named}image")]) == 1
    whole = drawn.locator("#place").bounding_box()
    assert float(root.get("width")) == pytest.approx(whole["width"], abs=1)
    loaded = """async (text) => {
      const image = new Image();
      image.src = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
      await image.decode();
      return [image.naturalWidth, image.naturalHeight];
    }"""
    assert drawn.evaluate(loaded, text) == [int(root.get("width")), int(root.get("height"))]
    numbers = [value for one in root.iter() for name, value in one.items() if name != "href"]
    assert not any("NaN" in value for value in numbers)
    SHOTS.mkdir(parents=True, exist_ok=True)
    (SHOTS / "chart.svg").write_text(text)
