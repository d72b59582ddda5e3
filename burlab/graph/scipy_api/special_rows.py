"""Derivatives of powers, losses, error functions, gamma functions and integrals of elementary functions.

Formulas are those of the NIST Digital Library of Mathematical Functions (dlmf.nist.gov, release 1.2) by their section;
what the arguments are is said in SciPy's documentation of each function.
"""
# ruff: noqa: ARG005, SLF001, PLW0108 - a formula takes all arguments and results; some ufuncs of SciPy are private
# A formula has no types: its arguments are whatever the ufunc takes, and pyright infers none for them.
# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

import math
from typing import Any

import numpy as np

from .derivative_rows import ROWS, WHOLE, derivative, like, row, special as s, with_limit

_ROOT = math.sqrt(math.pi)


# Trigonometry, powers and losses.
_DEGREE = math.pi / 180
ROWS.update({
    "cosdg": row(lambda x, _: -_DEGREE * s.sindg(x)),
    "sindg": row(lambda x, _: _DEGREE * s.cosdg(x)),
    "tandg": row(lambda _, y: _DEGREE * (1.0 + y * y)),
    "cotdg": row(lambda _, y: -_DEGREE * (1.0 + y * y)),
    "radian": row(*(lambda d, m, s, _, part=part: 0.0 * d + _DEGREE / part for part in (1.0, 60.0, 3600.0))),
    "cosm1": row(lambda x, _: -np.sin(x)),
    "round": row(None),
    "powm1": row(lambda x, y, _: y * x ** (y - 1.0), lambda x, y, _: np.log(x) * x**y),
    "boxcox": row(lambda x, m, _: x ** (m - 1.0), lambda x, m, _: _boxcox_slope(np.log(x), m)),
    "boxcox1p": row(
        lambda x, m, _: np.exp((m - 1.0) * np.log1p(x)), lambda x, m, _: _boxcox_slope(np.log1p(x), m)
    ),
    "inv_boxcox": row(lambda x, m, y: y / (1.0 + m * x), lambda x, m, y: y * _log_slope(x, m)),
    "inv_boxcox1p": row(lambda x, m, y: (1.0 + y) / (1.0 + m * x), lambda x, m, y: (1.0 + y) * _log_slope(x, m)),
    "huber": row(
        lambda d, r, _: np.where(np.abs(r) <= d, 0.0, np.abs(r) - d),
        lambda d, r, _: np.where(np.abs(r) <= d, r, d * np.sign(r)),
    ),
    "pseudo_huber": row(
        lambda d, r, _: _pseudo_huber_slope(d, r), lambda d, r, _: r / np.hypot(1.0, r / np.where(d == 0.0, 1.0, d))
    ),
    "agm": row(lambda a, b, y: _agm_slope(a, b, y), lambda a, b, y: _agm_slope(b, a, y)),
})  # fmt: skip


def _boxcox_slope(log: Any, m: Any) -> Any:
    """Return the derivative by m of log exprel(m log): that of exprel times log^2, smooth at m = 0."""
    return log * log * derivative(s.exprel, (m * log,), 0)


def _log_slope(x: Any, m: Any) -> Any:
    """Return the derivative by m of log(1 + m x) / m: -x^2 / 2 F(2, 2; 3; -m x), DLMF 15.4.1 and 15.5.1."""
    return -0.5 * x * x * s.hyp2f1(2.0, 2.0, 3.0, -m * x)


def _pseudo_huber_slope(d: Any, r: Any) -> Any:
    """Return the derivative by d of d^2 (root - 1), root = sqrt(1 + (r / d)^2): d (root - 1)^2 / root; |r| at d = 0."""
    at = d == 0.0
    u = r / np.where(at, 1.0, d)
    root = np.hypot(1.0, u)
    less = u / (root + 1.0) * u
    return np.where(at, np.abs(r), np.where(at, 1.0, d) * less * less / root)


def _agm_slope(a: Any, b: Any, y: Any) -> Any:
    """Return the derivative by a: agm = pi / (2 R_F(0, a^2, b^2)), DLMF 19.22.2 and 19.18.1."""
    size = np.abs(a)
    return 2.0 / (3.0 * math.pi) * y * y * size * s.elliprd(0.0, b * b, a * a)


# Error functions and Fresnel integrals: DLMF 7.
_TWO = 2.0 / _ROOT
ROWS.update({
    "erf": row(lambda z, _: _TWO * np.exp(-z * z)),
    "erfc": row(lambda z, _: -_TWO * np.exp(-z * z)),
    "erfi": row(lambda z, _: _TWO * np.exp(z * z)),
    "erfcx": row(lambda z, y: 2.0 * z * y - _TWO),
    "dawsn": row(lambda z, y: 1.0 - 2.0 * z * y),
    "wofz": row(lambda z, y: _wofz_slope(z, y)),
    "ndtr": row(lambda z, _: np.exp(-0.5 * z * z) / math.sqrt(2 * math.pi)),
    "log_ndtr": row(lambda z, y: np.exp(-0.5 * z * z - y) / math.sqrt(2 * math.pi)),
    "ndtri_exp": row(lambda y, x: math.sqrt(2 * math.pi) * np.exp(y + 0.5 * x * x)),
    "fresnel": row(lambda z, *_: (np.sin(math.pi / 2 * z * z), np.cos(math.pi / 2 * z * z))),
    "modfresnelp": row(lambda x, _, k: _modified_fresnel(x, k, 1.0)),
    "modfresnelm": row(lambda x, _, k: _modified_fresnel(x, k, -1.0)),
    "voigt_profile": row(*(lambda *values, k=k: _voigt(*values)[k] for k in range(3))),
    "owens_t": row(
        lambda h, a, _: -0.5 / math.sqrt(2 * math.pi) * np.exp(-0.5 * h * h) * s.erf(a * h * math.sqrt(0.5)),
        lambda h, a, _: np.exp(-0.5 * h * h * (1.0 + a * a)) / (2 * math.pi * (1.0 + a * a)),
    ),
})  # fmt: skip
_ASYMPTOTIC_SQUARE = 400.0  # |z|^2 from which the asymptotic series of w' is exact to the last digit


def _wofz_slope(z: Any, w: Any) -> Any:
    """Return w' = 2i / sqrt pi - 2 z w (DLMF 7.10.2), far from 0 by the series of DLMF 7.12.1, as that cancels."""
    squared = z.real * z.real + z.imag * z.imag
    far = (squared > _ASYMPTOTIC_SQUARE) & (z.imag >= 0.0)
    inverse = 1.0 / np.where(far, z, 20.0)
    u = inverse * inverse
    total = u * 0.0
    for k in range(11, -1, -1):
        total = 1.0 + (2 * k + 3) / 2 * u * total
    return np.where(far, -1j / _ROOT * u * total, 2j / _ROOT - 2.0 * z * w)


def _voigt(x: Any, sigma: Any, gamma: Any, y: Any) -> tuple[Any, Any, Any]:
    """Return the derivatives of Re w(z) / (sigma sqrt(2 pi)), z = (x + i gamma) / (sigma sqrt 2)."""
    wide = 1.0 / (sigma * math.sqrt(2.0))
    z = (x + 1j * gamma) * wide
    slope = _wofz_slope(z, s.wofz(z))
    factor = wide * wide / _ROOT
    turned = slope * z
    return slope.real * factor, -(turned.real * wide / _ROOT + y) / sigma, -slope.imag * factor


def _modified_fresnel(x: Any, k: Any, sign: float) -> tuple[Any, Any]:
    """Return the derivatives of F = int_x^inf exp(+-i t^2) dt and of K = exp(-+i (x^2 + pi / 4)) F / sqrt pi."""
    turn = complex(math.cos(math.pi / 4), -sign * math.sin(math.pi / 4)) / _ROOT
    return -np.exp(sign * 1j * (x * x)), -2j * sign * x * k - turn


# Gamma functions: DLMF 5. Exponential, sine, cosine and logarithmic integrals: DLMF 6, 8.19, 25.12.
ROWS.update({
    "gamma": row(lambda z, y: y * s.psi(z)),
    "loggamma": row(lambda z, _: s.psi(z)),
    "rgamma": row(lambda z, y: -y * s.psi(z)),
    "psi": row(lambda z, _: _trigamma(z)),
    "binom": row(lambda n, k, y: _binom_by_n(n, k, y), lambda n, k, y: _binom_by_k(n, k, y)),
    "poch": row(lambda z, m, y: y * (s.psi(z + m) - s.psi(z)), lambda z, m, y: y * s.psi(z + m)),
    "zetac": like(lambda x: s._riemann_zeta(x) - 1.0, 1),
    "exp1": row(lambda z, _: -np.exp(-z) / z),
    "expi": row(lambda z, _: np.exp(z) / z),
    "expn": row(WHOLE, lambda n, x, y: _expn_slope(n, x)),
    "sici": row(lambda z, *_: (with_limit(z, 1.0, lambda z: np.sin(z) / z), np.cos(z) / z)),
    "shichi": row(lambda z, *_: (with_limit(z, 1.0, lambda z: np.sinh(z) / z), np.cosh(z) / z)),
    "spence": row(lambda z, _: _spence_slope(z)),
    "wrightomega": row(lambda _, w: w / (1.0 + w)),
    "xlogy": row(lambda _, y, r: np.log(y), lambda x, y, r: x / y),
    "xlog1py": row(lambda _, y, r: np.log1p(y), lambda x, y, r: x / (1.0 + y)),
    "expm1": row(lambda z, y: y + 1.0),
    "log1p": row(lambda z, _: 1.0 / (1.0 + z)),
})  # fmt: skip


_SHIFT = 10  # where the series of trigamma is exact to the last digit
_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510)


def _trigamma(z: Any) -> Any:
    """Return the derivative of psi of complex numbers: DLMF 5.15.5, 5.15.8; left of 1/2 by reflection, 5.15.6."""
    left = z.real < 0.5
    w = np.where(left, 1.0 - z, z)
    total = w * 0.0
    for k in range(_SHIFT):
        inverse = 1.0 / (w + k)
        total = total + inverse * inverse
    u = 1.0 / (w + _SHIFT)
    square, series = u * u, u * 0.0
    for number in reversed(_BERNOULLI):
        series = (series + number) * square
    total = total + u * (1.0 + 0.5 * u + series)
    return np.where(left, _squared_cosecant(np.where(left, z, 0.5)) - total, total)


def _squared_cosecant(z: Any) -> Any:
    """Return pi^2 / sin(pi z)^2 as -4 pi^2 q / (1 - q)^2, q = exp(+-2 pi i z) with |q| <= 1, which cannot overflow."""
    angle = np.where(z.imag < 0.0, -1.0, 1.0) * (2j * math.pi) * (z - np.rint(z.real))
    less = np.expm1(angle)
    return -4.0 * math.pi**2 * np.exp(angle) / (less * less)


def _binom_by_n(n: Any, k: Any, y: Any) -> Any:
    """Return y (psi(n + 1) - psi(n - k + 1)); at the poles of the latter by the derivative of 1 / Gamma."""
    rest = n - k + 1.0
    pole = (rest <= 0.0) & (rest == np.floor(rest))
    first = y * s.psi(n + 1.0)
    return np.where(pole, first + _at_pole(n, k + 1.0, rest, pole), first - y * s.psi(np.where(pole, 1.0, rest)))


def _binom_by_k(n: Any, k: Any, y: Any) -> Any:
    """Return y (psi(n - k + 1) - psi(k + 1)), where these have poles by the derivative of 1 / Gamma."""
    rest, last = n - k + 1.0, k + 1.0
    right = (rest <= 0.0) & (rest == np.floor(rest))
    left = (last <= 0.0) & (last == np.floor(last))
    by_rest = np.where(right, -_at_pole(n, last, rest, right), y * s.psi(np.where(right, 1.0, rest)))
    by_last = np.where(left, -_at_pole(n, rest, last, left), y * s.psi(np.where(left, 1.0, last)))
    return by_rest - by_last


def _at_pole(n: Any, other: Any, z: Any, pole: Any) -> Any:
    """Return Gamma(n + 1) / Gamma(other) times the derivative of 1 / Gamma at z, where Gamma has a pole there."""
    slope = derivative(s.rgamma, (np.where(pole, z, 1.0),), 0)
    return s.gamma(np.where(pole, n, 0.0) + 1.0) * s.rgamma(np.where(pole, other, 1.0)) * slope


def _expn_slope(n: Any, x: Any) -> Any:
    """Return -E_(n-1), DLMF 8.19.13; of E_0 = exp(-x) / x that of the formula."""
    first = n < 1
    return -np.where(first, np.exp(-x) * (1.0 + x) / (x * x), s.expn(np.where(first, 0, n - 1), x))


def _spence_slope(z: Any) -> Any:
    """Return log z / (1 - z), near 1 as -F(1, 1; 2; 1 - z): DLMF 15.4.1."""
    t = 1.0 - z
    near = np.abs(t) < 0.5
    close = -s.hyp2f1(1.0, 1.0, 2.0, np.where(near, t, 0.0))
    away = np.where(near, 2.0, z)
    return np.where(near, close, np.log(away) / (1.0 - away))
