"""Front ends that are not of Jupyter's two applications: marimo, and pages of Voila."""

import os
import re
import shutil
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import nbformat
import pytest

from tests.browser.views import shot
from tests.browser.waits import PATIENCE

pytestmark = [pytest.mark.browser, pytest.mark.full]
BIN = Path(sys.executable).parent
SETUP = """import numpy as np
import burlab as bl
f = bl.problems.rosenbrock()
run = bl.minimize(f, f.start, bl.optim.Adam(1e-2), steps=300)"""
RACE = 'race = bl.race(f, f.start, {"GD": bl.optim.GD(1e-3), "Adam": bl.optim.Adam(1e-2)})'
MARIMO = """import marimo

app = marimo.App()


@app.cell
def _():
    import numpy as np
    import burlab as bl
    f = bl.problems.rosenbrock()
    run = bl.minimize(f, f.start, bl.optim.Adam(1e-2), steps=300)
    return bl, f, np, run


@app.cell
def _(run):
    run
    return


@app.cell
def _(bl, np):
    bl.GraphView(lambda x: np.sum(np.tanh(x) ** 2), np.ones(3))
    return


@app.cell
def _(bl, f):
    bl.analysis.landscape(f, f.start)
    return
"""


@contextmanager
def serving(command, folder):
    """Run a server, its port at the end of its command, and give its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "JUPYTER_CONFIG_DIR": str(folder / "config")}
    with (folder / "log").open("w") as log:
        server = subprocess.Popen(
            [*command, f"--port={port}"], cwd=folder, env=environment, stdout=log, stderr=subprocess.STDOUT
        )
        try:
            end = time.monotonic() + PATIENCE
            while time.monotonic() < end and server.poll() is None:
                with socket.socket() as probe:
                    if probe.connect_ex(("127.0.0.1", port)) == 0:
                        break
                time.sleep(0.2)
            else:
                pytest.fail(f"{command[0]} did not start:\n{(folder / 'log').read_text()[-2000:]}")
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()
            server.wait(120)


@pytest.fixture
def page(browser):
    page = browser.new_page(viewport={"width": 1366, "height": 768})
    page.set_default_timeout(PATIENCE * 1000)
    yield page
    page.close()


def plays(page):
    """Play the first panel of a page on from step 300, and pause it."""
    panel = page.locator(".burlab-panel[data-ready]").first
    panel.get_by_text("Paused at step 300").first.wait_for()
    panel.get_by_role("button", name="Play").click()
    panel.get_by_text(re.compile(r"Running: step \d,\d{3}")).first.wait_for()
    panel.get_by_role("button", name="Pause").click()
    panel.get_by_text(re.compile(r"Paused at step \d+,\d{3}")).first.wait_for()


def last_drawn_step(page):
    """Return the last step that the first panel's chart shows."""
    return page.locator(".burlab-panel .burlab-chart").first.evaluate("el => el.chart.parts[0].curves[0].x.at(-1)")


@pytest.mark.skipif(shutil.which("marimo", path=str(BIN)) is None, reason="marimo is not installed: make peers")
def test_a_panel_plays_in_marimo(page, tmp_path):
    (tmp_path / "page.py").write_text(MARIMO)
    command = [str(BIN / "marimo"), "run", "page.py", "--headless", "--host=127.0.0.1", "--no-token"]
    with serving(command, tmp_path) as address:
        page.goto(address)
        plays(page)
        assert last_drawn_step(page) > 300
        page.locator(".burlab-graphview[data-ready] .burlab-box").first.wait_for()
        page.locator(".burlab-chart-view").first.wait_for()
        shot(page, "marimo-panel")


@pytest.mark.skipif(shutil.which("voila", path=str(BIN)) is None, reason="Voila is not installed: make peers")
def test_panels_in_a_layout_of_a_voila_page(page, tmp_path):
    cells = [
        SETUP,
        f"import ipywidgets\n{RACE}\nipywidgets.VBox([run.widget, race.widget])",
        "bl.analysis.landscape(f, f.start)",
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    nbformat.write(notebook, tmp_path / "page.ipynb")
    with serving([str(BIN / "voila"), "page.ipynb", "--no-browser", "--Voila.ip=127.0.0.1"], tmp_path) as address:
        page.goto(address)
        plays(page)
        assert last_drawn_step(page) > 300
        page.get_by_text("GD").first.wait_for()
        page.locator(".burlab-chart-view").first.wait_for()
        assert page.locator(".burlab-kept:visible").count() == 0
        shot(page, "voila-page")
