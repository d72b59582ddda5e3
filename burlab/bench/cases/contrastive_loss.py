"""A contrastive loss of a large batch: the gradient of InfoNCE, by chunks of the batch and at once.

Samples of a batch meet in their embeddings alone, so these can be computed in chunks, and a second time for the
gradient (GradCache: Gao et al. 2021, arXiv:2101.06983).
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from burlab.bench.problem import Array, BatchObjective, Case, Namespace, Size, Timed

INPUTS, EMBEDDING, LAYERS, TEMPERATURE = 128, 64, 3, 0.5
TOWERS = ("a", "b")
OURS, AT_ONCE = "by chunks", "whole batch"


def embed(np_: Namespace, p: Mapping[str, Any], *rows: Any) -> tuple[Any, ...]:
    """The embeddings of both views by towers of tanh layers, of length 1."""
    return tuple(_tower(np_, p, name, x) for name, x in zip(TOWERS, rows, strict=True))


def _tower(np_: Namespace, p: Mapping[str, Any], name: str, x: Any) -> Any:
    for k in range(LAYERS):
        x = np_.tanh(x @ p[f"{name}{k}"])
    z = x @ p[f"{name}{LAYERS}"]
    return z / np_.sqrt(np_.sum(z**2, -1))[..., None]


def meet(np_: Namespace, u: Any, v: Any) -> Any:
    """InfoNCE: the cross entropy of each sample's own partner among all."""
    scores = u @ v.T / TEMPERATURE
    return np_.mean(np_.logsumexp(scores)) - np_.mean(np_.sum(u * v, -1)) / TEMPERATURE


def problem(size: Size) -> BatchObjective:
    """Two views of samples with a few factors in common."""
    rng, batch = np.random.default_rng(0), size["batch"]
    shared = rng.normal(size=(batch, 16))
    data: dict[str, Array] = {}
    for name in TOWERS:
        data[name] = np.tanh(shared @ rng.normal(size=(16, INPUTS)) / 4 + 0.3 * rng.normal(size=(batch, INPUTS)))
    points = tuple(_parameters(rng, size["hidden"]) for _ in range(2))
    return BatchObjective(embed, meet, points, data, size["chunks"])


def _parameters(rng: "np.random.Generator", hidden: int) -> dict[str, Array]:
    sizes = (INPUTS, *[hidden] * LAYERS, EMBEDDING)
    shapes = {f"{name}{k}": sizes[k : k + 2] for name in TOWERS for k in range(LAYERS + 1)}
    return {name: rng.normal(size=shape) / np.sqrt(shape[0]) for name, shape in shapes.items()}


def conclusions(lines: Sequence[Timed]) -> list[str]:
    """Sentences: time and memory of the largest batch by chunks, over those of the other variants."""
    largest = max((line.size["batch"] for line in lines), default=0)
    found = {(x.engine, x.variant): x for x in lines if x.size["batch"] == largest and x.seconds is not None}
    ours = found.pop(("burlab", OURS), None)
    if ours is None:
        return []
    return [_compared(ours, other, largest) for other in found.values()]


def _compared(ours: Timed, other: Timed, batch: int) -> str:
    times = (ours.seconds or 0.0) / (other.seconds or 1.0)
    sentence = f"Batch {batch:,}: burlab by chunks takes {times:.2f} times as long as {other.engine}, {other.variant}"
    needs = [line.facts.get("added", 0.0) for line in (ours, other)]
    if min(needs) <= 0:
        return f"{sentence}."
    return f"{sentence}, with {needs[0] / needs[1]:.2f} times the added memory."


CASE = Case(
    "contrast",
    "contrast: a gradient of InfoNCE over a batch, two towers with three layers of tanh (float32)",
    problem,
    {"burlab": (OURS, AT_ONCE), "numpy": (AT_ONCE, OURS), "torch": (AT_ONCE, OURS), "jax": ("jit",)},
    unit="gradient",
    sizes=({"batch": 4096, "hidden": 512, "chunks": 256},),
    quick=({"batch": 256, "hidden": 512, "chunks": 64},),
    dtype="float32",
    note="Process: the most that the system has given to a process that computes nothing but gradients of this "
    "variant. Added: how much more that is than with a batch of 256.",
    alone=True,
    conclusions=conclusions,
)
