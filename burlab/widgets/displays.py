"""How types look in notebooks and other front ends: found by the names of classes, so that none of them is imported."""

from collections.abc import Callable
from typing import Any, TypeVar

from burlab.errors import ConfigurationError
from burlab.experiments import sweep_progress
from burlab.monitor import screen
from burlab.run.progress import register_screen
from burlab.runtime.displayed import set_screen

from . import still, views
from .graph_view.stills import graph_html, kernel_html, value_html
from .html_table import counts_html, digits_html, gears_html, layer_html, summary_html
from .ipython_shell import ipython_shell, notebook_kernel
from .notebook_progress import notebook_bar
from .sweep_display import live_table, table_html
from .views import View
from .watched import panel_screen

R = TypeVar("R")
HTML: dict[str, Callable[[Any], str]] = {
    "burlab.analysis.gear_report.GearReport": gears_html,
    "burlab.analysis.digits_report.DigitsReport": digits_html,
    "burlab.compiler.inspection.operation_counts.Counts": counts_html,
    "burlab.compiler.kernel.Kernel": kernel_html,
    "burlab.eager.value.Value": value_html,
    "burlab.experiments.sweep_table.SweepTable": table_html,
    "burlab.graph.graph.Graph": graph_html,
    "burlab.nn.layer.Layer": layer_html,
    "burlab.nn.parameter_summary.ModelSummary": summary_html,
}
"""By full name of a class, what writes it as HTML."""
VIEWS: dict[str, Callable[[Any], View]] = {
    "burlab.analysis.boundary.Boundary": views.of_result,
    "burlab.analysis.landscape.Landscape": views.of_result,
    "burlab.analysis.samples.Samples": views.of_result,
    "burlab.analysis.spectrum.Spectrum": views.of_result,
    "burlab.compiler.inspection.profile.Profile": views.of_profile,
    "burlab.experiments.branch_tree.Branches": views.of_branches,
    "burlab.experiments.races.Race": views.of_race,
    "burlab.experiments.rates.LearningRates": views.of_result,
    "burlab.experiments.solver_profile.PerformanceProfile": views.of_result,
    "burlab.experiments.sweeps.Sweep": views.of_sweep,
    "burlab.monitor.monitor.Monitor": views.of_run,
    "burlab.run.run.Run": views.of_run,
    "burlab.widgets.analysis.landscape_view.LandscapeView": views.of_landscape,
    "burlab.widgets.builder.builder.GraphBuilder": views.of_builder,
    "burlab.widgets.chart.chart_view.ChartView": views.of_chart,
    "burlab.widgets.graph_view.graph_widget.GraphView": views.of_graph,
    "burlab.widgets.live.live_view.LiveView": views.live,
    "burlab.widgets.playground.playgrounds.Playground": views.of_playground,
}
"""By full name of a class, what gives the view of one of its objects."""


def _row(table: dict[str, Callable[[Any], R]], thing: Any) -> Callable[[Any], R] | None:
    """Return the row of the first class of a thing that has one."""
    names = (f"{one.__module__}.{one.__qualname__}" for one in type(thing).__mro__)
    return next((table[name] for name in names if name in table), None)


class FrontEnd:
    """Shows objects in the notebook, the terminal or the program that this process serves."""

    def widget(self, thing: Any) -> Any:
        """Return the widget of an object."""
        return _view(thing).root

    def bundle(self, thing: Any) -> dict[str, Any]:
        """Return what an object looks like, by MIME type: its widget, a picture or a table, and its `repr`."""
        words = {"text/plain": repr(thing)}
        if (html := _row(HTML, thing)) is not None:
            return {"text/html": html(thing)} | words
        if ipython_shell() is not None and notebook_kernel() is None:
            return {}  # a terminal
        try:
            view = _view(thing)
        except ConfigurationError:  # without the extra that has widgets
            return words
        return still.widget_bundle(_unboxed(view.root)) | dict(view.picture()) | words

    def display(self, thing: Any) -> bool:
        """Display the widget of an object in the cell that runs, and return False where no notebook is."""
        if notebook_kernel() is None:
            return False
        _view(thing).show()
        return True


def _unboxed(root: Any) -> Any:
    """Return the widget in a box of one: marimo shows widgets of anywidget, and no boxes of ipywidgets."""
    children = getattr(root, "children", ())
    return children[0] if len(children) == 1 else root


def _view(thing: Any) -> View:
    view = _row(VIEWS, thing)
    if view is None:
        raise ConfigurationError(f"{type(thing).__name__} has no view; a class that is Displayed needs a row in VIEWS.")
    return view(thing)


def register() -> None:
    """Set the screen of all objects, and those of loops, sweeps and progress bars."""
    set_screen(FrontEnd())
    screen.register_screen(panel_screen)
    sweep_progress.register_screen(live_table)
    register_screen(notebook_bar)
