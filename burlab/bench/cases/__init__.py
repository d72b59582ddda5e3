"""The experiments, by name. Each is a module with a `CASE`."""

from functools import cache
from importlib import import_module

from burlab.bench.problem import Case
from burlab.errors import ArgumentError

NAMES = ("tiny", "micrograd", "save", "load", "mlp", "gpt", "energy", "start", "growth", "threads")


@cache
def find(name: str) -> Case:
    """The case with this name; ArgumentError, with the names there are, where there is none.

    >>> find("tiny").unit
    'gradient'
    """
    if name not in NAMES:
        raise ArgumentError(f"there is no case {name!r}. Choose among: {', '.join(NAMES)}.")
    case: Case = import_module(f".{name}", __name__).CASE
    return case
