"""The page of data pruning: students have the largest margin, scores are those of the formulas, and its claim holds."""

import numpy as np
import pytest
from scipy.optimize import minimize

from tests.papers.pages import method, whole


def test_the_student_is_the_minimum_that_scipy_finds():
    page, rng = method("data_pruning"), np.random.default_rng(0)
    features = rng.normal(size=(80, page.d))
    labels = np.sign(features @ rng.normal(size=page.d))

    def loss(w):
        missing = np.maximum(0, 1 - labels * (features @ w))
        slopes = -2 * (missing * labels) @ features / 80 + 1e-2 * w
        return 0.5e-2 * w @ w + np.mean(missing**2), slopes

    wanted = minimize(loss, np.zeros(page.d), jac=True, options={"gtol": 1e-12}).x
    np.testing.assert_allclose(page.student(features, labels, penalty=1e-2), wanted, rtol=1e-6, atol=1e-8)
    w = page.student(features, labels)
    assert np.min(labels * (features @ w)) > 0.95  # separable, with margins of nearly one


def test_samples_are_kept_by_their_margins():
    page, margins = method("data_pruning"), np.array([3.0, 1.0, 4.0, 0.5])
    assert list(page.kept(margins, 2, "hard", None)) == [3, 1]
    assert list(page.kept(margins, 2, "easy", None)) == [0, 2]
    chosen = page.kept(margins, 3, "random", np.random.default_rng(0))
    assert len(set(chosen)) == 3


@pytest.mark.full
def test_easy_samples_win_where_there_are_few_and_hard_ones_where_there_are_many():
    trials = whole("data_pruning").trials
    few, many = ({name: errors[:, k] for name, errors in trials.items()} for k in (0, -1))
    assert np.all(few["easy"] < few["random"])
    assert np.all(few["random"] < few["hard"])
    assert np.all(many["hard"] < many["easy"])
    assert np.all(many["easy"] < many["random"])


@pytest.mark.full
def test_scores_are_those_of_the_formulas():
    page = whole("data_pruning")
    scores = page.images @ page.run.x
    shares = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True) - np.eye(10)[page.labels]
    np.testing.assert_allclose(page.el2n, np.linalg.norm(shares, axis=1), rtol=1e-9)
    rows = page.images[:, :, None] * shares[:, None, :]  # without the regularizer
    np.testing.assert_allclose(page.grand, np.linalg.norm(rows.reshape(1797, -1), axis=1), rtol=1e-9)
