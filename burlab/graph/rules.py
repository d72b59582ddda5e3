"""Tables of what NumPy's words mean on nodes. Modules of rarer words are imported when one of their words is met."""

from collections.abc import Callable
from importlib import import_module
from typing import Any, TypeVar

Rule = Callable[..., Any]
_Word = TypeVar("_Word")


SWEEPS: dict[str, Rule] = {}
"""The sweeps, `jvp` and `vjp`, for the few rules of lower rooms that differentiate; `autodiff/sweep.py` fills it."""


class Rules(dict[_Word, Rule]):
    """Rules by word. Before a word counts as missing, the modules of the rarer words are imported to fill the tables.

    >>> import numpy as np
    >>> from burlab.graph.node import FUNCTIONS
    >>> np.linalg.svd in FUNCTIONS
    True
    """

    def __missing__(self, word: _Word) -> Rule:
        if word in self:
            return self[word]
        raise KeyError(word)

    def __contains__(self, word: object) -> bool:
        if not super().__contains__(word):
            import_rare()
        return super().__contains__(word)

    def get(self, word: _Word, default: Any = None) -> Any:
        """The rule of a word, or the default."""
        return super().get(word, default) if word in self else default


def import_rare() -> None:
    """Import the modules of the rarer words. A thread that meets one while another imports them waits for all."""
    import_module("burlab.graph.rare")
