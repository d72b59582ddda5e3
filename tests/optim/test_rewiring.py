"""`rewire` on SparseLinear against dense matrices with masks in NumPy, for 20 steps; and what it refuses."""

import warnings
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ArgumentError

rng = np.random.default_rng(0)
SIZES, BATCH, STEPS, LR, MU = (9, 7, 4), 16, 20, 0.05, 0.9
X, Y = rng.normal(size=(BATCH, SIZES[0])), rng.normal(size=(BATCH, SIZES[2]))


def model(density: float = 0.3) -> Any:
    sizes = pairwise(SIZES)
    return [
        bl.nn.SparseLinear(i, o, density=density, key=bl.random.key(k), dtype=np.float64)
        for k, (i, o) in enumerate(sizes)
    ]


def loss(layers: Any) -> Any:
    return np.mean((layers[1](np.tanh(layers[0](X))) - Y) ** 2)


def gradients(weights: Any, biases: Any) -> tuple[list[Any], list[Any]]:
    """Backpropagation through dense matrices, by hand."""
    h = np.tanh(X @ weights[0] + biases[0])
    back = 2 * (h @ weights[1] + biases[1] - Y) / Y.size
    before = (back @ weights[1].T) * (1 - h**2)
    return [X.T @ before, h.T @ back], [before.sum(axis=0), back.sum(axis=0)]


class Twin:
    """Momentum on dense matrices with masks, whose links change as papers say."""

    def __init__(self, layers: Any, every: int, fraction: float, candidates: int | None, end: int | None) -> None:
        self.weights, self.biases = [layer.dense() for layer in layers], [layer.bias.copy() for layer in layers]
        self.masks = [np.zeros(w.shape, bool) for w in self.weights]
        for mask, layer in zip(self.masks, layers, strict=True):
            mask[layer.rows, layer.columns] = True
        self.moments = [np.zeros_like(w) for w in self.weights], [np.zeros_like(b) for b in self.biases]
        self.every, self.fraction, self.candidates, self.end = every, fraction, candidates, end

    def slopes(self) -> tuple[list[Any], list[Any]]:
        """Gradients by weights and biases."""
        return gradients(self.weights, self.biases)

    def step(self, t: int) -> None:
        of_weights, of_biases = self.slopes()
        for k, mask in enumerate(self.masks):
            self.moments[0][k] = (MU * self.moments[0][k] + of_weights[k]) * mask
            self.moments[1][k] = MU * self.moments[1][k] + of_biases[k]
            self.weights[k] = self.weights[k] - LR * self.moments[0][k]
            self.biases[k] = self.biases[k] - LR * self.moments[1][k]
        if (t + 1) % self.every == 0 and (self.end is None or t + 1 < self.end):
            self.rewire(t)

    def rewire(self, t: int) -> None:
        key = bl.random.fold_in(bl.random.key(0), t)
        drawn = [self.drawn(k, t, bl.random.fold_in(key, k)) for k in range(len(self.masks))]
        for k, (_, pruned, _) in enumerate(drawn):
            for matrix in (self.weights[k], self.moments[0][k]):
                matrix.reshape(-1)[pruned] = 0
        scores = self.slopes()[0]  # of all links, after pruning
        for k, (count, pruned, candidates) in enumerate(drawn):
            order = np.argsort(-np.abs(scores[k].reshape(-1)[candidates]), kind="stable")
            grown = candidates[order[:count]] if self.candidates != 1 else candidates
            self.masks[k].reshape(-1)[pruned] = False
            self.masks[k].reshape(-1)[grown] = True

    def drawn(self, k: int, t: int, key: Any) -> tuple[int, Any, Any]:
        mask = self.masks[k].reshape(-1)
        active = np.flatnonzero(mask)
        most = max(round(self.fraction * active.size), 1)
        share = 1.0 if self.end is None else 0.5 * (1 + np.cos(np.pi * t / self.end))
        count = int(np.rint(share * most))
        pruned = active[np.argsort(np.abs(self.weights[k].reshape(-1)[active]), kind="stable")[:count]]
        chance = np.where(mask, -1.0, bl.random.uniform(key, (mask.size,)))
        if self.candidates is None:
            return count, pruned, np.flatnonzero(~mask)
        free = np.count_nonzero(~mask)
        rounds = min(self.candidates, -(-free // most))
        places = np.argsort(-chance, kind="stable")[: min(rounds * most, free)]
        rows = [places[k : k + most][:count] for k in range(0, places.size, most)]
        return count, pruned, np.concatenate(rows)


@pytest.mark.parametrize(("candidates", "end"), [(1, None), (1, 15), (2, None), (3, 17), (None, None)], ids=str)
def test_links_and_weights_are_those_of_dense_matrices_with_masks(candidates: Any, end: Any) -> None:
    layers = model()
    rule = bl.optim.rewire(bl.optim.Momentum(LR, MU), every=4, fraction=0.4, candidates=candidates, end=end)
    run = bl.minimize(loss, layers, rule)
    twin, moves = Twin(layers, 4, 0.4, candidates, end), 0
    for t in range(STEPS):
        before = [mask.copy() for mask in twin.masks]
        run.step()
        twin.step(t)
        moves += any((a != b).any() for a, b in zip(before, twin.masks, strict=True))
        for layer, weight, bias, mask in zip(run.x, twin.weights, twin.biases, twin.masks, strict=True):
            np.testing.assert_allclose(layer.dense(), weight, rtol=1e-9, atol=1e-13)
            np.testing.assert_allclose(layer.bias, bias, rtol=1e-9, atol=1e-13)
            links = np.zeros(mask.shape, bool)
            links[layer.rows, layer.columns] = True
            np.testing.assert_array_equal(links, mask)
            assert np.count_nonzero(links) == layer.weight.size, "no link is there twice"
    assert moves >= 3


def test_moments_of_links_that_grow_are_zero() -> None:
    layers = model()
    run = bl.minimize(loss, layers, bl.optim.rewire(bl.optim.Adam(LR), every=3, fraction=0.5), steps=3)
    first = run.x[0]
    moved = (first.rows != layers[0].rows) | (first.columns != layers[0].columns)
    assert 0 < np.count_nonzero(moved) <= round(0.5 * moved.size)
    assert not first.weight[moved].any()
    moments = [np.asarray(leaf) for leaf in bl.tree.leaves(run.state) if np.shape(leaf)]
    assert len(moments) == 2
    for moment in moments:
        assert not moment[: moved.size][moved].any()
        assert moment[: moved.size][~moved].all()


@pytest.mark.parametrize(
    "rule",
    [
        bl.optim.rewire(bl.optim.Momentum(LR, MU), every=3, candidates=2),
        bl.optim.SET(bl.optim.Momentum(LR, MU), every=3),
        bl.optim.RigL(bl.optim.Momentum(LR, MU), every=3),
        bl.optim.GSE(bl.optim.Momentum(LR, MU), every=3, end=15),
    ],
    ids=lambda rule: type(rule).__name__,
)
def test_runs_go_back_fork_and_are_files(rule: Any, tmp_path: Any) -> None:
    run = bl.minimize(loss, model(), rule, steps=20)
    last = run.x
    run.seek(7)
    other = run.fork()
    other.step(13)
    run.save(tmp_path / "run.burlab")
    again = bl.load_run(tmp_path / "run.burlab", like=model())
    again.seek(20)
    for one in (other.x, again.x):
        for got, wanted in zip(bl.tree.leaves(one), bl.tree.leaves(last), strict=True):
            np.testing.assert_array_equal(got, wanted)


def test_gradients_are_asked_for_when_links_change_alone() -> None:
    problem = bl.FiniteSum(lambda m, x, y: np.mean((m[1](np.tanh(m[0](x))) - y) ** 2), (X, Y))
    counts = {
        candidates: bl.minimize(
            problem, model(), bl.optim.rewire(bl.optim.GD(LR), every=5, candidates=candidates), batch=4, steps=10
        ).counts["samples"]
        for candidates in (1, 2, 3, None)
    }
    assert counts == {1: 40, 2: 40 + 2 * 2 * 4, 3: 40 + 2 * 3 * 4, None: 40 + 2 * 16 * 4}


def test_gradients_by_all_links_take_less_memory_than_the_matrix() -> None:
    layer = bl.nn.SparseLinear(640, 600, density=0.01, key=bl.random.key(0))
    x = rng.normal(size=(8, 640)).astype(np.float32)
    problem = bl.FiniteSum(lambda m, x: np.mean(np.tanh(m(x)) ** 2), x)
    run = bl.minimize(problem, layer, bl.optim.rewire(bl.optim.GD(0.1), every=2, candidates=None), batch=8, steps=4)
    memory = dict(run.memory)
    assert sum(memory[kind] for kind in ("gradients", "activations", "optimizer_state", "scratch")) < 640 * 600 * 4
    assert np.any(run.x.columns != layer.columns)


def test_links_of_a_layer_that_is_used_twice_get_both_gradients() -> None:
    layer = bl.nn.SparseLinear(6, 6, density=0.3, key=bl.random.key(3), dtype=np.float64)
    data = rng.normal(size=(5, 4, 6))

    def twice(m: Any, x: Any) -> Any:
        return np.mean(np.sin(m(np.tanh(m(x)))))

    def dense(w: Any) -> Any:
        return np.mean(np.sin(np.tanh(data @ w + layer.bias) @ w + layer.bias))

    rule = bl.optim.rewire(bl.optim.GD(0.0), every=1, fraction=0.3, candidates=None)
    run = bl.minimize(bl.FiniteSum(twice, data), layer, rule, steps=1)
    flat = layer.dense().reshape(-1)
    places = layer.rows * 6 + layer.columns
    n = round(0.3 * len(places))
    flat[places[np.argsort(np.abs(layer.weight))[:n]]] = 0
    scores = np.abs(bl.grad(dense)(flat.reshape(6, 6))).reshape(-1)
    scores[places] = -1
    grown = {*zip(run.x.rows.tolist(), run.x.columns.tolist(), strict=True)} - {
        *zip(layer.rows, layer.columns, strict=True)
    }
    assert grown == {divmod(int(place), 6) for place in np.argsort(-scores)[:n]}


def test_rules_that_see_a_vector_or_no_sparse_layer_cannot_ask_for_links() -> None:
    @dataclass(frozen=True)
    class Asks(bl.optim.Optimizer):
        all_leaves: ClassVar[bool] = True

        def update(self, g: Any, state: Any, x: Any, t: Any, *, f: Any) -> Any:
            return f.link_grads(x, 0)[0], state

    with pytest.raises(ArgumentError, match=r"link_grads is about bl\.nn\.SparseLinear, and x has none"):
        bl.minimize(lambda x: np.sum(x**2), np.ones(3), Asks(), steps=1)


def test_float32_meets_no_float64() -> None:
    layer = bl.nn.SparseLinear(9, 4, density=0.3, key=bl.random.key(0))
    x = X.astype(np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rule = bl.optim.rewire(bl.optim.Adam(0.01), every=2, candidates=3, end=9)
        run = bl.minimize(lambda m: np.mean(m(x) ** 2), layer, rule, steps=5)
    assert run.x.weight.dtype == np.float32


def test_a_full_layer_is_left_as_it_is() -> None:
    layers = [model(1.0)[0], model()[1]]
    run = bl.minimize(loss, layers, bl.optim.rewire(bl.optim.GD(LR), every=2, candidates=2), steps=6)
    np.testing.assert_array_equal(run.x[0].rows, layers[0].rows)
    assert (run.x[1].rows != layers[1].rows).any()


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"every": 0}, "every of rewire"),
        ({"fraction": 1.0}, "between 0 and 1; got 1.0"),
        ({"candidates": 0}, "candidates of rewire"),
        ({"end": 0}, "end of rewire"),
    ],
)
def test_fields_out_of_range_are_refused(fields: Any, said: str) -> None:
    with pytest.raises(ArgumentError, match=said):
        bl.optim.rewire(bl.optim.GD(0.1), **fields)


def test_named_methods_are_forms_of_it_and_say_their_names() -> None:
    gd = bl.optim.GD(0.1)
    layers = model()
    forms = {
        bl.optim.SET(gd, every=3): bl.optim.rewire(gd, every=3),
        bl.optim.RigL(gd, every=3, end=9): bl.optim.rewire(gd, every=3, candidates=None, end=9),
        bl.optim.GSE(gd, every=3, gamma=0.6): bl.optim.rewire(gd, every=3, fraction=0.2, candidates=3),
    }
    for named, form in forms.items():
        runs = [bl.minimize(loss, layers, rule, steps=7) for rule in (named, form)]
        for got, wanted in zip(*(bl.tree.leaves(run.x) for run in runs), strict=True):
            np.testing.assert_array_equal(got, wanted)
        assert runs[0].optimizer == named
    with pytest.raises(ArgumentError, match=r"gamma of GSE"):
        bl.optim.GSE(gd, gamma=0.0)
    with pytest.raises(ArgumentError, match=r"fraction of GSE must be between 0 and 1; got 0"):
        bl.optim.GSE(gd, fraction=0)
    with pytest.raises(ArgumentError, match=r"every of SET"):
        bl.optim.SET(gd, every=0)
    with pytest.raises(ArgumentError, match=r"RigL found no bl\.nn\.SparseLinear in x0"):
        bl.minimize(lambda x: np.sum(x**2), np.ones(3), bl.optim.RigL(gd))


def test_rules_on_leaves_other_wrappers_and_dense_points_are_refused() -> None:
    with pytest.raises(ArgumentError, match="Muon works on the leaves"):
        bl.optim.rewire(bl.optim.Muon(0.1))
    with pytest.raises(ArgumentError, match=r"no bl\.nn\.SparseLinear in x0"):
        bl.minimize(lambda x: np.sum(x**2), np.ones(3), bl.optim.rewire(bl.optim.GD(0.1)))
    with pytest.raises(ArgumentError, match="no other wrapper"):
        bl.minimize(loss, model(), bl.optim.clip_by_norm(bl.optim.rewire(bl.optim.GD(0.1)), 1.0))
