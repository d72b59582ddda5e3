"""Gradients from values and along directions: step for step in NumPy, on average right, and as noisy as theory says."""

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ArgumentError
from burlab.graph.tracing.trace_cache import forget_traces
from burlab.optim import (
    GD,
    QZO,
    Adam,
    CoordinateZO,
    MeZO,
    ZOBlockwise,
    ZOConservative,
    ZOSignSGD,
    forward_gradient,
    hybrid_zeroth_order,
    sparse_zeroth_order,
    zeroth_order,
)
from burlab.optim.estimators import zeroth_order as zeroth_order_module
from burlab.optim.estimators.zeroth_order import perturb
from tests.optim.theory import FEATURES, LABELS, X0, D, grad, problem, value

STEPS, EPS = 40, 1e-3


def direction(t, fold=None):
    key = bl.random.fold_in(bl.random.key(0), t)
    return bl.random.normal(key if fold is None else bl.random.fold_in(key, fold), (D,))


def coordinate_direction(t):
    return np.eye(D)[int(bl.random.randint(bl.random.fold_in(bl.random.key(0), t), (), 0, D))]


def along(x, z):
    return (value(x + EPS * z) - value(x - EPS * z)) / (2 * EPS)


def end_of(rule):
    return bl.minimize(problem(), X0, rule, steps=STEPS).x


def by_hand(step):
    x = X0
    for t in range(STEPS):
        x = x - step(x, t)
    return x


def conservative(x, t):
    step = 0.02 * along(x, direction(t)) * direction(t)
    return min((0 * x, step, -step), key=lambda s: value(x - s))


def quantized(x, t):
    """Steps of clipped slopes; no scale falls below 0."""
    z = direction(t)
    return x - np.maximum(x - 0.02 * np.clip(along(x, z), -0.05, 0.05) * z, 0.0)


def coordinate(x, t):
    axis = coordinate_direction(t)
    return 0.5 * along(x, axis) * axis


def blockwise(x, t):
    """Three blocks, of 7, 7 and 6 entries, each from where those before it have come to."""
    y = x
    for block in (slice(0, 7), slice(7, 14), slice(14, 20)):
        z = np.zeros(D)
        z[block] = direction(t)[block]
        y = y - 0.02 * along(y, z) * z
    return x - y


def sparse(x, t):
    key = bl.random.fold_in(bl.random.key(0), t)
    z = direction(t) * (bl.random.uniform(bl.random.fold_in(key, 1), (D,)) < 0.3)
    return 0.02 * along(x, z) * z


def hybrid(x, t):
    z = direction(t) * (np.arange(D) < 15)
    return 0.02 * np.concatenate([along(x, z) * z[:15], grad(x)[15:]])


@pytest.mark.parametrize(
    ("rule", "step"),
    [
        (MeZO(0.02), lambda x, t: 0.02 * along(x, direction(t)) * direction(t)),
        (zeroth_order(GD(0.02)), lambda x, t: 0.02 * along(x, direction(t)) * direction(t)),
        (
            zeroth_order(GD(0.02), q=3),
            lambda x, t: 0.02 * np.mean([along(x, direction(t, k)) * direction(t, k) for k in range(3)], axis=0),
        ),
        (ZOSignSGD(0.01), lambda x, t: 0.01 * np.sign(along(x, direction(t)) * direction(t))),
        (ZOConservative(0.02), conservative),
        (QZO(0.02, clip=0.05, floor=0.0), quantized),
        (CoordinateZO(0.5), coordinate),
        (ZOBlockwise(0.02, blocks=3), blockwise),
        (sparse_zeroth_order(GD(0.02), density=0.3), sparse),
        (hybrid_zeroth_order(GD(0.02)), hybrid),
        (forward_gradient(GD(0.02)), lambda x, t: 0.02 * (grad(x) @ direction(t)) * direction(t)),
    ],
    ids=lambda value: type(value).__name__,
)
def test_zeroth_order_rules_take_the_steps_of_their_papers(rule, step):
    got = end_of(rule)
    np.testing.assert_allclose(got, by_hand(step), atol=1e-9)
    assert np.abs(got).max() > 1e-2


@pytest.mark.parametrize(("block", "lengths"), [(4, [5, 5, 5, 5]), (8, [10, 10]), (3, [5, 5, 5, 5]), (11, [20])])
def test_a_long_direction_is_made_block_by_block(block, lengths, monkeypatch, tmp_path, request):
    """Lengths of blocks divide that of x where they can; here D is 20, and 20 + 3 is prime."""
    monkeypatch.setattr(zeroth_order_module, "BLOCK", block)
    monkeypatch.setattr(zeroth_order_module, "MIN_BLOCKS", 1)
    forget_traces()
    request.addfinalizer(forget_traces)
    assert sum(lengths) == D

    def blocks(key, lengths):
        parts = [bl.random.normal(bl.random.fold_in(key, k), (n,)) for k, n in enumerate(lengths)]
        return np.concatenate(parts)

    def step(x, t):
        z = blocks(bl.random.fold_in(bl.random.key(0), t), lengths)
        return 0.02 * along(x, z) * z

    run = bl.minimize(problem(), X0, MeZO(0.02), steps=STEPS)
    np.testing.assert_allclose(run.x, by_hand(step), atol=1e-9)
    run.seek(STEPS // 2)
    run.save(tmp_path / "run")
    again = bl.load_run(tmp_path / "run", (FEATURES, LABELS))
    run.seek(STEPS)
    again.step(STEPS - STEPS // 2)
    assert np.array_equal(again.x, run.x)
    key, x = bl.random.key(2), np.linspace(0, 1, D + 3)
    lengths = [block] * ((D + 3) // block) + [(D + 3) % block]
    compiled = bl.compile(perturb, x, key, 0.5)
    for got in (perturb(x, key, 0.5), compiled(x, key, 0.5)):
        np.testing.assert_allclose(got, x + 0.5 * blocks(key, lengths), rtol=1e-15)


def test_a_zeroth_order_adam_is_adam_on_the_estimate():
    inner, x = Adam(0.01), X0
    state = inner.init(x)
    for t in range(STEPS):
        x, state = inner.update(along(x, direction(t)) * direction(t), state, x, t)
    np.testing.assert_allclose(end_of(zeroth_order(Adam(0.01), eps=EPS)), x, atol=1e-8)


@pytest.mark.parametrize("d", [10, 100])
@pytest.mark.parametrize("wrap", [forward_gradient, zeroth_order])
def test_its_mean_is_the_gradient_and_its_error_grows_with_the_dimension(wrap, d):
    """E|r z - g|^2 = (d + 1) |g|^2: of a linear function both estimates are (g . z) z."""
    g = np.linspace(-1, 1, d)
    run, n = bl.minimize(lambda x: x @ g, np.zeros(d), wrap(GD(1.0))), 4000
    estimates = []
    for _ in range(n):
        x = run.x
        run.step()
        estimates.append(x - run.x)
    errors = np.sum((np.array(estimates) - g) ** 2, axis=1) / (g @ g)
    assert abs(errors.mean() - (d + 1)) < 5 * errors.std() / np.sqrt(n)
    assert np.sum((np.mean(estimates, axis=0) - g) ** 2) / (g @ g) < 2 * (d + 1) / n


def test_variants_degenerate_to_mezo_and_to_the_gradient():
    assert np.array_equal(end_of(ZOBlockwise(0.02, blocks=1)), end_of(MeZO(0.02)))
    estimate = end_of(zeroth_order(GD(0.02)))
    assert np.array_equal(end_of(sparse_zeroth_order(GD(0.02), density=1.0)), estimate)
    assert np.array_equal(end_of(hybrid_zeroth_order(GD(0.02), exact=0.0)), estimate)
    np.testing.assert_allclose(end_of(hybrid_zeroth_order(GD(0.02), exact=1.0)), end_of(GD(0.02)), rtol=1e-12)


def test_values_of_zeroth_order_rules_are_counted():
    """Beside the value of each step."""
    blocks, hybrid = (
        bl.minimize(problem(), X0, r, steps=2) for r in (ZOBlockwise(blocks=3), hybrid_zeroth_order(GD()))
    )
    assert blocks.counts["values"] == 2 * 100 * (1 + 2 * 3)
    assert hybrid.counts["values"] == 2 * 100 * (1 + 2)
    assert hybrid.counts["samples"] == 0
    assert hybrid.counts["partials"] > 0


@pytest.mark.parametrize(
    ("rule", "way"),
    [(MeZO(0.02), direction), (ZOSignSGD(0.01), direction), (CoordinateZO(0.5), coordinate_direction)],
    ids=lambda case: getattr(case, "__name__", type(case).__name__),
)
def test_the_value_of_a_step_is_the_mean_of_its_two(rule, way):
    run = bl.minimize(problem(), X0, rule)
    for t in range(5):
        x, z = run.x, EPS * way(t)
        run.step()
        np.testing.assert_allclose(run.history["value"][-1], (value(x + z) + value(x - z)) / 2, rtol=1e-14)
    assert run.counts["values"] == 5 * 2 * 100
    assert run.counts["samples"] == 0


def test_the_batchs_own_value_stands_where_it_is_computed_all_the_same():
    wrapped = bl.minimize(problem(), X0, bl.optim.mechanic(MeZO(0.02)), steps=1)
    assert wrapped.history["value"][0] == pytest.approx(value(X0), rel=1e-15)
    assert wrapped.counts["samples"] == 100
    assert wrapped.counts["values"] == 2 * 100


def test_mezo_keeps_nothing():
    assert bl.minimize(problem(), X0, MeZO()).state == {}


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: MeZO(eps=0.0), "eps of MeZO"),
        (lambda: zeroth_order(GD(), q=0), "q=0"),
        (lambda: ZOBlockwise(blocks=0), "blocks=0"),
        (lambda: ZOBlockwise(eps=0.0), "eps of ZOBlockwise"),
        (lambda: sparse_zeroth_order(GD(), density=1.5), "density of sparse_zeroth_order"),
        (lambda: hybrid_zeroth_order(GD(), exact=-0.1), "exact of hybrid_zeroth_order"),
    ],
)
def test_zeroth_order_rules_with_numbers_out_of_range_raise(make, message):
    with pytest.raises(ArgumentError, match=message):
        make()
