"""The page of the bottleneck bound: its estimate is a loop over SciPy's densities and comes to a closed form."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from tests.papers.pages import method, whole


def test_the_estimate_is_a_mean_of_logarithms_of_densities():
    information, rng = method("bottleneck").information, np.random.default_rng(0)
    codes, labels, noise = (
        rng.normal(size=(12, 3)),
        np.array([0, 0, 1, 2, 1, 1, 0, 2, 0, 0, 1, 1]),
        rng.normal(size=(4, 12, 3)),
    )
    terms = []
    for draw in noise:
        for x, (h, label) in enumerate(zip(codes, labels, strict=True)):
            z = h + 0.7 * draw[x]
            alike = [multivariate_normal(other, 0.49).pdf(z) for other in codes[labels == label]]
            terms.append(np.log(multivariate_normal(h, 0.49).pdf(z) / np.mean(alike)))
    np.testing.assert_allclose(information(codes, labels, 0.7, noise), np.mean(terms), rtol=1e-11)


def test_linear_codes_of_normal_inputs_have_the_information_of_the_determinant():
    """1/2 log det(I + W'W / sigma^2); without noise the estimate ends at the logarithm of the samples."""
    information, rng = method("bottleneck").information, np.random.default_rng(1)
    weight, n = rng.normal(size=(5, 2)), 1500
    codes, labels, noise = rng.normal(size=(n, 5)) @ weight, np.zeros(n, int), rng.normal(size=(2, n, 2))
    for sigma in (1.0, 3.0):
        wanted = 0.5 * np.linalg.slogdet(np.eye(2) + weight.T @ weight / sigma**2)[1]
        assert information(codes, labels, sigma, noise) == pytest.approx(wanted, abs=0.1)
    np.testing.assert_allclose(information(codes, labels, 1e-6, noise), np.log(n), rtol=1e-3)


@pytest.mark.full
def test_the_bound_orders_by_the_number_of_samples_alone():
    page = whole("bottleneck")
    assert np.all(page.overall["the bound"] > 0.7)
    assert np.all(page.overall["1 / n"] > page.overall["the bound"] - 0.05)
    assert not any(np.all(values > 0.5) for values in page.alike.values())
