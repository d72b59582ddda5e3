"""Common parts of the panels of races and of trees of branches, as a page shows them."""

from tests.browser.views import Steered
from tests.browser.waits import lasting, rests

_OUTSIDE = """root => [...root.querySelectorAll('button, select, input, td, li, canvas')]
  .filter(e => e.getClientRects().length)
  .filter(e => e.getBoundingClientRect().right > root.getBoundingClientRect().right + 1).map(e => e.outerHTML)"""


class LivePanel(Steered):
    """The live view that a cell shows."""

    def type(self, label, text):
        """Replace the text of a field key by key, and press Enter."""
        self.find(f"[aria-label='{label}']").click()
        self.page.keyboard.press("Control+A")
        self.page.keyboard.type(text)
        self.page.keyboard.press("Enter")

    def curves(self, numbers):
        """Of each curve with a label this label, and numbers: an expression of JavaScript on the curve `c`."""
        script = f"e => e.chart.parts[0].curves.filter(c => c.label).map(c => [c.label, {numbers}])"
        return self.find(".burlab-live-chart").evaluate(script)

    def fits(self, name, width, theme, act):
        """Take a picture in a page of a width and theme after doing something; gives what sticks out of the panel."""
        self.notebook.command("apputils:change-theme", theme=f"JupyterLab {theme}")
        self.page.set_viewport_size({"width": width, "height": 1400})
        act()
        self.page.wait_for_function(f"document.body.dataset.jpThemeName === 'JupyterLab {theme}'")
        rests(self.page)
        outside = lasting(self.page, lambda: self.evaluate(_OUTSIDE))
        self.shot(f"{name}-{width}-{theme.lower()}")
        self.page.set_viewport_size({"width": 1280, "height": 1500})
        self.notebook.command("apputils:change-theme", theme="JupyterLab Light")
        return outside
