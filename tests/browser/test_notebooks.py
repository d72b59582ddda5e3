"""The tutorials as a reader sees them: in a real JupyterLab, in a real browser."""

import os
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.browser
ERROR = '[data-mime-type="application/vnd.jupyter.error"]'
OUTER = "document.querySelector('.jp-WindowedPanel-outer')"
SHOTS = Path(os.environ.get("BURLAB_SCREENSHOTS", "build/screenshots"))


def scroll_through(page, seen):
    """JupyterLab draws what is in view: add cells with drawn graphs, plots and errors on the way down."""
    selectors = {"graphs": "svg.burlab-graph", "plots": ".js-plotly-plot", "errors": ERROR}
    height = page.evaluate(f"{OUTER}.scrollHeight")
    for top in range(0, height, 1500):
        page.evaluate(f"{OUTER}.scrollTop = {top}")
        page.wait_for_timeout(700)
        for kind, selector in selectors.items():
            for found in page.query_selector_all(selector):
                seen.setdefault(kind, set()).add(found.evaluate("e => e.closest('.jp-Cell').dataset.windowedListIndex"))
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
    ("name", "graphs", "plots"),
    [
        ("01_gradients", 1, 2),
        ("02_three_gears", 2, 1),
        ("03_names", 0, 2),
        ("04_first_minimum", 0, 8),
        ("05_your_own_optimizer", 0, 6),
        ("06_time_travel", 0, 5),
        ("07_gpt", 0, 3),
        ("08_the_paper", 0, 2),
    ],
)
def test_a_tutorial_runs_and_shows_its_pictures(notebook, name, graphs, plots):
    page = notebook(name)
    expected = {kind: count for kind, count in (("graphs", graphs), ("plots", plots)) if count}
    seen = counted(page, expected)
    SHOTS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=SHOTS / f"{name}.png")
    assert seen == expected, "and no errors"
