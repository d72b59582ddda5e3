"""Derivatives of Bessel, Airy, Kelvin and Struve functions, their integrals, hypergeometric functions, polynomials.

Formulas are those of the NIST Digital Library of Mathematical Functions (dlmf.nist.gov, release 1.2) by their section;
what the arguments are is said in SciPy's documentation of each function.
"""
# ruff: noqa: ARG005, PLW0108 - a formula takes all arguments and results
# A formula has no types: its arguments are whatever the ufunc takes, and pyright infers none for them.
# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

import math
from typing import Any

import numpy as np

from burlab.runtime.plain import is_complex

from .derivative_rows import ORDER, PARAMETER, ROWS, WHOLE, row, special as s, with_limit

_ROOT = math.sqrt(math.pi)


# Bessel functions and their integrals: DLMF 10. `mean` of neighbours: 10.6.1, 10.29.1.
def _bessel(name: str, sign: float, scale: Any = None, by_conjugate: Any = None) -> Any:
    """Return the row of a function of order v: (f_(v-1) + sign f_(v+1)) / 2, and what a scaling by exp adds."""

    def slope(v: Any, z: Any, y: Any) -> Any:
        f = getattr(s, name)
        mean = 0.5 * (f(v - 1.0, z) + sign * f(v + 1.0, z))
        return mean if scale is None else scale(z, y, mean)

    return row(ORDER, slope, by_conjugate=by_conjugate)


def _struve(name: str, sign: float) -> Any:
    """Return the row of a Struve function: DLMF 11.4.25 and 11.4.27, halves of the two relations."""

    def slope(v: Any, x: Any, _: Any) -> Any:
        f = getattr(s, name)
        term = (0.5 * x) ** v * s.rgamma(v + 1.5) / _ROOT
        return 0.5 * (f(v - 1.0, x) + sign * f(v + 1.0, x) + term)

    return row(ORDER, slope)


def _scaled_by_imag(name: str) -> Any:
    """Return the row of J or Y times exp(-|Im z|): d|Im z| = sign(Im z) (dz - d(conj z)) / 2i, 0 for real numbers."""

    def by_conjugate(_: Any, z: Any, y: Any) -> Any:
        return -0.5j * np.sign(z.imag) * y

    def scale(z: Any, y: Any, mean: Any) -> Any:
        return mean - by_conjugate(None, z, y) if is_complex(z) else mean

    return _bessel(name, -1.0, scale, by_conjugate)


def _scaled_by_real(name: str) -> Any:
    """Return the row of I times exp(-|Re z|): d|Re z| = sign(Re z) (dz + d(conj z)) / 2."""

    def by_conjugate(_: Any, z: Any, y: Any) -> Any:
        return -0.5 * np.sign(z.real) * y

    def scale(z: Any, y: Any, mean: Any) -> Any:
        return mean + (1.0 if is_complex(z) else 2.0) * by_conjugate(None, z, y)

    return _bessel(name, 1.0, scale, by_conjugate)


def _airy_scaled(z: Any, ai: Any, aip: Any, bi: Any, bip: Any) -> tuple[Any, ...]:
    """Return the derivatives of Ai exp(t) and Bi exp(-|Re t|), t = 2/3 z^1.5: d|Re t| = sign(Re t) Re(sqrt(z) dz).

    Of real numbers below 0 Re t is 0.
    """
    root = np.sqrt(z)
    right = 0.5 * _growth(z) * root if is_complex(z) else np.sqrt(np.maximum(z, 0.0))
    return aip + root * ai, z * ai + root * aip, bip - right * bi, z * bi - right * bip


def _airy_scaled_by_conjugate(z: Any, _ai: Any, _aip: Any, bi: Any, bip: Any) -> tuple[Any, ...]:
    """Return the derivatives of the same by the conjugate of z: Ai exp(t) is analytic."""
    right = 0.5 * _growth(z) * np.conj(np.sqrt(z))
    return None, None, -right * bi, -right * bip


def _growth(z: Any) -> Any:
    """Return the sign of Re z^1.5."""
    return np.sign((z * np.sqrt(z)).real)


ROWS.update({
    "jv": _bessel("jv", -1.0), "yv": _bessel("yv", -1.0), "iv": _bessel("iv", 1.0),
    "jve": _scaled_by_imag("jve"), "yve": _scaled_by_imag("yve"), "ive": _scaled_by_real("ive"),
    "kv": _bessel("kv", 1.0, lambda z, y, mean: -mean),
    "kve": _bessel("kve", 1.0, lambda z, y, mean: y - mean),
    "hankel1": _bessel("hankel1", -1.0), "hankel2": _bessel("hankel2", -1.0),
    "hankel1e": _bessel("hankel1e", -1.0, lambda z, y, mean: mean - 1j * y),
    "hankel2e": _bessel("hankel2e", -1.0, lambda z, y, mean: mean + 1j * y),
    "struve": _struve("struve", -1.0), "modstruve": _struve("modstruve", 1.0),
    "besselpoly": row(
        lambda a, m, v, _: s.besselpoly(a, m + 1.0, v - 1.0) - s.besselpoly(a, m + 1.0, v + 1.0), PARAMETER, ORDER
    ),
    "airy": row(lambda z, ai, aip, bi, bip: (aip, z * ai, bip, z * bi)),
    "airye": row(_airy_scaled, by_conjugate=_airy_scaled_by_conjugate),
    "itairy": row(lambda x, *_: (s.airy(x)[0], s.airy(x)[2], s.airy(-x)[0], s.airy(-x)[2])),
    "itj0y0": row(lambda x, *_: (s.j0(x), s.y0(x))),
    "iti0k0": row(lambda x, *_: (s.i0(x), s.k0(x))),
    "it2j0y0": row(lambda x, *_: (_series(-x * x, x, lambda x: (1.0 - s.j0(x)) / x) , -s.y0(x) / x)),
    "it2i0k0": row(lambda x, *_: (_series(x * x, x, lambda x: (s.i0(x) - 1.0) / x), -s.k0(x) / x)),
    "itstruve0": row(lambda x, _: s.struve(0.0, x)),
    "itmodstruve0": row(lambda x, _: s.modstruve(0.0, x)),
    "it2struve0": row(lambda x, _: -with_limit(x, 2.0 / math.pi, lambda z: s.struve(0.0, z) / z)),
    "ber": row(lambda x, _: s.berp(x)), "bei": row(lambda x, _: s.beip(x)),
    "ker": row(lambda x, _: s.kerp(x)), "kei": row(lambda x, _: s.keip(x)),
    "berp": row(lambda x, y: -s.bei(x) - with_limit(x, 0.0, lambda z: y / z)),
    "beip": row(lambda x, y: s.ber(x) - with_limit(x, 0.5, lambda z: y / z)),
    "kerp": row(lambda x, y: -s.kei(x) - y / x), "keip": row(lambda x, y: s.ker(x) - y / x),
    "kelvin": row(lambda x, be, ke, bep, kep: (bep, kep, 1j * be - bep / x, 1j * ke - kep / x)),
})  # fmt: skip


def _series(square: Any, x: Any, f: Any) -> Any:
    """Return |J_0 - 1| / x or |I_0 - 1| / x, near 0 by their series in +-x^2, DLMF 10.2.2, where they cancel."""
    near = np.abs(x) < 2.0
    t = 0.25 * np.where(near, square, 0.0)
    total = 0.0 * t
    for k in range(14, 0, -1):
        total = 1.0 + t * total / ((k + 1) * (k + 1))
    return np.where(near, 0.25 * x * total, f(np.where(near, 2.0, x)))


# Hypergeometric functions: DLMF 13.3.15, 13.3.22, 15.5.1; orthogonal polynomials 18.9; Legendre functions 14.10.
def _polynomial(slope: Any, count: int) -> Any:
    """Return the row of a polynomial of degree n with `count` parameters; slope(n - 1, n, *parameters, x)."""

    def by_x(n: Any, *rest: Any) -> Any:
        constant = n == 0
        less = np.where(constant, 0, n - 1)
        return np.where(constant, 0.0, slope(less, n, *rest[:-1]))

    return row("the degree counts terms", *[PARAMETER] * count, by_x)


ROWS.update({
    "hyp0f1": row(PARAMETER, lambda b, z, _: s.hyp0f1(b + 1.0, z) / b),
    "hyp1f1": row(PARAMETER, PARAMETER, lambda a, b, z, _: a / b * s.hyp1f1(a + 1.0, b + 1.0, z)),
    "hyp2f1": row(
        *[PARAMETER] * 3, lambda a, b, c, z, _: a * b / c * s.hyp2f1(a + 1.0, b + 1.0, c + 1.0, z)
    ),
    "hyperu": row(PARAMETER, PARAMETER, lambda a, b, z, _: -a * s.hyperu(a + 1.0, b + 1.0, z)),
    "wright_bessel": row(PARAMETER, PARAMETER, lambda a, b, x, _: s.wright_bessel(a, a + b, x)),
    "log_wright_bessel": row(
        PARAMETER, PARAMETER, lambda a, b, x, y: np.exp(s.log_wright_bessel(a, a + b, x) - y)
    ),
    "eval_jacobi": _polynomial(
        lambda k, n, a, b, x: 0.5 * (n + a + b + 1.0) * s.eval_jacobi(k, a + 1.0, b + 1.0, x), 2
    ),
    "eval_sh_jacobi": _polynomial(lambda k, n, p, q, x: n * s.eval_sh_jacobi(k, p + 2.0, q + 1.0, x), 2),
    "eval_gegenbauer": _polynomial(lambda k, n, a, x: 2.0 * a * s.eval_gegenbauer(k, a + 1.0, x), 1),
    "eval_genlaguerre": _polynomial(lambda k, n, a, x: -s.eval_genlaguerre(k, a + 1.0, x), 1),
    "eval_laguerre": _polynomial(lambda k, n, x: -s.eval_genlaguerre(k, 1.0, x), 0),
    "eval_legendre": _polynomial(lambda k, n, x: s.eval_gegenbauer(k, 1.5, x), 0),
    "eval_sh_legendre": _polynomial(lambda k, n, x: 2.0 * s.eval_gegenbauer(k, 1.5, 2.0 * x - 1.0), 0),
    "eval_chebyt": _polynomial(lambda k, n, x: n * s.eval_chebyu(k, x), 0),
    "eval_chebyu": _polynomial(lambda k, n, x: 2.0 * s.eval_gegenbauer(k, 2.0, x), 0),
    "eval_chebyc": _polynomial(lambda k, n, x: n * s.eval_chebyu(k, 0.5 * x), 0),
    "eval_chebys": _polynomial(lambda k, n, x: s.eval_gegenbauer(k, 2.0, 0.5 * x), 0),
    "eval_sh_chebyt": _polynomial(lambda k, n, x: 2.0 * n * s.eval_chebyu(k, 2.0 * x - 1.0), 0),
    "eval_sh_chebyu": _polynomial(lambda k, n, x: 4.0 * s.eval_gegenbauer(k, 2.0, 2.0 * x - 1.0), 0),
    "eval_hermite": _polynomial(lambda k, n, x: 2.0 * n * s.eval_hermite(k, x), 0),
    "eval_hermitenorm": _polynomial(lambda k, n, x: n * s.eval_hermitenorm(k, x), 0),
    "lpmv": row(WHOLE, ORDER, lambda *values: _legendre_slope(*values)),
})  # fmt: skip


def _legendre_slope(m: Any, v: Any, x: Any, y: Any) -> Any:
    """Return -P_v^(m+1) / sqrt(1 - x^2) - m x P_v^m / (1 - x^2): DLMF 14.10.2 and 14.10.4."""
    square = (1.0 - x) * (1.0 + x)
    return -s.lpmv(m + 1.0, v, x) / np.sqrt(square) - m * x * y / square
