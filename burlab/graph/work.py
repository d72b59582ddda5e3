"""How much a node computes: enough to tell much from little."""

from .node import Node
from .operation import operation


def work(n: Node) -> int:
    """Roughly how many elements a node reads or makes, or numbers it adds; nothing where it is a view.

    >>> from burlab.graph import Node
    >>> from burlab.graph.linear import contract
    >>> import numpy as np
    >>> a, b = (Node("input", (), "", shape, np.dtype(float)) for shape in ((2, 3), (3, 5)))
    >>> work(contract("ij,jk->ik", a, b))
    30
    """
    return operation(n).work(n)
