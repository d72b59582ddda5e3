"""The page of dataset quantization: its bins are the greedy choice by brute force, and its claim holds."""

import numpy as np
import pytest

from tests.papers.pages import method, whole


def test_bins_are_the_greedy_choice_by_brute_force():
    page, features = method("dataset_quantization"), np.random.default_rng(0).normal(size=(30, 6)) + 1

    def cosine(i: int, j: int) -> float:
        a, b = features[i], features[j]
        return a @ b / np.sqrt((a @ a) * (b @ b))

    left, wanted = list(range(30)), []
    for size in (8, 8, 7, 7):
        here, chosen = list(left), []
        for _ in range(size):
            gains = {
                i: sum(cosine(i, j) for j in here) - 2 * sum(cosine(i, j) for j in chosen)
                for i in here
                if i not in chosen
            }
            chosen.append(max(gains, key=gains.__getitem__))
        wanted.append(chosen)
        left = [i for i in left if i not in chosen]
    assert page.bins(features, 4) == wanted


def test_every_bin_gives_the_same_share():
    page, features = method("dataset_quantization"), np.random.default_rng(1).normal(size=(50, 6))
    places = page.quantized(features, 23, np.random.default_rng(0))
    shares = [np.isin(part, places).sum() for part in page.bins(features)]
    assert len(set(places)) == 23
    assert sorted(shares) == [2] * 7 + [3] * 3


@pytest.mark.full
def test_bins_beat_one_coreset_at_200_and_herding_is_best_at_100():
    trials = whole("dataset_quantization").trials
    assert np.all(trials["dataset quantization"][:, 1] > trials["one greedy coreset"][:, 1] + 0.01)
    for name in ("dataset quantization", "random", "one greedy coreset"):
        assert np.all(trials["herding"][:, 0] > trials[name][:, 0] + 0.01)
