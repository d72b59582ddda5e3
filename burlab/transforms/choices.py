"""`switch` and `fori_loop`: control flow made of `cond`, `scan` and `while_loop`."""

import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from burlab.errors import ArgumentError, TraceError
from burlab.graph import Node
from burlab.graph.node import as_node
from burlab.graph.origin import location
from burlab.runtime.checks.callable import check_takes
from burlab.runtime.checks.numbers import shown
from burlab.typing import ArrayLike, Tree

from .control import cond, while_loop
from .scan import scan


def switch(index: ArrayLike, branches: Sequence[Callable[..., Any]], *operands: Tree) -> Tree:
    """Return branches[index](*operands), executing only that one, even where the index is traced: JAX's switch.

    It is a tree of `cond` of logarithmic depth: results of one form, values from around, derivatives of every order.

    Args:
        index: one integer; below 0 it counts as 0, above the last branch as the last.
        branches: one or more functions of the operands.
        operands: arrays, numbers or trees of them.

    Returns:
        The result of the branch.

    Raises:
        ArgumentError: if branches are not functions.
        TraceError, ShapeError, DTypeError: as for `cond`, or for another index.

    >>> import numpy as np, burlab as bl
    >>> f = bl.jit(lambda k, x: bl.switch(k, [np.sin, np.exp, lambda x: x * x], x))
    >>> float(f(np.array(2), 3.0)), float(f(np.array(-7), 0.0))
    (9.0, 0.0)
    """
    given = branches
    branches = tuple(given) if isinstance(given, Iterable) else ()  # pyright: ignore[reportUnnecessaryIsInstance] - users
    if not branches or not all(map(callable, branches)):
        raise ArgumentError(
            f"{location()}branches of switch are {shown(given)}, expected one or more functions of the operands. "
            "Pass a list of functions."
        )
    number = _whole(index, "index of switch")
    if isinstance(number, int):
        return branches[min(max(number, 0), len(branches) - 1)](*operands)
    return _chosen(number, 0, branches)(*operands)


def _chosen(index: Node, first: int, branches: Sequence[Callable[..., Any]]) -> Callable[..., Any]:
    """The branch of an index, where `first` is that of the first one of these."""
    if len(branches) == 1:
        return branches[0]
    half = len(branches) // 2
    low, high = _chosen(index, first, branches[:half]), _chosen(index, first + half, branches[half:])
    return lambda *operands: cond(index < first + half, low, high, *operands)


def fori_loop(lower: ArrayLike, upper: ArrayLike, body: Callable[[Any, Any], Any], start: Tree) -> Tree:
    """Return the state after `for i in range(lower, upper): state = body(i, state)`, from `start`: JAX's fori_loop.

    Where both ends are known it is a `scan`, with derivatives of every order; where one is traced a `while_loop`, which
    has none.

    Args:
        lower: the first index, an integer.
        upper: the end of the range, an integer.
        body: a function of the index, int64, and the state that returns a state of the same structure, shapes and
            dtypes.
        start: an array or number, or any tree of them.

    Returns:
        The last state.

    Raises:
        TraceError, ShapeError, DTypeError: as for `scan` and `while_loop`.

    >>> import numpy as np, burlab as bl
    >>> power = lambda x, n: bl.fori_loop(0, n, lambda i, y: y * x, 1.0)
    >>> float(bl.grad(power)(3.0, 2)), float(bl.jit(power)(3.0, np.array(4)))
    (6.0, 81.0)
    """
    check_takes(body, "the body of fori_loop", "an index and a state", "def body(i, state).", 2, where=location)
    first, end = _whole(lower, "lower end of fori_loop"), _whole(upper, "upper end of fori_loop")
    if isinstance(first, int) and isinstance(end, int):
        return scan(lambda state, i: (body(i, state), None), start, np.arange(first, max(first, end)))[0]
    return while_loop(lambda s: s[0] < end, lambda s: (s[0] + 1, body(*s)), (as_node(first), start))[1]


def _whole(value: Any, what: str) -> int | Node:
    """One integer, known or traced. Raises TraceError."""
    if isinstance(value, Node):
        if not value.shape and value.dtype.kind in "iu":
            return value
        got = f"{value.dtype} of shape {value.shape}"
    else:
        try:
            return operator.index(value)
        except TypeError:
            shape = getattr(value, "shape", ())
            got = f"an array of shape {shape}" if shape else f"a {type(value).__name__}"
    raise TraceError(f"{location()}the {what} must be one integer, got {got}. Convert it with .astype(int).")
