"""Notebooks that are executed without a browser: the file's pictures show where everything has come to."""

import html
import re
from base64 import b64decode

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")

SETUP = """
import time
import numpy as np
import burlab as bl
f = bl.problems.rosenbrock()
"""
RUN = "bl.minimize(f, f.start, bl.optim.Momentum(1e-4, mu=0.9), progress=False)"
RACE = 'bl.race(f, f.start, {"GD": bl.optim.GD(1e-3), "Adam": bl.optim.Adam(1e-2)})'
WATCH = """
with bl.watch("halving", factor=0.5) as w:
    x = 1.0
    for step in range(40):
        w.log(step, value=x)
        x *= w.factor
"""
# The cells of a notebook, by cell that shows something the words that its picture has in the end.
NOTEBOOKS = {
    "a run that is stepped later": (
        [SETUP, f"run = {RUN}\nrun", "run.step(123)", "run.step(200)"],
        {1: "Paused at step 323"},
    ),
    "a run in the last cell": ([SETUP, f"run = {RUN}", "run.step(77)\nrun"], {2: "Paused at step 77"}),
    "a run that is sought": (
        [SETUP, f"run = {RUN}\nrun", "run.step(90)", "run.seek(30)"],
        {1: "At step 30 of 90"},
    ),
    "a watch in the last cell": ([SETUP, WATCH], {1: "step 40|39"}),
    "a watch before more of the cell": ([SETUP, WATCH + "time.sleep(1)"], {1: "step 40|39"}),
    "a watch that raises": (
        [
            SETUP,
            "try:\n"
            + "\n".join("    " + line for line in WATCH.split("\n"))
            + "\n        if step == 7: raise KeyError\nexcept KeyError: pass",
        ],
        {1: "step 8|7"},
    ),
    "a race": ([SETUP, f"race = {RACE}\nrace", "race.step(150)"], {1: "at step 149|GD"}),
    "branches": (
        [SETUP, f"run = {RUN}\nrun.step(50)\ntree = bl.branches(run)\ntree", 'tree.fork("A", mu=0.5).run.step(60)'],
        {1: "B"},
    ),
    "a run, and a watch after it": (
        [SETUP, f"run = {RUN}\nrun", WATCH, "run.step(64)"],
        {1: "Paused at step 64", 2: "step 40|39"},
    ),
    "a chart that is set anew": (
        [
            SETUP,
            "landscape = bl.analysis.landscape(f, f.start, resolution=11)\nview = bl.LandscapeView(f, f.start)\nview",
        ],
        {1: "<image"},
    ),
    "a builder": ([SETUP, "b = bl.GraphBuilder(lambda x: np.tanh(x), 0.5)\nb", 'b.add("exp")'], {1: "exp"}),
}


def pictures(output):
    """The words of a picture, from both of its forms."""
    data = output.get("data", {})
    found = ["".join(data["image/svg+xml"])] if "image/svg+xml" in data else []
    packed = re.findall(r"base64,([A-Za-z0-9+/=]+)", "".join(data.get("text/html", "")))
    return [html.unescape(text) for text in (*found, *(b64decode(one).decode() for one in packed))]


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=() if k < 4 else pytest.mark.full) for k, n in enumerate(NOTEBOOKS)]
)
def test_pictures_show_the_end(name, tmp_path):
    cells, expected = NOTEBOOKS[name]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in cells])
    client = nbclient.NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(tmp_path)}})
    client.execute()
    for cell, words in expected.items():
        found = [text for output in notebook.cells[cell].outputs for text in pictures(output)]
        assert len(found) == 2, "two forms of one picture"
        assert found[0] == found[1]
        assert re.search(words, found[0]), re.findall(r">([^<>]+)</t", found[0])
