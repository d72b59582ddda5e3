"""The gate is handed wrong gradients: each must be refused, and must show no time."""

from collections.abc import Callable, Mapping

import numpy as np
import pytest

from burlab.bench import table
from burlab.bench.cases import find
from burlab.bench.clock import Effort
from burlab.bench.measure import Entrant, VariantResult, measure
from burlab.bench.peers.complex_step import Judge
from burlab.bench.problem import Answer, Array, Scalar, Training, Unavailable
from burlab.bench.verdict import check_differences, compare, relative_error

EFFORT = Effort(shortest=0.0, rounds=1)


class Engine:
    """A right engine for a function of numbers by differences along the imaginary axis; mutants change its answer."""

    def __init__(self, problem: Scalar, change: Callable[[Answer], Answer] = lambda answer: answer):
        self.judge, self.change, self.timed = Judge(problem), change, False

    def answer(self, point: int, dtype: str) -> Answer:
        return self.change(self.judge.answer(point, dtype))

    def repeat(self, count: int) -> float:
        self.timed = True
        return 1e-6 * count

    def displacements(self) -> Mapping[str, Array] | None:
        return None

    def facts(self) -> Mapping[str, float]:
        return {}


class Stale(Engine):
    """Gives the gradient of the point before."""

    last: Answer | None = None

    def answer(self, point: int, dtype: str) -> Answer:
        fresh = super().answer(point, dtype)
        stale, self.last = self.last or fresh, fresh
        return Answer(fresh.value, stale.gradients)


def wrong_relu(np_: object, a: complex, b: complex) -> complex:
    """micrograd's graph with a relu that passes on negative numbers too."""
    return find("micrograd").problem({}).function(Loose(), a, b)


class Loose:
    """Namespace whose relu has the right value and a derivative of 1 everywhere."""

    @staticmethod
    def relu(x: complex) -> complex:
        moving = isinstance(x, complex)
        return x if x.real > 0 else complex(0.0, x.imag) if moving else 0.0


def judged(problem: Scalar, *engines: Engine) -> list[VariantResult]:
    entrants = [Entrant(f"engine {k}", "variant", lambda e=e: e) for k, e in enumerate(engines)]
    judge = Entrant("complex step", "", lambda: Judge(problem), timed=False)
    return measure("case", {}, problem, "float64", [*entrants, judge], EFFORT)


def refused(problem: Scalar, mutant: Engine, complaint: str) -> None:
    """The right engine beside it is timed, the mutant is not, and its row says why."""
    right = Engine(problem)
    fine, wrong = judged(problem, right, mutant)
    assert fine.verdict
    assert fine.verdict.passed
    assert fine.seconds == 1e-6
    assert wrong.verdict
    assert not wrong.verdict.passed
    assert wrong.timing is None
    assert not mutant.timed
    shown = table.cells(wrong, None)
    assert len(shown) == 3
    assert "NOT TIMED" in shown[2]
    assert complaint in shown[2]
    assert " ns" not in shown[2]
    assert " us" not in shown[2]


def test_a_wrong_relu_is_refused():
    problem = find("micrograd").problem({})
    wrong = Scalar(wrong_relu, problem.points, problem.names)
    assert wrong_relu(None, -4.0, 2.0) == problem.function(Loose(), -4.0, 2.0), "the value is right"
    refused(problem, Engine(wrong), "d/d")


def test_a_sweep_that_skips_nodes_is_refused_though_its_gradients_are_right():
    def skip(answer: Answer) -> Answer:
        return Answer(answer.value, answer.gradients, visited=(3, 4909))

    problem = find("tiny").problem({})
    refused(problem, Engine(problem, skip), "the sweep visited 3 of 4,909 nodes")


def test_a_gradient_of_the_point_before_is_refused():
    problem = find("tiny").problem({})
    refused(problem, Stale(problem), "is off by")


def test_variant_that_is_wrong_while_timed_has_no_time():
    class Tiring(Engine):
        def answer(self, point: int, dtype: str) -> Answer:
            fresh = super().answer(point, dtype)
            return Answer(fresh.value, {**fresh.gradients, "a": np.zeros(())}) if self.timed else fresh

    problem = find("tiny").problem({})
    _, wrong = judged(problem, Engine(problem), Tiring(problem))
    assert wrong.timing is None
    assert "after it was timed, d/da is off" in table.cells(wrong, None)[2]


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda a: Answer(a.value * (1 + 1e-9), a.gradients), "the value is off"),
        (
            lambda a: Answer(a.value, {**a.gradients, "b": a.gradients["b"] + 1e-9 * abs(a.gradients["b"])}),
            "d/db is off",
        ),
        (lambda a: Answer(a.value, {"a": a.gradients["a"]}), "expected by ['a', 'b']"),
        (lambda a: Answer(a.value, {**a.gradients, "a": np.float64(np.nan)}), "d/da is off by inf"),
        (lambda a: Answer(a.value, {**a.gradients, "a": np.ones(2)}), "d/da is off by inf"),
    ],
    ids=["value", "one part in 1e9", "a gradient missing", "nan", "shape"],
)
def test_slightly_wrong_answers_fail_the_gate(change: Callable[[Answer], Answer], complaint: str):
    problem = find("tiny").problem({})
    refused(problem, Engine(problem, change), complaint)


def test_nobody_is_timed_without_a_second_engine():
    problem = find("tiny").problem({})
    lonely = Engine(problem)
    (line,) = measure("case", {}, problem, "float64", [Entrant("burlab", "variant", lambda: lonely)], EFFORT)
    assert line.seconds is None
    assert not lonely.timed
    assert line.verdict
    assert "no second engine" in line.verdict.complaints[0]


def test_an_absent_engine_is_a_named_gap_and_a_broken_one_a_row():
    def absent() -> Engine:
        raise Unavailable("quick is not installed: pip install burlab[bench]")

    def broken() -> Engine:
        raise ZeroDivisionError("by itself")

    problem = find("tiny").problem({})
    entrants = [Entrant("quick", "variant", absent), Entrant("broken", "variant", broken)]
    lines = measure("case", {}, problem, "float64", entrants, EFFORT)
    assert [line.gap for line in lines] == [
        "quick is not installed: pip install burlab[bench]",
        "failed: by itself",
    ]
    assert all(line.seconds is None for line in lines)


SLOPES = np.array([[1.0, -2.0], [0.5, 3.0]])
LINE = Training(
    lambda np_, p, i, target: np_.sum(p["w"] * SLOPES[i], axis=-1) - target,
    {"w": np.array([0.3, -0.2])},
    np.arange(2),
    np.zeros(2),
    batch=1,
    kind="",
)


class Steps:
    """A right engine for gradient descent on lines."""

    timed = False

    def answer(self, point: int, dtype: str) -> Answer:
        w = LINE.parameters["w"].astype(dtype)
        return Answer(float(w @ SLOPES[point].astype(dtype)), {"w": SLOPES[point].astype(dtype)})

    def displacements(self) -> Mapping[str, Array] | None:
        return {"w": -LINE.lr * SLOPES.sum(0)}

    def repeat(self, count: int) -> float:
        self.timed = True
        return 1e-6 * count

    def facts(self) -> Mapping[str, float]:
        return {}


def fail(*_: object) -> float:
    raise ZeroDivisionError("by itself")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"displacements": lambda _: {}}, "the timed steps move [], expected ['w']"),
        ({"displacements": lambda _: {"w": np.zeros(3)}}, "the timed steps move w by inf"),
        ({"displacements": lambda _: {"w": np.full(2, np.nan)}}, "the timed steps move w by nan"),
        ({"displacements": lambda _: None}, "the timed steps cannot be looked at"),
        ({"repeat": fail}, "failed while it was timed: by itself"),
        ({"repeat": lambda _, count: 0.0}, "repetitions take 0.0 s"),
        ({"facts": fail}, "failed while it was timed: by itself"),
        ({"answer": lambda self, *at: fail() if self.timed else Steps.answer(self, *at)}, "while it was timed: by its"),
    ],
    ids=["no names", "shape", "nan", "unseen", "cannot repeat", "does nothing", "no facts", "breaks"],
)
def test_whoever_fails_loses_its_own_time_only(change: dict[str, Callable[..., object]], reason: str):
    mutant = type("Mutant", (Steps,), change)
    entrants = [Entrant("jax", "", Steps), Entrant("torch", "", Steps), Entrant("mutant", "", mutant)]
    *right, wrong = measure("case", {}, LINE, "float32", entrants, Effort(shortest=1e-6, rounds=1))
    assert [line.seconds for line in right] == [1e-6, 1e-6]
    assert wrong.seconds is None
    assert reason in table.cells(wrong, None)[2]


def test_differences_see_a_wrong_tensor_and_pass_a_right_one():
    rng = np.random.default_rng(0)
    x = {"a": rng.normal(size=(3, 4)), "b": rng.normal(size=5)}
    right = {"a": np.cos(x["a"]), "b": 3 * x["b"] ** 2}

    def value(x: Mapping[str, Array]) -> float:
        return float(np.sum(np.sin(x["a"])) + np.sum(x["b"] ** 3))

    assert check_differences(value, x, right)[1] == []
    for name, tensor in right.items():
        wrong = tensor.copy()
        wrong.flat[2] *= 1.01
        (complaint,) = check_differences(value, x, {**right, name: wrong})[1]
        assert f"d/d{name}" in complaint


def test_float32_is_held_to_its_own_tolerance():
    right = [Answer(1.0, {"x": np.array([1.0, 1e-3])})]
    near = [Answer(1.0, {"x": np.array([1.0, 1e-3 + 9e-6])})]
    far = [Answer(1.0, {"x": np.array([1.0, 1e-3 + 2e-5])})]
    assert compare(near, right, "float32")[1] == [] != compare(far, right, "float32")[1]
    assert compare(near, right, "float64")[1] != []


def test_a_gradient_of_zero_must_be_zero():
    assert relative_error(np.zeros(2), np.zeros(2)) == 0.0
    assert relative_error(np.array([1e-300, 0.0]), np.zeros(2)) == np.inf
