"""Events around a panel: other cells, interrupts, reloads, a kernel that is gone."""

import re

import pytest

from tests.browser.panels import ENDLESS, Panel, write_run
from tests.browser.waits import rests, until

pytestmark = [pytest.mark.browser, pytest.mark.full]


def test_panel_scrolled_to_its_foot_stays_live(panel):
    panel.page.set_viewport_size({"width": 1280, "height": 500})
    try:
        panel.unfold("memory")
        panel.find(".burlab-memory").scroll_into_view_if_needed()
        rests(panel.page)  # the page has said what is in sight
        head = panel.find(".burlab-head").bounding_box()
        assert head["y"] + head["height"] < 0
        panel.enter("mu value", "fast")
        panel.says("mu is 'fast', expected a number")
    finally:
        panel.page.set_viewport_size({"width": 1280, "height": 1500})


@pytest.mark.parametrize("panel", [write_run(ENDLESS)], indirect=True)
def test_panel_is_live_while_a_cell_blocks_and_after_an_interrupt(panel):
    panel.notebook.write(3, "print('it has begun')\nwhile True: sum(range(1000))")
    panel.notebook.start(3)
    until(panel.page, lambda: panel.notebook.printed(3), "the cell has not begun")
    panel.find("[aria-label='speed']").select_option("0")
    panel.press("play")
    panel.says(r"Running: step [\d,]{5,}")
    first = panel.step
    panel.page.wait_for_function(f"Number(document.querySelector('.burlab-at').value) > {first}")
    panel.notebook.command("notebook:interrupt-kernel")
    panel.notebook.finish()
    with pytest.raises(AssertionError, match="KeyboardInterrupt"):
        panel.notebook.printed(3)
    first = panel.step
    panel.page.wait_for_function(f"Number(document.querySelector('.burlab-at').value) > {first}")
    panel.press("pause")
    panel.says("Paused at step")


def test_pausing_ends_the_wait_of_a_cell(panel):
    panel.notebook.write(3, "run.step(10**12); print('on we go')")
    panel.notebook.start(3)
    panel.says(r"Running: step [\d,]{5,}")
    panel.press("pause")
    panel.says("Paused at step")
    panel.notebook.finish()
    assert panel.notebook.printed(3) == "on we go\n"


def test_displays_of_one_run_are_one_panel(panel):
    panel.notebook.run(2)
    second = Panel(panel.notebook, cell=2)
    second.enter("number of steps", "40")
    panel.says("Paused at step 40$")
    second.shows("the value", "curve('value').x.length === 41")
    panel.shows("the value", "curve('value').x.length === 41")
    panel.notebook.kernel("from burlab.widgets.panel.panel_view import panel_of; p = panel_of(run)")
    panel.notebook.kernel("from burlab.widgets import pages; pages._GRACE_SECONDS = 0.3")
    panel.notebook.write(2, "pass")
    panel.notebook.run(2)
    panel.page.wait_for_timeout(700)
    assert panel.notebook.kernel("print(p.closed, end='')") == "False"
    panel.notebook.write(1, "pass")
    panel.notebook.run(1)
    panel.notebook.prints("print(p.closed, p.comm, end='')", "True None")  # as no cell shows it
    panel.notebook.write(2, "run")
    panel.notebook.kernel("pages._GRACE_SECONDS = 10.0")


def test_a_page_loaded_anew_shows_what_is(panel):
    panel.enter("number of steps", "600")
    panel.says("Paused at step 600$")
    panel.enter("go to step", "200")
    panel.enter("mu value", "0.5")
    panel.says("Paused at step 200$")
    panel.notebook.reload()
    again = Panel(panel.notebook)
    again.says("Paused at step 200$")
    again.shows("both lines", "faint('value').x.length > 500 && curve('value').x.length === 201")
    panel.page.wait_for_function("document.querySelector(\"[aria-label='mu value']\")?.value === '0.5'")
    again.press("step")
    again.says("Paused at step 201$")
    again.shows("the new row", "curve('value').x.length === 202")


def test_panel_without_its_kernel_names_the_remedy(panel):
    panel.enter("number of steps", "10")
    panel.says("Paused at step 10$")
    assert panel.find(".burlab-gone").is_hidden()
    assert panel.page.locator(".burlab-kept").first.is_hidden()
    panel.notebook.page.evaluate("() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart()")
    panel.find(".burlab-gone").wait_for(state="visible")
    assert "Run this cell again" in panel.find(".burlab-gone").inner_text()
    panel.notebook.reload()
    note = panel.page.locator(".burlab-kept").first
    note.wait_for(state="visible")
    assert "run this cell again" in note.inner_text()
    panel.notebook.run(0)
    panel.notebook.run(1)
    Panel(panel.notebook).says("Ready at step 0")
    note.wait_for(state="hidden")


def test_page_requests_no_other_machine(panels, lab):
    hosts = {re.sub(r"^(\w+://[^/]*).*", r"\1", url) for url in lab.requests if not url.startswith(("data:", "blob:"))}
    assert {re.sub(r":\d+$", "", host) for host in hosts} <= {"http://127.0.0.1", "ws://127.0.0.1"}
