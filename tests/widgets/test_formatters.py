"""IPython knows a type by its name, however many classes have it."""

from types import SimpleNamespace

import pytest

formatters = pytest.importorskip("IPython.core.formatters")
traitlets = pytest.importorskip("traitlets")

from burlab.widgets.formatters import as_displays, as_html  # noqa: E402 - after the packages that it may need


class Thing(traitlets.HasTraits):
    """Traits that are added to an instance give it a class of its own, as anywidget's widgets have it."""


class Special(Thing):
    """A class of its own, with another name."""


@pytest.fixture
def shell(monkeypatch):
    display = SimpleNamespace(
        ipython_display_formatter=formatters.IPythonDisplayFormatter(),
        formatters={"text/html": formatters.HTMLFormatter()},
    )
    shell = SimpleNamespace(display_formatter=display, kernel=object())
    monkeypatch.setattr("burlab.widgets.formatters.ipython_shell", lambda: shell)
    return shell


def things():
    for kind in (Thing, Thing, Special, Thing):
        thing = kind()
        thing.add_traits(x=traitlets.Int())
        assert type(thing) is not kind
        yield thing
    yield Thing()


def test_all_widgets_of_a_class_display_themselves(shell):
    shown = []
    as_displays({f"{__name__}.Thing": shown.append})
    made = list(things())
    assert [shell.display_formatter.ipython_display_formatter(thing) for thing in made] == [True] * len(made)
    assert shown == made


def test_all_things_of_a_class_are_html(shell):
    as_html({f"{__name__}.Thing": lambda thing: f"<p>{type(thing).__name__}</p>"})
    html = shell.display_formatter.formatters["text/html"]
    assert [html(thing) for thing in things()] == ["<p>Thing</p>"] * 2 + ["<p>Special</p>"] + ["<p>Thing</p>"] * 2
