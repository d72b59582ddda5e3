"""C++ as Python objects: cppyy's view of what users have declared, where convenience counts more than time."""

from functools import reduce
from importlib import import_module
from typing import Any

from .interpreter import interpreter


def reflect(*scope: str) -> Any:
    """A C++ namespace as a Python object whose attributes are its functions and classes; the first call takes 0.3 s.

    >>> reflect("std").string("text").size()
    4
    """
    interpreter()  # with our flags, before cppyy would start it with its own
    return reduce(getattr, scope, import_module("cppyy").gbl)
