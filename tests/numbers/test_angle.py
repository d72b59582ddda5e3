"""arctan2 of our own: in every quadrant and at the borders between its ranges, for numbers of every size."""

import mpmath
import numpy as np
import pytest
from mpmath import mp

import burlab as bl
from tests.numbers.test_accuracy import error_in_ulp

SPECIAL = np.array([0.0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 5e-324, -5e-324, 1.7e308, -1.7e308])
N = 500


def pairs(kind, dtype):
    """Points (y, x)."""
    rng = np.random.default_rng(7)
    x, share, size = (
        rng.normal(size=N),
        rng.uniform(0.98, 1.02, N),
        10.0 ** rng.integers(*((-300, 300) if dtype == "float64" else (-36, 36)), N),
    )
    border = np.tan(np.pi / 8) * share
    return {
        "anywhere": (rng.normal(size=N) * 10.0 ** rng.integers(-4, 4, N), x),
        "an eighth of a turn": (x * border, x),
        "three eighths": (x, x * border),
        "a diagonal": (-x * share, x),
        "tiny and huge": (rng.normal(size=N) * size, x * size),
        "far from each other": (rng.normal(size=N) * size, x),
    }[kind]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(
    "kind",
    ["anywhere", "an eighth of a turn", "three eighths", "a diagonal", "tiny and huge", "far from each other"],
)
def test_an_angle_is_as_exact_as_stated(kind, dtype):
    y, x = (a.astype(dtype) for a in pairs(kind, dtype))
    got = bl.compile(np.arctan2, y, x)(y, x)
    with mp.workdps(60):
        exact = [mpmath.atan2(mp.mpf(float(b)), mp.mpf(float(a))) for b, a in zip(y, x, strict=True)]
        errors = [error_in_ulp(angle, e) for angle, e in zip(got, exact, strict=True)]
    assert max(errors) <= (1.9 if dtype == "float64" else 0.6)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_zeros_infinities_and_nan_are_as_in_numpy(dtype):
    with np.errstate(over="ignore", under="ignore"):
        y, x = (a.ravel().astype(dtype) for a in np.meshgrid(SPECIAL, SPECIAL))
    got, wanted = bl.compile(np.arctan2, y, x)(y, x), np.arctan2(y, x)
    np.testing.assert_allclose(got, wanted, rtol=4 * np.finfo(dtype).eps)
    known = ~np.isnan(wanted)
    np.testing.assert_array_equal(np.signbit(got[known]), np.signbit(wanted[known]))
