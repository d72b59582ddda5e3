"""A small GPT."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from burlab.errors import ShapeError
from burlab.graph import scope
from burlab.graph.tree import pytree
from burlab.typing import DTypeLike, Key

from .activations import Activation
from .attention import Block
from .dropout import Dropout
from .layer import STATIC, Array, Layer, keys, sizes
from .linear import Embedding, Linear
from .norm import LayerNorm


@pytree
@dataclass(frozen=True, eq=False, repr=False, init=False)
class GPT(Layer):
    """A decoder that predicts the token after each token (Radford et al. 2019; the sizes of arXiv:2503.13795).

    tokens -> tokens' embedding + positions' embedding -> blocks -> norm -> head. With the defaults it is the model of
    BurTorch's experiment 6, 46,337 parameters: no bias in qkv, one everywhere else.

        tokens     65 x 24            1,560     norm                  48
        positions   8 x 24              192     head  24 x 65 + 65    1,625
        6 blocks of 7,152: two norms 96, qkv 24 x 72, out 24 x 24 + 24, feed-forward 24 x 96 + 96, 96 x 24 + 24

    tokens: integers, shape (positions,), at most `block`; result: logits, shape (positions, vocabulary).

    Args:
        vocabulary: Number of tokens.
        block: Longest sequence.
        width, heads, key, hidden, activation, qkv_bias, dtype: As for `Block`.
        layers: Number of blocks.
        dropout: Rate, applied where a key is given.

    >>> import numpy as np, burlab as bl
    >>> gpt = bl.nn.GPT(key=bl.random.key(0))
    >>> gpt
    <GPT: 46,337 parameters, float32>
    >>> gpt(np.array([3, 1, 4])).shape
    (3, 65)
    """

    tokens: Embedding
    positions: Embedding
    blocks: tuple[Block, ...]
    norm: LayerNorm
    head: Linear
    drop: Dropout
    block: int = field(metadata=STATIC)

    def __init__(  # noqa: PLR0913 - a model is its sizes
        self,
        vocabulary: int = 65,
        block: int = 8,
        width: int = 24,
        heads: int = 6,
        layers: int = 6,
        *,
        key: Key,
        hidden: int | None = None,
        activation: Activation = "relu",
        qkv_bias: bool = False,
        dropout: float = 0.0,
        dtype: DTypeLike = np.float32,
    ) -> None:
        sizes(vocabulary=vocabulary, block=block, layers=layers)
        k0, k1, k2, *rest = keys(key, 3 + layers)
        options: Any = {"hidden": hidden, "activation": activation, "qkv_bias": qkv_bias, "dropout": dropout}
        self._fill(
            tokens=Embedding(vocabulary, width, key=k0, dtype=dtype),
            positions=Embedding(block, width, key=k1, dtype=dtype),
            blocks=tuple(Block(width, heads, key=k, dtype=dtype, **options) for k in rest),
            norm=LayerNorm(width, dtype=dtype),
            head=Linear(width, vocabulary, key=k2, dtype=dtype),
            drop=Dropout(dropout),
            block=block,
        )

    def __call__(self, tokens: Array, *, key: Key | None = None) -> Array:
        """The logits of what follows each token, given those before it."""
        shape: tuple[int, ...] = np.shape(tokens)
        if len(shape) != 1 or not 0 < shape[0] <= self.block:
            raise ShapeError(
                f"GPT expects tokens of shape (positions,), 1 to {self.block} of them, got {shape}. "
                "It sees one sample: bl.vmap maps it over many."
            )
        draws = [None] * (1 + len(self.blocks)) if key is None else keys(key, 1 + len(self.blocks))
        with scope("embedding"):
            x = self.drop(self.tokens(tokens) + self.positions.weight[: shape[0]], key=draws[0])
        for k, block in enumerate(self.blocks):
            with scope(f"blocks.{k}"):
                x = block(x, key=draws[1 + k])
        with scope("head"):
            return self.head(self.norm(x))
