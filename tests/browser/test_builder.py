"""The builder of graphs in a real JupyterLab, with a real mouse and real keys.

g = ((a + b) - (a b + b^3))^2 / 2 at a = -41, b = 2 is the tiny graph of the BurTorch paper (arXiv:2503.13795,
Figure 1): 612.5, with the gradients -35 and 1050. A second engine, complex steps in plain Python, says so too.
"""

from base64 import b64decode

import pytest

from tests.browser.builders import STICKING, Builder
from tests.browser.views import shot
from tests.browser.waits import lasting, rests, until

pytestmark = pytest.mark.browser


def tiny(a, b):
    """The same function in plain Python, for numbers of any kind."""
    return ((a + b) - (a * b + b**3)) ** 2 / 2


STEP = 1e-20
TRUTH = tiny(-41.0, 2.0), tiny(-41.0 + 1j * STEP, 2.0).imag / STEP, tiny(-41.0, 2.0 + 1j * STEP).imag / STEP

SETUP = "import json\nimport numpy as np\nimport burlab as bl"


@pytest.fixture(scope="module")
def notebook(open_notebook):
    return open_notebook("builder", [SETUP, "b = bl.GraphBuilder()\nb", "pass"])


@pytest.fixture
def builder(notebook):
    """An empty builder: what was built in its cell before is forgotten."""
    notebook.kernel("from burlab.widgets.builder import notebook_cells; notebook_cells.forget()")
    notebook.write(1, "b = bl.GraphBuilder()\nb")
    notebook.run(1)
    return Builder(notebook)


def add_inputs(builder):
    """a and b, by the keyboard: what is added is selected, and its fields are ready."""
    builder.add("input")
    builder.waits(1)
    builder.write("label", "a")
    builder.write("value", "-41")
    builder.shows(1, "-41")
    for _ in range(2):  # to the canvas; nothing is selected
        builder.page.keyboard.press("Escape")
    builder.add("input")
    builder.waits(2)
    builder.write("label", "b")
    builder.write("value", "2.0")
    builder.shows(2, "2")


def add_sums(builder):
    """(a + b) - (a b + b^3), squared."""
    page = builder.page
    # a + b: both are selected with the mouse, and become its arguments
    builder.click(1)
    builder.click(2, modifiers=["Shift"])
    builder.add("add")
    builder.waits(3)
    builder.shows(3, "-39")
    # a b: a click on the palette, then arguments by dragging from port to port
    page.keyboard.press("Escape")
    builder.find(".burlab-surface").focus()
    page.keyboard.press("Escape")
    builder.find("[data-kind=mul]").click()
    builder.waits(4)
    builder.shows(4, "connect x, y")
    builder.drag("[data-key='1'] .burlab-out", "[data-key='4'] [data-port='0']")
    builder.shows(4, "connect y")
    builder.drag("[data-key='4'] [data-port='1']", "[data-key='2'] .burlab-out")
    builder.shows(4, "-82")
    # b^3, by keys alone: select b, search, Enter
    builder.click(2)
    builder.add("cube")
    builder.waits(5)
    builder.shows(5, "8")
    # + of both, - of the sums
    builder.click(4)
    builder.click(5, modifiers=["Shift"])
    builder.add("add")
    builder.waits(6)
    builder.click(3)
    builder.click(6, modifiers=["Shift"])
    builder.add("sub")
    builder.waits(7)
    builder.shows(7, "35")
    builder.add("square")  # of what was added last
    builder.waits(8)
    builder.shows(8, "1225")


def add_division(builder):
    """/ 2: the constant is connected by keys: C, and 2 for the second argument of the division."""
    page = builder.page
    builder.add("div")
    builder.waits(9)
    builder.find(".burlab-surface").focus()
    page.keyboard.press("Escape")
    builder.add("constant")
    builder.waits(10)
    builder.write("value", "2")
    builder.find(".burlab-inspector input[aria-label='label']").focus()
    page.keyboard.press("Escape")
    page.keyboard.press("c")
    builder.says("connect constant to another block")
    builder.click(9)
    builder.find(".burlab-surface").focus()
    page.keyboard.press("2")


def test_the_tiny_graph_is_built_with_mouse_and_keyboard(builder):
    add_inputs(builder)
    add_sums(builder)
    add_division(builder)
    builder.shows(9, "612.5")
    builder.shows(1, "∂ -35")
    builder.shows(2, "∂ 1050")
    builder.write("label", "g")
    builder.shows(9, "g = ÷")
    builder.shot("builder")
    assert TRUTH == (612.5, -35.0, 1050.0)
    numbers = builder.notebook.kernel(
        "print(float(b.value('g')), *map(float, (b.gradient('a'), b.gradient('b'))), end='')"
    )
    assert tuple(map(float, numbers.split())) == TRUTH
    numbers = builder.notebook.kernel("print(*map(float, bl.grad(b.function(), (0, 1))(-41.0, 2.0)), end='')")
    assert tuple(map(float, numbers.split())) == TRUTH[1:]


@pytest.mark.full
def test_typed_text_survives_a_concurrent_rename(builder):
    builder.add("input")
    builder.waits(1)
    builder.notebook.kernel("import threading\nthreading.Timer(2, b.rename, (1, 'renamed')).start()")
    builder.find(".burlab-inspector input[aria-label='value']").click()
    builder.page.keyboard.press("Control+A")
    builder.page.keyboard.type("-4")
    builder.shows(1, "renamed")
    builder.page.keyboard.type("1")
    builder.page.keyboard.press("Enter")
    builder.shows(1, "-41")
    builder.notebook.kernel("threading.Timer(2, b.rename, (1, 'again')).start()")
    builder.find(".burlab-inspector input[aria-label='value']").click()
    builder.page.keyboard.press("Control+A")
    builder.page.keyboard.press("Delete")
    builder.shows(1, "again")
    builder.page.keyboard.type("7.5")
    builder.page.keyboard.press("Enter")
    builder.notebook.prints("print(float(b.value(1)), end='')", "7.5")


@pytest.mark.full
def test_invalid_connection_shows_the_reason_at_its_block(builder):
    notebook = builder.notebook
    notebook.write(
        1,
        'b = bl.GraphBuilder()\nx = b.add("input", value=[1.0, 2.0], label="<b>x</b>")\n'
        'y = b.add("square", x)\nz = b.add("tanh", y)\nb.add("sum", z)\nb',
    )
    notebook.run(1)
    builder = Builder(notebook)
    builder.waits(4)
    builder.drag("[data-key='3'] .burlab-out", "[data-key='2'] [data-port='0']")
    builder.says("tanh is computed from square, so it cannot be an argument of it")
    assert "is computed from square" in builder.find(".burlab-callout").text_content()
    builder.click(1)
    builder.write("value", "__import__('os')")
    builder.says("cannot be read")
    builder.write("value", "[1, [2]]")
    builder.says("rows of one length")
    assert builder.state()[2][2] == [1], "nothing has changed"
    assert builder.find("[data-key='1'] b").count() == 0, "a label is text"
    builder.shows(1, "<b>x</b>")
    builder.click(1)
    builder.write("value", "[1.0, 2.0, 4.0]")
    builder.shows(4, "2.76092")  # tanh 1 + tanh 4 + tanh 16
    builder.page.keyboard.press("Escape")
    builder.page.keyboard.press("Control+z")
    builder.shows(1, "[1, 2]")
    builder.page.keyboard.press("Control+Shift+Z")
    builder.shows(1, "[1, 2, 4]")
    builder.page.keyboard.press("ArrowRight")
    builder.page.keyboard.press("Delete")
    builder.waits(3)
    builder.shows(3, "connect x")


@pytest.mark.full
def test_blocks_are_moved_and_exported(builder):
    builder.add("input")
    builder.waits(1)
    builder.add("exp")
    builder.waits(2)
    x, y = builder.centre("[data-key='2']")
    builder.page.mouse.move(x, y)
    builder.page.mouse.down()
    builder.page.mouse.move(x + 30, y + 40, steps=3)
    builder.page.mouse.up()
    builder.page.wait_for_function(
        "([root, y]) => document.querySelector(root + ' [data-key=\"2\"]').getBoundingClientRect().top > y",
        arg=[builder.root, y],
    )
    builder.click(2)
    x, _ = builder.centre("[data-key='2']")
    for _ in range(10):
        builder.page.keyboard.press("Shift+ArrowRight")
    rect = f"document.querySelector(`{builder.root} [data-key='2']`).getBoundingClientRect()"
    scale = builder.scale
    builder.page.wait_for_function(f"Math.abs({rect}.left + {rect}.width / 2 - {x + 120 * scale}) < 1")
    builder.find("[aria-label='export']").select_option("Python")
    code = builder.find(".burlab-export textarea").input_value()
    names = {}
    exec(code, names)
    assert float(names["b"].value()) == pytest.approx(2.718281828459045)
    for name, first in (("JSON", "{"), ("DOT", "digraph"), ("SVG", "<svg")):
        builder.find("[aria-label='export']").select_option(name)
        builder.page.wait_for_function(
            "([root, first]) => document.querySelector(root + ' .burlab-export textarea').value.startsWith(first)",
            arg=[builder.root, first],
        )


@pytest.mark.full
def test_a_block_is_dragged_from_the_palette_to_where_it_is_dropped(builder):
    builder.find("[aria-label='search operations']").click()
    builder.page.keyboard.type("input")
    builder.drag("[data-kind=input]", ".burlab-surface")
    builder.waits(1)
    assert builder.state() == {1: ["input", "x", [], 1.0]}
    (x, y), (u, v) = builder.centre("[data-key='1']"), builder.centre(".burlab-surface")
    assert abs(x - u) < 60
    assert abs(y - v) < 60
    builder.drag("[data-kind=input]", "[aria-label='search operations']")  # beside the canvas: nothing is added
    builder.page.keyboard.press("Control+z")
    builder.waits(0)


@pytest.mark.full
def test_slider_changes_a_number_and_one_undo_restores_it(builder):
    notebook = builder.notebook
    notebook.write(1, "b = bl.GraphBuilder(lambda x: x**2, 3.0)\nb")
    notebook.run(1)
    builder = Builder(notebook)
    builder.click(1)
    box = builder.find("[aria-label='slide the value']").bounding_box()
    middle = box["y"] + box["height"] / 2
    builder.page.mouse.move(box["x"] + box["width"] / 2, middle)
    builder.page.mouse.down()
    builder.page.mouse.move(box["x"] + box["width"] - 8, middle, steps=5)
    builder.page.mouse.up()
    x = 3 + 6 * float(builder.find("[aria-label='slide the value']").input_value())  # it reaches from -3 to 9
    assert 7 < x <= 9
    builder.shows(1, f"∂ {2 * x:.6g}"[:5])
    notebook.prints(f"print(float(b.value(1)) == {x:.4g}, end='')", "True")
    builder.find("[data-act=undo]").click()
    builder.shows(1, "∂ 6")
    assert notebook.kernel("print(float(b.value(1)), b.history.can_undo, end='')") == "3.0 False"


@pytest.mark.full
def test_space_selects_several_and_arrange_puts_them_in_order(builder):
    notebook, page = builder.notebook, builder.page
    notebook.write(1, "b = bl.GraphBuilder(lambda x, y: x * y, 2.0, 5.0)\nb.move({1: (300, 10), 2: (240, 200)})\nb")
    notebook.run(1)
    builder = Builder(notebook)
    builder.waits(3)
    builder.click(1)
    page.keyboard.press("Space")
    builder.says("1 selected: arrows add another")
    page.keyboard.press("ArrowDown")
    assert len(builder.chosen()) == 2
    builder.add("add")
    builder.waits(4)
    builder.shows(4, "7")
    builder.find("[data-act=arrange]").click()
    page.wait_for_function(
        "root => { const at = k => document.querySelector(`${root} [data-key='${k}']`).getBoundingClientRect();"
        " return Math.abs(at(1).left - at(2).left) < 5 && at(4).left > at(1).right && at(4).left > at(2).right; }",
        arg=builder.root,
    )
    assert notebook.kernel("print([x.place for x in b.document.blocks.values()], end='')") == f"{[None] * 4}"


@pytest.mark.full
def test_minimize_opens_a_panel_with_a_slider_for_a_constant(builder):
    notebook = builder.notebook
    notebook.write(1, "b = bl.GraphBuilder(lambda x: (x - 3.5) ** 2, 0.0)\nb")
    notebook.run(1)
    builder = Builder(notebook)
    assert builder.find(".burlab-keep").is_hidden()
    builder.find(".burlab-minimize").click()
    cell = builder.root.removesuffix(" .burlab-builder")
    builder.page.wait_for_selector(f"{cell} .burlab-panel[data-ready]")
    builder.page.wait_for_selector(f"{cell} [aria-label='constant'][type=range]")
    notebook.kernel(
        "from burlab.widgets.views import _builder_views\nrun = _builder_views[b]._commands.run\nrun.step(50)"
    )
    builder.find(".burlab-keep").click()
    found = notebook.kernel("print(f'{float(run.x[\"x\"]):.6g}', end='')")
    assert found != "0"
    builder.shows(1, found)


@pytest.mark.full
@pytest.mark.parametrize("theme", ["Light", "Dark"])
def test_builder_has_no_overflow_at_any_width(builder, theme):
    notebook = builder.notebook
    notebook.command("apputils:change-theme", theme=f"JupyterLab {theme}")
    notebook.write(
        1,
        "b = bl.GraphBuilder(lambda a, b: ((a + b) - (a * b + b**3)) ** 2 / 2, -41.0, 2.0)\n"
        "b.add('matmul', 'a', b.add('constant', value=[1.0]))\nb",
    )
    notebook.run(1)
    builder = Builder(notebook)
    builder.click(1)
    for width in (420, 900, 1400):
        builder.page.set_viewport_size({"width": width, "height": 1500})
        rests(builder.page)
        assert lasting(builder.page, lambda: builder.page.locator(builder.root).evaluate(STICKING)) == []
        builder.find(".burlab-surface").focus()
        builder.page.keyboard.press("0")
        rests(builder.page, builder.view)
        assert builder.scale >= 0.6, "words of 12 units can be read"
        builder.shot(f"builder_{theme.lower()}_{width}")
    builder.page.set_viewport_size({"width": 1280, "height": 1500})
    notebook.command("apputils:change-theme", theme="JupyterLab Light")


@pytest.mark.full
def test_on_a_narrow_page_a_new_block_is_in_sight(builder):
    builder.page.set_viewport_size({"width": 420, "height": 1500})
    for count in range(8):
        builder.add("exp" if count else "input")
        builder.waits(count + 1)
    rests(builder.page, builder.view)
    frame, box = builder.find(".burlab-surface").bounding_box(), builder.block(8).bounding_box()
    assert frame["x"] <= box["x"]
    assert box["x"] + box["width"] <= frame["x"] + frame["width"]
    assert builder.scale >= 0.6
    builder.page.set_viewport_size({"width": 1280, "height": 1500})


@pytest.mark.full
def test_built_graph_survives_restart_and_reload(builder):
    notebook, page = builder.notebook, builder.page
    notebook.write(1, "b = bl.GraphBuilder(file='kept.json')\nb")
    notebook.run(1)
    builder = Builder(notebook)
    builder.add("input")
    builder.waits(1)
    builder.write("value", "3.0")
    builder.add("square")
    builder.waits(2)
    builder.shows(2, "9")
    until(page, lambda: ">9<" in notebook.picture(1), "the picture of the last edit never came")
    page.evaluate("() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart()")
    notebook.reload()
    note = page.locator(".burlab-built").first
    note.wait_for(state="visible")
    assert "It is kept in kept.json" in note.inner_text()
    picture = page.locator(".jp-Cell[data-windowed-list-index='1'] img[src^='data:image/svg']")
    picture.wait_for(state="visible")
    data = picture.get_attribute("src").partition("base64,")[2]
    assert ">9<" in b64decode(data).decode(), "the picture is of the last edit"
    shot(page, "builder_still")
    notebook.run(0)
    notebook.run(1)
    again = Builder(notebook)
    again.waits(2)
    again.shows(2, "9")
    assert [row[0] for row in again.state().values()] == ["input", "square"]


@pytest.mark.full
def test_a_cell_that_runs_again_keeps_what_was_built_by_hand(builder):
    notebook = builder.notebook
    builder.add("input")
    builder.waits(1)
    builder.write("value", "3.0")
    builder.add("square")
    builder.waits(2)
    builder.shows(2, "9")
    notebook.run(1)
    again = Builder(notebook)
    again.waits(2)
    again.shows(2, "9")
    code = again.page.locator(".burlab-built pre").first.text_content()
    assert "square" in code, "and so does the code beside its picture"
    again.page.get_by_role("button", name="Undo").first.click()
    again.waits(0)
    again.page.get_by_role("button", name="Undo").first.click()
    again.waits(2)
