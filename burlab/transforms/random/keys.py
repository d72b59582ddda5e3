"""Keys, and keys of keys."""

import math
from typing import Any

import numpy as np

from burlab.compiler.function import Function
from burlab.errors import ArgumentError, DTypeError, ShapeError
from burlab.graph import Node
from burlab.graph.linear_nodes import broadcast, reshape
from burlab.graph.node import as_node, constant
from burlab.graph.numpy_api.promotion import as_dtype
from burlab.graph.operation import make_node
from burlab.graph.origin import location
from burlab.runtime.checks.numbers import shown
from burlab.runtime.memory import check_fits, volume
from burlab.typing import ArrayLike, DTypeLike, Key

_UINT64, _INT64 = np.dtype(np.uint64), np.dtype(np.int64)
_SPLIT = 0x53504C4954  # folded in before the position: the keys of a split are none of those that fold_in gives


def key(seed: int) -> "np.ndarray[Any, np.dtype[np.uint64]]":
    """Return the key of a seed.

    Args:
        seed: an int of up to 128 bits, negative ones modulo 2**128.

    Returns:
        the key, shape (2,), uint64.

    Raises:
        ArgumentError: for another seed.

    >>> import burlab as bl
    >>> bl.random.key(7)
    array([7, 0], dtype=uint64)
    """
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)):  # pyright: ignore[reportUnnecessaryIsInstance] - users pass anything
        raise ArgumentError(f"seed must be an int, got {shown(seed)}. Pass one, such as 0.")
    seed = int(seed)
    if not -(2**127) <= seed < 2**128:
        raise ArgumentError(
            f"a seed of {seed.bit_length()} bits makes no key: keys have 128. Pass one from -2**127 to 2**128 - 1."
        )
    return np.array([seed & 0xFFFFFFFFFFFFFFFF, (seed >> 64) & 0xFFFFFFFFFFFFFFFF], np.uint64)


def key_node(k: Key) -> Node:
    """A key, or a batch of keys, as a node. Raises ArgumentError."""
    node = as_node(k)
    if node.dtype != _UINT64 or node.shape[-1:] != (2,):
        raise ArgumentError(
            f"a key is a uint64 array of shape (2,), got {node.dtype} of shape {node.shape}. Use key(seed)."
        )
    return node


def known_shape(shape: int | tuple[int, ...]) -> tuple[int, ...]:
    """A shape as a tuple. Raises ShapeError."""
    sizes: Any = shape if isinstance(shape, (tuple, list)) else (shape,)
    if any(isinstance(size, bool) or not isinstance(size, (int, np.integer)) or size < 0 for size in sizes):
        raise ShapeError(f"shape must be ints that are not negative, got {shown(shape)}. Pass an int or a tuple.")
    found = tuple(int(size) for size in sizes)
    check_fits(volume(found), f"{location()}an array of shape {shown(found)}")
    return found


def known_dtype(dtype: DTypeLike, names: tuple[str, ...] = ("float32", "float64")) -> str:
    """The name of a dtype that random numbers have. Raises DTypeError."""
    try:
        name = np.dtype(dtype).name
    except (TypeError, ValueError):
        name = ""
    if name not in names:
        raise DTypeError(f"random numbers are {', '.join(names[:-1])} or {names[-1]}, got dtype={shown(dtype)}.")
    return name


def _fold_in(k: Key, data: ArrayLike) -> Node:
    parent, number = key_node(k), as_node(data)
    if number.dtype.kind == "f":
        raise DTypeError(f"{location()}data of fold_in is {number.dtype}, expected integers. Pass x.astype(np.int64).")
    number = as_dtype(number, _INT64)
    numbers = number if number.shape else broadcast(number, parent.shape[:-1], ())
    return make_node("fold_in", None, parent, numbers)


def _split(k: Key, shape: tuple[int, ...]) -> Node:
    parent = _fold_in(k, np.int64(_SPLIT))
    lead, count = parent.shape[:-1], math.prod(shape)
    keys = broadcast(parent, (*lead, count, 2), (*range(len(lead)), len(lead) + 1))
    places = broadcast(constant(np.arange(count)), (*lead, count), (len(lead),))
    return reshape(make_node("fold_in", None, keys, places), (*lead, *shape, 2))


_fold_in_function: Any = Function(_fold_in, name="fold_in", reads=())
_split_function: Any = Function(_split, name="split", reads=())


def fold_in(k: Key, data: ArrayLike) -> Any:
    """Return a new key from a key and an integer: `fold_in(key, step)` for every step.

    Args:
        k: a key, shape (2,), uint64, or a batch of them.
        data: an integer of up to 64 bits, or an array of them, one for each key.

    Returns:
        a key, shape (2,), uint64, or one for each of the batch.

    Raises:
        ArgumentError: for a larger int.
        DTypeError: for floats.

    >>> import numpy as np, burlab as bl
    >>> bool(np.all(bl.random.fold_in(bl.random.key(7), 1) != bl.random.fold_in(bl.random.key(7), 2)))
    True
    """
    if isinstance(data, int):
        if not -(2**63) <= data < 2**64:
            raise ArgumentError(
                f"{location()}data of fold_in has {data.bit_length()} bits, expected 64 at most. Pass a smaller int."
            )
        data = np.array(data % 2**64, np.uint64).view(np.int64)[()]
    return _fold_in_function(k, data)


def split(k: Key, num: int | tuple[int, ...] = 2) -> Any:
    """Return new keys from a key.

    Args:
        k: a key, shape (2,), uint64.
        num: how many, or the shape of an array of them.

    Returns:
        an array of shape (*num, 2), uint64.

    >>> import burlab as bl
    >>> for_weights, for_noise = bl.random.split(bl.random.key(7))
    >>> bl.random.split(bl.random.key(7), (2, 3)).shape
    (2, 3, 2)
    """
    return _split_function(k, known_shape(num))


def check_broadcasts(given: tuple[int, ...], shape: tuple[int, ...], what: str) -> None:
    """Raise ShapeError where an array of a shape is not one value for each number of another."""
    if len(given) > len(shape) or any(d not in (1, n) for d, n in zip(given[::-1], shape[::-1], strict=False)):
        raise ShapeError(
            f"{location()}{what} has shape {given}, which does not broadcast to shape {shape}. Pass a shape that has "
            "room for it."
        )
