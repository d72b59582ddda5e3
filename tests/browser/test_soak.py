"""Each widget on its worst run, for two minutes: the page that shows it answers all the while.

What holds a page up is a task of its main thread. On a machine that does other work a task waits for the processor,
too: what counts is its time on the clock, or the time of the processor that the thread took meanwhile where that is
less.
"""

import os
from itertools import pairwise
from time import monotonic

import pytest

from tests.browser.soaks import SETUP, SOAKS
from tests.browser.views import SHOTS

pytestmark = [pytest.mark.browser, pytest.mark.full]
SECONDS = float(os.environ.get("BURLAB_SOAK", "120"))
LONGEST = 200.0  # milliseconds
SETTLING = 3.0  # seconds for a widget to be loaded and drawn once
OBSERVE = """() => {
  window.tasks = [];
  const note = (list) => window.tasks.push(...list.getEntries().map((one) => one.duration));
  window.observed = new PerformanceObserver(note);
  window.observed.observe({ type: "longtask" });
}"""
TAKEN = "() => window.tasks.splice(0)"


class Thread:
    """The main thread of a page: milliseconds since the last `turn`, those of the processor and of the longest task."""

    def __init__(self, page):
        self._page = page
        self._session = page.context.new_cdp_session(page)
        self._session.send("Performance.enable", {"timeDomain": "threadTicks"})
        page.evaluate(OBSERVE)
        self._last = self._processor()

    def turn(self):
        now = self._processor()
        longest = max(self._page.evaluate(TAKEN), default=0.0)
        taken, self._last = now - self._last, now
        return taken, longest

    def close(self):
        self._page.evaluate("window.observed.disconnect()")
        self._session.detach()

    def _processor(self):
        metrics = self._session.send("Performance.getMetrics")["metrics"]
        return 1000 * next(one["value"] for one in metrics if one["name"] == "TaskDuration")


def played(page, soak, root):
    """Play a widget; for each turn of the hand, the milliseconds for which it held the page up."""
    thread, held = Thread(page), []
    end = monotonic() + SECONDS
    while monotonic() < end:
        soak.act(page, root, len(held))
        page.wait_for_timeout(50)
        held.append(thread.turn())
    page.wait_for_timeout(200)  # what was observed last comes a little later
    held.append(thread.turn())
    thread.close()
    return held


@pytest.mark.parametrize("name", list(SOAKS))
@pytest.mark.timeout(1800)
def test_no_task_of_the_page_takes_long(open_notebook, name):
    soak = SOAKS[name]
    notebook = open_notebook(f"soak-{name}", [SETUP, *soak.cells, "pass"], run=len(soak.cells))
    page, last = notebook.page, len(soak.cells)
    if soak.endless:
        notebook.start(last)
    else:
        notebook.run(last)
    root = f".jp-Notebook .jp-Cell[data-windowed-list-index='{last}'] .{soak.kind}"
    page.wait_for_selector(root)
    page.wait_for_selector(f"{root} {soak.ready}")
    page.wait_for_timeout(1000 * SETTLING)
    held = played(page, soak, root)
    if soak.endless:
        notebook.command("notebook:interrupt-kernel")
    # A task may be seen one turn after the one in which it ran.
    longest = max(min(max(before, taken), seen) for (before, _), (taken, seen) in pairwise(held))
    clock = max(seen for _, seen in held)
    said = f"{name}: {len(held)} turns; the longest task took {longest:.0f} ms, {clock:.0f} by the clock"
    SHOTS.mkdir(parents=True, exist_ok=True)
    (SHOTS / f"soak-{name}.txt").write_text(f"{said}\n")
    assert longest <= LONGEST, said
