"""The GPT of experiment 6 in PyTorch's own words; parameters are named by the same paths as burlab's."""

from typing import Any


def make(torch: Any, vocabulary: int, block: int, width: int, heads: int, layers: int, qkv_bias: bool) -> Any:
    """A module: tokens (batch, positions) -> logits."""
    nn = torch.nn

    class Attention(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.qkv = nn.Linear(width, 3 * width, bias=qkv_bias)
            self.out = nn.Linear(width, width)

        def forward(self, x: Any) -> Any:
            b, t, _ = x.shape
            q, k, v = (z.view(b, t, heads, -1).transpose(1, 2) for z in self.qkv(x).split(width, dim=2))
            y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            return self.out(y.transpose(1, 2).reshape(b, t, width))

    class FeedForward(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layers = nn.ModuleList([nn.Linear(width, 4 * width), nn.Linear(4 * width, width)])

        def forward(self, x: Any) -> Any:
            return self.layers[1](torch.relu(self.layers[0](x)))

    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.attention, self.feedforward = Attention(), FeedForward()

        def forward(self, x: Any) -> Any:
            x = x + self.attention(self.norm1(x))
            return x + self.feedforward(self.norm2(x))

    class GPT(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.tokens, self.positions = nn.Embedding(vocabulary, width), nn.Embedding(block, width)
            self.blocks = nn.ModuleList([Block() for _ in range(layers)])
            self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, vocabulary)

        def forward(self, tokens: Any) -> Any:
            x = self.tokens(tokens) + self.positions(torch.arange(tokens.shape[1]))
            for part in self.blocks:
                x = part(x)
            return self.head(self.norm(x))

    return GPT()
