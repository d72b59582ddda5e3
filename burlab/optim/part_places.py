"""Where parts of x begin and end in its vector, and their forms."""

from collections.abc import Sequence
from typing import Any, NamedTuple, cast

from burlab.errors import ArgumentError
from burlab.graph import tree
from burlab.typing import Tree

from .layout import Layout


class PartPlace(NamedTuple):
    """A part of x. begin, end: of its entries in the vector of x. layout: of its leaves; None for an x without it."""

    name: str
    begin: int = 0
    end: int = 0
    layout: Layout | None = None

    @property
    def entries(self) -> slice:
        """Its entries in the vector of x."""
        return slice(self.begin, self.end)

    @property
    def form(self) -> Layout:
        """Its layout. Raises ArgumentError for an x that has no such part."""
        if self.layout is None:
            raise ArgumentError(f"x0 has no part {self.name!r}. Pass a dict with a tree for each loss of the problem.")
        return self.layout


def part_places(names: Sequence[str], x: Tree) -> tuple[PartPlace, ...]:
    """Return the places of the parts of x, by their names, in order. x: a dict of trees with these keys.

    >>> import numpy as np
    >>> [(part.name, part.begin, part.end) for part in part_places(["a", "w"], {"a": np.ones(2), "w": np.ones((3, 2))})]
    [('a', 0, 2), ('w', 2, 8)]
    """
    if not isinstance(x, dict) or set(cast("dict[str, Any]", x)) != set(names):
        return tuple(map(PartPlace, sorted(names)))
    places: list[PartPlace] = []
    end = 0
    for name in sorted(names):
        begin, part = end, cast("dict[str, Any]", x)[name]
        end += sum(leaf.size for leaf in tree.flatten(part)[0])
        places.append(PartPlace(name, begin, end, Layout.of(part)))
    return tuple(places)
