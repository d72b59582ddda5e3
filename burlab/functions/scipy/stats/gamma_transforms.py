"""Distributions of functions of a gamma variable G, or of a normal one, at loc 0 and scale 1.

Formulas as in Johnson, Kotz and Balakrishnan, Continuous Univariate Distributions, volume 1.
"""
# Rules are called with nodes; pyright infers no types for the lambdas of such tables.
# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

import math

import numpy as np

from burlab.graph.node import SPECIAL

from .location_scale import Continuous
from .tails import both_tails, with_limit

_xlogy, _gammaln, _erf, _erfc, _erfcinv = (SPECIAL[name] for name in ("xlogy", "gammaln", "erf", "erfc", "erfcinv"))
_gammainc, _gammaincc = SPECIAL["gammainc"], SPECIAL["gammaincc"]
_gammaincinv, _gammainccinv = SPECIAL["gammaincinv"], SPECIAL["gammainccinv"]
_LOG_2, _HALF_LOG_2PI = math.log(2), 0.5 * math.log(2 * math.pi)


invgamma = Continuous(  # 1 / G
    "invgamma",
    {
        "logpdf": with_limit(lambda x, a: -(a + 1) * np.log(x) - _gammaln(a) - 1 / x, -math.inf),
        **both_tails(
            with_limit(lambda x, a: _gammaincc(a, 1 / x), 0.0), with_limit(lambda x, a: _gammainc(a, 1 / x), 1.0)
        ),
        "ppf": lambda q, a: 1 / _gammainccinv(a, q),
    },
    ("a",),
    low=0.0,
)
loggamma = Continuous(  # log G
    "loggamma",
    {
        "logpdf": lambda x, c: c * x - np.exp(x) - _gammaln(c),
        **both_tails(lambda x, c: _gammainc(c, np.exp(x)), lambda x, c: _gammaincc(c, np.exp(x))),
        "ppf": lambda q, c: np.log(_gammaincinv(c, q)),
    },
    ("c",),
)
gengamma = Continuous(  # G^(1/c)
    "gengamma",
    {
        "logpdf": lambda x, a, c: np.log(c) + _xlogy(c * a - 1, x) - x**c - _gammaln(a),
        **both_tails(lambda x, a, c: _gammainc(a, x**c), lambda x, a, c: _gammaincc(a, x**c)),
        "ppf": lambda q, a, c: _gammaincinv(a, q) ** (1 / c),
    },
    ("a", "c"),
    low=0.0,
)
nakagami = Continuous(  # sqrt(G / nu)
    "nakagami",
    {
        "logpdf": lambda x, nu: _LOG_2 + _xlogy(nu, nu) - _gammaln(nu) + _xlogy(2 * nu - 1, x) - nu * x * x,
        **both_tails(lambda x, nu: _gammainc(nu, nu * x * x), lambda x, nu: _gammaincc(nu, nu * x * x)),
        "ppf": lambda q, nu: np.sqrt(_gammaincinv(nu, q) / nu),
    },
    ("nu",),
    low=0.0,
)
chi = Continuous(  # the length of a vector of df normal numbers
    "chi",
    {
        "logpdf": lambda x, df: _LOG_2 * (1 - 0.5 * df) - _gammaln(0.5 * df) + _xlogy(df - 1, x) - 0.5 * x * x,
        **both_tails(lambda x, df: _gammainc(0.5 * df, 0.5 * x * x), lambda x, df: _gammaincc(0.5 * df, 0.5 * x * x)),
        "ppf": lambda q, df: np.sqrt(2 * _gammaincinv(0.5 * df, q)),
    },
    ("df",),
    low=0.0,
)
levy = Continuous(  # 1 / the square of a normal number
    "levy",
    {
        "logpdf": with_limit(lambda x: -_HALF_LOG_2PI - 1.5 * np.log(x) - 0.5 / x, -math.inf),
        **both_tails(
            with_limit(lambda x: _erfc(np.sqrt(0.5 / x)), 0.0), with_limit(lambda x: _erf(np.sqrt(0.5 / x)), 1.0)
        ),
        "ppf": lambda q: 0.5 / _erfcinv(q) ** 2,
    },
    low=0.0,
)
moyal = Continuous(  # -log of the square of a normal number
    "moyal",
    {
        "logpdf": lambda x: -0.5 * (x + np.exp(-x)) - _HALF_LOG_2PI,
        **both_tails(
            lambda x: _erfc(math.sqrt(0.5) * np.exp(-0.5 * x)), lambda x: _erf(math.sqrt(0.5) * np.exp(-0.5 * x))
        ),
        "ppf": lambda q: -np.log(2 * _erfcinv(q) ** 2),
    },
)
