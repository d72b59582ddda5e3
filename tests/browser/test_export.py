"""Exported pages from a file: no kernel, no server, no network; by mouse, by keys, and without JavaScript."""

import numpy as np
import pytest

import burlab as bl
from tests.browser.views import shot
from tests.browser.waits import open_page, rests, until

pytestmark = pytest.mark.browser
EVIL = "</script><script>window.hacked = 1</script><img src=x onerror=window.hacked=1>"
CHART = "document.querySelector('.burlab-chart').chart"
SHOWN = """() => {
  const part = (kind) => CHART.parts.find((one) => one.kind === kind);
  const here = part("map").dots.find(({ label }) => label === "here");
  return { at: Number(document.querySelector(".burlab-at").value), x: here.x[0], y: here.y[0],
    cursor: part("plot").marks.find(({ kind }) => kind === "cursor")?.at ?? null,
    value: document.querySelector(".burlab-readouts b").textContent };
}""".replace("CHART", CHART)


@pytest.fixture(scope="module")
def run():
    f = bl.problems.rosenbrock()
    return bl.minimize(f, f.start, bl.optim.Momentum(3e-4), steps=900)


@pytest.fixture
def opened(browser, tmp_path):
    """Opens the page of a thing. Fails where it asks for anything or reports an error."""
    asked, said, pages = [], [], []

    def of(thing, **options):
        bl.export_html(thing, tmp_path / "page.html")
        page = open_page(browser, viewport={"width": 1200, "height": 900}, **options)
        pages.append(page)
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.goto((tmp_path / "page.html").as_uri())
        if options.get("java_script_enabled", True):
            page.wait_for_selector("[data-ready]")
        return page

    yield of
    for page in pages:
        page.close()
    elsewhere = [url for url in asked if not url.startswith(("data:", "blob:"))]
    assert elsewhere == [(tmp_path / "page.html").as_uri()] * len(elsewhere)
    assert not said


def test_the_slider_moves_the_cursor_the_numbers_and_the_point(run, opened):
    page = opened(run)
    last = page.evaluate(SHOWN)
    assert last["at"] == run.t == 900
    np.testing.assert_allclose([last["x"], last["y"]], run.x)
    assert float(last["value"]) == pytest.approx(run.value, rel=1e-3)
    assert last["cursor"] is None
    slider = page.get_by_role("slider", name="step")
    slider.focus()
    page.keyboard.press("Home")
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    third = page.evaluate(SHOWN)
    steps, points = run.path
    assert third["at"] == third["cursor"] == 3
    np.testing.assert_allclose([third["x"], third["y"]], points[list(steps).index(3)])
    assert float(third["value"]) == pytest.approx(run.history["value"][3], rel=1e-3)
    page.keyboard.press("Shift+ArrowRight")
    assert page.evaluate(SHOWN)["at"] == 13, "with shift ten, as in a live panel"
    box = slider.bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    assert page.evaluate(SHOWN)["at"] == pytest.approx(450, abs=5)
    field = page.get_by_label("go to step")
    field.click()
    page.keyboard.press("Control+A")
    page.keyboard.type("123")
    page.keyboard.press("Enter")
    assert page.evaluate(SHOWN)["cursor"] == 123


@pytest.mark.full
def test_play_goes_to_the_end(run, opened):
    page = opened(run)
    page.get_by_role("button", name="Play").click()
    at = "Number(document.querySelector('.burlab-at').value)"
    page.wait_for_function(f"() => {at} < 900")  # from the start again
    page.get_by_role("button", name="Pause").click()
    page.get_by_role("button", name="Play").wait_for()
    first = page.evaluate(SHOWN)["at"]
    assert first < 900
    rests(page, at)
    assert page.evaluate(SHOWN)["at"] == first
    page.get_by_label("go to step").fill("800")
    page.get_by_label("go to step").press("Enter")
    page.get_by_role("button", name="Play").click()
    page.wait_for_function(f"() => {at} === 900")
    page.get_by_role("button", name="Play").wait_for()


@pytest.mark.full
def test_charts_zoom_hide_and_save(run, opened):
    page = opened(run)
    canvas = page.locator("canvas").first
    box = canvas.bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.4, box["y"] + 60)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.7, box["y"] + 65, steps=5)
    page.mouse.up()
    assert page.evaluate(f"() => {CHART}.zooms.size") > 0
    page.mouse.dblclick(box["x"] + box["width"] / 2, box["y"] + 60)
    assert page.evaluate(f"() => {CHART}.zooms.size") == 0
    page.locator(".burlab-entry", has_text="path").first.click()
    assert page.evaluate(f"() => {CHART}.hidden.size") == 1
    for name, end in (("PNG", ".png"), ("SVG", ".svg"), ("CSV", ".csv")):
        with page.expect_download() as download:
            page.get_by_role("button", name=name).click()
        assert download.value.suggested_filename.endswith(end)


def test_exported_names_with_html_are_shown_as_text(opened):
    f = bl.problems.rosenbrock()
    race = bl.race(f, f.start, {EVIL: bl.optim.GD(1e-3), "Adam": bl.optim.Adam(1e-2)}, steps=200)
    page = opened(race)
    assert page.evaluate("() => window.hacked") is None
    assert page.locator("td", has_text="</script>").count() == 1
    page.get_by_label("against").focus()
    page.keyboard.press("ArrowDown")
    assert page.evaluate(f"() => {CHART}.parts[0].x.label").startswith("gradient")


@pytest.mark.full
@pytest.mark.parametrize("width", [420, 900, 1400])
def test_exported_page_is_legible_in_both_themes(run, opened, width):
    page = opened(run, color_scheme="dark")
    page.set_viewport_size({"width": width, "height": 1000})
    for theme, dark in (("auto", True), ("light", False), ("dark", True)):
        page.get_by_label("theme").select_option(theme)
        page.wait_for_function(f"() => {CHART}.theme?.dark === {str(dark).lower()}")
        shot(page, f"export-{theme}-{width}")
        assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.full
def test_without_javascript_the_picture_is_seen(run, opened):
    page = opened(run, java_script_enabled=False)
    picture = page.locator(".burlab-first svg")
    assert picture.bounding_box()["height"] > 300
    assert page.locator(".burlab-facts").get_by_text("step 900").is_visible()


def pixels(canvas):
    return canvas.evaluate("e => e.toDataURL()")


def settled(canvas):
    """The pixels of a surface that was turned when it has been drawn finely: each turn makes it coarse at once."""
    canvas.page.wait_for_function("e => e.dataset.drawn === 'fine'", arg=canvas.element_handle())
    return pixels(canvas)


@pytest.mark.full
def test_map_of_a_run_is_a_rotatable_surface_that_follows_the_slider(run, opened):
    page = opened(run)
    assert page.locator("canvas.burlab-relief").count() == 0
    page.get_by_role("button", name="Surface").click()
    canvas = page.locator("canvas.burlab-relief")
    page.wait_for_selector("canvas.burlab-relief[data-frames]")
    assert page.locator(".burlab-chart canvas").first.is_visible()  # the curves stay
    canvas.scroll_into_view_if_needed()
    box, before = canvas.bounding_box(), canvas.get_attribute("data-pose")
    page.mouse.move(box["x"] + 200, box["y"] + 150)
    page.mouse.down()
    page.mouse.move(box["x"] + 260, box["y"] + 160, steps=4)
    page.mouse.up()
    page.wait_for_function(f"() => document.querySelector('canvas.burlab-relief').dataset.pose !== '{before}'")
    canvas.focus()
    page.keyboard.press("0")
    late = settled(canvas)
    assert canvas.get_attribute("data-pose") == before
    slider = page.get_by_role("slider", name="step")
    slider.focus()
    page.keyboard.press("Home")
    until(page, lambda: pixels(canvas) != late, "the point never moved")
    shot(page, "export-surface", full_page=True)
    page.get_by_role("button", name="Surface").click()
    assert not canvas.is_visible()


@pytest.mark.full
def test_a_landscape_is_a_map_or_a_surface(run, opened):
    page = opened(bl.analysis.landscape(run, resolution=21))
    page.get_by_role("button", name="Surface").click()
    page.wait_for_selector("canvas.burlab-relief[data-frames]")
    assert not page.locator(".burlab-chart").is_visible()
    page.get_by_role("button", name="Surface").click()
    assert page.locator(".burlab-chart").is_visible()


def hover(page):
    """Wait until the plot shows what lies under the mouse, in its middle."""
    canvas = page.locator("canvas").first
    canvas.scroll_into_view_if_needed()
    box, before = canvas.bounding_box(), canvas.evaluate("e => e.toDataURL()")
    for across in (0.3, 0.5):
        page.mouse.move(box["x"] + across * box["width"], box["y"] + box["height"] / 2)
    page.wait_for_function(f"() => {CHART}.hover?.part === {CHART}.parts[0].name")
    until(page, lambda: canvas.evaluate("e => e.toDataURL()") != before, "the plot stayed as it was")


@pytest.mark.full
def test_branches_hover_and_are_listed(run, opened, tmp_path):
    tree = bl.branches(run)
    tree.fork("A", at=300, mu=0.99).run.step(400)
    page = opened(tree, color_scheme="dark")
    labels = page.evaluate(f"() => {CHART}.parts[0].curves.filter((c) => c.label).map((c) => [c.label, c.x.at(-1)])")
    assert labels == [["A", 900], ["B", 700]]
    assert page.locator("td", has_text="mu = 0.99").count() == 1
    hover(page)
    assert page.evaluate(f"() => {CHART}.theme?.dark") is True
    page.get_by_label("theme").select_option("light")
    page.wait_for_function(f"() => {CHART}.theme?.dark === false")
    assert (tmp_path / "page.html").stat().st_size < 8e6


@pytest.mark.full
def test_exported_builder_is_a_graph(opened):
    page = opened(bl.GraphBuilder(lambda x, y: np.tanh(x) * y, 2.0, 3.0))
    assert page.locator(".burlab-box").count() >= 4
    assert page.locator(".burlab-box", has_text="tanh").count() == 1
    assert page.locator(".burlab-facts").get_by_text("2.892").is_visible()


@pytest.mark.full
def test_groups_of_a_graph_open_and_close(opened):
    def layer(x):
        with bl.scope("outer"):
            with bl.scope("inner"):
                y = np.tanh(x) * 2
            return y + 1

    def two(x):
        y = layer(x)
        with bl.scope("last"):
            return np.sum(np.log1p(y))

    page = opened(bl.GraphView(two, np.ones(3)))
    boxes = page.locator(".burlab-box")
    assert page.locator(".burlab-box", has_text="outer").count() == 1
    page.locator(".burlab-box", has_text="outer").click()
    page.locator(".burlab-frame", has_text="outer").wait_for()
    page.locator(".burlab-box", has_text="inner").click()
    page.locator(".burlab-box", has_text="tanh").wait_for()
    shot(page, "export-graph")
    count = boxes.count()
    page.locator(".burlab-frame .burlab-title", has_text="inner").click()
    page.wait_for_function(f"() => document.querySelectorAll('.burlab-box').length < {count}")
    assert page.locator(".burlab-box", has_text="tanh").count() == 0
    page.get_by_label("search").click()
    page.keyboard.type("log1p")
    page.keyboard.press("Enter")
    page.locator(".burlab-box", has_text="log1p").wait_for()
    before = page.locator(".burlab-surface > g").get_attribute("transform")
    page.locator(".burlab-surface").focus()
    page.keyboard.press("+")
    page.wait_for_function(
        f"() => document.querySelector('.burlab-surface > g').getAttribute('transform') !== '{before}'"
    )
