"""Every layer with the PyTorch module that it must equal, and an input."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import burlab as bl
from tests.nn import torch_gpt

nn = bl.nn
KEY = bl.random.key(5)
F64: dict[str, Any] = {"key": KEY, "dtype": np.float64}


@dataclass(frozen=True)
class LayerCase:
    """ours() and theirs(torch) make the layers; x: one sample; call: how torch's is called on a batch."""

    name: str
    ours: Callable[[], Any]
    theirs: Callable[[Any], Any]
    x: Any
    call: Callable[[Any, Any, Any], Any] = lambda torch, module, x: module(x)

    def __str__(self) -> str:
        return self.name


def draws_of(*shape: int) -> np.random.Generator:
    """Of an array alone: a row more changes the numbers of no other."""
    return np.random.default_rng([3, *shape])


def floats(*shape: int) -> Any:
    return draws_of(*shape).normal(size=shape)


def tokens(count: int, *shape: int) -> Any:
    return draws_of(*shape).integers(0, count, shape).astype(np.int32)


def causal(torch: Any, length: int) -> Any:
    return torch.nn.Transformer.generate_square_subsequent_mask(length, dtype=torch.float64)


def attend(torch: Any, module: Any, x: Any) -> Any:
    return module(x, x, x, attn_mask=causal(torch, x.shape[1]), is_causal=True, need_weights=False)[0]


def encode(torch: Any, module: Any, x: Any) -> Any:
    return module(x, src_mask=causal(torch, x.shape[1]), is_causal=True)


def longs(torch: Any, module: Any, x: Any) -> Any:
    return module(x.long())


def perceptron(activation: str) -> Callable[[Any], Any]:
    def make(torch: Any) -> Any:
        nn = torch.nn
        act = getattr(nn, activation)
        return nn.Sequential(nn.Linear(3, 5), act(), nn.Linear(5, 4), act(), nn.Linear(4, 2))

    return make


def encoder(torch: Any, width: int, heads: int, hidden: int) -> Any:
    return torch.nn.TransformerEncoderLayer(width, heads, hidden, dropout=0.0, batch_first=True, norm_first=True)


CASES = [
    LayerCase("linear", lambda: nn.Linear(3, 5, **F64), lambda t: t.nn.Linear(3, 5), floats(3)),
    LayerCase("linear, rows", lambda: nn.Linear(3, 5, **F64), lambda t: t.nn.Linear(3, 5), floats(2, 7, 3)),
    LayerCase("linear, 1 to 1", lambda: nn.Linear(1, 1, **F64), lambda t: t.nn.Linear(1, 1), floats(1)),
    LayerCase(
        "linear, no bias",
        lambda: nn.Linear(3, 5, bias=False, **F64),
        lambda t: t.nn.Linear(3, 5, bias=False),
        floats(3),
    ),
    LayerCase("embedding", lambda: nn.Embedding(7, 4, **F64), lambda t: t.nn.Embedding(7, 4), tokens(7, 5), longs),
    LayerCase("embedding, one", lambda: nn.Embedding(7, 4, **F64), lambda t: t.nn.Embedding(7, 4), tokens(7), longs),
    LayerCase("layer norm", lambda: nn.LayerNorm(6, dtype=np.float64), lambda t: t.nn.LayerNorm(6), floats(4, 6)),
    LayerCase(
        "layer norm, no bias",
        lambda: nn.LayerNorm(6, bias=False, eps=1e-3, dtype=np.float64),
        lambda t: t.nn.LayerNorm(6, bias=False, eps=1e-3),
        floats(6),
    ),
    LayerCase("rms norm", lambda: nn.RMSNorm(6, dtype=np.float64), lambda t: t.nn.RMSNorm(6), floats(4, 6)),
    LayerCase(
        "rms norm, eps", lambda: nn.RMSNorm(5, eps=0.1, dtype=np.float64), lambda t: t.nn.RMSNorm(5, 0.1), floats(5)
    ),
    *(
        LayerCase(f"mlp, {name}", lambda n=name: nn.MLP([3, 5, 4, 2], activation=n, **F64), perceptron(kind), floats(3))
        for name, kind in {
            "relu": "ReLU",
            "tanh": "Tanh",
            "gelu": "GELU",
            "silu": "SiLU",
            "sigmoid": "Sigmoid",
            "softplus": "Softplus",
            "identity": "Identity",
        }.items()
    ),
    LayerCase("conv1d", lambda: nn.Conv1d(3, 4, 3, **F64), lambda t: t.nn.Conv1d(3, 4, 3), floats(3, 11)),
    LayerCase(
        "conv1d, all options",
        lambda: nn.Conv1d(2, 3, 2, stride=3, padding=2, dilation=2, bias=False, **F64),
        lambda t: t.nn.Conv1d(2, 3, 2, stride=3, padding=2, dilation=2, bias=False),
        floats(2, 7),
    ),
    LayerCase("conv2d", lambda: nn.Conv2d(2, 3, 3, **F64), lambda t: t.nn.Conv2d(2, 3, 3), floats(2, 5, 7)),
    LayerCase(
        "conv2d, all options",
        lambda: nn.Conv2d(1, 5, (3, 2), stride=(2, 1), padding=(1, 0), dilation=(1, 3), **F64),
        lambda t: t.nn.Conv2d(1, 5, (3, 2), stride=(2, 1), padding=(1, 0), dilation=(1, 3)),
        floats(1, 6, 8),
    ),
    LayerCase("conv2d, one", lambda: nn.Conv2d(1, 1, 1, **F64), lambda t: t.nn.Conv2d(1, 1, 1), floats(1, 1, 1)),
    LayerCase(
        "attention",
        lambda: nn.SelfAttention(6, 3, **F64),
        lambda t: t.nn.MultiheadAttention(6, 3, batch_first=True),
        floats(5, 6),
        attend,
    ),
    LayerCase(
        "attention, one head, one position",
        lambda: nn.SelfAttention(4, 1, qkv_bias=False, out_bias=False, **F64),
        lambda t: t.nn.MultiheadAttention(4, 1, bias=False, batch_first=True),
        floats(1, 4),
        attend,
    ),
    LayerCase("block", lambda: nn.Block(6, 2, hidden=7, **F64), lambda t: encoder(t, 6, 2, 7), floats(5, 6), encode),
    LayerCase(
        "gpt",
        lambda: nn.GPT(11, 5, 6, 3, 2, **F64),
        lambda t: torch_gpt.make(t, 11, 5, 6, 3, 2, qkv_bias=False),
        tokens(11, 5),
        longs,
    ),
    LayerCase(
        "gpt of experiment 6, short text",
        lambda: nn.GPT(**F64),
        lambda t: torch_gpt.make(t, 65, 8, 24, 6, 6, qkv_bias=False),
        tokens(65, 7),
        longs,
    ),
]
