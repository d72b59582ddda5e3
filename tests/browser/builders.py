"""The builder of graphs as a page shows it: blocks by their keys, fields by their names, and waits for what it says."""

import json

from tests.browser.views import View
from tests.browser.waits import rests

STICKING = """root => {
  const frame = root.getBoundingClientRect();
  return [...root.querySelectorAll('button, input, select, p, .burlab-canvas, .burlab-note')]
    .filter(e => e.getClientRects().length && !e.closest('.burlab-kinds'))
    .filter(e => { const a = e.getBoundingClientRect(); return a.left < frame.left - 1 || a.right > frame.right + 1; })
    .map(e => e.ariaLabel || e.textContent.slice(0, 20));
}"""
STATE = """print(json.dumps({k: [x.kind, x.label, x.operands, None if (v := b.result.values.get(k)) is None
    else np.asarray(v).tolist()] for k, x in b.document.blocks.items()}), end='')"""


SETUP = "import json\nimport numpy as np\nimport burlab as bl"


def product(end):
    """The cell of a builder of tanh(x) y: x (1) above y (2), tanh (3), and the product (4) at the place `end`."""
    made = "b = bl.GraphBuilder(lambda x, y: np.tanh(x) * y, 2.0, 5.0)\n"
    return f"{made}b.move({{1: (0, 0), 2: (0, 120), 3: (160, 0), 4: {end}}})\nb"


def begun(notebook, cell):
    """Run the cell of a builder anew, with nothing of what a test before it has left."""
    notebook.kernel("from burlab.widgets.builder import notebook_cells; notebook_cells.forget()")
    notebook.write(1, cell)
    notebook.run(1)
    builder = Builder(notebook)
    builder.waits(4)
    builder.settles()
    return builder


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
        self.pull(*(self.centre(place) for place in (source, target)))

    def pull(self, source, target):
        """Drag with the mouse from one point of the page to another."""
        (x, y), (u, v) = source, target
        self.page.mouse.move(x, y)
        self.page.mouse.down()
        for part in (0.3, 0.6, 1.0):
            self.page.mouse.move(x + part * (u - x), y + part * (v - y))
        self.page.mouse.up()

    def press(self, key):
        """Press a key on the canvas: what runs in the notebook takes the focus."""
        self.find(".burlab-surface").press(key)

    def free(self):
        """A point of the canvas without a block."""
        box = self.find(".burlab-surface").bounding_box()
        return box["x"] + box["width"] - 40, box["y"] + 40

    def settles(self):
        """Wait until the view and all blocks are at rest."""
        blocks = f"[...document.querySelectorAll({f'{self.root} .react-flow__node'!r})].map(e => e.style.transform)"
        rests(self.page, f"[{self.view}, {blocks}]")

    def chosen(self):
        """Keys of the selected blocks, once the page has drawn them."""
        rests(self.page)
        keys = "blocks => blocks.map(block => Number(block.dataset.key))"
        return self.find(".burlab-block.burlab-chosen").evaluate_all(keys)

    def places(self):
        """Centres of the blocks in the kernel, by key."""
        told = "print(json.dumps({k: x.place for k, x in b.document.blocks.items()}), end='')"
        return {int(k): v for k, v in json.loads(self.notebook.kernel(told)).items()}

    def click_wire(self, key, port, **options):
        """Click on the middle of a wire; gives where that is."""
        x, y = self.evaluate(
            f"""e => {{ const path = e.querySelector('[data-id="{key}-{port}"] path');
            const at = path.getPointAtLength(path.getTotalLength() / 2).matrixTransform(path.getScreenCTM());
            return [at.x, at.y]; }}"""
        )
        self.page.mouse.click(x, y, **options)
        return x, y

    def centre(self, selector):
        box = self.find(selector).first.bounding_box()
        return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

    def write(self, label, text):
        """Replace the text of a field of the selected block, key by key."""
        self.find(f".burlab-inspector input[aria-label='{label}']").click()
        self.page.keyboard.press("Control+A")
        self.page.keyboard.type(text)
        self.page.keyboard.press("Enter")
