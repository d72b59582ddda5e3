"""The page of compressed differences: its methods are loops in NumPy, and its claim holds."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.typing import Array
from tests.papers.clients import gradients
from tests.papers.pages import method, whole

L2, STEPS = 0.01, 20


def sent(compressor: Any, rows: Array, t: int) -> Array:
    """Every row, compressed by the key of its client at step t."""
    key = bl.random.fold_in(bl.random.key(0), t)
    return np.array([compressor(row, bl.random.fold_in(key, i)) for i, row in enumerate(rows)])


def loop(page: SimpleNamespace, rule: Any, estimate: Callable[..., Array]) -> Array:
    """x <- x - lr estimate."""
    x, state = np.zeros(page.d), dict[str, Array]()
    for t in range(STEPS):
        x = x - rule.lr * estimate(lambda x: gradients(page.clients, x, L2), x, t, state, rule.compressor)
    return x


def dcgd(grads: Any, x: Array, t: int, s: dict[str, Array], c: Any) -> Array:
    return sent(c, grads(x), t).mean(axis=0)


def ef21(grads: Any, x: Array, t: int, s: dict[str, Array], c: Any) -> Array:
    known = s.get("g", np.zeros_like(grads(x)))
    s["g"] = known + sent(c, grads(x) - known, t)
    return s["g"].mean(axis=0)


def diana(grads: Any, x: Array, t: int, s: dict[str, Array], c: Any) -> Array:
    shift = s.get("h", np.zeros_like(grads(x)))
    message = sent(c, grads(x) - shift, t)
    s["h"] = shift + message / (1 + c.omega(len(x)))
    return (shift + message).mean(axis=0)


def marina(grads: Any, x: Array, t: int, s: dict[str, Array], c: Any) -> Array:
    key = bl.random.fold_in(bl.random.key(0), t)
    if t == 0 or bl.random.uniform(key, ()) < 1 / (1 + c.omega(len(x))):
        s["v"] = grads(x).mean(axis=0)
    else:
        s["v"] = s["v"] + sent(c, grads(x) - grads(s["x"]), t).mean(axis=0)
    s["x"] = x
    return s["v"]


@pytest.mark.parametrize(
    ("name", "estimate"), [("all entries", dcgd), ("DCGD", dcgd), ("DIANA", diana), ("MARINA", marina), ("EF21", ef21)]
)
def test_the_methods_are_loops_in_numpy(name: str, estimate: Callable[..., Array]):
    page = method("compressed")
    rule = page.methods[name][0]
    run = bl.minimize(page.problem, np.zeros(page.d), rule, steps=STEPS)
    np.testing.assert_allclose(run.x, loop(page, rule, estimate), rtol=1e-9, atol=1e-12)


@pytest.mark.full
def test_differences_converge_with_fewer_bits():
    page = whole("compressed")
    at = np.argmin(np.abs(page.kilobytes - 250))
    gap = {name: values[:, at] for name, values in page.trials.items()}
    for name in ("DIANA", "MARINA"):
        assert np.all(gap[name] < 1e-2 * gap["all entries"])
    assert np.all(page.trials["EF21"][:, np.argmin(np.abs(page.kilobytes - 50))] < 1e-2 * gap["all entries"])
    assert np.all(page.trials["DCGD"][:, -1] > 1e-4)
