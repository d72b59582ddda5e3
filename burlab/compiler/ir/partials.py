"""Where several threads leave the sums of blocks of a loop that ends in sums, to be added up in the order of one."""

from burlab.graph import Node

from .strides import Shape, elements

BLOCK = 512  # numbers whose sum is left at least
_SUMS = 64  # bytes that a block leaves at most: the lanes of a register
_MIN_ELEMENTS = 2 * BLOCK


def bytes_of_partials(shape: Shape) -> int:
    """Bytes for one sum over a shape."""
    return _SUMS * (-(-elements(shape) // BLOCK) + 1)


def partials_of(nodes: tuple[Node, ...], shape: Shape) -> int:
    """Bytes for all sums that end a loop over a shape; 0 if it has none, or is short."""
    sums = sum(n.row.epilogue is not None and not n.shape for n in nodes)
    return sums * bytes_of_partials(shape) if elements(shape) >= _MIN_ELEMENTS else 0
