"""Initial values of parameters, named as in PyTorch: functions of a random key and a shape.

A weight has shape [in, out], a kernel [*window, in, out]: PyTorch's axes in another order. fan_in counts what is summed
for one output, fan_out what one input reaches.

>>> import numpy as np, burlab as bl
>>> weight = bl.nn.init.kaiming_uniform(bl.random.key(0), (600, 4), nonlinearity="relu")
>>> weight.dtype, bool(np.abs(weight).max() <= 0.1)
(dtype('float32'), True)
"""

import math
from typing import Any, Literal

import numpy as np

from burlab.errors import ArgumentError, ShapeError
from burlab.runtime.checks.numbers import shown
from burlab.runtime.extras import late
from burlab.runtime.ranges import FINITE, NOT_NEGATIVE, POSITIVE, Range, number_in
from burlab.transforms import random
from burlab.typing import DTypeLike, Key, Shape

special: Any = late("scipy.special")

Array = Any  # a NumPy array, or a traced one
Fan = Literal["fan_in", "fan_out"]
_GAINS = {"linear": 1.0, "sigmoid": 1.0, "tanh": 5 / 3, "relu": math.sqrt(2), "selu": 0.75}


def zeros(_key: Key, shape: Shape, dtype: DTypeLike = np.float32) -> Array:
    """Zeros.

    Args:
        _key: Not used; there for one signature of all.
        shape: Of the result.
        dtype: float32 or float64.

    Returns:
        An array of this shape and dtype.
    """
    return np.zeros(random.known_shape(shape), random.known_dtype(dtype))


def ones(_key: Key, shape: Shape, dtype: DTypeLike = np.float32) -> Array:
    """Ones; arguments and result as of `zeros`."""
    return np.ones(random.known_shape(shape), random.known_dtype(dtype))


def uniform(key: Key, shape: Shape, dtype: DTypeLike = np.float32, *, low: float = 0.0, high: float = 1.0) -> Array:
    """Uniform numbers in [low, high).

    Args:
        key: A key, shape (2,), uint64.
        shape: Of the result.
        dtype: float32 or float64.
        low, high: Ends of the interval.

    Returns:
        An array of this shape and dtype.
    """
    low = number_in(FINITE, low, "low")
    high = number_in(Range(low, math.inf), high, "high")
    return random.uniform(key, shape, dtype) * (high - low) + low


def normal(key: Key, shape: Shape, dtype: DTypeLike = np.float32, *, mean: float = 0.0, std: float = 1.0) -> Array:
    """Normal numbers.

    Args:
        key: A key, shape (2,), uint64.
        shape: Of the result.
        dtype: float32 or float64.
        mean, std: Mean and standard deviation, std not negative.

    Returns:
        An array of this shape and dtype.
    """
    mean, std = number_in(FINITE, mean, "mean"), number_in(NOT_NEGATIVE, std, "std")
    return random.normal(key, shape, dtype) * std + mean


def trunc_normal(key: Key, shape: Shape, dtype: DTypeLike = np.float32, *, mean: float = 0.0, std: float = 1.0,
                 a: float = -2, b: float = 2) -> Array:  # fmt: skip
    """Normal numbers on the condition that they lie in [a, b]: by the inverse of the distribution function.

    Args:
        key: A key, shape (2,), uint64.
        shape: Of the result.
        dtype: float32 or float64.
        mean, std: Mean and standard deviation before the cut, std positive.
        a, b: Ends of the interval, a < b.

    Returns:
        An array of this shape and dtype.
    """
    kind = random.known_dtype(dtype)
    mean, std = number_in(FINITE, mean, "mean"), number_in(POSITIVE, std, "std")
    a = number_in(FINITE, a, "a")
    b = number_in(Range(a, math.inf, open_low=True), b, "b")
    low, high = (special.ndtr((end - mean) / std) for end in (a, b))
    x = special.ndtri(low + (high - low) * random.uniform(key, shape)) * std + mean
    return np.clip(x, a, b).astype(kind)


def orthogonal(key: Key, shape: Shape, dtype: DTypeLike = np.float32, *, gain: float = 1.0) -> Array:
    """A matrix with orthonormal columns, or rows where there are fewer, times gain (Saxe et al. 2014).

    Args:
        key: A key, shape (2,), uint64.
        shape: At least two axes; all but the last are the rows.
        dtype: float32 or float64.
        gain: Factor.

    Returns:
        An array of this shape and dtype.

    Raises:
        ShapeError: The shape has fewer than two axes.
    """
    shape, kind = random.known_shape(shape), random.known_dtype(dtype)
    gain = number_in(FINITE, gain, "gain")
    if len(shape) < 2:
        raise ShapeError(f"orthogonal needs at least two axes, got shape {shape}.")
    rows, columns = math.prod(shape[:-1]), shape[-1]
    q, r = np.linalg.qr(random.normal(key, (max(rows, columns), min(rows, columns))))
    q = q * np.where(np.diagonal(r) < 0, -1.0, 1.0)  # then every such matrix is as likely as any other
    return (gain * (q if rows >= columns else q.T)).reshape(shape).astype(kind)


def xavier_uniform(key: Key, shape: Shape, dtype: DTypeLike = np.float32, *, gain: float = 1.0) -> Array:
    """Uniform with variance 2 gain^2 / (fan_in + fan_out) (Glorot and Bengio 2010).

    Args:
        key: A key, shape (2,), uint64.
        shape: Of a weight or a kernel.
        dtype: float32 or float64.
        gain: Factor of the deviation, not negative; see `gain`.

    Returns:
        An array of this shape and dtype.

    Raises:
        ShapeError: The shape has fewer than two axes, or an empty one.
    """
    return _within(key, shape, dtype, number_in(NOT_NEGATIVE, gain, "gain") * math.sqrt(2 / sum(_fans(shape))))


def xavier_normal(key: Key, shape: Shape, dtype: DTypeLike = np.float32, *, gain: float = 1.0) -> Array:
    """Normal with variance 2 gain^2 / (fan_in + fan_out) (Glorot and Bengio 2010).

    Arguments, result and errors are those of `xavier_uniform`.
    """
    return normal(key, shape, dtype, std=number_in(NOT_NEGATIVE, gain, "gain") * math.sqrt(2 / sum(_fans(shape))))


def kaiming_uniform(
    key: Key,
    shape: Shape,
    dtype: DTypeLike = np.float32,
    *,
    a: float = 0.0,
    mode: Fan = "fan_in",
    nonlinearity: str = "leaky_relu",
) -> Array:
    """Uniform with variance gain^2 / fan (He et al. 2015).

    Args:
        key: A key, shape (2,), uint64.
        shape: Of a weight or a kernel.
        dtype: float32 or float64.
        a: Slope of leaky_relu for negative numbers.
        mode: The fan, "fan_in" or "fan_out".
        nonlinearity: The activation that follows, as for `gain`.

    Returns:
        An array of this shape and dtype.

    Raises:
        ShapeError: The shape has fewer than two axes, or an empty one.
        ArgumentError: The mode or the nonlinearity is unknown.
    """
    return _within(key, shape, dtype, _kaiming(shape, a, mode, nonlinearity))


def kaiming_normal(
    key: Key,
    shape: Shape,
    dtype: DTypeLike = np.float32,
    *,
    a: float = 0.0,
    mode: Fan = "fan_in",
    nonlinearity: str = "leaky_relu",
) -> Array:
    """Normal with variance gain^2 / fan (He et al. 2015).

    Arguments, result and errors are those of `kaiming_uniform`.
    """
    return normal(key, shape, dtype, std=_kaiming(shape, a, mode, nonlinearity))


def gain(nonlinearity: str, a: float = 0.01) -> float:
    """By what an activation shrinks the deviation of its input: PyTorch's calculate_gain.

    Args:
        nonlinearity: "linear", "sigmoid", "tanh", "relu", "selu" or "leaky_relu".
        a: Slope of leaky_relu for negative numbers.

    Returns:
        The factor that makes up for it.

    Raises:
        ArgumentError: The nonlinearity is unknown.

    >>> round(gain("relu"), 4)
    1.4142
    """
    a = number_in(FINITE, a, "a")
    if isinstance(nonlinearity, str) and nonlinearity == "leaky_relu":  # pyright: ignore[reportUnnecessaryIsInstance] - users
        return math.sqrt(2 / (1 + a * a))
    if not isinstance(nonlinearity, str) or nonlinearity not in _GAINS:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise ArgumentError(
            f"nonlinearity={shown(nonlinearity)} is unknown. Use one of {', '.join(_GAINS)}, leaky_relu."
        )
    return _GAINS[nonlinearity]


def _within(key: Key, shape: Shape, dtype: DTypeLike, std: float) -> Array:
    """Uniform around zero with this standard deviation."""
    bound = math.sqrt(3) * std
    return uniform(key, shape, dtype, low=-bound, high=bound)


def _kaiming(shape: Shape, a: float, mode: Fan, nonlinearity: str) -> float:
    if not isinstance(mode, str) or mode not in ("fan_in", "fan_out"):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise ArgumentError(f'mode={shown(mode)} is unknown. Use "fan_in" or "fan_out".')
    return gain(nonlinearity, a) / math.sqrt(_fans(shape)[mode == "fan_out"])


def _fans(shape: Shape) -> tuple[int, int]:
    shape = random.known_shape(shape)
    if len(shape) < 2 or 0 in shape:
        raise ShapeError(f"a weight has at least the two axes [in, out], none of them empty, got shape {shape}.")
    return math.prod(shape[:-1]), math.prod(shape[:-2]) * shape[-1]
