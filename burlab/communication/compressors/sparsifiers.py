"""Compressors that keep some entries: at random, or the largest."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from burlab.functions import top_k
from burlab.graph.buffers.buffer_functions import at_set
from burlab.graph.numpy_api.indexing import asarray
from burlab.runtime.checks.numbers import whole
from burlab.transforms import random

from .compressor import Compressor, Key, Vector, fits, needed, position_bits, size_of

_where: Any = np.where
_arange: Any = np.arange


def _only(x: Vector, positions: Vector, scale: float = 1.0) -> Vector:
    return at_set(np.zeros_like(x), positions, scale * asarray(x)[positions])


@dataclass(frozen=True)
class _Sparsifier(Compressor):
    """A compressor that sends k entries."""

    k: int

    def __post_init__(self) -> None:
        whole(self.k, f"k of {type(self).__name__}", 1)

    def bits(self, d: int, width: int = 64) -> float:
        """k entries with their positions."""
        return float(fits(self.k, d, self) * (width + position_bits(d)))


@dataclass(frozen=True)
class RandK(_Sparsifier):
    """d / k times k entries, all sets equally likely: omega = d / k - 1. Stich, Cordonnier, Jaggi 2018.

    The positions follow from the key, which both sides have, so only the entries are sent.

    Args:
        k: Entries sent, from 1 to d.

    >>> import numpy as np, burlab as bl
    >>> np.sort(bl.compressors.RandK(2)(np.ones(4), bl.random.key(0))), bl.compressors.RandK(2).omega(4)
    (array([0., 0., 2., 2.]), 1.0)
    """

    def __call__(self, x: Vector, key: Key = None) -> Vector:
        """The entries at the first k positions of a random order."""
        d = size_of(x, self)
        chosen = random.permutation(needed(key, self), d)[: fits(self.k, d, self)]
        return _only(x, chosen, d / self.k)

    def omega(self, d: int) -> float:
        """d / k - 1."""
        return d / fits(self.k, d, self) - 1

    def bits(self, d: int, width: int = 64) -> float:
        """k entries."""
        return float(fits(self.k, d, self) * width)


@dataclass(frozen=True)
class RandSeqK(RandK):
    """d / k times k entries that follow each other, around the end: omega = d / k - 1. Burlachenko and Richtarik 2024.

    It reads memory in order, and needs one random number (Unlocking FedNL, arXiv:2410.08760, section 5).

    >>> import numpy as np, burlab as bl
    >>> bl.compressors.RandSeqK(2)(np.ones(4), bl.random.key(0)).sum()
    np.float64(4.0)
    """

    def __call__(self, x: Vector, key: Key = None) -> Vector:
        """The entries from a random one on."""
        d = size_of(x, self)
        first = random.randint(needed(key, self), (), 0, d)
        return _only(x, (first + _arange(fits(self.k, d, self))) % d, d / self.k)


@dataclass(frozen=True)
class TopK(_Sparsifier):
    """The k entries of largest absolute value: alpha = k / d. Aji and Heafield 2017; Alistarh et al. 2018.

    Args:
        k: Entries sent, from 1 to d.

    >>> import numpy as np, burlab as bl
    >>> bl.compressors.TopK(1)(np.array([1.0, -3.0, 2.0])), bl.compressors.TopK(1).alpha(3)
    (array([ 0., -3.,  0.]), 0.3333333333333333)
    """

    def __call__(self, x: Vector, key: Key = None) -> Vector:  # noqa: ARG002
        """The largest entries; of those that tie, the first."""
        return _only(x, top_k(np.abs(x), fits(self.k, size_of(x, self), self))[1])

    def alpha(self, d: int) -> float:
        """k / d."""
        return fits(self.k, d, self) / d


@dataclass(frozen=True)
class ApproximateTopK(_Sparsifier):
    """The k largest of the largest entries of each bucket: Chern et al. 2022, TPU-KNN, arXiv:2206.14286, section 5.

    Entry i is in bucket i mod buckets. alpha = k / (buckets ceil(d / buckets)), since a bucket's largest entry has no
    less than its share of the bucket, and the k largest of those no less than theirs. On average the share of the true
    k that is found is (b / k)(1 - (1 - 1 / b)^k) for b buckets where places are random.

    Args:
        k: Entries sent, from 1 to d.
        buckets: From k to d.

    >>> import numpy as np, burlab as bl
    >>> bl.compressors.ApproximateTopK(1, buckets=2)(np.array([1.0, -3.0, 2.0]))
    array([ 0., -3.,  0.])
    """

    buckets: int

    def __post_init__(self) -> None:
        super().__post_init__()
        whole(self.buckets, "buckets of ApproximateTopK", self.k)

    def __call__(self, x: Vector, key: Key = None) -> Vector:  # noqa: ARG002
        """Two passes: the largest of each bucket, and of these the largest."""
        d = size_of(x, self)
        b = min(self.buckets, d)
        rows = -(-d // b)
        sizes = np.concatenate([np.abs(x), np.full(rows * b - d, -1.0, x.dtype)]).reshape(rows, b)
        largest = np.argmax(sizes, axis=0) * b + _arange(b)
        found = top_k(np.max(sizes, axis=0), fits(self.k, d, self))[1]
        return _only(x, largest[found])

    def alpha(self, d: int) -> float:
        """k / (buckets ceil(d / buckets))."""
        b = min(self.buckets, d)
        return fits(self.k, d, self) / (b * -(-d // b))


@dataclass(frozen=True)
class TopLEK(_Sparsifier):
    """At most k of the largest entries, as few as alpha = k / d needs: Burlachenko, Richtarik 2024, arXiv:2410.08760.

    j is the first number of largest entries with at least alpha |x|^2 of the squares; j are sent with the probability
    that makes E|C(x) - x|^2 = (1 - alpha) |x|^2 exactly, else j - 1. Bits are those of k entries, the most.

    >>> import numpy as np, burlab as bl
    >>> bl.compressors.TopLEK(2)(np.array([0.1, 9.0, 0.2, 0.1]), bl.random.key(0))
    array([0., 9., 0., 0.])
    """

    def __call__(self, x: Vector, key: Key = None) -> Vector:
        """A number of the largest entries that depends on x."""
        d = size_of(x, self)
        sizes, chosen = top_k(np.abs(x), fits(self.k, d, self))
        total = np.cumsum(sizes**2)  # of the first 1, 2, ... entries
        wanted = self.k / d * (x @ x)
        before = total - sizes**2
        share = np.clip((wanted - before) / _where(sizes > 0, sizes**2, 1.0), 0.0, 1.0)  # 1, ..., 1, p, 0, ..., 0
        taken = random.uniform(needed(key, self), (), x.dtype) < share
        return at_set(np.zeros_like(x), chosen, _where(taken, asarray(x)[chosen], 0.0))

    def alpha(self, d: int) -> float:
        """k / d."""
        return fits(self.k, d, self) / d
