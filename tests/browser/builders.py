"""The builder of graphs as a page shows it: blocks by their keys, fields by their names, and waits for what it says."""

import json

from tests.browser.views import View

STICKING = """root => {
  const frame = root.getBoundingClientRect();
  return [...root.querySelectorAll('button, input, select, p, .burlab-canvas, .burlab-note')]
    .filter(e => e.getClientRects().length && !e.closest('.burlab-kinds'))
    .filter(e => { const a = e.getBoundingClientRect(); return a.left < frame.left - 1 || a.right > frame.right + 1; })
    .map(e => e.ariaLabel || e.textContent.slice(0, 20));
}"""
STATE = """print(json.dumps({k: [x.kind, x.label, x.operands, None if (v := b.result.values.get(k)) is None
    else np.asarray(v).tolist()] for k, x in b.document.blocks.items()}), end='')"""


class Builder(View):
    """The builder that a cell shows."""

    kind = "burlab-builder"

    def state(self):
        """Blocks of the kernel's builder, a row each, by key."""
        return {int(k): v for k, v in json.loads(self.notebook.kernel(STATE)).items()}

    def waits(self, count):
        """Wait until the page shows so many blocks."""
        self.page.wait_for_selector(f"{self.root}[data-ready='{count}']")

    @property
    def view(self):
        """An expression of JavaScript: how the graph lies on its surface."""
        return f"document.querySelector({f'{self.root} .react-flow__viewport'!r}).style.transform"

    @property
    def scale(self):
        """Pixels per unit of the graph."""
        return float(self.page.evaluate(self.view).split("scale(")[1][:-1])

    def says(self, text):
        self.page.wait_for_function(
            "([root, text]) => document.querySelector(root + ' .burlab-note').textContent.includes(text)",
            arg=[self.root, text],
        )

    def shows(self, key, text):
        """Wait until a block has these words in it."""
        self.page.wait_for_function(
            "([root, key, text]) => (document.querySelector(`${root} [data-key='${key}']`)?.textContent ?? '')"
            ".includes(text)",
            arg=[self.root, str(key), text],
        )

    def block(self, key):
        return self.find(f"[data-key='{key}']")

    def click(self, key, **options):
        """Click into a block: left of its middle, where no argument is."""
        self.block(key).click(position={"x": 22, "y": 12}, **options)

    def add(self, kind):
        """Search for a kind and press Enter."""
        self.find("[aria-label='search operations']").click()
        self.page.keyboard.type(kind)
        self.page.keyboard.press("Enter")

    def drag(self, source, target):
        """Drag with the mouse from the middle of one thing to that of another."""
        (x, y), (u, v) = (self.centre(place) for place in (source, target))
        self.page.mouse.move(x, y)
        self.page.mouse.down()
        for part in (0.3, 0.6, 1.0):
            self.page.mouse.move(x + part * (u - x), y + part * (v - y))
        self.page.mouse.up()

    def centre(self, selector):
        box = self.find(selector).first.bounding_box()
        return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

    def write(self, label, text):
        """Replace the text of a field of the selected block, key by key."""
        self.find(f".burlab-inspector input[aria-label='{label}']").click()
        self.page.keyboard.press("Control+A")
        self.page.keyboard.type(text)
        self.page.keyboard.press("Enter")
