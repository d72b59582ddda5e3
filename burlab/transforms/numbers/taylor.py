"""`taylor`: the Taylor coefficients of a function along a line."""

from collections.abc import Callable
from typing import Any

from burlab.compiler.function import Function
from burlab.errors import DTypeError
from burlab.graph import Graph, tree
from burlab.graph.linear_nodes import broadcast, concatenate
from burlab.graph.node import Node
from burlab.runtime.checks.numbers import whole
from burlab.transforms.call import TracedCall, match, name_of
from burlab.transforms.memo import remembered
from burlab.typing import Tree

from .series import Series, SeriesWalk

_MAX_ORDER = 1000  # the graph grows as its square


def taylor(f: Callable[..., Any], x: Tree, v: Tree, order: int) -> Any:
    """Return the Taylor coefficients c_0 to c_order of f(x + t v) = c_0 + c_1 t + c_2 t^2 + ...: its jet.

    The derivative of order k along v is k! c_k. Each operation has a recurrence for its coefficients (Griewank and
    Walther 2008, Evaluating Derivatives, chapter 13), so the work grows as the square of the order; that of nested
    `jvp` doubles with each order. For a curve other than a line take x = 0.0, v = 1.0 and a function of t. Where f is
    not smooth the coefficients are those of the piece that it computes at x.

    Args:
        f: a function of one floating array or number, or any tree of them.
        x: its argument.
        v: the direction, a tree of x's structure, shapes and dtypes.
        order: the highest power of t, from 1 to 1000.

    Returns:
        A tree like the result of f, each array with a new leading axis of order + 1 coefficients.

    Raises:
        ArgumentError: if the order is not a whole number from 1 to 1000.
        ShapeError, DTypeError: if v differs from x, or a result is not floating.
        TraceError: if f holds an operation without a rule, such as `while_loop`, or a function whose derivatives by a
            parameter end before the order, as those of incomplete gamma and beta functions; it names the user's line.

    >>> import numpy as np, burlab as bl
    >>> bl.taylor(np.exp, 0.0, 1.0, 4).round(4)
    array([1.    , 1.    , 0.5   , 0.1667, 0.0417])
    >>> bl.taylor(lambda x: np.sum(x**3), np.array([1.0, 2.0]), np.array([1.0, 0.0]), 3)
    array([9., 3., 3., 1.])
    """
    highest = whole(order, "order of taylor", 1, _MAX_ORDER)

    def rule(x: Tree, v: Tree) -> Any:
        call = TracedCall(f, (x,), {}, (0,), "taylor")
        inputs, structure = call.by(0, "taylor")
        directions = match(v, inputs, structure, "the direction v of taylor")
        outputs, form = tree.flatten(call.result)
        for y in outputs:
            if y.dtype.kind != "f":
                raise DTypeError(f"taylor needs floating results; {name_of(f)} returned {y.dtype}.")
        lines = [Series(x, lambda k, d=d: d if k == 1 else None) for x, d in zip(inputs, directions, strict=True)]
        found = SeriesWalk(highest).of(Graph(call.inputs, tuple(outputs)), lines)
        stacked = [_stacked(y, highest) for y in found]
        return call.place(tree.unflatten(form, stacked))

    key = ("taylor", highest)
    return remembered(f, key, lambda: Function(rule, name=f"taylor({name_of(f)})", reads=(f,)))(x, v)


def _stacked(y: Series, order: int) -> Node:
    for k in range(order + 1):  # in order: each needs those below, and none many of them
        y[k]
    axes = tuple(range(1, y.primal.ndim + 1))
    return concatenate([broadcast(c, (1, *c.shape), axes) for c in y.dense(order + 1)], 0)
