"""Matrices over the eigenvalues s and -s of [[0, A], [A', 0]], of which two blocks are the other two up to a sign."""

from dataclasses import dataclass

from burlab.graph.linear_nodes import concatenate
from burlab.graph.node import Node

from .matrices import mT


@dataclass(frozen=True, slots=True)
class Mirrored:
    """[[same, other], [sign other, sign same]]: from s to s and from s to -s, then the same from -s."""

    same: Node
    other: Node
    sign: float

    def __add__(self, x: "Mirrored") -> "Mirrored":
        return Mirrored(self.same + x.same, self.other + x.other, self.sign)

    def __sub__(self, x: "Mirrored") -> "Mirrored":
        return Mirrored(self.same - x.same, self.other - x.other, self.sign)

    def __mul__(self, x: "Mirrored") -> "Mirrored":
        """Return the product of entries."""
        return Mirrored(self.same * x.same, self.other * x.other, self.sign * x.sign)

    def __abs__(self) -> "Mirrored":
        return Mirrored(abs(self.same), abs(self.other), 1.0)

    def __matmul__(self, x: "Mirrored") -> "Mirrored":
        """Return the matrix product, by those of sums and of differences of blocks."""
        other = self.other * x.sign
        plus = (self.same + other) @ (x.same + x.other)
        minus = (self.same - other) @ (x.same - x.other)
        return Mirrored((plus + minus) * 0.5, (plus - minus) * 0.5, self.sign * x.sign)

    @property
    def transposed(self) -> "Mirrored":
        """The transposed matrix."""
        return Mirrored(mT(self.same), mT(self.other) * self.sign, self.sign)


def split(rows: Node, sign: float) -> Mirrored:
    """Return the matrix of which these are the rows of s: columns of s first, then those of -s."""
    k = rows.shape[-2]
    return Mirrored(rows[..., :k], rows[..., k : 2 * k], sign)


def reflected(x: Node, sign: float) -> Node:
    """Return numbers of s, and behind them those of -s."""
    return concatenate([x, x * sign], x.ndim - 1)
