"""The page of cut cross-entropy: value and gradient by the formula, and memory that stays."""

import numpy as np
import pytest

import burlab as bl
from tests.papers.pages import method, whole


@pytest.mark.parametrize("tokens", [7, 600])  # below and above the size from which blocks are taken
def test_value_and_gradient_are_those_of_the_formula(tokens: int):
    page = method("cut_cross_entropy")
    h, table, words = page.example(tokens, 1)
    scores = h @ table.T
    sums = np.log(np.sum(np.exp(scores), axis=1))
    slopes = np.exp(scores - sums[:, None])
    slopes[np.arange(tokens), words] -= 1
    value, (by_h, by_table) = bl.compile(page.loss, h, table, words, argnums=(0, 1)).value_and_grad(h, table, words)
    np.testing.assert_allclose(value, np.mean(sums - scores[np.arange(tokens), words]), rtol=1e-12)
    np.testing.assert_allclose(by_h, slopes @ table / tokens, rtol=1e-9, atol=1e-16)
    np.testing.assert_allclose(by_table, slopes.T @ h / tokens, rtol=1e-9, atol=1e-16)


@pytest.mark.full
def test_memory_does_not_grow_with_the_tokens():
    page = whole("cut_cross_entropy")
    blocks, scores = page.trials["blocks"], page.trials["the scores alone"]
    many = page.tokens >= 1024
    assert np.all(blocks[:, many] < 0.1 * scores[:, many])
    assert np.all(blocks[:, -1] < 1.1 * blocks[:, 1])
