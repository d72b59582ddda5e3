"""Rules of clients that take part in turns, look at some of their samples, keep curvature or run an optimizer."""

import itertools
from dataclasses import dataclass

import numpy as np
import pytest

import burlab as bl
from burlab.communication.compressors import Identity, RandK, RankK, TopK
from burlab.errors import ArgumentError, DTypeError, IndexRangeError, ShapeError
from burlab.optim import (
    DASHA,
    EF21,
    EF21PP,
    EF21W,
    GD,
    PPMARINA,
    VRMARINA,
    Adam,
    DiLoCo,
    FedAvg,
    FedNL,
    GradientCoding,
    Momentum,
    Nesterov,
    Newton,
    NewtonCG,
    Optimizer,
    Shampoo,
)  # fmt: skip
from burlab.optim.distributed.coding import cyclic_code
from tests.optim.federated_cases import (
    FEATURES,
    LABELS,
    MU,
    SIZES,
    SMOOTHNESS,
    X0,
    D,
    grad,
    grads,
    hessians,
    problem,
)  # fmt: skip
from tests.optim.probe import probe

M, STEPS = len(SIZES), 40
SPREAD = float(np.sqrt(np.mean(SMOOTHNESS**2)))  # L~
W = SMOOTHNESS / SMOOTHNESS.sum()


def key_of(t):
    return bl.random.fold_in(bl.random.key(0), t)


def sent(c, rows, t):
    return np.array([c(row, bl.random.fold_in(key_of(t), i)) for i, row in enumerate(rows)])


def coin(t, p):
    return t == 0 or bl.random.uniform(key_of(t), ()) < p


def some(x, c, indices):
    """The mean gradient of client c over some of its samples."""
    a, b = FEATURES[c][indices], LABELS[c][indices]
    return np.mean((-b / (1 + np.exp(b * (a @ x))))[:, None] * a, axis=0) + MU * x


def test_gradients_of_chosen_clients_and_samples():
    which, indices = np.array([3, 0, 3]), np.array([[4, 0], [2, 2], [19, 7]])

    def question(f, x):
        turned = (which + f.key[0].astype(np.int64) * 0) % M
        points = np.stack([x, x + 1, x - 1])
        return {
            "known": f.client_grads(points, clients=which),
            "traced": f.client_grads(points, clients=turned),
            "some": f.client_grads(x, clients=which, indices=indices),
            "some traced": f.client_grads(points, clients=turned, indices=indices + 0 * turned[:, None]),
            "first": f.client_grads(x, indices=np.zeros((M, 1), int)),
            "hessians": f.client_hessians(x),
        }

    like = dict.fromkeys(("known", "traced", "some", "some traced"), np.zeros((3, D)))
    like |= {"first": np.zeros((M, D)), "hessians": np.zeros((M, D, D))}
    run, found, x = probe(problem(), X0, question, like, steps=2)
    answers = dict(zip(sorted(like), found, strict=True))
    points = [x, x + 1, x - 1]
    wanted = {
        "known": [grads(y)[c] for c, y in zip(which, points, strict=True)],
        "some": [some(x, c, k) for c, k in zip(which, indices, strict=True)],
        "some traced": [some(y, c, k) for c, k, y in zip(which, indices, points, strict=True)],
        "first": [some(x, c, [0]) for c in range(M)],
        "hessians": hessians(x),
    }
    wanted["traced"] = wanted["known"]
    for name, rows in wanted.items():
        np.testing.assert_allclose(answers[name], rows, rtol=1e-11, atol=1e-13, err_msg=name)
    asked = 2 * (20 + 3 + 20) + 2 * 6 + M  # of known and traced clients, of some samples, of first samples
    assert run.counts["samples"] == 2 * (sum(SIZES) + asked)  # and the run's own
    assert run.counts["hvps"] == 2 * D * sum(SIZES)


def ef21pp(x, t, s, rule):
    s["g"] = s.get("g", np.zeros((M, D)))
    chosen = bl.random.permutation(bl.random.fold_in(key_of(t), M), M)[: rule.clients]
    s["g"][chosen] += sent(rule.compressor, grads(x)[chosen] - s["g"][chosen], t)
    return s["g"].mean(axis=0)


def ef21w(x, t, s, rule):
    s["g"] = s.get("g", np.zeros((M, D)))
    s["g"] = s["g"] + sent(rule.compressor, grads(x) / (M * W[:, None]) - s["g"], t)
    return W @ s["g"]


def vrmarina(x, t, s, rule):
    drawn = bl.random.uniform(bl.random.fold_in(key_of(t), M), (M, rule.batch))
    indices = np.floor(drawn * np.array(SIZES)[:, None]).astype(int)
    if coin(t, min(1 / (1 + rule.compressor.omega(D)), rule.batch / (rule.batch + max(SIZES)))):
        s["v"] = grad(x)
    else:
        rows = np.array([some(x, c, indices[c]) - some(s["x"], c, indices[c]) for c in range(M)])
        s["v"] = s["v"] + sent(rule.compressor, rows, t).mean(axis=0)
    s["x"] = x
    return s["v"]


def ppmarina(x, t, s, rule):
    chosen = bl.random.randint(bl.random.fold_in(key_of(t), M), (rule.clients,), 0, M)
    if coin(t, rule.clients / (M * (1 + rule.compressor.omega(D)))):
        s["v"] = grad(x)
    else:
        s["v"] = s["v"] + sent(rule.compressor, (grads(x) - grads(s["x"]))[chosen], t).mean(axis=0)
    s["x"] = x
    return s["v"]


def dasha(x, t, s, rule):
    a = 1 / (2 * rule.compressor.omega(D) + 1)
    if t:
        s["g"] = s["g"] + sent(rule.compressor, grads(x) - s["h"] - a * (s["g"] - s["h"]), t)
    else:
        s["g"] = grads(x)
    s["h"] = grads(x)
    return s["g"].mean(axis=0)


def fednl(x, t, s, rule):
    h, known = hessians(x), s.get("h", np.zeros((M, D, D)))
    upper = np.triu_indices(D)
    message = np.zeros_like(h)
    for c, row in enumerate(sent(rule.compressor, (h - known)[:, *upper], t)):
        message[c][upper] = row
        message[c] += np.triu(message[c], 1).T
    omega = rule.compressor.omega(len(upper[0]))
    s["h"] = known + message / (1 + (omega or 0))
    error = np.mean([np.linalg.norm(m) for m in h - known])
    return np.linalg.solve(known.mean(axis=0) + error * np.eye(D), grad(x)) / 0.1


@pytest.mark.parametrize(
    ("rule", "estimate"),
    [
        (EF21PP(0.1, TopK(2), clients=2), ef21pp),
        (EF21W(0.1, TopK(2), weights=tuple(W)), ef21w),
        (VRMARINA(0.1, RandK(2), batch=3), vrmarina),
        (PPMARINA(0.1, RandK(3), clients=3), ppmarina),
        (DASHA(0.1, RandK(2)), dasha),
        (FedNL(1.0, TopK(5)), fednl),
        (FedNL(1.0, RandK(8)), fednl),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_rounds_of_variants_are_those_of_the_papers(rule, estimate):
    run, x, state = bl.minimize(problem(), X0, rule), X0, {}
    for t in range(STEPS):
        run.step()
        x = x - 0.1 * estimate(x, t, state, rule)
        np.testing.assert_allclose(run.x, x, rtol=1e-8, atol=1e-11)


@pytest.mark.parametrize(
    ("rule", "other"),
    [
        (EF21PP(0.1, TopK(2), clients=M), EF21(0.1, TopK(2))),
        (EF21W(0.1, TopK(2), weights=(1 / M,) * M), EF21(0.1, TopK(2))),
        (VRMARINA(0.1, RandK(2), p=1.0), GD(0.1)),
        (PPMARINA(0.1, RandK(2), p=1.0), GD(0.1)),
        (DASHA(0.1, Identity()), GD(0.1)),
        (DASHA(0.1, RandK(D), a=1.0), GD(0.1)),
        (DiLoCo(GD(0.1), tau=3, outer=GD(1.0)), FedAvg(0.1, tau=3)),
        (DiLoCo(GD(0.1), tau=1, outer=Nesterov(0.7, 0.9)), Nesterov(0.07, 0.9)),
    ],
    ids=str,
)
def test_at_its_ends_it_is_a_simpler_rule(rule, other):
    got, wanted = (bl.minimize(problem(), X0, r, steps=STEPS).x for r in (rule, other))
    np.testing.assert_allclose(got, wanted, rtol=1e-9)


def test_clients_keep_their_optimizers_from_round_to_round():
    """Adam at every client, momentum at the server, in NumPy."""
    run = bl.minimize(problem(), X0, DiLoCo(Adam(0.05), tau=3, outer=Momentum(0.5, 0.8)))
    x, m, v, velocity = X0, np.zeros((M, D)), np.zeros((M, D)), np.zeros(D)
    for t in range(12):
        y = np.tile(x, (M, 1))
        for k in range(1, 4):
            g = grads(y)
            m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g**2
            step = 3 * t + k
            y = y - 0.05 * (m / (1 - 0.9**step)) / (np.sqrt(v / (1 - 0.999**step)) + 1e-8)
        velocity = 0.8 * velocity + (x - y.mean(axis=0))
        x = x - 0.5 * velocity
        run.step()
        np.testing.assert_allclose(run.x, x, rtol=1e-8, atol=1e-11)
    assert run.hyper["lr"] == 0.05
    assert run.hyper["Momentum_lr"] == 0.5


def test_fednl_sends_whole_matrices_to_a_compressor_of_matrices():
    """On clients whose matrices have no equal singular values: the nearest one of rank 2 is one only."""
    a = np.random.default_rng(4).normal(size=(3, 40, D))
    b = np.where(a[..., 0] > 0, 1.0, -1.0)
    clients = bl.problems.federated(lambda x, a, b: np.logaddexp(0, -b * (a @ x)), list(zip(a, b, strict=True)))
    run, x, known = bl.minimize(clients, X0, FedNL(1.0, RankK(2, (D, D)))), X0, np.zeros((3, D, D))
    for _ in range(20):
        run.step()
        s = 1 / (1 + np.exp(b * (a @ x)))
        missing = np.einsum("cn,cni,cnj->cij", s * (1 - s), a, a) / 40 - known
        error = np.mean([np.linalg.norm(m) for m in missing])
        x = x + np.linalg.solve(known.mean(axis=0) + error * np.eye(D), np.einsum("cn,cni->i", s * b, a) / 120)
        u, sizes, v = np.linalg.svd(missing)
        known = known + (u[..., :2] * sizes[:, None, :2]) @ v[:, :2]
        np.testing.assert_allclose(run.x, x, rtol=1e-8, atol=1e-11)
    assert run.history["bits"][-1] == 20 * 3 * 64 * (2 * 2 * D + D + 1)


def test_fednl_is_newtons_method_where_curvature_is_known_and_ends_faster_than_linearly():
    rng = np.random.default_rng(2)
    clients = [(np.exp(rng.normal(size=(2, 3))), rng.normal(size=(2, 3))) for _ in range(4)]
    quadratics = bl.problems.federated(lambda x, h, a: 0.5 * np.sum(h * (x - a) ** 2), clients)
    exact = bl.minimize(quadratics, np.zeros(3), Newton(), steps=1).x
    np.testing.assert_allclose(
        bl.minimize(quadratics, np.zeros(3), FedNL(1.0, Identity()), steps=2).x, exact, rtol=1e-9
    )
    star = bl.minimize(problem(), X0, Newton(), steps=30).x
    run, gaps = bl.minimize(problem(), X0, FedNL(1.0, TopK(6))), []
    for _ in range(12):
        run.step(2)
        gaps.append(np.linalg.norm(run.x - star))
    falls = np.divide(gaps[1:], gaps[:-1])[: int(np.sum(np.array(gaps) > 1e-12)) - 1]
    assert gaps[-1] < 1e-9
    assert falls[-1] < falls[0] / 5


def test_costs_are_those_of_the_clients_that_took_part():
    run = bl.minimize(problem(), X0, EF21PP(0.1, TopK(2), clients=1), steps=30)
    spent = np.diff(run.history["samples"])
    assert set(spent) <= set(SIZES)
    assert len(set(spent)) > 2
    bits = np.diff(bl.minimize(problem(), X0, PPMARINA(0.1, RandK(2), clients=2), steps=40).history["bits"])
    assert set(bits) == {2 * 2 * 64, M * D * 64}
    once = bl.minimize(problem(), X0, DASHA(0.1, RandK(2)), steps=20).history["bits"]
    assert (once[0], set(np.diff(once))) == (M * D * 64, {M * 2 * 64})


@pytest.mark.parametrize(
    ("rule", "error", "message"),
    [
        (lambda: EF21PP(0.1, TopK(2), clients=9), ArgumentError, "clients is 9, but the problem has 5"),
        (lambda: EF21PP(0.1, TopK(2), clients=0), ArgumentError, "clients=0"),
        (lambda: EF21W(0.1, TopK(2), weights=(0.5, 0.5)), ArgumentError, r"weights of EF21W has shape \(2,\)"),
        (lambda: EF21W(0.1, TopK(2), weights=(0.3,) * M), ArgumentError, "weights of EF21W sum to 1.5"),
        (lambda: EF21W(0.1, TopK(2), weights=(1.0, 0, 0, 0, 0)), ArgumentError, "weights of EF21W holds 0"),
        (lambda: DASHA(0.1, TopK(2)), ArgumentError, "compressor of DASHA is TopK"),
        (lambda: FedNL(1.0, RankK(1, (D, D + 1))), Exception, "RankK is for matrices"),
        (lambda: DiLoCo(NewtonCG()), ArgumentError, "the inner optimizer of DiLoCo reads f"),
        (lambda: DiLoCo(Shampoo(0.1)), ArgumentError, "inner of DiLoCo is Shampoo"),
        (lambda: DiLoCo(GD), ArgumentError, "inner of DiLoCo is <class"),
    ],
)
def test_variants_with_wrong_arguments_raise(rule, error, message):
    with pytest.raises(error, match=message):
        bl.minimize(problem(), X0, rule())


@dataclass(frozen=True)
class FromTheStart(Optimizer):
    """Keeps what clients say before the first step, and at it."""

    def init(self, x, *, f):
        some = f.client_grads(np.stack([x, x + 1]), clients=[3, 1], indices=[[0, 19], [10, 0]])
        sizes = np.array(f.client_sizes, float)
        return {"g": f.client_grads(x), "h": f.client_hessians(x), "some": some, "sizes": sizes}

    def update(self, g, state, x, t, *, f):
        some = f.client_grads(np.stack([x, x + 1]), clients=[3, 1], indices=np.array([[0, 19], [10, 0]]))
        return x, {"g": f.client_grads(x), "h": f.client_hessians(x), "some": some, "sizes": state["sizes"]}


def test_clients_answer_before_the_first_step_as_at_it():
    run = bl.minimize(problem(), X0 + 0.1, FromTheStart())
    before = run.state
    np.testing.assert_allclose(before["g"], grads(X0 + 0.1), rtol=1e-10)
    np.testing.assert_array_equal(before["sizes"], SIZES)
    run.step(1)
    assert run.counts["samples"] == 2 * (sum(SIZES) + 4)  # before the step and at it
    assert run.counts["hvps"] == 2 * D * sum(SIZES)
    for name in ("g", "h", "some"):
        np.testing.assert_allclose(before[name], run.state[name], rtol=1e-12, atol=1e-15)
    with pytest.raises(ArgumentError, match=r"f\.(client_sizes|client_grads) needs a problem with clients"):
        bl.minimize(np.sum, X0, FromTheStart())


def test_clients_that_are_not_there_are_named():
    with pytest.raises(IndexRangeError, match=r"clients of f\.client_grads holds 5, but there are 5 clients"):
        probe(problem(), X0, lambda f, x: f.client_grads(x, clients=np.array([5])), np.zeros((1, D)))


@pytest.mark.parametrize(
    ("chosen", "error", "message"),
    [
        (lambda t: {"clients": t + np.array([4])}, IndexRangeError, "clients of f.client_grads held 5, but there are"),
        (lambda t: {"indices": t + np.array([[0], [9], [0], [0], [0]])}, IndexRangeError,
         "indices of f.client_grads held 1 for client 2, which has 1 samples"),
        (lambda t: {"indices": t + np.zeros((2, 1), int)}, ShapeError, r"has shape \(2, 1\), expected \(5, b\)"),
        (lambda t: {"indices": np.zeros((5, 1))}, DTypeError, "indices of f.client_grads has dtype float64"),
    ],
    ids=["client", "sample", "shape", "dtype"],
)  # fmt: skip
def test_index_out_of_range_at_a_step_is_named(chosen, error, message):
    """Within a client its samples count from 0: a number beyond them is none of its neighbour's."""
    rows = 1 if message.startswith("clients") else M
    with pytest.raises(error, match=message):
        probe(problem(), X0, lambda f, x: f.client_grads(x, **chosen(f.key[1].astype(np.int64) * 0 + 1)),
              np.zeros((rows, D)))  # fmt: skip


def test_any_workers_that_arrive_give_the_whole_gradient():
    for m, s in ((6, 2), (5, 4), (7, 0)):
        code = cyclic_code(m, s, 3)
        assert np.count_nonzero(code) == m * (s + 1)
        for rows in itertools.combinations(range(m), m - s):
            weights, *_ = np.linalg.lstsq(code[list(rows)].T, np.ones(m), rcond=None)
            np.testing.assert_allclose(weights @ code[list(rows)], 1, atol=1e-9)


def test_coded_gradients_are_gradient_descent_and_do_not_wait_for_the_slowest():
    wanted = bl.minimize(problem(), X0, GD(0.1), steps=STEPS).x
    mean = {}
    for s in (0, 1, 3):
        run = bl.minimize(problem(), X0, GradientCoding(0.1, s), steps=STEPS)
        np.testing.assert_allclose(run.x, wanted, rtol=1e-7)
        mean[s] = np.mean(run.history["round_time"][1:])
        assert run.history["bits"][-1] == STEPS * 64 * D * (M - s)
    longest = [np.max(bl.random.exponential(key_of(t), (M,))) for t in range(STEPS)]
    np.testing.assert_allclose(mean[0], 1 + np.mean(longest), rtol=0.05)
    slower = bl.minimize(problem(), X0, GradientCoding(0.1, 1, slow=20.0), steps=STEPS).history["round_time"]
    plain = bl.minimize(problem(), X0, GradientCoding(0.1, 0, slow=40.0), steps=STEPS).history["round_time"]
    assert np.all(slower[-STEPS:] <= plain[-STEPS:] + 1)  # the same delays, without the slowest
    with pytest.raises(ArgumentError, match="stragglers is 5 of 5 clients"):
        bl.minimize(problem(), X0, GradientCoding(0.1, 5))
