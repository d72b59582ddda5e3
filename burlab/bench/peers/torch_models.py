"""The models as a user of PyTorch writes them, with its fused functions. Each gives the mean loss of a batch."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

from burlab.bench.cases import paper_gpt

# Weights of linear layers, which PyTorch keeps as [outputs, inputs].
_LINEAR = ("hidden", "output", "head", "qkv", "mix", "up", "down")


def transposed(name: str, array: Any) -> Any:
    """A weight of a linear layer, transposed; anything else as it is."""
    return array.T if name.rpartition(".")[2] in _LINEAR else array


def mlp(torch: ModuleType) -> Callable[[Any, Any, Any], Any]:
    """The character model."""
    F = torch.nn.functional

    def loss(p: dict[str, Any], contexts: Any, targets: Any) -> Any:
        x = F.embedding(contexts, p["embedding"]).flatten(1)
        h = torch.tanh(F.linear(x, p["hidden"], p["hidden_bias"]))
        return F.cross_entropy(F.linear(h, p["output"], p["output_bias"]), targets)

    return loss


def transformer(torch: ModuleType) -> Callable[[Any, Any, Any], Any]:
    """The GPT."""
    F, width = torch.nn.functional, (paper_gpt.WIDTH,)

    def attention(p: dict[str, Any], prefix: str, x: Any) -> Any:
        n, t, _ = x.shape
        qkv = F.linear(x, p[f"{prefix}qkv"]).view(n, t, 3, paper_gpt.HEADS, -1).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(*qkv.unbind(0), is_causal=True)
        return F.linear(mixed.transpose(1, 2).reshape(n, t, -1), p[f"{prefix}mix"], p[f"{prefix}mix_bias"])

    def loss(p: dict[str, Any], tokens: Any, targets: Any) -> Any:
        h = F.embedding(tokens, p["token"]) + p["position"]
        for k in range(paper_gpt.LAYERS):
            h = h + attention(p, f"{k}.", F.layer_norm(h, width, p[f"{k}.norm1"], p[f"{k}.shift1"]))
            x = F.layer_norm(h, width, p[f"{k}.norm2"], p[f"{k}.shift2"])
            up = F.relu(F.linear(x, p[f"{k}.up"], p[f"{k}.up_bias"]))
            h = h + F.linear(up, p[f"{k}.down"], p[f"{k}.down_bias"])
        z = F.linear(F.layer_norm(h, width, p["norm"], p["shift"]), p["head"], p["head_bias"])
        return F.cross_entropy(z.flatten(0, 1), targets.flatten())

    return loss


MODELS: dict[str, Callable[[Any], Callable[[Any, Any, Any], Any]]] = {"mlp": mlp, "gpt": transformer}
