"""`ufunc.reduce` of functions that have no reduction of their own: one half with the other, again and again."""

import numpy as np

from burlab.errors import ArgumentError
from burlab.graph.node import REDUCTIONS, UFUNCS, Node, as_node
from burlab.graph.origin import location
from burlab.graph.rules import Rule
from burlab.typing import ArrayLike, Axis

from .arguments import NOT_GIVEN, normal_axes, only_defaults
from .chosen import given, only
from .promotion import BOOL, as_mask
from .reduction import halved, reduced, size_along


def _fold(name: str) -> Rule:
    """The reduction by an associative ufunc."""
    ufunc = getattr(np, name)

    def rule(a: ArrayLike, axis: Axis = None, out: None = None, keepdims: bool = False,
             initial: ArrayLike | None = NOT_GIVEN, where: ArrayLike = NOT_GIVEN) -> Node:  # fmt: skip
        only_defaults(f"np.{name}.reduce", {"out": out})
        x = as_mask(as_node(a)) if name == "logical_xor" else as_node(a)
        neutral = ufunc.identity
        if neutral is None and (given(where) or size_along(x, normal_axes(axis, x.ndim)) == 0):
            what = f"np.{name}.reduce has no value where no entry counts"
            raise ArgumentError(f"{location()}{what}. Use np.where or np.{name}(first, second).")
        x = only(x, where, lambda dtype: bool(neutral) if dtype == BOOL else neutral)
        value = halved(UFUNCS[name], x, axis, keepdims, bool(neutral) if x.dtype == BOOL else neutral)
        return value if initial is NOT_GIVEN or initial is None else UFUNCS[name](initial, value)

    return reduced(rule)


REDUCTIONS.update(
    (name, _fold(name))
    for name in "logaddexp logaddexp2 hypot fmax fmin gcd lcm bitwise_and bitwise_or bitwise_xor logical_xor".split()
)
