"""Samplers: what they promise at every step, and that what they draw is uniform."""

import ctypes
import itertools
from collections import Counter
from typing import Any

import numpy as np
import pytest
from scipy.stats import chisquare

from burlab.errors import ArgumentError
from burlab.problems.sampling import Sampling, Stream, drawn
from burlab.runtime import address, declare

TEXT = """
extern "C" void @unit_draw(const burlab::run::Stream* stream, std::int64_t first, std::int64_t steps,
                           std::int64_t* out) noexcept {
  burlab::run::Draw draw;
  for (std::int64_t t = first; t < first + steps; ++t)
    for (std::int64_t p = 0; p < stream->batch; ++p) *out++ = draw(*stream, t, p);
}
"""


def batches(sampler: Any, samples: int, batch: int, steps: int, *, seed: int = 0, first: int = 0) -> np.ndarray:
    unit = declare(TEXT, ["burlab/run/sum/sampler.hpp"])
    function = ctypes.CFUNCTYPE(None, ctypes.POINTER(Stream), ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p)
    out = np.zeros((steps, batch), np.int64)
    stream = drawn(samples, batch, sampler, seed)
    function(address(f"{unit}_draw"))(ctypes.byref(stream), first, steps, out.ctypes.data)
    return out


def is_uniform(counts: np.ndarray) -> bool:
    return chisquare(counts).pvalue > 1e-3


@pytest.mark.parametrize("samples", [1, 2, 3, 5, 63, 64, 65, 66, 100, 1000, 1024, 1025, 65_537])
def test_reshuffle_visits_every_sample_once_per_epoch(samples: int):
    epochs = batches("reshuffle", samples, samples, 3)
    assert (np.sort(epochs) == np.arange(samples)).all()
    if samples > 20:
        assert not (epochs[0] == epochs[1]).all()


def test_reshuffle_runs_on_over_the_end_of_an_epoch():
    stream = batches("reshuffle", 100, 7, 100).ravel()
    assert (np.sort(stream.reshape(7, 100)) == np.arange(100)).all()


@pytest.mark.parametrize(("samples", "batch"), [(1, 1), (5, 3), (64, 64), (100, 17), (5000, 300)])
def test_nice_repeats_no_sample_within_a_step(samples: int, batch: int):
    for row in batches("nice", samples, batch, 200):
        assert len(set(row)) == batch
        assert row.min() >= 0
        assert row.max() < samples


def test_sequential_goes_round():
    assert batches("sequential", 5, 3, 4).ravel().tolist() == [k % 5 for k in range(12)]


@pytest.mark.parametrize("sampler", ["reshuffle", "uniform", "nice", "sequential"])
def test_any_step_can_be_drawn_alone(sampler: str):
    all_steps = batches(sampler, 1000, 32, 50, seed=9)
    assert (batches(sampler, 1000, 32, 1, seed=9, first=37)[0] == all_steps[37]).all()


@pytest.mark.parametrize("sampler", ["reshuffle", "uniform", "nice"])
def test_seeds_give_different_batches(sampler: str):
    assert not (batches(sampler, 1000, 32, 5, seed=1) == batches(sampler, 1000, 32, 5, seed=2)).all()


@pytest.mark.parametrize("sampler", ["reshuffle", "nice"])
@pytest.mark.parametrize("samples", [2, 3, 4, 5])
def test_every_order_of_a_few_samples_is_equally_likely(sampler: str, samples: int):
    orders = list(itertools.permutations(range(samples)))
    counts = Counter(map(tuple, batches(sampler, samples, samples, 500 * len(orders), seed=4).tolist()))
    assert is_uniform(np.array([counts[order] for order in orders]))


@pytest.mark.parametrize("sampler", ["reshuffle", "uniform", "nice"])
@pytest.mark.parametrize("samples", [7, 64, 65, 100, 129])
def test_every_place_and_every_pair_of_places_is_uniform(sampler: str, samples: int):
    drawn_ = batches(sampler, samples, samples, 40_000, seed=11)
    for place in (0, 1, drawn_.shape[1] - 1):
        assert is_uniform(np.bincount(drawn_[:, place], minlength=samples))
    pairs = np.bincount(drawn_[:, 0] * samples + drawn_[:, 1], minlength=samples**2).reshape(samples, samples)
    possible = np.ones_like(pairs, bool) if sampler == "uniform" else ~np.eye(samples, dtype=bool)
    assert pairs[~possible].sum() == 0
    assert is_uniform(pairs[possible])


def test_a_biased_sampler_would_be_caught():
    biased = batches("uniform", 100, 40, 60_000, seed=11)
    biased[: len(biased) // 50, 0] = 7
    assert not is_uniform(np.bincount(biased[:, 0], minlength=100))


@pytest.mark.parametrize(
    ("batch", "sampler", "seed", "message"),
    [
        (4, "shuffle", 0, "'reshuffle', 'uniform', 'nice', 'sequential'"),
        (0, "reshuffle", 0, "whole number"),
        (2.0, "reshuffle", 0, "whole number"),
        (True, "reshuffle", 0, "whole number"),
        (11, "reshuffle", 0, "more than the 10 samples"),
        (11, "nice", 0, "uniform"),
        (4, "reshuffle", -1, "seed"),
        (4, "reshuffle", "a", "seed"),
    ],
)
def test_invalid_samplers_raise(batch: object, sampler: str, seed: object, message: str):
    with pytest.raises(ArgumentError, match=message):
        drawn(10, batch, sampler, seed)


def test_uniform_may_draw_more_than_there_are():
    assert drawn(1, 64, "uniform", 0).batch == 64
    assert drawn(10, None, "nice", 0).sampling == Sampling.sequential
