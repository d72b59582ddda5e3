"""Random order: permutations, and choices with and without replacement."""

import math
from typing import Any, cast

import numpy as np

from burlab.compiler.function import Function
from burlab.errors import ArgumentError, ShapeError
from burlab.graph import Node
from burlab.graph.linear_nodes import convert
from burlab.graph.node import as_node
from burlab.graph.numpy_api.arguments import normal_axis, whole
from burlab.graph.origin import location
from burlab.runtime.checks.numbers import flag, shown
from burlab.runtime.memory import check_fits
from burlab.runtime.plain import as_array, as_floats
from burlab.typing import Array, ArrayLike, Key, Shape

from .distributions import exponential
from .fixed_distributions import randint, uniform
from .keys import known_shape


def permutation(k: Key, x: ArrayLike, axis: int = 0) -> Any:
    """Return the elements of an array along an axis, in random order; for an integer x those of range(x), int64.

    Args:
        k: a key, shape (2,), uint64.
        x: an array, which may be traced (derivatives by it are those of its elements), or a count.
        axis: of the elements.

    Returns:
        an array of x's shape and dtype; of shape (x,) for a count.

    Raises:
        ArgumentError: for a negative count.
        ShapeError: for an array of shape ().

    >>> import burlab as bl
    >>> sorted(bl.random.permutation(bl.random.key(1), 5).tolist())
    [0, 1, 2, 3, 4]
    """
    return _permutation_function(k, _elements(x, "permutation"), whole(axis, "axis of permutation"))


def choice(
    k: Key, a: ArrayLike, shape: int | Shape = (), replace: bool = True, p: ArrayLike | None = None, axis: int = 0
) -> Any:
    """Return elements of an array along an axis, in place of which `shape` stands; for an integer a those of range(a).

    With p and without replacement: Efraimidis and Spirakis 2006, Weighted random sampling with a reservoir.

    Args:
        k: a key, shape (2,), uint64.
        a: an array, which may be traced, or a count.
        shape: of the choices.
        replace: whether an element may be chosen twice.
        p: how likely each element is, shape (n,), not negative, to any scale; all alike if not given. It may be traced,
            and no derivative passes by it.
        axis: of the elements.

    Returns:
        an array of a's dtype.

    Raises:
        ArgumentError: if there are too few elements.
        ShapeError: if p has another shape.

    >>> import numpy as np, burlab as bl
    >>> bl.random.choice(bl.random.key(1), np.array([1.0, 2.0, 3.0]), 2, p=[0.0, 1.0, 0.0])
    array([2., 2.])
    """
    p = p if p is None or isinstance(p, Node) else as_floats(p, "p of choice")
    return _choice_function(
        k,
        _elements(a, "choice"),
        p,
        known_shape(shape),
        flag(replace, "replace of choice"),
        whole(axis, "axis of choice"),
    )


def _elements(x: ArrayLike, name: str) -> Any:
    """An array, or the count of a range, which is part of the program."""
    if isinstance(x, (int, np.integer)) and not isinstance(x, bool):
        if x < 0:
            raise ArgumentError(f"{location()}{name} got {shown(x)}, expected a count or an array. Pass one from 0.")
        check_fits(8 * int(cast("Any", x)), f"{location()}{name} of {shown(x)} elements")
        return int(cast("Any", x))
    array = x if isinstance(x, Node) else as_array(x, f"the array of {name}")
    if not array.ndim:
        raise ShapeError(f"{location()}{name} got one number, expected an integer or an array. Pass int(n).")
    return array


def _permutation(k: Key, x: int | Array, axis: int) -> Any:
    values = np.arange(x) if isinstance(x, int) else x
    axis = normal_axis(axis, values.ndim)
    return np.take(as_node(values), np.argsort(uniform(k, values.shape[axis])), axis)


def _choice(k: Key, a: int | Array, p: Array | None, shape: Shape, replace: bool, axis: int) -> Any:
    values = np.arange(a) if isinstance(a, int) else a
    axis = normal_axis(axis, values.ndim)
    n, count = values.shape[axis], math.prod(shape)
    if p is not None and p.shape != (n,):
        raise ShapeError(f"{location()}choice got p of shape {p.shape} for {n} elements. Pass one number for each.")
    if p is not None:
        p = cast("Any", convert(as_node(p), np.dtype(np.float64)))  # the numbers that are drawn are float64
    if count and (not n or (not replace and count > n)):
        raise ArgumentError(
            f"{location()}choice of {count} among {n} elements {'with' if replace else 'without'} replacement. "
            "Choose fewer, or pass more elements."
        )
    if not replace:
        keys: Any = uniform(k, n) if p is None else exponential(k, n) / p
        places = np.reshape(np.argsort(keys)[:count], shape)
    elif p is None:
        places = randint(k, shape, 0, n)
    else:
        ends = cast("Any", np.cumsum(p))
        places = cast("Any", np.searchsorted)(ends, uniform(k, shape) * ends[-1], side="right")
        places = np.minimum(places, n - 1)
    return np.take(as_node(values), places, axis)


_permutation_function: Any = Function(_permutation, name="permutation", reads=())
_choice_function: Any = Function(_choice, name="choice", reads=())
