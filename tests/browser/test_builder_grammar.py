"""What every editor of nodes can do, in the builder of a real JupyterLab, with real keys and a real mouse."""

import pytest

from tests.browser.builders import SETUP, begun, product

pytestmark = pytest.mark.browser
CELL = product(end=(320, 60))


@pytest.fixture(scope="module")
def notebook(open_notebook):
    return open_notebook("grammar", [SETUP, CELL, "pass"])


@pytest.fixture
def builder(notebook):
    return begun(notebook, CELL)


def operands(builder):
    return {key: row[2] for key, row in builder.state().items()}


def test_a_box_selects_and_deletes_in_one_step(builder):
    page = builder.page
    (x, y), (u, v) = builder.centre("[data-key='1']"), builder.centre("[data-key='2']")
    page.keyboard.down("Shift")
    builder.pull((x - 60, y - 50), (u + 60, v + 40))
    page.keyboard.up("Shift")
    assert builder.chosen() == [1, 2]
    builder.click(3, modifiers=["Control"])
    assert builder.chosen() == [1, 2, 3]
    builder.click(2, modifiers=["Shift"])
    assert builder.chosen() == [1, 3]
    builder.press("Delete")
    builder.waits(2)
    assert operands(builder) == {2: [], 4: [None, 2]}
    builder.press("Control+z")
    builder.waits(4)
    assert operands(builder) == {1: [], 2: [], 3: [1], 4: [3, 2]}
    builder.press("Control+a")
    assert builder.chosen() == [1, 2, 3, 4]
    builder.shot("builder-selected")


def test_several_blocks_are_dragged_together(builder):
    builder.click(1)
    builder.click(3, modifiers=["Shift"])
    before = builder.places()
    (x, y) = builder.centre("[data-key='3']")
    builder.pull((x, y), (x + 50, y + 70))
    builder.until(lambda: builder.places()[3] != before[3], "nothing has moved")
    builder.settles()
    after = builder.places()
    by = [after[3][0] - before[3][0], after[3][1] - before[3][1]]
    assert by[0] > 30
    assert by[1] > 40
    assert after[3][0] % 10 == after[3][1] % 10 == 0, "places are on a grid"
    assert [after[1][0] - before[1][0], after[1][1] - before[1][1]] == by
    assert after[2] == before[2]
    builder.press("Control+z")
    builder.until(lambda: builder.places() == before, "one undo is not enough")


def test_a_wire_is_selected_and_deleted(builder):
    builder.click_wire(4, 1)
    assert builder.chosen() == []
    assert builder.find(".react-flow__edge.burlab-chosen").count() == 1
    builder.press("Delete")
    builder.shows(4, "connect")
    assert operands(builder)[4] == [3, None]
    builder.press("Control+z")
    builder.shows(4, "4.8")


def test_the_end_of_a_wire_is_pulled_off(builder):
    port = "[data-key='4'] [data-port='1']"
    x, y = builder.centre(port)
    builder.pull((x, y), builder.centre("[data-key='3'] [data-port='0']"))
    builder.shows(3, "0.999")
    assert operands(builder) == {1: [], 2: [], 3: [2], 4: [3, None]}
    builder.press("Control+z")
    builder.shows(4, "4.8")
    builder.pull(builder.centre(port), builder.free())
    builder.shows(4, "connect y")
    assert operands(builder)[4] == [3, None]
    assert builder.find(".burlab-finder").count() == 0, "only a new wire asks for a block"
    builder.press("Control+z")
    builder.shows(4, "4.8")


def test_blocks_are_copied_pasted_and_duplicated(builder):
    builder.click(1)
    builder.click(3, modifiers=["Shift"])
    builder.press("Control+c")
    builder.press("Control+v")
    builder.waits(6)
    assert builder.chosen() == [5, 6]
    assert operands(builder)[6] == [5]
    assert [row[1] for row in builder.state().values()][4:] == ["x2", ""]
    builder.press("Control+z")
    builder.waits(4)
    builder.click(4)
    builder.press("Control+d")
    builder.waits(5)
    assert operands(builder)[5] == [3, 2]
    assert builder.chosen() == [5]
    builder.press("Control+x")
    builder.waits(4)
    builder.press("Control+v")
    builder.waits(5)
    assert operands(builder)[5] == [None, None]
    builder.shot("builder-pasted")


def test_the_wheel_is_the_page_s_until_the_view_was_clicked_and_ctrl_zooms(builder):
    page = builder.page
    page.locator(".jp-Notebook-footer, .jp-Toolbar").first.click(position={"x": 2, "y": 2})
    x, y = builder.centre(".burlab-surface")
    view = page.evaluate(builder.view)
    page.mouse.move(x, y)
    page.mouse.wheel(0, 40)
    builder.settles()
    assert page.evaluate(builder.view) == view
    page.keyboard.down("Control")  # which a pinch of a touchpad is
    page.mouse.wheel(0, -80)
    page.keyboard.up("Control")
    builder.until(lambda: page.evaluate(builder.view) != view, "Ctrl and the wheel do not zoom")
    builder.settles()
    larger = builder.scale
    page.mouse.click(*builder.free())
    page.mouse.wheel(0, 120)
    builder.until(lambda: builder.scale < larger, "a view that was clicked does not zoom")


def test_ctrl_s_saves_the_notebook(builder):
    builder.click(3)
    builder.notebook.write(2, "# not saved yet")
    dirty = "() => window.jupyterapp.shell.currentWidget.context.model.dirty"
    assert builder.page.evaluate(dirty)
    builder.press("Control+s")
    builder.until(lambda: not builder.page.evaluate(dirty), "Ctrl-S does not reach JupyterLab")
    assert builder.chosen() == [3]


def test_a_large_graph_has_a_map_that_moves_the_view(builder):
    assert builder.find(".react-flow__minimap").count() == 0
    builder.find("[aria-label='example formulas']").select_option(label="BurTorch's tiny graph")
    builder.waits(16)
    builder.settles()
    box = builder.find(".react-flow__minimap").bounding_box()
    view = builder.page.evaluate(builder.view)
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    builder.pull((x, y), (x + 20, y + 10))
    builder.until(lambda: builder.page.evaluate(builder.view) != view, "the map does not move the view")
    builder.shot("builder-map")


def test_blocks_come_to_the_grid_unless_that_is_off(builder):
    def drag():
        x, y = builder.centre("[data-key='3']")
        before = builder.places()
        builder.pull((x, y), (x + 33, y + 36))
        builder.until(lambda: builder.places() != before, "nothing has moved")
        return builder.places()[3]

    assert all(place % 10 == 0 for place in drag())
    builder.find("[data-act=snap]").click()
    assert any(place % 10 for place in drag())
    builder.find("[data-act=snap]").click()


def test_a_wire_goes_around_a_block_that_is_put_into_its_way(builder):
    x, y = builder.centre("[data-key='3'] .burlab-head")
    builder.pull((x, y), (x, y + 100))
    wire = builder.find("[data-id='4-1'] .react-flow__edge-path")
    builder.until(lambda: wire.get_attribute("d").count("C") == 3, "the wire runs across the block")
    builder.settles()
    lane = builder.evaluate(
        """e => { const path = e.querySelector('[data-id="4-1"] path');
        return path.getPointAtLength(path.getTotalLength() / 2).matrixTransform(path.getScreenCTM()).y; }"""
    )
    box = builder.find("[data-key='3']").bounding_box()
    assert lane < box["y"] or lane > box["y"] + box["height"]
    builder.shot("builder-routed")
