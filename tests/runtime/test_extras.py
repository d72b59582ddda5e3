"""Parts of packages that are not needed at import are imported at first use."""

import subprocess
import sys

import pytest

from burlab.runtime.extras import postponed

pytest.importorskip("plotly")

PANEL = """
import sys, burlab.plots.style as plots
assert plots.go.FigureWidget and plots.go.Figure
print([name for name in ("nbformat", "jsonschema", "rfc3987_syntax") if name in sys.modules])
"""
AFTER = """
from importlib.metadata import version
import plotly.io as pio
pio.renderers.default = "notebook"
plots.go.Figure(plots.go.Scatter(y=[1, 2])).show()  # asks nbformat for its version
assert "nbformat" in sys.modules
import nbformat
assert nbformat.__version__ == version("nbformat") and nbformat.v4.new_notebook().cells == []
"""


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()[0]


def test_the_panel_reads_no_grammar_of_web_addresses():
    assert run(PANEL) == "[]"


def test_plotly_finds_nbformat_when_it_shows_a_figure():
    pytest.importorskip("nbformat")
    run(PANEL + AFTER)


def test_everyone_else_imports_the_module_itself(monkeypatch):
    monkeypatch.delitem(sys.modules, "colorsys", raising=False)  # other tests may have met it
    with postponed("sndhdr_of_the_future"):
        pass  # what is not installed stays away
    with postponed("colorsys"):
        import colorsys as meanwhile
    assert meanwhile.rgb_to_hsv(1, 0, 0) == (0, 1, 1)
    import colorsys

    assert colorsys is not meanwhile
    assert sys.modules["colorsys"] is colorsys
    with postponed("colorsys"):
        import colorsys as there
    assert there is colorsys
