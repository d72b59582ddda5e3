"""The page of each type that can be exported."""

from collections.abc import Sequence
from typing import Any

from burlab.analysis import Boundary, Landscape, Samples, Spectrum, boundary
from burlab.charts import Chart
from burlab.charts.svg import svg
from burlab.compiler.kernel import Kernel
from burlab.eager import Value
from burlab.errors import ArgumentError
from burlab.experiments.branch_tree import Branches
from burlab.experiments.curves import AXES
from burlab.experiments.races import Race
from burlab.experiments.rates import LearningRates
from burlab.experiments.solver_profile import PerformanceProfile
from burlab.graph import Graph
from burlab.monitor import Monitor
from burlab.run import Run
from burlab.widgets.builder import GraphBuilder
from burlab.widgets.chart import encode
from burlab.widgets.graph_view.detail import detail
from burlab.widgets.graph_view.encode_graph import marks_of, picture_of
from burlab.widgets.graph_view.graph_model import GraphModel
from burlab.widgets.graph_view.graph_svg import svg_of, with_ink
from burlab.widgets.graph_view.graph_widget import GraphView
from burlab.widgets.graph_view.viewed_graph import subjects_of
from burlab.widgets.playground.playgrounds import Playground

from .page import Page, Section
from .record_section import record

_MAX_BOXES = 60_000  # boxes in all pictures
_MAX_DETAILS = 1500  # items that have words of their own


def graph(thing: Any) -> tuple[str, Section]:
    """The title and the section of a Graph, Kernel, Value or GraphView. Raises ArgumentError for other things."""
    view = thing.model if isinstance(thing, GraphView) else None
    model = (
        GraphModel(next(iter(subjects_of(thing, ()).values()))())
        if view is None
        else GraphModel(view.subject, view.fates)
    )
    groups = model.groups
    model.close_all()
    model.numbers = False
    closed = model.opened
    still = with_ink(svg_of(model))
    states = {"": _state(model)}
    drawn = len(model.picture.boxes)
    for group in sorted((g for g in groups.titles if g != groups.root), key=lambda g: len(groups.line(g))):
        model.opened = closed.union(groups.line(group)[1:])
        drawn += len(model.picture.boxes)
        if drawn > _MAX_BOXES:
            break
        states[str(group)] = _state(model)
    model.close_all()
    model.open_all()
    if drawn + len(model.picture.boxes) <= _MAX_BOXES:
        states["all"] = _state(model)
    vertices = model.network.vertices
    data = {
        "title": model.network.title,
        "count": len(vertices),
        "groups": len(groups.titles) - 1,
        "diff": bool(model.fates),
        "backward": any(v.backward for v in vertices),
        "states": states,
        "parents": {str(g): str(groups.parent[g]) for g in groups.titles if g != groups.root},
        "words": [[k, v.search_text.lower(), str(groups.parent[k])] for k, v in enumerate(vertices)],
        "details": {
            str(k): detail(model, k) for k in [*groups.titles, *range(len(vertices))][:_MAX_DETAILS] if k != groups.root
        },
    }
    return model.network.title, Section("graph", still, data)


def _state(model: GraphModel) -> dict[str, Any]:
    return {"picture": picture_of(model), "marks": marks_of(model), "opened": len(model.opened)}


_RESULTS = (Landscape, Spectrum, Samples, Boundary, PerformanceProfile, LearningRates)


def page_of(thing: Any) -> Page:
    """The page of an object. Raises ArgumentError if there is none."""
    if isinstance(thing, Run | Monitor):
        return _run(thing)
    if isinstance(thing, Playground):
        return _playground(thing)
    if isinstance(thing, Race):
        return _race(thing)
    if isinstance(thing, Branches):
        return _branches(thing)
    if isinstance(thing, _RESULTS):
        return _result(type(thing).__name__, thing.chart())
    if isinstance(thing, Chart):
        return _result(thing.title or "A chart", thing)
    if isinstance(thing, Graph | Kernel | Value | GraphView):
        title, section = graph(thing)
        return Page(title, (), (section,))
    if isinstance(thing, GraphBuilder):
        title, section = graph(thing.graph())
        return Page(title, [("value", str(thing.value())), ("blocks", f"{len(thing):,}")], (section,))
    raise ArgumentError(
        f"a {type(thing).__name__} cannot be exported. Pass a run, a race, a watch, branches, a graph, a builder, "
        "or what bl.analysis gives."
    )


def charts(named: Sequence[tuple[str, Chart]], title: str = "") -> Section:
    """A section of one chart, or of several by choice."""
    data = {"names": [name for name, _ in named], "charts": [encode(chart) for _, chart in named]}
    return Section("tabs", svg(named[0][1]), data, title)


def _run(run: Any) -> Page:
    name, facts, section = record(run)
    relatives = isinstance(run, Run) and (run.parent is not None or bool(run.family.children))
    if not relatives:
        return Page(name, facts, (section,))
    tree = Branches(run)
    return Page(name, facts, (section, charts([("step", tree.chart())], "Branches")), _rows(tree))


def _playground(playground: Playground) -> Page:
    points, classes = playground.setting.points
    name, facts, section = record(playground.run)
    net, dtype = playground.network, playground.setting.dtype
    found = boundary(lambda point: net(point.astype(dtype))[0], points, classes)
    says = charts([("plane", found.chart())], "What the network says")
    return Page(playground.setting.title, [("", name), *facts], (says, section))


def _race(race: Race) -> Page:
    lead = race.leader()
    head = ("racer", "value", "times the leader", "step", "")
    rows = [(s.name, f"{s.value:.4g}", f"{s.behind:.3g}", f"{s.step:,}", s.message) for s in race.standings()]
    facts = [("leader", "none yet" if lead is None else str(lead))]
    return Page("A race", facts, (charts([(f"against {name}", race.chart(name)) for name in AXES]),), (head, *rows))


def _branches(tree: Branches) -> Page:
    return Page("Branches", (), (charts([("step", tree.chart())]),), _rows(tree))


def _rows(tree: Branches) -> Sequence[Sequence[str]]:
    head = ("branch", "parent", "from step", "what it changed", "steps", "value")
    rows = [
        (b.name, b.parent, "" if b.at is None else f"{b.at:,}", b.message, f"{b.length:,}", f"{b.value:.6g}")
        for b in tree.tree
    ]
    return (head, *rows)


def _result(name: str, chart: Chart) -> Page:
    return Page(name, (), (charts([("", chart)]),))
