"""Names of the numbers of a point, for the axes of maps."""

import numpy as np

from burlab.graph import tree
from burlab.typing import Tree

_SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


def coordinate_names(x: Tree) -> tuple[str, ...]:
    """Return the names of the numbers of a point: those of its leaves, with the place in a leaf of several.

    >>> coordinate_names(np.zeros(2)), coordinate_names({"w": 1.0, "b": 0.0}), coordinate_names({"w": np.zeros(2)})
    (('x₀', 'x₁'), ('b', 'w'), ('w₀', 'w₁'))
    """
    leaves, structure = tree.flatten(x)
    found: list[str] = []
    for name, leaf in zip(tree.dotted(structure), leaves, strict=True):
        size = int(np.size(leaf))
        own = "x" if structure.is_leaf() else f"x{name.translate(_SUBSCRIPTS)}" if name.isdigit() else name
        found += [f"{own}{str(k).translate(_SUBSCRIPTS)}" if size > 1 else own for k in range(size)]
    return tuple(found)
