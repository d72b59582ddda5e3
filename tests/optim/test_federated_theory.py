"""Bounds of papers for clients: logistic regression, 10 clients that hold 100 samples of 20 entries, very unlike."""

import numpy as np
import pytest

import burlab as bl
from burlab.communication.compressors import RandK, TopK
from burlab.optim import DASHA, DCGD, DIANA, EF21, EF21W, MARINA, PPMARINA, VRMARINA
from tests.optim.theory import FEATURES, GAP, LABELS, MU, STAR, X0, D, N, descended, loss

M, K, STEPS = 10, 4, 150
ORDER = np.argsort(LABELS * np.linalg.norm(FEATURES, axis=1))  # clients of one label, with small or large samples
CLIENTS = [(FEATURES[part], LABELS[part]) for part in np.split(ORDER, M)]
SMOOTHNESS = np.array([np.linalg.eigvalsh(a.T @ a / (4 * len(a)))[-1] + MU for a, _ in CLIENTS])  # of each client
OF_SAMPLES = np.sum(FEATURES**2, axis=1) / 4 + MU
L = float(np.linalg.eigvalsh(FEATURES.T @ FEATURES / (4 * N))[-1]) + MU
SPREAD = float(np.sqrt(np.mean(SMOOTHNESS**2)))  # L~
W = SMOOTHNESS / SMOOTHNESS.sum()
OMEGA, ALPHA = RandK(K).omega(D), TopK(K).alpha(D)
THETA = 1 - np.sqrt(1 - ALPHA)
PROBLEM = bl.problems.federated(loss, CLIENTS, lambda x: MU / 2 * (x @ x))


def grads(x):
    return np.array([np.mean((-b / (1 + np.exp(b * (a @ x))))[:, None] * a, axis=0) + MU * x for a, b in CLIENTS])


def missed(rows):
    """Return the errors of the first estimates, for each client."""
    return np.sum((rows - np.array([TopK(K)(row) for row in rows])) ** 2, axis=1)


def marina(omega, p, clients):
    return np.sqrt((1 - p) * omega / (p * clients))


P_MARINA, P_PP = 1 / (1 + OMEGA), 3 / (M * (1 + OMEGA))
P_VR = min(P_MARINA, 2 / (2 + N // M))
VARIED = OMEGA * SPREAD**2 + (1 + OMEGA) * np.mean(OF_SAMPLES**2) / 2
START = missed(grads(X0)), missed(grads(X0) / (M * W[:, None]))
BOUNDS = {  # a rule for a step size, the largest one of its theorem, what is added to 2 (f(x0) - f*) / (lr T), times T
    "EF21": (lambda lr: EF21(lr, TopK(K)), 1 / (L + SPREAD * np.sqrt(1 - ALPHA) / THETA), START[0].mean() / THETA),
    "EF21W": (
        lambda lr: EF21W(lr, TopK(K), weights=tuple(W)),
        1 / (L + SMOOTHNESS.mean() * np.sqrt(1 - ALPHA) / THETA),
        W @ START[1] / THETA,
    ),
    "MARINA": (lambda lr: MARINA(lr, RandK(K)), 1 / (SPREAD * (1 + marina(OMEGA, P_MARINA, M))), 0.0),
    "PPMARINA": (
        lambda lr: PPMARINA(lr, RandK(K), clients=3),
        1 / (SMOOTHNESS.max() * (1 + marina(1 + OMEGA, P_PP, 3))),
        0.0,
    ),
    "VRMARINA": (
        lambda lr: VRMARINA(lr, RandK(K), batch=2),
        1 / (SPREAD + np.sqrt((1 - P_VR) / (P_VR * M) * VARIED)),
        0.0,
    ),
    "DASHA": (lambda lr: DASHA(lr, RandK(K)), 1 / (L + SPREAD * np.sqrt(16 * OMEGA * (2 * OMEGA + 1) / M)), 0.0),
}


@pytest.mark.parametrize("name", BOUNDS)
def test_the_mean_square_of_gradients_keeps_its_bound(name):
    """The mean of |grad f|^2 over T points is at most 2 (f(x0) - f*) / (lr T), and what the first estimates miss."""
    rule, lr, more = BOUNDS[name]
    run, norms = bl.minimize(PROBLEM, X0, rule(lr)), []
    for _ in range(STEPS):
        norms.append(np.sum(np.mean(grads(run.x), axis=0) ** 2))
        run.step()
    bound = (2 * GAP / lr + more) / STEPS
    assert bound / 4 < np.mean(norms) <= bound


def test_diana_converges_where_dcgd_stalls():
    """With lr of its theorem: V_k <= max(1 - lr mu, 1 - a / 2)^k V_0."""
    lr, steps, star = 1 / (SMOOTHNESS.max() * (1 + 6 * OMEGA / M)), 400, grads(STAR)

    def v(x, h):
        errors = np.mean(np.sum((h - star) ** 2, axis=1))
        return np.sum((x - STAR) ** 2) + 4 * OMEGA * (1 + OMEGA) / M * lr**2 * errors

    run = bl.minimize(PROBLEM, X0, DIANA(lr, RandK(K)), steps=steps)
    rate = max(1 - lr * MU, 1 - 0.5 / (1 + OMEGA))
    assert v(run.x, run.state["h"]) <= rate**steps * v(X0, np.zeros((M, D)))
    assert descended(lr, steps) / 2 < np.sum((run.x - STAR) ** 2) < 2 * descended(lr, steps)
    run.step(12000)
    plain = bl.minimize(PROBLEM, X0, DCGD(lr, RandK(K)), steps=steps + 12000)
    assert np.linalg.norm(run.x - STAR) < 1e-3 * np.linalg.norm(plain.x - STAR)
