"""How much a node computes: enough to tell much from little."""

from .node import Node

_NOTHING = {"input", "constant", "broadcast", "transpose", "reshape", "slice", "stop_gradient", "surrogate"}


def work(n: Node) -> int:
    """Roughly how many elements a node reads or makes, or numbers it adds; nothing where it is a view.

    >>> from burlab.graph import Node
    >>> from burlab.graph.linear import contract
    >>> import numpy as np
    >>> a, b = (Node("input", (), "", shape, np.dtype(float)) for shape in ((2, 3), (3, 5)))
    >>> work(contract("ij,jk->ik", a, b))
    30
    """
    if n.op in _NOTHING:
        return 0
    if n.op != "contract":
        return max([n.size, *(x.size for x in n.inputs)])
    letters = n.params.partition("->")[0].replace(",", "")
    sizes = dict(zip(letters, n.inputs[0].shape + n.inputs[1].shape, strict=True))
    turns = 1
    for size in sizes.values():
        turns *= size
    return turns
