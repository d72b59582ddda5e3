"""Derivatives of elliptic integrals and functions.

Formulas are those of the NIST Digital Library of Mathematical Functions (dlmf.nist.gov, release 1.2) by their section;
what the arguments are is said in SciPy's documentation of each function.
"""
# ruff: noqa: ARG005, PLW0108 - a formula takes all arguments and results
# A formula has no types: its arguments are whatever the ufunc takes, and pyright infers none for them.
# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

import math
from typing import Any

import numpy as np

from .derivative_rows import ROWS, derivative, like, row, special as s

# Elliptic integrals and functions: DLMF 19 and 22; Carlson's symmetric integrals 19.18, 19.20, 19.26.
ROWS.update({
    "ellipk": row(lambda m, _: s.elliprd(0.0, 1.0, 1.0 - m) / 6.0),
    "ellipkm1": row(lambda p, _: s.elliprd(0.0, 1.0, p) / -6.0),
    "ellipe": row(lambda m, _: s.elliprd(0.0, 1.0 - m, 1.0) / -6.0),
    "ellipkinc": row(
        lambda u, m, _: 1.0 / np.sqrt(1.0 - m * np.sin(u) ** 2), lambda u, m, _: _incomplete(u, m, first=True)
    ),
    "ellipeinc": row(
        lambda u, m, _: np.sqrt(1.0 - m * np.sin(u) ** 2), lambda u, m, _: -_incomplete(u, m, first=False)
    ),
    "ellipj": row(
        lambda u, m, sn, cn, dn, ph: (cn * dn, -sn * dn, -m * sn * cn, dn),
        lambda u, m, sn, cn, dn, ph: _jacobi_by_m(m, sn, cn, dn, ph),
    ),
    "elliprf": row(
        lambda x, y, z, _: s.elliprd(y, z, x) / -6.0, lambda x, y, z, _: s.elliprd(x, z, y) / -6.0,
        lambda x, y, z, _: s.elliprd(x, y, z) / -6.0,
    ),
    "elliprg": row(
        lambda x, y, z, _: _third_kind(y, z, x), lambda x, y, z, _: _third_kind(x, z, y),
        lambda x, y, z, _: _third_kind(x, y, z),
    ),
    "elliprc": row(lambda *values: _degenerate_by_x(*values), lambda *values: _degenerate_by_y(*values)),
})  # fmt: skip


def _incomplete(u: Any, m: Any, first: bool) -> Any:
    """Return dF/dm or -dE/dm: for |u| <= pi / 2 by DLMF 19.25.5 and 19.25.9, beyond with whole periods."""
    turns = np.rint(u / math.pi)
    sine, cosine = np.sin(u - math.pi * turns), np.cos(u)
    delta = 1.0 - m * sine * sine
    inside = (cosine * cosine, 1.0, delta) if first else (cosine * cosine, delta, 1.0)
    whole = (0.0, 1.0, 1.0 - m) if first else (0.0, 1.0 - m, 1.0)
    none = turns == 0.0
    periods = np.where(none, 0.0, turns * s.elliprd(*(np.where(none, 1.0, x) for x in whole)))
    return (sine**3 * s.elliprd(*inside) + 2.0 * periods) / 6.0


def _jacobi_by_m(m: Any, sn: Any, cn: Any, dn: Any, ph: Any) -> tuple[Any, ...]:
    """Return the derivatives by m at fixed u, by that of the amplitude: -dn dF/dm."""
    by_m = -dn * _incomplete(ph, m, first=True)
    return cn * by_m, -sn * by_m, -sn * (0.5 * sn + m * cn * by_m) / dn, by_m


def _third_kind(x: Any, y: Any, z: Any) -> Any:
    """Return the derivative of R_G by z: (R_F - z R_D(x, y, z) / 3) / 4."""
    return 0.25 * (s.elliprf(x, y, z) - z * s.elliprd(x, y, z) / 3.0)


def _degenerate_by_x(x: Any, y: Any, r: Any) -> Any:
    """Return the derivative of R_C(x, y) = R_F(x, y, y); of its principal value, y < 0, by its equation."""
    principal = y.real < 0.0
    right = np.where(principal, 1.0, y)
    equation = 0.5 * (r - 1.0 / np.sqrt(x)) / np.where(principal, y - x, 1.0)
    return np.where(principal, equation, s.elliprd(right, right, x) / -6.0)


def _degenerate_by_y(x: Any, y: Any, r: Any) -> Any:
    """Return the derivative by y, for y < 0 by that by x: R_C is of degree -1/2."""
    principal = y.real < 0.0
    right = np.where(principal, 1.0, y)
    euler = -(0.5 * r + x * _degenerate_by_x(x, y, r)) / y
    return np.where(principal, euler, s.elliprd(x, right, right) / -3.0)


def _second_kind(x: Any, y: Any, z: Any) -> Any:
    """Return R_D by 12 steps of Carlson's duplication (Numerical Algorithms 10, 1995), with derivatives of every order.

    Formulas for these cancel where arguments are nearly equal.
    """
    mean, total, factor = (x + y + 3.0 * z) / 5.0, 0.0, 1.0
    for _ in range(12):
        roots = np.sqrt(x), np.sqrt(y), np.sqrt(z)
        more = roots[0] * roots[1] + roots[0] * roots[2] + roots[1] * roots[2]
        total = total + factor / (roots[2] * (z + more))
        x, y, z, mean = (0.25 * (part + more) for part in (x, y, z, mean))
        factor *= 0.25
    a, b = 1.0 - x / mean, 1.0 - y / mean
    c = (a + b) / -3.0
    e2, e3 = a * b - 6.0 * c * c, (3.0 * a * b - 8.0 * c * c) * c
    series = 1.0 - 3.0 / 14.0 * e2 + e3 / 6.0 + 9.0 / 88.0 * e2 * e2 - 9.0 / 22.0 * (a * b - c * c) * c * c
    return 3.0 * total + factor * series / (mean * np.sqrt(mean))


def _second_kind_by_z(x: Any, y: Any, z: Any) -> Any:
    return derivative(_second_kind, (x, y, z), 2)


def _third_by(k: int) -> Any:
    """Return the derivative of R_J(x, y, z, p) by x, y or z: (R_D - R_J) / (2 (x - p)), by partial fractions.

    Near x = p by the first two terms of its series there.
    """

    def slope(*values: Any) -> Any:
        *arguments, p, r = values
        x = arguments.pop(k)
        near = np.abs(x - p) < 1e-5 * np.abs(p)
        apart = [np.where(near, y, 1.0) for y in (*arguments, x)]
        first = derivative(_second_kind, tuple(apart), 2)
        second = derivative(_second_kind_by_z, tuple(apart), 2)
        equal = first / 3.0 + 2.0 / 15.0 * np.where(near, p - x, 0.0) * second
        return np.where(near, equal, 0.5 * (s.elliprd(*arguments, x) - r) / np.where(near, 1.0, x - p))

    return slope


def _third_by_p(x: Any, y: Any, z: Any, p: Any, r: Any) -> Any:
    """Return the derivative of R_J by p, from those by the others: it is of degree -3/2."""
    total = 1.5 * r
    for k, part in enumerate((x, y, z)):
        none = part == 0.0
        safe = [np.where(none, 1.0, v) for v in (x, y, z, p, r)]
        total = total + np.where(none, 0.0, part * _third_by(k)(*safe))
    return -total / p


ROWS["elliprd"] = like(_second_kind, 3)
ROWS["elliprj"] = row(*map(_third_by, range(3)), _third_by_p)
