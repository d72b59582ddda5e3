"""Distributions of numbers: parameters by position or name, location and scale, support; what is common to all."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from burlab.errors import ArgumentError
from burlab.functions.scipy.dispatch import choose
from burlab.graph.numpy_api.elementwise import where
from burlab.graph.origin import location
from burlab.typing import ArrayLike, Operand

Rule = Callable[..., Any]


@dataclass(frozen=True, eq=False)
class Distribution:
    """A family of distributions of numbers, as scipy.stats has them.

    name: SciPy's. shapes: the names of its parameters besides `loc` and, where it is continuous, `scale`. low, high:
    the ends of the support at loc 0 and scale 1, the upper one perhaps a function of the shapes. inner: a point of it.
    valid: whether parameters are those of a distribution; all positive unless given. rules: functions of a point in the
    support and of the shapes, on nodes, by the name of the method.
    """

    name: str
    rules: Mapping[str, Rule]
    shapes: tuple[str, ...] = ()
    low: float = -math.inf
    high: float | Rule = math.inf
    inner: float = 0.5
    valid: Rule | None = None
    _chosen: dict[str, Rule] = field(default_factory=dict[str, Rule], init=False, repr=False)

    _free = ("loc",)  # parameters that need not be given

    def __call__(self, *args: Any, **kwargs: Any) -> "Frozen":
        """The distribution with these parameters, whose methods take x alone."""
        return Frozen(self, self._values("", args, kwargs))

    def _run(self, method: str, rule: Rule, x: ArrayLike, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        if method not in self._chosen:
            self._chosen[method] = choose(rule, f"{self.name}.{method}")
        return self._chosen[method](x, *self._values(f".{method}", args, kwargs))

    def _values(self, method: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> list[Any]:
        """A value for each shape, then loc, and scale if it has one; None where that is not given."""
        names = (*self.shapes, *self._free)
        given = dict(zip(names, args, strict=False)) | dict(kwargs)
        wrong = len(args) > len(names) or not set(given) <= set(names) or len(given) < len(args) + len(kwargs)
        if wrong or any(name not in given for name in self.shapes):
            x = "x, " if method else ""
            raise ArgumentError(
                f"{location()}{self.name}{method} takes ({x}{', '.join(names)}), the last {len(self._free)} optional; "
                f"got {len(args)} values by position{''.join(f', {name}=' for name in kwargs)}."
            )
        return [given.get(name) for name in names]

    def _within(self, x: Operand, shapes: list[Any], rule: Rule, below: float, above: float) -> Any:
        """The rule at what lies in the support; both are constant beyond it, and nan at nan."""
        high = self.high(*shapes) if callable(self.high) else self.high
        if self.low == -math.inf and high == math.inf:
            return rule(x, *shapes)
        under, over = x < self.low, x > high
        y = rule(where(under | over, self.inner, x), *shapes)
        return where(under, below, where(over, above, y))

    def _checked(self, result: Operand, shapes: list[Any], *more: Any) -> Any:
        """nan where parameters are those of no distribution."""
        conditions: list[Any] = self.valid(*shapes) if self.valid else [s > 0 for s in shapes]
        for condition in (*conditions, *more):
            result = where(condition, result, math.nan)
        return result


@dataclass(frozen=True, slots=True)
class Frozen:
    """A distribution with its parameters: `norm(loc=2.0).logpdf(x)`."""

    distribution: Distribution
    values: list[Any]

    def __getattr__(self, method: str) -> Callable[[Any], Any]:
        if method.startswith("_"):
            raise AttributeError(method)
        whole = getattr(self.distribution, method)
        return lambda x: whole(x, *self.values)
