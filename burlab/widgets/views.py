"""Views of objects: a widget, its display in a cell, and a picture for pages where widgets do not live."""

from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

from burlab.charts.svg import svg
from burlab.runtime.extras import late

from . import still

if TYPE_CHECKING:
    from burlab.analysis import Boundary, Landscape, Samples, Spectrum
    from burlab.compiler.inspection.profile import Profile
    from burlab.experiments import Branches, Race
    from burlab.experiments.rates import LearningRates
    from burlab.experiments.solver_profile import PerformanceProfile
    from burlab.experiments.sweeps import Sweep
    from burlab.monitor import Monitor
    from burlab.run import Run
    from burlab.widgets.analysis.landscape_view import LandscapeView
    from burlab.widgets.builder.builder import GraphBuilder
    from burlab.widgets.builder.builder_view import BuilderView
    from burlab.widgets.chart import ChartView
    from burlab.widgets.graph_view.graph_widget import GraphView
    from burlab.widgets.live.live_view import LiveView
    from burlab.widgets.playground.playgrounds import Playground

ipywidgets: Any = late("ipywidgets", "lab")


class View(NamedTuple):
    """Widget, display and picture of an object.

    root: its `ipywidgets.DOMWidget`. show: displays it in the cell that runs. picture: what it looks like now, by MIME
    type, for pages without widgets.
    """

    root: Any
    show: Callable[[], None]
    picture: Callable[[], Mapping[str, str]]


def _pictured(root: Any, picture: Callable[[], str], summary: Callable[[], str], settle: Any = None) -> View:
    """Return the view of a widget with a picture. For the arguments see `still.show`."""
    show = partial(still.show, root, picture, summary, settle)
    return View(root, show, lambda: still.bundle(picture(), summary()))


def live(view: "LiveView") -> View:
    """Return the view of a widget that follows what it shows."""
    return View(view.root, view.show, lambda: still.bundle(view.picture(), view.summary()))


def of_run(run: "Run | Monitor") -> View:
    """Return the panel of a run or of a watched loop."""
    from .panel.panel_view import panel_of

    return live(panel_of(run))


def of_race(race: "Race") -> View:
    """Return the panel of a race."""
    from .live.shared_views import live_view_of
    from .race.race_view import RaceView

    return live(live_view_of(race, RaceView))


def of_branches(branches: "Branches") -> View:
    """Return the panel of a tree of branches."""
    from .branches.branches_view import BranchesView
    from .live.shared_views import live_view_of

    return live(live_view_of(branches, BranchesView))


def of_playground(playground: "Playground") -> View:
    """Return the view of a playground."""
    from .live.shared_views import live_view_of
    from .playground.playground_view import PlaygroundView

    return live(live_view_of(playground, PlaygroundView))


def of_sweep(sweep: "Sweep") -> View:
    """Return the table of a sweep, and under it the race of its best configurations."""
    from .sweep_display import show_table, table_html

    race = of_race(sweep.race()) if any(number in sweep.runs for number in range(len(sweep))) else None

    def show() -> None:
        show_table(sweep)
        if race is not None:
            race.show()

    table = table_html(sweep.table)
    root = ipywidgets.VBox([ipywidgets.HTML(table), *([] if race is None else [race.root])])
    return View(root, show, lambda: {"text/html": table})


def of_result(result: "Landscape | Spectrum | Samples | Boundary | LearningRates | PerformanceProfile") -> View:
    """Return the chart of a result of `burlab.analysis`, `find_lr` or `performance_profile`."""
    from .chart import ChartView

    return of_chart(ChartView(result.chart()))


def of_chart(view: "ChartView") -> View:
    """Return a chart as its own view."""
    drawn = [view.chart]

    def settle(_end: float) -> bool:
        """Return True if another chart was set."""
        before, drawn[0] = drawn[0], view.chart
        return before is not view.chart

    return _pictured(view, lambda: svg(view.chart), lambda: view.chart.about or "a chart", settle)


def of_landscape(view: "LandscapeView") -> View:
    """Return a view of a landscape as its own view."""
    return _pictured(view.root, view.picture, lambda: "the landscape of a loss", view.settle)


def of_graph(view: "GraphView") -> View:
    """Return a view of a graph as its own view."""
    from .graph_view.graph_svg import with_ink

    return _pictured(view, lambda: with_ink(view.svg()), lambda: f"a view of {view.model.network.title}")


_builder_views: "WeakKeyDictionary[GraphBuilder, BuilderView]" = WeakKeyDictionary()


def of_builder(builder: "GraphBuilder") -> View:
    """Return the view of a builder, the same one in every cell."""
    from .builder.builder_view import BuilderView
    from .builder.notebook_cells import history_of, running_cell

    if builder not in _builder_views:
        cell = None if builder.file is not None else running_cell()
        if cell is not None:
            builder.restore(history_of(cell, builder.document))
        _builder_views[builder] = BuilderView(builder, cell)
    view = _builder_views[builder]
    return View(view.root, view.show, lambda: still.bundle(view.picture(), repr(builder)))


def of_profile(profile: "Profile") -> View:
    """Return the chart and the table of a profile, with a still table for pages without widgets."""
    from .profile.profile_html import profile_html, profile_markdown
    from .profile.profile_widget import ProfileView

    root = ProfileView(profile).root

    def table() -> dict[str, str]:
        return {"text/html": profile_html(profile), "text/markdown": profile_markdown(profile)}

    def show() -> None:
        display: Any = import_module("IPython.display")
        display.display(still.widget_bundle(root) | table() | {"text/plain": str(profile)}, raw=True)

    return View(root, show, table)
