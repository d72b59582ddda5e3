"""The operators `&`, `|`, `^`, `~`, `<<` and `>>` of masks and integers; np.gcd and np.lcm, of integers only."""

from collections.abc import Callable
from typing import Any

from burlab.graph.faults import fault
from burlab.graph.node import UFUNCS, Node, as_node

from .promotion import BOOL, INT8, apply, as_dtype, promote


def _bits(op: str, on_masks: str, symbol: str, remedy: str) -> Callable[..., Node]:
    def rule(*values: Any) -> Node:
        xs = [as_node(x) for x in values]
        if on_masks and all(x.dtype is BOOL for x in xs):
            return apply(on_masks, *xs)
        xs = promote(xs)
        if xs[0].dtype.kind == "f":
            raise fault(f"{symbol} of traced floats", remedy)
        if xs[0].dtype == BOOL and op in ("gcd", "lcm"):
            raise fault(f"{symbol} of masks, which NumPy refuses too", remedy)
        if xs[0].dtype != BOOL:
            return apply(op, *xs)
        return apply(op, *(as_dtype(x, INT8) for x in xs))

    return rule


_MASKS_OR_INTEGERS = "a comparison such as x > 0 on each side, or integers"
UFUNCS.update({
    "bitwise_and": _bits("bitwise_and", "logical_and", "&", _MASKS_OR_INTEGERS),
    "bitwise_or": _bits("bitwise_or", "logical_or", "|", _MASKS_OR_INTEGERS),
    "bitwise_xor": _bits("bitwise_xor", "not_equal", "^", "x ** k for a power, np.logical_xor for masks"),
    "invert": _bits("invert", "logical_not", "~", _MASKS_OR_INTEGERS),
    "left_shift": _bits("left_shift", "", "<<", "x * 2**k"),
    "right_shift": _bits("right_shift", "", ">>", "x // 2**k"),
    "gcd": _bits("gcd", "", "np.gcd", "integers"), "lcm": _bits("lcm", "", "np.lcm", "integers"),
})  # fmt: skip
