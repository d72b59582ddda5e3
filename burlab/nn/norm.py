"""Normalisation of the last axis."""

from dataclasses import dataclass, field

import numpy as np

from burlab.graph.tree import pytree
from burlab.runtime.checks.numbers import flag
from burlab.runtime.memory import check_fits
from burlab.runtime.ranges import NOT_NEGATIVE, number_in
from burlab.typing import DTypeLike

from .layer import STATIC, Array, Layer, check, floating, sizes


@pytree
@dataclass(frozen=True, eq=False, repr=False, init=False)
class LayerNorm(Layer):
    """(x - mean) / sqrt(variance + eps) * weight + bias over the last axis (Ba et al. 2016, arXiv:1607.06450).

    weight, bias: shape [width], they start as ones and zeros. The variance is that of PyTorch: the mean of the squared
    distances.

    Args:
        width: Length of the last axis.
        bias: False for none.
        eps: Added to the variance.
        dtype: float32 or float64.

    >>> import numpy as np, burlab as bl
    >>> bl.nn.LayerNorm(2, dtype=np.float64)(np.array([3.0, 5.0])).round(3)
    array([-1.,  1.])
    """

    weight: Array
    bias: Array | None
    eps: float = field(metadata=STATIC)

    def __init__(self, width: int, *, bias: bool = True, eps: float = 1e-5, dtype: DTypeLike = np.float32) -> None:
        sizes(width=width)
        kind = floating(dtype)
        check_fits(width * kind.itemsize, f"a weight of width={width}")
        self._fill(
            weight=np.ones(width, kind),
            bias=np.zeros(width, kind) if flag(bias, "bias") else None,
            eps=number_in(NOT_NEGATIVE, eps, "eps of LayerNorm"),
        )

    def __call__(self, x: Array) -> Array:
        """x with mean 0 and variance 1, then scaled and shifted."""
        check(self, x, self.weight, self.weight.shape[0])
        centred = x - np.mean(x, axis=-1, keepdims=True)
        variance = np.mean(centred * centred, axis=-1, keepdims=True)
        # One division for the row: products are several times as fast, also in the derivative.
        y = centred * (1 / np.sqrt(variance + self.eps)) * self.weight
        return y if self.bias is None else y + self.bias


@pytree
@dataclass(frozen=True, eq=False, repr=False, init=False)
class RMSNorm(Layer):
    """x / sqrt(mean x^2 + eps) * weight over the last axis (Zhang and Sennrich 2019, arXiv:1910.07467).

    weight: shape [width], starts as ones.

    Args:
        width: Length of the last axis.
        eps: Added to the mean; None: the dtype's own, as in PyTorch.
        dtype: float32 or float64.

    >>> import numpy as np, burlab as bl
    >>> bl.nn.RMSNorm(2, dtype=np.float64)(np.array([3.0, -3.0])).round(3)
    array([ 1., -1.])
    """

    weight: Array
    eps: float = field(metadata=STATIC)

    def __init__(self, width: int, *, eps: float | None = None, dtype: DTypeLike = np.float32) -> None:
        sizes(width=width)
        kind = floating(dtype)
        check_fits(width * kind.itemsize, f"a weight of width={width}")
        small = np.finfo(kind).eps if eps is None else eps
        self._fill(weight=np.ones(width, kind), eps=number_in(NOT_NEGATIVE, small, "eps of RMSNorm"))

    def __call__(self, x: Array) -> Array:
        """x with mean square 1, then scaled."""
        check(self, x, self.weight, self.weight.shape[0])
        return x * (1 / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + self.eps)) * self.weight
