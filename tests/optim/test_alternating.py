"""Parts of x in turns, `bl.optim.alternating`: a GAN, weights and architecture, by loops in NumPy."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ArgumentError, FileError, ShapeError
from burlab.optim import GD, Adam, Hyper, Momentum, Optimizer, alternating, through
from burlab.problems import Alternating
from tests.run.saved_cases import replayed
from tests.run.test_sampler import batches

RNG = np.random.default_rng(4)
STEPS, LR = 20, 0.1
REAL, NOISE = 1.5 + 0.5 * RNG.normal(size=40), RNG.normal(size=40)
GAN = {"critic": {"a": 0.3, "b": -0.2, "c": 0.1}, "generator": {"scale": 1.0, "shift": 0.0}}


def critic(c: Any, u: Any) -> Any:
    return c["a"] * u + c["b"] * u**2 + c["c"]


def fake(g: Any, z: Any) -> Any:
    return g["scale"] * z + g["shift"]


LOSSES = {
    "critic": lambda x, real, z: (
        np.logaddexp(0, -critic(x["critic"], real)) + np.logaddexp(0, critic(x["critic"], fake(x["generator"], z)))
    ),
    "generator": lambda x, real, z: np.logaddexp(0, -critic(x["critic"], fake(x["generator"], z))),
}
TURNS = alternating({"critic": (Momentum(LR, mu=0.5), 3), "generator": GD(0.05)})


def gan(rule: Any = TURNS, **options: Any) -> bl.Run:
    return bl.minimize(Alternating(LOSSES, (REAL, NOISE)), GAN, rule, batch=8, seed=2, **options)


def sigmoid(u: Any) -> Any:
    return 1 / (1 + np.exp(-u))


def gan_by_hand(steps: int) -> tuple[Any, list[float]]:
    a, b, c, scale, shift = 0.3, -0.2, 0.1, 1.0, 0.0
    v, values = np.zeros(3), []
    for t, rows in enumerate(batches("reshuffle", 40, 8, steps, seed=2)):
        real, z = REAL[rows], NOISE[rows]
        u = scale * z + shift
        d_real, d_fake = a * real + b * real**2 + c, a * u + b * u**2 + c
        if t % 4 < 3:
            values.append(float(np.mean(np.log1p(np.exp(-d_real)) + np.log1p(np.exp(d_fake)))))
            p, q = -sigmoid(-d_real), sigmoid(d_fake)
            g = np.array([np.mean(p * real + q * u), np.mean(p * real**2 + q * u**2), np.mean(p + q)])
            v = 0.5 * v + g
            a, b, c = np.array([a, b, c]) - LR * v
        else:
            values.append(float(np.mean(np.log1p(np.exp(-d_fake)))))
            slope = -sigmoid(-d_fake) * (a + 2 * b * u)
            scale, shift = scale - 0.05 * np.mean(slope * z), shift - 0.05 * np.mean(slope)
    return {"critic": {"a": a, "b": b, "c": c}, "generator": {"scale": scale, "shift": shift}}, values


def assert_close(ours: Any, theirs: Any) -> None:
    for a, b in zip(bl.tree.leaves(ours), bl.tree.leaves(theirs), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-14)


def test_a_gan_on_a_line_is_a_loop_in_numpy() -> None:
    """Values by part, costs of one gradient of one loss, and steps: 3 of the critic, then one of the generator."""
    run = gan(steps=STEPS)
    x, values = gan_by_hand(STEPS)
    assert_close(run.x, x)
    rows, first = run.history, np.arange(STEPS) % 4 < 3
    np.testing.assert_allclose(rows["value"], values, rtol=1e-12)
    np.testing.assert_array_equal(rows["value_critic"], np.where(first, rows["value"], np.nan))
    np.testing.assert_array_equal(rows["value_generator"], np.where(first, np.nan, rows["value"]))
    assert (run.counts["samples"], run.counts["values"], run.queries) == (8 * STEPS, 0, ("part_value_and_grad",))


TRAIN = RNG.normal(size=(30, 4)), RNG.normal(size=30)
VALID = RNG.normal(size=(30, 4)), RNG.normal(size=30)
DARTS = {"alpha": np.array([0.1, -0.1, 0.0]), "w": RNG.normal(size=(3, 4))}


def mixed(x: Any, a: Any, y: Any) -> Any:
    """A softmax over three operations: linear, tanh and zero times weights of its own."""
    u = x["w"] @ a
    return (bl.softmax(x["alpha"]) @ np.stack([u[0], np.tanh(u[1]), np.maximum(u[2], 0.0)]) - y) ** 2


def test_first_order_darts_is_a_loop_in_numpy() -> None:
    """Weights by Adam on the training data, the architecture on other data, with the weights fixed."""
    problem = Alternating({"w": mixed, "alpha": mixed}, {"w": TRAIN, "alpha": VALID})
    rule = alternating({"w": Adam(0.05), "alpha": GD(0.5)})
    run = bl.minimize(problem, DARTS, rule, batch=6, seed=1, steps=STEPS)
    w, alpha = DARTS["w"].copy(), DARTS["alpha"].copy()
    m, v, made = np.zeros_like(w), np.zeros_like(w), 0
    for t, rows in enumerate(batches("reshuffle", 30, 6, STEPS, seed=1)):
        a, y = (part[rows] for part in (TRAIN if t % 2 == 0 else VALID))
        u = a @ w.T
        ops = np.stack([u[:, 0], np.tanh(u[:, 1]), np.maximum(u[:, 2], 0)], axis=1)
        p = np.exp(alpha) / np.exp(alpha).sum()
        r = 2 * (ops @ p - y)
        if t % 2 == 0:
            slopes = np.stack([np.ones(6), 1 - ops[:, 1] ** 2, (u[:, 2] > 0).astype(float)], axis=1)
            g = (r[:, None] * p * slopes).T @ a / 6
            made += 1
            m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g**2
            w -= 0.05 * m / (1 - 0.9**made) / (np.sqrt(v / (1 - 0.999**made)) + 1e-8)
        else:
            alpha -= 0.5 * np.mean(r[:, None] * p * (ops - (ops @ p)[:, None]), axis=0)
    assert_close(run.x, {"alpha": alpha, "w": w})
    assert np.abs(alpha - DARTS["alpha"]).max() > 0.05


def test_seek_fork_and_files_keep_the_bits(tmp_path: Path) -> None:
    run = gan(steps=9)
    fork = replayed(run, (REAL, NOISE), tmp_path, 6, 5)
    for a, b, c in zip(*map(bl.tree.leaves, (fork.x, run.x, gan(steps=11).x)), strict=True):
        assert a.tobytes() == b.tobytes() == c.tobytes()


def test_a_file_takes_the_data_of_parts_as_the_problem_did(tmp_path: Path) -> None:
    data = {"w": TRAIN, "alpha": VALID}
    rule = alternating({"w": GD(0.05), "alpha": GD(0.5)})
    run = bl.minimize(Alternating({"w": mixed, "alpha": mixed}, data), DARTS, rule, steps=4)
    run.save(tmp_path / "run.burlab")
    for given in (data, (*VALID, *TRAIN)):
        loaded = bl.load_run(tmp_path / "run.burlab", given)
        loaded.step(2)
        assert bl.tree.leaves(loaded.x)[0].shape == DARTS["alpha"].shape
    run.step(2)
    assert all(np.array_equal(a, b) for a, b in zip(*map(bl.tree.leaves, (run.x, loaded.x)), strict=True))
    with pytest.raises(FileError, match=r"data\[0\] has the right form"):
        bl.load_run(tmp_path / "run.burlab", {"w": VALID, "alpha": TRAIN})


def test_turns_of_one_part_are_that_optimizer() -> None:
    f = lambda x, a, b: (a @ x["only"] - b) ** 2  # noqa: E731
    run = bl.minimize(Alternating({"only": f}, TRAIN), {"only": np.zeros(4)}, alternating({"only": Adam(0.1)}), steps=9)
    plain = bl.minimize(bl.FiniteSum(f, TRAIN), {"only": np.zeros(4)}, Adam(0.1), steps=9)
    np.testing.assert_allclose(run.x["only"], plain.x["only"], rtol=1e-13)


def test_optimizers_of_leaves_and_wrappers_see_their_part() -> None:
    """Muon needs the matrix of weights, `through` its tree, a line search its loss, an average gives its mean."""
    problem = Alternating({"w": mixed, "alpha": mixed}, {"w": TRAIN, "alpha": VALID})

    def end(parts: Any, steps: int) -> Any:
        return bl.minimize(problem, DARTS, alternating(parts), steps=steps).x

    alone = bl.FiniteSum(lambda w, a, y: mixed({"w": w, "alpha": DARTS["alpha"]}, a, y), TRAIN)
    for rule in (
        bl.optim.Muon(0.02),
        through(GD(0.1), lambda w: 0.5 * w, at="T(x)"),
        bl.optim.ArmijoGD(),
        bl.optim.ScheduleFreeSGD(0.1),
    ):
        ours = end({"w": (rule, 5), "alpha": GD(0.1)}, 5)["w"]
        np.testing.assert_allclose(ours, bl.minimize(alone, DARTS["w"], rule, steps=5).x, rtol=1e-11)


def test_live_fields_have_the_name_of_their_part() -> None:
    run = gan()
    assert run.hyper.keys() == ("critic_lr", "critic_mu", "critic_dampening", "generator_lr")
    run.hyper["generator_lr"] = 0.0
    run.step(8)
    assert run.x["generator"] == GAN["generator"]
    sweep = bl.sweep(run.problem, GAN, TURNS, {"critic_lr": [0.1, 0.2]}, batch=8, seeds=[2], steps=STEPS)
    assert_close(sweep.runs[0].x, gan_by_hand(STEPS)[0])
    twice = alternating({"a": bl.optim.clip_by_norm(bl.optim.clip_by_norm(GD(), 1.0), 2.0)})
    names = [field.name for field in bl.optim.live_fields.live_fields(twice)]
    assert names == ["a_lr", "a_max_norm", "a_clip_by_norm_max_norm"]


def test_a_step_computes_one_loss_alone() -> None:
    """A loss that is heavy costs nothing in steps of the other part."""
    big = np.ones((600, 600)) / 600

    def heavy(x: Any) -> Any:
        m = big
        for _ in range(4):
            m = np.tanh(m @ big + x["heavy"])
        return np.sum(m)

    problem = Alternating({"light": lambda x: (x["light"] - 1.0) ** 2, "heavy": heavy})
    rule = alternating({"light": (GD(0.1), 3), "heavy": GD(0.1)})
    run = bl.minimize(problem, {"heavy": 1.0, "light": 0.0}, rule, steps=40)
    times = np.diff(run.history["time"], prepend=0).reshape(10, 4)
    assert 20 * np.median(times[:, 1]) < np.median(times[:, 3])


@dataclass(frozen=True)
class Logs(Optimizer):
    lr: Hyper = 0.1

    def update(self, g: Any, state: Any, x: Any, t: Any) -> Any:
        return x - self.lr * g, state, {"sum": np.sum(g)}


@dataclass(frozen=True)
class Asks(Optimizer):
    """A rule of values alone, as a search by numbers is."""

    def update(self, g: Any, state: Any, x: Any, t: Any, *, f: Any) -> Any:
        return x + 0.1 * (f.value(x + 0.5) - f.value(x - 0.5)), state, {"value": f.value(x + 1.0), "sum": 1.0}


def test_metrics_and_norms_are_those_of_the_part_in_turn() -> None:
    """By the gradients of a twin at the points of the run; nan in the steps of others, and where there is none."""
    losses = {"a": lambda x: np.sum((x["a"] - x["b"]) ** 2), "b": lambda x: np.sum(x["a"] * x["b"] ** 2)}
    start = {"a": np.array([1.0, 2.0]), "b": np.array([-1.0, 0.5])}

    def begin(b: Any, steps: int = 0, **options: Any) -> bl.Run:
        return bl.minimize(Alternating(losses), start, alternating({"a": (Logs(), 2), "b": b}), steps=steps, **options)

    run, norms, sums = begin(GD(0.1)), [], []
    for t in range(9):
        a, b = run.x["a"], run.x["b"]
        g = 2 * (a - b) if t % 3 < 2 else 2 * a * b
        norms.append(np.linalg.norm(g))
        sums.append(g.sum() if t % 3 < 2 else np.nan)
        run.step(1)
    np.testing.assert_allclose(run.history["gradient_norm"], norms, rtol=1e-12)
    np.testing.assert_allclose(run.history["a_sum"], sums, rtol=1e-12)
    both = begin(Logs(), 6).history
    assert np.isnan(both["b_sum"][[0, 1, 3, 4]]).all()
    assert np.isfinite(both["b_sum"][[2, 5]]).all()
    stopped = begin(GD(0.1), 9, stop=bl.Stop(grad_norm=min(norms[:3]) + 1e-9))
    assert stopped.t == int(np.argmin(norms[:3]))
    run.breakpoints.add(grad_norm=1e9)
    values = begin(Asks(), 3)
    at = begin(Asks(), 2).x
    assert np.isnan(values.history["gradient_norm"][2])
    assert values.history["value"][2] == values.history["value_b"][2]
    np.testing.assert_allclose(values.history["value"][2], np.sum(at["a"] * (at["b"] + 1) ** 2), rtol=1e-12)
    assert (values.counts["samples"], values.counts["values"]) == (2, 3)


def test_a_part_through_a_map_costs_one_gradient() -> None:
    """Its value and norm are those at T(x), as outside of `alternating`; the gradient at x is not computed."""
    problem = Alternating({"only": lambda x, a, b: (a @ x["only"] - b) ** 2}, TRAIN)
    plain = bl.FiniteSum(lambda x, a, b: (a @ x["only"] - b) ** 2, TRAIN)
    rule, x0 = through(GD(0.1), lambda w: bl.tree.map(np.round, w), at="T(x)"), {"only": np.full(4, 0.7)}
    run = bl.minimize(problem, x0, alternating({"only": rule}), batch=5, seed=3, steps=9)
    other = bl.minimize(plain, x0, rule, batch=5, seed=3, steps=9)
    for name in ("value", "gradient_norm"):
        np.testing.assert_allclose(run.history[name], other.history[name], rtol=1e-13)
    assert np.isfinite(run.history["gradient_norm"]).all()
    assert run.counts["samples"] == 9 * 5
    assert run.counts["values"] == 0


CASES: list[tuple[Any, Any, Any, str]] = [
    (lambda: alternating({}), None, ArgumentError, "parts of alternating is {}, expected a dict of optimizers"),
    (lambda: alternating({"a": GD}), None, ArgumentError, "parts of alternating has 'a': <class"),
    (lambda: alternating({"a": (GD(), 0)}), None, ArgumentError, "steps of a=0 is not a whole number"),
    (lambda: alternating({"critic": GD()}), None, ArgumentError, "but parts of alternating are 'critic'. Pass a dict"),
    (lambda: TURNS, np.ones(2), ArgumentError, "x0 is an array or number, but parts of alternating are"),
    (lambda: Alternating({}), None, ArgumentError, "losses of Alternating is {}, expected a dict with a loss"),
    (lambda: Alternating({"a": np.sum}, {"b": REAL}), None, ArgumentError, "data of Alternating is of ['b'], but its"),
    (
        lambda: Alternating({"a": np.add, "b": np.add}, {"a": REAL, "b": REAL[1:]}),
        None,
        ShapeError,
        "data of Alternating has numbers of samples {'a': 40, 'b': 39}, expected one number",
    ),
    (lambda: alternating({"critic": bl.optim.SVRG(), "generator": GD()}), GAN, ArgumentError, "asks f.full_grad, but"),
]


@pytest.mark.parametrize(("make", "x0", "kind", "text"), CASES)
def test_what_does_not_fit_is_refused(make: Any, x0: Any, kind: Any, text: str) -> None:
    with pytest.raises(kind, match=re.escape(text)):
        bl.minimize(Alternating(LOSSES, (REAL, NOISE)), GAN if x0 is None else x0, make(), batch=8)


def test_problem_and_parts_must_be_of_the_same_names() -> None:
    with pytest.raises(ArgumentError, match=r"but the problem is not a bl\.problems\.Alternating"):
        bl.minimize(lambda x: x["critic"]["a"] ** 2, GAN, TURNS)
    other = Alternating({"critic": lambda x: 0.0, "w": lambda x: 0.0})
    with pytest.raises(ArgumentError, match=r"the problem is whose losses are of 'critic', 'w'|problem has losses of"):
        bl.minimize(other, GAN, TURNS)
    with pytest.raises(ArgumentError, match=r"x of Alternating is .*, expected a dict with the keys of its losses"):
        other.value(GAN)
