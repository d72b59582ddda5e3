"""Base class of compressors: maps of vectors with a bound of their error and the bits of their result."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

from burlab.errors import ArgumentError, DTypeError, ShapeError
from burlab.runtime.checks.numbers import shown, whole

Vector = Any  # shape (d,), floating, an array or traced
Key = Any  # uint64 of shape (2,), as of bl.random.key


class Compressor(ABC):
    """A map C of vectors of shape (d,), traced or not. `C(x, key)`; the key may be left out where nothing is random.

    It states one of two constants, for vectors of d entries. omega(d): C is unbiased, and E|C(x) - x|^2 <= omega |x|^2.
    alpha(d): C is contractive, E|C(x) - x|^2 <= (1 - alpha) |x|^2.

    >>> import numpy as np, burlab as bl
    >>> c = bl.compressors.TopK(2)
    >>> c(np.array([3.0, -5.0, 1.0, 0.0])), c.alpha(4), c.bits(4, width=32)
    (array([ 3., -5.,  0.,  0.]), 0.5, 68.0)
    """

    @abstractmethod
    def __call__(self, x: Vector, key: Key = None) -> Vector:
        """C(x), of x's shape and dtype."""

    def omega(self, d: int) -> float | None:  # noqa: ARG002 - the answer of biased ones
        """The bound of the relative squared error where C is unbiased.

        Args:
            d: Entries of the vector.

        Returns:
            omega; None where C is biased.
        """
        return None

    def alpha(self, d: int) -> float:
        """The bound 1 - alpha of the relative squared error.

        Args:
            d: Entries of the vector.

        Returns:
            alpha; of an unbiased C that of `Scaled(C)`.
        """
        omega = self.omega(d)
        if omega is None:
            raise ArgumentError(f"{type(self).__name__} states neither omega nor alpha. Define one of the two.")
        return 1 / (1 + omega)

    @abstractmethod
    def bits(self, d: int, width: int = 64) -> float:
        """The size of a message, on average.

        Args:
            d: Entries of the vector.
            width: Bits of an entry.

        Returns:
            Bits.
        """


@dataclass(frozen=True)
class Identity(Compressor):
    """C(x) = x: nothing is lost. omega = 0, alpha = 1.

    >>> import numpy as np, burlab as bl
    >>> bl.compressors.Identity()(np.ones(2)), bl.compressors.Identity().bits(2)
    (array([1., 1.]), 128.0)
    """

    def __call__(self, x: Vector, key: Key = None) -> Vector:  # noqa: ARG002
        """x."""
        return x

    def omega(self, d: int) -> float:  # noqa: ARG002
        """0."""
        return 0.0

    def bits(self, d: int, width: int = 64) -> float:
        """All of x."""
        return float(d * width)


@dataclass(frozen=True)
class Scaled(Compressor):
    """C(x) / (1 + omega) for an unbiased C: contractive with alpha = 1 / (1 + omega). Richtarik et al. 2021, Lemma 8.

    >>> import numpy as np, burlab as bl
    >>> c = bl.compressors.Scaled(bl.compressors.RandK(1))
    >>> c.alpha(4), c(np.ones(4), bl.random.key(0)).sum()
    (0.25, np.float64(1.0))
    """

    inner: Compressor

    def __post_init__(self) -> None:
        given: Any = self.inner
        if not isinstance(given, Compressor):
            raise ArgumentError(f"inner of Scaled is {shown(given)}, expected one of bl.compressors, such as RandK(2).")

    def __call__(self, x: Vector, key: Key = None) -> Vector:
        """The scaled message of the inner compressor."""
        return self.inner(x, key) / (1 + self._omega(size_of(x, self)))

    def alpha(self, d: int) -> float:
        """1 / (1 + omega)."""
        return 1 / (1 + self._omega(d))

    def bits(self, d: int, width: int = 64) -> float:
        """Bits of the inner compressor."""
        return self.inner.bits(d, width)

    def _omega(self, d: int) -> float:
        omega = self.inner.omega(d)
        if omega is None:
            kind = type(self.inner).__name__
            raise ArgumentError(
                f"Scaled makes an unbiased compressor contractive, and {kind} is biased. Use it as it is."
            )
        return omega


def position_bits(d: int) -> int:
    """Bits of a position in a vector of d entries."""
    return max(1, math.ceil(math.log2(d)))


def size_of(x: Vector, compressor: Compressor) -> int:
    """Return the number of entries of a vector. Raises ShapeError or DTypeError for anything but a vector of floats."""
    kind, shape, dtype = type(compressor).__name__, getattr(x, "shape", None), getattr(x, "dtype", None)
    if shape is None or len(shape) != 1:
        what = f"an array of shape {shape}" if shape is not None else f"a {type(x).__name__}"
        raise ShapeError(f"{kind} expected a vector of shape (d,), got {what}. Pass one: np.reshape(x, -1).")
    if getattr(dtype, "kind", "") != "f":
        raise DTypeError(f"{kind} expected a vector of floats, got {dtype}. Convert it with .astype(float).")
    return shape[0]


def needed(key: Key, compressor: Compressor) -> Key:
    """Return the key. Raises ArgumentError if it is None."""
    if key is None:
        kind = type(compressor).__name__
        raise ArgumentError(f"{kind} draws random numbers and got no key. Pass one: {kind}(...)(x, bl.random.key(0)).")
    return key


def fits(k: int, d: int, compressor: Compressor) -> int:
    """Return k, the number of entries sent of d. Raises ArgumentError for k > d."""
    kind = type(compressor).__name__
    if whole(k, f"k of {kind}", 1) > d:
        raise ArgumentError(f"k of {kind} is {k}, but the vector has {d} entries. Pass a k of at most {d}.")
    return k
