"""Rules run by hand, in plain NumPy: what answers their questions counts them."""

from collections import Counter

import numpy as np

import burlab as bl


class Oracle:
    """A function that answers a rule's questions. counts: how often each was asked; at the point itself it is free."""

    def __init__(self, f):
        self.f = f
        self._value_and_grad = bl.value_and_grad(f)
        self._hvp = bl.hvp(f)
        self.counts = Counter()
        self.x = self.known = None

    def at(self, x):
        """The gradient at the point of the next step."""
        self.x, self.known = x, self._value_and_grad(x)
        return self.known[1]

    def _asked(self, question, y):
        if y is self.x:
            return self.known
        self.counts[question] += 1
        return self._value_and_grad(y)

    def value(self, y):
        return self._asked("value", y)[0]

    def grad(self, y):
        return self._asked("grad", y)[1]

    def value_and_grad(self, y):
        return self._asked("grad", y)

    def hvp(self, y, v):
        self.counts["hvp"] += 1
        return self._hvp(y, v)


def steps(optimizer, oracle, x0, n):
    """Yield (x, gradient, state) before each of n steps, then the last point."""
    x, state = x0, optimizer.init(x0)
    for t in range(n):
        g = oracle.at(x)
        yield x, g, state
        x, state = optimizer.update(g, state, x, t, f=oracle)
    yield x, oracle.at(x), state


def path(optimizer, f, x0, n):
    """The points of n steps, shape (n + 1, d)."""
    return np.array([x for x, *_ in steps(optimizer, Oracle(f), x0, n)])


def solve(optimizer, f, x0, limit, tolerance):
    """The first point with |gradient| <= tolerance, the steps to it, and what was asked; fails after `limit` steps."""
    oracle = Oracle(f)
    for t, (x, g, _) in enumerate(steps(optimizer, oracle, x0, limit)):
        if np.linalg.norm(g) <= tolerance:
            return x, t, oracle.counts
    raise AssertionError(f"{optimizer} has |g| = {np.linalg.norm(g):.3g} at {x} after {limit} steps")
