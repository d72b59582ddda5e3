"""exp5: the character model of Bengio et al. 2003 on last names; context 16, embedding 64, one hidden layer of tanh."""

from functools import cache
from typing import Any

import numpy as np

from burlab.bench.problem import Array, Case, Namespace, Size, Training
from burlab.data import last_names

from .variants import TRAINING_VARIANTS

CONTEXT, EMBEDDING, TOKENS, SAMPLES = 16, 64, 27, 4096


def loss(np_: Namespace, p: dict[str, Any], context: Array, target: Array) -> Any:
    """The cross-entropy of the character that follows, for each context."""
    x = np_.reshape(p["embedding"][context], (*context.shape[:-1], CONTEXT * EMBEDDING))
    h = np_.tanh(x @ p["hidden"] + p["hidden_bias"])
    z = h @ p["output"] + p["output_bias"]
    return np_.logsumexp(z) - picked(np_, z, target)


def picked(np_: Namespace, scores: Array, target: Array) -> Any:
    """The score of each target."""
    if scores.ndim == 1:
        return scores[target]
    return np_.take_along_axis(scores, target[..., None], axis=-1)[..., 0]


def start(hidden: int, seed: int = 0) -> dict[str, Array]:
    """PyTorch's default initial values: uniform within 1 / sqrt(inputs), embeddings normal."""
    rng, inputs = np.random.default_rng(seed), CONTEXT * EMBEDDING
    return {
        "embedding": rng.normal(size=(TOKENS, EMBEDDING)),
        "hidden": rng.uniform(-1, 1, (inputs, hidden)) / np.sqrt(inputs),
        "hidden_bias": rng.uniform(-1, 1, hidden) / np.sqrt(inputs),
        "output": rng.uniform(-1, 1, (hidden, TOKENS)) / np.sqrt(hidden),
        "output_bias": rng.uniform(-1, 1, TOKENS) / np.sqrt(hidden),
    }


@cache
def _data() -> tuple[Array, Array]:
    data = last_names(CONTEXT)
    return data.features[:SAMPLES], data.targets[:SAMPLES]


def problem(size: Size) -> Training:
    """No kinks: any seed will do."""
    contexts, targets = _data()
    return Training(loss, start(size["hidden"]), contexts, targets, size["batch"], "mlp")


CASE = Case(
    "mlp",
    "exp5: a step of gradient descent of the character MLP on last names (float32)",
    problem,
    {"golden": ("steps in C++",), **TRAINING_VARIANTS},
    unit="step",
    sizes=tuple({"hidden": hidden, "batch": batch} for hidden in (4, 16, 64, 1024) for batch in (1, 64)),
    quick=({"hidden": 4, "batch": 1}, {"hidden": 16, "batch": 64}),
    dtype="float32",
    axis="hidden",
)
