"""SAGA and SVRG step for step beside copt, on the samples that it draws: `pip install copt==0.9.2`."""

import numpy as np
import pytest

import burlab as bl
from burlab.optim import SAGA, SVRG

N, D, LR, EPOCHS = 20, 4, 0.02, 7


@pytest.mark.parametrize(
    ("name", "rule", "state"),
    [
        ("minimize_saga", SAGA(LR), {"table": np.zeros((N, D)), "mean": np.zeros(D)}),  # its table begins at zero
        ("minimize_svrg", SVRG(LR, every=N), None),
    ],
    ids=["SAGA", "SVRG"],
)
def test_path_equals_copt(name, rule, state):
    copt = pytest.importorskip("copt", reason="copt, a peer, is not installed: pip install copt==0.9.2")
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(N, D)), rng.normal(size=N)
    np.random.seed(3)  # noqa: NPY002 - what copt draws from
    slope = copt.utils.njit(lambda p, y: p - y)
    wanted = getattr(copt, name)(slope, a, b, np.zeros(D), LR, alpha=0.1, max_iter=EPOCHS, tol=0).x
    np.random.seed(3)  # noqa: NPY002
    order, epochs = np.arange(N), []
    for _ in range(EPOCHS):
        np.random.shuffle(order)  # noqa: NPY002
        epochs.append(order.copy())
    problem = bl.FiniteSum(lambda x, a, b: 0.5 * (a @ x - b) ** 2, (a, b), lambda x: 0.05 * (x @ x))
    run = bl.minimize(problem, np.zeros(D), rule, sampler=np.concatenate(epochs)[:, None], state=state)
    run.step(N * EPOCHS)
    np.testing.assert_allclose(run.x, wanted, rtol=1e-12)
