"""Compressors of matrices by their singular vectors."""

from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from burlab.errors import ShapeError
from burlab.runtime.checks.numbers import shown, whole

from .compressor import Compressor, Key, Vector, size_of


@dataclass(frozen=True)
class RankK(Compressor):
    """The nearest matrix of rank k, Safaryan et al. 2022 (FedNL), arXiv:2106.02969: alpha = k / min(rows, columns).

    Args:
        k: Rank, at least 1.
        shape: Rows and columns of the matrix that a vector of rows * columns entries stands for, row by row.

    >>> import numpy as np, burlab as bl
    >>> c = bl.compressors.RankK(1, (2, 2))
    >>> c(np.array([3.0, 0.0, 0.0, 1.0])).round(12) + 0.0, c.alpha(4)
    (array([3., 0., 0., 0.]), 0.5)
    """

    k: int
    shape: tuple[int, int]

    def __post_init__(self) -> None:
        given: Any = self.shape
        if not isinstance(given, tuple) or len(cast("tuple[Any, ...]", given)) != 2:
            raise ShapeError(f"shape of RankK is {shown(self.shape)}, expected (rows, columns).")
        for size in self.shape:
            whole(size, "rows and columns of RankK", 1)
        whole(self.k, "k of RankK", 1, min(self.shape))

    def __call__(self, x: Vector, key: Key = None) -> Vector:  # noqa: ARG002
        """The k largest singular values with their vectors."""
        self._check(size_of(x, self))
        u, s, vt = np.linalg.svd(np.reshape(x, self.shape), full_matrices=False)
        return np.reshape((u[:, : self.k] * s[: self.k]) @ vt[: self.k], (-1,))

    def alpha(self, d: int) -> float:
        """k / min(rows, columns)."""
        self._check(d)
        return self.k / min(self.shape)

    def bits(self, d: int, width: int = 64) -> float:
        """k vectors of each side."""
        self._check(d)
        return float(self.k * sum(self.shape) * width)

    def _check(self, d: int) -> None:
        if d != self.shape[0] * self.shape[1]:
            raise ShapeError(
                f"RankK is for matrices {self.shape}, of {self.shape[0] * self.shape[1]} entries, got {d}."
            )
