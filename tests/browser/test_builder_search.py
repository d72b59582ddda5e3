"""Searches and menus on the canvas of the builder in a real JupyterLab, with real keys and a real mouse."""

from itertools import pairwise

import pytest

from tests.browser.builders import SETUP, STICKING, begun, product

pytestmark = pytest.mark.browser
CELL = product(end=(420, 60))


@pytest.fixture(scope="module")
def notebook(open_notebook):
    return open_notebook("search", [SETUP, CELL, "pass"])


@pytest.fixture
def builder(notebook):
    return begun(notebook, CELL)


def search(builder, text):
    """Write into the search that is open, and take the first kind."""
    builder.find(".burlab-finder input").wait_for()
    builder.page.keyboard.type(text)
    builder.page.keyboard.press("Enter")


def operands(builder):
    return {key: row[2] for key, row in builder.state().items()}


def test_a_double_click_adds_a_block_there(builder):
    x, y = builder.free()
    builder.page.mouse.dblclick(x - 60, y)
    builder.shot("builder-search")
    search(builder, "exp")
    builder.waits(5)
    assert builder.chosen() == [5]
    u, v = builder.centre("[data-key='5']")
    assert abs(u - x + 60) < 8
    assert abs(v - y) < 8
    assert operands(builder)[5] == [None]


def test_tab_searches_and_goes_on_where_nothing_is_chosen(builder):
    page = builder.page
    builder.click(1)
    builder.click(2, modifiers=["Shift"])
    page.keyboard.press("Tab")
    search(builder, "add")
    builder.waits(5)
    assert page.evaluate("document.activeElement.className").startswith("burlab-surface")
    page.keyboard.press("Tab")
    builder.find(".burlab-finder input").wait_for()
    page.keyboard.press("Tab")
    builder.until(lambda: not builder.find(".burlab-finder").count(), "the search keeps the focus")
    assert page.evaluate("document.activeElement.closest('.burlab-inspector') !== null"), "Tab goes on"
    builder.press("Tab")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Escape")
    assert not builder.find(".burlab-finder").count()
    assert operands(builder)[5] == [1, 2]


def test_a_wire_that_is_dropped_into_the_void_asks_for_its_block(builder):
    x, y = builder.free()
    builder.pull(builder.centre("[data-key='4'] .burlab-out"), (x - 30, y + 160))
    search(builder, "square")
    builder.waits(5)
    builder.shows(5, "23.2")
    assert operands(builder)[5] == [4]
    builder.press("Control+z")
    builder.waits(4)
    builder.click_wire(4, 1)
    builder.press("Delete")
    builder.shows(4, "connect")
    x, y = builder.centre("[data-key='4'] [data-port='1']")
    builder.pull((x, y), (x - 80, y + 90))
    search(builder, "2.5")  # a number is a constant
    builder.waits(5)
    assert operands(builder)[4] == [3, 5]
    builder.shows(5, "2.5")
    builder.press("Control+z")
    builder.waits(4)
    builder.press("Escape")


def test_a_block_is_inserted_into_a_wire(builder):
    middle = builder.click_wire(4, 0)
    builder.find("[aria-label='search operations']").fill("exp")
    builder.pull(builder.centre("[data-kind=exp]"), middle)
    builder.waits(5)
    assert operands(builder) == {1: [], 2: [], 3: [1], 4: [5, 2], 5: [3]}
    builder.press("Control+z")
    builder.waits(4)
    builder.page.mouse.dblclick(*builder.free())
    search(builder, "square")
    builder.waits(5)
    builder.settles()
    builder.pull(builder.centre("[data-key='5'] .burlab-head"), builder.click_wire(4, 1))
    builder.shows(5, "25")
    assert operands(builder) == {1: [], 2: [], 3: [1], 4: [3, 5], 5: [2]}
    builder.shot("builder-inserted")
    builder.press("Control+z")
    builder.shows(4, "4.8")
    builder.click_wire(4, 0, button="right")
    builder.find("[role=menuitem]:has-text('Insert')").click()
    search(builder, "input")
    builder.says("input takes no arguments, so it cannot stand in a wire")


def test_the_right_button_has_a_menu_for_block_wire_canvas_and_selection(builder):
    page = builder.page
    builder.click(3, button="right")
    builder.shot("builder-menu")
    items = builder.find("[role=menuitem] span").all_text_contents()
    assert items[:3] == ["Edit", "Make it the output", "Duplicate"]
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    builder.until(lambda: builder.find("[data-key='3'].burlab-root").count(), "it is not the output")
    assert page.evaluate(f"({STICKING})(document.querySelector({builder.root!r}))") == []
    builder.click(1)
    builder.click(2, modifiers=["Control"])
    builder.click(2, button="right")
    assert builder.find("[role=menuitem]:has-text('Edit')").count() == 0
    builder.find("[role=menuitem]:has-text('Copy')").click()
    builder.press("Control+v")
    builder.waits(6)
    builder.find("[data-act=undo]").click()
    builder.waits(4)
    page.mouse.click(*builder.free(), button="right")
    builder.find("[role=menuitem]:has-text('Select all')").click()
    assert builder.chosen() == [1, 2, 3, 4]
    builder.click_wire(4, 0, button="right")
    builder.find("[role=menuitem]:has-text('Delete')").click()
    builder.shows(4, "connect")
    builder.find(".burlab-surface").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Shift+F10")
    builder.find("[role=menu]").wait_for()
    page.keyboard.press("Escape")
    assert builder.find("[role=menu]").count() == 0
    assert not page.locator(".lm-Menu").count(), "the menu of JupyterLab stays away"


def test_a_selection_is_aligned_and_distributed(builder):
    page = builder.page
    builder.press("Control+a")
    builder.click(4, button="right")
    builder.find("[role=menuitem]:has-text('Align top')").click()
    boxes = [builder.find(f"[data-key='{key}']") for key in (1, 2, 3, 4)]
    builder.until(lambda: len({round(box.bounding_box()["y"]) for box in boxes}) == 1, "they are not in a row")
    builder.press("Control+z")
    builder.until(lambda: len({round(box.bounding_box()["y"]) for box in boxes}) > 1, "one undo is not enough")
    builder.press("Control+a")
    builder.click(1, button="right")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")  # Distribute across
    builder.until(lambda: round(builder.places()[3][0], 1) != 160, "nothing has moved")
    boxes = sorted((box.bounding_box() for box in boxes), key=lambda box: box["x"])
    gaps = [b["x"] - a["x"] - a["width"] for a, b in pairwise(boxes)]
    assert max(gaps) - min(gaps) < 1, "the gaps are not the same"


def test_the_function_goes_to_the_next_cell(builder):
    notebook = builder.notebook
    builder.find("[aria-label='export']").select_option("NumPy")
    builder.find(".burlab-export button:text-is('To next cell')").click()
    builder.until(lambda: len(notebook.cells) == 4, "there is no new cell")
    builder.until(lambda: "return" in notebook.cells[2], "the new cell is empty")
    assert notebook.cells[2].startswith("import numpy as np")
    notebook.run(2)
    builder.shot("builder-next-cell")
    name = notebook.cells[2].split("def ")[1].split("(")[0]
    value = notebook.kernel(f"print(float({name}(2.0, 5.0)) == float(b.value()), end='')")
    assert value == "True"


def test_the_menu_pastes_formulas_and_says_what_the_browser_forbids(builder):
    page = builder.page
    for read, words in (("Promise.resolve(' x + 1 ')", None), ("Promise.reject()", "press Ctrl-V")):
        page.evaluate(f"void (navigator.clipboard.readText = () => {read})")
        left, top = builder.centre(".react-flow__pane")
        page.mouse.click(left, top + 100, button="right")
        builder.find(".burlab-menu button:has-text('Paste')").click()
        if words is None:
            builder.waits(6)
        else:
            builder.says(words)
    assert len(builder.state()) == 6
