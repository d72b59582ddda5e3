"""The page of circuits: probabilities add up, EM counts as a loop in NumPy does, and codes are lossless."""

from itertools import product

import numpy as np
import pytest

import burlab as bl
from burlab.typing import Array
from tests.papers.pages import method, whole

STEPS, SMOOTHING = 20, 1e-3


def em_step(weights: list[Array], pictures: Array) -> list[Array]:
    """The new probabilities, by expected counts of each picture. weights: of classes, parts and pixels."""
    classes, parts, pixels = weights
    counts = [np.zeros_like(w) for w in weights]
    for picture in pictures:
        leaf = np.array([[np.prod([pixels[r, h, j, picture[r, j]] for j in range(picture.shape[1])])
                          for h in range(parts.shape[2])] for r in range(len(picture))])  # fmt: skip
        sums = np.einsum("crh,rh->cr", parts, leaf)
        of_class = classes * np.prod(sums, axis=1)
        of_class = of_class / np.sum(of_class)
        of_part = of_class[:, None, None] * parts * leaf / sums[:, :, None]
        counts[0] += of_class / len(pictures)
        counts[1] += of_part / len(pictures)
        for r, j in np.ndindex(*picture.shape):
            counts[2][r, :, j, picture[r, j]] += np.sum(of_part[:, r], axis=0) / len(pictures)
    return [(c + SMOOTHING) / np.sum(c + SMOOTHING, axis=-1, keepdims=True) for c in counts]


def test_em_is_a_loop_in_numpy():
    page = method("circuits")
    pictures, start = page.pictures[:15], page.circuit(0, classes=3, parts=2)
    run = bl.minimize(bl.FiniteSum(page.loss, pictures), start, bl.optim.EM(smoothing=SMOOTHING), steps=STEPS)
    weights = [np.exp(start[name]) for name in ("class", "part", "pixel")]
    for _ in range(STEPS):
        weights = em_step(weights, pictures)
    for name, wanted in zip(("class", "part", "pixel"), weights, strict=True):
        np.testing.assert_allclose(np.exp(run.x[name]), wanted, rtol=1e-9, atol=1e-14)
        assert np.abs(np.exp(start[name]) - wanted).max() > 0.01


def test_probabilities_of_all_pictures_add_up():
    page, rng = method("circuits"), np.random.default_rng(0)
    sizes = {"class": (3,), "part": (3, 2, 4), "pixel": (2, 4, 3, 2)}
    x = {name: np.log(rng.dirichlet(np.ones(size[-1]), size=size[:-1])) for name, size in sizes.items()}
    every = np.array(list(product((0, 1), repeat=6))).reshape(-1, 2, 3)
    np.testing.assert_allclose(np.sum(np.exp(-bl.vmap(page.loss, in_axes=(None, 0))(x, every))), 1.0, rtol=1e-12)


def test_conditionals_multiply_to_the_probability_of_the_picture():
    page = method("circuits")
    x, picture = page.circuit(1), page.pictures[5]
    model, total = page.conditionals(x), 0.0
    share = next(model)
    for k, bit in enumerate(picture.ravel()):
        total -= np.log(share / 65536 if bit else 1 - share / 65536)
        share = model.send(bit) if k < 63 else 0
    assert total == pytest.approx(page.loss(x, picture), rel=1e-3)  # probabilities of 16 bits


@pytest.mark.full
def test_codes_are_lossless_and_as_short_as_the_model_says():
    page = whole("circuits")
    np.testing.assert_array_equal(page.decoded(page.model, page.code, len(page.some)), page.some)
    assert page.ideal < 8 * len(page.code) < 1.005 * page.ideal + 40
    for values in page.trials.values():
        assert np.all(values[:, -1] < page.alone - 0.05)
        assert np.all(values[:, -1] < page.zipped - 0.05)
    for run, _ in page.runs["EM"]:
        assert np.all(np.diff(run.history["value"]) < 1e-3)
