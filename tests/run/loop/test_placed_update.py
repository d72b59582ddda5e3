"""Steps with the gradient at a point that the update computes, as one kernel: equal to separate ones, and when made."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.errors import IndexRangeError
from burlab.optim import GD, Adam, Hyper, Optimizer, through
from burlab.run.loop.fused import FusedStep
from tests.optim.through_methods import METHODS, run_of
from tests.run.loop.alike_runs import check_alike, step_of

RNG = np.random.default_rng(2)
ROWS, LABELS = RNG.normal(size=(30, 6)), RNG.normal(size=(30, 4))
MASK = RNG.random((6, 4)) < 0.5


def loss(p: Any, a: Any, b: Any) -> Any:
    return np.mean((np.tanh(a.astype(p["w"].dtype) @ p["w"]) + p["b"] - b.astype(p["w"].dtype)) ** 2) * (
        1 + p["s"] ** 2
    )


def penalty(p: Any) -> Any:
    return 0.01 * np.sum(p["w"] ** 2)


def start(dtype: str) -> dict[str, Any]:
    shapes: dict[str, tuple[int, ...]] = {"b": (4,), "none": (0, 2), "s": (), "w": (6, 4)}
    return {
        name: (1.0 + 0.3 * np.random.default_rng(4).normal(size=shape)).astype(dtype) for name, shape in shapes.items()
    }


@dataclass(frozen=True)
class Masked:
    """A mask in the place and in the gradient, which shrinks with the step."""

    pull: Hyper = 0.5

    def __call__(self, p: Any, t: Any) -> Any:
        return {**p, "w": p["w"] * MASK.astype(p["w"].dtype) * (1 + self.pull / (1 + t))}

    def gradient(self, g: Any, p: Any) -> Any:
        return {**g, "w": np.where(MASK, g["w"], 0.1 * p["w"])}


@dataclass(frozen=True)
class Average:
    """A moving average as the point of the gradient."""

    def init(self, p: Any) -> Any:
        return {"mean": p, "count": 0}

    def __call__(self, p: Any, state: Any) -> Any:
        mean = bl.tree.map(lambda m, a: m + 0.25 * (a - m), state["mean"], p)
        return mean, {"mean": mean, "count": state["count"] + 1}


@dataclass(frozen=True)
class PerEntry(Optimizer):
    """A step size for each entry of the vector: a constant that is cut into leaves."""

    def update(self, g: Any, state: Any, x: Any, t: Any) -> Any:
        return x - np.linspace(0.01, 0.1, 29).astype(x.dtype) * g, state


def grid(p: Any) -> Any:
    return bl.tree.map(lambda leaf: 0.125 * np.rint(8 * leaf), p)


def scaled(p: Any) -> Any:
    """With the largest weight as the scale: a number of a whole leaf."""
    scale = np.max(np.abs(p["w"])) / 7
    return {**p, "w": scale * np.rint(p["w"] / scale)}


RULES = {
    "grid": through(GD(0.05), grid, at="T(x)"),
    "grid, at x": through(Adam(0.02), grid),
    "by entry": through(PerEntry(), grid, at="T(x)"),
    "masked": through(Adam(bl.optim.cosine(0.02, steps=40)), Masked(), at="T(x)"),
    "scaled": through(bl.optim.Momentum(0.02), scaled, at="T(x)"),
    "average": through(GD(0.05), Average(), at="T(x)"),
    "average, at x": through(bl.optim.AdamW(0.02, weight_decay=0.1), Average()),
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", RULES)
def test_one_kernel_equals_separate_ones(name: str, dtype: str, apart: Any) -> None:
    """Points, values, norms, counts and operations, with a regularizer, leaves of no entry and numbers."""
    x0 = start(dtype)

    def make() -> bl.Run:
        sum_ = bl.FiniteSum(loss, (ROWS, LABELS), regularizer=penalty)
        return bl.minimize(sum_, x0, RULES[name], batch=1, seed=3, steps=40)

    one, two = make(), apart(make)
    assert isinstance(step_of(one), FusedStep)
    assert not isinstance(step_of(two), FusedStep)
    check_alike(two, one, dtype)
    assert one.counts == two.counts
    assert np.isfinite(one.history["gradient_norm"]).all()
    if "pull" in one.hyper:
        for run in (one, two):
            run.hyper["pull"] = 0.0
            run.step(10)
        check_alike(two, one, dtype)


def test_numbers_of_the_loss_follow_the_point(apart: Any) -> None:
    """A live number and the step, which the loss reads behind x, and a regularizer that reads one, too."""

    def make() -> bl.Run:
        sum_ = bl.FiniteSum(
            lambda p, a, b, *, hyper, t: np.sum((a @ p["w"] - b) ** 2) * hyper.scale / (1 + t),
            (ROWS, LABELS[:, 0]),
            lambda p, *, hyper: hyper.scale * np.sum(p["w"] ** 2),
            hyper={"scale": 0.5},
        )
        rule = through(GD(0.1), lambda p: {"w": np.round(p["w"])}, at="T(x)")
        run = bl.minimize(sum_, {"w": np.ones(6)}, rule, batch=1, steps=5)
        run.hyper["scale"] = 0.1
        run.step(5)
        return run

    one, two = make(), apart(make)
    assert isinstance(step_of(one), FusedStep)
    check_alike(two, one, "float64")


def test_a_plain_function_through_a_mask_by_hand() -> None:
    """A captured array, and norms beyond the range of squares."""
    keep, c = np.array([1.0, 0.0, 1.0]), np.array([1e140, 2.0, -1e140])
    run = bl.minimize(
        lambda x: 1e20 * ((x - c) @ (x - c)) / 2, np.ones(3), through(GD(1e-21), lambda x: x * keep, at="T(x)")
    )
    assert isinstance(step_of(run), FusedStep)
    x = np.ones(3)
    for _ in range(5):
        y = keep * x
        g = 1e20 * (y - c)
        run.step(1)
        np.testing.assert_allclose(run.history["gradient_norm"][-1], 1e160 * np.linalg.norm(g / 1e160), rtol=1e-13)
        x = x - 1e-21 * g
        np.testing.assert_allclose(run.iterate, x, rtol=1e-13)
        np.testing.assert_allclose(run.x, keep * x, rtol=1e-13)


@pytest.mark.parametrize("at", ["x", "T(x)"])
def test_a_long_x_is_written_in_place(at: str, apart: Any) -> None:
    """In two kernels, of which the second writes over x: a step that stops the run writes nothing."""
    c = np.random.default_rng(1).normal(size=900_000)

    def make() -> bl.Run:
        rule = through(GD(0.1), lambda x: 0.125 * np.rint(8 * x), at=at)
        return bl.minimize(lambda x: (x - c) @ (x - c) / 2, np.zeros(c.size), rule, steps=4)

    one, two = make(), apart(make)
    assert isinstance(step_of(one), FusedStep)
    np.testing.assert_array_equal(one.x, two.x)
    for column in ("value", "gradient_norm", "step_norm"):
        np.testing.assert_allclose(one.history[column], two.history[column], rtol=1e-12, err_msg=column)
    one.seek(2)
    one.step(2)
    np.testing.assert_array_equal(one.x, two.x)


def test_which_methods_are_one_kernel() -> None:
    """Those whose leaves stay apart, and that ask for one gradient alone."""
    fused = {name for name in METHODS if isinstance(step_of(run_of(name, 1)), FusedStep)}
    assert fused == {"Top-KAST", "quantized", "quantized, at x", "Lookahead", "low rank", "sparse"}


@dataclass(frozen=True)
class Ahead(Optimizer):
    """The gradient at a step ahead; logs a multiple of its norm, and a value with an offset."""

    factor: float
    offset: float

    def update(self, g: Any, state: Any, x: Any, t: Any, *, f: Any) -> Any:
        value, slope = f.value_and_grad(x + 1.0)
        f.log_gradient(slope if self.factor == 1 else self.factor * slope)
        f.log({"value": value if self.offset == 0 else value + self.offset})
        return x - 0.1 * slope, state


@pytest.mark.parametrize(("factor", "offset"), [(1.0, 0.0), (2.0, 0.0), (1.0, 1.0)])
def test_values_and_norms_that_an_update_changes_are_its_own(factor: float, offset: float) -> None:
    """Only the norm of the gradient itself, and its value, are those that the kernel knows."""
    run = bl.minimize(lambda x: np.sum(x**2), np.ones(2), Ahead(factor, offset), steps=1)
    assert isinstance(step_of(run), FusedStep) is (factor == 1 and offset == 0)
    np.testing.assert_allclose(run.history["gradient_norm"][0], factor * np.linalg.norm([4.0, 4.0]), rtol=1e-14)
    np.testing.assert_allclose(run.history["value"][0], 8.0 + offset, rtol=1e-14)


def test_errors_and_times_are_those_of_the_step() -> None:
    table = np.arange(4.0)
    problem = bl.FiniteSum(lambda x, a: table_of(table, x, a), np.array([1.0, 9.0]))
    run = bl.minimize(
        problem, np.ones(1), through(GD(0.1), lambda x: x + 0.0, at="T(x)"), batch=1, sampler="sequential"
    )
    assert isinstance(step_of(run), FusedStep)
    run.step(1)
    with pytest.raises(IndexRangeError, match="gather"):
        run.step(1)
    assert run.t == 1
    timed = bl.minimize(lambda x: np.sum(np.tanh(x)), np.ones(2000), RULES["grid, at x"], steps=5)
    assert timed.profile().rows


def table_of(table: Any, x: Any, a: Any) -> Any:
    return bl.asarray(table)[(x[0] * a).astype(np.int64)] * x[0]
