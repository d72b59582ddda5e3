"""The arguments `where` and `initial` of NumPy's reductions: the entries that count, and the start value."""

from collections.abc import Callable
from typing import Any

import numpy as np

from burlab.errors import ArgumentError
from burlab.graph.linear_nodes import broadcast
from burlab.graph.node import Node, as_node, constant
from burlab.graph.origin import location
from burlab.typing import ArrayLike

from . import elementwise
from .arguments import NOT_GIVEN
from .promotion import apply, as_dtype, as_mask

Neutral = Callable[["np.dtype[Any]"], Any]


def zero(_dtype: "np.dtype[Any]") -> int:
    """Return the neutral element of sums."""
    return 0


def one(_dtype: "np.dtype[Any]") -> int:
    """Return the neutral element of products."""
    return 1


def lowest(dtype: "np.dtype[Any]") -> Any:
    """Return the neutral element of maxima."""
    return -np.inf if dtype.kind == "f" else False if dtype.kind == "b" else np.iinfo(dtype).min


def highest(dtype: "np.dtype[Any]") -> Any:
    """Return the neutral element of minima."""
    return np.inf if dtype.kind == "f" else True if dtype.kind == "b" else np.iinfo(dtype).max


def given(argument: object) -> bool:
    """Return True if an argument is given and differs from its default."""
    return argument is not NOT_GIVEN and argument is not None and argument is not True


def only(x: Node, where: ArrayLike, neutral: Neutral) -> Node:
    """The entries that count; the others become the neutral element. No derivative reaches these."""
    if not given(where):
        return x
    mask = as_mask(as_node(where))
    shape = np.broadcast_shapes(x.shape, mask.shape)
    return elementwise.where(broadcast(mask, shape), broadcast(x, shape), constant(neutral(x.dtype), x.dtype))


def counted(x: Node, where: ArrayLike) -> Node:
    """1.0 for each entry that counts, 0.0 for the others."""
    return only(constant(np.broadcast_to(np.float64(1.0), x.shape)), where, zero)


def from_initial(op: str, value: Node, initial: ArrayLike | None) -> Node:
    """A reduction that begins with a number."""
    if initial is NOT_GIVEN or initial is None:
        return value
    first = as_node(initial)
    return apply(op, value, as_mask(first) if value.dtype.kind == "b" else as_dtype(first, value.dtype))


def check_initial(name: str, where: ArrayLike, initial: ArrayLike | None) -> None:
    """Raise ArgumentError if no entry counts and there is no start value, as NumPy does."""
    if given(where) and (initial is NOT_GIVEN or initial is None):
        what = f"np.{name}(where=...) has no value where no entry counts"
        raise ArgumentError(f"{location()}{what}. Pass initial=, as NumPy asks for.")
