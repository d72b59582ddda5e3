"""Functions of Values and of sequences and arrays of Values.

A reduction is one node with n partial derivatives, not a chain of n nodes: the idea is BurTorch's (arXiv:2503.13795).
It takes any iterable of Values and real numbers, or an array of them, which it flattens; without a Value among them it
gives a float.
"""

from collections.abc import Callable, Iterable
from typing import Any, cast

import numpy as np

from burlab.errors import ArgumentError, DTypeError
from burlab.runtime.checks.numbers import shown, whole
from burlab.typing import Axis, Operand

from .native import tools, types
from .value import Value


def _elementwise(name: str) -> Callable[[Any], Any]:
    operation = types().operations[name]

    def one(x: Operand) -> Any:
        return operation(x) if isinstance(x, Value) else tools().apply(operation.code, x)

    every: Any = np.frompyfunc(one, 1, 1)

    def function(x: Operand) -> Any:
        return operation(x) if isinstance(x, Value) else every(np.asarray(x, object))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{operation.__doc__} x: a Value, or an array or nested lists of Values and numbers."
    return function


relu, sigmoid, softplus, erf, gelu, silu = map(_elementwise, "relu sigmoid softplus erf gelu silu".split())


def reduce_sum(xs: Iterable[Any]) -> Any:
    """The sum of a sequence, in its order, as one node.

    Args:
        xs: Values and numbers.

    Returns:
        A Value; a number where all are numbers.

    >>> x = Value(2.0)
    >>> y = reduce_sum([x, x, 1.0])
    >>> y.backward()
    >>> y.data, x.grad
    (5.0, 2.0)
    """
    return tools().reduce("sum", _items(xs), None, None)


def reduce_mean(xs: Iterable[Any]) -> Any:
    """The mean of a sequence as one node; argument and result as of `reduce_sum`.

    Raises:
        ArgumentError: The sequence is empty.

    >>> reduce_mean([Value(2.0), 4.0]).data
    3.0
    """
    return tools().reduce("mean", _some(xs, "reduce_mean"), None, None)


def reduce_prod(xs: Iterable[Any]) -> Any:
    """The product of a sequence as one node; its derivatives are right where factors are 0.

    Argument and result are as of `reduce_sum`.

    >>> x, y = Value(0.0), Value(5.0)
    >>> reduce_prod([x, y]).backward()
    >>> x.grad, y.grad
    (5.0, 0.0)
    """
    return tools().reduce("prod", _items(xs), None, None)


def negative_mean(xs: Iterable[Any]) -> Any:
    """Minus the mean of a sequence as one node, as of log-likelihoods; argument, result and errors as of `reduce_mean`.

    >>> negative_mean([Value(2.0), 4.0]).data
    -3.0
    """
    return tools().reduce("negative_mean", _some(xs, "negative_mean"), None, None)


def sum_of_squares(xs: Iterable[Any]) -> Any:
    """The sum of the squares of a sequence as one node; argument and result as of `reduce_sum`.

    >>> sum_of_squares([Value(3.0), Value(4.0)]).data
    25.0
    """
    return tools().reduce("sum_of_squares", _items(xs), None, None)


def mean_of_squares(xs: Iterable[Any]) -> Any:
    """The mean of the squares of a sequence as one node; argument, result and errors as of `reduce_mean`.

    >>> mean_of_squares([Value(3.0), Value(4.0)]).data
    12.5
    """
    return tools().reduce("mean_of_squares", _some(xs, "mean_of_squares"), None, None)


def mean_and_mean_of_squares(xs: Iterable[Any]) -> tuple[Any, Any]:
    """The mean and the mean of the squares of a sequence, as two nodes.

    >>> mean, squares = mean_and_mean_of_squares([Value(3.0), Value(5.0)])
    >>> mean.data, squares.data
    (4.0, 17.0)
    """
    items = tuple(_some(xs, "mean_and_mean_of_squares"))
    return tools().reduce("mean", items, None, None), tools().reduce("mean_of_squares", items, None, None)


def variance(xs: Iterable[Any], ddof: int = 0) -> Any:
    """The mean squared distance from the mean as one node, as `np.var`.

    Args:
        xs: Values and numbers.
        ddof: The divisor is n - ddof.

    Returns:
        A Value; a number where all are numbers.

    Raises:
        ArgumentError: The sequence is empty.

    >>> variance([Value(3.0), Value(5.0)]).data
    1.0
    """
    items = tuple(_some(xs, "variance"))
    if len(items) <= whole(ddof, "ddof", 0):
        raise ArgumentError(
            f"variance with ddof={shown(ddof)} needs more than {shown(ddof)} items, but got {len(items)}."
        )
    return tools().reduce("variance", items, None, float(len(items) - ddof))


def dot(xs: Iterable[Any], ws: Iterable[Any], bias: Operand = 0.0) -> Any:
    """The sum of the products of two sequences, plus a bias, as one node: a neuron.

    Args:
        xs, ws: Values and numbers, as many of each.
        bias: A Value or a number.

    Returns:
        A Value; a number where all are numbers.

    Raises:
        ArgumentError: One sequence is longer.

    >>> w = [Value(2.0), Value(3.0)]
    >>> dot([10.0, 1.0], w, bias=Value(0.5)).data
    23.5
    """
    return tools().reduce("dot", _items(xs), _items(ws), bias)


def logsumexp(x: Operand, axis: Axis = None, keepdims: bool = False) -> Any:
    """log sum exp over the axes (all of them by default), one node for each result, shifted by the largest entry.

    >>> round(logsumexp([Value(1000.0), Value(1000.0)]).data, 6)
    1000.693147
    """
    array = np.asarray(x, object)
    given: Any = tuple(range(array.ndim)) if axis is None else axis
    axes = cast(tuple[int, ...], given if isinstance(given, tuple) else (given,))
    last = tuple(range(array.ndim - len(axes), array.ndim))
    rows = np.moveaxis(array, axes, last).reshape(*_without(array.shape, axes), -1)
    result: Any = np.empty(rows.shape[:-1], object)
    for place in np.ndindex(result.shape):
        result[place] = tools().reduce("logsumexp", _some(rows[place], "logsumexp"), None, None)
    return np.expand_dims(result, axes) if keepdims else result[()]


def softmax(x: Operand, axis: Axis = -1) -> Any:
    """exp x / sum exp x along an axis, shifted by the largest entry: an array of Values.

    >>> [p.data for p in softmax([Value(1000.0), Value(1000.0)])]
    [0.5, 0.5]
    """
    exponentials = np.exp(_shifted(x, axis))
    return exponentials / np.sum(exponentials, axis=axis, keepdims=True)


def log_softmax(x: Operand, axis: Axis = -1) -> Any:
    """x - logsumexp x along an axis: an array of Values.

    >>> [p.data for p in log_softmax([Value(1000.0), 0.0])]
    [0.0, -1000.0]
    """
    array = _shifted(x, axis)
    return array - logsumexp(array, axis, keepdims=True)


def _shifted(x: Operand, axis: Axis) -> Any:
    """x minus its largest entry along an axis, which changes neither softmax nor a derivative of it."""
    array = np.asarray(x, object)
    data = np.array([entry.data if isinstance(entry, Value) else entry for entry in array.ravel()], float)
    return array - np.max(data.reshape(array.shape), axis=axis, keepdims=True)


def _without(shape: tuple[int, ...], axes: tuple[int, ...]) -> tuple[int, ...]:
    dropped = {axis % len(shape) for axis in axes}
    return tuple(size for axis, size in enumerate(shape) if axis not in dropped)


def _items(xs: Iterable[Any]) -> Any:
    if isinstance(xs, np.ndarray):
        return cast(Any, xs).ravel().tolist()
    if not isinstance(xs, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance] - users pass anything
        raise DTypeError(f"expected a list of Values and real numbers, or an array, got {shown(xs)}.")
    return xs


def _some(xs: Iterable[Any], name: str) -> Any:
    items = tuple(_items(xs))
    if not items:
        raise ArgumentError(f"{name} needs at least one item, but got an empty sequence.")
    return items
