"""Causal self-attention, and the block of a transformer around it."""

import math
from dataclasses import dataclass, field

import numpy as np

from burlab.errors import ArgumentError, ShapeError
from burlab.functions import softmax
from burlab.graph import scope
from burlab.graph.tree import pytree
from burlab.typing import DTypeLike, Key

from .activations import Activation
from .dropout import Dropout
from .layer import STATIC, Array, Layer, keys, sizes
from .linear import MLP, Linear
from .norm import LayerNorm


@pytree
@dataclass(frozen=True, eq=False, repr=False, init=False)
class SelfAttention(Layer):
    """Every position attends to itself and those before it, in several heads (Vaswani et al. 2017, arXiv:1706.03762).

    softmax(q k^T / sqrt(width / heads)) v with q, k, v = qkv(x), side by side as in PyTorch's in_proj; then `out`. x:
    shape (positions, width), any number of positions.

    Args:
        width: A multiple of `heads`.
        heads: Number of heads.
        key: A key, shape (2,), uint64, for the start of the layers.
        qkv_bias, out_bias: True if these layers have one.
        dropout: Rate, of the attention's weights and of the result, where a key is given.
        dtype: float32 or float64.

    Raises:
        ArgumentError: The width is no multiple of the heads.

    >>> import numpy as np, burlab as bl
    >>> attention = bl.nn.SelfAttention(24, 6, key=bl.random.key(0))
    >>> attention(np.ones((8, 24), np.float32)).shape
    (8, 24)
    """

    qkv: Linear
    out: Linear
    drop: Dropout
    heads: int = field(metadata=STATIC)

    def __init__(
        self,
        width: int,
        heads: int,
        *,
        key: Key,
        qkv_bias: bool = True,
        out_bias: bool = True,
        dropout: float = 0.0,
        dtype: DTypeLike = np.float32,
    ) -> None:
        sizes(width=width, heads=heads)
        if width % heads:
            raise ArgumentError(f"width={width} must be a multiple of heads={heads}: each head gets an equal part.")
        k0, k1 = keys(key, 2)
        self._fill(
            qkv=Linear(width, 3 * width, key=k0, bias=qkv_bias, dtype=dtype),
            out=Linear(width, width, key=k1, bias=out_bias, dtype=dtype),
            drop=Dropout(dropout),
            heads=heads,
        )

    def __call__(self, x: Array, *, key: Key | None = None) -> Array:
        """Return the attended values of the positions, shape (positions, width)."""
        if np.ndim(x) != 2:
            raise ShapeError(f"SelfAttention expects x of shape (positions, width), got {np.shape(x)}.")
        positions, width = x.shape
        k0, k1 = (None, None) if key is None else keys(key, 2)
        split = np.reshape(self.qkv(x), (positions, 3, self.heads, width // self.heads))
        q, k, v = (split[:, part].transpose(1, 0, 2) for part in range(3))  # (heads, positions, width / heads)
        scores = (q @ k.transpose(0, 2, 1)) * (1 / math.sqrt(width // self.heads))
        past = np.tril(np.ones((positions, positions), bool))
        weights = self.drop(softmax(np.where(past, scores, -np.inf), axis=-1), key=k0)
        mixed = np.reshape((weights @ v).transpose(1, 0, 2), (positions, width))
        return self.drop(self.out(mixed), key=k1)


@pytree
@dataclass(frozen=True, eq=False, repr=False, init=False)
class Block(Layer):
    """x + attention(norm1(x)), then x + feedforward(norm2(x)): the pre-norm block of GPT-2 (Radford et al. 2019).

    feedforward: an MLP of one hidden layer. x: shape (positions, width).

    Args:
        width, heads, key, qkv_bias, dropout, dtype: As for `SelfAttention`.
        hidden: Units of the hidden layer, by default 4 width.
        activation: Of the hidden layer, as for `MLP`.

    >>> import numpy as np, burlab as bl
    >>> bl.nn.Block(24, 6, key=bl.random.key(0))(np.ones((8, 24), np.float32)).shape
    (8, 24)
    """

    norm1: LayerNorm
    attention: SelfAttention
    norm2: LayerNorm
    feedforward: MLP
    drop: Dropout

    def __init__(
        self,
        width: int,
        heads: int,
        *,
        key: Key,
        hidden: int | None = None,
        activation: Activation = "relu",
        qkv_bias: bool = True,
        dropout: float = 0.0,
        dtype: DTypeLike = np.float32,
    ) -> None:
        sizes(width=width)
        hidden = 4 * width if hidden is None else hidden
        k0, k1 = keys(key, 2)
        self._fill(
            norm1=LayerNorm(width, dtype=dtype),
            attention=SelfAttention(width, heads, key=k0, qkv_bias=qkv_bias, dropout=dropout, dtype=dtype),
            norm2=LayerNorm(width, dtype=dtype),
            feedforward=MLP([width, hidden, width], key=k1, activation=activation, dtype=dtype),
            drop=Dropout(dropout),
        )

    def __call__(self, x: Array, *, key: Key | None = None) -> Array:
        """Both steps, each added to what was there."""
        k0, k1 = (None, None) if key is None else keys(key, 2)
        with scope("attention"):
            x = x + self.attention(self.norm1(x), key=k0)
        with scope("feedforward"):
            return x + self.drop(self.feedforward(self.norm2(x)), key=k1)
