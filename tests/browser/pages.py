"""A notebook in JupyterLab as a test drives it: by the application's own commands, which say when they are done."""

import json
import logging
from urllib.request import Request, urlopen

from tests.browser.waits import open_page, until

_APP = "window.jupyterapp"
_NOTEBOOK = f"{_APP}.shell.currentWidget.content"
# What is asked of a kernel while it connects can be lost.
_CONNECTED = f"""async () => {{
  const session = {_APP}.shell.currentWidget.sessionContext;
  await session.ready;
  await session.session.kernel.info;
  while (session.session.kernel.connectionStatus !== "connected") await new Promise(done => setTimeout(done, 50));
  await session.session.kernel.requestExecute({{ code: "None", silent: true }}).done;
}}"""
# Whatever else the page shows, as a workspace that was saved before a notebook was closed, goes first.
_OPEN = f"""async path => {{
  for (const widget of [...{_APP}.shell.widgets("main")]) widget.dispose();
  await {_APP}.commands.execute("apputils:change-theme", {{ theme: "JupyterLab Light" }});
  await {_APP}.commands.execute("docmanager:open", {{ path, factory: "Notebook" }});
}}"""
_CLOSE = "() => window.jupyterapp?.shell.currentWidget?.dispose()"  # without asking whether to save it
SIZE = {"width": 1280, "height": 1500}


def connect(page):
    """Wait until a page shows its notebook, and what is asked of the kernel gets there."""
    page.wait_for_selector(".jp-Notebook .jp-Cell:visible")
    page.wait_for_selector(".jp-Notebook-ExecutionIndicator[data-status=idle]:visible")
    page.evaluate(_CONNECTED)


def _begin(page, command):
    """Carry out a command of JupyterLab without waiting for it: `finished` in the page says when it is done."""
    done = "() => { window.finished = true; }"
    page.evaluate(f"() => {{ window.finished = false; {_APP}.commands.execute('{command}').finally({done}); }}")


def run_all(page, seconds=600):
    """Run all cells of the notebook that a page shows, and wait for the last one; gives the errors they raised."""
    connect(page)
    _begin(page, "notebook:run-all-cells")
    page.wait_for_function("window.finished", timeout=seconds * 1000)
    outputs = page.evaluate(f"() => {_NOTEBOOK}.widgets.flatMap(cell => cell.model.outputs?.toJSON() ?? [])")
    return ["\n".join(output["traceback"]) for output in outputs if output["output_type"] == "error"]


class Lab:
    """A server of JupyterLab and the page that shows its notebooks. root: its address."""

    def __init__(self, root, token, browser):
        self._root, self._token, self._browser = root, token, browser
        self._page = None
        self.requests = []

    def open(self, name):
        """The page, which shows this notebook and no other, as large and as light as it is for a new user."""
        if self._page is not None and (left := self._page.locator(".jp-Dialog")).count():
            logging.warning("A dialog was left, which takes the focus from all else: %r", left.first.inner_text())
            self._page.close()
            self._page = None
        if self._page is None:
            self._page = self.new_page()
        page = self._page
        page.set_viewport_size(SIZE)
        page.mouse.move(0, 0)
        if page.evaluate(f"() => Boolean({_APP})"):
            page.evaluate(_OPEN, f"{name}.ipynb")
        else:
            page.goto(self.address(f"lab/tree/{name}.ipynb"), wait_until="load")
        connect(page)
        page.evaluate(f"() => {_APP}.shell.collapseLeft()")
        return page

    def new_page(self):
        """A page whose requests are noted."""
        page = open_page(self._browser, viewport=SIZE)
        page.on("request", lambda request: self.requests.append(request.url))
        return page

    def address(self, path):
        """Where a new page shows a notebook, without what others have left open."""
        return f"{self._root}/{path}?token={self._token}&reset"

    def put(self, name, cells):
        """Write a notebook of these cells."""
        spec = {"name": "python3", "display_name": "Python 3", "language": "python"}
        blank = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
        content = {
            "cells": [{**blank, "source": source, "id": f"cell-{k}"} for k, source in enumerate(cells)],
            "metadata": {"kernelspec": spec},
            "nbformat": 4,
            "nbformat_minor": 5,
        }
        self.request(f"contents/{name}.ipynb", "PUT", {"type": "notebook", "content": content})

    def request(self, path, method="GET", body=None):
        """Its answer to a request."""
        data = None if body is None else json.dumps(body).encode()
        return urlopen(Request(f"{self._root}/api/{path}?token={self._token}", data, method=method))

    def shut_down(self, notebook):
        """End the kernel of a notebook: what it computes takes from the next test."""
        for session in json.load(self.request("sessions")):
            if session["path"] == notebook:
                self.request(f"sessions/{session['id']}", "DELETE")


class Notebook:
    """A page that shows one notebook, in JupyterLab or in Notebook 7. Cells are numbered from 0."""

    def __init__(self, lab, name, classic=False):
        self._lab, self._name, self._classic = lab, name, classic
        if classic:
            self.page = lab.new_page()
            self.page.goto(lab.address(f"notebooks/{name}.ipynb"), wait_until="load")
            connect(self.page)
        else:
            self.page = lab.open(name)

    def command(self, name, **options):
        """Carry out one of JupyterLab's commands, and wait for it."""
        self.page.evaluate(f"([name, options]) => {_APP}.commands.execute(name, options)", [name, options])

    def run(self, cell):
        """Run a cell and wait for it; gives the text that it printed."""
        self._go_to(cell)
        self.command("notebook:run-cell")
        return self.printed(cell)

    def start(self, cell):
        """Run a cell without waiting for it."""
        self._go_to(cell)
        _begin(self.page, "notebook:run-cell")

    def finish(self):
        """Wait for the cell that was started last. The light of the kernel says less: it is idle after any message."""
        self.page.wait_for_function("window.finished")

    def printed(self, cell):
        """The text that a cell has printed so far. Fails where it has raised an error."""
        outputs = self.page.evaluate(f"k => {_NOTEBOOK}.widgets[k].model.outputs.toJSON()", cell)
        errors = ["\n".join(output["traceback"]) for output in outputs if output["output_type"] == "error"]
        assert not errors, errors[0]
        return "".join("".join(output.get("text", "")) for output in outputs)

    def write(self, cell, source):
        """Replace the text of a cell."""
        self.page.evaluate(f"([k, text]) => {_NOTEBOOK}.widgets[k].model.sharedModel.setSource(text)", [cell, source])

    @property
    def cells(self):
        """The texts of all cells."""
        return self.page.evaluate(f"() => {_NOTEBOOK}.widgets.map(cell => cell.model.sharedModel.getSource())")

    def kernel(self, source):
        """Run code in the last cell; gives what it printed."""
        last = self.page.evaluate(f"() => {_NOTEBOOK}.widgets.length") - 1
        self.write(last, source)
        return self.run(last)

    def prints(self, source, expected):
        """Wait until code in the last cell prints this."""
        until(self.page, lambda: self.kernel(source) == expected, f"{source} never printed {expected!r}")

    def reload(self):
        """Save, and load the page anew."""
        self.command("docmanager:save")
        self.page.reload(wait_until="load")
        connect(self.page)

    def saved(self):
        """Save, and give what the file holds."""
        self.command("docmanager:save")
        return json.load(self._lab.request(f"contents/{self._name}.ipynb"))["content"]

    def picture(self, cell):
        """The SVG that the file holds in a cell, once saved."""
        outputs = [output["data"] for output in self.saved()["cells"][cell]["outputs"]]
        return "".join("".join(data.get("image/svg+xml", "")) for data in outputs)

    def restart(self):
        """Restart the kernel, and load the page anew."""
        self.command("docmanager:save")
        self.page.evaluate(f"async () => {{ await {_APP}.shell.currentWidget.sessionContext.restartKernel(); }}")
        self.reload()

    def distrust(self):
        """Save, and load what somebody else has sent: other text, without a signature of this user."""
        content = self.saved()
        for cell in content["cells"]:
            cell["source"] += "  # theirs"
            cell["metadata"] = {}
        self._lab.request(f"contents/{self._name}.ipynb", "PUT", {"type": "notebook", "content": content})
        self.page.evaluate(f"async () => {{ await {_APP}.shell.currentWidget.sessionContext.restartKernel(); }}")
        self.page.reload(wait_until="load")
        connect(self.page)

    def close(self):
        """Close the notebook and shut its kernel down."""
        if self._classic:
            self.page.close()
        else:
            self.page.evaluate(_CLOSE)
        self._lab.shut_down(f"{self._name}.ipynb")

    def _go_to(self, cell):
        self.page.evaluate(f"k => {{ {_NOTEBOOK}.activeCellIndex = k; }}", cell)
