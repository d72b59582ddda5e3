"""A real JupyterLab on the loopback address, and the system's Chromium in front of it."""

import asyncio
import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.browser.pages import Lab, Notebook, run_all
from tests.browser.panels import FORGET_FOLDS, SETUP, Panel, write_run
from tests.browser.waits import PATIENCE

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


def pytest_collection_modifyitems(items):
    """A test may wait for several things, each as long as a busy machine takes: see `waits.PATIENCE`."""
    for item in items:
        if item.get_closest_marker("browser"):
            item.add_marker(pytest.mark.timeout(6 * PATIENCE))


@pytest.fixture(scope="session")
def chromium():
    """Chromium without a window."""
    if CHROMIUM is None:
        if os.environ.get("CI"):
            pytest.fail("Chromium is missing: CI needs it for the browser tests.")
        pytest.skip("no Chromium on this machine: install it to run the browser tests")
    from playwright.sync_api import sync_playwright

    playwright = sync_playwright().start()
    chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
    loop = asyncio.get_running_loop()
    asyncio._set_running_loop(None)
    yield chromium, loop
    asyncio._set_running_loop(loop)
    chromium.close()
    playwright.stop()


@pytest.fixture(scope="module")
def browser(chromium):
    """The same, for the tests of a file: while Playwright's event loop counts as running, nobody can `asyncio.run`."""
    browser, loop = chromium
    asyncio._set_running_loop(loop)
    yield browser
    asyncio._set_running_loop(None)


@pytest.fixture(scope="session")
def server(chromium, tmp_path_factory):
    """The address of a server whose root folder holds copies of the tutorials. It has JupyterLab and Notebook 7."""
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
    # Other tests run beside these: threads of BLAS that wait for cores would spin on them.
    environment = {
        **os.environ,
        "OPENBLAS_NUM_THREADS": "1",
        "JUPYTER_CONFIG_DIR": str(folder / "config"),
        "JUPYTER_PLATFORM_DIRS": "1",
    }
    with (folder / "log").open("w") as log:
        server = subprocess.Popen(command, env=environment, stdout=log, stderr=subprocess.STDOUT)
        try:
            _wait_for(port, server, folder / "log")
            yield f"http://127.0.0.1:{port}"
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


@pytest.fixture(scope="session")
def lab(server, chromium):
    """One page of JupyterLab for all notebooks, one after another: to load it takes longer than most tests."""
    return Lab(server, TOKEN, chromium[0])


@pytest.fixture(scope="module")
def open_notebook(lab, browser):
    """Open a new notebook of these cells, in a kernel of its own, and run the first of them, or so many.

    The one before it is closed.
    """
    opened = []

    def open_cells(name, cells, run=1, classic=False):
        while opened:
            opened.pop().close()
        lab.put(name, cells)
        opened.append(Notebook(lab, name, classic))
        for cell in range(run):
            opened[-1].run(cell)
        return opened[-1]

    yield open_cells
    while opened:
        opened.pop().close()


@pytest.fixture(scope="module")
def panels(open_notebook):
    """A notebook for panels of runs: `write_run` puts one into its second cell."""
    return open_notebook("panel", [SETUP, write_run(), "run", "pass"])


@pytest.fixture
def panel(panels, request):
    """A panel of a new run at step 0, folded as at first; its parameter is the cell that makes it."""
    panels.page.evaluate(FORGET_FOLDS)
    panels.write(1, getattr(request, "param", write_run()))
    panels.run(1)
    fresh = Panel(panels)
    fresh.says("Ready at step 0")
    yield fresh
    panels.kernel("run.pause()")


@pytest.fixture
def tutorial(lab, browser):
    """Open a notebook that is there, run all its cells, and give the page when the last one is done."""
    opened = []

    def run(name):
        opened.append(Notebook(lab, name))
        assert run_all(opened[-1].page) == []
        return opened[-1].page

    yield run
    for one in opened:
        one.close()
