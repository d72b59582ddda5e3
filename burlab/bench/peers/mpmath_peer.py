"""mpmath (Johansson): intervals of its `iv` and values of its `mp`, one number after the other."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from burlab.bench.namespace import Namespace
from burlab.bench.problem import Array, OtherNumbers, Problem, Task, Unavailable
from burlab.bench.variants.number_calls import NumbersTask, named

from .optional_import import load


def open_task(problem: Problem, variant: str) -> Task:
    """The task of a problem; there is one variant of a kind."""
    del variant
    mpmath = load("mpmath")
    if isinstance(problem, OtherNumbers) and problem.kind == "rounded":
        raise Unavailable("mpmath has no formats with a least and a largest number")
    if not isinstance(problem, OtherNumbers) or problem.kind == "jets":
        raise Unavailable("mpmath computes no derivatives but numerical ones, some seconds for a row")
    calls = {"values": _values, "intervals": _intervals, "digits": _digits}
    return NumbersTask(problem, calls[problem.kind](problem, mpmath))


def namespace(context: Any) -> Namespace:
    """The functions of arrays of mpmath's numbers."""
    return Namespace(np, cos=np.vectorize(context.cos, otypes=[object]))


def _values(problem: OtherNumbers, mpmath: Any) -> Any:
    np_ = namespace(mpmath.mp)

    def call(x: Array) -> Mapping[str, Any]:
        return {"values": problem.function(np_, _numbers(x, mpmath.mpf)).astype(float)}

    return call


def _digits(problem: OtherNumbers, mpmath: Any) -> Any:
    """The nearest doubles, and what is left, in 50 digits. Roots of whole numbers are doubles, as in the program."""
    np_ = namespace(mpmath.mp)

    def call(x: Array) -> Mapping[str, Any]:
        with mpmath.workdps(50):
            exact = problem.function(np_, _numbers(x, mpmath.mpf))
            return named("digits", (exact.astype(float), (exact - exact.astype(float)).astype(float)))

    return call


def _intervals(problem: OtherNumbers, mpmath: Any) -> Any:
    iv = mpmath.iv
    np_ = namespace(iv)

    def call(x: Array) -> Mapping[str, Any]:
        low, high = x - problem.radius, x + problem.radius
        ends = zip(low.ravel().tolist(), high.ravel().tolist(), strict=True)
        boxes = np.array([iv.mpf(pair) for pair in ends], dtype=object).reshape(x.shape)
        found = problem.function(np_, boxes)
        bounds = [[float(mpmath.mpf(y.a)) for y in found], [float(mpmath.mpf(y.b)) for y in found]]
        return named("intervals", np.array(bounds))

    return call


def _numbers(x: Array, number: Any) -> Any:
    return np.array([number(v) for v in x.ravel().tolist()], dtype=object).reshape(x.shape)
