"""How a panel looks: at any width, in both themes."""

import pytest

from tests.browser.panels import SCHEDULED, write_run

pytestmark = [pytest.mark.browser, pytest.mark.full]


DIVERGED = write_run("1.0")
CONVERGED = """
run = bl.minimize(lambda x: np.sum(x**2), np.ones(20), bl.optim.GD(0.5))
run
"""
NOISY = """
rng = np.random.default_rng(0)
rows = rng.normal(size=(400, 8))
problem = bl.FiniteSum(lambda x, a, b: (a @ x - b) ** 2, (rows, rows @ np.arange(8.0) + rng.normal(size=400)))
run = bl.minimize(problem, np.zeros(8), bl.optim.Adam(bl.optim.cosine(1e-2, steps=5000)), batch=8)
run
"""


@pytest.fixture(params=["Light", "Dark"])
def theme(request, panels):
    """The theme of the page, and the light one afterwards."""
    panels.command("apputils:change-theme", theme=f"JupyterLab {request.param}")
    yield request.param.lower()
    panels.page.set_viewport_size({"width": 1280, "height": 1500})
    panels.command("apputils:change-theme", theme="JupyterLab Light")


@pytest.mark.parametrize("panel", [write_run(SCHEDULED), NOISY], ids=["two", "many"], indirect=True)
def test_panel_has_no_overlap_at_any_width_in_any_theme(panel, theme, request):
    panel.enter("number of steps", "900")
    panel.says("Paused at step 900$")
    panel.enter("go to step", "400")
    panel.says("At step 400 of 900")
    panel.shows(f"a {theme} theme", f"chart.theme.dark === {str(theme == 'dark').lower()}")
    for title in ("norms and time", "memory", "breakpoints"):
        panel.unfold(title)
    for width in (420, 600, 900, 1400):
        panel.page.set_viewport_size({"width": width, "height": 1500})
        panel.shows(
            "its width", "[...chart.places.values()].every(p => p.canvas.width === Math.round(p.frame.clientWidth))"
        )
        bad = panel.settled_overlaps()
        panel.shot(f"panel_{request.node.callspec.id}_{width}")
        assert bad == []
        narrow = panel.chart("new Set([...chart.places.values()].map(p => p.box.getBoundingClientRect().left)).size")
        assert narrow == (1 if width < 900 else 2), "one column of plots where it is narrow"


@pytest.mark.parametrize("panel", [DIVERGED], indirect=True)
def test_a_run_that_diverged_shows_where_it_came_from(panel):
    panel.enter("number of steps", "100")
    panel.says("Stopped at step")
    panel.shows("a note", "part('value').note.startsWith('goes on to ')")
    panel.shows("the first values", "part('value').frame.sy.high < 1e7")
    assert "goes on to" in panel.find(".burlab-caption").first.inner_text()
    panel.shot("panel_diverged")


@pytest.mark.parametrize("panel", [CONVERGED], indirect=True)
def test_values_of_exactly_zero_lie_on_a_line_labelled_0(panel):
    panel.enter("number of steps", "50")
    panel.says("Paused at step 50$")
    panel.shows("zeros", "curve('value').y.at(-1) === 0 && part('value').y.floor > 0")
    zero = "part('value').frame.sy.at(0) === part('value').frame.sy.at(part('value').y.floor)"
    panel.shows(
        "zeros on the floor, above the foot", f"{zero} && part('value').frame.sy.at(0) < part('value').frame.bottom"
    )
    panel.shot("panel_zero")


def test_a_fresh_panel_shows_the_start_and_nothing_else(panel):
    panel.shows("the value at the start", "curve('value').x.length === 1 && curve('value').x[0] === 0")
    assert panel.find(".burlab-readouts div").all_inner_texts() == ["value\n24.2"]
    assert panel.find(".burlab-length").inner_text() == "of 0"
    assert not panel.find(".burlab-hits").is_visible(), "no breakpoint has stopped it"
    assert panel.chart("chart.parts.map(({ name }) => name)") == ["value", "plane"], "no box is empty"
    panel.shot("panel_fresh")
