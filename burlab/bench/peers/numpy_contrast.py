"""InfoNCE in NumPy with its gradient by hand: of a batch at once, or by chunks (Gao et al. 2021, arXiv:2101.06983)."""

from collections.abc import Mapping
from typing import Any, cast

import numpy as np

from burlab.bench.cases.contrastive_loss import LAYERS, TEMPERATURE, TOWERS
from burlab.bench.problem import Array

Arrays = Mapping[str, Array]


def gradient(chunks: int | None) -> Any:
    """Return (parameters, data) -> (value, gradients). chunks: samples embedded at a time; None: all."""

    def both(p: Arrays, data: Arrays) -> tuple[float, Arrays]:
        batch = len(next(iter(data.values())))
        cuts = [slice(k, k + (chunks or batch)) for k in range(0, batch, chunks or batch)]
        kept = {name: [_forward(p, name, data[name][cut]) for cut in cuts] for name in TOWERS} if chunks is None else {}
        units = [np.concatenate([_forward(p, n, data[n][cut])[-2] for cut in cuts]) if chunks else kept[n][0][-2]
                 for n in TOWERS]  # fmt: skip
        value, *cotangents = _meet(*units)
        slopes = {name: np.zeros_like(w) for name, w in p.items()}
        for name, g in zip(TOWERS, cotangents, strict=True):
            for k, cut in enumerate(cuts):
                residuals = kept[name][k] if kept else _forward(p, name, data[name][cut])
                _backward(p, name, residuals, g[cut], slopes)
        return value, slopes

    return both


def _forward(p: Arrays, name: str, x: Array) -> list[Array]:
    """Inputs of the layers, the embeddings of length 1, and their lengths before."""
    found = [x]
    for k in range(LAYERS):
        x = x @ p[f"{name}{k}"]
        found.append(np.tanh(x, out=x))
    z = x @ p[f"{name}{LAYERS}"]
    length = np.sqrt(np.sum(z**2, axis=1, keepdims=True))
    return [*found, z / length, length]


def _meet(u: Array, v: Array) -> tuple[float, Array, Array]:
    """The loss, and its gradients by both embeddings."""
    batch = len(u)
    scores = u @ v.T
    scores /= TEMPERATURE
    own = np.sum(u * v, axis=1) / TEMPERATURE
    top = scores.max(axis=1, keepdims=True)
    scores -= top
    shares = np.exp(scores, out=scores)
    total = shares.sum(axis=1, keepdims=True)
    terms = cast("Array", np.log(total)) + top - own[:, None]
    shares /= total * (batch * TEMPERATURE)
    return float(terms.mean()), shares @ v - v / (batch * TEMPERATURE), shares.T @ u - u / (batch * TEMPERATURE)


def _backward(p: Arrays, name: str, residuals: list[Array], g: Array, slopes: dict[str, Array]) -> None:
    """Add the gradients of a tower, from that by its embeddings."""
    *inputs, unit, length = residuals
    g = (g - unit * np.sum(unit * g, axis=1, keepdims=True)) / length
    for k in range(LAYERS, -1, -1):
        slopes[f"{name}{k}"] += inputs[k].T @ g
        if k:
            g = (g @ p[f"{name}{k}"].T) * (1 - inputs[k] ** 2)
