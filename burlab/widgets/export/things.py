"""What each kind of thing puts on its page."""

from collections.abc import Sequence
from typing import Any

from burlab.analysis import Boundary, Landscape, Samples, Spectrum
from burlab.charts import Chart
from burlab.charts.svg import svg
from burlab.compiler.kernel import Kernel
from burlab.eager import Value
from burlab.errors import ArgumentError
from burlab.experiments.curves import AXES
from burlab.experiments.lineage import Branches
from burlab.experiments.profile import PerformanceProfile
from burlab.experiments.races import Race
from burlab.experiments.rates import LearningRates
from burlab.graph import Graph
from burlab.monitor import Monitor
from burlab.run import Run
from burlab.widgets.builder import GraphBuilder
from burlab.widgets.chart import encode
from burlab.widgets.graph_view.view import GraphView

from .graphs import graph
from .page import Page, Section
from .record import record

_RESULTS = (Landscape, Spectrum, Samples, Boundary, PerformanceProfile, LearningRates)


def page_of(thing: Any) -> Page:
    """The page of a thing. Raises ArgumentError where there is none."""
    if isinstance(thing, Run | Monitor):
        return _run(thing)
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
