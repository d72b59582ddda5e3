"""Activations that are learned: rational functions, one for each group of channels."""

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from burlab.errors import ArgumentError
from burlab.graph.numpy_api.indexing import asarray
from burlab.graph.tree import pytree
from burlab.runtime.checks.numbers import one_of, shown
from burlab.typing import DTypeLike

from .layer import STATIC, Array, Layer, check, floating, sizes

# Fitted by least squares to the function on [-3, 3], with odd powers that make the odd part x / 2 exactly.
_STARTS: dict[str, tuple[list[float], list[float]]] = {
    "identity": ([0.0, 1.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]),
    "swish": (
        [4.59757700e-07, 0.5, 0.249996562, 0.0532442795, 5.79282311e-03, 2.73831873e-04],
        [0.0, 0.106488559, 0.0, 5.47663746e-04],
    ),
    "gelu": ([-1.5928384e-03, 0.5, 0.409621114, 0.1083936625, 8.97763068e-03, 0.0], [0.0, 0.216787325, 0.0, 0.0]),
}


@pytree
@dataclass(frozen=True, eq=False, repr=False, init=False)
class GroupRational(Layer):
    """A rational function of each entry, one for each group of channels: GR-KAN (Yang and Wang 2024, arXiv:2409.10594).

    F(x) = (a_0 + a_1 x + ... + a_5 x^5) / (1 + |b_1| |x| + ... + |b_4| |x|^4), with powers of |x| as in the authors'
    kernel. By a b that is 0, the derivative of |b| is 1, as there: so it moves. numerator: a, shape [groups, 6];
    denominator: b, shape [groups, 4]. The first width / groups channels are a group, and so on. x: shape (..., width),
    the result has its shape. Derivatives by a and b are sums over all entries, added in several accumulators: what
    FlashKAT (Raffel and Chen 2025, arXiv:2505.13813) brings to the GPU.

    Args:
        width: Number of channels, a multiple of `groups`.
        groups: Number of functions; the paper has 8.
        start: What the functions start as: "swish" (within 5e-7 on [-3, 3]), "gelu" (within 2e-3 there), "identity".
        dtype: float32 or float64.

    Raises:
        ArgumentError: The width is no multiple of the groups.

    >>> import numpy as np, burlab as bl
    >>> layer = bl.nn.GroupRational(16, start="swish", dtype=np.float64)
    >>> layer, bool(np.allclose(layer(np.linspace(-3, 3, 16)), bl.nn.silu(np.linspace(-3, 3, 16)), atol=5e-7))
    (<GroupRational: 80 parameters, float64>, True)
    """

    numerator: Array
    denominator: Array
    width: int = field(metadata=STATIC)

    def __init__(
        self,
        width: int,
        groups: int = 8,
        *,
        start: Literal["swish", "gelu", "identity"] = "swish",
        dtype: DTypeLike = np.float32,
    ) -> None:
        sizes(width=width, groups=groups)
        if width % groups:
            raise ArgumentError(f"width={shown(width)} must be a multiple of groups={shown(groups)}.")
        a, b = _STARTS[one_of(start, _STARTS, "start of GroupRational")]
        kind = floating(dtype)
        self._fill(numerator=_rows(a, groups, kind), denominator=_rows(b, groups, kind), width=int(width))

    def __call__(self, x: Array) -> Array:
        """F of each entry, by the group of its channel."""
        check(self, x, self.numerator, self.width)
        groups = self.numerator.shape[0]
        parts = np.reshape(asarray(x), (*np.shape(x)[:-1], groups, self.width // groups))
        size = np.abs(parts)
        a, b = (np.expand_dims(asarray(c).T, -1) for c in (self.numerator, self.denominator))  # by degree, then group
        b = np.where(b < 0, -b, b)  # |b|, with the derivative 1 at 0
        p, q = a[5], b[3]
        for degree in (4, 3, 2, 1, 0):
            p = p * parts + a[degree]
        for degree in (2, 1, 0):
            q = q * size + b[degree]
        return np.reshape(p / (1 + q * size), np.shape(x))


def _rows(coefficients: list[float], groups: int, dtype: Any) -> Array:
    return np.tile(np.array(coefficients, dtype), (groups, 1))
