"""A run whose values rise and fall, because each step sees few samples."""

import numpy as np

import burlab as bl


def noisy(**more) -> bl.Run:
    data = np.random.default_rng(0).normal(size=(64, 3))
    return bl.minimize(
        bl.FiniteSum(lambda w, a: (a @ w - 1) ** 2, data), np.zeros(3), bl.optim.GD(0.1), batch=2, **more
    )
