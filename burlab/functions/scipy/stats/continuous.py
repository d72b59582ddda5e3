"""Continuous distributions at loc 0 and scale 1: what each method computes in the support."""

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from burlab.graph.node import SPECIAL
from burlab.graph.numpy_api.elementwise import power_exp, where
from burlab.typing import Operand

from .location_scale import Continuous
from .powers import two_powers
from .tails import both_tails, log_one_minus_exp

_LOG_ROOT_2PI, _LOG_2, _LOG_PI = 0.5 * math.log(2 * math.pi), math.log(2.0), math.log(math.pi)
_gammaln, _betaln, _xlogy, _xlog1py = (SPECIAL[name] for name in ("gammaln", "betaln", "xlogy", "xlog1py"))
_ndtr, _ndtri, _log_ndtr = (SPECIAL[name] for name in ("ndtr", "ndtri", "log_ndtr"))
_gammainc, _gammaincc, _stdtr = (SPECIAL[name] for name in ("gammainc", "gammaincc", "stdtr"))
_betainc, _betaincc = SPECIAL["betainc"], SPECIAL["betaincc"]
_gammaincinv, _betaincinv, _stdtrit = (SPECIAL[name] for name in ("gammaincinv", "betaincinv", "stdtrit"))
_expit, _logit, _log_expit = (SPECIAL[name] for name in ("expit", "logit", "log_expit"))


def _normal(x: Operand) -> Any:
    return -0.5 * x * x - _LOG_ROOT_2PI


def _log_normal(x: Operand, s: Operand) -> Any:
    y = np.log(where(x == 0, 1.0, x))
    return where(x == 0, -math.inf, _normal(y / s) - np.log(s) - y)


def _gamma(x: Operand, a: Operand) -> Any:
    return _xlogy(a - 1, x) - x - _gammaln(a)


def _chi_squared(x: Operand, df: Operand) -> Any:
    half = 0.5 * df
    return _xlogy(half - 1, x) - 0.5 * x - _gammaln(half) - _LOG_2 * half


def _beta(x: Operand, a: Operand, b: Operand) -> Any:
    return _xlog1py(b - 1, -x) + _xlogy(a - 1, x) - _betaln(a, b)


def _gamma_density(x: Operand, a: Operand) -> Any:
    return power_exp(x, a - 1, -x - _gammaln(a))


def _chi_squared_density(x: Operand, df: Operand) -> Any:
    half = 0.5 * df
    return power_exp(x, half - 1, -0.5 * x - _gammaln(half) - _LOG_2 * half)


def _beta_density(x: Operand, a: Operand, b: Operand) -> Any:
    return two_powers(x, a - 1, b - 1, -_betaln(a, b))


def _log_of_square(x: Operand, d: Operand) -> Any:
    """log(1 + x^2 / d), where x^2 may overflow, too: 1 is nothing beside it there."""
    far = (np.abs(x) > 1e15) & (x * x > 1e18 * d)
    near = where(far, 1.0, x)
    return where(far, 2 * np.log(np.abs(where(far, x, 1.0))) - np.log(d), np.log1p(near * near / d))


def _cauchy(x: Operand) -> Any:
    return -_LOG_PI - _log_of_square(x, np.ones((), x.dtype))


def _student(x: Operand, df: Operand) -> Any:
    """For df = inf the normal distribution."""
    known = np.isfinite(df)
    d = where(known, df, 1.0)
    heavy = -0.5 * (d + 1) * _log_of_square(x, d) - 0.5 * np.log(d) - _betaln(0.5 * d, 0.5)
    return where(known, heavy, _normal(x))


def _student_cdf(x: Operand, df: Operand) -> Any:
    known = np.isfinite(df)
    return where(known, _stdtr(where(known, df, 1.0), x), _ndtr(x))


def _student_sf(x: Operand, df: Operand) -> Any:
    return _student_cdf(-x, df)


def _gamma_cdf(x: Operand, a: Operand) -> Any:
    return _gammainc(a, x)


def _gamma_sf(x: Operand, a: Operand) -> Any:
    return _gammaincc(a, x)


def _chi_squared_cdf(x: Operand, df: Operand) -> Any:
    return _gammainc(0.5 * df, 0.5 * x)


def _chi_squared_sf(x: Operand, df: Operand) -> Any:
    return _gammaincc(0.5 * df, 0.5 * x)


def _beta_cdf(x: Operand, a: Operand, b: Operand) -> Any:
    return _betainc(a, b, x)


def _beta_sf(x: Operand, a: Operand, b: Operand) -> Any:
    return _betaincc(a, b, x)


def _student_quantile(q: Operand, df: Operand) -> Any:
    return _stdtrit(df, q)


def _gamma_quantile(q: Operand, a: Operand) -> Any:
    return _gammaincinv(a, q)


def _chi_squared_quantile(q: Operand, df: Operand) -> Any:
    return 2 * _gammaincinv(0.5 * df, q)


def _beta_quantile(q: Operand, a: Operand, b: Operand) -> Any:
    return _betaincinv(a, b, q)


def _laplace_cdf(x: Operand) -> Any:
    half = 0.5 * np.exp(-np.abs(x))
    return where(x > 0, 1 - half, half)


def _laplace_log_cdf(x: Operand) -> Any:
    tail = -np.abs(x) - _LOG_2
    return where(x > 0, np.log1p(-np.exp(tail)), tail)


def _laplace_quantile(q: Operand) -> Any:
    upper = q > 0.5
    tail = np.log(2 * where(upper, 1 - q, q))
    return where(upper, -tail, tail)


def _cauchy_cdf(x: Operand) -> Any:
    return np.arctan2(1.0, -x) / math.pi


def _cauchy_log_cdf(x: Operand) -> Any:
    tail = _cauchy_cdf(-np.abs(x))
    return where(x > 0, np.log1p(-tail), np.log(tail))


def _cauchy_quantile(q: Operand) -> Any:
    """-cot(pi q), around 1/2 by tan."""
    inner = np.abs(q - 0.5) < 0.25
    middle = np.tan(math.pi * (where(inner, q, 0.5) - 0.5))
    low = where(q < 0.5, q, 1 - q)
    ends = where(q < 0.5, -1.0, 1.0) / np.tan(math.pi * where(inner, 0.25, low))
    return where(inner, middle, ends)


def _at_minus(rule: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Of a symmetric distribution."""

    def other(x: Operand) -> Any:
        return rule(-x)

    return other


def _plain(name: str, rules: Mapping[str, Callable[[Any], Any]], low: float = -math.inf, high: float = math.inf) -> Any:
    """A distribution without shapes."""
    return Continuous(name, rules, low=low, high=high)


norm = _plain(
    "norm",
    {
        "logpdf": _normal, "cdf": _ndtr, "sf": _at_minus(_ndtr), "logcdf": _log_ndtr, "logsf": _at_minus(_log_ndtr),
        "ppf": _ndtri,
    },
)  # fmt: skip


def _of_log(tail: Callable[[Any], Any], sign: float, at_zero: float) -> Callable[[Any, Any], Any]:
    """A tail of the normal distribution at log x / s; at 0 its limit, which all derivatives share."""

    def rule(x: Operand, s: Operand) -> Any:
        return where(x == 0, at_zero, tail(sign * np.log(where(x == 0, 1.0, x)) / s))

    return rule


_LOG_NORMAL: dict[str, Callable[[Any, Any], Any]] = {
    "logpdf": _log_normal,
    "cdf": _of_log(_ndtr, 1.0, 0.0),
    "sf": _of_log(_ndtr, -1.0, 1.0),
    "logcdf": lambda x, s: _log_ndtr(np.log(x) / s),
    "logsf": _of_log(_log_ndtr, -1.0, 0.0),
    "ppf": lambda q, s: np.exp(s * _ndtri(q)),
}
lognorm = Continuous("lognorm", _LOG_NORMAL, ("s",), low=0.0)
expon = _plain(
    "expon",
    {
        "logpdf": lambda x: -x, "cdf": lambda x: -np.expm1(-x), "sf": lambda x: np.exp(-x),
        "logcdf": log_one_minus_exp, "logsf": lambda x: -x, "ppf": lambda q: -np.log1p(-q),
    },
    low=0.0,
)  # fmt: skip
laplace = _plain(
    "laplace",
    {
        "logpdf": lambda x: -np.abs(x) - _LOG_2, "cdf": _laplace_cdf, "sf": _at_minus(_laplace_cdf),
        "logcdf": _laplace_log_cdf, "logsf": _at_minus(_laplace_log_cdf), "ppf": _laplace_quantile,
    },
)  # fmt: skip
uniform = _plain(
    "uniform",
    {
        "logpdf": lambda x: 0.0 * x, "cdf": lambda x: x, "sf": lambda x: 1 - x, "logcdf": np.log,
        "logsf": lambda x: np.log1p(-x), "ppf": lambda q: q,
    },
    low=0.0,
    high=1.0,
)  # fmt: skip
logistic = _plain(
    "logistic",
    {
        "logpdf": lambda x: _log_expit(x) + _log_expit(-x), "cdf": _expit, "sf": _at_minus(_expit),
        "logcdf": _log_expit, "logsf": _at_minus(_log_expit), "ppf": _logit,
    },
)  # fmt: skip
cauchy = _plain(
    "cauchy",
    {
        "logpdf": _cauchy, "cdf": _cauchy_cdf, "sf": _at_minus(_cauchy_cdf),
        "logcdf": _cauchy_log_cdf, "logsf": _at_minus(_cauchy_log_cdf),
        "ppf": _cauchy_quantile,
    },
)  # fmt: skip
t = Continuous("t", {"logpdf": _student, **both_tails(_student_cdf, _student_sf), "ppf": _student_quantile}, ("df",))
_GAMMA = {"logpdf": _gamma, "pdf": _gamma_density, **both_tails(_gamma_cdf, _gamma_sf), "ppf": _gamma_quantile}
_CHI_SQUARED = {
    "logpdf": _chi_squared,
    "pdf": _chi_squared_density,
    **both_tails(_chi_squared_cdf, _chi_squared_sf),
    "ppf": _chi_squared_quantile,
}
_BETA = {"logpdf": _beta, "pdf": _beta_density, **both_tails(_beta_cdf, _beta_sf), "ppf": _beta_quantile}
gamma = Continuous("gamma", _GAMMA, ("a",), low=0.0)
chi2 = Continuous("chi2", _CHI_SQUARED, ("df",), low=0.0)
beta = Continuous("beta", _BETA, ("a", "b"), low=0.0, high=1.0)
