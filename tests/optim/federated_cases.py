"""A problem of clients that hold very different samples, and one of each rule for it."""

import numpy as np

import burlab as bl
from burlab.communication.compressors import RandK, TopK
from burlab.communication.robust import Median, Noise
from burlab.optim import (
    DASHA,
    DCGD,
    DIANA,
    EF21,
    EF21PP,
    EF21W,
    MARINA,
    PPMARINA,
    SCAFFOLD,
    VRMARINA,
    AdamW,
    DiLoCo,
    FedAvg,
    FedNL,
    FedProx,
    GradientCoding,
    MoNNA,
    Nesterov,
    RobustGD,
)  # fmt: skip

D, MU = 6, 0.05
_rng = np.random.default_rng(8)
SIZES = (3, 11, 1, 20, 7)
FEATURES = [_rng.normal(size=(n, D)) * np.exp(0.4 * _rng.normal()) for n in SIZES]
LABELS = [np.sign(a @ _rng.normal(size=D) + 0.3 * _rng.normal(size=len(a))) for a in FEATURES]
X0 = np.zeros(D)


def loss(x, a, b):
    return np.logaddexp(0, -b * (a @ x))


def problem():
    return bl.problems.federated(loss, list(zip(FEATURES, LABELS, strict=True)), lambda x: MU / 2 * (x @ x))


def grads(x):
    """Of every client, at one point or at a point for each; shape (clients, d)."""
    points = np.broadcast_to(x, (len(SIZES), D))
    return np.array([
        np.mean((-b / (1 + np.exp(b * (a @ y))))[:, None] * a, axis=0) + MU * y
        for a, b, y in zip(FEATURES, LABELS, points, strict=True)
    ])  # fmt: skip


def grad(x):
    return grads(x).mean(axis=0)


def hessians(x):
    """Of every client at x, shape (clients, d, d)."""
    slopes = [1 / (1 + np.exp(-b * (a @ x))) for a, b in zip(FEATURES, LABELS, strict=True)]
    return np.array([
        (a * (s * (1 - s))[:, None]).T @ a / len(a) + MU * np.eye(D) for a, s in zip(FEATURES, slopes, strict=True)
    ])  # fmt: skip


def value(x):
    losses = [np.mean(np.logaddexp(0, -b * (a @ x))) for a, b in zip(FEATURES, LABELS, strict=True)]
    return float(np.mean(losses) + MU / 2 * (x @ x))


SMOOTHNESS = np.array([np.linalg.eigvalsh(a.T @ a / (4 * len(a)))[-1] + MU for a in FEATURES])  # of each client
L = float(np.linalg.eigvalsh(np.mean([a.T @ a / (4 * len(a)) for a in FEATURES], axis=0))[-1]) + MU

FEDERATED = {
    "DCGD": DCGD(0.05, RandK(3)),
    "DIANA": DIANA(0.05, RandK(3)),
    "EF21": EF21(0.05, TopK(2)),
    "EF21PP": EF21PP(0.05, TopK(2), clients=2),
    "EF21W": EF21W(0.05, TopK(2), weights=tuple(SMOOTHNESS / SMOOTHNESS.sum())),
    "MARINA": MARINA(0.05, RandK(3)),
    "PPMARINA": PPMARINA(0.05, RandK(3), clients=2),
    "VRMARINA": VRMARINA(0.05, RandK(3), batch=2),
    "DASHA": DASHA(0.05, RandK(3)),
    "FedNL": FedNL(1.0, TopK(4)),
    "MoNNA": MoNNA(0.05, 1, attack=Noise()),
    "RobustGD": RobustGD(0.05, 2, aggregator=Median()),
    "GradientCoding": GradientCoding(0.05, 2),
    "DiLoCo": DiLoCo(AdamW(0.05), tau=3, outer=Nesterov(0.3, 0.5)),
    "FedAvg": FedAvg(0.05, tau=3),
    "FedProx": FedProx(0.05, tau=3),
    "SCAFFOLD": SCAFFOLD(0.05, tau=3),
}
