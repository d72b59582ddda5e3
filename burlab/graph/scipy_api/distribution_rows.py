"""Derivatives of the ufuncs of scipy.special that are distributions, their inverses by each argument, and sums of them.

Cumulative functions that are incomplete beta or gamma functions are differentiated as such, by parameters too (Johnson,
Kotz and Balakrishnan, Continuous Univariate Distributions, volumes 1 and 2; DLMF 8.17). Inverses are implicit
functions.
Counts are whole: the derivative by k, which SciPy rounds down, is 0.
"""
# ruff: noqa: ARG005, SLF001, PLW0108 - a formula takes all arguments and results; some ufuncs of SciPy are private
# A formula has no types: its arguments are whatever the ufunc takes, and pyright infers none for them.
# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

import math
from typing import Any

import numpy as np

from .derivative_rows import ROWS, implicit, like, row, special as s

COUNT = "SciPy takes whole numbers of trials"
DEGREES = "there is no formula for the derivative of a noncentral distribution by its degrees of freedom"
_PEERLESS = "SciPy has no function for it"


def _beta(a: Any, b: Any, x: Any, upper: bool = False) -> Any:
    return (s.betaincc if upper else s.betainc)(a, b, x)


def _binomial(k: Any, n: Any, p: Any, upper: bool) -> Any:
    """Return the distribution of up to n successes, of k that need not be whole; 1 at k >= n."""
    inside = k < n
    value = _beta(np.where(inside, k, 0.0) + 1.0, np.where(inside, n - k, 1.0), p, not upper)
    return np.where(inside, value, 0.0 if upper else 1.0)


def _ratio(a: Any, b: Any, x: Any, upper: bool) -> Any:
    """Return the F distribution by whichever of the two incomplete beta functions is exact."""
    right = a * x > b
    total = b + a * x
    left = _beta(0.5 * a, 0.5 * b, np.where(right, 0.5, a * x / total), upper)
    return np.where(right, _beta(0.5 * b, 0.5 * a, np.where(right, b / total, 0.5), not upper), left)


def _gamma(b: Any, t: Any, upper: bool) -> Any:
    return (s.gammaincc if upper else s.gammainc)(b, t)


ROWS.update({
    "bdtr": like(lambda k, n, p: _binomial(np.floor(k), n, p, False), 3, {1: COUNT}),
    "bdtrc": like(lambda k, n, p: _binomial(np.floor(k), n, p, True), 3, {1: COUNT}),
    "bdtri": implicit(lambda k, n, y, p: _binomial(np.floor(k), n, p, False) - y, 3, {1: COUNT}),
    "bdtrik": implicit(lambda y, n, p, k: _binomial(k, n, p, False) - y, 3),
    "bdtrin": implicit(lambda k, y, p, n: _binomial(k, n, p, False) - y, 3),
    "nbdtr": like(lambda k, n, p: _beta(n, np.floor(k) + 1.0, p), 3, {1: COUNT}),
    "nbdtrc": like(lambda k, n, p: _beta(n, np.floor(k) + 1.0, p, True), 3, {1: COUNT}),
    "nbdtri": implicit(lambda k, n, y, p: _beta(n, np.floor(k) + 1.0, p) - y, 3, {1: COUNT}),
    "nbdtrik": implicit(lambda y, n, p, k: _beta(n, k + 1.0, p) - y, 3),
    "nbdtrin": implicit(lambda k, y, p, n: _beta(n, k + 1.0, p) - y, 3),
    "btdtria": implicit(lambda p, b, x, a: _beta(a, b, x) - p, 3),
    "btdtrib": implicit(lambda a, p, x, b: _beta(a, b, x) - p, 3),
    "fdtr": like(lambda a, b, x: _ratio(a, b, x, False), 3),
    "fdtrc": like(lambda a, b, x: _ratio(a, b, x, True), 3),
    "fdtri": implicit(lambda a, b, p, x: _ratio(a, b, x, False) - p, 3),
    "fdtridfd": implicit(lambda a, p, x, b: _ratio(a, b, x, False) - p, 3),
    "stdtridf": implicit(lambda p, t, df: s.stdtr(df, t) - p, 2),
    "chdtr": like(lambda v, x: _gamma(0.5 * v, 0.5 * x, False), 2),
    "chdtrc": like(lambda v, x: _gamma(0.5 * v, 0.5 * x, True), 2),
    "chdtri": implicit(lambda v, p, x: _gamma(0.5 * v, 0.5 * x, True) - p, 2),
    "chdtriv": implicit(lambda p, x, v: _gamma(0.5 * v, 0.5 * x, False) - p, 2),
    "gdtr": like(lambda a, b, x: _gamma(b, a * x, False), 3),
    "gdtrc": like(lambda a, b, x: _gamma(b, a * x, True), 3),
    "gdtria": implicit(lambda p, b, x, a: _gamma(b, a * x, False) - p, 3),
    "gdtrib": implicit(lambda a, p, x, b: _gamma(b, a * x, False) - p, 3),
    "gdtrix": implicit(lambda a, b, p, x: _gamma(b, a * x, False) - p, 3),
    "pdtr": like(lambda k, m: _gamma(np.floor(k) + 1.0, m, True), 2),
    "pdtrc": like(lambda k, m: _gamma(np.floor(k) + 1.0, m, False), 2),
    "pdtri": implicit(lambda k, y, m: _gamma(np.floor(k) + 1.0, m, True) - y, 2),
    "pdtrik": implicit(lambda p, m, k: _gamma(k + 1.0, m, True) - p, 2),
    "nrdtrimn": like(lambda p, std, x: x - std * s.ndtri(p), 3),
    "nrdtrisd": like(lambda mn, p, x: (x - mn) / s.ndtri(p), 3),
    "kolmogorov": like(lambda x: _kolmogorov(x), 1),
    "kolmogi": implicit(lambda p, x: _kolmogorov(x) - p, 1),
    "smirnov": row(COUNT, lambda n, d, _: s._smirnovp(n, d)),
    "smirnovi": row(COUNT, lambda n, p, d: 1.0 / s._smirnovp(n, d)),
    "_smirnovp": row(COUNT, _PEERLESS),
    "tklmbda": row(lambda x, m, p: _tukey(m, p)[0], lambda x, m, p: _tukey(m, p)[1]),
})  # fmt: skip


def _kolmogorov(x: Any) -> Any:
    """Return the upper tail by the two series of Kolmogorov 1933, each where four terms are exact; 1 at 0."""
    large = x > 1.0
    right = np.where(large, x, 2.0)
    tail = sum(2.0 * (-1.0) ** (k - 1) * np.exp(-2.0 * k * k * right * right) for k in range(1, 6))
    positive = x > 0.05
    left = np.where(positive & ~large, x, 0.5)
    inverse = math.pi**2 / (8.0 * left * left)
    below = math.sqrt(2 * math.pi) / left * sum(np.exp(-((2 * k - 1) ** 2) * inverse) for k in range(1, 5))
    return np.where(large, tail, np.where(positive, 1.0 - below, 1.0))


def _tukey(m: Any, p: Any) -> tuple[Any, Any]:
    """Return the derivatives of p, whose quantile x is a difference of Box-Cox transforms; 0 where x is outside."""
    inside = (p > 0.0) & (p < 1.0)
    q = np.where(inside, p, 0.5)
    slope = 1.0 / (q ** (m - 1.0) + (1.0 - q) ** (m - 1.0))
    by_m = ROWS["boxcox"].partials[1]
    assert callable(by_m)
    moved = by_m(q, m, None) - by_m(1.0 - q, m, None)
    return np.where(inside, slope, 0.0), np.where(inside, -moved * slope, 0.0)


# Noncentral distributions: Johnson, Kotz and Balakrishnan, volume 2, chapters 29 to 31.
def _density_chi2(x: Any, df: Any, nc: Any) -> Any:
    """Return the noncentral chi-squared density: e^(-(x + nc) / 2) (x / 2)^(a - 1) 0F1(a; x nc / 4) / (2 Gamma a)."""
    a = 0.5 * df
    z = x * nc
    small = z < 1.0
    left = s.xlogy(a - 1.0, 0.5 * x) - 0.5 * (x + nc) - s.gammaln(a)
    near = np.exp(left) * s.hyp0f1(a, 0.25 * np.where(small, z, 0.5))
    root = np.sqrt(np.where(small, 1.0, z))
    power = 0.5 * (a - 1.0) * np.log(np.where(small, 1.0, x / np.where(small, 1.0, nc)))
    gap = np.sqrt(x) - np.sqrt(nc)
    far = np.exp(power - 0.5 * np.where(small, 0.0, gap * gap)) * s.ive(a - 1.0, root)
    return 0.5 * np.where(small, near, far)


def _chi2_slopes(x: Any, df: Any, nc: Any) -> tuple[Any, Any]:
    """Return the derivatives of the distribution by x, and by nc: minus the density of two degrees more."""
    return _density_chi2(x, df, nc), -_density_chi2(x, df + 2.0, nc)


def _ncf_slopes(dfn: Any, dfd: Any, nc: Any, f: Any) -> tuple[Any, Any]:
    """Return the derivatives of the noncentral F distribution by f and nc: sums over Poisson weights as 1F1."""
    a, b = 0.5 * dfn, 0.5 * dfd
    total = dfd + dfn * f
    y, rest = dfn * f / total, dfd / total
    weight = np.exp(s.xlogy(a, y) + s.xlogy(b, rest) - s.betaln(a, b) - 0.5 * nc)
    by_f = weight * s.hyp1f1(a + b, a, 0.5 * nc * y) / f
    return by_f, -0.5 * weight / a * s.hyp1f1(a + b, a + 1.0, 0.5 * nc * y)


def _nct_slopes(df: Any, nc: Any, t: Any) -> tuple[Any, Any]:
    """Return the derivatives of the noncentral t distribution by t and nc: E[r f(t r - nc)] and -E[f(t r - nc)].

    r^2 is chi-squared by its degrees, f the density of a normal number.
    """
    total = df + t * t
    w = nc * t / np.sqrt(total)
    start = 0.5 * (df * np.log(0.5 * df) - nc * nc) - s.gammaln(0.5 * df) + math.log(2.0) - 0.5 * math.log(2 * math.pi)

    def moment(k: int) -> Any:
        return np.exp(start - 0.5 * (df + k) * np.log(total)) * _scaled_moment(df + float(k), w)

    return moment(1), -moment(0)


def _scaled_moment(p: Any, w: Any) -> Any:
    """Return int_0^inf u^(p - 1) exp(-u^2 / 2 + w u) du: DLMF 12.5.1, by 12.4.1 or, where w < 0, by 12.7.14."""
    positive = w >= 0.0
    z = 0.5 * w * w
    right = np.where(positive, z, 0.0)
    first = s.gamma(0.5 * p) * s.hyp1f1(0.5 * p, 0.5, right)
    second = math.sqrt(2.0) * w * s.gamma(0.5 * (p + 1.0)) * s.hyp1f1(0.5 * (p + 1.0), 1.5, right)
    left = s.gamma(p) * 2.0 ** (-0.5 * p) * s.hyperu(0.5 * p, 0.5, np.where(positive, 1.0, z))
    return np.where(positive, 2.0 ** (0.5 * p - 1.0) * (first + second), left)


def _part(k: int, slopes: Any, pick: Any) -> Any:
    """Return one of two derivatives at the arguments that `pick` puts in order."""
    return lambda *values: slopes(*pick(*values))[k]


def _solved(slopes: Any, pick: Any, k: int, by: int | None) -> Any:
    """Return the derivative of an inverse: of argument k of `slopes`, by the value, or by argument `by`."""
    if by is None:
        return lambda *values: 1.0 / slopes(*pick(*values))[k]
    return lambda *values: -slopes(*pick(*values))[by] / slopes(*pick(*values))[k]


def _same(*values: Any) -> Any:
    return values[:-1]


ROWS.update({
    "chndtr": row(_part(0, _chi2_slopes, _same), DEGREES, _part(1, _chi2_slopes, _same)),
    "chndtridf": row(DEGREES, DEGREES, DEGREES),
    "chndtrix": row(
        _solved(_chi2_slopes, lambda p, df, nc, x: (x, df, nc), 0, None), DEGREES,
        _solved(_chi2_slopes, lambda p, df, nc, x: (x, df, nc), 0, 1),
    ),
    "chndtrinc": row(
        _solved(_chi2_slopes, lambda x, df, p, nc: (x, df, nc), 1, 0), DEGREES,
        _solved(_chi2_slopes, lambda x, df, p, nc: (x, df, nc), 1, None),
    ),
    "ncfdtr": row(DEGREES, DEGREES, _part(1, _ncf_slopes, _same), _part(0, _ncf_slopes, _same)),
    "ncfdtri": row(
        DEGREES, DEGREES, _solved(_ncf_slopes, lambda a, b, nc, p, f: (a, b, nc, f), 0, 1),
        _solved(_ncf_slopes, lambda a, b, nc, p, f: (a, b, nc, f), 0, None),
    ),
    "ncfdtrinc": row(
        DEGREES, DEGREES, _solved(_ncf_slopes, lambda a, b, p, f, nc: (a, b, nc, f), 1, None),
        _solved(_ncf_slopes, lambda a, b, p, f, nc: (a, b, nc, f), 1, 0),
    ),
    "ncfdtridfd": row(*[DEGREES] * 4), "ncfdtridfn": row(*[DEGREES] * 4),
    "nctdtr": row(DEGREES, _part(1, _nct_slopes, _same), _part(0, _nct_slopes, _same)),
    "nctdtridf": row(*[DEGREES] * 3),
    "nctdtrinc": row(
        DEGREES, _solved(_nct_slopes, lambda df, p, t, nc: (df, nc, t), 1, None),
        _solved(_nct_slopes, lambda df, p, t, nc: (df, nc, t), 1, 0),
    ),
    "nctdtrit": row(
        DEGREES, _solved(_nct_slopes, lambda df, nc, p, t: (df, nc, t), 0, 1),
        _solved(_nct_slopes, lambda df, nc, p, t: (df, nc, t), 0, None),
    ),
})  # fmt: skip
