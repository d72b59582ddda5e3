"""Distributions with tails of powers, and those on the interval from 0 to 1, at loc 0 and scale 1.

Formulas as in Johnson, Kotz and Balakrishnan, Continuous Univariate Distributions, volumes 1 and 2; burr12: Burr 1942;
johnsonsu: Johnson 1949.
"""
# Rules are called with nodes; pyright infers no types for the lambdas of such tables.
# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

import math

import numpy as np

from burlab.graph.node import SPECIAL

from .location_scale import Continuous
from .tails import both_tails, log_one_minus_exp, with_limit

_xlogy, _log_expit = SPECIAL["xlogy"], SPECIAL["log_expit"]
_ndtr, _log_ndtr, _ndtri = SPECIAL["ndtr"], SPECIAL["log_ndtr"], SPECIAL["ndtri"]
_HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)

fisk = Continuous(  # exp of a logistic variable over c
    "fisk",
    {
        "logpdf": lambda x, c: np.log(c) + _xlogy(c - 1, x) - 2 * np.log1p(x**c),
        "cdf": lambda x, c: x**c / (1 + x**c),
        "sf": lambda x, c: 1 / (1 + x**c),
        "logcdf": lambda x, c: _log_expit(c * np.log(x)),
        "logsf": lambda x, c: -np.log1p(x**c),
        "ppf": lambda q, c: (q / (1 - q)) ** (1 / c),
    },
    ("c",),
    low=0.0,
)
burr12 = Continuous(
    "burr12",
    {
        "logpdf": lambda x, c, d: np.log(c) + np.log(d) + _xlogy(c - 1, x) - (d + 1) * np.log1p(x**c),
        "cdf": lambda x, c, d: -np.expm1(-d * np.log1p(x**c)),
        "sf": lambda x, c, d: np.exp(-d * np.log1p(x**c)),
        "logcdf": lambda x, c, d: log_one_minus_exp(d * np.log1p(x**c)),
        "logsf": lambda x, c, d: -d * np.log1p(x**c),
        "ppf": lambda q, c, d: np.expm1(-np.log1p(-q) / d) ** (1 / c),
    },
    ("c", "d"),
    low=0.0,
)
invweibull = Continuous(  # the law of Fréchet
    "invweibull",
    {
        "logpdf": with_limit(lambda x, c: np.log(c) - (c + 1) * np.log(x) - x**-c, -math.inf),
        "cdf": with_limit(lambda x, c: np.exp(-(x**-c)), 0.0),
        "sf": with_limit(lambda x, c: -np.expm1(-(x**-c)), 1.0),
        "logcdf": with_limit(lambda x, c: -(x**-c), -math.inf),
        "logsf": with_limit(lambda x, c: log_one_minus_exp(x**-c), 0.0),
        "ppf": lambda q, c: (-np.log(q)) ** (-1 / c),
    },
    ("c",),
    low=0.0,
)
johnsonsu = Continuous(  # sinh of a normal variable
    "johnsonsu",
    {
        "logpdf": lambda x, a, b: (
            np.log(b) - 0.5 * np.log1p(x * x) - 0.5 * (a + b * np.arcsinh(x)) ** 2 - _HALF_LOG_2PI
        ),
        "cdf": lambda x, a, b: _ndtr(a + b * np.arcsinh(x)),
        "sf": lambda x, a, b: _ndtr(-a - b * np.arcsinh(x)),
        "logcdf": lambda x, a, b: _log_ndtr(a + b * np.arcsinh(x)),
        "logsf": lambda x, a, b: _log_ndtr(-a - b * np.arcsinh(x)),
        "ppf": lambda q, a, b: np.sinh((_ndtri(q) - a) / b),
    },
    ("a", "b"),
    valid=lambda a, b: [b > 0],  # noqa: ARG005 - a is any number
)
arcsine = Continuous(
    "arcsine",
    {
        "logpdf": lambda x: -math.log(math.pi) - 0.5 * (np.log(x) + np.log1p(-x)),
        **both_tails(
            lambda x: 2 / math.pi * np.arctan2(np.sqrt(x), np.sqrt(1 - x)),
            lambda x: 2 / math.pi * np.arctan2(np.sqrt(1 - x), np.sqrt(x)),
        ),
        "ppf": lambda q: np.sin(0.5 * math.pi * q) ** 2,
    },
    low=0.0,
    high=1.0,
)
powerlaw = Continuous(
    "powerlaw",
    {
        "logpdf": lambda x, a: np.log(a) + _xlogy(a - 1, x),
        "cdf": lambda x, a: x**a,
        "sf": lambda x, a: -np.expm1(a * np.log(x)),
        "logcdf": lambda x, a: a * np.log(x),
        "logsf": lambda x, a: log_one_minus_exp(-a * np.log(x)),
        "ppf": lambda q, a: q ** (1 / a),
    },
    ("a",),
    low=0.0,
    high=1.0,
)
