"""The tutorials as a reader sees them: in a real JupyterLab, in a real browser."""

import re

import pytest

from tests.browser.views import shot
from tests.browser.waits import rests, until

pytestmark = [pytest.mark.browser, pytest.mark.full]
ERROR = '[data-mime-type="application/vnd.jupyter.error"]'
OUTER = "document.querySelector('.jp-WindowedPanel-outer')"
SHOWN = {"graphs": "svg.burlab-graph", "plots": ".js-plotly-plot", "charts": ".burlab-chart", "errors": ERROR}
SHOWN |= {"views": ".burlab-graphview", "profiles": ".burlab-profile", "builders": ".burlab-builder"}
COUNT = """(shown) => Object.fromEntries(Object.entries(shown).map(([kind, selector]) =>
  [kind, new Set([...document.querySelectorAll(selector)].map((e) => e.closest(".jp-Cell"))).size])
  .filter(([, count]) => count))"""
TUTORIALS = {
    "00_playground": {"charts": 2},
    "01_gradients": {"graphs": 1, "plots": 2},
    "02_three_gears": {"graphs": 2, "plots": 1},
    "03_names": {"plots": 2},
    "04_first_minimum": {"plots": 7, "charts": 2},
    "05_your_own_optimizer": {"plots": 6},
    "06_time_travel": {"plots": 5, "charts": 1},
    "07_gpt": {"plots": 2, "charts": 1},
    "08_the_paper": {"plots": 2},
    "09_variance": {"plots": 2},
    "10_compressed": {"plots": 4},
    "11_no_learning_rate": {"plots": 3},
    "12_memory": {"plots": 2},
    "13_race": {"charts": 4},
    "14_inside_a_kernel": {"views": 4, "profiles": 1, "charts": 1},
    "15_build_a_graph": {"builders": 4, "charts": 1},
    "16_landscapes": {"charts": 5},
    "17_what_a_digit_is_worth": {"plots": 7, "views": 1},
}


def counted(page, expected):
    """Numbers of cells by what they show. JupyterLab draws what is in view: the page is made so high that all is."""
    found = {}

    def so():
        content, frame = page.evaluate(f"[{OUTER}.scrollHeight, {OUTER}.clientHeight]")
        if content > frame:
            page.set_viewport_size({"width": 1280, "height": content + 200})
        found.clear()
        found.update(page.evaluate(COUNT, SHOWN))
        return found == expected

    until(page, so, lambda: f"it shows {found}")
    rests(page)  # an error would come beside them
    return page.evaluate(COUNT, SHOWN)


@pytest.mark.parametrize(("name", "expected"), TUTORIALS.items())
def test_a_tutorial_runs_and_shows_its_pictures(tutorial, name, expected):
    page = tutorial(name)
    page.set_viewport_size({"width": 1280, "height": 2000})
    assert counted(page, expected) == expected, "and no errors"
    page.set_viewport_size({"width": 1280, "height": 2000})
    rests(page)
    page.evaluate(f"{OUTER}.scrollTop = {OUTER}.scrollHeight / 2")  # where there is something to look at
    rests(page)
    shot(page, name)


def test_bits_are_changed_by_keys_and_buttons(tutorial):
    """Each position shows another run: how many digits it reads right stands in the title."""
    page = tutorial("17_what_a_digit_is_worth")
    controls = page.locator(".widget-vbox", has=page.locator("[role=slider]"))

    def right(name):
        """The per cent, once the title is about this format and no longer about what was there before."""
        title, before = controls.locator(".gtitle"), seen[-1]
        until(page, lambda: title.all_text_contents()[0] != before, lambda: f"it shows {before}")
        seen.append(title.all_text_contents()[0])
        return int(re.fullmatch(rf"{name}: (\d+)% of the unseen digits are read right", seen[-1])[1])

    seen = [""]
    assert right("e4m3") > 80
    controls.locator("[role=slider]").focus()
    page.keyboard.press("ArrowRight")
    assert right("e2m3") < 30
    controls.locator("button", has_text="master weights").click()
    assert right("e2m3") < 70
    assert controls.locator("button", has_text="stochastic rounding").is_disabled()
    controls.locator("button", has_text="loss scale").click()
    assert right("e2m3") > 90
    shot(controls, "bits")


def test_a_link_to_a_recipe_opens_it_as_text(lab, browser):
    page = lab.open("09_variance")
    page.locator("a", has_text="Write an estimator").click()
    page.locator(".jp-MarkdownViewer h1", has_text="Write an estimator").wait_for()
    shot(page, "recipe")
