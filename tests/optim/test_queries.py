"""Queries of updates against FiniteSum at the same samples and keys, and their errors."""

import re
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.errors import DTypeError, IndexRangeError, ShapeError, StatusError, TraceError
from burlab.graph import tree
from burlab.graph.query import PART_QUERIES, QUERIES, TARGET_QUERIES
from tests.optim.probe import X0, A, B, Probe, loss, noisy, probe, ridge, rng
from tests.run.test_sampler import batches

SIXTH = bl.random.fold_in(bl.random.key(3), 6)
"""The key of the step that is looked at."""


def resampled(x: Any, a: Any, b: Any, key: Any) -> Any:
    """The loss for a label that is drawn around the model's."""
    return loss(x, a, a @ x + bl.random.normal(key, (), a.dtype)) + 0 * b


QUERIED: dict[str, tuple[Callable[[Any, Any], Any], Callable[..., Any], Any]] = {
    "value": (lambda f, y: f.value(y), lambda p, y, i: p.value(y, i), 0.0),
    "grad": (lambda f, y: f.grad(y), lambda p, y, i: p.grad(y, i), X0),
    "value_and_grad": (lambda f, y: f.value_and_grad(y), lambda p, y, i: p.value_and_grad(y, i), (0.0, X0)),
    "hvp": (lambda f, y: f.hvp(y, y * 2 + 1), lambda p, y, i: p.hvp(y, y * 2 + 1, i), X0),
    "full_value": (lambda f, y: f.full_value(y), lambda p, y, i: p.value(y), 0.0),
    "full_grad": (lambda f, y: f.full_grad(y), lambda p, y, i: p.grad(y), X0),
    "per_sample_grads": (
        lambda f, y: f.per_sample_grads(y),
        lambda p, y, i: p.per_sample_grads(y, i),
        np.zeros((5, 3)),
    ),
    "jvp": (lambda f, y: f.jvp(y, y * 2 + 1), lambda p, y, i: p.jvp(y, y * 2 + 1, i), 0.0),
    "partial_grad": (lambda f, y: f.partial_grad(y, [2, 0]), lambda p, y, i: p.partial_grad(y, [2, 0], i), X0[:2]),
    "resampled_grad": (lambda f, y: f.resampled_grad(y), lambda p, y, i: p.resampled_grad(y, i, key=SIXTH), X0),
    "targets": (
        lambda f, y: f.targets(y),
        lambda p, y, i: targets(*p.oracle.data.arrays, y, i),
        (np.zeros((5, 1)),) * 2,
    ),
    "surrogate": (
        lambda f, y: f.surrogate(y, np.arange(5.0)[:, None].astype(y.dtype), 2.0),
        lambda p, y, i: surrogate(p.oracle.data.arrays[0], y, i),
        (0.0, X0),
    ),
    "per_sample_values": (
        lambda f, y: f.per_sample_values(y),
        lambda p, y, i: p.per_sample_values(y, i),
        np.zeros(5),
    ),
    "hessian": (
        lambda f, y: f.hessian(y),
        lambda p, y, i: np.stack([p.hvp(y, unit, i) for unit in np.eye(3, dtype=y.dtype)]),
        np.zeros((3, 3)),
    ),
    "residuals_and_jacobian": (
        lambda f, y: f.residuals_and_jacobian(y),
        lambda p, y, i: residuals(*p.oracle.data.arrays, y, i),
        (np.zeros(10), np.zeros((10, 3))),
    ),
    "part_value_and_grad": (
        lambda f, y: f.part_value_and_grad(y, 1),
        lambda p, y, i: second_part(*p.oracle.data.arrays, y, i),
        (0.0, X0),
    ),
    "part_value": (
        lambda f, y: f.part("v").value({"u": y[:1], "v": y[1:]}),
        lambda p, y, i: second_part(*p.oracle.data.arrays, y, i)[0],
        0.0,
    ),
    "part_hvp": (
        lambda f, y: f.part("v").hvp({"u": y[:1], "v": y[1:]}, {"u": y[:1], "v": 2 * y[1:]}),
        lambda p, y, i: second_part_moved(*p.oracle.data.arrays, y, np.append(y[:1], 2 * y[1:]), i),
        X0[1:],
    ),
}
PARTS = {"u": lambda x, a, b: 0 * b, "v": lambda x, a, b: outer(a[0] * x["u"] + a[1:] @ x["v"], a, b)}


def model(x: Any, a: Any, b: Any) -> Any:
    return a @ x


def outer(z: Any, a: Any, b: Any) -> Any:
    return np.log(1 + (z - b) ** 2)


def targets(a: Any, b: Any, y: Any, i: Any) -> Any:
    off = a[i] @ y - b[i]
    return (a[i] @ y)[:, None], (2 * off / (1 + off**2))[:, None]


def surrogate(a: Any, y: Any, i: Any) -> Any:
    """For goals 0, 1, ... and scale 2."""
    off = a[i] @ y - np.arange(5.0, dtype=y.dtype)
    return ridge(y) + np.mean(off**2) / 4, 0.1 * y + off @ a[i] / 10


def second_part(a: Any, b: Any, y: Any, i: Any) -> Any:
    """Of PARTS: by the last two numbers, the first one constant."""
    off = a[i] @ y - b[i]
    gradient = (2 * off / (1 + off**2)) @ a[i] / 5
    gradient[0] = 0
    return np.mean(np.log(1 + off**2)), gradient


def second_part_moved(a: Any, b: Any, y: Any, v: Any, i: Any) -> Any:
    """The derivative of that gradient along v."""
    off, along = a[i] @ y - b[i], a[i] @ v
    return (2 * (1 - off**2) / (1 + off**2) ** 2 * along) @ a[i][:, 1:] / 5


def pair(x: Any, a: Any, b: Any) -> Any:
    return np.stack([a @ x - b, b * x[0] * x[1]])


def residuals(a: Any, b: Any, y: Any, i: Any) -> Any:
    a, b, zero = a[i], b[i], 0 * b[i]
    r = np.stack([a @ y - b, b * y[0] * y[1]], axis=1)
    return r.ravel(), np.stack([a, np.stack([b * y[1], b * y[0], zero], axis=1)], axis=1).reshape(10, 3)


def test_every_query_of_rules_has_a_case() -> None:
    assert (*QUERIED, "link_grads") == QUERIES  # of the last test_rewiring.py has tests


@pytest.mark.parametrize("name", QUERIED)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("sampler", ["reshuffle", "uniform"])
def test_queries_equal_the_finite_sum(name: str, dtype: Any, sampler: str) -> None:
    """To the bit: the same kernels over the same samples, in the same order; the regularizer included.

    Those about targets and parts, of which a finite sum knows nothing, to rounding.
    """
    rtol = 50 * np.finfo(dtype).eps if name in (*TARGET_QUERIES, *PART_QUERIES) else 0.0
    question, wanted, like = QUERIED[name]
    data = A.astype(dtype), B.astype(dtype)
    problem = bl.FiniteSum(outer, data, ridge, resampled=resampled, model=model)
    if name == "residuals_and_jacobian":
        problem = bl.Residuals(pair, data)
    like = tree.unflatten(tree.flatten(like)[1], [np.asarray(leaf, dtype) for leaf in tree.flatten(like)[0]])
    x0: Any = X0.astype(dtype)
    if name in PART_QUERIES:
        problem, x0 = bl.problems.Alternating(PARTS, data), {"u": x0[0], "v": x0[1:]}
    _, got, x = probe(problem, x0, lambda f, x: question(f, x + 1), like, 7, batch=5, sampler=sampler, seed=3)
    x = np.concatenate([x["u"][None], x["v"]]) if isinstance(x, dict) else x
    indices = batches(sampler, len(B), 5, 7, seed=3)[6]
    for a, b in zip(got, tree.flatten(wanted(problem, x + 1, indices))[0], strict=True):
        np.testing.assert_allclose(a, b, rtol=rtol, atol=0.0)
        assert a.dtype == dtype


@pytest.mark.parametrize(
    "name", ["value", "grad", "value_and_grad", "hvp", "jvp", "full_value", "full_grad", "hessian"]
)
def test_plain_functions_and_trees_answer_too(name: str) -> None:
    """The rule sees one flat vector where x is a tree."""
    question, wanted, like = QUERIED[name]
    start = {"w": X0[:2].reshape(2, 1), "b": X0[2]}

    def f(p: Any) -> Any:
        return np.sum(np.tanh(p["w"]) ** 2) * p["b"] + np.exp(p["b"])

    def of_flat(y: Any) -> Any:
        return f({"b": y[0], "w": np.reshape(y[1:], (2, 1))})  # dicts are ordered by their keys

    flat = bl.FiniteSum(lambda y, _: of_flat(y), np.zeros(1))
    _, got, x = probe(f, start, lambda f, x: question(f, 2 * x), like, 2)
    y = 2 * np.concatenate([np.ravel(leaf) for leaf in tree.flatten(x)[0]])
    for a, b in zip(got, tree.flatten(wanted(flat, y, [0]))[0], strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-14)


def test_per_sample_gradients_of_a_tree_are_rows() -> None:
    problem = bl.FiniteSum(
        lambda p, a, b: loss(np.concatenate([p[0], np.reshape(p[1], (1,))]), a, b), (A, B), lambda p: p[1] ** 2
    )
    flat = bl.FiniteSum(loss, (A, B))
    _, (got,), x = probe(
        problem, (X0[:2], X0[2]), lambda f, x: f.per_sample_grads(x), np.zeros((4, 3)), 3, batch=4, seed=1
    )
    indices = batches("reshuffle", len(B), 4, 3, seed=1)[2]
    np.testing.assert_array_equal(got, flat.per_sample_grads(np.concatenate([x[0], [x[1]]]), indices))


def test_keys_are_those_of_the_step() -> None:
    """A stochastic loss draws the same numbers for every question of a step, and a rule may draw from its key."""
    problem = bl.FiniteSum(noisy, (A, B))

    def ask(f: Any, x: Any) -> Any:
        return f.key, f.value(x + 0), f.grad(x + 1), f.full_grad(x), f.value(x), bl.random.normal(f.key, (2,))

    like = (np.zeros(2, np.uint64), 0.0, X0, X0, 0.0, np.zeros(2))
    run, got, x = probe(problem, X0, ask, like, 4, batch=6, seed=9)
    key, value, gradient, full, known, drawn = got
    np.testing.assert_array_equal(key, bl.random.fold_in(bl.random.key(9), 3))
    indices = batches("reshuffle", len(B), 6, 4, seed=9)[3]
    assert value == known == run.history["value"][3] == problem.value(x, indices, key=key)
    np.testing.assert_array_equal(gradient, problem.grad(x + 1, indices, key=key))
    np.testing.assert_array_equal(full, problem.grad(x, key=key))
    np.testing.assert_array_equal(drawn, bl.random.normal(key, (2,)))
    assert (probe(problem, X0, ask, like, 5, batch=6, seed=9)[1][0] != key).any()


def test_a_key_is_there_for_rules_alone() -> None:
    """Where the loss draws nothing."""
    _, (first,), _ = probe(
        bl.FiniteSum(loss, (A, B)), X0, lambda f, x: f.key, np.zeros(2, np.uint64), 1, batch=2, seed=4
    )
    _, (second,), _ = probe(
        bl.FiniteSum(loss, (A, B)), X0, lambda f, x: f.key, np.zeros(2, np.uint64), 2, batch=2, seed=4
    )
    assert first.any()
    assert (first != second).any()


def test_queries_at_x_are_free() -> None:
    rule, _ = bl.optim.rule.trace_rule(
        Probe(lambda f, x: (f.value(x), f.grad(x), f.value_and_grad(x)), (0.0, X0, (0.0, X0))), X0
    )
    assert rule.queries == ()
    assert not [n for n in rule.graph.nodes if n.op == "ask"]
    _, got, x = probe(
        bl.FiniteSum(loss, (A, B)), X0, lambda f, x: (f.value(x), f.grad(x)), (0.0, X0), 3, batch=4, seed=2
    )
    indices = batches("reshuffle", len(B), 4, 3, seed=2)[2]
    for a, b in zip(got, bl.FiniteSum(loss, (A, B)).value_and_grad(x, indices), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.filterwarnings("ignore:.*float32")
def test_values_have_the_dtype_of_x_where_the_loss_has_another() -> None:
    problem = bl.FiniteSum(loss, (A.astype(np.float32), B))  # b is float64, so the loss is
    x0 = X0.astype(np.float32)
    assert problem.value(x0).dtype == np.float64
    like = (np.float32(0), np.float32(0))
    _, got, x = probe(problem, x0, lambda f, x: (f.value(x + 0), f.full_value(x + 1)), like)
    np.testing.assert_allclose(got, [problem.value(x), problem.value(x + 1)], rtol=1e-6)


def test_only_used_queries_are_compiled() -> None:
    problem = bl.FiniteSum(loss, (A, B))
    bl.minimize(problem, X0, Probe(lambda f, x: f.hvp(x, x), X0))
    assert sorted({key[0] for key in problem.oracle._losses}) == ["hvp", "training"]


@pytest.mark.parametrize("threads", [2, 3, 16])
def test_query_threads_change_no_bit(threads: int) -> None:
    n = 300
    data = rng.normal(size=(n, 3)), rng.normal(size=n)

    def ask(f: Any, x: Any) -> Any:
        return f.grad(x * 2), f.full_grad(x), f.hvp(x, x), f.value(2 * x), f.per_sample_grads(x)

    like = (X0, X0, X0, 0.0, np.zeros((64, 3)))
    one, many = (probe(bl.FiniteSum(loss, data, ridge, threads=k), X0, ask, like, 3, batch=64)[1] for k in (1, threads))
    for a, b in zip(one, many, strict=True):
        np.testing.assert_array_equal(a, b)


def test_queries_in_loops_and_of_many_points() -> None:
    """Inside of while_loop, nested, with the known value captured; and a whole population by vmap."""
    problem = bl.FiniteSum(loss, (A, B))

    def ask(f: Any, x: Any) -> Any:
        def back(s: Any) -> Any:
            inner = bl.while_loop(lambda r: r[0] < 2, lambda r: (r[0] + 1, r[1] + f.value(s["y"])), (0, f.value(x)))
            return {"y": s["y"] - 0.1 * f.grad(s["y"]), "total": s["total"] + inner[1], "k": s["k"] + 1}

        state = bl.while_loop(lambda s: s["k"] < 3, back, {"y": x, "total": 0.0, "k": 0})
        points = x + np.arange(4.0)[:, None]
        return state["y"], state["total"], bl.vmap(f.value)(points), bl.vmap(f.grad)(points)

    _, got, x = probe(problem, X0, ask, (X0, 0.0, np.zeros(4), np.zeros((4, 3))), 3, batch=4, seed=2)
    i = batches("reshuffle", len(B), 4, 3, seed=2)[2]
    y, total = x, 0.0
    for _ in range(3):
        total += problem.value(x, i) + 2 * problem.value(y, i)
        y = y - 0.1 * problem.grad(y, i)
    np.testing.assert_allclose(got[0], y, rtol=1e-14)
    np.testing.assert_allclose(got[1], total, rtol=1e-14)
    points = x + np.arange(4.0)[:, None]
    np.testing.assert_array_equal(got[2], [problem.value(p, i) for p in points])
    np.testing.assert_array_equal(got[3], [problem.grad(p, i) for p in points])


# What goes wrong.


@pytest.mark.parametrize(
    ("ask", "kind", "text"),
    [
        (
            lambda f, x: f.laplacian(x),
            TraceError,
            "f.laplacian is nothing that an update can ask. It can: f.value(y), f.grad(y)",
        ),
        (
            lambda f, x: f.gard(x),
            TraceError,
            "f.partial_grad(y, coordinates), f.resampled_grad(y), f.targets(y), "
            "f.surrogate(y, goals, scale), f.per_sample_values(y), f.hessian(y), f.residuals_and_jacobian(y), "
            "f.link_grads(y, block), f.part(name), f.part_value_and_grad(y, part), f.residual_blocks(y), "
            "f.tables, f.products, f.indices, f.weights, f.key, f.batch, f.samples",
        ),
        (lambda f, x: f.grad(x[:2]), ShapeError, "f.grad is about vectors of shape (3,), as x is, got (2,)"),
        (
            lambda f, x: f.value(x.astype(np.float32)),
            DTypeError,
            "f.value is about vectors of float64, as x is, got float32",
        ),
        (lambda f, x: f.hvp(x, 1.0), ShapeError, "f.hvp is about vectors of shape (3,)"),
        (lambda f, x: bl.grad(lambda y: f.value(y * 2))(x), TraceError, "a derivative through f.value is not defined"),
        (lambda f, x: bl.jvp(f.grad, (x * 2,), (x,))[1], TraceError, "Use f.grad and f.hvp"),
    ],
)
def test_queries_that_cannot_be_answered(ask: Any, kind: Any, text: str) -> None:
    with pytest.raises(kind, match=re.escape(text)) as caught:
        bl.minimize(bl.FiniteSum(loss, (A, B)), X0, Probe(ask, X0))
    assert "test_queries.py" in str(caught.value)


def test_failing_query_names_its_place() -> None:
    """The sample, the line of the loss, the question; the run stays at the step before and can go on."""
    table = np.arange(4.0)

    data = np.array([1.0, 1.0, 7.0, 1.0])
    problem = bl.FiniteSum(lambda x, a: _pick(table, x, a), data)
    line = _pick.__code__.co_firstlineno + 1
    run = bl.minimize(problem, np.array([0.5]), Probe(lambda f, x: f.value(x + x), 0.0), batch=2, sampler="sequential")
    run.step(1)
    with pytest.raises(IndexRangeError, match=rf"line {line}.*gather") as caught:
        run.step(1)
    assert caught.value.__notes__ == ["In sample 2 of the data.", "In the query f.value of the update."]
    assert run.t == 1
    run = bl.minimize(
        bl.FiniteSum(lambda x, a: x[0] * a, data, lambda x: _pick(table, x, 1.0)),
        np.array([0.5]),
        Probe(lambda f, x: f.value(x * 20), 0.0),
    )
    with pytest.raises(IndexRangeError, match=rf"line {line}.*gather") as caught:
        run.step(1)
    assert caught.value.__notes__ == ["In the query f.value of the update."]


def _pick(table: Any, x: Any, a: Any) -> Any:
    return bl.asarray(table)[(x[0] * a).astype(np.int64)] + 0 * x[0]


def test_query_outside_of_a_run_raises() -> None:
    rule, _ = bl.optim.rule.trace_rule(Probe(lambda f, x: f.value(x + 1), 0.0), X0)
    from burlab.compiler.executable import build

    with pytest.raises(StatusError, match="asks about a problem that is not there"):
        build(rule.graph)(X0, X0, np.int64(0), 0.0, 0.0, np.zeros(2, np.uint64), np.zeros(1, np.int64), np.int64(0))


@pytest.mark.parametrize("threads", [1, 2])
def test_an_endless_update_can_be_paused_and_stopped(threads: int) -> None:
    def ask(f: Any, x: Any) -> Any:
        return bl.while_loop(lambda s: s < 1e300, lambda s: s * 0 + f.value(x * 2), 0.0)

    run = bl.minimize(bl.FiniteSum(loss, (A, B), threads=threads), X0, Probe(ask, 0.0))
    run.start()
    time.sleep(0.05)
    run.pause()
    assert run.t == 0
    run.start()
    run.stop()


@pytest.mark.parametrize("threads", [1, 2])
def test_an_endless_loss_can_be_paused_and_stopped(threads: int) -> None:
    """On the run's thread and on its helpers."""

    def endless(x: Any, a: Any) -> Any:
        return x[0] * bl.while_loop(lambda s: s < 1e300, lambda s: s * 0, bl.stop_gradient(a))

    run = bl.minimize(bl.FiniteSum(endless, np.ones(64), threads=threads), X0, bl.optim.GD())
    run.start()
    time.sleep(0.05)
    run.pause()
    run.stop()
    assert run.t == 0
