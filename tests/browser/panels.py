"""The panel of a run as a page shows it: its controls by name, and waits for what it says and draws."""

from tests.browser.views import SHOTS, Steered
from tests.browser.waits import lasting, rests

SETUP = """
import asyncio, time
import numpy as np
import burlab as bl
from burlab.widgets.panel.panel_view import panel_of
"""
ENDLESS, SCHEDULED = "1e-9", "bl.optim.linear(1e-3, steps=1000)"  # so slow that it does not come to rest


def write_run(rate="3e-4"):
    """A cell that makes a run of this learning rate and shows it."""
    return f"""
run = bl.minimize(bl.problems.rosenbrock(), np.array([-1.2, 1.0]), bl.optim.Momentum({rate}, mu=0.9))
run
"""


# The browser remembers folds for all tests of a session.
FOLDS = "Object.keys(localStorage).filter((key) => key.startsWith('burlab fold'))"
FORGET_FOLDS = f"{FOLDS}.forEach((key) => localStorage.removeItem(key))"

OVERLAPS = """root => {
  const parts = [...root.querySelectorAll('button, input, select, .burlab-status span, .burlab-readouts div, label, ' +
    '.burlab-low, .burlab-high, .burlab-length, .burlab-total, .burlab-key span, canvas, figcaption *')]
    .filter(e => e.checkVisibility() && e.getClientRects().length).map(e => [e, e.getBoundingClientRect()]);
  const frame = root.getBoundingClientRect(), bad = [];
  const name = e => e.getAttribute('aria-label') || e.textContent.slice(0, 20) || e.className;
  for (const [e, a] of parts) {
    if (a.left < frame.left - 1 || a.right > frame.right + 1) bad.push(`${name(e)} sticks out`);
    for (const [f, b] of parts) {
      if (e === f || e.contains(f) || f.contains(e)) continue;
      const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      if (across > 1 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1) bad.push(`${name(e)} / ${name(f)}`);
    }
  }
  return bad;
}"""

_NAMES = """
const chart = e.chart;
const part = (name) => chart.parts.find((one) => one.name === name);
const curve = (name) => part(name).curves.find((one) => !one.faint);
const faint = (name) => part(name).curves.find((one) => one.faint);
const cursor = chart.parts[0].marks.find(({ kind }) => kind === "cursor")?.at;
"""


class Panel(Steered):
    """The panel that a cell shows."""

    kind = "burlab-panel"

    def __init__(self, notebook, cell=1):
        super().__init__(notebook, cell)
        self.page.wait_for_selector(f"{self.root} [data-frames]")

    def type(self, label, text):
        """Replace the text of a field key by key, as a user does."""
        field = self.find(f"[aria-label='{label}']:not([type=range])")
        field.click()
        self.page.keyboard.press("Control+A")
        self.page.keyboard.type(text)
        assert field.input_value() == text

    def enter(self, label, text):
        self.type(label, text)
        self.page.keyboard.press("Enter")

    def unfold(self, title):
        """Open a fold, unless it is open, and wait until that is remembered."""
        summary = self.find(f"summary:text-is('{title}')")
        if not summary.evaluate("e => e.parentElement.open"):
            summary.click()
        self.page.wait_for_function(f"{FOLDS}.some((key) => key.endsWith(' {title}'))")

    @property
    def focused(self):
        """Return the focused element: the name of a control, or the text of a button."""
        return self.page.evaluate("() => document.activeElement.ariaLabel ?? document.activeElement.innerText.trim()")

    @property
    def step(self):
        return int(self.find(".burlab-at").input_value())

    def shows(self, what, expression):
        """Wait for something about the chart to be true.

        expression: JavaScript on `chart`, `part(name)`, its first `curve(name)` and `faint(name)` one, and `cursor`.
        """
        # A curve may not be there yet.
        patient = f"(() => {{ try {{ return {expression}; }} catch {{ return false; }} }})()"
        self.until(lambda: self.chart(patient), f"the chart never had {what}")

    def chart(self, expression):
        """The value of an expression as in `shows`."""
        return self.find(".burlab-chart").evaluate(f"(e) => {{ {_NAMES} return {expression}; }}")

    def place(self, name, across=0.5, up=0.5):
        """A place of the page within a plot: shares of its width and height."""
        self.shows("a frame", f"part('{name}').frame.right > 0")  # what has just come is drawn in the next one
        canvas = self.canvas(name).bounding_box()
        frame = self.chart(f"Object.assign({{}}, part('{name}').frame, {{ sx: null, sy: null }})")
        x = canvas["x"] + frame["left"] + across * (frame["right"] - frame["left"])
        return x, canvas["y"] + frame["bottom"] - up * (frame["bottom"] - frame["top"])

    def canvas(self, name):
        """The canvas of a plot."""
        names = self.chart("[...chart.places.keys()]")
        return self.find("canvas").nth(names.index(name))

    def overlaps(self):
        """Return elements that overlap others or overflow."""
        return self.evaluate(OVERLAPS)

    def settled_overlaps(self):
        """The same, when it stays after the page has been put in order."""
        rests(self.page)
        return lasting(self.page, self.overlaps)

    def report(self, name, text):
        """Keep what was measured, beside the pictures."""
        SHOTS.mkdir(parents=True, exist_ok=True)
        (SHOTS / f"{name}.txt").write_text(f"{text}\n")
