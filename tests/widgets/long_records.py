"""Runs with long records, and the limits of what a page gets of them."""

import ctypes
import gc
import json

import numpy as np

import burlab as bl
from burlab.charts.limits import PARTS, POINTS, POINTS_OF_CHART
from burlab.charts.svg import svg
from burlab.widgets.chart.encode_chart import encode
from burlab.widgets.still import MAX_PICTURE_BYTES
from tests.threads import end_soon, threads

DRAWS = np.random.default_rng(0).normal(size=(300, 3))
NOISY = bl.FiniteSum(lambda w, row: (w[0] * row[0] + w[1] * row[1] - row[2]) ** 2, DRAWS)  # it never comes to rest
START = np.array([4.0, -3.0])


def noisy(steps, optimizer=None):
    return bl.minimize(NOISY, START, optimizer or bl.optim.Momentum(0.05, mu=0.9), batch=1, steps=steps, progress=False)


def all_of(model):
    model.refresh()
    while getattr(model, "behind", False):
        model.refresh()
    return model


def check(shown, steps):
    """Check all charts and states that a function shows of so many steps, and free what they took.

    A worker has 1.5 GB: the system gets the memory of a record back before the next one is made.
    """
    before = threads()
    for chart, state in shown(steps):
        _check(chart, state)
        del chart, state
    gc.collect()
    end_soon(threads() - before, seconds=30.0)  # a thread holds the run whose landscape it computes
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)


def _check(chart, state):
    data = encode(chart)
    curves = [one for part in data["parts"] for kind in ("curves", "bands", "dots") for one in part.get(kind, ())]
    assert len(data["parts"]) <= PARTS
    assert sum(len(one["x"]) // 8 for one in curves) <= POINTS_OF_CHART
    assert max((len(one["x"]) // 8 for one in curves), default=0) <= POINTS
    assert len(svg(chart).encode()) < MAX_PICTURE_BYTES, "a notebook keeps the picture"
    assert len(json.dumps(state, default=str)) < 500_000
