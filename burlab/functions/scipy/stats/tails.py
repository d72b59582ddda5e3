"""Tails of distributions from one another, and rules that have a limit at 0."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from burlab.graph.numpy_api.elementwise import where
from burlab.typing import Operand

_LOG_2 = math.log(2.0)


def both_tails(cdf: Callable[..., Any], sf: Callable[..., Any]) -> dict[str, Callable[..., Any]]:
    """Both tails and their logarithms, each by the tail that is smaller."""

    def log(tail: Callable[..., Any], other: Callable[..., Any]) -> Callable[..., Any]:
        def rule(*args: Any) -> Any:
            p, q = tail(*args), other(*args)
            large = p > 0.5
            return where(large, np.log1p(-where(large, q, 0.5)), np.log(where(large, 0.5, p)))

        return rule

    return {"cdf": cdf, "sf": sf, "logcdf": log(cdf, sf), "logsf": log(sf, cdf)}


def log_one_minus_exp(x: Operand) -> Any:
    """log(1 - e^-x) for x >= 0, by expm1 near 0, where 1 - e^-x cancels, and by log1p far from it (Maechler 2012)."""
    near = x < _LOG_2
    return where(near, np.log(-np.expm1(-where(near, x, 0.5))), np.log1p(-np.exp(-where(near, 1.0, x))))


def with_limit(rule: Callable[..., Any], limit: float) -> Callable[..., Any]:
    """Return a rule for x > 0 with its limit at 0, where its terms are infinite; its derivative there counts as 0."""

    def whole(x: Operand, *shapes: Any) -> Any:
        return where(x == 0, limit, rule(where(x == 0, 1.0, x), *shapes))

    return whole
