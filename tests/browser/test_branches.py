"""The tree of branches in a real JupyterLab, by mouse and keys."""

import pytest

from tests.browser.live import LivePanel
from tests.browser.waits import grab

pytestmark = pytest.mark.browser
SETUP = "import burlab as bl\nf = bl.problems.rosenbrock()"
TREE = """
run = bl.minimize(f, f.start, bl.optim.Momentum(5e-4, mu=0.8), steps=1500, progress=False)
tree = bl.branches(run)
tree
"""


class Panel(LivePanel):
    """The panel of a tree that a cell shows."""

    kind = "burlab-branches"

    def draws(self, expected):
        """Wait for these curves: label, first and last step."""
        self.until(
            lambda: self.curves("c.x[0], c.x.at(-1)") == expected,
            lambda: f"{expected} was never drawn: {self.curves('c.x[0], c.x.at(-1)')}",
        )


@pytest.fixture(scope="module")
def notebook(open_notebook):
    return open_notebook("branches", [SETUP, TREE, "pass"])


@pytest.fixture
def panel(notebook):
    notebook.run(1)
    fresh = Panel(notebook)
    fresh.says("A at step 1,500 of 1,500")
    return fresh


def fork(panel, step, field, value):
    """Fork at a step, by keys."""
    panel.type("fork at step", step)
    panel.says(f"at step {int(step):,} of")
    panel.find("[aria-label='field']").select_option(field)
    panel.type("new value", value)


def test_a_fork_by_the_keyboard_goes_on_and_is_compared(panel):
    fork(panel, "200", "mu", "0.99")
    panel.says("B at step 200 of 200")
    panel.type("number of steps", "1300")
    panel.says("B at step 1,500 of 1,500")
    panel.draws([["A", 0, 1500], ["B", 200, 1500]])  # 200: a point that it shares with its parent
    row = panel.find(".burlab-branch").nth(1).inner_text()
    assert "mu = 0.99" in row
    assert "from step 200, 1,500 steps" in row
    assert (
        panel.notebook.kernel("print(tree['B'].parent is run, tree['B'].hyper['mu'], run.t, end='')")
        == "True 0.99 1500"
    )


@pytest.mark.full
def test_branches_are_forked_again_from_where_they_are_picked(panel):
    fork(panel, "200", "mu", "0.9")
    panel.says("B at step 200 of 200")
    panel.find(".burlab-branch").nth(0).click()
    panel.says("A at step 1,500 of 1,500")
    fork(panel, "700", "lr", "1e-3")
    panel.says("C at step 700 of 700")
    panel.find("[data-intent=fork]").click()
    panel.says("D at step 700 of 700")
    assert panel.notebook.kernel("print([(b.name, b.parent, b.at) for b in tree.tree], end='')") == (
        "[('A', '', None), ('B', 'A', 200), ('C', 'A', 700), ('D', 'C', 700)]"
    )


@pytest.mark.full
def test_a_branch_that_is_not_chosen_is_not_drawn(panel):
    fork(panel, "200", "mu", "0.9")
    panel.says("B at step 200 of 200")
    panel.draws([["A", 0, 1500], ["B", 200, 200]])
    panel.find("[aria-label='compare A']").click()
    panel.draws([["B", 0, 200]])
    panel.find("[aria-label='compare A']").focus()
    panel.page.keyboard.press("Space")
    panel.draws([["A", 0, 1500], ["B", 200, 200]])


@pytest.mark.full
def test_the_tree_is_walked_by_arrows(panel):
    fork(panel, "200", "mu", "0.9")
    panel.says("B at step 200 of 200")
    panel.find(".burlab-branch").nth(1).focus()
    panel.page.keyboard.press("ArrowUp")
    panel.page.keyboard.press("Enter")
    panel.says("A at step 1,500 of 1,500")
    assert panel.find(".burlab-branch").nth(0).get_attribute("aria-current") == "true"


@pytest.mark.full
def test_the_cursor_is_dragged(panel):
    slider = panel.find("[aria-label='cursor']")
    box = grab(slider, across=1.0)
    panel.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, steps=4)
    panel.page.mouse.up()
    panel.says("A at step 7")
    assert panel.notebook.kernel("print(run.t, end='')") == "1500", "a cursor moves no run"


@pytest.mark.full
def test_fork_with_invalid_number_shows_a_message(panel):
    fork(panel, "200", "mu", "much")
    panel.says("mu is 'much', expected a number")


@pytest.mark.full
@pytest.mark.parametrize("width", [420, 900, 1400])
@pytest.mark.parametrize("theme", ["Light", "Dark"])
def test_branches_fit_the_page_at_any_width(panel, width, theme):
    panel.notebook.kernel(
        "for at, mu in ((100, 0.9), (400, 0.95), (800, 0.99)):\n"
        "    tree.fork('A', at=at, mu=mu).run.step(1500 - at)\n"
        "tree.fork('C', at=900, lr=1e-4).run.step(600)"
    )

    def act():
        panel.find(".burlab-branch").nth(1).click()
        panel.says("B at step 1,500")

    assert panel.fits("branches", width, theme, act) == []
