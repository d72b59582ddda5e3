"""A small run, and a model that waits until it rests."""

import time

import numpy as np

import burlab as bl
from burlab.widgets.panel.panel_state import state_of


def quadratic(lr=0.01, **more):
    return bl.minimize(lambda x: np.sum(x**2), np.array([1.0, -2.0]), bl.optim.Momentum(lr), **more)


def rested(model, seconds=60.0):
    end = time.monotonic() + seconds
    while model.run.running:
        assert time.monotonic() < end
        time.sleep(0.005)
    model.refresh()
    return state_of(model)
