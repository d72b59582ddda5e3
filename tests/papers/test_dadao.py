"""The page of DADAO: its events are a loop in NumPy, and gradients grow as the root of the condition."""

import numpy as np
import pytest
from scipy.linalg import expm

import burlab as bl
from tests.papers.pages import method, whole

STEPS, L, MU = 40, 1.5, 0.1


def test_events_are_a_loop_in_numpy():
    page, rng = method("dadao"), np.random.default_rng(5)
    n, d = page.n, page.d
    clients = [(rng.normal(size=(4, d)), rng.normal(size=4)) for _ in range(n)]
    f = bl.problems.federated(lambda x, a, b: (a @ x - b) ** 2 / 2, clients)
    x0 = rng.normal(size=d)
    run = bl.minimize(f, x0, page.DADAO(L, MU), seed=2, steps=STEPS)
    events = run.history
    assert 5 < np.sum(events["gradient"][:STEPS]) < STEPS - 5

    nu = MU / 2
    s = np.sqrt(nu / L)
    laplacian = 2 * np.eye(n) - np.roll(np.eye(n), 1, axis=0) - np.roll(np.eye(n), -1, axis=0)
    chi1 = 1 / np.linalg.eigvalsh(laplacian)[1]
    chi2 = (1 - 1 / n) / 2  # an edge beside a path of n - 1 others
    beta = 2 * (chi1 / np.sqrt(2 * chi1 * chi2)) / s
    eta, alpha, alpha_tilde, theta, delta = s / 8, s / 4, s / 8, 1 / (2 * s), s / 4
    flow = np.array([
        [-eta, eta, 0, 0, 0, 0], [eta, -eta, 0, 0, 0, 0], [0, 0, -alpha, alpha, 0, 0],
        [0, -theta * nu, -theta, 0, -theta, 0], [0, 0, 0, 0, -alpha, alpha], [0, 0, 0, 0, alpha_tilde, -alpha_tilde],
    ])  # fmt: skip
    six = np.zeros((6, n, d))
    six[:2] = x0
    for step in range(STEPS):
        six = np.tensordot(expm(events["wait"][step] * flow), six, 1)
        x, xt, y, yt, z, zt = six
        i, j = int(events["node"][step]), int(events["edge"][step])
        if events["gradient"][step]:
            a, b = clients[i]
            r = (a @ x[i] - b) @ a / len(a) - nu * x[i] - yt[i]
            x[i] -= r / (4 * L)
            xt[i] -= r / (4 * np.sqrt(L * nu))
            yt[i] += (1 + delta) * r
        else:
            k = (j + 1) % n
            m = (y + z)[j] - (y + z)[k]
            z[j], z[k] = z[j] - m / 2, z[k] + m / 2
            zt[j], zt[k] = zt[j] - beta * m, zt[k] + beta * m
    np.testing.assert_allclose(run.state["six"], six, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(run.x, six[0].mean(axis=0), rtol=1e-9, atol=1e-11)


@pytest.mark.full
def test_gradients_grow_as_the_root_of_the_condition():
    powers = whole("dadao").powers
    assert np.all((powers["DADAO"] > 0.3) & (powers["DADAO"] < 0.65))
    assert np.all(powers["gradient descent"] > 0.8)
