"""A layer of products whose matrix is a tensor train, with ranks that training can switch off."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from burlab.errors import ArgumentError
from burlab.graph.tree import pytree
from burlab.runtime.checks.numbers import flag, shown
from burlab.runtime.ranges import NOT_NEGATIVE, number_in
from burlab.typing import DTypeLike, Key

from . import init
from .layer import STATIC, Array, Layer, check, floating, keys, sizes

_MAX_MODES = 64  # of one side: each is a size of at least 2 of something that memory holds


@pytree
@dataclass(frozen=True, eq=False, repr=False, init=False)
class TensorTrainLinear(Layer):
    """y = x @ W + bias for a tensor train W whose ranks adapt: CoMERA (Yang et al. 2024, arXiv:2405.14377).

    W[(i_1 ... i_d), (j_1 ... j_e)] = G_1[:, i_1] ... G_d[:, i_d] G_(d+1)[:, j_1] ... G_(d+e)[:, j_e], a product of
    matrices, where the last axis of each core G_k but the last one is scaled by a vector D_k. Entries of D_k up to
    `threshold` count as 0, so that a penalty on D switches ranks off; `trimmed` then removes them. A tensor train is
    that of Oseledets 2011. cores: shapes [r_(k-1), n_k, r_k], where n are the modes and r_0 = r_(d+e) = 1; ranks: the
    D_k, shapes [r_k], they start as ones; bias: shape [out], or None. x: shape (..., in); the result has shape
    (..., out).

    Args:
        inputs, outputs: The modes of either side, as [8, 8] for 64.
        rank: The r_k, where the sizes of modes before and after do not already bound them.
        key: A key, shape (2,), uint64, for the start: normal, with the variance that entries of a `Linear` have.
        bias: False for none; it starts uniform within 1 / sqrt(in).
        threshold: Where a rank ends to count, not negative; the authors' is 1e-2.
        dtype: float32 or float64.

    Raises:
        ArgumentError: Modes are no lists of positive integers.

    >>> import numpy as np, burlab as bl
    >>> layer = bl.nn.TensorTrainLinear([8, 8], [16, 16], rank=4, key=bl.random.key(0), bias=False)
    >>> [core.shape for core in layer.cores], layer(np.ones(64, np.float32)).shape
    ([(1, 8, 4), (4, 8, 4), (4, 16, 4), (4, 16, 1)], (256,))
    """

    cores: tuple[Array, ...]
    ranks: tuple[Array, ...]
    bias: Array | None
    inputs: tuple[int, ...] = field(metadata=STATIC)
    threshold: float = field(metadata=STATIC)

    def __init__(
        self,
        inputs: Sequence[int],
        outputs: Sequence[int],
        *,
        rank: int,
        key: Key,
        bias: bool = True,
        threshold: float = 1e-2,
        dtype: DTypeLike = np.float32,
    ) -> None:
        sizes(rank=rank)
        before, after = _modes(inputs, "inputs"), _modes(outputs, "outputs")
        modes, width, kind = before + after, math.prod(before), floating(dtype)
        sizes(inputs=width, outputs=math.prod(after))
        bounds = [min(rank, math.prod(modes[:k]), math.prod(modes[k:])) for k in range(len(modes) + 1)]
        deviation = (3 * width) ** (-0.5 / len(modes))
        *parts, last = keys(key, len(modes) + 1)
        cores = [
            init.normal(k, (low, n, high), kind, std=deviation * high**-0.5)
            for k, low, n, high in zip(parts, bounds, modes, bounds[1:], strict=False)
        ]
        reach = width**-0.5
        shift = init.uniform(last, (math.prod(after),), kind, low=-reach, high=reach) if flag(bias, "bias") else None
        self._fill(
            cores=tuple(cores),
            ranks=tuple(np.ones(r, kind) for r in bounds[1:-1]),
            bias=shift,
            inputs=before,
            threshold=number_in(NOT_NEGATIVE, threshold, "threshold of TensorTrainLinear"),
        )

    def __call__(self, x: Array) -> Array:
        """x @ W + bias."""
        check(self, x, self.cores[0], math.prod(self.inputs))
        left, right = self._halves()
        y = x @ left @ right
        return y if self.bias is None else y + self.bias

    def dense(self) -> Array:
        """The matrix W, shape [in, out]."""
        left, right = self._halves()
        return left @ right

    def size(self) -> Array:
        """The number of entries of all cores that ranks above the threshold leave."""
        active = [1, *(np.sum(d > self.threshold) for d in self.ranks), 1]
        return sum(low * core.shape[1] * high for low, core, high in zip(active, self.cores, active[1:], strict=False))

    def trimmed(self) -> "TensorTrainLinear":
        """The layer without the ranks up to the threshold, the others multiplied into the cores; values stay.

        One rank of each vector is kept.
        """
        kind = self.cores[0].dtype
        scales = self._scales()
        inner: list[Any] = [np.flatnonzero(d) if np.any(d) else np.array([0]) for d in scales]
        kept: list[Any] = [np.array([0]), *inner, np.array([0])]
        cores = [
            (core * d)[low][:, :, high]
            for core, d, low, high in zip(self.cores, [*scales, np.ones(1, kind)], kept, kept[1:], strict=False)
        ]
        ranks = tuple(np.ones(len(rows), kind) for rows in kept[1:-1])
        return self.replace(cores=tuple(cores), ranks=ranks)

    def _scales(self) -> list[Array]:
        """The vectors D, with 0 in place of what does not count."""
        return [np.where(d > self.threshold, d, 0.0) for d in self.ranks]

    def _halves(self) -> tuple[Array, Array]:
        """The product of the cores of inputs, shape [in, r], and of outputs, shape [r, out]."""
        scaled = [core * d for core, d in zip(self.cores, self._scales(), strict=False)]
        split = len(self.inputs)
        return _product(scaled[:split]), _product([*scaled[split:], self.cores[-1]], outputs=True)


def _product(cores: list[Array], *, outputs: bool = False) -> Array:
    """Of cores in a row, with all their modes as rows, or as columns."""
    product = cores[0]
    for core in cores[1:]:
        product = np.reshape(np.einsum("anb,bmc->anmc", product, core), (product.shape[0], -1, core.shape[2]))
    return product[:, :, 0] if outputs else product[0]


def _modes(modes: Any, name: str) -> tuple[int, ...]:
    """The modes of a side. Raises ArgumentError where they are none."""
    is_list = isinstance(modes, Sequence) or (isinstance(modes, np.ndarray) and modes.ndim == 1)
    listed = list(cast("list[Any]", modes)) if is_list and not isinstance(modes, str) else []
    if not 1 <= len(listed) <= _MAX_MODES:
        raise ArgumentError(f"{name}={shown(modes)} must be a list of modes, such as [8, 8] for 64.")
    for mode in listed:
        sizes(**{f"a mode of {name}": mode})
    return tuple(int(mode) for mode in listed)
