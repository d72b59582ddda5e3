"""Unbiased compressors that round entries at random, or send the vector with some probability."""

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from burlab.errors import ArgumentError
from burlab.runtime.checks.numbers import shown, whole
from burlab.runtime.ranges import PROBABILITY, number_in
from burlab.transforms import random

from .compressor import Compressor, Key, Vector, needed, size_of

_where: Any = np.where
_EXPONENT = {64: 11, 32: 8, 16: 5}  # bits of the exponent of a floating number


def _rounded(x: Vector, key: Key) -> Vector:
    """Numbers to a whole number below or above, on average to themselves."""
    return np.floor(x + random.uniform(key, x.shape, x.dtype))


@dataclass(frozen=True)
class Natural(Compressor):
    """Each entry to a power of two: Horvath et al. 2022, natural compression, arXiv:1905.10988. omega = 1 / 8.

    Of the two powers around |x_i| the nearer one is likelier, so that the mean is x_i. A sign and an exponent are sent.

    >>> import numpy as np, burlab as bl
    >>> bl.compressors.Natural()(np.array([4.0, 0.0, -0.5]), bl.random.key(0)), bl.compressors.Natural().bits(3, 32)
    (array([ 4. ,  0. , -0.5]), 27.0)
    """

    def __call__(self, x: Vector, key: Key = None) -> Vector:
        """Powers of two with the signs of x."""
        size_of(x, self)
        fraction, exponent = np.frexp(np.abs(x))  # |x| = fraction 2^exponent, 1/2 <= fraction < 1
        up = random.uniform(needed(key, self), x.shape, x.dtype) < 2 * fraction - 1
        return np.sign(x) * np.ldexp(_where(up, np.ones_like(x), 0.5 * np.ones_like(x)), exponent)

    def omega(self, d: int) -> float:  # noqa: ARG002
        """1 / 8."""
        return 0.125

    def bits(self, d: int, width: int = 64) -> float:
        """A sign and an exponent for each entry: 9 bits of float32, 12 of float64."""
        if width not in _EXPONENT:
            raise ArgumentError(f"width of Natural.bits is {shown(width)}, expected bits of a float: 16, 32 or 64.")
        return float(d * (1 + _EXPONENT[width]))


@dataclass(frozen=True)
class _Levels(Compressor):
    """Entries rounded at random to one of so many parts of a norm."""

    levels: int = 1

    def __post_init__(self) -> None:
        whole(self.levels, f"levels of {type(self).__name__}", 1)

    @abstractmethod
    def norm(self, x: Vector) -> Any:
        """The number that the largest level stands for."""

    def __call__(self, x: Vector, key: Key = None) -> Vector:
        """norm sign(x) (a random whole number around levels |x| / norm) / levels."""
        size_of(x, self)
        norm = self.norm(x)
        scale = _where(norm > 0, norm, np.ones_like(norm))
        return scale / self.levels * np.sign(x) * _rounded(self.levels * (np.abs(x) / scale), needed(key, self))

    def bits(self, d: int, width: int = 64) -> float:
        """The norm, and a sign and a level for each entry, in a code of fixed length."""
        return float(width + d * (1 + math.ceil(math.log2(self.levels + 1))))


@dataclass(frozen=True)
class QSGD(_Levels):
    """Alistarh et al. 2017, arXiv:1610.02132: levels of the Euclidean norm. omega = min(d / s^2, sqrt(d) / s).

    Bits are those of a code of fixed length; the paper has Elias codes, which are shorter.

    Args:
        levels: s, at least 1.

    >>> import numpy as np, burlab as bl
    >>> bl.compressors.QSGD(5)(np.array([3.0, -4.0]), bl.random.key(0)), bl.compressors.QSGD(5).bits(2, 32)
    (array([ 3., -4.]), 40.0)
    """

    def norm(self, x: Vector) -> Any:
        """|x|."""
        return np.sqrt(np.sum(x**2))

    def omega(self, d: int) -> float:
        """min(d / s^2, sqrt(d) / s)."""
        return min(d / self.levels**2, math.sqrt(d) / self.levels)


@dataclass(frozen=True)
class Dithering(_Levels):
    """Random dithering with the largest norm; with one level TernGrad, Wen et al. 2017, arXiv:1705.07878.

    omega = min(d / (4 s^2), sqrt(d) / s): an entry strays by max|x| / s with variance at most a quarter of its square,
    and by at most |x_i| max|x| / s.

    Args:
        levels: s, at least 1.

    >>> import numpy as np, burlab as bl
    >>> bl.compressors.Dithering(2)(np.array([2.0, -4.0, 0.0]), bl.random.key(0))
    array([ 2., -4.,  0.])
    """

    def norm(self, x: Vector) -> Any:
        """max |x_i|."""
        return np.max(np.abs(x))

    def omega(self, d: int) -> float:
        """min(d / (4 s^2), sqrt(d) / s)."""
        return min(d / (4 * self.levels**2), math.sqrt(d) / self.levels)


@dataclass(frozen=True)
class Bernoulli(Compressor):
    """x / p with probability p, else nothing: omega = 1 / p - 1. Khirirat, Feyzmahdavian and Johansson 2018: lazy.

    One bit more tells the receiver which it is.

    Args:
        p: Probability of sending, above 0 and at most 1.

    >>> import numpy as np, burlab as bl
    >>> bl.compressors.Bernoulli(1.0)(np.ones(2), bl.random.key(0)), bl.compressors.Bernoulli(0.25).omega(2)
    (array([1., 1.]), 3.0)
    """

    p: float

    def __post_init__(self) -> None:
        number_in(PROBABILITY, self.p, "p of Bernoulli")

    def __call__(self, x: Vector, key: Key = None) -> Vector:
        """All or nothing."""
        size_of(x, self)
        sent = random.uniform(needed(key, self), ()) < self.p
        return _where(sent, x / self.p, np.zeros_like(x))

    def omega(self, d: int) -> float:  # noqa: ARG002
        """1 / p - 1."""
        return 1 / self.p - 1

    def bits(self, d: int, width: int = 64) -> float:
        """p of all, and the bit."""
        return 1 + self.p * d * width
