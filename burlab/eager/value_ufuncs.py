"""NumPy's protocols of a Value that C++ does not implement: arrays, reductions, masks."""

from collections.abc import Callable
from typing import Any, cast

import numpy as np

from burlab.runtime.plain import check_plain
from burlab.typing import Operand

from .native import types

# NumPy's loops over objects compare and return one of the two, a bare float where the constant wins: ours instead.
_CHOICES: dict[Any, str] = {np.maximum: "maximum", np.minimum: "minimum"}
_MASKS: set[Any] = {np.isnan, np.isfinite, np.isinf, np.signbit}


def answer(ufunc: np.ufunc, method: str, *inputs: Any, **keywords: Any) -> Any:
    """NumPy's `__array_ufunc__`, called with at least one Value among the inputs (or in `out`).

    The Value is put into an array of no dimensions, so that NumPy broadcasts it and loops over objects.
    """
    for x in inputs:
        check_plain(x, "an array that met a Value")
    if method == "__call__" and ufunc in _CHOICES:
        return np.frompyfunc(_choice(ufunc), 2, 1)(*map(_boxed, inputs))
    if method == "__call__" and ufunc in _MASKS:
        return ufunc(*(x.data if _is_value(x) else x for x in inputs), **keywords)
    return getattr(ufunc, method)(*map(_boxed, inputs), **keywords)


def _choice(ufunc: np.ufunc) -> Callable[[Any, Any], Any]:
    operation = types().operations[_CHOICES[ufunc]]  # symmetric, so a Value may come first

    def choose(x: Operand, y: Operand) -> Any:
        return operation(x, y) if _is_value(x) else ufunc(x, y)  # a Value on the right gets its own call

    return choose


def _is_value(x: object) -> bool:
    return isinstance(x, types().Value)


def _boxed(x: Operand) -> Any:
    if not _is_value(x):
        return x
    box = np.empty((), dtype=object)
    cast(Any, box)[()] = x
    return box
