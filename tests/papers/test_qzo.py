"""The page of QZO: its steps are those of the formula in NumPy, and its claim holds."""

from types import SimpleNamespace

import numpy as np
import pytest

import burlab as bl
from burlab.typing import Array
from tests.papers.pages import method, whole

STEPS, EPS = 20, 1e-3


def quantized(page: SimpleNamespace) -> tuple[list[Array], list[Array]]:
    """Integers and float64 scales of a random network."""
    rng = np.random.default_rng(0)
    pairs = [page.quantize(0.2 * rng.normal(size=shape)) for shape in page.shapes]
    return [ints for ints, _ in pairs], [scales for _, scales in pairs]


def loss(scales: list[Array], ints: list[Array], images: Array, labels: Array) -> float:
    """Mean cross-entropy of the network whose weights are scale times integer."""
    a = images  # not negative, so that the first relu changes nothing
    for k, (s, i) in enumerate(zip(scales, ints, strict=True)):
        width = (64, 64, 10)[k]
        a = np.maximum(a, 0.0) @ (np.repeat(s, i.shape[1]) * i.ravel()).reshape(-1, width)
    top = a.max(axis=1, keepdims=True)
    logs = a - top - np.log(np.exp(a - top).sum(axis=1, keepdims=True))
    return -np.mean(logs[np.arange(len(labels)), labels])


@pytest.mark.parametrize(("clip", "rate"), [(1e6, 2e-4), (0.3, 2e-2)])
def test_a_step_is_the_clipped_slope_and_the_floor(clip: float, rate: float):
    page = method("qzo")
    ints, scales = quantized(page)
    images, labels = page.images[:40].astype(np.float64), page.labels[:40]
    floor = 0.04
    rule = bl.optim.QZO(rate, EPS, clip, floor)
    run = bl.minimize(page.retraining(ints, (images, labels)), scales, rule, steps=STEPS)
    x, cuts = np.concatenate(scales), np.cumsum([len(s) for s in scales])[:-1]
    clipped = 0
    for t in range(STEPS):
        z = bl.random.normal(bl.random.fold_in(bl.random.key(0), t), x.shape)
        ahead, behind = (loss(np.split(y, cuts), ints, images, labels) for y in (x + EPS * z, x - EPS * z))
        rho = (ahead - behind) / (2 * EPS)
        clipped += abs(rho) > clip
        x = np.maximum(x - rate * min(max(rho, -clip), clip) * z, floor)
    assert np.any(x == floor)
    assert (clipped > 0) == (clip < 1)
    np.testing.assert_allclose(np.concatenate(run.x), x, rtol=1e-9, atol=1e-12)


def test_integers_are_of_four_bits_and_a_scale_off_by_half_a_step():
    page = method("qzo")
    weight = np.random.default_rng(1).normal(size=(64, 10))
    ints, scales = page.quantize(weight)
    assert ints.dtype == np.int8
    assert np.abs(ints).max() == 7
    assert np.all(np.abs(weight.reshape(-1, 16) - scales[:, None] * ints) <= scales[:, None] / 2 * (1 + 1e-12))


@pytest.mark.full
def test_values_alone_recover_most_of_what_the_shift_has_cost():
    page = whole("qzo")
    before, after, exact = page.trials["QZO"][:, 0], page.trials["QZO"][:, -1], page.trials["gradient"][:, -1]
    assert np.all(after - before > 0.5 * (exact - before))
    assert np.all(exact > after)
