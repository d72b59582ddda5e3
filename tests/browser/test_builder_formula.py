"""The formula field of the builder in a real JupyterLab, with real keys and a real mouse."""

import pytest

from tests.browser.builders import STICKING, Builder

pytestmark = pytest.mark.browser
SETUP = "import json\nimport numpy as np\nimport burlab as bl"


@pytest.fixture
def builder(open_notebook):
    return Builder(open_notebook("formula", [SETUP, "b = bl.GraphBuilder()\nb", "pass"], run=2))


def test_a_formula_becomes_the_graph(builder):
    page = builder.page
    builder.find("[aria-label='example formulas']").select_option(label="BurTorch's tiny graph")
    builder.waits(12)
    assert [row[3] for row in builder.state().values()][-1] == 612.5
    assert page.evaluate(f"({STICKING})(document.querySelector({builder.root!r}))") == []
    builder.shot("builder-formula")

    builder.find("[aria-label='export']").select_option("NumPy")
    assert "return (a + b - (a * b + b ** 3)) ** 2 / 2" in builder.find("textarea").input_value()
    builder.shot("builder-export")
    builder.find(".burlab-export button:text-is('Close')").click()

    field = builder.find("[aria-label='formula']")
    field.click()
    page.keyboard.type("nope(x)")
    page.keyboard.press("Enter")
    builder.says('"nope" (character 1) is an unknown operation')
    assert field.input_value() == "nope(x)"
    page.keyboard.press("Escape")
    assert field.input_value() == ""
    page.keyboard.type("c = 1/3; logsumexp(W @ x + a * c)")
    page.keyboard.press("Enter")
    builder.waits(19)
    assert field.input_value() == ""
    assert {row[1] for row in builder.state().values()} >= {"W", "x", "c"}
    builder.find("[data-act=undo]").click()
    builder.waits(12)
    builder.shot("builder-formula-undone")
