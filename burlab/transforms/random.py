"""Random numbers as functions of a key: counter-based (Philox4x64-10), so the same key gives the same numbers anywhere.

Salmon et al. 2011, Parallel random numbers: as easy as 1, 2, 3. A key is an array of two unsigned 64-bit words.
"""

import math
from typing import Any

import numpy as np

from burlab.compiler.function import Function
from burlab.errors import ArgumentError, DTypeError, ShapeError
from burlab.graph import Node
from burlab.graph.linear import reshape, slice_
from burlab.graph.node import as_node
from burlab.graph.numpy_api.promotion import apply
from burlab.graph.operation import made

_UINT64 = np.dtype(np.uint64)


def key(seed: int) -> "np.ndarray[Any, np.dtype[np.uint64]]":
    """The key of a seed, shape (2,), uint64.

    >>> key(7)
    array([7, 0], dtype=uint64)
    """
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)):  # pyright: ignore[reportUnnecessaryIsInstance] - users pass anything
        raise ArgumentError(f"seed={seed!r:.80} makes no key. Pass an int.")
    seed = int(seed)
    return np.array([seed & 0xFFFFFFFFFFFFFFFF, (seed >> 64) & 0xFFFFFFFFFFFFFFFF], np.uint64)


def _key_node(k: Any) -> Node:
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
        raise ShapeError(f"shape={shape!r:.80} is none: pass an int, or a tuple of ints that are not negative.")
    return tuple(int(size) for size in sizes)


def known_dtype(dtype: Any) -> str:
    """The name of a dtype that random numbers have. Raises DTypeError."""
    try:
        name = np.dtype(dtype).name
    except TypeError:
        name = ""
    if name not in ("float32", "float64"):
        raise DTypeError(f"random numbers are float32 or float64, got dtype={dtype!r:.80}.")
    return name


def _fold_in(k: Any, data: Any) -> Node:
    return made("fold_in", None, _key_node(k), apply("add", as_node(data), np.int64(0)))


def _uniform(k: Any, shape: tuple[int, ...], dtype: str) -> Node:
    return made("uniform", (shape, dtype), _key_node(k))


def _normal(k: Any, shape: tuple[int, ...], dtype: str) -> Node:
    """Box and Muller 1958: two uniform numbers for one normal one; 1 - u keeps the logarithm away from zero."""
    pair = _uniform(k, (2, *shape), dtype)
    lead = pair.ndim - len(shape) - 1
    half = (*pair.shape[:lead], 1, *shape)
    unit = (1,) * pair.ndim
    u, v = (slice_(pair, tuple(int(a == lead) * i for a in range(pair.ndim)), unit, half) for i in (0, 1))
    radius = apply("sqrt", apply("mul", -2.0, apply("log", apply("sub", 1.0, u))))
    wave = apply("mul", radius, apply("cos", apply("mul", 2 * math.pi, v)))
    return reshape(wave, (*pair.shape[:lead], *shape))


_fold_in_function: Any = Function(_fold_in, name="fold_in", reads=())
_uniform_function: Any = Function(_uniform, name="uniform", reads=())
_normal_function: Any = Function(_normal, name="normal", reads=())


def fold_in(k: Any, data: Any) -> Any:
    """A new key from a key and an integer: `fold_in(key, step)` for every step."""
    return _fold_in_function(k, np.int64(data) if isinstance(data, int) else data)


def uniform(k: Any, shape: int | tuple[int, ...] = (), dtype: Any = "float64") -> Any:
    """Uniform numbers in [0, 1), float64 or float32.

    >>> bool(0 <= uniform(key(1)) < 1)
    True
    """
    return _uniform_function(k, known_shape(shape), known_dtype(dtype))


def normal(k: Any, shape: int | tuple[int, ...] = (), dtype: Any = "float64") -> Any:
    """Standard normal numbers, float64 or float32.

    >>> normal(key(1), (2, 3)).shape
    (2, 3)
    """
    return _normal_function(k, known_shape(shape), known_dtype(dtype))


def bernoulli(k: Any, p: Any, shape: int | tuple[int, ...] = ()) -> Any:
    """A mask that is true with probability p. Raises ArgumentError for a plain number outside of [0, 1].

    >>> bernoulli(key(1), 1.0, 3)
    array([ True,  True,  True])
    """
    _check_probability(p)
    return np.less(uniform(k, shape), p)


def _check_probability(p: Any) -> None:
    """Refuse a plain number that is no probability."""
    if isinstance(p, (int, float, np.number)) and not 0 <= p <= 1:
        raise ArgumentError(f"bernoulli got p={p}, expected a probability. Pass a number from 0 to 1.")
