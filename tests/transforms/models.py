"""Models as their users write them, with the module of functions as first argument: NumPy's under trace, or JAX's."""

from typing import Any

import numpy as np

_rng = np.random.default_rng(11)
CONTEXT, EMBEDDING, HIDDEN, CHARACTERS, BATCH = 3, 8, 16, 27, 6
WIDTH, HEADS, BLOCKS, VOCABULARY, LENGTH = 12, 3, 2, 17, 8


def _normal(*shape: int, scale: float = 0.4) -> Any:
    return _rng.normal(size=shape) * scale


def cross_entropy(np: Any, logits: Any, targets: Any) -> Any:
    """Mean of -log softmax(logits)[target] over rows."""
    peak = np.max(logits, axis=-1, keepdims=True)
    total = np.log(np.sum(np.exp(logits - peak), axis=-1, keepdims=True)) + peak
    return np.mean(total[:, 0] - np.take_along_axis(logits, targets[:, None], axis=-1)[:, 0])


def mlp(np: Any, p: Any, tokens: Any, targets: Any) -> Any:
    """The character model of Bengio et al. 2003: embeddings, one hidden layer."""
    x = p["embedding"][tokens].reshape(len(tokens), -1)
    h = np.tanh(x @ p["w1"] + p["b1"])
    return cross_entropy(np, h @ p["w2"] + p["b2"], targets)


def normalised(np: Any, x: Any, gain: Any, bias: Any) -> Any:
    """Layer norm along the last axis."""
    mean = np.mean(x, axis=-1, keepdims=True)
    return (x - mean) / np.sqrt(np.var(x, axis=-1, keepdims=True) + 1e-5) * gain + bias


def attention(np: Any, x: Any, qkv: Any, out: Any) -> Any:
    """Causal self-attention with several heads."""
    heads = (np.transpose(np.reshape(z, (LENGTH, HEADS, -1)), (1, 0, 2)) for z in np.split(x @ qkv, 3, axis=-1))
    q, k, v = heads
    scores = np.einsum("htd,hud->htu", q, k) / (WIDTH // HEADS) ** 0.5
    scores = np.where(np.tril(np.ones((LENGTH, LENGTH))) > 0, scores, -1e30)
    e = np.exp(scores - np.max(scores, axis=-1, keepdims=True))
    mixed = (e / np.sum(e, axis=-1, keepdims=True)) @ v
    return np.reshape(np.transpose(mixed, (1, 0, 2)), (LENGTH, WIDTH)) @ out


def gpt(np: Any, p: Any, tokens: Any, targets: Any) -> Any:
    """A GPT of two blocks, pre-norm, relu between the layers of the feed-forward part."""
    x = p["tokens"][tokens] + p["positions"]
    for b in p["blocks"]:
        x = x + attention(np, normalised(np, x, *b["norm1"]), b["qkv"], b["out"])
        x = x + np.maximum(normalised(np, x, *b["norm2"]) @ b["up"] + b["bias"], 0.0) @ b["down"]
    return cross_entropy(np, normalised(np, x, *p["norm"]) @ p["head"], targets)


def lstm(np: Any, p: Any, xs: Any) -> Any:
    """The squared output of an LSTM after reading a sequence (Hochreiter and Schmidhuber 1997, with forget gate)."""
    h, c = np.zeros(5), np.zeros(5)
    for x in xs:
        i, f, o, g = np.split(x @ p["wx"] + h @ p["wh"] + p["b"], 4)
        c = c / (1 + np.exp(-f)) + np.tanh(g) / (1 + np.exp(-i))
        h = np.tanh(c) / (1 + np.exp(-o))
    return np.sum((h @ p["out"]) ** 2)


def mixture(np: Any, p: Any, points: Any) -> Any:
    """Minus the log-likelihood of a mixture of gaussians with diagonal covariance (as in ADBench)."""
    scaled = (points[:, None, :] - p["means"]) * np.exp(-p["logs"])
    terms = p["weights"] - np.sum(p["logs"], axis=-1) - 0.5 * np.sum(scaled**2, axis=-1)
    peak = np.max(terms, axis=-1, keepdims=True)
    return -np.sum(np.log(np.sum(np.exp(terms - peak), axis=-1)) + peak[:, 0]) + len(points) * np.log(
        np.sum(np.exp(p["weights"]))
    )


def _block() -> dict[str, Any]:
    return {
        "norm1": [1 + _normal(WIDTH), _normal(WIDTH)],
        "norm2": [1 + _normal(WIDTH), _normal(WIDTH)],
        "qkv": _normal(WIDTH, 3 * WIDTH),
        "out": _normal(WIDTH, WIDTH),
        "up": _normal(WIDTH, 4 * WIDTH),
        "bias": _normal(4 * WIDTH),
        "down": _normal(4 * WIDTH, WIDTH),
    }


# name: the function, its parameters, its data
MODELS: dict[str, tuple[Any, Any, tuple[Any, ...]]] = {
    "mlp": (
        mlp,
        {
            "embedding": _normal(CHARACTERS, EMBEDDING),
            "w1": _normal(CONTEXT * EMBEDDING, HIDDEN),
            "b1": _normal(HIDDEN),
            "w2": _normal(HIDDEN, CHARACTERS),
            "b2": _normal(CHARACTERS),
        },
        (_rng.integers(0, CHARACTERS, (BATCH, CONTEXT)), _rng.integers(0, CHARACTERS, BATCH)),
    ),
    "gpt": (
        gpt,
        {
            "tokens": _normal(VOCABULARY, WIDTH),
            "positions": _normal(LENGTH, WIDTH),
            "blocks": [_block() for _ in range(BLOCKS)],
            "norm": [1 + _normal(WIDTH), _normal(WIDTH)],
            "head": _normal(WIDTH, VOCABULARY),
        },
        (_rng.integers(0, VOCABULARY, LENGTH), _rng.integers(0, VOCABULARY, LENGTH)),
    ),
    "lstm": (
        lstm,
        {"wx": _normal(3, 20), "wh": _normal(5, 20), "b": _normal(20), "out": _normal(5, 2)},
        (_normal(4, 3, scale=1.0),),
    ),
    "mixture": (
        mixture,
        {"weights": _normal(4), "means": _normal(4, 3), "logs": _normal(4, 3)},
        (_normal(10, 3, scale=1.0),),
    ),
}
