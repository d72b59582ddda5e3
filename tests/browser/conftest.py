"""A real JupyterLab on the loopback address, and the system's Chromium in front of it."""

import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.browser.pages import Notebook, Server, run_all
from tests.browser.panels import SETUP, Panel, write_run
from tests.browser.waits import open_page

ROOT = Path(__file__).resolve().parents[2]
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
TOKEN = "burlab"
# Without a network of its own: a browser that looks for updates would wait for them.
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


@pytest.fixture(scope="session")
def lab(tmp_path_factory):
    """The address of a JupyterLab whose root folder holds copies of the tutorials. Its server has Notebook 7, too."""
    if CHROMIUM is None:
        if os.environ.get("CI"):
            pytest.fail("Chromium is missing: CI needs it for the browser tests.")
        pytest.skip("no Chromium on this machine: install it to run the browser tests")
    folder = tmp_path_factory.mktemp("lab")
    shutil.copytree(ROOT / "notebooks", folder / "notebooks")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ip=127.0.0.1", f"--port={port}"]
    command += [f"--IdentityProvider.token={TOKEN}", f"--ServerApp.root_dir={folder / 'notebooks'}"]
    # So that tests can say what they mean, instead of clicking menus.
    command += ["--LabApp.expose_app_in_browser=True", "--JupyterNotebookApp.expose_app_in_browser=True"]
    silent = folder / "config" / "lab" / "user-settings" / "@jupyterlab" / "apputils-extension"
    silent.mkdir(parents=True)
    (silent / "notification.jupyterlab-settings").write_text('{"fetchNews": "false", "checkForUpdates": false}')
    environment = {**os.environ, "JUPYTER_CONFIG_DIR": str(folder / "config"), "JUPYTER_PLATFORM_DIRS": "1"}
    with (folder / "log").open("w") as log:
        server = subprocess.Popen(command, env=environment, stdout=log, stderr=subprocess.STDOUT)
        try:
            _wait_for(port, server, folder / "log")
            yield f"http://127.0.0.1:{port}/lab"
        finally:
            server.terminate()
            server.wait(120)


def _wait_for(port, server, log):
    for _ in range(600):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        if server.poll() is not None:
            break
        time.sleep(0.2)
    pytest.fail(f"JupyterLab did not start:\n{log.read_text()[-2000:]}")


@pytest.fixture(scope="module")  # not longer: while it lives, Playwright's event loop bars others from asyncio.run
def browser(lab):
    """Chromium without a window."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def open_notebook(lab, browser):
    """Open a new notebook of these cells, in a kernel of its own, and run the first of them, or so many."""
    opened = []

    def open_cells(name, cells, run=1, classic=False):
        opened.append(Notebook(lab, TOKEN, browser, name, cells, classic))
        for cell in range(run):
            opened[-1].run(cell)
        return opened[-1]

    yield open_cells
    for one in opened:
        one.close()


@pytest.fixture(scope="module")
def panels(open_notebook):
    """A notebook for panels of runs: `write_run` puts one into its second cell."""
    return open_notebook("panel", [SETUP, write_run(), "run", "pass"])


@pytest.fixture
def panel(panels, request):
    """A panel of a new run at step 0; its parameter is the cell that makes it."""
    panels.write(1, getattr(request, "param", write_run()))
    panels.run(1)
    fresh = Panel(panels)
    fresh.says("Ready at step 0")
    yield fresh
    panels.kernel("run.pause()")


@pytest.fixture
def notebook(lab, browser):
    """Open a notebook, run all its cells, and give the page when the last one is done."""
    pages = {}

    def run(name):
        page = pages[name] = open_page(browser, viewport={"width": 1280, "height": 2000})
        page.goto(f"{lab}/tree/{name}.ipynb?token={TOKEN}&reset", wait_until="load")
        assert run_all(page) == []
        return page

    yield run
    for name, page in pages.items():
        page.close()
        Server(lab, TOKEN).shut_down(f"{name}.ipynb")
