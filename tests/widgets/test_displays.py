"""Objects that show themselves: their widgets, and what front ends that ask by MIME type get of them."""

from importlib import import_module

import numpy as np
import pytest

import burlab as bl
from burlab.runtime import displayed
from burlab.runtime.displayed import Displayed, Pictured

ipywidgets = pytest.importorskip("ipywidgets")
screen = pytest.importorskip("IPython.display")

from burlab.charts import Axis, Chart, Curve, Plot  # noqa: E402 - after the packages that it may need
from burlab.widgets.chart import ChartView  # noqa: E402
from burlab.widgets.displays import HTML, VIEWS  # noqa: E402

WIDGET = "application/vnd.jupyter.widget-view+json"
CIRCLE = (np.array([[0.0, 1.0], [1.0, 0.0], [0.0, -1.0]]), np.array([0, 1, 1]))


def square(x):
    return np.sum(x**2)


def plain_run():
    return bl.minimize(square, np.ones(2), bl.optim.GD(0.1), steps=3)


def watched():
    with bl.watch(show=False) as monitor:
        for k in range(3):
            monitor.log(k, value=float(k))
    return monitor


def sweep():
    return bl.sweep(square, np.ones(2), bl.optim.GD(), {"lr": [0.1, 0.2]}, steps=3)


def samples():
    return bl.FiniteSum(lambda x, a: np.sum((x - a) ** 2), np.eye(3))


MAKE = {
    "Boundary": lambda: bl.analysis.boundary(np.sum, *CIRCLE),
    "Branches": lambda: bl.branches(plain_run()),
    "ChartView": lambda: ChartView(Chart((Plot("p", "", Axis(), Axis(), (Curve(np.arange(2.0), np.ones(2)),)),))),
    "GearReport": lambda: bl.check_gears(square, np.ones(2)),
    "DigitsReport": lambda: bl.digits(square)(np.ones(2)),
    "Counts": lambda: bl.counts(square, np.ones(2)),
    "Graph": lambda: bl.compile(square, np.ones(2)).graph,
    "GraphBuilder": bl.GraphBuilder,
    "GraphView": lambda: bl.GraphView(square, np.ones(2)),
    "Kernel": lambda: bl.compile(square, np.ones(2)),
    "Landscape": lambda: bl.analysis.landscape(square, np.ones(2), resolution=5),
    "LandscapeView": lambda: bl.LandscapeView(square, np.ones(2)),
    "Layer": lambda: bl.nn.Linear(2, 1, key=bl.random.key(0)),
    "LearningRates": lambda: bl.find_lr(square, np.ones(2), bl.optim.GD()),
    "LiveView": lambda: bl.SpectrumView(plain_run()),
    "ModelSummary": lambda: bl.nn.summary(bl.nn.Linear(2, 1, key=bl.random.key(0))),
    "Monitor": watched,
    "PerformanceProfile": lambda: bl.performance_profile({"GD": bl.optim.GD(0.01)}, [bl.problems.booth()], steps=9),
    "Playground": bl.playground,
    "Profile": lambda: bl.compile(square, np.ones(2)).profile(np.ones(2)),
    "Race": lambda: bl.race(square, np.ones(2), {"GD": bl.optim.GD(0.1)}),
    "Run": plain_run,
    "Samples": lambda: bl.analysis.samples(samples(), np.zeros(3)),
    "Spectrum": lambda: bl.analysis.spectrum(square, np.ones(2)),
    "Sweep": sweep,
    "SweepTable": lambda: sweep().table,
    "Value": lambda: bl.Value(2.0) * 3,
}


def last(name):
    return name.rpartition(".")[2]


def kinds(base):
    below = [sub for one in base.__subclasses__() for sub in (one, *kinds(one))]
    return [kind for kind in below if kind.__module__.startswith("burlab.")]


def test_each_class_of_the_tables_is_one_that_shows_itself():
    for name in (*HTML, *VIEWS):
        module, _, kind = name.rpartition(".")
        found = getattr(import_module(module), kind)
        assert name == "burlab.eager.value.Value" or issubclass(found, Displayed if name in VIEWS else Pictured), name
        assert found._repr_mimebundle_ is displayed.mimebundle


def test_each_class_that_shows_itself_has_a_row():
    rows = {*HTML, *VIEWS}
    for name in rows:
        import_module(name.rpartition(".")[0])
    for kind in kinds(Pictured):
        names = {f"{one.__module__}.{one.__qualname__}" for one in kind.__mro__}
        assert names & rows or kind in (Displayed,) or kind.__name__ in {"Readings", "Stepping"}, kind


@pytest.mark.parametrize("name", sorted(VIEWS, key=last), ids=last)
def test_what_has_a_widget_stands_in_a_layout_and_has_a_picture(name):
    thing = MAKE[last(name)]()
    widget = thing.widget
    assert ipywidgets.VBox([widget]).children == (widget,)
    bundle = thing._repr_mimebundle_()
    assert WIDGET in bundle
    assert bundle["text/plain"] == repr(thing)
    assert bundle["text/html"].startswith("<")
    assert "object at 0x" not in repr(thing)


@pytest.mark.parametrize("name", sorted(HTML, key=last), ids=last)
def test_what_has_no_widget_is_html(name):
    thing = MAKE[last(name)]()
    bundle = thing._repr_mimebundle_()
    assert bundle["text/html"].startswith("<")
    assert bundle["text/plain"] == repr(thing)


@pytest.mark.parametrize("name", ["Run", "Race", "Branches", "Playground", "GraphBuilder", "Monitor"])
def test_what_changes_has_one_widget_until_it_is_closed(name):
    thing = MAKE[name]()
    assert thing.widget is thing.widget


def test_a_terminal_gets_text_and_makes_no_widget(monkeypatch):
    monkeypatch.setattr("burlab.widgets.displays.ipython_shell", object)
    run = plain_run()
    assert run._repr_mimebundle_() == {}
    with pytest.raises(NotImplementedError):
        run._ipython_display_()


def test_a_notebook_displays_the_widget_with_its_picture(monkeypatch):
    shown = []
    monkeypatch.setattr("burlab.widgets.displays.notebook_kernel", object)
    monkeypatch.setattr(screen, "display", lambda what, **_: shown.append(what))
    view = MAKE["ChartView"]()
    view._ipython_display_()
    assert shown[0][WIDGET]["model_id"] == view.widget.model_id
    assert "image/svg+xml" in shown[1]


def test_a_class_without_a_row_says_so():
    class Forgotten(Displayed):
        pass

    with pytest.raises(bl.BurlabError, match="a class that is Displayed needs a row in VIEWS"):
        _ = Forgotten().widget
