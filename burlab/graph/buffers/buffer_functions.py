"""Arrays to write into, and updates without writing: explicit calls that work everywhere.

Inside of a traced function `zeros`, `ones`, `full`, `empty` and `buffer` give arrays that take traced entries, as
NumPy's own constructors do where burlab can see the call. Elsewhere they give plain arrays.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from burlab.errors import AllocationError, BurlabError, DTypeError, IndexRangeError, ShapeError
from burlab.graph.handles import present
from burlab.graph.node import Node, as_node
from burlab.graph.numpy_api import updates
from burlab.graph.numpy_api.arguments import known_dtype
from burlab.graph.origin import location
from burlab.graph.substitute import copy
from burlab.runtime.checks.numbers import shown
from burlab.runtime.plain import as_array, check_numbers
from burlab.typing import ArrayLike, DTypeLike, Index, ShapeLike

from .buffer import Buffer, buffer_of, fresh
from .making import array
from .traced_memory import is_traced_key, known_key, written


def _new(make: Callable[..., Any], shape: ShapeLike, *rest: Any) -> Any:
    """An array by NumPy. Raises AllocationError if it is too large, ShapeError and DTypeError."""
    *value, dtype = rest
    dtype = dtype if dtype is None else known_dtype(dtype)
    try:
        return fresh(make(shape, *value, dtype))
    except BurlabError:
        raise
    except MemoryError as error:
        raise AllocationError(f"{location()}no array can have this shape: {error}. Pass a smaller one.") from None
    except (TypeError, ValueError, OverflowError) as error:
        if "Maximum allowed" not in str(error) and "too big" not in str(error) and "too large" not in str(error):
            filled = f" filled with {shown(value[0])}" if value else ""
            raise ShapeError(
                f"{location()}expected a shape and a number that fills it, got {shown(shape)}{filled}. Pass ints from "
                "0, and a number, or an array that broadcasts to them."
            ) from None
        why = "it has more entries than NumPy can count"
        raise AllocationError(f"{location()}no array can have this shape: {why}. Pass a smaller one.") from None


def zeros(shape: ShapeLike, dtype: DTypeLike = float) -> Any:
    """An array of zeros to write into.

    Args:
        shape, dtype: As for np.zeros.

    Returns:
        An array; while a function is traced, one whose writes are recorded.

    >>> import numpy as np, burlab as bl
    >>> def powers(x):
    ...     out = bl.zeros(3)
    ...     for k in range(3):
    ...         out[k] = x**k
    ...     return out
    >>> bl.jit(powers)(2.0), powers(2.0)
    (array([1., 2., 4.]), array([1., 2., 4.]))
    """
    return _new(np.zeros, shape, dtype)


def ones(shape: ShapeLike, dtype: DTypeLike = float) -> Any:
    """An array of ones to write into; arguments and result as of `zeros`.

    >>> import burlab as bl
    >>> bl.ones(2)
    array([1., 1.])
    """
    return _new(np.ones, shape, dtype)


def empty(shape: ShapeLike, dtype: DTypeLike = float) -> Any:
    """An array of any numbers, to be filled; arguments and result as of `zeros`.

    >>> import burlab as bl
    >>> bl.empty((2, 3)).shape
    (2, 3)
    """
    return _new(np.empty, shape, dtype)


def full(shape: ShapeLike, value: ArrayLike, dtype: DTypeLike = None) -> Any:
    """An array that is filled with a value, to write into.

    Args:
        shape: As for np.full.
        value: A number or an array that broadcasts to the shape; it may be traced.
        dtype: None for that of the value.

    Returns:
        An array as of `zeros`.

    >>> import burlab as bl
    >>> bl.full(2, 7.0)
    array([7., 7.])
    """
    value = present(value)
    if not isinstance(value, Node):
        return _new(np.full, shape, value, dtype)
    result = _new(np.zeros, shape, dtype or value.dtype)
    result[...] = value
    return result


def buffer(values: ArrayLike, dtype: DTypeLike = None) -> Any:
    """A new array with these values, to write into: a copy, as np.array gives.

    Args:
        values: Numbers or traced ones.
        dtype: None for that of the values.

    Returns:
        An array as of `zeros`.

    >>> import numpy as np, burlab as bl
    >>> def first_doubled(x):
    ...     y = bl.buffer(x)
    ...     y[0] *= 2
    ...     return y
    >>> bl.jit(first_doubled)(np.array([1.0, 5.0]))
    array([2., 5.])
    """
    dtype = dtype if dtype is None else known_dtype(dtype)
    try:
        return array(np.array)(values, dtype)
    except BurlabError:
        raise
    except (TypeError, ValueError, OverflowError):
        into = "an array" if dtype is None else f"an array of {dtype}"
        raise DTypeError(f"{location()}{shown(values)} cannot be made {into}. Pass numbers, all rows alike.") from None


def at_set(x: ArrayLike, index: Index, value: ArrayLike) -> Any:
    """A copy of x in which x[index] is value; x itself stays as it was.

    Args:
        x: An array of any shape.
        index: Whatever NumPy takes, and traced integers. Of an entry that it names twice the last value counts.
        value: Broadcast to the shape of x[index], converted to the dtype of x.

    Returns:
        An array of x's shape and dtype.

    Raises:
        IndexRangeError: An index is out of range.
        ShapeError, ValueError: The shapes do not fit.

    >>> import numpy as np, burlab as bl
    >>> bl.jit(lambda x, i: bl.at_set(x, i, 9.0))(np.zeros(3), np.array(1))
    array([0., 9., 0.])
    """
    return _updated("at_set", _set, x, index, value)


def _set(x: ArrayLike, index: Index, value: ArrayLike) -> Any:
    if isinstance(x, Node) and is_traced_key(index):
        return updates.at_set(x, index, value)
    if isinstance(x, Node) or isinstance(value, Node) or is_traced_key(index):
        result = buffer_of(as_node(x))
        result[index] = value
        held = as_node(result)
        return copy(held, held.inputs) if held.inputs else held  # the value itself, where it covers all
    result = fresh(as_array(x, "x of at_set").copy())
    result[index] = value
    return result


def at_add(x: ArrayLike, index: Index, value: ArrayLike) -> Any:
    """A copy of x in which value is added to x[index]; an entry that the index names twice gets both.

    Arguments, result and errors are those of `at_set`.

    >>> import numpy as np, burlab as bl
    >>> bl.jit(lambda x: bl.at_add(x, np.array([0, 0, 2]), 1.0))(np.zeros(3))
    array([2., 0., 1.])
    """
    return _updated("at_add", _add, x, index, value)


def _add(x: Any, index: Index, value: Any) -> Any:
    if isinstance(x, Node) or isinstance(value, Node) or is_traced_key(index):
        return updates.at_add(as_node(x), index, value)
    result = fresh(as_array(x, "x of at_add").copy())
    np.add.at(result.numbers if isinstance(result, Buffer) else result, index, np.asarray(value, result.dtype))
    return result


def _updated(name: str, update: Callable[..., Any], x: Any, index: Index, value: Any) -> Any:
    """An update; what NumPy raises of its index or its value, in our words."""
    x, index, value = present(x), known_key(index), written(value)
    try:
        return update(x, index, value)
    except BurlabError:
        raise
    except IndexError as error:
        raise IndexRangeError(
            f"{location()}the index of {name} does not fit x of shape {np.shape(x)}: {error}. Pass one that does."
        ) from None
    except OverflowError as error:
        raise DTypeError(f"{location()}{name} in an array of {x.dtype}: {error}. Convert x with .astype.") from None
    except (TypeError, ValueError):
        if not isinstance(value, Node):
            check_numbers(value, f"{location()}value of {name}")
        raise ShapeError(
            f"{location()}value of {name} has shape {np.shape(value)}, which does not broadcast to that of x[index], "
            f"x being of shape {np.shape(x)}. Reshape it."
        ) from None
