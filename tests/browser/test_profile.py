"""A profile in a real JupyterLab: sorted, grouped, and linked with its chart, by mouse and keyboard."""

import pytest

from tests.browser.views import shot
from tests.browser.waits import until

pytestmark = pytest.mark.browser
SETUP = """
import numpy as np
import burlab as bl
from burlab.widgets.profile.profile_widget import ProfileView
gpt = bl.nn.GPT(layers=2, key=bl.random.key(0))
tokens = np.arange(8)
kernel = bl.compile(lambda g, t: -np.mean(bl.log_softmax(g(t))[np.arange(8), t]), gpt, tokens)
profile = kernel.profile(gpt, tokens)
"""
ROOT = ".jp-Notebook .jp-Cell[data-windowed-list-index='1']"


@pytest.fixture(scope="module")
def notebook(open_notebook):
    opened = open_notebook("profile", [SETUP, "view = ProfileView(profile)\nview.root", "profile", "pass"], run=2)
    opened.page.wait_for_selector(f"{ROOT} .burlab-profile[data-ready]")
    opened.page.wait_for_selector(f"{ROOT} .burlab-chart canvas")
    return opened


def column(page, k):
    return page.locator(f"{ROOT} .burlab-profile tr[data-row] td:nth-child({k})").all_inner_texts()


def test_click_on_a_title_sorts_and_a_second_one_reverses(notebook):
    page = notebook.page
    press = page.locator(f"{ROOT} .burlab-profile th button")
    press.filter(has_text="time").click()
    times = [float(text.split()[0].replace(",", "")) for text in column(page, 2)]
    assert times == sorted(times, reverse=True)
    press.filter(has_text="step").focus()
    page.keyboard.press("Enter")
    up = column(page, 4)
    assert (up[0].split()[0], up[-1].split()[0]) == ("add", "sum")
    page.keyboard.press("Enter")
    down = column(page, 4)
    assert (down[0].split()[0], down[-1].split()[0]) == ("sum", "add")
    assert sorted(down) == sorted(up)


@pytest.mark.full
def test_scopes_hold_their_rows_and_close(notebook):
    page = notebook.page
    page.locator(f"{ROOT} .burlab-profile").get_by_text("group by scope").click()
    heads = page.locator(f"{ROOT} .burlab-scope button")
    assert any("blocks.0/attention" in text for text in heads.all_inner_texts())
    rows = page.locator(f"{ROOT} .burlab-profile tr[data-row]").count()
    heads.filter(has_text="blocks.0/attention").first.click()
    assert page.locator(f"{ROOT} .burlab-profile tr[data-row]").count() < rows
    shot(page.locator(ROOT), "profile_grouped")
    page.locator(f"{ROOT} .burlab-profile").get_by_text("group by scope").click()


@pytest.mark.full
def test_a_row_under_the_mouse_is_marked_in_the_chart(notebook):
    page = notebook.page
    row = page.locator(f"{ROOT} .burlab-profile tr[data-row='3']")
    row.scroll_into_view_if_needed()
    row.hover()
    until(page, lambda: "burlab-marked" in (row.get_attribute("class") or ""), "it was never marked")
    told = notebook.kernel("print(view.table.row, view.chart.chart.parts[0].marks[0].label, end='')")
    assert told == f"3 {row.locator('td').nth(3).inner_text()}"
    shot(page.locator(ROOT), "profile")


@pytest.mark.full
def test_a_span_under_the_mouse_is_marked_in_the_table(notebook):
    page = notebook.page
    chart = page.locator(f"{ROOT} .burlab-chart")
    chart.scroll_into_view_if_needed()
    longest = notebook.kernel(
        "rows = [r for r in profile.rows if r.phase != 'residual']; k = max(range(len(rows)), "
        "key=lambda k: rows[k].nanoseconds); print(k, (rows[k].start + 0.5 * rows[k].nanoseconds) / 1e9)"
    )
    row, at = longest.split()
    place = chart.evaluate(
        "(e, at) => { const part = e.chart.parts[1];"
        "const box = e.chart.places.get(part.name).canvas.getBoundingClientRect();"
        "return [box.left + part.frame.sx.at(at), box.top + (part.frame.top + part.frame.bottom) / 2]; }",
        float(at),
    )
    page.mouse.move(*place)
    marked = page.locator(f"{ROOT} .burlab-profile tr.burlab-marked")
    until(page, lambda: marked.count() == 1 and marked.get_attribute("data-row") == row, "it was never marked")
    shot(page, "profile_span")
    page.mouse.move(2, 2)
    until(page, lambda: marked.get_attribute("data-row") == "3", "it is not as before")


@pytest.mark.full
def test_a_profile_shows_itself_with_its_view(notebook):
    notebook.run(2)
    cell = ROOT.replace("'1'", "'2'")
    notebook.page.wait_for_selector(f"{cell} .burlab-profile[data-ready] table")
    outputs = "window.jupyterapp.shell.currentWidget.content.widgets[2].model.outputs.toJSON()"
    bundle = notebook.page.evaluate(f"() => {outputs}")
    assert "<table>" in "".join(bundle[0]["data"]["text/html"])
