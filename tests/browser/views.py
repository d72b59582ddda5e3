"""A widget as a page shows it: what all of them have in common, and pictures of it."""

import os
import re
from pathlib import Path

from tests.browser.waits import until

SHOTS = Path(os.environ.get("BURLAB_SCREENSHOTS", "build/screenshots"))


_LISTEN = """e => {
  e.heard = [];
  new MutationObserver(() => e.heard.push(e.textContent)).observe(e, { childList: true });
}"""


def shot(what, name, **options):
    """Keep a picture of a page, or of a part of it."""
    what.screenshot(path=SHOTS / f"{name}.png", **options)


class View:
    """The widget that a cell shows. kind: the class of its element."""

    kind = ""

    def __init__(self, notebook, cell=1):
        self.notebook, self.page = notebook, notebook.page
        self.cell = f".jp-Notebook .jp-Cell[data-windowed-list-index='{cell}']"
        self.root = f"{self.cell} .{self.kind}"
        self.page.wait_for_selector(f"{self.root}[data-ready]")

    def find(self, selector):
        return self.page.locator(f"{self.root} {selector}")

    def until(self, so, why):
        """Wait for something to be so. why: what is said where it never is, or a function that gives it."""
        until(self.page, so, why)

    def evaluate(self, script):
        """Return the result of a JavaScript function of the element."""
        return self.page.locator(self.root).evaluate(script)

    def shot(self, name):
        shot(self.page.locator(self.root), name)


class Steered(View):
    """One with a bar of buttons and a status line."""

    def press(self, intent):
        self.find(f"[data-intent={intent}]").click()

    @property
    def status(self):
        return self.find(".burlab-status span").inner_text()

    def listen(self):
        """Note what is said to those who do not see it; gives a function that gives all of it."""
        voice = self.find(".burlab-voice")
        assert self.evaluate(
            "e => [...e.querySelectorAll('[role=status], [aria-live]')].map(one => one.className)"
        ) == ["burlab-voice"]
        voice.evaluate(_LISTEN)
        return lambda: voice.evaluate("e => e.heard")

    def says(self, pattern):
        """Wait for the status line to match."""
        self.until(lambda: re.search(pattern, self.status), lambda: f"{pattern!r} was never said: {self.status}")
