"""Rules that see matrices as matrices: step for step as in plain NumPy, torch and optax, and what they keep."""

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ArgumentError
from burlab.graph import tree
from burlab.optim import APOLLO, SOAP, Adafactor, Adam, GaLore, Muon, NaturalGaLore, Shampoo
from tests.engines import jax_or_skip
from tests.optim import matrix_rules
from tests.optim.paths import wide_torch

STEPS = 25
_rng = np.random.default_rng(3)
X, Y = _rng.normal(size=(30, 4)), _rng.normal(size=(30, 5))
START = {"b": np.zeros(5), "tall": 0.5 * _rng.normal(size=(4, 3)), "wide": 0.5 * _rng.normal(size=(3, 5))}
ADAM = {"b1": 0.8, "b2": 0.95, "eps": 1e-3}


def loss(p, np=np, data=(X, Y)):
    return np.mean((np.tanh(data[0] @ p["tall"]) @ p["wide"] + p["b"] - data[1]) ** 2)


def run_path(rule, f=loss, start=START):
    run = bl.minimize(f, start, rule)
    points = []
    for _ in range(STEPS):
        run.step()
        points.append(run.x)
    return points, run


def plain_path(rule, f=loss, start=START):
    """By the rule of tests/optim/matrix_rules.py."""
    x, points, slope = dict(start), [], bl.grad(f)
    for t in range(STEPS):
        g = slope(x)
        x = {name: x[name] - rule(k, g[name], x[name], t) for k, name in enumerate(x)}
        points.append(x)
    return points


def assert_same(got, wanted, tolerance=1e-10):
    assert len(got) == len(wanted)
    for name in wanted[0]:
        ours, theirs = (np.array([point[name] for point in points]) for points in (got, wanted))
        np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance)
    assert np.abs(got[-1]["tall"] - START["tall"]).max() > 1e-3


RULES = [
    (Muon(0.03, mu=0.8, weight_decay=0.1, iterations=4, **ADAM), matrix_rules.muon),
    (Muon(0.03, mu=0.9, weight_decay=0.2, iterations=6, **ADAM), matrix_rules.muon),
    (Shampoo(0.2, eps=0.1, every=1), matrix_rules.shampoo),
    (Shampoo(0.1, eps=0.3, every=4), matrix_rules.shampoo),
    *(
        (GaLore(0.05, scale=0.5, rank=rank, every=6, side=side, **ADAM), matrix_rules.galore)
        for side in ("short", "long")
        for rank in (1, 2)
    ),
    *(
        (
            NaturalGaLore(0.05, scale=0.5, rank=2, every=6, side=side, damping=0.3, history=history, **ADAM),
            matrix_rules.galore,
        )
        for side, history in (("short", 3), ("long", 1), ("short", 0))
    ),
]


@pytest.mark.parametrize(("rule", "make"), RULES, ids=lambda value: getattr(value, "__name__", repr(value)))
def test_matrix_rules_take_the_steps_of_their_papers(rule, make):
    options = {name: getattr(rule, name) for name in rule.__dataclass_fields__}
    got, _run = run_path(rule)
    assert_same(got, plain_path(make(**options)), 1e-12)


@pytest.mark.parametrize("rule", [SOAP(0.02, b3=0.9, every=4, **ADAM), SOAP(0.01, b3=0.7, every=5, **ADAM)], ids=repr)
def test_every_step_of_soap_is_that_of_the_paper(rule):
    """Of matrices with one row or column more than the other: further null vectors of g' g would be arbitrary ones."""
    start = {"b": np.zeros(4), "tall": START["tall"], "wide": START["wide"][:, :4]}
    options = {name: getattr(rule, name) for name in rule.__dataclass_fields__}

    def narrow(p):
        return loss(p, data=(X, Y[:, :4]))

    got, _run = run_path(rule, narrow, start)
    assert_same(got, plain_path(matrix_rules.soap(**options), narrow, start), 1e-12)


@pytest.mark.parametrize("mini", [False, True])
@pytest.mark.parametrize("rank", [1, 2])
def test_apollo_is_that_of_the_authors(mini, rank):
    rule = APOLLO(0.05, scale=4.0, rank=rank, every=6, mini=mini, **ADAM)

    def draw(k, t):
        key = bl.random.fold_in(bl.random.fold_in(bl.random.key(0), t), k)
        return bl.random.normal(key, (rank, 3)) / np.sqrt(rank)

    got, run = run_path(rule)
    assert_same(got, plain_path(matrix_rules.apollo(0.05, 4.0, 6, mini, draw, **ADAM)))
    assert [s["m"].shape for s in run.state] == [(5,), (4, rank), (rank, 5)]


def test_steps_of_apollo_grow_slowly():
    """Somewhere on the path above the limiter acts, somewhere it does not."""
    rule = APOLLO(0.05, scale=4.0, rank=2, every=6, **ADAM)
    run = bl.minimize(loss, START, rule)
    lengths = []
    for _ in range(STEPS):
        run.step()
        lengths.append(float(run.state[1]["length"]))
    growth = np.array(lengths[1:]) / lengths[:-1]
    assert np.any(np.abs(growth - 1.01) < 1e-6)
    assert np.any(growth < 1.005)
    assert growth.max() < 1.0101


ADAFACTORS = [
    Adafactor(0.1),
    Adafactor(0.05, decay=-0.6, floor=0.3, clip=1.5, weight_decay=0.2, eps=0.01),
]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("rule", ADAFACTORS, ids=repr)
def test_adafactor_is_torchs(rule, dtype):
    start = {name: leaf.astype(dtype) for name, leaf in START.items()}
    run, path = bl.minimize(lambda p: loss(p, data=(X.astype(dtype), Y.astype(dtype))), start, rule), []
    with wide_torch() as torch:
        x = {name: torch.tensor(leaf, requires_grad=True) for name, leaf in start.items()}
        options = {"beta2_decay": rule.decay, "eps": (rule.eps, rule.floor), "d": rule.clip}
        optimizer = torch.optim.Adafactor(x.values(), lr=rule.lr, weight_decay=rule.weight_decay, **options)
        data = [torch.tensor(a.astype(dtype)) for a in (X, Y)]
        for _ in range(STEPS):
            optimizer.zero_grad()
            loss(x, torch, data).backward()
            optimizer.step()
            run.step()
            path.append((run.x, {name: leaf.detach().numpy().copy() for name, leaf in x.items()}))
    assert_same([a for a, _ in path], [b for _, b in path], 1e-12 if dtype == np.float64 else 2e-5)


def optax_tree_path(make, f=loss, start=START):
    jax = jax_or_skip()
    optax = pytest.importorskip("optax", reason="optax is not installed: make peers")
    rule = make(optax)
    x = {name: jax.numpy.asarray(leaf) for name, leaf in start.items()}
    state, points = rule.init(x), []

    @jax.jit
    def step(x, state):
        updates, state = rule.update(jax.grad(lambda p: f(p, jax.numpy))(x), state, x)
        return optax.apply_updates(x, updates), state

    for _ in range(STEPS):
        x, state = step(x, state)
        points.append({name: np.asarray(leaf) for name, leaf in x.items()})
    return points


def test_muon_is_optax():
    """Of vectors optax makes another step than Adam's, so there are none."""

    def without(p, np=np):
        return loss({**p, "b": 0.0}, np)

    matrices = {name: START[name] for name in ("tall", "wide")}
    wanted = optax_tree_path(lambda o: o.contrib.muon(0.03, beta=0.8, weight_decay=0.1, ns_steps=4), without, matrices)
    got, _run = run_path(Muon(0.03, mu=0.8, weight_decay=0.1, iterations=4), without, matrices)
    assert_same(got, wanted)


def test_galore_of_the_long_side_is_optax():
    """Whose singular vectors are of single precision, and may have other signs when they are made anew."""
    wanted = optax_tree_path(lambda o: o.contrib.galore(0.05, rank=2, update_proj_gap=STEPS, scale=1.0))
    got, _run = run_path(GaLore(0.05, scale=1.0, rank=2, every=STEPS, side="long"))
    assert_same(got, wanted, 1e-4)


def test_state_of_galore_depends_on_the_side():
    """Authors: 2 rank max(m, n) + rank min(m, n); optax: 2 rank min(m, n) + rank max(m, n)."""
    w = {"w": np.ones((64, 16))}
    kept = {}
    for side in ("short", "long"):
        run = bl.minimize(lambda p: np.sum(p["w"] ** 2), w, GaLore(rank=2, side=side))
        kept[side] = sum(leaf.size for leaf in tree.flatten(run.state)[0])
    assert kept == {"short": 2 * 2 * 64 + 2 * 16, "long": 2 * 2 * 16 + 2 * 64}


def test_low_ranks_keep_less_than_adam():
    def numbers(rule):
        run = bl.minimize(lambda p: np.sum(p["w"] ** 2), {"w": np.ones((64, 256))}, rule)
        return sum(leaf.size for leaf in tree.flatten(run.state)[0]) / (64 * 256)

    assert numbers(Adam()) == 2
    assert numbers(APOLLO(rank=1, mini=True)) == pytest.approx(2 / 64, abs=1e-3)
    assert numbers(Adafactor()) == (64 + 256) / (64 * 256)


def test_a_natural_gradient_without_history_is_galore():
    got, _ = run_path(NaturalGaLore(0.05, rank=2, damping=1.0, history=0))
    wanted, _ = run_path(GaLore(0.05, rank=2))
    assert_same(got, wanted, 1e-13)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: GaLore(side="left"), "side of GaLore"),
        (lambda: GaLore(rank=0), "rank=0"),
        (lambda: APOLLO(rank=1.5), "rank=1.5"),
        (lambda: Muon(iterations=0), "iterations=0"),
        (lambda: SOAP(every=0), "every of SOAP"),
        (lambda: NaturalGaLore(history=-1), "history=-1"),
        (lambda: NaturalGaLore(damping=0.0), "damping of NaturalGaLore"),
    ],
)
def test_matrix_rules_with_numbers_out_of_range_raise(make, message):
    with pytest.raises(ArgumentError, match=message):
        make()
