"""Entries of a gradient: those of the whole, bit for bit or nearly, for the work that they need."""

import re
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.errors import DTypeError, IndexRangeError, ShapeError
from burlab.graph import tree
from burlab.optim import Hyper, Optimizer
from burlab.problems.point import Point, coordinates_of
from tests.engines import jax_or_skip
from tests.optim.probe import X0, A, B, V, loss, noisy, probe, ridge
from tests.run.saved_cases import same
from tests.run.test_sampler import batches

RNG = np.random.default_rng(9)
D = 600
M, C = RNG.normal(size=(D, D)), RNG.normal(size=D)
ONE = np.ones(1)


def sum_of(f: Any) -> Any:
    return bl.FiniteSum(lambda x, s: s * f(np, x), ONE)


def quadratic(m: Any, x: Any) -> Any:
    return 0.5 * x @ (M @ x) - C @ x


def residual(m: Any, x: Any) -> Any:
    return 0.5 * m.sum((M @ x - C) ** 2)


def valley(m: Any, x: Any) -> Any:
    return m.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def strided(m: Any, x: Any) -> Any:
    return m.sum(m.reshape(x, (20, 30))[::-2, 1:].T ** 3) + m.sum(m.concatenate([x[:7], x[300:] ** 2]) ** 2)


def layers(m: Any, x: Any) -> Any:
    w, v = m.reshape(x[:500], (20, 25)), x[500:]
    return m.tanh(w.T @ m.tanh(w @ v[:25])) @ v[25:50]


FUNCTIONS = [quadratic, residual, valley, strided, layers]


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_entries_are_those_of_jax(f: Any) -> None:
    jax = jax_or_skip()
    x = RNG.normal(size=D)
    want = np.asarray(jax.grad(lambda y: f(jax.numpy, y))(x))
    problem = sum_of(f)
    for count in (1, 5, D):
        i = RNG.integers(0, D, count)
        np.testing.assert_allclose(problem.partial_grad(x, i), want[i], rtol=1e-9, atol=1e-11 * np.abs(want).max())


def work(problem: Any, query: str, points: Any) -> int:
    x, *i = points
    shared = [Point([x], tree.flatten(x)[1]), *map(coordinates_of, i)]
    nodes = problem.oracle.kernels(query, shared).samples.graph.nodes
    return sum(n.size if n.row.selects else n.row.work(n) for n in nodes)


@pytest.mark.parametrize(("f", "share"), [(quadratic, 0.02), (residual, 0.6), (valley, 0.1), (strided, 0.5)])
def test_a_few_entries_take_less_work(f: Any, share: float) -> None:
    """Entries read, created and summed by the kernel never exceed those of the whole gradient."""
    problem, x = sum_of(f), np.ones(D)
    whole = work(problem, "grad", (x,))
    few, all_ = (work(problem, "partial_grad", (x, np.arange(count))) for count in (1, D))
    assert few < share * whole
    assert all_ < 1.1 * whole + 5 * D


def test_an_entry_of_a_quadratic_takes_a_part_of_the_time() -> None:
    """In one run: the shortest of 30 each, by turns. It is 0.15 on a quiet machine."""
    problem, x = sum_of(quadratic), np.ones(D)
    calls = [lambda: problem.grad(x), lambda: problem.partial_grad(x, [7])]
    times = [[], []]
    for _ in range(32):
        for call, found in zip(calls, times, strict=True):
            start = perf_counter()
            call()
            found.append(perf_counter() - start)
    assert min(times[1][2:]) < 0.6 * min(times[0][2:])


def test_rules_query_partial_gradients() -> None:
    """Known and traced ones, one or several, over samples of the step and chosen ones, with keys, in init."""
    problem = bl.FiniteSum(loss, (A, B), ridge)

    def ask(f: Any, x: Any) -> Any:
        known = f.partial_grad(x + 1, np.array([2, 0]))
        traced = f.partial_grad(x, f.indices[1] % 3, indices=[4, 9])
        return known, traced, f.partial_grad(x, [1])

    run, got, x = probe(problem, X0, ask, (np.zeros(2), 0.0, np.zeros(1)), 3, batch=5)
    i = batches("reshuffle", len(B), 5, 3)[2]
    want = problem.grad(x + 1, i)[[2, 0]], problem.grad(x, [4, 9])[i[1] % 3], problem.grad(x, i)[[1]]
    for a, b in zip(got, want, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)
    assert run.queries == ("partial_grad{1}", "partial_grad{2}", "partial_grad{1}[2]")
    assert run.counts["partials"] == 3 * (5 * 2 + 2 + 5)
    assert run.counts["samples"] == 15

    @dataclass(frozen=True)
    class Starts(Optimizer):
        def init(self, x: Any, *, f: Any) -> Any:
            return f.partial_grad(x, 2, indices=[3, 4]), f.partial_grad(x, [0, 1])

        def update(self, g: Any, state: Any, x: Any, t: Any) -> Any:
            return x, state

    run = bl.minimize(problem, X0, Starts(), batch=2, steps=1)
    np.testing.assert_allclose(run.state[0], problem.grad(X0, [3, 4])[2], rtol=1e-12)
    np.testing.assert_allclose(run.state[1], problem.grad(X0)[:2], rtol=1e-12)
    assert run.counts["partials"] == 2 + 23 * 2
    drawn = bl.FiniteSum(noisy, (A, B))
    _, (got, g), _ = probe(drawn, X0, lambda f, x: (f.partial_grad(x, [2, 1]), f.grad(x)), (np.zeros(2), X0), batch=4)
    np.testing.assert_allclose(got, g[[2, 1]], rtol=1e-12)


def test_leaves_and_samples_may_be_many() -> None:
    """Numbers run through all leaves of a tree; a rule for leaves asks at a tree; float32 stays so."""
    model = {"b": np.float32(0.5), "w": X0.astype(np.float32), "z": np.ones((2, 2), np.float32)}
    problem = bl.FiniteSum(
        lambda p, a, b: (a @ p["w"] - b + p["b"]) ** 2 * np.sum(p["z"] ** 2), (A.astype("f4"), B.astype("f4"))
    )
    flat = np.concatenate([np.ravel(leaf) for leaf in tree.flatten(problem.grad(model))[0]])
    got = problem.partial_grad(model, [7, 0, 2, 5])
    assert got.dtype == np.float32
    np.testing.assert_allclose(got, flat[[7, 0, 2, 5]], rtol=1e-5)

    @dataclass(frozen=True)
    class Leaves(Optimizer):
        per_leaf = True

        def init(self, x: Any) -> Any:
            return np.zeros(2, np.float32)

        def update(self, g: Any, state: Any, x: Any, t: Any, *, f: Any) -> Any:
            return x, f.partial_grad(x, [7, 2])

    np.testing.assert_allclose(bl.minimize(problem, model, Leaves(), steps=1).state, flat[[7, 2]], rtol=1e-5)


@dataclass(frozen=True)
class Coordinate(Optimizer):
    """Nesterov 2012: one coordinate at random, with a step of its own."""

    lr: Hyper = 1.0

    def update(self, g: Any, state: Any, x: Any, t: Any, *, f: Any) -> Any:
        j = bl.random.randint(f.key, (), 0, x.size)
        step = self.lr / bl.asarray(np.diag(SPD))[j]
        return bl.at_add(x, j, -step * f.partial_grad(x, j)), state


SPD = M[:20] @ M[:20].T / D + np.eye(20)


def test_coordinate_descent_is_that_of_numpy(tmp_path: Any) -> None:
    f = lambda x: 0.5 * x @ (bl.asarray(SPD) @ x) - C[:20] @ x  # noqa: E731
    run = bl.minimize(f, np.zeros(20), Coordinate(), seed=5, steps=400)
    x = np.zeros(20)
    for t in range(400):
        j = int(bl.random.randint(bl.random.fold_in(bl.random.key(5), t), (), 0, 20))
        x[j] -= (SPD[j] @ x - C[j]) / SPD[j, j]
    np.testing.assert_allclose(run.x, x, rtol=1e-9)
    np.testing.assert_allclose(run.x, np.linalg.solve(SPD, C[:20]), rtol=1e-5)
    assert run.counts == {
        "samples": 0,
        "values": 400,
        "hvps": 0,
        "jvps": 0,
        "partials": 400,
        "surrogates": 0,
        "bits": 0,
        "flops": run.history["flops"][-1],
    }
    run.save(tmp_path / "run.burlab")
    loaded, fork = bl.load_run(tmp_path / "run.burlab"), run.fork()
    for other in (run, loaded, fork):
        other.seek(150)
        other.step(300)
    same(loaded, run)
    same(fork, run)


@pytest.mark.parametrize(
    ("coordinates", "kind", "text"),
    [
        ([3], IndexRangeError, "coordinates of f.partial_grad holds 3, but there are 3 entries of x: use 0 to 2"),
        (-1, IndexRangeError, "coordinates of f.partial_grad holds -1"),
        ([0.5], DTypeError, "coordinates of f.partial_grad has dtype float64, expected integers from 0 to 2"),
        ([[0]], ShapeError, "has shape (1, 1), expected (b,) with at least one of the entries of x"),
    ],
)
def test_coordinates_that_are_none(coordinates: Any, kind: Any, text: str) -> None:
    with pytest.raises(kind, match=re.escape(text)):
        probe(lambda x: np.sum(x**2), X0, lambda f, x: f.partial_grad(x, np.array(coordinates)), V)


def test_a_traced_coordinate_outside_is_named() -> None:
    with pytest.raises(
        IndexRangeError, match=re.escape("coordinates of f.partial_grad held 3, but there are 3 entries")
    ):
        probe(bl.FiniteSum(loss, (A, B)), X0, lambda f, x: f.partial_grad(x, f.indices[0] * 0 + 3), 0.0, batch=2)


def test_entries_at_the_ends_of_leaves() -> None:
    """Few of many, so that they are picked leaf by leaf."""
    model = {"a": RNG.normal(size=(10, 10)), "b": RNG.normal(size=100), "c": RNG.normal(size=50)}
    problem = bl.FiniteSum(lambda p, s: s * np.sum(np.tanh(p["a"]) ** 2) + np.sum(p["b"] ** 3) * p["c"][0], ONE)
    flat = np.concatenate([np.ravel(leaf) for leaf in tree.flatten(problem.grad(model))[0]])
    for i in ([0, 99, 100, 199], [200, 249, 201, 37]):
        np.testing.assert_allclose(problem.partial_grad(model, i), flat[i], rtol=1e-12)
