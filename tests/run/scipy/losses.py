"""Losses that take long to evaluate, and where a run of them is."""

import numpy as np

SLOW = np.random.default_rng(0).normal(size=(400_000, 8))


def slow(x, a):
    return np.sum(np.tanh(np.outer(a, x)) ** 2) + np.sum((x - 1) ** 2)


def long(x, a):  # one evaluation takes half a minute
    return np.sum(np.tanh(np.outer(np.outer(a, x), np.linspace(0, 1, 256))) ** 2)


def at_its_first_evaluation(run):
    """Return True if not even the start is measured yet."""
    return run._engine._session.measured is None
