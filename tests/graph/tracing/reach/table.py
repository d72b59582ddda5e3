"""The table of the ways to hold a number, and what its rows are made with."""

import operator
import sys
import types
from typing import Any

ROWS: dict[str, Any] = {}  # name -> makes a function of a number, and what sets the number that the function reads


def row(make):
    ROWS[make.__name__.replace("_", " ")] = make
    return make


def setter(container, key):
    """Setter of an item."""
    return lambda v: operator.setitem(container, key, v)


def attribute(holder, name="rate"):
    return lambda v: setattr(holder, name, v)


BUILT: list[str] = []  # names of modules
CONSTANTS: list[Any] = []  # what only weak references lead to


def module(name, text, **attributes):
    """A module made from source text, of this name."""
    BUILT.append(name)
    made = types.ModuleType(name)
    vars(made).update(attributes)
    exec(text, vars(made))
    sys.modules[name] = made
    return made
