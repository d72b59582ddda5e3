"""Packages that only some uses need, and modules of SciPy: imported when first used.

Where a package of an extra is not installed, the error names the install.
"""

import sys
from collections.abc import Generator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from burlab.errors import ConfigurationError

# What a package imports at once, and needs for little: plotly asks nbformat for its version when a figure is shown
# without a widget, and nbformat's import of JSON schemas reads a grammar of web addresses for seconds.
_RARE = {"plotly": "nbformat"}


def require(module: str, extra: str) -> Any:
    """Import a module of the extra `burlab[extra]`; ConfigurationError, with the command, where it is not installed."""
    package = module.partition(".")[0]
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != package:
            raise  # it is there, and broken
        raise ConfigurationError(
            f"this needs {package}, which is not installed: pip install 'burlab[{extra}]'"
        ) from error


def late(module: str, extra: str | None = None) -> Any:
    """A stand-in for a module, which imports it at the first use of an attribute.

    Args:
        module: its full name.
        extra: the extra of burlab that has it, which the error names where it is absent; None: burlab requires it.

    >>> late("statistics", "lab").median([3, 1, 2])
    2
    >>> late("plotly_of_the_future", "lab").Figure
    Traceback (most recent call last):
        ...
    burlab.errors.ConfigurationError: this needs plotly_of_the_future, which is not installed: pip install 'burlab[lab]'
    """
    return _Late(module, extra)


class _Late:
    def __init__(self, module: str, extra: str | None) -> None:
        self._module, self._extra = module, extra

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # probed by inspect and doctest on every object
            raise AttributeError(name)
        with postponed(_RARE.get(self._module.partition(".")[0])):  # an attribute may be a submodule, imported now
            found = require(self._module, self._extra) if self._extra else import_module(self._module)
            return getattr(found, name)


@contextmanager
def postponed(module: str | None) -> Generator[None]:
    """While this lasts, `import` of the module gives a lazy one, which loads at its first use. None: nothing changes.

    A module that is loaded already, or not installed, is imported as ever.

    >>> with postponed("antigravity"):
    ...     import antigravity  # nothing happens
    """
    spec = find_spec(module) if module and module not in sys.modules else None
    if spec is None:
        yield
        return
    stand_in = _Postponed(spec.name)
    stand_in.__spec__, stand_in.__path__ = spec, spec.submodule_search_locations or []
    sys.modules[spec.name] = stand_in
    try:
        yield
    finally:
        if sys.modules.get(spec.name) is stand_in:  # all others import the module itself
            del sys.modules[spec.name]


class _Postponed(ModuleType):
    def __getattr__(self, name: str) -> Any:
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(import_module(self.__name__), name)
