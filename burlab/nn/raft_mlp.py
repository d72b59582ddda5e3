"""A block of a network of perceptrons for pictures, which mixes rows and columns apart, and channels in rafts."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from burlab.errors import ArgumentError
from burlab.graph.tree import pytree
from burlab.runtime.checks.numbers import shown
from burlab.typing import DTypeLike, Key

from .layer import STATIC, Array, Layer, check, keys, sizes
from .linear import MLP
from .norm import LayerNorm


@pytree
@dataclass(frozen=True, eq=False, repr=False, init=False)
class RaftMLP(Layer):
    """Mix the rows, the columns and the channels of a picture: a block of RaftMLP (Tatsunami and Taki 2021).

    x + vertical(norm(x)), then x + horizontal(norm(x)), then x + mixer(norm(x)), each a perceptron of one hidden layer
    with GELU after a LayerNorm of channels. Channels are cut into `raft` rafts (r, c / r). The vertical one sees the
    raft numbers (r, h) at once, for each column and each c / r; the horizontal one (r, w). Instead of 4 (h w)^2 weights
    of an MLP-Mixer's token mixing there are 4 raft^2 (h^2 + w^2). Source: arXiv:2108.04384v3, section 3. x: shape
    (height, width, channels); the result has its shape.

    Args:
        height, width, channels: Sizes of x.
        raft: Number of rafts, which divides the channels.
        key: A key, shape (2,), uint64, for the start of the layers.
        token_expansion: Hidden units of vertical and horizontal perceptrons, in multiples of what they see.
        channel_expansion: Hidden units of the last one, in multiples of the channels.
        dtype: float32 or float64.

    Raises:
        ArgumentError: The channels are no multiple of raft.

    >>> import numpy as np, burlab as bl
    >>> block = bl.nn.RaftMLP(4, 6, 8, raft=2, key=bl.random.key(0))
    >>> block(np.ones((4, 6, 8), np.float32)).shape
    (4, 6, 8)
    """

    norms: tuple[LayerNorm, ...]
    vertical: MLP
    horizontal: MLP
    mixer: MLP
    raft: int = field(metadata=STATIC)

    def __init__(
        self,
        height: int,
        width: int,
        channels: int,
        *,
        raft: int,
        key: Key,
        token_expansion: int = 2,
        channel_expansion: int = 4,
        dtype: DTypeLike = np.float32,
    ) -> None:
        sizes(height=height, width=width, channels=channels, raft=raft)
        sizes(token_expansion=token_expansion, channel_expansion=channel_expansion)
        if channels % raft:
            raise ArgumentError(f"channels={shown(channels)} must be a multiple of raft={shown(raft)}.")
        seen = (raft * height, raft * width, channels)
        factors = (token_expansion, token_expansion, channel_expansion)
        form: Any = {"activation": "gelu", "dtype": dtype}
        made = [MLP([n, e * n, n], key=k, **form) for n, e, k in zip(seen, factors, keys(key, 3), strict=True)]
        self._fill(
            norms=tuple(LayerNorm(channels, dtype=dtype) for _ in range(3)),
            vertical=made[0],
            horizontal=made[1],
            mixer=made[2],
            raft=int(raft),
        )

    def __call__(self, x: Array) -> Array:
        """The three steps, each added to what was there."""
        raft, channels = self.raft, self.norms[0].weight.shape[0]
        height, width = (mlp.layers[0].weight.shape[0] // raft for mlp in (self.vertical, self.horizontal))
        check(self, x, self.norms[0].weight, height, width, channels)
        parts = (*np.shape(x)[:-1], raft, channels // raft)  # (..., h, w, r, c)
        for norm, mix, axes in ((self.norms[0], self.vertical, (-4, -3)), (self.norms[1], self.horizontal, (-3, -4))):
            y = np.moveaxis(np.reshape(norm(x), parts), (*axes, -2, -1), (-1, -3, -2, -4))
            mixed = np.reshape(mix(np.reshape(y, (*y.shape[:-2], -1))), y.shape)
            x = x + np.reshape(np.moveaxis(mixed, (-1, -3, -2, -4), (*axes, -2, -1)), np.shape(x))
        return x + self.mixer(self.norms[2](x))
