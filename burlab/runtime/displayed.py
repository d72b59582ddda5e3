"""Objects that show themselves. Lower layers know no screen: `burlab.widgets` sets it when it is imported."""

from importlib import import_module
from typing import Any, Protocol


class Screen(Protocol):
    """Shows objects in the front end that this process serves."""

    def widget(self, thing: Any) -> Any:
        """Return the widget of an object that has one."""
        ...

    def bundle(self, thing: Any) -> dict[str, Any]:
        """Return what an object looks like, by MIME type; {} where its `repr` says all that there is to show."""
        ...

    def display(self, thing: Any) -> bool:
        """Display the widget of an object in the cell that runs, and return False where no notebook is."""
        ...


_screens: list[Screen] = []


def set_screen(screen: Screen) -> None:
    """Let a screen show all objects from now on."""
    _screens[:] = [screen]


def _screen() -> Screen:
    if not _screens:
        import_module("burlab.widgets")  # it is above all that show themselves, and calls `set_screen`
    return _screens[0]


def mimebundle(thing: Any, include: Any = None, exclude: Any = None) -> dict[str, Any]:  # noqa: ARG001 - IPython's protocol
    """Return what an object looks like, by MIME type. include, exclude: of IPython's protocol; all is given."""
    return _screen().bundle(thing)


class Pictured:
    """An object that is shown as HTML in every front end that asks by `_repr_mimebundle_`.

    >>> import numpy as np, burlab as bl
    >>> list(bl.compile(np.tanh, 0.5).graph._repr_mimebundle_())
    ['text/html', 'text/plain']
    """

    __slots__ = ()

    _repr_mimebundle_ = mimebundle


class Displayed(Pictured):
    """An object that has a widget."""

    __slots__ = ()

    @property
    def widget(self) -> Any:
        """The widget that shows it, for layouts: `ipywidgets.VBox([run.widget, ...])`, pages of Voila and solara.

        Returns:
            An `ipywidgets.DOMWidget`. What changes has one widget, the same at each call; a result, such as a
            landscape, gets a new one each time.

        Raises:
            ConfigurationError: The extra `burlab[lab]` is not installed.
        """
        return _screen().widget(self)

    def _ipython_display_(self) -> None:
        """Display it as IPython asks; NotImplementedError sends IPython on to the next format."""
        if not _screen().display(self):
            raise NotImplementedError
