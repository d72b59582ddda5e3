"""Numbers with fixed distributions: uniform, normal, signs, flags, integers."""

import math
from typing import Any

import numpy as np

from burlab.compiler.function import Function
from burlab.errors import ArgumentError, DTypeError
from burlab.graph import Node
from burlab.graph.linear_nodes import concatenate, convert, reshape, slice_
from burlab.graph.node import as_node
from burlab.graph.numpy_api.elementwise import cos, floor, log, remainder, sqrt, where
from burlab.graph.numpy_api.promotion import apply
from burlab.graph.operation import make_node
from burlab.graph.origin import location
from burlab.runtime.checks.numbers import shown
from burlab.runtime.plain import as_array
from burlab.typing import ArrayLike, DTypeLike, Key, Shape

from .keys import check_broadcasts, key_node, known_dtype, known_shape

_INTEGERS = ("int32", "int64", "uint64")


def uniform_node(k: Key, shape: Shape, dtype: str) -> Node:
    """Uniform numbers in [0, 1), behind the axes of a batch of keys."""
    return make_node("uniform", (shape, dtype), key_node(k))


def halves(pairs: Node, axis: int) -> tuple[Node, Node]:
    """The first and the second half of an axis."""
    size = (*pairs.shape[:axis], pairs.shape[axis] // 2, *pairs.shape[axis + 1 :])
    unit = (1,) * pairs.ndim
    starts = (tuple(i * size[axis] if a == axis else 0 for a in range(pairs.ndim)) for i in (0, 1))
    first, second = (slice_(pairs, start, unit, size) for start in starts)
    return first, second


def _normal(k: Key, shape: Shape, dtype: str) -> Node:
    """Box and Muller 1958; 1 - u keeps the logarithm away from zero."""
    return _single(k, shape) if dtype == "float32" else _double(k, shape)


def _double(k: Key, shape: Shape) -> Node:
    """Two uniform numbers for each normal one."""
    pair = uniform_node(k, (2, *shape), "float64")
    lead = pair.ndim - len(shape) - 1
    u, v = halves(pair, lead)
    wave = _radius(u) * cos(2 * math.pi * v)
    return reshape(wave, (*pair.shape[:lead], *shape))


def _single(k: Key, shape: Shape) -> Node:
    """One uniform number of float64 for two normal ones of float32: its first 24 bits are u, the others v."""
    count = math.prod(shape)
    word = uniform_node(k, ((count + 1) // 2,), "float64")
    lead, single = word.shape[:-1], np.dtype(np.float32)
    scaled = word * 2.0**24
    whole = floor(scaled)
    angle = 2 * math.pi * convert(scaled - whole, single)
    radius = _radius(convert(whole, single) * 2.0 ** (-24))
    waves = [radius * apply(name, angle) for name in ("cos", "sin")]
    both = concatenate(waves, len(lead))
    unit, start = (1,) * both.ndim, (0,) * both.ndim
    return reshape(slice_(both, start, unit, (*lead, count)), (*lead, *shape))


def _radius(u: Node) -> Node:
    return sqrt(-2.0 * log(1.0 - u))


def _randint(k: Key, low: ArrayLike, high: ArrayLike, shape: Shape, dtype: str) -> Node:
    """64 random bits modulo the number of values: no value is likelier than another by more than high - low in 2^64."""
    word = np.dtype(np.uint64)
    ends = [as_node(end) for end in (low, high)]
    for end in ends:
        check_broadcasts(end.shape, shape, "an end of randint")
    first, last = (convert(end, word) for end in ends)
    size = where(apply("less", *ends), last - first, np.uint64(1))
    pair = uniform_node(k, (2, *shape), "float64")
    lead = pair.ndim - len(shape) - 1
    high_bits, low_bits = (convert(floor(half * 2.0**32), word) for half in halves(pair, lead))
    bits = reshape(high_bits * np.uint64(2**32) + low_bits, (*pair.shape[:lead], *shape))
    return convert(remainder(bits, size) + first, np.dtype(dtype))


_uniform_function: Any = Function(uniform_node, name="uniform", reads=())
_normal_function: Any = Function(_normal, name="normal", reads=())
_randint_function: Any = Function(_randint, name="randint", reads=())


def uniform(k: Key, shape: int | Shape = (), dtype: DTypeLike = "float64") -> Any:
    """Return uniform numbers in [0, 1).

    Args:
        k: a key, shape (2,), uint64.
        shape: of the result.
        dtype: float64 or float32.

    Returns:
        an array of this shape and dtype.

    >>> import burlab as bl
    >>> bool(0 <= bl.random.uniform(bl.random.key(1)) < 1)
    True
    """
    return _uniform_function(k, known_shape(shape), known_dtype(dtype))


def normal(k: Key, shape: int | Shape = (), dtype: DTypeLike = "float64") -> Any:
    """Return standard normal numbers.

    Args:
        k: a key, shape (2,), uint64.
        shape: of the result.
        dtype: float64 or float32.

    Returns:
        an array of this shape and dtype.

    >>> import burlab as bl
    >>> bl.random.normal(bl.random.key(1), (2, 3)).shape
    (2, 3)
    """
    return _normal_function(k, known_shape(shape), known_dtype(dtype))


def bernoulli(k: Key, p: ArrayLike, shape: int | Shape = ()) -> Any:
    """Return a mask that is true with probability p.

    Args:
        k: a key, shape (2,), uint64.
        p: a number from 0 to 1, or an array of them that broadcasts to the shape; it may be traced.
        shape: of the result.

    Returns:
        an array of this shape, bool.

    Raises:
        ArgumentError: for a plain number outside of [0, 1].
        DTypeError: if p is not a number.

    >>> import burlab as bl
    >>> bl.random.bernoulli(bl.random.key(1), 1.0, 3)
    array([ True,  True,  True])
    """
    _check_probability(p)
    return np.less(uniform(k, shape), p)


def rademacher(k: Key, shape: int | Shape = (), dtype: DTypeLike = "int64") -> Any:
    """Return -1 or 1, each with probability 1/2.

    Args:
        k: a key, shape (2,), uint64.
        shape: of the result.
        dtype: int64, int32, float64 or float32.

    Returns:
        an array of this shape and dtype.

    >>> import burlab as bl
    >>> sorted(set(bl.random.rademacher(bl.random.key(1), 20, "float64").tolist()))
    [-1.0, 1.0]
    """
    name = known_dtype(dtype, ("int32", "int64", "float32", "float64"))
    return np.where(uniform(k, shape) < 0.5, np.array(-1, name), np.array(1, name))


def randint(k: Key, shape: int | Shape, minval: ArrayLike, maxval: ArrayLike, dtype: DTypeLike = "int64") -> Any:
    """Return integers from minval to maxval - 1, all equally likely; minval where that range is empty.

    Args:
        k: a key, shape (2,), uint64.
        shape: of the result.
        minval: an integer, or an array of them that broadcasts to the shape; it may be traced.
        maxval: another one.
        dtype: int64, int32 or uint64.

    Returns:
        an array of this shape and dtype.

    Raises:
        DTypeError: if an end is not an integer.
        ArgumentError: if an end does not fit int64.

    >>> import burlab as bl
    >>> numbers = bl.random.randint(bl.random.key(1), 1000, -1, 3)
    >>> numbers.min(), numbers.max()
    (np.int64(-1), np.int64(2))
    """
    ends = [_whole(end, name) for end, name in ((minval, "minval"), (maxval, "maxval"))]
    return _randint_function(k, *ends, known_shape(shape), known_dtype(dtype, _INTEGERS))


def _whole(end: ArrayLike, name: str) -> Any:
    """An integer, or integers, that are no part of the program. Raises DTypeError or ArgumentError."""
    if isinstance(end, int) and not isinstance(end, bool):
        if not -(2**63) <= end < 2**63:
            raise ArgumentError(
                f"{location()}{name} of randint must be an int64, got {shown(end)}. Pass one from -2**63 to 2**63 - 1."
            )
        return np.int64(end)
    array = end if isinstance(end, Node) else as_array(end, f"{name} of randint")
    if array.dtype.kind not in "iu":
        raise DTypeError(f"{location()}{name} of randint is {array.dtype}, expected integers. Pass an int.")
    return array


def _check_probability(p: ArrayLike) -> None:
    """Refuse a plain number that is no probability."""
    known = p if isinstance(p, Node) else as_array(p, "p of bernoulli")
    if known.dtype.kind not in "fiub" and not isinstance(p, int):
        raise DTypeError(f"{location()}p of bernoulli is {known.dtype}, expected numbers. Pass one from 0 to 1.")
    if isinstance(p, (int, float, np.number)) and not 0 <= p <= 1:
        raise ArgumentError(f"bernoulli got p={shown(p)}, expected a probability. Pass a number from 0 to 1.")
