"""Attacks: vectors that Byzantine clients send, knowing those of the others."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from burlab.errors import ArgumentError
from burlab.runtime.checks.numbers import whole
from burlab.runtime.ranges import FINITE, NOT_NEGATIVE, number_in
from burlab.transforms import random
from burlab.typing import Key

Vector = Any  # an array, traced or not


class Attack(ABC):
    """A map of the honest rows, shape (h, d), a number of liars and a key to the vector that all liars send, (d,).

    >>> import numpy as np, burlab as bl
    >>> bl.robust.SignFlip()(np.array([[1.0, 2.0], [3.0, 4.0]]), 1, bl.random.key(0))
    array([-2., -3.])
    """

    @abstractmethod
    def __call__(self, honest: Vector, liars: int, key: Key) -> Vector:
        """The vector that each liar sends."""


@dataclass(frozen=True)
class SignFlip(Attack):
    """The mean of the honest vectors, turned around and `scale` times as long.

    >>> import numpy as np, burlab as bl
    >>> bl.robust.SignFlip(2.0)(np.ones((3, 1)), 1, None)
    array([-2.])
    """

    scale: float = 1.0

    def __post_init__(self) -> None:
        number_in(FINITE, self.scale, "scale of SignFlip")

    def __call__(self, honest: Vector, liars: int, key: Key) -> Vector:  # noqa: ARG002
        """-scale mean."""
        return -self.scale * np.mean(honest, axis=0)


@dataclass(frozen=True)
class ALIE(Attack):
    """A little is enough, Baruch, Baruch and Goldberg 2019, Algorithm 3, arXiv:1902.06156: mean - z std of the honest.

    z is as large as still hides among the honest: the normal quantile at (h - s) / h for h honest clients of m, with
    s = floor(m / 2 + 1) - liars. The standard deviation is that of the h vectors, divided by h.

    >>> import numpy as np, burlab as bl
    >>> bl.robust.ALIE()(np.array([[0.0], [1.0], [2.0], [3.0], [4.0]]), 2, None).round(3)
    array([1.642])
    """

    def __call__(self, honest: Vector, liars: int, key: Key) -> Vector:  # noqa: ARG002
        """mean - z std."""
        count = honest.shape[0]
        supporters = (count + liars) // 2 + 1 - liars
        if not 0 < supporters < count:
            raise ArgumentError(f"ALIE needs fewer liars than honest clients, got {liars} and {count}.")
        z = NormalDist().inv_cdf((count - supporters) / count)
        return np.mean(honest, axis=0) - z * np.std(honest, axis=0)


@dataclass(frozen=True)
class Mimic(Attack):
    """All liars send what one honest client sends, so that it counts too much: Karimireddy, He and Jaggi 2022.

    Byzantine-Robust Learning on Heterogeneous Datasets via Bucketing, arXiv:2006.09365.

    Args:
        client: Number of that client, from 0.

    >>> import numpy as np, burlab as bl
    >>> bl.robust.Mimic(1)(np.array([[1.0], [2.0]]), 1, None)
    array([2.])
    """

    client: int = 0

    def __post_init__(self) -> None:
        whole(self.client, "client of Mimic", 0)

    def __call__(self, honest: Vector, liars: int, key: Key) -> Vector:  # noqa: ARG002
        """One honest vector."""
        if self.client >= honest.shape[0]:
            raise ArgumentError(f"client of Mimic is {self.client}, but {honest.shape[0]} clients are honest.")
        return honest[self.client]


@dataclass(frozen=True)
class Noise(Attack):
    """Normal numbers of a standard deviation, with mean 0, new in every round.

    >>> import numpy as np, burlab as bl
    >>> bl.robust.Noise(3.0)(np.ones((2, 5)), 1, bl.random.key(0)).shape
    (5,)
    """

    std: float = 1.0

    def __post_init__(self) -> None:
        number_in(NOT_NEGATIVE, self.std, "std of Noise")

    def __call__(self, honest: Vector, liars: int, key: Key) -> Vector:  # noqa: ARG002
        """Normal numbers."""
        return self.std * random.normal(key, (honest.shape[1],)).astype(honest.dtype)
