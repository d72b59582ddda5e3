"""exp6: the paper's GPT, 46,337 parameters, on the reference of the Python language."""

from collections import Counter
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from burlab.bench.namespace import PLAIN
from burlab.bench.problem import Array, Case, Namespace, Size, Training

from .variants import TRAINING_VARIANTS

VOCABULARY, BLOCK, WIDTH, HEADS, LAYERS, HIDDEN = 65, 8, 24, 6, 6, 96
SAMPLES, SEEDS = 2048, 8
_JUDGED = 1024  # samples, at most, whose pre-activations choose the seed
_MASK = np.tril(np.ones((BLOCK, BLOCK), bool))


def loss(np_: Namespace, p: dict[str, Any], tokens: Array, targets: Array, seen: list[Any] | None = None) -> Any:
    """The mean cross-entropy of the next characters, for each text. seen: collects what goes into relu."""
    h = p["token"][tokens] + p["position"]
    for k in range(LAYERS):
        h = h + attention(np_, p, f"{k}.", norm(np_, h, p[f"{k}.norm1"], p[f"{k}.shift1"]))
        before = norm(np_, h, p[f"{k}.norm2"], p[f"{k}.shift2"]) @ p[f"{k}.up"] + p[f"{k}.up_bias"]
        if seen is not None:
            seen.append(before)
        h = h + np_.relu(before) @ p[f"{k}.down"] + p[f"{k}.down_bias"]
    z = norm(np_, h, p["norm"], p["shift"]) @ p["head"] + p["head_bias"]
    best = np_.take_along_axis(z, targets[..., None], axis=-1)[..., 0]
    return np_.mean(np_.logsumexp(z) - best, axis=-1)


def norm(np_: Namespace, x: Array, scale: Array, shift: Array) -> Any:
    """Layer normalization of the last axis (Ba et al. 2016)."""
    centred = x - np_.mean(x, axis=-1, keepdims=True)
    variance = np_.mean(centred * centred, axis=-1, keepdims=True)
    return centred / np_.sqrt(variance + 1e-5) * scale + shift


def attention(np_: Namespace, p: dict[str, Any], prefix: str, x: Array) -> Any:
    """Causal attention of six heads (Vaswani et al. 2017)."""
    lead = x.shape[:-1]
    qkv = np_.reshape(x @ p[f"{prefix}qkv"], (*lead, 3, HEADS, WIDTH // HEADS))
    q, k, v = (np_.swapaxes(qkv[..., part, :, :], -3, -2) for part in range(3))
    scores = q @ np_.swapaxes(k, -1, -2) * (WIDTH // HEADS) ** -0.5
    weights = np_.softmax(np_.where(_MASK, scores, -1e9))
    mixed = np_.reshape(np_.swapaxes(weights @ v, -3, -2), (*lead, WIDTH))
    return mixed @ p[f"{prefix}mix"] + p[f"{prefix}mix_bias"]


def start(seed: int) -> dict[str, Array]:
    """PyTorch's default initial values; weights are [inputs, outputs]."""
    rng = np.random.default_rng(seed)

    def linear(name: str, inputs: int, outputs: int, bias: bool = True) -> dict[str, Array]:
        limit = inputs**-0.5
        made = {name: rng.uniform(-limit, limit, (inputs, outputs))}
        return {**made, f"{name}_bias": rng.uniform(-limit, limit, outputs)} if bias else made

    p: dict[str, Array] = {
        "token": rng.normal(size=(VOCABULARY, WIDTH)),
        "position": rng.normal(size=(BLOCK, WIDTH)),
    }
    for k in range(LAYERS):
        p |= {f"{k}.norm1": np.ones(WIDTH), f"{k}.shift1": np.zeros(WIDTH)}
        p |= linear(f"{k}.qkv", WIDTH, 3 * WIDTH, bias=False) | linear(f"{k}.mix", WIDTH, WIDTH)
        p |= {f"{k}.norm2": np.ones(WIDTH), f"{k}.shift2": np.zeros(WIDTH)}
        p |= linear(f"{k}.up", WIDTH, HIDDEN) | linear(f"{k}.down", HIDDEN, WIDTH)
    return p | {"norm": np.ones(WIDTH), "shift": np.zeros(WIDTH)} | linear("head", WIDTH, VOCABULARY)


@cache
def _data(samples: int) -> tuple[Array, Array]:
    """Pieces of the language reference that comes with CPython, spelled with its 65 most frequent characters."""
    text = "".join(import_module("pydoc_data.topics").topics.values())
    vocabulary = "".join(sorted(c for c, _ in Counter(text).most_common(VOCABULARY)))
    codes = np.array([vocabulary.index(c) for c in text[: 2 * samples * BLOCK] if c in vocabulary], np.int32)
    windows = np.lib.stride_tricks.sliding_window_view(codes, BLOCK + 1)[::BLOCK][:samples]
    return np.ascontiguousarray(windows[:, :-1]), np.ascontiguousarray(windows[:, 1:])


def margin(p: dict[str, Array], tokens: Array, targets: Array) -> float:
    """Return the distance of the nearest relu from its kink: the smallest |pre-activation|."""
    seen = list[Any]()
    loss(PLAIN, p, tokens, targets, seen)
    return min(float(np.min(np.abs(before))) for before in seen)


@cache
def _parameters(samples: int) -> dict[str, Array]:
    """Return the parameters, of a few seeds, whose relus are farthest from their kinks on the samples of the gate."""
    tokens, targets = (a[:samples] for a in _data(SAMPLES))
    return max((start(seed) for seed in range(SEEDS)), key=lambda p: margin(p, tokens, targets))


def problem(size: Size) -> Training:
    """The gate looks at the first two batches."""
    batch = size["batch"]
    tokens, targets = _data(max(SAMPLES, 2 * batch))
    parameters = _parameters(min(2 * batch, _JUDGED))
    return Training(loss, parameters, tokens, targets, batch, "gpt", difference=2e-6)


CASE = Case(
    "gpt",
    "exp6: a step of gradient descent of a GPT with 46,337 parameters on text (float32)",
    problem,
    TRAINING_VARIANTS,
    unit="step",
    sizes=tuple({"batch": batch} for batch in (1, 2, 4, 8, 16, 32, 64)),
    quick=({"batch": 1},),
    dtype="float32",
    axis="batch",
)
