"""Tables of NumPy's functions on nodes. Modules of rarer functions are imported at their first use."""

from collections.abc import Callable
from typing import Any, TypeVar

from . import hooks

Rule = Callable[..., Any]
_Word = TypeVar("_Word")


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
            hooks.import_rare()
        return super().__contains__(word)

    def get(self, word: _Word, default: Any = None) -> Any:
        """The rule of a word, or the default."""
        return super().get(word, default) if word in self else default


UFUNCS: Rules[str] = Rules()  # name of a NumPy ufunc -> what it means on nodes
SPECIAL: Rules[str] = Rules()  # name of a ufunc of scipy.special -> what it means on nodes
SPECIAL_COMPLEX: Rules[str] = Rules()  # name of a ufunc of scipy.special -> what it means on complex numbers
REDUCTIONS: Rules[str] = Rules()  # name of a ufunc -> its `.reduce` on nodes
ACCUMULATIONS: Rules[str] = Rules()  # name of a ufunc -> its `.accumulate`
SEGMENTS: Rules[str] = Rules()  # name of a ufunc -> its `.reduceat`
FUNCTIONS: Rules[Callable[..., Any]] = Rules()  # NumPy function -> what it means on nodes
METHODS: Rules[str] = Rules()  # method of a NumPy array -> what it means on nodes
