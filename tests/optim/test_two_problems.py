"""Rules of one part that ask about the losses of others: DARTS, bilevel problems, games; by JAX and by NumPy."""

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ArgumentError, ShapeError
from burlab.optim import GD, Adam, Hyper, Optimizer, alternating, bilevel, unrolled
from burlab.problems import Alternating
from tests.run.saved_cases import replayed
from tests.run.test_sampler import batches

RNG = np.random.default_rng(7)
STEPS, N, BATCH = 20, 24, 6
TRAIN = RNG.normal(size=(N, 4)), RNG.normal(size=N)
VALID = RNG.normal(size=(N, 4)), RNG.normal(size=N)
DATA = {"alpha": VALID, "w": TRAIN}
START = {"alpha": np.array([0.2, -0.1, 0.0]), "w": 0.5 * RNG.normal(size=(3, 4))}
LR, ETA, XI = 0.05, 0.3, 0.07


def mixed(x: Any, a: Any, y: Any, np: Any = np) -> Any:
    """A softmax over three operations on weights of their own."""
    u = x["w"] @ a
    p = np.exp(x["alpha"]) / np.sum(np.exp(x["alpha"]))
    return (p @ np.stack([u[0], np.tanh(u[1]), np.sin(u[2])]) - y) ** 2


def assert_close(ours: Any, theirs: Any, rtol: float = 1e-10) -> None:
    for name, leaf in theirs.items():
        np.testing.assert_allclose(ours[name], leaf, rtol=rtol, atol=1e-13)


class Twin:
    """The two losses in JAX, which counts samples, values and Hessian-vector products."""

    def __init__(self) -> None:
        self.jax = pytest.importorskip("jax")
        self.jax.config.update("jax_enable_x64", True)
        self.counts: Counter[str] = Counter()

    def of(self, data: Any, rows: Any) -> Any:
        a, y = (self.jax.numpy.asarray(part[rows]) for part in data)
        each = self.jax.vmap(lambda x, a, y: mixed(x, a, y, self.jax.numpy), (None, 0, 0))
        return lambda w, alpha: self.jax.numpy.mean(each({"w": w, "alpha": alpha}, a, y))

    def value_and_grad(self, f: Any, by: Any, *at: Any) -> Any:
        self.counts["samples"] += BATCH
        return self.jax.value_and_grad(f, by)(*at)

    def product(self, f: Any, by: int, v: Any, *at: Any) -> Any:
        """The derivative of the gradient by one argument along v in the first: reverse over reverse."""
        self.counts["hvps"] += BATCH
        slope = lambda w, alpha: self.jax.numpy.vdot(self.jax.grad(f)(w, alpha), v)  # noqa: E731
        return self.jax.grad(slope, by)(*at)


def search(upper: Any, **options: Any) -> bl.Run:
    problem = Alternating({"w": mixed, "alpha": mixed}, DATA)
    rule = alternating({"w": GD(LR), "alpha": upper})
    return bl.minimize(problem, START, rule, batch=BATCH, seed=1, **options)


def by_twin(hypergradient: Any) -> tuple[dict[str, Any], Twin, list[float], list[float]]:
    """x, the twin, values and norms of gradients after turns of both parts."""
    twin, w, alpha = Twin(), START["w"], START["alpha"]
    values, norms = [], []
    for t, rows in enumerate(batches("reshuffle", N, BATCH, STEPS, seed=1)):
        train, valid = twin.of(TRAIN, rows), twin.of(VALID, rows)
        if t % 2 == 0:
            value, g = twin.value_and_grad(train, 0, w, alpha)
            w = w - LR * g
        else:
            value, g = hypergradient(twin, train, valid, w, alpha)
            alpha = alpha - ETA * g
        values.append(float(value))
        norms.append(float(np.linalg.norm(g)))
    return {"w": np.asarray(w), "alpha": np.asarray(alpha)}, twin, values, norms


def second_order(twin: Twin, train: Any, valid: Any, w: Any, alpha: Any) -> Any:
    _, g = twin.value_and_grad(train, 0, w, alpha)
    value, (by_w, by_alpha) = twin.value_and_grad(valid, (0, 1), w - XI * g, alpha)
    return value, by_alpha - XI * twin.product(train, 1, by_w, w, alpha)


def neumann(twin: Twin, train: Any, valid: Any, w: Any, alpha: Any) -> Any:
    value, (by_w, by_alpha) = twin.value_and_grad(valid, (0, 1), w, alpha)
    q = term = by_w
    for _ in range(4):
        term = term - 0.05 * twin.product(train, 0, term, w, alpha)
        q = q + term
    return value, by_alpha - twin.product(train, 1, 0.05 * q, w, alpha)


@pytest.mark.parametrize(
    ("upper", "hypergradient"),
    [(unrolled(GD(ETA), "w", XI), second_order), (bilevel(GD(ETA), "w", terms=4, eta=0.05), neumann)],
)
def test_hypergradients_are_those_of_jax(upper: Any, hypergradient: Any) -> None:
    """Points, values, norms and costs: exact second-order DARTS, and a Neumann series."""
    run = search(upper, steps=STEPS)
    x, twin, values, norms = by_twin(hypergradient)
    assert_close(run.x, x)
    np.testing.assert_allclose(run.history["value"], values, rtol=1e-10)
    np.testing.assert_allclose(run.history["gradient_norm"], norms, rtol=1e-10)
    assert {name: run.counts[name] for name in ("samples", "values", "hvps")} == {"values": 0, **twin.counts}
    kinds = [name.split("{")[0] for name in run._engine.queries]
    assert kinds.count("part_value_and_grad") == 2  # the gradient by alpha alone, which nothing reads, has no kernel
    first = search(GD(ETA), steps=STEPS).x["alpha"]
    assert np.abs(first - run.x["alpha"]).max() > 1e-3  # the second-order terms matter


def test_the_unrolled_gradient_is_that_of_the_step_looked_through() -> None:
    """JAX derives through the inner step itself."""

    def through_step(twin: Twin, train: Any, valid: Any, w: Any, alpha: Any) -> Any:
        inner = lambda a: valid(w - XI * twin.jax.grad(train)(w, a), a)  # noqa: E731
        return twin.jax.value_and_grad(inner)(alpha)

    assert_close(search(unrolled(GD(ETA), "w", XI), steps=STEPS).x, by_twin(through_step)[0])


A, Y = RNG.normal(size=(12, 5)), RNG.normal(size=12)
V, Z = RNG.normal(size=(12, 5)), RNG.normal(size=12)


def ridge(x: Any) -> Any:
    return 0.5 * np.sum((A @ x["w"] - Y) ** 2) + 0.5 * np.sum(np.exp(x["penalty"]) * x["w"] ** 2)


def held_out(x: Any) -> Any:
    return 0.5 * np.sum((V @ x["w"] - Z) ** 2)


def closed_form(penalty: Any) -> tuple[Any, Any]:
    """The weights for a penalty, and the gradient of their loss on other data by it."""
    scale = np.exp(penalty)
    matrix = A.T @ A + np.diag(scale)
    w = np.linalg.solve(matrix, A.T @ Y)
    return w, -np.linalg.solve(matrix, V.T @ (V @ w - Z)) * scale * w


def test_a_penalty_by_validation_follows_its_closed_form() -> None:
    """Newton's step solves the lower problem, conjugate gradients in 5 products the linear system: 20 rounds."""
    penalty = np.zeros(5)
    rule = alternating({"w": bl.optim.Newton(), "penalty": bilevel(GD(0.02), "w", terms=8)})
    run = bl.minimize(Alternating({"w": ridge, "penalty": held_out}), {"w": np.zeros(5), "penalty": penalty}, rule)
    for _ in range(20):
        run.step(2)
        w, slope = closed_form(penalty)
        np.testing.assert_allclose(run.x["w"], w, rtol=1e-10)
        np.testing.assert_allclose(run.history["gradient_norm"][-1], np.linalg.norm(slope), rtol=1e-9)
        penalty = penalty - 0.02 * slope
        np.testing.assert_allclose(run.x["penalty"], penalty, rtol=1e-10, atol=1e-13)
    least = bl.minimize(lambda p: 0.5 * np.sum((V @ closed_traced(p) - Z) ** 2), np.zeros(5), GD(0.02), steps=20).x
    np.testing.assert_allclose(run.x["penalty"], least, rtol=1e-9)  # derived through the solution itself


def closed_traced(penalty: Any) -> Any:
    return np.linalg.solve(A.T @ A + np.diag(np.exp(penalty)), A.T @ Y)


def test_conjugate_gradients_end_when_the_system_is_solved() -> None:
    """5 unknowns: later products are saved, and no direction of zeros makes a nan."""
    many = alternating({"w": bl.optim.Newton(), "penalty": bilevel(GD(0.02), "w", terms=100)})
    run = bl.minimize(Alternating({"w": ridge, "penalty": held_out}), {"w": np.zeros(5), "penalty": np.zeros(5)}, many)
    run.step(1)
    before = run.counts["hvps"]
    run.step(1)
    assert 6 <= run.counts["hvps"] - before <= 9
    flat = {"w": lambda x: 0.0 * x["w"] @ x["w"] + 0.0 * x["penalty"][0], "penalty": held_out}
    still = bl.minimize(Alternating(flat), {"w": np.ones(5), "penalty": np.ones(5)}, many, steps=2)
    np.testing.assert_array_equal(still.x["penalty"], np.ones(5))


@dataclass(frozen=True)
class Extragradient(Optimizer):
    """Korpelevich 1976: both players at once. Leaves: with trees in place of vectors."""

    lr: Hyper = 0.1

    def update(self, g: Any, state: Any, x: Any, t: Any, *, f: Any) -> Any:
        players = {name: f.part(name) for name in f.parts}
        ahead = {name: player.x - self.lr * player.grad() for name, player in players.items()}
        slopes = {name: player.grad(ahead) for name, player in players.items()}
        return x - self.lr * np.concatenate([slopes[name] for name in sorted(slopes)]), state


@dataclass(frozen=True)
class OnTrees(Optimizer):
    lr: Hyper = 0.1
    per_leaf = True

    def update(self, g: Any, state: Any, x: Any, t: Any, *, f: Any) -> Any:
        players = {name: f.part(name) for name in f.parts}
        move = lambda slopes: bl.tree.map(lambda a, b: a - self.lr * b, x, slopes)  # noqa: E731
        ahead = move({name: player.grad() for name, player in players.items()})
        return move({name: player.grad(ahead) for name, player in players.items()}), state


M = RNG.normal(size=(3, 2))


def game(x: Any, a: Any, b: Any) -> Any:
    """Concave in v, convex in u, with a bilinear term."""
    u, v = x["u"], x["v"]["bias"]
    return u @ M @ v + 0.1 * np.sum((u - a) ** 2) - 0.1 * np.sum((v - b) ** 2)


SAMPLES = RNG.normal(size=(N, 3)), RNG.normal(size=(N, 2))
GAME = {"u": np.ones(3), "v": {"bias": np.array([1.0, -1.0])}}


@pytest.mark.parametrize("rule", [Extragradient(0.2), OnTrees(0.2)])
def test_extragradient_of_a_game_is_a_loop_in_numpy(rule: Any) -> None:
    problem = Alternating({"u": game, "v": lambda x, a, b: -game(x, a, b)}, SAMPLES)
    run = bl.minimize(problem, GAME, rule, batch=BATCH, seed=4, steps=STEPS)
    u, v = GAME["u"], GAME["v"]["bias"]
    for rows in batches("reshuffle", N, BATCH, STEPS, seed=4):
        a, b = (part[rows].mean(axis=0) for part in SAMPLES)
        slopes = lambda u, v: (M @ v + 0.2 * (u - a), 0.2 * (v - b) - M.T @ u)  # noqa: B023, E731
        p, q = slopes(u, v)
        p, q = slopes(u - 0.2 * p, v - 0.2 * q)
        u, v = u - 0.2 * p, v - 0.2 * q
    assert_close({"u": run.x["u"], "v": run.x["v"]["bias"]}, {"u": u, "v": v})
    assert run.counts["samples"] == 4 * BATCH * STEPS


def test_all_questions_about_a_part_equal_differences_of_its_loss() -> None:
    """Values, gradients and products by and along each part, at other points, in a step and before the first."""
    problem = Alternating({"w": mixed, "alpha": mixed}, DATA)
    point = {"alpha": np.array([0.3, 0.1, -0.4]), "w": RNG.normal(size=(3, 4))}
    v = {"alpha": RNG.normal(size=3), "w": RNG.normal(size=(3, 4))}
    flat = {name: leaf.reshape(-1) for name, leaf in point.items()}

    def ask(f: Any) -> Any:
        train = f.part("w")
        return {
            "x": train.x,
            "value": train.value(flat),
            "at_w": train.value({"w": flat["w"]}),
            "grads": train.grad(flat, by=("w", "alpha")),
            "own": train.grad(flat),
            **{
                f"{by}_{along}": train.hvp(flat, {along: v[along].reshape(-1)}, by=by)
                for by in point
                for along in point
            },
            "both": train.hvp(flat, {name: part.reshape(-1) for name, part in v.items()}, by=("alpha", "w")),
        }

    @dataclass(frozen=True)
    class Asks(Optimizer):
        def init(self, x: Any, *, f: Any) -> Any:
            return {"before": ask(f), "now": ask(f)}

        def update(self, g: Any, state: Any, x: Any, t: Any, *, f: Any) -> Any:
            return x - 0.0 * g, {**state, "now": ask(f)}

    run = bl.minimize(problem, START, Asks(), steps=1)
    loss = lambda x: np.mean([mixed(x, a, y) for a, y in zip(*TRAIN, strict=True)])  # noqa: E731
    slope = bl.grad(loss)
    for got in run.state.values():
        np.testing.assert_array_equal(got["x"], START["w"].reshape(-1))
        np.testing.assert_allclose(got["value"], loss(point), rtol=1e-12)
        np.testing.assert_allclose(got["at_w"], loss({**START, "w": point["w"]}), rtol=1e-12)
        wanted = {name: leaf.reshape(-1) for name, leaf in slope(point).items()}
        assert_close(got["grads"], wanted, 1e-11)
        np.testing.assert_allclose(got["own"], wanted["w"], rtol=1e-11)
        for along, direction in v.items():
            after, before = (slope({**point, along: point[along] + h * direction}) for h in (1e-5, -1e-5))
            for by in v:
                near = (after[by] - before[by]).reshape(-1) / 2e-5
                np.testing.assert_allclose(got[f"{by}_{along}"], near, rtol=1e-6, atol=1e-8)
        for by in point:
            np.testing.assert_allclose(got["both"][by], got[f"{by}_alpha"] + got[f"{by}_w"], rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize("upper", [unrolled(Adam(0.02), "w", XI), bilevel(Adam(0.02), "w", terms=3)])
def test_seek_fork_and_files_keep_the_bits(upper: Any, tmp_path: Path) -> None:
    run = search(upper, steps=9)
    fork = replayed(run, DATA["alpha"] + DATA["w"], tmp_path, 6, 5)
    for a, b, c in zip(*map(bl.tree.leaves, (fork.x, run.x, search(upper, steps=11).x)), strict=True):
        assert a.tobytes() == b.tobytes() == c.tobytes()


def test_live_fields_and_chosen_samples() -> None:
    run = search(unrolled(Adam(0.02), "w", XI))
    assert run.hyper.keys() == ("w_lr", "alpha_lr", "alpha_b1", "alpha_b2", "alpha_eps", "alpha_xi")
    run.hyper["alpha_xi"] = 0.0
    run.step(2)
    np.testing.assert_allclose(run.x["alpha"], search(Adam(0.02), steps=2).x["alpha"], rtol=1e-12)

    @dataclass(frozen=True)
    class Chooses(Optimizer):
        def update(self, g: Any, state: Any, x: Any, t: Any, *, f: Any) -> Any:
            return x - 0.1 * f.part("w").grad(by="alpha", indices=np.array([3, 5, 3])), state

    run = search(Chooses(), steps=2)
    w = search(GD(0.0), steps=2).x["w"]
    loss = lambda p: np.mean([mixed({"w": w, "alpha": p}, TRAIN[0][k], TRAIN[1][k]) for k in (3, 5, 3)])  # noqa: E731
    np.testing.assert_allclose(run.x["alpha"], START["alpha"] - 0.1 * bl.grad(loss)(START["alpha"]), rtol=1e-12)


@dataclass(frozen=True)
class BySearch(Optimizer):
    """Gradient descent on the only part, over chosen samples or those of the step."""

    chosen: Any = None

    def update(self, g: Any, state: Any, x: Any, t: Any, *, f: Any) -> Any:
        indices = None if self.chosen is None else f.indices[: self.chosen]
        return x - 0.1 * f.part("only").grad(indices=indices), state


@pytest.mark.parametrize("chosen", [None, 3])
def test_operations_of_a_question_about_a_part_are_those_of_its_gradient(chosen: Any) -> None:
    loss = lambda x, a, y: np.sum(np.tanh(x["only"] @ a) - y) ** 2  # noqa: E731
    x0 = {"only": np.ones((30, 4))}
    run = bl.minimize(Alternating({"only": loss}, TRAIN), x0, BySearch(chosen), batch=BATCH, steps=5)
    plain = bl.minimize(bl.FiniteSum(loss, TRAIN), x0, GD(0.1), batch=chosen or BATCH, steps=5)
    value = bl.counts(lambda x: loss(x, TRAIN[0][0], TRAIN[1][0]), x0).flops * BATCH * 5  # of the step, at x
    assert run.counts["flops"] == pytest.approx(plain.counts["flops"] + value, rel=0.02)
    assert run.counts["samples"] == plain.counts["samples"]


def asking(question: Any) -> Any:
    @dataclass(frozen=True)
    class Asks(Optimizer):
        def update(self, g: Any, state: Any, x: Any, t: Any, *, f: Any) -> Any:
            return x - 0.0 * np.sum(question(f)), state

    return Asks()


REFUSED: list[tuple[Any, Any, str]] = [
    (lambda f: f.part("v").grad(), ArgumentError, "f.part('v') is about a part of the problem, whose parts are 'a"),
    (lambda f: f.part("w").grad(by="v"), ArgumentError, "was asked about 'v', but the parts are 'alpha', 'w'"),
    (lambda f: f.part("w").grad(by=()), ArgumentError, "by of f.part('w') is (), expected names of parts"),
    (lambda f: f.part("w").grad(np.ones(3)), ArgumentError, "expected a dict of parts: {'w': ...}"),
    (lambda f: f.part("w").grad({"w": np.ones((3, 4))}), ShapeError, "'w' of shape (3, 4), expected (12,)"),
    (lambda f: f.part("w").hvp(None, {}), ArgumentError, "v of f.part('w').hvp is {}, expected a dict of parts"),
]  # fmt: skip


@pytest.mark.parametrize(("question", "kind", "text"), REFUSED)
def test_questions_that_do_not_fit_are_refused(question: Any, kind: Any, text: str) -> None:
    """With the line of the rule."""
    with pytest.raises(kind, match=re.escape(text)) as caught:
        search(asking(question))
    assert "test_two_problems.py" in str(caught.value)


def test_hypergradients_need_a_part_and_another_one() -> None:
    with pytest.raises(ArgumentError, match=r"lower of unrolled is 'alpha', the part that it is the optimizer of"):
        search(unrolled(GD(), "alpha", 0.1))
    with pytest.raises(ArgumentError, match=r"f\.part\(\) is the loss of the part in turn, but this rule is not"):
        bl.minimize(Alternating({"w": mixed, "alpha": mixed}, DATA), START, bilevel(GD(), "w"))
    with pytest.raises(ArgumentError, match=r"f\.part\('w'\) is about .* which is not a bl\.problems\.Alternating"):
        bl.minimize(lambda x: x @ x, np.ones(2), asking(lambda f: f.part("w").grad()))
    with pytest.raises(ArgumentError, match="terms=0 is not a whole number"):
        bilevel(GD(), "w", terms=0)
