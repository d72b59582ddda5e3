"""Import what may be absent."""

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from burlab.bench.problem import Unavailable


def load(name: str, package: str = "") -> Any:
    """A module; Unavailable, and how to install it, where it is not installed.

    >>> load("micrograd_of_the_future")
    Traceback (most recent call last):
        ...
    burlab.bench.problem.Unavailable: micrograd_of_the_future is not installed: pip install 'burlab[bench]'
    """
    if find_spec(name.partition(".")[0]) is None:
        raise Unavailable(f"{package or name} is not installed: pip install 'burlab[bench]'")
    return import_module(name)
