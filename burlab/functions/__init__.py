"""Functions that NumPy lacks, for whatever a user holds: arrays and numbers, traced values, or `Value`s on a tape."""

import sys
from collections.abc import Callable
from typing import Any

from burlab.compiler.function import Function
from burlab.errors import DTypeError
from burlab.graph import Node
from burlab.graph.handles import present
from burlab.graph.numpy_api import composites, counting
from burlab.graph.numpy_api.promotion import apply
from burlab.graph.origin import location
from burlab.runtime.plain import as_array, check_items, endless, is_complex
from burlab.typing import Array, Axis, Operand

__all__ = [
    "bincount", "erf", "gelu", "log_softmax", "logsumexp", "relu", "sigmoid", "silu", "softmax", "softplus", "top_k",
    "unique",
]  # fmt: skip


def _first(x: Any) -> Any:
    """The value itself, or one inside of nested lists and object arrays: a traced one or a `Value` if there is any."""
    holds_objects = getattr(getattr(x, "dtype", None), "kind", "") == "O"
    if not holds_objects and type(x) not in (list, tuple):
        return x
    try:
        parts = [_first(item) for item in (x.ravel() if holds_objects else x)]
    except RecursionError:
        raise endless("x") from None
    return next((part for part in parts if isinstance(part, Node) or _on_tape(part)), parts[0] if parts else x)


def _on_tape(x: object) -> bool:
    eager = sys.modules.get("burlab.eager")  # no tape, no Value: asking must not start the compiler
    return eager is not None and isinstance(x, eager.Value)


def _floats(array: Array, name: str) -> Any:
    """Numbers in float64. Raises DTypeError where one does not fit."""
    try:
        return array.astype(float)
    except (TypeError, ValueError):
        raise DTypeError(f"{location()}x of {name} has dtype {array.dtype}, expected numbers.") from None
    except OverflowError:
        what = f"x of {name} holds an int beyond 1.8e308, the largest float64"
        raise DTypeError(f"{location()}{what}. Pass smaller numbers, or their logarithms.") from None


def _choose(name: str, rule: Callable[..., Node]) -> Callable[..., Any]:
    """The function that goes to the graph, to the tape, or to a compiled kernel, by what it is given."""
    kernel: Any = Function(rule, name=name, reads=())

    def chosen(x: Operand, **options: Any) -> Any:
        x = present(x)
        if is_complex(x):
            raise DTypeError(f"{location()}x of {name} is complex, expected real numbers. Pass np.abs(x) or x.real.")
        first = _first(x)
        check_items(x, f"x of {name}")
        if isinstance(first, Node):
            return rule(x, **options)
        if _on_tape(first):
            from burlab.eager import value_functions

            return getattr(value_functions, name)(x, **options)
        if isinstance(x, float):
            return kernel(x, **options)
        array = as_array(x, f"x of {name}")
        return kernel(array if array.dtype.kind == "f" else _floats(array, name), **options)

    return chosen


def _scalar(name: str) -> Callable[..., Any]:
    def rule(x: Operand) -> Node:
        return apply(name, x)

    return _choose(name, rule)


_relu, _sigmoid, _softplus, _erf, _gelu, _silu = map(_scalar, ("relu", "sigmoid", "softplus", "erf", "gelu", "silu"))
_logsumexp = _choose("logsumexp", composites.logsumexp)
_softmax = _choose("softmax", composites.softmax)
_log_softmax = _choose("log_softmax", composites.log_softmax)


def relu(x: Operand) -> Any:
    """max(x, 0) of every entry; relu'(0) = 0.

    Args:
        x: A number, an array of any shape, a traced value or Values.

    Returns:
        A result of x's shape and floating dtype.

    >>> import numpy as np
    >>> relu(np.array([-1.0, 2.0]))
    array([0., 2.])
    """
    return _relu(x)


def sigmoid(x: Operand) -> Any:
    """1 / (1 + e^-x) of every entry, without overflow; argument and result as of `relu`.

    >>> float(sigmoid(0.0))
    0.5
    """
    return _sigmoid(x)


def softplus(x: Operand) -> Any:
    """log(1 + e^x) of every entry, without overflow; argument and result as of `relu`.

    >>> float(softplus(1000.0))
    1000.0
    """
    return _softplus(x)


def erf(x: Operand) -> Any:
    """The error function of every entry; argument and result as of `relu`.

    >>> float(erf(0.0))
    0.0
    """
    return _erf(x)


def gelu(x: Operand) -> Any:
    """x Phi(x) of every entry, Phi the normal distribution function: the exact form of Hendrycks and Gimpel 2016.

    Argument and result are as of `relu`.

    >>> float(gelu(0.0))
    0.0
    """
    return _gelu(x)


def silu(x: Operand) -> Any:
    """x sigmoid(x) of every entry; argument and result as of `relu`.

    >>> float(silu(0.0))
    0.0
    """
    return _silu(x)


def logsumexp(x: Operand, axis: Axis = None, keepdims: bool = False) -> Any:
    """log sum exp over the axes, shifted by the largest entry.

    Args:
        x: As for `relu`.
        axis: The axis or axes; None for all.
        keepdims: True to keep these axes, of length 1.

    Returns:
        A result of the shape of `np.sum`.

    >>> import numpy as np
    >>> round(float(logsumexp(np.array([1000.0, 1000.0]))), 6)
    1000.693147
    """
    return _logsumexp(x, axis=axis, keepdims=keepdims)


def softmax(x: Operand, axis: Axis = -1) -> Any:
    """exp x / sum exp x along an axis, shifted by the largest entry.

    Args:
        x: As for `relu`.
        axis: The axis or axes of the sum.

    Returns:
        A result of x's shape.

    >>> import numpy as np
    >>> softmax(np.array([0.0, 0.0]))
    array([0.5, 0.5])
    """
    return _softmax(x, axis=axis)


def log_softmax(x: Operand, axis: Axis = -1) -> Any:
    """x - logsumexp x along an axis; arguments and result as of `softmax`.

    >>> import numpy as np
    >>> log_softmax(np.array([1000.0, 0.0])).tolist()
    [0.0, -1000.0]
    """
    return _log_softmax(x, axis=axis)


def bincount(x: Operand, weights: Operand | None = None, *, length: int) -> Any:
    """Count how often each of 0, ..., length - 1 occurs among integers: as np.bincount, but of a known length.

    Args:
        x: Integers, shape (n,); others are not counted.
        weights: Shape (n,), which are added up instead, and have derivatives.
        length: Number of results.

    Returns:
        Shape (length,), int64 or the dtype of the weights.

    Raises:
        ArgumentError: x is no vector of integers.

    >>> import numpy as np
    >>> bincount(np.array([0, 2, 2, 7]), length=4)
    array([1, 0, 2, 0])
    """
    return _counted(counting.bincount, _bincount, x, weights, length=length)


def top_k(x: Operand, k: int) -> tuple[Any, Any]:
    """The k largest entries along the last axis, the largest first, and their positions.

    Args:
        x: Shape (..., n). Of entries that tie, the first ones are taken; nan is larger than all, as in np.sort.
        k: At most n.

    Returns:
        Entries, to which derivatives go, and positions, int64: shapes (..., k).

    Raises:
        ArgumentError: There are fewer than k.

    >>> import numpy as np
    >>> top_k(np.array([3.0, 9.0, 5.0]), 2)
    (array([9., 5.]), array([1, 2]))
    """
    return _counted(counting.top_k, _top_k, x, k=k)


def unique(x: Operand, *, size: int, fill_value: Operand | None = None) -> Any:
    """The first `size` different entries of x in order: np.unique, but of a known size.

    Args:
        x: An array; the first of entries that tie has their derivative.
        size: Number of results.
        fill_value: Stands behind them where there are fewer; the smallest entry unless given.

    Returns:
        Shape (size,), of x's dtype.

    Raises:
        ArgumentError: The size is negative.

    >>> import numpy as np
    >>> unique(np.array([5.0, 2.0, 5.0]), size=3, fill_value=0.0)
    array([2., 5., 0.])
    """
    return _counted(counting.unique, _unique, x, size=size, fill_value=fill_value)


def _counted(rule: Callable[..., Any], kernel: Callable[..., Any], *arrays: Any, **options: Any) -> Any:
    """The rule where an array is traced, else the kernel."""
    if any(isinstance(_first(x), Node) for x in arrays):
        return rule(*arrays, **options)
    return kernel(*(x if x is None else as_array(x, f"an array of {rule.__name__}") for x in arrays), **options)


_bincount = Function(counting.bincount, name="bincount", reads=())
_top_k = Function(counting.top_k, name="top_k", reads=())
_unique = Function(counting.unique, name="unique", reads=())
