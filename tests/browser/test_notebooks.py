"""The tutorials as a reader sees them: in a real JupyterLab, in a real browser."""

import os
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.browser
ERROR = '[data-mime-type="application/vnd.jupyter.error"]'
OUTER = "document.querySelector('.jp-WindowedPanel-outer')"
SHOTS = Path(os.environ.get("BURLAB_SCREENSHOTS", "build/screenshots"))


CELLS = "what => [...document.querySelectorAll(what)].map((e) => e.closest('.jp-Cell').dataset.windowedListIndex)"


def scroll_through(page, seen):
    """JupyterLab draws what is in view: add cells with drawn graphs, plots and errors on the way down."""
    selectors = {"graphs": "svg.burlab-graph", "plots": ".js-plotly-plot", "charts": ".burlab-chart", "errors": ERROR}
    selectors |= {"views": ".burlab-graphview", "profiles": ".burlab-profile", "builders": ".burlab-builder"}
    height = page.evaluate(f"{OUTER}.scrollHeight")
    for top in range(0, height, 1500):
        page.evaluate(f"{OUTER}.scrollTop = {top}")
        page.wait_for_timeout(700)
        for kind, selector in selectors.items():
            if cells := page.evaluate(CELLS, selector):  # at once: what is drawn may be drawn anew in the next moment
                seen.setdefault(kind, set()).update(cells)
    page.evaluate(f"{OUTER}.scrollTop = {height // 2}")  # where there is something to look at
    page.wait_for_timeout(700)
    return {kind: len(cells) for kind, cells in seen.items()}


def counted(page, expected):
    """Numbers of cells by what they show. What a busy machine has not drawn yet is waited for, further ways down."""
    seen, end = {}, time.monotonic() + 120
    while (found := scroll_through(page, seen)) != expected and time.monotonic() < end:
        pass
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("01_gradients", {"graphs": 1, "plots": 2}),
        ("02_three_gears", {"graphs": 2, "plots": 1}),
        ("03_names", {"plots": 2}),
        ("04_first_minimum", {"plots": 7, "charts": 2}),
        ("05_your_own_optimizer", {"plots": 6}),
        ("06_time_travel", {"plots": 5, "charts": 1}),
        ("07_gpt", {"plots": 2, "charts": 1}),
        ("08_the_paper", {"plots": 2}),
        ("13_race", {"charts": 4}),
        ("14_inside_a_kernel", {"views": 4, "profiles": 1, "charts": 1}),
        ("15_build_a_graph", {"builders": 3}),
        ("16_landscapes", {"charts": 5}),
    ],
)
def test_a_tutorial_runs_and_shows_its_pictures(notebook, name, expected):
    page = notebook(name)
    seen = counted(page, expected)
    SHOTS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=SHOTS / f"{name}.png")
    assert seen == expected, "and no errors"
