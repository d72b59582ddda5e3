"""Clients: their problem, their rules step for step in NumPy, degenerate cases, and the bounds of their papers."""

import numpy as np
import pytest

import burlab as bl
from burlab.communication.compressors import Identity, RandK, Scaled, TopK
from burlab.errors import ArgumentError, ShapeError, TraceError
from burlab.optim import DCGD, DIANA, EF21, GD, MARINA, SCAFFOLD, FedAvg, FedProx, GradientCoding
from tests.optim.federated_cases import (
    FEATURES,
    FEDERATED,
    LABELS,
    SIZES,
    SMOOTHNESS,
    X0,
    D,
    grad,
    grads,
    loss,
    problem,
    value,
)

M, STEPS = len(SIZES), 60
SPREAD = float(np.sqrt(np.mean(SMOOTHNESS**2)))  # L~


def minimizer():
    return bl.minimize(problem(), X0, bl.optim.Newton(), steps=30).x


def key_of(t):
    return bl.random.fold_in(bl.random.key(0), t)


def sent(c, rows, t):
    return np.array([c(row, bl.random.fold_in(key_of(t), i)) for i, row in enumerate(rows)])


def test_every_client_counts_alike():
    clients = problem()
    assert clients.clients == M
    assert clients.sizes == SIZES
    x = np.linspace(-1, 1, D)
    np.testing.assert_allclose(clients.value(x), value(x), rtol=1e-13)
    np.testing.assert_allclose(clients.grad(x), grad(x), rtol=1e-12, atol=1e-14)


def ef21(x, t, s, c):
    s["g"] = s.get("g", np.zeros((M, D)))
    s["g"] = s["g"] + sent(c, grads(x) - s["g"], t)
    return s["g"].mean(axis=0)


def diana(x, t, s, c):
    h = s.get("h", np.zeros((M, D)))
    m = sent(c, grads(x) - h, t)
    s["h"] = h + m / (1 + c.omega(D))
    return (h + m).mean(axis=0)


def marina(x, t, s, c):
    whole = t == 0 or bl.random.uniform(key_of(t), ()) < 1 / (1 + c.omega(D))
    s["v"] = grad(x) if whole else s["v"] + sent(c, grads(x) - grads(s["x"]), t).mean(axis=0)
    s["x"] = x
    return s["v"]


@pytest.mark.parametrize(
    ("rule", "estimate"),
    [
        (EF21(0.1, TopK(2)), ef21),
        (EF21(0.1, Scaled(RandK(2))), ef21),
        (DIANA(0.1, RandK(3)), diana),
        (MARINA(0.1, RandK(2)), marina),
        (DCGD(0.1, RandK(3)), lambda x, t, s, c: sent(c, grads(x), t).mean(axis=0)),
    ],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_federated_rounds_are_those_of_the_papers(rule, estimate):
    run, x, state = bl.minimize(problem(), X0, rule), X0, {}
    for t in range(STEPS):
        run.step()
        x = x - 0.1 * estimate(x, t, state, rule.compressor)
        np.testing.assert_allclose(run.x, x, rtol=1e-9, atol=1e-12)


def local(x, lr, tau, more):
    y = np.tile(x, (M, 1))
    for _ in range(tau):
        y = y - lr * (grads(y) + more(y))
    return y


def test_local_steps_are_those_of_the_papers():
    x, c = [X0] * 3, np.zeros((M, D))
    runs = [bl.minimize(problem(), X0, rule) for rule in
            (FedAvg(0.1, tau=3), FedProx(0.1, tau=4, mu=0.7), SCAFFOLD(0.1, tau=3, outer=0.8))]  # fmt: skip
    for _ in range(STEPS):
        x[0] = local(x[0], 0.1, 3, lambda y: 0).mean(axis=0)
        x[1] = local(x[1], 0.1, 4, lambda y: 0.7 * (y - x[1])).mean(axis=0)
        y = local(x[2], 0.1, 3, lambda y, c=c: c.mean(axis=0) - c)
        c, x[2] = c - c.mean(axis=0) + (x[2] - y) / 0.3, x[2] + 0.8 * (y.mean(axis=0) - x[2])
        for run, point in zip(runs, x, strict=True):
            run.step()
            np.testing.assert_allclose(run.x, point, rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize(
    "rule",
    [
        EF21(0.1, Identity()),
        EF21(0.1, TopK(D)),
        DIANA(0.1, Identity()),
        DIANA(0.1, RandK(D), a=1.0),
        MARINA(0.1, Identity()),
        MARINA(0.1, RandK(2), p=1.0),
        DCGD(0.1, Identity()),
        FedAvg(0.1, tau=1),
        FedProx(0.1, tau=1, mu=3.0),
        SCAFFOLD(0.1, tau=1),
    ],
    ids=str,
)
def test_without_compression_and_with_one_local_step_it_is_gradient_descent(rule):
    got = bl.minimize(problem(), X0, rule, steps=STEPS).x
    np.testing.assert_allclose(got, bl.minimize(problem(), X0, GD(0.1), steps=STEPS).x, rtol=1e-10)


def test_fedavg_ends_at_its_theoretical_fixed_point():
    """On quadratics sum_i [I - (I - lr H_i)^tau](x - x_i*) = 0: with more local steps farther from the minimum."""
    rng = np.random.default_rng(2)
    clients = [(np.exp(rng.normal(size=(1, 3))), 2 * rng.normal(size=(1, 3))) for _ in range(4)]
    quadratics = bl.problems.federated(lambda x, h, a: 0.5 * np.sum(h * (x - a) ** 2), clients)
    h, a = (np.concatenate([client[k] for client in clients]) for k in (0, 1))
    for tau in (1, 4, 16):
        weight = 1 - (1 - 0.1 * h) ** tau
        end = bl.minimize(quadratics, np.zeros(3), FedAvg(0.1, tau=tau), steps=600).x
        np.testing.assert_allclose(end, np.sum(weight * a, axis=0) / np.sum(weight, axis=0), rtol=1e-10)
    exact = bl.minimize(quadratics, np.zeros(3), SCAFFOLD(0.1, tau=4), steps=900).x
    np.testing.assert_allclose(exact, np.sum(h * a, axis=0) / np.sum(h, axis=0), rtol=1e-8)


def test_control_variates_stay_where_a_schedule_has_ended_at_zero():
    clients = problem()
    run = bl.minimize(clients, X0, SCAFFOLD(bl.optim.linear(0.1, steps=4), tau=3), steps=4)
    x, c = run.x, run.state["c"]
    run.step(3)
    np.testing.assert_array_equal(run.x, x)
    np.testing.assert_array_equal(run.state["c"], c)
    assert np.any(c != 0)


@pytest.mark.parametrize(
    ("rule", "later"),
    [
        (EF21(0.1, TopK(2)), sum(SIZES)),
        (DIANA(0.1, RandK(2)), sum(SIZES)),
        (MARINA(0.1, RandK(2)), sum(SIZES)),
        (GradientCoding(0.1, 2), sum(SIZES)),
        (bl.optim.VRMARINA(0.1, RandK(2), batch=2, p=1e-9), 2 * 2 * M),
        (bl.optim.EF21PP(0.1, TopK(2), clients=M), sum(SIZES)),
        (bl.optim.MoNNA(0.1, 1), sum(SIZES[:-1])),
        (FedAvg(0.1, tau=3), 3 * sum(SIZES)),
        (SCAFFOLD(0.1, tau=2), 2 * sum(SIZES)),
    ],
    ids=lambda value: type(value).__name__,
)
def test_the_samples_of_clients_are_counted(rule, later):
    run = bl.minimize(problem(), X0, rule, steps=4)
    np.testing.assert_array_equal(np.diff(run.history["samples"]), later)


def test_bits_are_counted():
    assert bl.minimize(problem(), X0, EF21(0.1, TopK(2)), steps=9).history["bits"][-1] == 9 * M * 2 * (64 + 3)
    marina = np.diff(bl.minimize(problem(), X0, MARINA(0.1, RandK(2)), steps=60).history["bits"], prepend=0)[-60:]
    assert set(marina) == {M * 2 * 64, M * D * 64}
    assert marina[0] == M * D * 64


@pytest.mark.parametrize("name", FEDERATED)
def test_federated_run_is_the_same_after_seek_fork_or_load(name, tmp_path):
    clients = problem()
    run = bl.minimize(clients, X0, FEDERATED[name], seed=3, steps=4)
    early = run.x
    run.step(7)
    middle = run.x
    run.save(tmp_path / "a.burlab")
    run.step(12)
    end = run.x
    run.seek(4)
    np.testing.assert_array_equal(run.x, early)
    run.step(19)
    np.testing.assert_array_equal(run.x, end)
    run.seek(11)
    for other in (run.fork(), bl.load_run(tmp_path / "a.burlab", clients.data)):
        np.testing.assert_array_equal(other.x, middle)
        other.step(12)
        np.testing.assert_array_equal(other.x, end)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: bl.problems.federated(loss, []), ArgumentError, "at least one client"),
        (lambda: bl.problems.federated(loss, [(FEATURES[0], LABELS[0]), (FEATURES[1][:, :2], LABELS[1])]), ShapeError,
         "client 1 holds"),
        (lambda: bl.problems.federated(loss, None), ArgumentError, "clients is a NoneType, expected a list"),
        (lambda: bl.problems.federated(loss, {"a": FEATURES[0]}), ArgumentError, "clients is a dict, expected a list"),
        (lambda: bl.problems.federated(loss, [FEATURES[0], np.zeros((0, D))]), ShapeError, r"clients\[1\] holds no"),
        (lambda: bl.problems.federated(loss, [(FEATURES[0], LABELS[1])]), ShapeError, r"clients\[0\] holds arrays"),
        (lambda: bl.problems.federated(loss, FEATURES), ArgumentError, "loss cannot be called with x and a sample"),
        (lambda: bl.problems.federated(np.sum, FEATURES, 0.1), ArgumentError, "regularizer is a float"),
        (lambda: GradientCoding(0.1, slow=-1.0), ArgumentError, "slow=-1.0 is too small"),
        (lambda: bl.minimize(problem(), X0, DIANA(0.1, TopK(2))), ArgumentError, "compressor of DIANA is TopK"),
        (lambda: bl.minimize(problem(), X0, EF21(0.1, RandK(2))), ArgumentError, r"Scaled\(RandK"),
        (lambda: bl.minimize(problem(), X0, EF21(0.1, TopK(9))), ArgumentError, "k of TopK is 9"),
        (lambda: EF21(0.1, 3), ArgumentError, "compressor of EF21 is 3"),
        (lambda: FedAvg(0.1, tau=0), ArgumentError, "tau=0"),
        (lambda: bl.minimize(np.sum, X0, FedAvg(0.1)), (ArgumentError, TraceError), "bl.problems.federated"),
        (lambda: bl.minimize(np.sum, X0, EF21(0.1, TopK(2))), ArgumentError, "bl.problems.federated"),
    ],
)  # fmt: skip
def test_federated_problems_with_wrong_arguments_raise(make, error, message):
    with pytest.raises(error, match=message):
        make()
