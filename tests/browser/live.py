"""What the panels of a race and of a tree of branches have in common, as a page shows them."""

import re

from tests.browser.panels import SHOTS
from tests.browser.waits import lasting, rests, until

_OUTSIDE = """root => [...root.querySelectorAll('button, select, input, td, li, canvas')]
  .filter(e => e.getClientRects().length)
  .filter(e => e.getBoundingClientRect().right > root.getBoundingClientRect().right + 1).map(e => e.outerHTML)"""


class LivePanel:
    """The live view that a cell shows. kind: the class of its element."""

    kind = ""

    def __init__(self, notebook, cell=1):
        self.notebook, self.page = notebook, notebook.page
        self.root = f".jp-Notebook .jp-Cell[data-windowed-list-index='{cell}'] .{self.kind}"
        self.page.wait_for_selector(f"{self.root}[data-ready]")

    def find(self, selector):
        return self.page.locator(f"{self.root} {selector}")

    def press(self, intent):
        self.find(f"[data-intent={intent}]").click()

    def type(self, label, text):
        """Replace the text of a field key by key, and press Enter."""
        self.find(f"[aria-label='{label}']").click()
        self.page.keyboard.press("Control+A")
        self.page.keyboard.type(text)
        self.page.keyboard.press("Enter")

    @property
    def status(self):
        return self.find(".burlab-status span").inner_text()

    def says(self, pattern):
        """Wait for the status line to match."""
        self.until(lambda: re.search(pattern, self.status), lambda: f"{pattern!r} was never said: {self.status}")

    def until(self, so, why):
        """Wait for something to be so. why: what is said where it never is, or a function that gives it."""
        until(self.page, so, why)

    def curves(self, numbers):
        """Of each curve with a label this label, and numbers: an expression of JavaScript on the curve `c`."""
        script = f"e => e.chart.parts[0].curves.filter(c => c.label).map(c => [c.label, {numbers}])"
        return self.find(".burlab-live-chart").evaluate(script)

    def shot(self, name):
        SHOTS.mkdir(parents=True, exist_ok=True)
        self.page.locator(self.root).screenshot(path=SHOTS / f"{name}.png")

    def fits(self, name, width, theme, act):
        """Take a picture in a page of a width and theme after doing something; gives what sticks out of the panel."""
        self.notebook.command("apputils:change-theme", theme=f"JupyterLab {theme}")
        self.page.set_viewport_size({"width": width, "height": 1400})
        act()
        self.page.wait_for_function(f"document.body.dataset.jpThemeName === 'JupyterLab {theme}'")
        rests(self.page)
        outside = lasting(self.page, lambda: self.page.locator(self.root).evaluate(_OUTSIDE))
        self.shot(f"{name}-{width}-{theme.lower()}")
        self.page.set_viewport_size({"width": 1280, "height": 1500})
        self.notebook.command("apputils:change-theme", theme="JupyterLab Light")
        return outside
