"""Derivatives of parabolic cylinder, Mathieu and spheroidal functions.

Formulas are those of the NIST Digital Library of Mathematical Functions (dlmf.nist.gov, release 1.2) by their section;
what the arguments are is said in SciPy's documentation of each function.
"""
# A formula has no types: its arguments are whatever the ufunc takes, and pyright infers none for them.
# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

import math
from typing import Any

import numpy as np

from .derivative_rows import ORDER, PARAMETER, ROWS, WHOLE, row, special as s

_DEGREE = math.pi / 180


# Parabolic cylinder functions: DLMF 12; Mathieu functions 28, in degrees; spheroidal wave functions 30.
def _oscillating(factor: Any, scale: float = 1.0) -> Any:
    """Return the slopes of (w, w') with w'' = factor(...) w."""
    return lambda *values: (scale * values[-1], scale * factor(*values[:-2]) * values[-2])


def _angular(kind: str, degree: Any) -> Any:
    """Return the row of an angular Mathieu function of x degrees, with its derivative by the angle."""
    f = _oscillating(lambda m, q, x: 2.0 * q * np.cos(x * (2 * _DEGREE)) - getattr(s, kind)(m, q), degree)
    return row(WHOLE, PARAMETER, f)


def _radial(kind: str) -> Any:
    f = _oscillating(lambda m, q, x: getattr(s, kind)(m, q) - 2.0 * q * np.cosh(2.0 * x))
    return row(WHOLE, PARAMETER, f)


def _spheroidal(sign: float, characteristic: str) -> Any:
    """Return the slopes of w by (1 - x^2) w'' - 2 x w' + (lambda -+ c^2 x^2 - m^2 / (1 - x^2)) w = 0, DLMF 30.2.1."""

    def slopes(m: Any, n: Any, c: Any, *rest: Any) -> tuple[Any, Any]:
        *known, x, y, yp = rest
        value = known[0] if known else getattr(s, characteristic)(m, n, c)
        return yp, (2.0 * x * yp - (value - sign * c * c * x * x - m * m / (1.0 - x * x)) * y) / (1.0 - x * x)

    return slopes


def _oblate_radial(m: Any, n: Any, c: Any, *rest: Any) -> tuple[Any, Any]:
    """Return the slopes of a radial function of i x: (1 + x^2) w'' + 2 x w' - (k - c^2 x^2 - m^2 / (1 + x^2)) w = 0."""
    *known, x, y, yp = rest
    value = known[0] if known else s.obl_cv(m, n, c)
    return yp, ((value - c * c * x * x - m * m / (1.0 + x * x)) * y - 2.0 * x * yp) / (1.0 + x * x)


_MODES = (WHOLE, WHOLE, PARAMETER)
ROWS.update({
    "pbdv": row(ORDER, _oscillating(lambda v, x: 0.25 * x * x - v - 0.5)),
    "pbvv": row(ORDER, _oscillating(lambda v, x: 0.25 * x * x - v - 0.5)),
    "pbwa": row(PARAMETER, _oscillating(lambda a, x: a - 0.25 * x * x)),
    "mathieu_a": row(WHOLE, PARAMETER), "mathieu_b": row(WHOLE, PARAMETER),
    "mathieu_cem": _angular("mathieu_a", _DEGREE), "mathieu_sem": _angular("mathieu_b", _DEGREE),
    "mathieu_modcem1": _radial("mathieu_a"), "mathieu_modcem2": _radial("mathieu_a"),
    "mathieu_modsem1": _radial("mathieu_b"), "mathieu_modsem2": _radial("mathieu_b"),
    "pro_cv": row(*_MODES), "obl_cv": row(*_MODES),
    **{f"pro_{kind}": row(*_MODES, _spheroidal(1.0, "pro_cv")) for kind in ("ang1", "rad1", "rad2")},
    **{f"pro_{kind}_cv": row(*_MODES, PARAMETER, _spheroidal(1.0, "")) for kind in ("ang1", "rad1", "rad2")},
    "obl_ang1": row(*_MODES, _spheroidal(-1.0, "obl_cv")),
    "obl_ang1_cv": row(*_MODES, PARAMETER, _spheroidal(-1.0, "")),
    **{f"obl_{kind}": row(*_MODES, _oblate_radial) for kind in ("rad1", "rad2")},
    **{f"obl_{kind}_cv": row(*_MODES, PARAMETER, _oblate_radial) for kind in ("rad1", "rad2")},
})  # fmt: skip
