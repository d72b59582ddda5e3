"""pychop (Chen and Carson): every operation of NumPy's, with its result rounded to bfloat16."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from burlab.bench.namespace import Namespace
from burlab.bench.problem import Array, OtherNumbers, Problem, Task, Unavailable
from burlab.bench.variants.number_calls import NumbersTask, named

from .optional_import import load


def open_task(problem: Problem, variant: str) -> Task:
    """The task of a problem; there is one variant of a kind."""
    del variant
    chop: Any = load("pychop.np.lightchop").LightChop_(8, 7, rmode=1)
    if not isinstance(problem, OtherNumbers) or problem.kind != "rounded":
        raise Unavailable("pychop rounds, and computes nothing else")

    def rounded(x: Any) -> Array:
        with np.errstate(over="ignore"):  # in a product that it does not take
            return np.asarray(chop(np.asarray(x)))

    def cos(x: Chopped) -> Chopped:
        return Chopped(np.cos(x.numbers), rounded)

    def total(x: Chopped, axis: int) -> Chopped:
        return Chopped(np.sum(x.numbers, axis=axis), rounded)

    np_ = Namespace(np, cos=cos, sum=total)

    def call(x: Array) -> Mapping[str, Any]:
        return named("rounded", problem.function(np_, Chopped(x, rounded)).numbers)

    return NumbersTask(problem, call)


class Chopped:
    """An array that is rounded, as are results of arithmetic with it."""

    __array_ufunc__ = None  # NumPy's arrays leave operators to it

    def __init__(self, x: Any, rounded: Callable[[Any], Array]) -> None:
        self.numbers, self._rounded = rounded(x), rounded

    def _of(self, operation: Callable[..., Any], first: Any, second: Any) -> "Chopped":
        pair = (self._operand(x) for x in (first, second))
        return Chopped(operation(*pair), self._rounded)

    def _operand(self, x: Any) -> Any:
        if isinstance(x, Chopped):
            return x.numbers
        return self._rounded(x) if isinstance(x, np.ndarray) else x  # a number of the program is exact

    def __getitem__(self, key: Any) -> "Chopped":
        return Chopped(self.numbers[key], self._rounded)

    def __mul__(self, other: Any) -> "Chopped":
        return self._of(np.multiply, self, other)

    def __truediv__(self, other: Any) -> "Chopped":
        return self._of(np.divide, self, other)

    def __sub__(self, other: Any) -> "Chopped":
        return self._of(np.subtract, self, other)

    def __radd__(self, other: Any) -> "Chopped":
        return self._of(np.add, other, self)

    def __pow__(self, power: int) -> "Chopped":
        return self._of(np.power, self, power)
