"""Continuous distributions by elementary functions, at loc 0 and scale 1: lifetimes, extremes and powers.

Formulas as in Johnson, Kotz and Balakrishnan, Continuous Univariate Distributions, volumes 1 and 2.
"""
# Rules are called with nodes; pyright infers no types for the lambdas of such tables.
# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

import math
from typing import Any

import numpy as np

from burlab.graph.node import SPECIAL
from burlab.graph.numpy_api.elementwise import power_exp, where
from burlab.typing import Operand

from .location_scale import Continuous
from .tails import both_tails, log_one_minus_exp, with_limit

_xlogy, _erf, _erfc, _ndtri = (SPECIAL[name] for name in ("xlogy", "erf", "erfc", "ndtri"))
_gammainc, _gammaincc, _gammaincinv = (SPECIAL[name] for name in ("gammainc", "gammaincc", "gammaincinv"))
_expit, _log_expit = SPECIAL["expit"], SPECIAL["log_expit"]
_ROOT_HALF = math.sqrt(0.5)
_log = with_limit(np.log, -math.inf)


def _hazard(hazard: Any) -> dict[str, Any]:
    """Return both tails of the distribution whose upper one is exp(-hazard)."""
    return {
        "cdf": lambda *args: -np.expm1(-hazard(*args)),
        "sf": lambda *args: np.exp(-hazard(*args)),
        "logcdf": lambda *args: log_one_minus_exp(hazard(*args)),
        "logsf": lambda *args: -hazard(*args),
    }


def _mirrored(rules: dict[str, Any]) -> dict[str, Any]:
    """Return the tails of -x."""
    pairs = {"cdf": "sf", "sf": "cdf", "logcdf": "logsf", "logsf": "logcdf"}
    return {name: lambda x, f=rules[other]: f(-x) for name, other in pairs.items()}


def _tangent(q: Operand) -> Any:
    """Return tan(pi q / 2), inf at 1."""
    return where(q == 1, math.inf, np.tan(0.5 * math.pi * where(q == 1, 0.5, q)))


_GUMBEL_L = _hazard(np.exp)
rayleigh = Continuous(
    "rayleigh",
    {
        "logpdf": lambda x: _log(x) - 0.5 * x * x,
        "pdf": lambda x: x * np.exp(-0.5 * x * x),
        **_hazard(lambda x: 0.5 * x * x),
        "ppf": lambda q: np.sqrt(-2 * np.log1p(-q)),
    },
    low=0.0,
)
weibull_min = Continuous(
    "weibull_min",
    {
        "logpdf": lambda x, c: np.log(c) + _xlogy(c - 1, x) - x**c,
        "pdf": lambda x, c: c * power_exp(x, c - 1, -(x**c)),
        **_hazard(lambda x, c: x**c),
        "ppf": lambda q, c: (-np.log1p(-q)) ** (1 / c),
    },
    ("c",),
    low=0.0,
)
halfnorm = Continuous(
    "halfnorm",
    {
        "logpdf": lambda x: 0.5 * math.log(2 / math.pi) - 0.5 * x * x,
        **both_tails(lambda x: _erf(x * _ROOT_HALF), lambda x: _erfc(x * _ROOT_HALF)),
        "ppf": lambda q: _ndtri(0.5 * (1 + q)),
    },
    low=0.0,
)
gumbel_l = Continuous(
    "gumbel_l", {"logpdf": lambda x: x - np.exp(x), **_GUMBEL_L, "ppf": lambda q: np.log(-np.log1p(-q))}
)
gumbel_r = Continuous(
    "gumbel_r", {"logpdf": lambda x: -x - np.exp(-x), **_mirrored(_GUMBEL_L), "ppf": lambda q: -np.log(-np.log(q))}
)
pareto = Continuous(
    "pareto",
    {
        "logpdf": lambda x, b: np.log(b) - (b + 1) * np.log(x),
        **_hazard(lambda x, b: b * np.log(x)),
        "ppf": lambda q, b: np.exp(-np.log1p(-q) / b),
    },
    ("b",),
    low=1.0,
    inner=2.0,
)
lomax = Continuous(
    "lomax",
    {
        "logpdf": lambda x, c: np.log(c) - (c + 1) * np.log1p(x),
        **_hazard(lambda x, c: c * np.log1p(x)),
        "ppf": lambda q, c: np.expm1(-np.log1p(-q) / c),
    },
    ("c",),
    low=0.0,
)
maxwell = Continuous(
    "maxwell",
    {
        "logpdf": lambda x: 0.5 * math.log(2 / math.pi) + 2 * _log(x) - 0.5 * x * x,
        "pdf": lambda x: math.sqrt(2 / math.pi) * x * x * np.exp(-0.5 * x * x),
        **both_tails(lambda x: _gammainc(1.5, 0.5 * x * x), lambda x: _gammaincc(1.5, 0.5 * x * x)),
        "ppf": lambda q: np.sqrt(2 * _gammaincinv(1.5, q)),
    },
    low=0.0,
)
halfcauchy = Continuous(
    "halfcauchy",
    {
        "logpdf": lambda x: math.log(2 / math.pi) - np.log1p(x * x),
        **both_tails(lambda x: 2 / math.pi * np.arctan(x), lambda x: 2 / math.pi * np.arctan2(1.0, x)),
        "ppf": _tangent,
    },
    low=0.0,
)
halflogistic = Continuous(
    "halflogistic",
    {
        "logpdf": lambda x: math.log(2) + _log_expit(x) + _log_expit(-x),
        **both_tails(lambda x: np.tanh(0.5 * x), lambda x: 2 * _expit(-x)),
        "ppf": lambda q: 2 * np.arctanh(q),
    },
    low=0.0,
)
gompertz = Continuous(
    "gompertz",
    {
        "logpdf": lambda x, c: np.log(c) + x - c * np.expm1(x),
        **_hazard(lambda x, c: c * np.expm1(x)),
        "ppf": lambda q, c: np.log1p(-np.log1p(-q) / c),
    },
    ("c",),
    low=0.0,
)
hypsecant = Continuous(
    "hypsecant",
    {
        "logpdf": lambda x: math.log(2 / math.pi) - np.logaddexp(x, -x),
        **both_tails(lambda x: 2 / math.pi * np.arctan(np.exp(x)), lambda x: 2 / math.pi * np.arctan(np.exp(-x))),
        "ppf": lambda q: np.log(_tangent(q)),
    },
)
