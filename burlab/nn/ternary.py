"""Layers without products of matrices: weights of -1, 0 and 1, and a recurrence of entries in place of attention."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from burlab.errors import ShapeError
from burlab.functions import sigmoid, silu
from burlab.graph.tree import pytree
from burlab.transforms import associative_scan, straight_through
from burlab.typing import DTypeLike, Key

from . import init
from .layer import Array, Layer, check, floating, keys, numbers, sizes
from .norm import RMSNorm

_TINY = 1e-5  # scales are not below it


@pytree
@dataclass(frozen=True, eq=False, repr=False, init=False)
class BitLinear(Layer):
    """A product with weights of -1, 0, 1 times one scale, and an input of 8 bits (Zhu et al. 2024, arXiv:2406.02528).

    u = norm(x), an RMSNorm; s = 127 / max |u|, of each row; a = mean |weight|. The result is u' @ w' for
    u' = clip(round(u s), -128, 127) / s and w' = a clip(round(weight / a), -1, 1). Derivatives pass both roundings as
    if they were not there (`bl.straight_through`), scales are constants. As in the authors' code, s and a come from
    numbers of at least 1e-5, and there is no bias. weight: shape [in, out]; norm: eps 1e-8. x: shape (..., in); the
    result has shape (..., out).

    Args:
        inputs, outputs: Sizes in and out.
        key: A key, shape (2,), uint64, for the start: uniform within 1 / sqrt(in), as `Linear`.
        dtype: float32 or float64.

    >>> import numpy as np, burlab as bl
    >>> layer = bl.nn.BitLinear(8, 3, key=bl.random.key(0))
    >>> np.unique(np.sign(layer.ternary())), layer(np.ones(8, np.float32)).shape
    (array([-1.,  0.,  1.], dtype=float32), (3,))
    """

    weight: Array
    norm: RMSNorm

    def __init__(self, inputs: int, outputs: int, *, key: Key, dtype: DTypeLike = np.float32) -> None:
        sizes(inputs=inputs, outputs=outputs)
        [w] = keys(key, 1)
        bound = inputs**-0.5
        weight = init.uniform(w, (inputs, outputs), floating(dtype), low=-bound, high=bound)
        self._fill(weight=weight, norm=RMSNorm(inputs, eps=1e-8, dtype=dtype))

    def __call__(self, x: Array) -> Array:
        """The product of the rounded input and the ternary weights."""
        check(self, x, self.weight, self.weight.shape[0])
        u = self.norm(x)
        scale = 127 / np.maximum(np.max(np.abs(u), axis=-1, keepdims=True), _TINY)
        rounded = straight_through(np.clip(np.rint(u * scale), -128, 127) / scale, u)
        return rounded @ straight_through(self.ternary(), self.weight)

    def ternary(self) -> Array:
        """The weights -a, 0 and a that a call uses, shape [in, out]."""
        mean: Any = np.abs(self.weight).mean()
        scale: Any = np.maximum(mean, _TINY)
        return scale * np.clip(np.rint(self.weight / scale), -1, 1)


@pytree
@dataclass(frozen=True, eq=False, repr=False, init=False)
class MLGRU(Layer):
    """A gated recurrence of entries in place of attention, with `BitLinear` layers (Zhu et al. 2024, arXiv:2406.02528).

    f = sigmoid(forget(x)), i = silu(input(x)) (1 - f), h_t = f_t h_(t-1) + i_t from h = 0; the result is
    output(norm(gate(x)) silu(h)). No gate reads h, so that `bl.associative_scan` runs along the positions. As in the
    authors' code: f has a least value `floor` in layers above the first, f = floor + (1 - floor) sigmoid(forget(x)).
    norm: an RMSNorm, eps 1e-5. x: shape (positions, width), any number of positions; the result has its shape.

    Args:
        width: Length of a position.
        key: A key, shape (2,), uint64, for the start of the layers.
        dtype: float32 or float64.

    Raises:
        ShapeError: On a call, x has not the two axes of positions and width, or floor another shape.

    >>> import numpy as np, burlab as bl
    >>> layer = bl.nn.MLGRU(24, key=bl.random.key(0))
    >>> layer(np.ones((8, 24), np.float32)).shape
    (8, 24)
    """

    forget: BitLinear
    input: BitLinear
    gate: BitLinear
    output: BitLinear
    norm: RMSNorm

    def __init__(self, width: int, *, key: Key, dtype: DTypeLike = np.float32) -> None:
        sizes(width=width)
        made: Any = [BitLinear(width, width, key=k, dtype=dtype) for k in keys(key, 4)]
        norm = RMSNorm(width, eps=1e-5, dtype=dtype)
        self._fill(forget=made[0], input=made[1], gate=made[2], output=made[3], norm=norm)

    def __call__(self, x: Array, floor: Array | None = None) -> Array:
        """Return what the positions and those before them make, shape (positions, width).

        Args:
            x: Shape (positions, width).
            floor: The least values of f, in [0, 1), shape (width,) or one number; None for 0.
        """
        if np.ndim(x) != 2:
            raise ShapeError(f"MLGRU expects x of shape (positions, width), got {np.shape(x)}.")
        f = sigmoid(self.forget(x))
        if floor is not None:
            least: Any = numbers(floor, "floor of MLGRU")
            if np.shape(least) not in ((), (x.shape[1],)):
                raise ShapeError(f"floor of MLGRU has shape {np.shape(least)}, expected () or ({x.shape[1]},).")
            f = least + (1 - least) * f
        h = associative_scan(_composed, (f, silu(self.input(x)) * (1 - f)))[1]
        return self.output(self.norm(self.gate(x)) * silu(h))


def _composed(first: tuple[Array, Array], second: tuple[Array, Array]) -> tuple[Array, Array]:
    """The map h -> f h + i of the second one after that of the first."""
    (f, i), (g, j) = first, second
    return f * g, g * i + j
