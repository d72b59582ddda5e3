"""`burlab bench numbers`: values, intervals and jets of engines agree, and wrong ones are not timed."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from burlab.bench.cases.other_numbers import AIM, CASE, problem
from burlab.bench.clock import Effort
from burlab.bench.measure import Entrant, VariantResult, measure
from burlab.bench.peers import jax as jax_peer, mpmath_peer, pychop_peer
from burlab.bench.problem import OtherNumbers
from burlab.bench.variants import open_task
from burlab.bench.variants.number_calls import NumbersTask
from tests.engines import jax_or_skip


def judged(kind: str, ours: Any = open_task) -> list[VariantResult]:
    task = problem({"numbers": kind})
    entrants = [
        Entrant("burlab", "compiled", lambda: ours(task, "compiled")),
        Entrant("jax", "jit", lambda: jax_peer.open_task(task, "jit")),
        Entrant("mpmath", "mp, iv", lambda: mpmath_peer.open_task(task, "mp, iv")),
    ]
    if kind == "rounded":
        entrants.append(Entrant("pychop", "NumPy", lambda: pychop_peer.open_task(task, "NumPy")))
    return measure("numbers", {"numbers": kind}, task, "float64", entrants, Effort(shortest=0.0, rounds=1))


@pytest.mark.parametrize("kind", ["values", "intervals", "jets"])
def test_engines_agree_and_gaps_are_named(kind: str) -> None:
    jax_or_skip()
    ours, jax, mpmath = judged(kind)
    assert ours.verdict is not None
    assert ours.verdict.passed, ours
    assert ours.seconds
    gaps = {"values": (), "intervals": ("JAX has no intervals",), "jets": ("mpmath computes no derivatives",)}[kind]
    assert [line.gap.startswith(gap) for line in (jax, mpmath) for gap in gaps if line.gap] == [True] * len(gaps)


def test_rounded_values_are_pychops() -> None:
    pytest.importorskip("pychop", reason="pychop is not installed: make peers")
    jax_or_skip()
    ours, jax, mpmath, pychop = judged("rounded")
    assert jax.gap.startswith("JAX has bfloat16 as a dtype")
    assert mpmath.gap.startswith("mpmath has no formats")
    for line in (ours, pychop):
        assert line.verdict is not None
        assert line.verdict.passed, line
        assert line.seconds


def test_values_and_errors_are_those_of_fifty_digits() -> None:
    jax_or_skip()
    ours, jax, mpmath = judged("digits")
    assert jax.gap == "JAX has no numbers of 32 digits"
    for line in (ours, mpmath):
        assert line.verdict is not None
        assert line.verdict.passed, line
        assert line.seconds


def test_errors_that_are_wrong_are_not_timed() -> None:
    def wrong(task: OtherNumbers, variant: str) -> NumbersTask:
        right = open_task(task, variant)

        def call(x: Any) -> Mapping[str, Any]:
            found = right.answer(0 if x is task.points[0] else 1, "float64").gradients
            return {"nearest": found["nearest"], "rest": found["rest"] * (1 + 1e-6)}

        return NumbersTask(task, call)

    ours = judged("digits", wrong)[0]
    assert ours.verdict is not None
    assert not ours.verdict.passed


def test_bounds_that_are_too_narrow_are_not_timed() -> None:
    def narrow(task: OtherNumbers, variant: str) -> NumbersTask:
        right = open_task(task, variant)

        def call(x: Any) -> Mapping[str, Any]:
            found = right.answer(0 if x is task.points[0] else 1, "float64").gradients
            return {"low": found["low"] + 1e-8, "high": found["high"]}

        return NumbersTask(task, call)

    ours = judged("intervals", narrow)[0]
    assert ours.verdict is not None
    assert not ours.verdict.passed
    assert ours.seconds is None


def test_conclusions_compare_with_values() -> None:
    class Line:
        engine, variant = "burlab", "compiled"

        def __init__(self, kind: str, seconds: float) -> None:
            self.size, self.seconds = {"numbers": kind}, seconds

    times = {"values": 1.0, "intervals": 4.5, "jets": 9.0, "rounded": 2.5, "digits": 3.5}
    said = CASE.conclusions([Line(kind, seconds) for kind, seconds in times.items()])
    assert [np.float64(4.5) <= AIM, len(said)] == [True, 4]
    assert "4.5 times" in said[0]
    assert "9.0 times" in said[1]
    assert "bfloat16 takes 2.5 times" in said[2]
    assert "Errors of all values take 3.5 times" in said[3]
