"""Samplers: what they promise at every step, and that what they draw is uniform."""

import ctypes
import itertools
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import chisquare

import burlab as bl
from burlab.errors import ArgumentError
from burlab.problems.batch import Batch, BlockShuffle
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


SIZES = [(1, 1), (5, 2), (6, 2), (64, 7), (100, 1), (100, 99), (100, 500), (1000, 64), (1000, 65), (4099, 1024)]


@pytest.mark.parametrize(("samples", "size"), SIZES)
def test_blocks_visit_every_sample_once_per_epoch_a_block_at_a_time(samples: int, size: int):
    epochs = batches(BlockShuffle(size), samples, samples, 40, seed=2)
    assert (np.sort(epochs) == np.arange(samples)).all()
    for row in epochs:
        block = row // size
        changes = np.flatnonzero(np.diff(block)) + 1
        visited = block[np.concatenate([[0], changes])]
        assert len(visited) == len(set(visited)) == -(-samples // size), "no block is left before it is done"
    if samples > 20:
        assert len({tuple(row) for row in epochs}) == len(epochs)


@pytest.mark.parametrize(("samples", "size"), [(4, 2), (5, 2), (5, 3), (6, 2), (7, 3)])
def test_every_order_of_blocks_and_in_blocks_is_equally_likely(samples: int, size: int):
    blocks = [list(range(k, min(k + size, samples))) for k in range(0, samples, size)]
    orders = [
        tuple(itertools.chain(*inner))
        for outer in itertools.permutations(blocks)
        for inner in itertools.product(*(itertools.permutations(block) for block in outer))
    ]
    counts = Counter(map(tuple, batches(BlockShuffle(size), samples, samples, 500 * len(orders), seed=5).tolist()))
    assert set(counts) == set(orders)
    assert is_uniform(np.array([counts[order] for order in orders]))


@pytest.mark.parametrize(("samples", "size"), [(130, 65), (131, 10), (129, 100)])
def test_every_place_of_large_blocks_is_uniform_over_epochs(samples: int, size: int):
    epochs = batches(BlockShuffle(size), samples, samples, 40_000, seed=3)
    block = epochs // size
    last = -(-samples // size) - 1
    if samples % size:  # the short block begins behind any number of the others
        begins = (block == last).argmax(axis=1)
        assert is_uniform(np.bincount(begins // size, minlength=last + 1))
    starts = (block == 0).argmax(axis=1)
    for place in (0, size - 1):  # of a block that is read, as a number of this block
        assert is_uniform(np.bincount(epochs[np.arange(len(epochs)), starts + place], minlength=size))


def test_blocks_take_other_sizes_of_batches_over_the_end_of_epochs():
    stream = batches(BlockShuffle(10), 101, 7, 101).ravel()
    assert (np.sort(stream.reshape(7, 101)) == np.arange(101)).all()


@pytest.mark.parametrize("sampler", ["reshuffle", "uniform", "nice", "sequential", BlockShuffle(64), BlockShuffle(77)])
def test_any_step_can_be_drawn_alone(sampler: Any):
    all_steps = batches(sampler, 1000, 32, 50, seed=9)
    assert (batches(sampler, 1000, 32, 1, seed=9, first=37)[0] == all_steps[37]).all()


@pytest.mark.parametrize("sampler", ["reshuffle", "uniform", "nice", BlockShuffle(100)])
def test_seeds_give_different_batches(sampler: Any):
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
        (11, BlockShuffle(2), 0, "more than the 10 samples"),
        (Batch(2), BlockShuffle(2), 0, "goes through whole epochs"),
    ],
)
def test_invalid_samplers_raise(batch: Any, sampler: Any, seed: Any, message: str):
    with pytest.raises(ArgumentError, match=message):
        drawn(10, batch, sampler, seed)


def test_uniform_may_draw_more_than_there_are():
    assert drawn(1, 64, "uniform", 0).batch == 64
    assert drawn(10, None, "nice", 0).sampling == Sampling.sequential
    assert drawn(10, None, BlockShuffle(3), 0).sampling == Sampling.sequential


@pytest.mark.parametrize("size", [0, -1, 2.0, True, "64"])
def test_a_block_has_a_whole_number_of_samples(size: Any):
    with pytest.raises(ArgumentError, match=r"BlockShuffle\.size=.* is not a whole number"):
        BlockShuffle(size)


@pytest.mark.parametrize("size", [16, 30])
def test_a_run_by_blocks_is_saved_and_goes_on(tmp_path: Path, size: int):
    data = np.random.default_rng(0).normal(size=(100, 3))
    problem = bl.FiniteSum(lambda x, a: 0.5 * np.sum((x - a) ** 2), data)
    run = bl.minimize(problem, np.zeros(3), bl.optim.GD(0.1), batch=8, sampler=BlockShuffle(size), seed=3, steps=5)
    run.save(tmp_path / "run")
    loaded = bl.load_run(tmp_path / "run", data)
    for one in (run, loaded):
        one.step(40)
    np.testing.assert_array_equal(loaded.x, run.x)
    order = batches(BlockShuffle(size), 100, 8, 45, seed=3)
    x = np.zeros(3)
    for picked in order:
        x = x - 0.1 * (x - data[picked].mean(0))
    np.testing.assert_allclose(run.x, x, rtol=1e-12)
