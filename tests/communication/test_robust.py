"""Aggregators and attacks beside NumPy's plain forms, and the rules in which they stand."""

import numpy as np
import pytest
from scipy.stats import norm, trim_mean

import burlab as bl
from burlab.communication.robust import ALIE, Krum, Median, Mimic, NearestMean, Noise, SignFlip, TrimmedMean
from burlab.errors import ArgumentError
from burlab.optim import GD, MoNNA, RobustGD
from tests.optim.federated_cases import SIZES, X0, D, grads, problem

rng = np.random.default_rng(3)
ROWS = rng.normal(size=(9, 4)) + np.array([0.0, 3.0, -2.0, 1.0])
ROWS[6:] *= 40.0
KEY = bl.random.key(5)
M = len(SIZES)


def krum(rows, liars):
    """Blanchard et al. 2017, section 4, as it is written."""
    scores = []
    for i, row in enumerate(rows):
        distances = sorted(np.sum((row - other) ** 2) for j, other in enumerate(rows) if j != i)
        scores.append(sum(distances[: len(rows) - liars - 2]))
    return rows[int(np.argmin(scores))]


def nearest(point, rows, liars):
    order = sorted(range(len(rows)), key=lambda j: np.sum((rows[j] - point) ** 2))
    return rows[order[: len(rows) - liars]].mean(axis=0)


@pytest.mark.parametrize(
    ("aggregator", "wanted"),
    [
        (Median(), np.median(ROWS, axis=0)),
        (TrimmedMean(3), trim_mean(ROWS, 3.01 / 9, axis=0)),
        (TrimmedMean(0), ROWS.mean(axis=0)),
        (Krum(3), krum(ROWS, 3)),
        (Krum(1), krum(ROWS, 1)),
        (NearestMean(3), nearest(ROWS[0], ROWS, 3)),
    ],
    ids=str,
)
def test_aggregators_are_those_of_their_papers(aggregator, wanted):
    np.testing.assert_allclose(aggregator(ROWS), wanted, rtol=1e-12)
    np.testing.assert_allclose(bl.jit(aggregator)(ROWS), wanted, rtol=1e-12)


@pytest.mark.parametrize("aggregator", [Median(), TrimmedMean(3), Krum(3), NearestMean(3)], ids=str)
def test_liars_move_them_by_no_more_than_the_honest_differ(aggregator):
    honest = rng.normal(size=(6, 4))
    far = np.concatenate([honest, np.full((3, 4), 1e12)])
    spread = np.max(np.linalg.norm(honest[:, None] - honest[None], axis=-1))
    assert np.linalg.norm(aggregator(far) - honest.mean(axis=0)) <= 2 * spread
    assert np.linalg.norm(far.mean(axis=0) - honest.mean(axis=0)) > 1e11  # as the mean does not


def test_attacks_are_those_of_their_papers():
    honest = ROWS[:6]
    np.testing.assert_allclose(SignFlip(2.0)(honest, 2, KEY), -2 * honest.mean(axis=0))
    z = norm.ppf((6 - 3) / 6)  # 8 clients: 5 make a majority, 3 beside the 2 liars
    np.testing.assert_allclose(ALIE()(honest, 2, KEY), honest.mean(axis=0) - z * honest.std(axis=0), rtol=1e-12)
    z = norm.ppf((6 - 1) / 6)  # 11 clients: 6 make a majority, 1 beside the 5 liars
    np.testing.assert_allclose(ALIE()(honest, 5, KEY), honest.mean(axis=0) - z * honest.std(axis=0), rtol=1e-12)
    np.testing.assert_array_equal(Mimic(3)(honest, 2, KEY), honest[3])
    noise = np.array([Noise(3.0)(honest, 2, bl.random.key(k)) for k in range(400)])
    assert abs(noise.mean()) < 0.3
    assert abs(noise.std() - 3) < 0.2


def lie(attack, honest, liars, t):
    key = bl.random.fold_in(bl.random.key(0), t)
    return np.concatenate([honest, np.tile(attack(honest, liars, key), (liars, 1))])


@pytest.mark.parametrize("attack", [SignFlip(3.0), ALIE(), Mimic(1), Noise(2.0)], ids=str)
def test_rounds_are_those_of_the_papers(attack):
    runs = [bl.minimize(problem(), X0, rule) for rule in
            (RobustGD(0.1, 1, 0.8, attack, aggregator=TrimmedMean(1)), MoNNA(0.1, 1, 0.8, attack))]  # fmt: skip
    x, m = X0, np.zeros((M - 1, D))
    points, own = np.tile(X0, (M - 1, 1)), np.zeros((M - 1, D))
    for t in range(15):
        m = 0.8 * m + 0.2 * grads(x)[:-1]
        x = x - 0.1 * np.sort(lie(attack, m, 1, t), axis=0)[1:-1].mean(axis=0)
        own = 0.8 * own + 0.2 * grads(np.concatenate([points, points[:1]]))[:-1]
        sent = points - 0.1 * own
        points = np.array([nearest(y, lie(attack, sent, 1, t), 1) for y in sent])
        for run, wanted in zip(runs, (x, points.mean(axis=0)), strict=True):
            run.step()
            np.testing.assert_allclose(run.x, wanted, rtol=1e-9, atol=1e-12)


def test_without_liars_and_momentum_it_is_gradient_descent():
    wanted = bl.minimize(problem(), X0, GD(0.1), steps=20).x
    for rule in (RobustGD(0.1, 0, 0.0, aggregator=TrimmedMean(0)), MoNNA(0.1, 0, 0.0)):
        np.testing.assert_allclose(bl.minimize(problem(), X0, rule, steps=20).x, wanted, rtol=1e-10)


def test_a_mean_is_led_away_and_robust_rules_are_not():
    """Fifteen clients near each other, three of them liars: methods that average end far from the honest minimum."""
    centers = rng.normal(size=(15, 1, 5)) * 0.1 + 1
    clients = bl.problems.federated(lambda x, a: 0.5 * np.sum((x - a) ** 2), centers)
    star = centers[:12, 0].mean(axis=0)

    def ends(rule):
        return np.linalg.norm(bl.minimize(clients, np.zeros(5), rule, steps=200).x - star)

    assert ends(RobustGD(0.1, 3, 0.9, SignFlip(5.0), aggregator=TrimmedMean(0))) > 2
    spread = np.linalg.norm(centers[:12, 0] - star, axis=1).max()
    for aggregator in (Median(), TrimmedMean(3), Krum(3), NearestMean(3)):
        assert ends(RobustGD(0.1, 3, 0.9, SignFlip(5.0), aggregator=aggregator)) < spread
    assert ends(MoNNA(0.1, 3, 0.9, SignFlip(5.0))) < spread / 10


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Krum(7)(ROWS), "liars of Krum is 7, but there are 9 clients. Pass at most 6"),
        (lambda: TrimmedMean(5)(ROWS), "liars of TrimmedMean is 5"),
        (lambda: Krum(1)(ROWS[:2]), "liars of Krum is 1, but there are 2 clients. Krum needs more clients"),
        (lambda: TrimmedMean(-1), "liars of TrimmedMean=-1"),
        (lambda: Mimic(6)(ROWS[:6], 1, None), "client of Mimic is 6"),
        (lambda: Noise(-1.0), "std of Noise"),
        (lambda: Noise(np.inf), "std of Noise is inf"),
        (lambda: SignFlip("a"), "scale of SignFlip is 'a'"),
        (lambda: SignFlip(np.nan), "scale of SignFlip is nan"),
        (lambda: ALIE()(ROWS[:2], 4, None), "fewer liars than honest"),
        (lambda: bl.minimize(problem(), X0, MoNNA(0.1, 3)), "liars of MoNNA is 3 of 5 clients"),
        (lambda: RobustGD(0.1, 1, aggregator=np.mean), "aggregator of RobustGD is <function mean"),
        (lambda: MoNNA(0.1, 1, attack=SignFlip), "attack of MoNNA is <class"),
    ],
)
def test_aggregators_with_wrong_arguments_raise(make, message):
    with pytest.raises(ArgumentError, match=message):
        make()
