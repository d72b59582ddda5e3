"""The panel of a run as a page shows it: its controls by name, and waits for what it says and draws."""

import os
import re
import time
from pathlib import Path

SHOTS = Path(os.environ.get("BURLAB_SCREENSHOTS", "build/screenshots"))
OVERLAPS = """root => {
  const parts = [...root.querySelectorAll('button, input, select, .burlab-status span, .burlab-readouts div, label, ' +
    '.burlab-low, .burlab-high, .burlab-length, .burlab-total, .burlab-key span, .js-plotly-plot, .annotation')]
    .filter(e => e.getClientRects().length).map(e => [e, e.getBoundingClientRect()]);
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


class Panel:
    """The panel that a cell shows."""

    def __init__(self, notebook, cell=1):
        self.notebook, self.page = notebook, notebook.page
        self.root = f".jp-Notebook .jp-Cell[data-windowed-list-index='{cell}'] .burlab-panel"
        self.page.wait_for_selector(f"{self.root} .burlab-head[data-ready]", timeout=120_000)
        self.page.wait_for_selector(f"{self.root} .js-plotly-plot .main-svg", timeout=120_000)

    def find(self, selector):
        return self.page.locator(f"{self.root} {selector}")

    def press(self, intent):
        self.find(f"[data-intent={intent}]").click()

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

    @property
    def focused(self):
        """What has the focus of the page: the name of a control, or the text of a button."""
        return self.page.evaluate("() => document.activeElement.ariaLabel ?? document.activeElement.innerText.trim()")

    @property
    def status(self):
        return self.find(".burlab-status span").inner_text()

    @property
    def step(self):
        return int(self.find(".burlab-at").input_value())

    def says(self, pattern, seconds=60):
        """Wait for the status line to match."""
        end = time.monotonic() + seconds
        while not re.search(pattern, self.status):
            assert time.monotonic() < end, f"{pattern!r} was never said, but {self.status!r}"
            self.page.wait_for_timeout(30)

    def shows(self, what, expression, seconds=60):
        """Wait for something about the figure's traces and layout (JavaScript on `data`, `layout`) to be true."""
        script = f"(e) => {{ const data = e.data, layout = e.layout; return {expression}; }}"
        end = time.monotonic() + seconds
        while not self.find(".js-plotly-plot").evaluate(script):
            assert time.monotonic() < end, f"the figure never had {what}"
            self.page.wait_for_timeout(30)

    def overlaps(self):
        """What lies over something else, or sticks out."""
        return self.page.locator(self.root).evaluate(OVERLAPS)

    def shot(self, name):
        SHOTS.mkdir(parents=True, exist_ok=True)
        self.page.locator(self.root).screenshot(path=SHOTS / f"{name}.png")
