"""Sums over tiles of samples: right, and the same bits whatever the tile and the number of threads."""

import threading
import time
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ArgumentError, IndexRangeError
from burlab.graph import tree
from burlab.graph.tracing.trace_cache import forget_traces
from burlab.problems.kernels import tiling
from burlab.problems.kernels.tiles import Tile, slots_of
from burlab.problems.point import as_point
from burlab.runtime import declare
from tests.problems.kernels.tile_cases import CASES

TILES = [1, 2, 3, 8, 32, 64]
BATCHES = [2, 3, 13, 64, 101]


def in_dtype(x: Any, dtype: str) -> Any:
    leaves, structure = tree.flatten(x)
    return tree.unflatten(structure, [np.asarray(leaf, dtype) if leaf.dtype.kind == "f" else leaf for leaf in leaves])


def case(name: str, dtype: str = "float64", **options: Any) -> tuple[bl.FiniteSum, Any, dict[str, Any]]:
    loss, x, data = CASES[name]
    key = {"key": bl.random.key(3)} if name == "noisy" else {}
    return bl.FiniteSum(loss, in_dtype(data, dtype), **options), in_dtype(x, dtype), key


def same(one: Any, other: Any) -> None:
    for a, b in zip(tree.flatten(one)[0], tree.flatten(other)[0], strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", CASES)
def test_neither_tiles_nor_threads_change_a_bit(name: str, dtype: str):
    problem, x, key = case(name, dtype, tile=TILES[0])
    others = [case(name, dtype, tile=tile, threads=1 + tile % 3)[0] for tile in TILES[1:]]
    others.append(case(name, dtype)[0])
    for batch in BATCHES:
        indices = np.random.default_rng(batch).integers(0, 101, batch)
        first = problem.value_and_grad(x, indices, **key)
        for other in others:
            same(other.value_and_grad(x, indices, **key), first)


def test_no_tile_is_larger_than_a_slot_of_what_is_summed():
    """Gradients by what a loss does not read are zeros, and no sums."""

    def loss(x: Any, a: Any) -> Any:
        return np.sum(np.tanh(a @ x["read"]))

    x = {"read": np.ones((30, 40)), "unread": np.zeros(60_000)}
    problem = bl.FiniteSum(loss, np.random.default_rng(0).normal(size=(64, 30)))
    problem.grad(x)
    (chosen,) = [tiling for (query, _), tiling in problem.oracle.tiles.items() if query == "grad"]
    assert chosen.calls * chosen.size == 64
    assert chosen.size <= 64 // slots_of(64, 30 * 40 * 8, 1)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("width", [0, 1, 3, 16, 17, 32, 33, 48, 65, 100])
def test_sums_of_rows_of_any_width(width: int, dtype: str):
    """A bias gradient: rows of a sample, and samples of a tile, are added one after the other."""
    data = np.random.default_rng(width).normal(size=(13, 3, width)).astype(dtype)
    x = np.zeros(width, dtype)
    some = [bl.FiniteSum(lambda x, a: np.sum(a * x), data, tile=t).grad(x, np.arange(13)) for t in (1, 4, 13)]
    same(some[1:], [some[0]] * 2)
    np.testing.assert_allclose(some[0], data.sum((0, 1)) / 13, rtol=0, atol=20 * np.finfo(dtype).eps)


@pytest.mark.parametrize("name", CASES)
def test_the_mean_is_that_of_single_samples(name: str):
    problem, x, key = case(name)
    indices = np.random.default_rng(1).integers(0, 101, 37)
    rows = tree.flatten(problem.per_sample_grads(x, indices, **key))[0]
    for mean, each in zip(tree.flatten(problem.grad(x, indices, **key))[0], rows, strict=True):
        np.testing.assert_allclose(mean, each.mean(0), rtol=1e-12, atol=1e-12 * np.abs(each).max(initial=1e-3))


@pytest.mark.parametrize("name", ["regression", "perceptron", "positions", "mixture", "softmaxed", "unmoved"])
def test_every_question_is_summed_in_tiles(name: str):
    problem, x, _ = case(name, tile=8)
    other = tree.unflatten(tree.flatten(x)[1], [leaf + 0.1 for leaf in tree.flatten(x)[0]])
    answers = [
        lambda p, i: p.hvp(x, other, i),
        lambda p, i: p.grad_difference(x, other, i),
        lambda p, i: p.partial_grad(x, [3, 0, 11], i),
        lambda p, i: p.value(x, i),
    ]
    indices = np.arange(29) * 3 % 101
    for answer in answers:
        singles = [tree.flatten(answer(problem, [i]))[0] for i in indices]
        for k, mean in enumerate(tree.flatten(answer(problem, indices))[0]):
            np.testing.assert_allclose(mean, np.mean([s[k] for s in singles], 0), rtol=1e-10, atol=1e-10)


def test_metrics_and_a_regularizer_are_summed_in_tiles():
    loss, x, data = CASES["regression"]
    history = []
    for tile in (1, 16):
        problem = bl.FiniteSum(
            lambda x, a, b: (loss(x, a, b), {"error": np.abs(a @ x - b), "hit": (a @ x > b) * 1.0}),
            data,
            lambda x: 0.01 * np.sum(x**2),
            tile=tile,
            has_aux=True,
        )
        run = bl.minimize(problem, x, bl.optim.GD(1e-3), batch=20, steps=30)
        history.append(run.history)
    for column in ("value", "gradient_norm", "error", "hit"):
        np.testing.assert_array_equal(history[0][column], history[1][column])
    assert set(np.round(history[0]["hit"] * 20, 9) % 1) <= {0.0, 1.0}


def test_failing_sample_in_a_tile_is_named():
    tokens = CASES["characters"][2][0].copy()
    tokens[77, 2] = 11
    problem = bl.FiniteSum(CASES["characters"][0], (tokens, CASES["characters"][2][1]), tile=16)
    with pytest.raises(IndexRangeError) as caught:
        problem.grad(CASES["characters"][1])
    assert "In sample 77 of the data." in caught.value.__notes__
    problem.grad(CASES["characters"][1], np.arange(70))


def test_samples_that_do_not_count_are_finite_or_not_without_effect():
    data = np.array([1.0, 2.0, 0.0, 4.0])
    problem = bl.FiniteSum(lambda x, a: x / a, data, tile=4)
    assert problem.grad(1.0, [0, 1, 3]) == np.mean([1.0, 0.5, 0.25])
    assert problem.grad(1.0, [0, 1, 2]) == np.inf


def test_memory_does_not_grow_with_the_batch():
    loss, x, data = CASES["perceptron"]
    # A size that is given: one that is measured may be another the next time.
    problem = bl.FiniteSum(loss, tuple(np.tile(d, (400, 1)) for d in data), tile=64)
    small, large = (bl.minimize(problem, x, bl.optim.GD(1e-3), batch=batch) for batch in (16_000, 32_000))
    for run in (small, large):
        run.step(2)
    assert all(large.memory[kind] == small.memory[kind] for kind in ("gradients", "activations", "scratch"))


def test_threads_that_come_first_together_make_one_tile(monkeypatch: pytest.MonkeyPatch):
    made, answers, ready = [], [], threading.Barrier(4)

    def slowly(*arguments: Any) -> Tile:
        made.append(Tile(*arguments))
        time.sleep(0.1)
        return made[-1]

    def query() -> None:
        ready.wait()
        answers.append(problem.grad(x, np.arange(13)))

    monkeypatch.setattr(tiling, "Tile", slowly)
    forget_traces()
    problem, x, _ = case("perceptron", tile=4)
    workers = [threading.Thread(target=query) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(made) == 1, "C++ still works with one when another takes its place"
    for answer in answers:
        same(answer, case("perceptron", tile=2)[0].grad(x, np.arange(13)))


@pytest.mark.parametrize("tile", [0, 65, 1.5, True])
def test_a_wrong_tile_is_refused(tile: Any):
    with pytest.raises(ArgumentError, match="tile="):
        bl.FiniteSum(CASES["scalars"][0], CASES["scalars"][2], tile=tile)


def test_slots_are_those_of_cpp():
    lines = [
        f"static_assert(burlab::run::slots_of({batch}, {nbytes}, {least}) == {slots_of(batch, nbytes, least)});"
        for batch in (1, 2, 7, 8, 16, 31, 64, 100, 127, 128, 1000, 10**6)
        for nbytes in (8, 4095, 4096, 65_535, 65_536, 200_000, 1 << 20, 1 << 22)
        for least in (1, 10, 64)
    ]
    declare("\n".join(lines), ["burlab/run/abi/sum.hpp"])


def test_matrices_of_a_mixture_use_batch_sums():
    """Each precision matrix gets a product of sums, and what its diagonal adds is done once, with their mean."""

    def loss(m, x):
        z = np.einsum("kij,kj->ki", m["L"], x - m["mu"])
        logdet = np.log(np.abs(np.einsum("kii->ki", m["L"]))).sum(-1)
        return -bl.logsumexp(bl.log_softmax(m["w"]) + logdet - 0.5 * np.sum(z**2, -1))

    k, d, rng = 5, 4, np.random.default_rng(0)
    m = {"w": np.zeros(k), "mu": rng.normal(size=(k, d)), "L": np.tile(np.eye(d), (k, 1, 1))}
    data = rng.normal(size=(1000, d))
    problem = bl.FiniteSum(loss, data)
    value, gradient = problem.value_and_grad(m)
    whole = bl.value_and_grad(lambda m, data: np.mean(bl.vmap(lambda x: loss(m, x))(data)))(m, data)
    np.testing.assert_allclose(value, whole[0], rtol=1e-12)
    for name, leaf in gradient.items():
        np.testing.assert_allclose(leaf, whole[1][name], rtol=1e-9, atol=1e-12)
    samples = problem.oracle.kernels("value_and_grad", [as_point(m, "x")]).samples
    for batch, made in ((1000, False), (8, True)):
        tile = samples.program.tile(batch)
        matrices = [n for n in tile.executable.graph.nodes if n.shape == (tile.size, k, d, d)]
        assert bool(matrices) == made, "for a few samples another kernel is not worth its compilation"


def test_light_samples_lie_in_long_slots() -> None:
    """The least size of a slot depends on the loss alone, so that all queries cut a batch alike."""
    light = bl.FiniteSum(lambda x, a: (a * x) ** 2, np.arange(1000.0))
    heavy = bl.FiniteSum(lambda x, a: np.sum(np.tanh(np.outer(a, x))), np.ones((1000, 64)))
    for problem, x, slots in ((light, 1.0, 8), (heavy, np.ones(64), 16)):
        for question in ("value", "grad", "value_and_grad"):
            kernel = problem.oracle.kernels(question, [as_point(np.array(x), "x")]).samples
            assert slots_of(512, kernel.layout.nbytes, kernel.least) == slots
