"""How results of `burlab.analysis` look in a notebook: as their charts, which one can zoom and read values from."""

from typing import Any

from burlab.charts.svg import svg
from burlab.widgets import still
from burlab.widgets.formatters import as_displays

_CHARTS = {"landscape": "Landscape", "spectrum": "Spectrum", "samples": "Samples", "boundary": "Boundary"}


def show(found: Any) -> None:
    """Display the chart of a result."""
    from burlab.widgets.chart.view import ChartView

    show_chart(ChartView(found.chart()))


def show_chart(view: Any) -> None:
    """Display a `ChartView`."""
    drawn = [view.chart]

    def settle(_end: float) -> bool:
        """Whether another chart was set."""
        before, drawn[0] = drawn[0], view.chart
        return before is not view.chart

    still.show(view, lambda: svg(view.chart), lambda: view.chart.about or "a chart", settle)


def show_view(view: Any) -> None:
    """Display a `LandscapeView`."""
    still.show(view.root, view.picture, lambda: "the landscape of a loss", view.settle)


def show_live(view: Any) -> None:
    """Display a `SpectrumView`."""
    view.show()


def register() -> None:
    """Tell IPython how to show them."""
    as_displays({f"burlab.analysis.{module}.{name}": show for module, name in _CHARTS.items()})
    as_displays(
        {
            "burlab.widgets.chart.view.ChartView": show_chart,
            "burlab.widgets.analysis.landscape_view.LandscapeView": show_view,
            "burlab.widgets.spectrum.view.SpectrumView": show_live,
        }
    )
