"""The value of a step that clients log with their gradients, and Hessians in one question."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.communication.compressors import TopK
from burlab.graph import query
from burlab.graph.tracing.trace_cache import forget_traces
from burlab.optim import EF21, FedNL, Optimizer
from tests.optim.federated_cases import FEATURES, FEDERATED, LABELS, MU, SIZES, X0, D, grads, hessians, problem, value
from tests.optim.probe import probe

N, STEPS = sum(SIZES), 6
QUERIED_AT_X = ("DCGD", "DIANA", "EF21", "EF21W", "DASHA", "FedNL", "GradientCoding")


@dataclass(frozen=True)
class QueryingRule(Optimizer):
    """Moves against the mean of what `ask(f, x, g)` gives."""

    ask: Any
    more: Any = None  # metrics that it logs

    def update(self, g: Any, state: Any, x: Any, t: Any, *, f: Any) -> Any:
        after = x - 0.1 * np.mean(self.ask(f, x, g), axis=0)
        return (after, state) if self.more is None else (after, state, self.more)


def points(p: Any, rule: Any, **options: Any) -> tuple[Any, Any]:
    """A run of some steps, and x before each of them."""
    run, found = bl.minimize(p, X0, rule, **options), []
    for _ in range(STEPS):
        found.append(run.x)
        run.step()
    return run, found


@pytest.mark.parametrize("name", QUERIED_AT_X)
def test_the_value_of_a_step_is_logged_by_its_clients(name: str) -> None:
    run, found = points(problem(), FEDERATED[name])
    np.testing.assert_allclose(run.history["value"], [value(x) for x in found], rtol=1e-13)
    assert run.counts["samples"] == STEPS * N
    assert run.counts["values"] == 0


def test_float32_and_threads_and_cuts_change_no_meaning_and_no_bit() -> None:
    def records(threads: int, tile: int | None, dtype: Any) -> Any:
        data = [(a.astype(dtype), b.astype(dtype)) for a, b in zip(FEATURES, LABELS, strict=True)]
        p = bl.problems.federated(
            lambda x, a, b: np.logaddexp(0, -b * (a @ x)), data, lambda x: MU / 2 * (x @ x), threads=threads, tile=tile
        )
        run = bl.minimize(p, X0.astype(dtype), FEDERATED["EF21"], steps=STEPS)
        return run.history["value"], run.x

    for dtype in (np.float64, np.float32):
        alone = records(1, None, dtype)
        for threads, tile in ((2, None), (1, 1), (1, 7), (2, 64)):
            for got, want in zip(records(threads, tile, dtype), alone, strict=True):
                np.testing.assert_array_equal(got, want)
    np.testing.assert_allclose(alone[0], points(problem(), FEDERATED["EF21"])[0].history["value"], rtol=1e-5)


@pytest.mark.parametrize("size", [1, 5, 20, 63, 64, 65, 100, 150])
def test_fitted_tiles_change_no_bit(size: int) -> None:
    """Where clients are of few sizes."""
    rng = np.random.default_rng(size)
    data = list(zip(rng.normal(size=(3, size, D)), rng.choice([-1.0, 1.0], size=(3, size)), strict=True))
    answers = []
    for tile in (None, 16):
        p = bl.problems.federated(lambda x, a, b: np.logaddexp(0, -b * (a @ x)), data, tile=tile)
        answers.append(probe(p, X0, lambda f, x: f.client_grads(x + 1), np.zeros((3, D)))[1][0])
        if tile is None and size > 1:
            tiling = p.oracle.tiles["grad", size]
            assert tiling.how == "by batch size"
            assert tiling.size * tiling.calls - size < tiling.calls
    np.testing.assert_array_equal(*answers)


@pytest.mark.parametrize(
    ("ask", "gradients"),
    [
        (lambda f, x, g: bl.fori_loop(0, 1, lambda _, s: s + f.client_grads(x), np.zeros((len(SIZES), D))), 1),
        (lambda f, x, g: f.client_grads(x) + 0 * g, 2),
        (lambda f, x, g: f.client_grads(x) + 0 * f.value(x), 1),
        (lambda f, x, g: f.client_grads(x * 1.5), 1),
        (lambda f, x, g: f.client_grads(x, clients=[0, 2]), None),
    ],
    ids=["in a loop", "beside g", "beside the value", "elsewhere", "of some"],
)
def test_value_is_computed_where_clients_do_not_log_it(ask: Any, gradients: int | None) -> None:
    run, found = points(problem(), QueryingRule(ask))
    np.testing.assert_allclose(run.history["value"], [value(x) for x in found], rtol=1e-13)
    assert run.counts["samples"] == STEPS * (SIZES[0] + SIZES[2] if gradients is None else gradients * N)
    assert run.counts["values"] == STEPS * N * (gradients != 2)


def test_a_question_within_a_loop_takes_what_clients_logged_before() -> None:
    def ask(f: Any, x: Any, g: Any) -> Any:
        first = f.client_grads(x)
        return first + bl.fori_loop(0, 3, lambda _, s: s + f.client_grads(x), np.zeros((len(SIZES), D)))

    run, found = points(problem(), QueryingRule(ask))
    np.testing.assert_allclose(run.history["value"], [value(x) for x in found], rtol=1e-13)
    np.testing.assert_allclose(run.x, found[-1] - 0.4 * grads(found[-1]).mean(axis=0), rtol=1e-12)
    assert (run.counts["samples"], run.counts["values"]) == (STEPS * N, 0)


def test_a_batch_and_a_random_loss_have_values_of_their_own() -> None:
    def ask(f: Any, x: Any, g: Any) -> Any:
        return f.client_grads(x)

    ours, found = points(problem(), QueryingRule(ask), batch=4, seed=1)
    alike = bl.minimize(
        problem(), X0, QueryingRule(lambda f, x, g: f.client_grads(x * 1.0)), batch=4, seed=1, steps=STEPS
    )
    np.testing.assert_array_equal(ours.history["value"], alike.history["value"])
    assert np.abs(ours.history["value"] - [value(x) for x in found]).max() > 1e-3

    def noisy(x: Any, a: Any, b: Any, *, key: Any) -> Any:
        return (a @ x - b + bl.random.normal(key, ())) ** 2

    p = bl.problems.federated(noisy, list(zip(FEATURES, LABELS, strict=True)))
    run = bl.minimize(p, X0, QueryingRule(ask), steps=STEPS)
    assert run.counts["values"] == STEPS * N


def test_value_logged_by_a_rule_is_the_value() -> None:
    run, _ = points(problem(), QueryingRule(lambda f, x, g: f.client_grads(x), {"value": 7.0}))
    np.testing.assert_array_equal(run.history["value"], 7.0)


@pytest.mark.parametrize("rule", [EF21(0.05, TopK(2)), FedNL(1.0, TopK(4))], ids=["EF21", "FedNL"])
def test_saved_and_forked_runs_go_on_alike(rule: Any, tmp_path: Any) -> None:
    p = problem()
    whole = bl.minimize(p, X0, rule, steps=9)
    part = bl.minimize(p, X0, rule, steps=4)
    part.save(tmp_path / "part.burlab")
    others = [bl.load_run(tmp_path / "part.burlab", p.data), part.fork()]
    part.seek(2)
    part.seek(4)
    for run in (*others, part):
        run.step(9 - run.t)
        np.testing.assert_array_equal(run.x, whole.x)
        for name, column in whole.history.items():
            if name == "time":
                continue
            np.testing.assert_array_equal(run.history[name], column, err_msg=name)


@pytest.mark.parametrize("whole", [True, False])
def test_hessians_of_clients_in_one_question_or_by_products(whole: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(query, "_WHOLE", 128 if whole else D - 1)
    forget_traces()
    like = np.zeros((len(SIZES), D, D))
    run, found, x = probe(problem(), X0, lambda f, x: f.client_hessians(x + 0.5), like)
    np.testing.assert_allclose(found[0], hessians(x + 0.5), rtol=1e-11, atol=1e-13)
    assert run.counts["hvps"] == D * N
    assert {"hessian", "hvp"}.intersection(name for name, _ in run._engine.setup.queries.losses) == {
        "hessian" if whole else "hvp"
    }


def test_hessians_of_chosen_samples_and_before_the_first_step() -> None:
    seen = {}

    class First(QueryingRule):
        def init(self, x: Any, *, f: Any = None) -> Any:
            seen["clients"], seen["some"] = f.client_hessians(x), f.hessian(x, indices=[3, 3, 0])
            return {}

    p = problem()
    bl.minimize(p, X0 + 0.3, First(lambda f, x, g: f.client_grads(x)), steps=1)
    np.testing.assert_allclose(seen["clients"], hessians(X0 + 0.3), rtol=1e-11, atol=1e-13)
    _, found, x = probe(p, X0, lambda f, x: f.hessian(x + 0.3, indices=[3, 3, 0]), np.zeros((D, D)))
    by_products = np.stack([p.hvp(x + 0.3, unit, [3, 3, 0]) for unit in np.eye(D)])
    np.testing.assert_allclose(found[0], by_products, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(seen["some"], found[0], rtol=1e-12, atol=1e-14)
