"""Wrappers: alone and around each other, against torch's and optax's; their names, their order, their state."""

import inspect
from dataclasses import dataclass

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ArgumentError
from burlab.optim import (
    GD,
    Adadelta,
    Adagrad,
    Adam,
    Adamax,
    AMSGrad,
    Hyper,
    Momentum,
    NAdam,
    RAdam,
    RMSProp,
    Rprop,
    Wrapper,
    box,
    clip_by_norm,
    clip_by_value,
    cosine,
    decoupled_weight_decay,
    gradient_noise,
    l1,
    mechanic,
    projected,
    proximal,
    rounded,
    simplex,
    through,
    weight_decay,
)
from tests.optim.cases import by_torch
from tests.optim.paths import PROBLEMS, assert_same_path, burlab_path, data, optax_path, torch_path
from tests.optim.wrapper_cases import ADAPTIVE

DTYPES = [np.float64, np.float32]
INNER = {
    "SGD": (GD(2e-3), {"lr": 2e-3}),
    "Adam": (Adam(0.01), {"lr": 0.01}),
    "Adagrad": (Adagrad(0.05), {"lr": 0.05}),
    "Adadelta": (Adadelta(0.5, eps=1e-3), {"lr": 0.5, "eps": 1e-3}),
    "Adamax": (Adamax(0.01), {"lr": 0.01}),
    "NAdam": (NAdam(0.01), {"lr": 0.01}),
    "RAdam": (RAdam(0.01), {"lr": 0.01}),
    "RMSprop": (RMSProp(1e-3, mu=0.5), {"lr": 1e-3, "momentum": 0.5}),
}
STEADY = 30
UPPER = np.array([0.1, 0.4, 1.0, np.inf, -0.1])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["SGD", "Adam", "RMSprop"])
def test_clipping_is_torchs(name, dtype):
    """Somewhere on the path the gradient is longer than the bound, somewhere it is not."""
    optimizer, options = INNER[name]
    norms = []

    def by_norm(torch, x, _t):
        norms.append(float(torch.nn.utils.clip_grad_norm_([x], 20.0)))

    def by_value(torch, x, _t):
        torch.nn.utils.clip_grad_value_([x], 5.0)

    for wrapped, before in ((clip_by_norm(optimizer, 20.0), by_norm), (clip_by_value(optimizer, 5.0), by_value)):
        wanted = torch_path(by_torch(name, **options), "rosenbrock", dtype, before)
        assert_same_path(burlab_path(wrapped, "rosenbrock", dtype), wanted, dtype)
    assert min(norms) < 20.0 < max(norms)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", INNER)
def test_coupled_weight_decay_is_torchs(name, dtype):
    optimizer, options = INNER[name]
    wanted = torch_path(by_torch(name, **options, weight_decay=0.2), "logistic", dtype)
    assert_same_path(burlab_path(weight_decay(optimizer, 0.2), "logistic", dtype), wanted, dtype)


@pytest.mark.parametrize(
    ("optimizer", "name", "options"),
    [
        (Adam(0.01, eps=1e-3), "AdamW", {"lr": 0.01, "eps": 1e-3}),
        (AMSGrad(0.01, eps=1e-3), "AdamW", {"lr": 0.01, "eps": 1e-3, "amsgrad": True}),
        (NAdam(0.01), "NAdam", {"lr": 0.01, "decoupled_weight_decay": True}),
        (RAdam(0.01), "RAdam", {"lr": 0.01, "decoupled_weight_decay": True}),
    ],
    ids=repr,
)
def test_decoupled_weight_decay_is_torchs(optimizer, name, options):
    wanted = torch_path(by_torch(name, **options, weight_decay=0.2), "logistic", np.float64)
    wrapped = burlab_path(decoupled_weight_decay(optimizer, 0.2), "logistic", np.float64)
    assert_same_path(wrapped, wanted, np.float64)
    coupled = burlab_path(weight_decay(optimizer, 0.2), "logistic", np.float64)
    assert np.abs(coupled - wanted).max() > 1e-2


def test_the_outermost_wrapper_acts_first():
    """Torch clips what the loss gives and then decays; the other order is optax's chain, read from the left."""

    def before(torch, x, _t):
        torch.nn.utils.clip_grad_norm_([x], 0.1)

    wanted = torch_path(by_torch("Adam", lr=0.01, weight_decay=0.2), "logistic", np.float64, before)
    got = burlab_path(clip_by_norm(weight_decay(Adam(0.01), 0.2), 0.1), "logistic", np.float64)
    assert_same_path(got, wanted, np.float64)

    def chain(o):
        return o.chain(o.add_decayed_weights(0.2), o.clip_by_global_norm(0.1), o.clip(0.05), o.adam(0.01))

    wanted = optax_path(chain, "logistic", np.float64)
    wrapped = weight_decay(clip_by_norm(clip_by_value(Adam(0.01), 0.05), 0.1, slack=0.0), 0.2)
    assert_same_path(burlab_path(wrapped, "logistic", np.float64), wanted, np.float64)
    assert np.abs(got - wanted).max() > 1e-3


@pytest.mark.parametrize("problem", ["quadratic", "logistic"])
@pytest.mark.parametrize(
    ("rule", "make"),
    [
        (mechanic(Adam(0.5)), lambda o: o.contrib.mechanize(o.adam(0.5))),
        (mechanic(GD(0.1), 0.1, 1e-3, 1e-3, 3), lambda o: o.contrib.mechanize(o.sgd(0.1), 0.1, 1e-3, 1e-3, 3)),
    ],
    ids=["Adam", "GD"],
)
def test_mechanic_is_optax(rule, make, problem):
    """For as long as rounding has not led the two apart: the scale grows a millionfold at the start."""
    wanted = optax_path(make, problem, np.float64)[:STEADY]
    assert_same_path(burlab_path(rule, problem, np.float64, steps=STEADY), wanted, np.float64)
    assert np.abs(wanted[-1] - wanted[0]).max() > 1e-3


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("onto", "name", "arguments"), [
    (bl.optim.nonnegative(), "projection_non_negative", ()),
    (box(-0.2, UPPER), "projection_box", (-0.2, UPPER)),
    (bl.optim.ball(0.8), "projection_l2_ball", (0.8,)),
    (simplex(), "projection_simplex", ()),
    (simplex(0.7), "projection_simplex", (0.7,)),
])  # fmt: skip
def test_projected_steps_are_optax(onto, name, arguments, dtype):
    """With momentum, so that the state goes its own way."""
    pytest.importorskip("optax")

    def make(o):
        rule, project = o.sgd(0.05, momentum=0.5), getattr(o.projections, name)

        def update(g, state, x):
            updates, state = rule.update(g, state, x)
            return project(x + updates, *(np.asarray(a, dtype) for a in arguments)) - x, state

        return o.GradientTransformation(rule.init, update)

    wanted = optax_path(make, "logistic", dtype)
    assert_same_path(burlab_path(projected(Momentum(0.05, mu=0.5), onto), "logistic", dtype), wanted, dtype)


def nothing(kind):
    """Arguments with which a wrapper does nothing."""
    return {
        clip_by_norm: (np.inf,),
        clip_by_value: (np.inf,),
        weight_decay: (0.0,),
        decoupled_weight_decay: (0.0,),
        gradient_noise: (0.0,),
        projected: (box(-np.inf, np.inf),),
        proximal: (l1(0.0),),
        rounded: (),
        through: (lambda x: x,),
        bl.optim.SAM: (0.0,),
        bl.optim.TopKAST: (1.0, 1.0, 0.0),
    }[kind]


def public_wrappers():
    """Wrappers that can be set to do nothing; others have their rows in ADAPTIVE, `rewire` in test_rewiring.py.

    `bilevel` and `unrolled`, which ask about another part of x, are tested where there are parts.
    """
    found = [getattr(bl.optim, name) for name in bl.optim.__all__]
    kinds = [k for k in found if isinstance(k, type) and issubclass(k, Wrapper) and not inspect.isabstract(k)]
    elsewhere = {type(rule) for rule in ADAPTIVE} | {bl.optim.bilevel, bl.optim.unrolled}
    return [kind for kind in kinds if kind not in elsewhere and not kind.all_leaves]


@pytest.mark.parametrize("optimizer", [GD(0.01), Momentum(0.01), Adam(0.01), NAdam(0.01), Rprop(0.01)], ids=repr)
@pytest.mark.parametrize("kind", public_wrappers())
def test_every_wrapper_goes_around_every_optimizer(kind, optimizer):
    """Set to do nothing, it changes nothing: the state passes through, and so do the live fields."""
    f, x0 = PROBLEMS["rosenbrock"]
    plain = bl.minimize(lambda x: f(np, x), x0, optimizer, steps=30)
    wrapped = bl.minimize(lambda x: f(np, x), x0, kind(optimizer, *nothing(kind)), steps=30)
    np.testing.assert_allclose(wrapped.x, plain.x, rtol=1e-13)
    assert wrapped.hyper.keys()[: len(plain.hyper)] == plain.hyper.keys()
    for name in plain.hyper:
        assert wrapped.hyper[name] == plain.hyper[name]


@pytest.mark.parametrize("kind", public_wrappers())
def test_every_wrapper_goes_around_every_wrapper(kind):
    around = [kind(other(Adam(0.01), *nothing(other)), *nothing(kind)) for other in public_wrappers()]
    f, x0 = PROBLEMS["rosenbrock"]
    plain = bl.minimize(lambda x: f(np, x), x0, Adam(0.01), steps=10)
    for optimizer in around:
        run = bl.minimize(lambda x: f(np, x), x0, optimizer, steps=10)
        np.testing.assert_allclose(run.x, plain.x, rtol=1e-13)


def test_names_of_live_fields():
    wrapped = clip_by_norm(weight_decay(clip_by_norm(bl.optim.AdamW(), 1.0), 0.1), 2.0)
    run = bl.minimize(np.sum, np.ones(2), wrapped)
    assert run.hyper.keys() == (
        "lr", "b1", "b2", "eps", "weight_decay", "max_norm", "weight_decay_weight_decay", "clip_by_norm_max_norm",
    )  # fmt: skip
    assert run.hyper["max_norm"] == 1.0
    assert run.hyper["clip_by_norm_max_norm"] == 2.0
    deep = clip_by_norm(clip_by_norm(clip_by_norm(GD(), 1.0), 2.0), 3.0)
    assert len(set(bl.minimize(np.sum, np.ones(2), deep).hyper.keys())) == 4


def test_live_fields_inside_act():
    """Changed between two steps: of the optimizer, of the wrapper, of the set."""
    run = bl.minimize(np.sum, np.zeros(3), projected(clip_by_value(GD(1.0), 0.5), bl.optim.ball(9.0)))
    path = []
    for name, value in (("lr", 2.0), ("max_value", 0.25), ("radius", 3**0.5 / 4), (None, None)):
        run.step()
        path.append(run.x[0])
        if name:
            run.hyper[name] = value
    np.testing.assert_allclose(path, [-0.5, -1.5, -2.0, -0.25])


def test_schedules_inside_act():
    run = bl.minimize(np.sum, np.zeros(1), clip_by_value(GD(cosine(1.0, steps=4)), lambda t: 1 / (1 + t)), steps=6)
    lr, bound = run.history["lr"], run.history["max_value"]
    np.testing.assert_allclose(lr, cosine(1.0, steps=4)(np.arange(6)), atol=1e-16)
    np.testing.assert_allclose(bound, 1 / np.arange(1, 7))
    np.testing.assert_allclose(run.x, -np.sum(lr * bound))


def test_decay_follows_a_scheduled_step_size():
    run = bl.minimize(
        lambda x: 0 * np.sum(x), np.ones(1), decoupled_weight_decay(GD(lambda t: 1 / (2 + t)), 0.5), steps=3
    )
    np.testing.assert_allclose(run.x, (1 - 1 / 4) * (1 - 1 / 6) * (1 - 1 / 8))


def test_noise_has_the_stated_spread_and_repeats():
    optimizer = gradient_noise(GD(1.0), eta=0.3, gamma=0.55)

    def steps(seed, rule=optimizer):
        run = bl.minimize(lambda x: 0 * np.sum(x), np.zeros(20_000), rule, seed=seed)
        path = [run.x]
        for _ in range(4):
            run.step()
            path.append(run.x)
        return np.diff(path, axis=0)

    noise = steps(0)
    deviations = (0.3 / (1 + np.arange(4.0)) ** 0.55) ** 0.5
    np.testing.assert_allclose(noise.std(axis=1), deviations, rtol=0.02)
    np.testing.assert_allclose(noise.mean(axis=1), 0, atol=0.02)
    assert np.abs(np.corrcoef(noise) - np.eye(4)).max() < 0.03
    np.testing.assert_array_equal(noise, steps(0))
    assert np.abs(np.corrcoef(noise[0], steps(1)[0])[0, 1]) < 0.03
    twice = steps(0, gradient_noise(optimizer, eta=0.3, gamma=0.55))
    np.testing.assert_allclose(twice.std(axis=1), deviations * 2**0.5, rtol=0.02)


def test_a_wrapper_of_ones_own():
    @dataclass(frozen=True)
    class lookahead(Wrapper):  # Zhang et al. 2019
        """State of its own beside that of the optimizer inside."""

        pull: Hyper = 0.5
        every: int = 5

        def init(self, x):
            return {"slow": x, "inner": self.inner.init(x), "count": 0}

        def update(self, g, state, x, t, *, f):
            fast, inner = self.advance(g, state["inner"], x, t, f)
            count = state["count"] + 1
            back = count == self.every
            slow = np.where(back, state["slow"] + self.pull * (fast - state["slow"]), state["slow"])
            return np.where(back, slow, fast), {"slow": slow, "inner": inner, "count": np.where(back, 0, count)}

    def make(o):
        return o.lookahead(o.adam(0.02), sync_period=5, slow_step_size=0.5)

    f, x0 = PROBLEMS["quadratic"]
    optax = pytest.importorskip("optax")
    jax = pytest.importorskip("jax")
    run = bl.minimize(lambda x: f(np, x, *data(np.float64)), x0, clip_by_norm(lookahead(Adam(0.02)), 1e9), steps=20)
    rule = make(optax)
    x = optax.LookaheadParams.init_synced(jax.numpy.asarray(x0))
    state = rule.init(x)
    for _ in range(20):
        g = jax.grad(lambda x: f(jax.numpy, x, *data(np.float64)))(x.fast)
        updates, state = rule.update(g, state, x)
        x = optax.apply_updates(x, updates)
    np.testing.assert_allclose(run.x, x.fast, rtol=1e-12)
    assert run.hyper["pull"] == 0.5


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: clip_by_norm(Adam, 1.0), "Call it"),
        (lambda: clip_by_norm(1.0, Adam()), "put around an optimizer, got 1.0"),
        (lambda: box(1.0, 0.0), "low <= high"),
        (lambda: bl.minimize(np.sum, np.ones(2), decoupled_weight_decay(NoStep(), 0.1)), "scaled by the step size lr"),
        (lambda: bl.minimize(np.sum, np.ones(2), proximal(clip_by_value(NoStep(), 1.0), l1(0.1))), "NoStep does not"),
    ],
)
def test_wrapping_a_non_optimizer_raises(make, message):
    with pytest.raises(ArgumentError, match=message):
        make()


@dataclass(frozen=True)
class NoStep(bl.optim.Optimizer):
    def update(self, g, state, x, t):
        return x - g, state


def test_wrappers_read_well():
    assert repr(clip_by_norm(GD(0.1), 1.0)) == "clip_by_norm(inner=GD(lr=0.1), max_norm=1.0, slack=1e-06)"
    assert clip_by_norm(GD(0.1), 1.0) == clip_by_norm(GD(0.1), 1.0) != clip_by_norm(GD(0.2), 1.0)
