"""Displays of types in a notebook. IPython registers them by name, so that none of them is imported."""

from importlib import import_module
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from burlab.charts.svg import svg
from burlab.experiments import sweep_progress
from burlab.monitor import screen
from burlab.run.progress import register_screen

from . import still
from .formatters import as_displays, as_html
from .graph_view.stills import graph_html, kernel_html, value_html
from .html_table import layer_html, summary_html
from .notebook_progress import notebook_bar
from .profile.profile_html import profile_html, profile_markdown
from .sweep_display import live_table, show_sweep, table_html
from .watched import panel_screen

if TYPE_CHECKING:
    from burlab.analysis import Boundary, Landscape, Samples, Spectrum
    from burlab.compiler.inspection.profile import Profile
    from burlab.experiments import Branches, Race
    from burlab.experiments.rates import LearningRates
    from burlab.experiments.solver_profile import PerformanceProfile
    from burlab.monitor import Monitor
    from burlab.run import Run
    from burlab.widgets.analysis.landscape_view import LandscapeView
    from burlab.widgets.builder.builder import GraphBuilder
    from burlab.widgets.builder.builder_view import BuilderView
    from burlab.widgets.chart import ChartView
    from burlab.widgets.graph_view.graph_widget import GraphView
    from burlab.widgets.live.live_view import LiveView
    from burlab.widgets.playground.playgrounds import Playground

_builder_views: "WeakKeyDictionary[GraphBuilder, BuilderView]" = WeakKeyDictionary()


def show_run(run: "Run | Monitor") -> None:
    """Display the panel of a run or of a watched loop."""
    from .panel.panel_view import panel_of

    panel_of(run).show()


def show_race(race: "Race") -> None:
    """Display the panel of a race."""
    from .race.race_view import RaceView

    RaceView(race).show()


def show_playground(playground: "Playground") -> None:
    """Display a playground."""
    from .playground.playground_view import view_of

    view_of(playground).show()


def show_branches(branches: "Branches") -> None:
    """Display the panel of a tree of branches."""
    from .branches.branches_view import BranchesView

    BranchesView(branches).show()


def show_result(result: "Landscape | Spectrum | Samples | Boundary | LearningRates | PerformanceProfile") -> None:
    """Display the chart of a result of `burlab.analysis`, `find_lr` or `performance_profile`."""
    from .chart import ChartView

    show_chart(ChartView(result.chart()))


def show_chart(view: "ChartView") -> None:
    """Display a chart."""
    drawn = [view.chart]

    def settle(_end: float) -> bool:
        """Return True if another chart was set."""
        before, drawn[0] = drawn[0], view.chart
        return before is not view.chart

    still.show(view, lambda: svg(view.chart), lambda: view.chart.about or "a chart", settle)


def show_landscape(view: "LandscapeView") -> None:
    """Display a view of a landscape."""
    still.show(view.root, view.picture, lambda: "the landscape of a loss", view.settle)


def show_live(view: "LiveView") -> None:
    """Display a live view."""
    view.show()


def show_graph(view: "GraphView") -> None:
    """Display a view of a graph."""
    from .graph_view.graph_svg import with_ink

    still.show(view, lambda: with_ink(view.svg()), lambda: f"a view of {view.model.network.title}")


def show_builder(builder: "GraphBuilder") -> None:
    """Display the widget of a builder, the same one in every cell."""
    from .builder.builder_view import BuilderView
    from .builder.notebook_cells import history_of, running_cell

    if builder not in _builder_views:
        cell = None if builder.file is not None else running_cell()
        if cell is not None:
            builder.restore(history_of(cell, builder.document))
        _builder_views[builder] = BuilderView(builder, cell)
    _builder_views[builder].show()


def show_profile(profile: "Profile") -> None:
    """Display a profile: the view where its kernel lives, with a still table for pages that have none."""
    from .profile.profile_widget import ProfileView

    root = ProfileView(profile).root
    view = {"version_major": 2, "version_minor": 0, "model_id": root.model_id}
    table = {"text/html": profile_html(profile), "text/markdown": profile_markdown(profile), "text/plain": str(profile)}
    display: Any = import_module("IPython.display")
    display.display({"application/vnd.jupyter.widget-view+json": view} | table, raw=True)


HTML = {
    "burlab.compiler.inspection.profile.Profile": profile_html,
    "burlab.compiler.kernel.Kernel": kernel_html,
    "burlab.eager.value.Value": value_html,
    "burlab.experiments.sweep_table.SweepTable": table_html,
    "burlab.graph.graph.Graph": graph_html,
    "burlab.nn.layer.Layer": layer_html,
    "burlab.nn.parameter_summary.ModelSummary": summary_html,
}
"""By full name of a class, what writes it as HTML, wherever IPython runs."""
DISPLAYS = {
    "burlab.analysis.boundary.Boundary": show_result,
    "burlab.analysis.landscape.Landscape": show_result,
    "burlab.analysis.samples.Samples": show_result,
    "burlab.analysis.spectrum.Spectrum": show_result,
    "burlab.compiler.inspection.profile.Profile": show_profile,
    "burlab.experiments.branch_tree.Branches": show_branches,
    "burlab.experiments.races.Race": show_race,
    "burlab.experiments.rates.LearningRates": show_result,
    "burlab.experiments.solver_profile.PerformanceProfile": show_result,
    "burlab.experiments.sweeps.Sweep": show_sweep,
    "burlab.monitor.monitor.Monitor": show_run,
    "burlab.run.run.Run": show_run,
    "burlab.widgets.analysis.landscape_view.LandscapeView": show_landscape,
    "burlab.widgets.builder.builder.GraphBuilder": show_builder,
    "burlab.widgets.chart.chart_view.ChartView": show_chart,
    "burlab.widgets.graph_view.graph_widget.GraphView": show_graph,
    "burlab.widgets.playground.playgrounds.Playground": show_playground,
    "burlab.widgets.spectrum.spectrum_view.SpectrumView": show_live,
}
"""By full name of a class, what displays it in the kernel of a notebook; a terminal has no widgets."""


def register() -> None:
    """Register all types with IPython, and the screens of loops, sweeps and progress bars."""
    as_html(HTML)
    as_displays(DISPLAYS)
    screen.register_screen(panel_screen)
    sweep_progress.register_screen(live_table)
    register_screen(notebook_bar)
