"""Registration of types with IPython by their names, so that none of them is imported for it."""

from collections.abc import Callable, Mapping
from typing import Any

from .ipython_shell import ipython_shell


def as_html(shown: Mapping[str, Callable[[Any], str]]) -> None:
    """Register HTML displays of types with IPython. shown: functions that build the text, by full name of a class."""
    shell = ipython_shell()
    if shell is not None:
        _register(shell.display_formatter.formatters["text/html"], shown)


def as_displays(shown: Mapping[str, Callable[[Any], None]]) -> None:
    """Have types display themselves in a notebook's kernel; a terminal has no widgets. shown: see `as_html`."""
    shell = ipython_shell()
    if shell is not None and hasattr(shell, "kernel"):
        _register(shell.display_formatter.ipython_display_formatter, shown)


def _register(formatter: Any, shown: Mapping[str, Callable[[Any], Any]]) -> None:
    for name, show in shown.items():
        formatter.for_type_by_name(*name.rsplit(".", 1), _registering(formatter, name, show))


def _registering(formatter: Any, name: str, show: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a function that shows the first object of a class, and registers the class itself for all that follow.

    IPython forgets a name as soon as it meets a class that has it. Widgets with traits of their own have each a class
    of its own, below the one that was meant and with the same name; the next widget would not be known.
    """

    def first(thing: Any) -> Any:
        named = [cls for cls in type(thing).__mro__ if f"{cls.__module__}.{cls.__qualname__}" == name]
        formatter.for_type(named[-1], show)
        return show(thing)

    return first
