"""The parts of pages: plain files of JavaScript, joined to the one module that a widget sends to the browser.

The files import nothing from each other and no step builds them. Each holds functions, whose names are those of the
whole module; the last one ends with `export default`.
"""

from pathlib import Path

WIDGETS = Path(__file__).parent
_CHART = "scales theme data lines map plot readout gestures parts export chart".split()
CHART = tuple(f"chart/{name}.js" for name in _CHART)
"""Files of `WIDGETS` that draw a chart: `drawChart(element, data, options)`, with or without a kernel."""
CHART_STYLE = "chart/chart.css"


def module(folder: Path, *names: str) -> str:
    """The text of an ES module: files of a folder, one after another. A name may lead to another folder.

    >>> module(WIDGETS / "panel", "../surface/surface.js").splitlines()[0]
    '// surface.js'
    """
    return "\n".join(f"// {Path(name).name}\n{(folder / name).read_text(encoding='utf-8')}" for name in names)


def styles(*names: str) -> str:
    """The text of style sheets of `WIDGETS`, one after another.

    >>> "{" in styles(CHART_STYLE)
    True
    """
    return "\n".join((WIDGETS / name).read_text(encoding="utf-8") for name in names)
