"""Packages that only some uses need: imported when first used; the error names the install where one is absent."""

from importlib import import_module
from typing import Any

from burlab.errors import ConfigurationError


def require(module: str, extra: str) -> Any:
    """Import a module of the extra `burlab[extra]`; ConfigurationError, with the command, where it is not installed."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        package = module.partition(".")[0]
        if (error.name or "").partition(".")[0] != package:
            raise  # it is there, and broken
        raise ConfigurationError(
            f"this needs {package}, which is not installed: pip install 'burlab[{extra}]'"
        ) from error


def late(module: str, extra: str) -> Any:
    """A stand-in for a module, which imports it, as `require` does, whenever something of it is asked for.

    >>> late("statistics", "lab").median([3, 1, 2])
    2
    >>> late("plotly_of_the_future", "lab").Figure
    Traceback (most recent call last):
        ...
    burlab.errors.ConfigurationError: this needs plotly_of_the_future, which is not installed: pip install 'burlab[lab]'
    """
    return _Late(module, extra)


class _Late:
    def __init__(self, module: str, extra: str) -> None:
        self._module, self._extra = module, extra

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # what inspect and doctest ask of everything
            raise AttributeError(name)
        return getattr(require(self._module, self._extra), name)
