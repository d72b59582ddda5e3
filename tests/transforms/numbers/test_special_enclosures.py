"""Enclosures of special functions: a million inner points, mpmath at 50 digits, widths, edges, gradients."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from mpmath import mp
from scipy import special

import burlab as bl
from burlab.errors import NonFiniteError, TraceError
from burlab.graph.node import as_node
from burlab.graph.operation import make_node
from burlab.transforms.numbers.enclosing.special_enclosures import SPECIAL
from tests.family_cases import FAMILY_CASES

CASES = {case.name: case for cases in FAMILY_CASES.values() for case in cases}
SHAPE, X, SHARE, WHOLE = (0.05, 60.0), (0.01, 90.0), (0.001, 0.999), (-30.0, 30.0)
RANGES: dict[str, tuple[tuple[float, float], ...]] = {
    "gammainc": (SHAPE, X), "gammaincc": (SHAPE, X), "betainc": (SHAPE, SHAPE, SHARE),
    "betaincc": (SHAPE, SHAPE, SHARE), "stdtr": (SHAPE, WHOLE), "gammaincinv": (SHAPE, SHARE),
    "gammainccinv": (SHAPE, SHARE), "betaincinv": (SHAPE, SHAPE, SHARE), "betainccinv": (SHAPE, SHAPE, SHARE),
    "stdtrit": ((0.3, 60.0), SHARE), "beta": (SHAPE, SHAPE), "betaln": (SHAPE, SHAPE), "mills_excess": (WHOLE,),
    "erfcx": ((-20.0, 50.0),), "rel_entr": (X, X), "zeta": ((1.05, 30.0), (0.1, 40.0)), "polygamma": (X,),
    "riemann_zeta": ((1.05, 30.0),), "jv": (WHOLE,), "iv": (WHOLE,), "ive": (WHOLE,), "yv": (X,), "kv": (X,),
    "kve": (X,),
}  # fmt: skip
ORDERS: dict[str, tuple[int, ...]] = {
    **dict.fromkeys(("jv", "iv", "ive", "yv", "kv", "kve"), (0, 1, 2, 5)), "polygamma": (0, 1, 2, 5),
    "riemann_zeta": (0,),
}  # fmt: skip
PLACES = [(name, order) for name in RANGES for order in ORDERS.get(name, (None,))]
POINTS, BOXES = 500, 60  # 42 functions, so more than a million points


def function_of(name: str, order: int | None) -> Callable[[Any], Any]:
    def f(x: Any) -> Any:
        columns = [x[..., k] for k in range(x.shape[-1])]
        known = [] if order is None else [as_node(np.full(columns[0].shape, order, x.dtype))]
        return make_node(name, None, *known, *columns)

    return f


def boxes_of(name: str, rng: Any, count: int, widest: float = 0.0) -> tuple[Any, Any]:
    start, end = np.array(RANGES[name]).T
    middle = rng.uniform(start, end, (count, len(start)))
    close = rng.random((count, 1)) < 0.3
    middle = np.where(close & (start >= 0), start + (middle - start) * 10.0 ** rng.uniform(-3, 0, middle.shape), middle)
    width = (end - start) * 10.0 ** rng.uniform(-9, widest, (count, 1)) * rng.uniform(0, 1, (count, len(start)))
    return np.clip(middle - width / 2, start, end), np.clip(middle + width / 2, start, end)


def test_every_special_function_is_tested() -> None:
    assert set(RANGES) == set(SPECIAL)


@pytest.mark.parametrize(("name", "order"), PLACES)
def test_inner_points_are_never_outside(name: str, order: int | None) -> None:
    rng = np.random.default_rng(len(name))
    f = function_of(name, order)
    low, high = boxes_of(name, rng, BOXES)
    a, b = bl.interval(f)(low, high)
    assert np.all(a <= b)
    share = rng.uniform(size=(POINTS, *low.shape))
    corners = np.array(np.meshgrid(*[[0.0, 1.0]] * low.shape[1])).reshape(low.shape[1], -1).T
    share[: len(corners)] = corners[:, None]
    inner = np.clip(low + share * (high - low), low, high)
    values = bl.jit(f)(inner)
    outside = (values < a) | (values > b) | np.isnan(values)
    assert not outside.any(), (name, inner[outside][:3], values[outside][:3])


UNITS = {
    "gammainc": 700, "gammaincc": 700, "stdtr": 300, "mills_excess": 600, "erfcx": 8000, "yv": 3000, "jv": 3000,
    "rel_entr": 600, "ive": 3e12,
}  # fmt: skip
"""Widths at a point, in units of 2^-53 of the largest value near it; others have 130."""


def exact_value(name: str, order: int | None, point: Any) -> Any:
    x = [mp.mpf(float(v)) for v in point]
    if name == "zeta":  # mpmath loses digits of small values
        return _hurwitz(*x)
    if name == "betaincc":
        return mp.betainc(x[1], x[0], 0, 1 - x[2], regularized=True)
    return CASES[name].exact(*([] if order is None else [float(order)]), *x)


def _hurwitz(s: Any, q: Any) -> Any:
    """The sum of 60 terms, then Euler and Maclaurin's formula with 25 derivatives."""
    far = q + 60
    total = mp.fsum((q + k) ** -s for k in range(60)) + far ** (1 - s) / (s - 1) + far**-s / 2
    for j in range(1, 26):
        total += mp.bernoulli(2 * j) / mp.factorial(2 * j) * mp.rf(s, 2 * j - 1) * far ** (-s - 2 * j + 1)
    return total


@pytest.mark.parametrize(("name", "order"), PLACES)
def test_mpmath_is_inside_and_widths_are_as_stated(name: str, order: int | None) -> None:
    rng = np.random.default_rng(29)
    count = 3 if name.endswith("inv") or name in ("stdtrit", "kv", "kve") else 12
    low, high = boxes_of(name, rng, count, -3.0)
    share = rng.uniform(size=low.shape)
    inner = np.clip(low + share * (high - low), low, high)
    f = bl.interval(function_of(name, order))
    (a, b), (c, d) = f(low, high), f(inner, inner)
    near = np.abs(bl.jit(function_of(name, order))(inner))
    with mp.workdps(50):
        for k, point in enumerate(inner):
            exact = exact_value(name, order, point)
            assert mp.mpf(float(a[k])) <= exact <= mp.mpf(float(b[k])), (name, low[k], high[k], exact)
            assert mp.mpf(float(c[k])) <= exact <= mp.mpf(float(d[k])), (name, point, c[k], d[k], exact)
            size = max(near[k], 0.05 if name in ("jv", "yv") and abs(point[0]) > 1 else 0)
            assert d[k] - c[k] <= UNITS.get(name, 130) * 2.0**-53 * size + 1e-300, (name, point, c[k], d[k])


@pytest.mark.parametrize(("name", "order"), PLACES)
def test_bounds_of_narrow_boxes_are_near_the_range(name: str, order: int | None) -> None:
    """At relative widths of 1e-4 they are at most twice as wide, zeta's 5 times; of waves by a bound of the slope."""
    rng = np.random.default_rng(7)
    middle = boxes_of(name, rng, 40)[0]
    low, high = middle * (1 - 1e-4 * np.sign(middle)), middle * (1 + 1e-4 * np.sign(middle))
    start, end = np.array(RANGES[name]).T
    low, high = np.clip(low, start, end), np.clip(high, start, end)
    f = function_of(name, order)
    a, b = bl.interval(f)(low, high)
    inner = np.clip(low + rng.uniform(size=(300, *low.shape)) * (high - low), low, high)
    corners = np.array(np.meshgrid(*[[0.0, 1.0]] * low.shape[1])).reshape(low.shape[1], -1).T
    inner[: len(corners)] = np.clip(low + corners[:, None] * (high - low), low, high)
    values = bl.jit(f)(inner)
    spread = values.max(axis=0) - values.min(axis=0)
    allowed = (5.0 if name == "zeta" else 2.0) * spread + 1e-10 * np.abs(values).max(axis=0)
    if name in ("jv", "yv", "ive"):
        slope = np.maximum(1, np.abs(values).max(axis=0) * 9 / low[:, 0]) if name == "yv" else 1
        allowed += 4 * np.max(high - low, axis=1) * slope
    assert np.all(b - a <= allowed), (name, (b - a)[b - a > allowed], spread[b - a > allowed])


def test_edges_of_domains() -> None:
    assert bl.interval(lambda x: special.gammainc(2.0, x))(0.0, np.inf) == (0.0, 1.0)
    low, high = bl.interval(lambda x: special.kv(1, x))(0.0, 1.0)
    assert 0.6 < low < 0.602
    assert high == math.inf
    assert bl.interval(special.j0)(-1e300, np.inf) == (-1.0, 1.0)
    low, high = bl.interval(special.i0)(-1.0, 2.0)
    assert 1 - 1e-14 < low <= 1.0
    low, high = bl.interval(lambda x: special.iv(1, x))(-np.inf, np.inf)
    assert (low, high) == (-math.inf, math.inf)
    low, high = bl.interval(special.i0)(800.0, 900.0)
    assert 1.7e308 < low < math.inf
    low, high = bl.interval(special.y0)(0.0, 1.0)
    assert low == -math.inf
    assert high > 0.088
    assert bl.interval(lambda x: special.zeta(x, 2.0))(1.0, 2.0)[1] == math.inf
    assert bl.interval(lambda x: special.gammaincinv(2.0, x))(0.5, 1.0)[1] == math.inf
    low, high = bl.interval(lambda x: special.rel_entr(x, 2.0))(0.0, 4.0)
    assert -2 / math.e - 1e-14 < low < -2 / math.e
    assert special.rel_entr(4.0, 2.0) <= high < 2.7725888
    low, high = bl.interval(lambda x: np.copysign(1.0, x))(0.0, 1.0)
    assert (low, high) == (-1.0, 1.0)  # x may be -0


@pytest.mark.parametrize(
    "f",
    [
        lambda x: special.gammainc(2.0, x), lambda x: special.betainc(2.0, 3.0, x), lambda x: special.kv(1, x),
        lambda x: special.stdtr(x, 1.0), special.y0, lambda x: special.rel_entr(x, 1.0),
    ],
)  # fmt: skip
def test_domains_that_are_left_name_the_line(f: Any) -> None:
    message = r"test_special_enclosures.py\", line \d+: an interval leaves the domain of"
    with pytest.raises(NonFiniteError, match=message):
        bl.interval(f)(-0.5, 0.5)


def test_gradients_and_hessians_hold_at_inner_points() -> None:
    def f(x: Any) -> Any:
        return (
            special.gammainc(2.5, x[0]) * special.j0(x[1]) + special.betainc(2.0, 3.0, x[0] / 4) * special.kv(1, x[1])
            + special.i0(x[0] - x[1]) + special.stdtr(3.0, x[1]) * special.y1(x[0])
        )  # fmt: skip

    rng = np.random.default_rng(3)
    low, high = np.array([0.7, 1.1]), np.array([0.71, 1.13])
    inner = low + rng.uniform(size=(5000, 2)) * (high - low)
    for g in (f, bl.grad(f), bl.hessian(f)):
        a, b = bl.interval(g)(low, high)
        values = bl.vmap(g)(inner)
        assert np.all((a <= values) & (values <= b))
        assert np.all(b - a < 2)


def test_what_is_refused_says_why() -> None:
    message = r"line \d+: bl.interval has no enclosure of gammainc_by, because no bound of"
    with pytest.raises(TraceError, match=message):
        bl.interval(bl.grad(lambda a: special.gammainc(a, 1.5)))(1.0, 1.1)
    with pytest.raises(TraceError, match="no enclosure of jv by its order"):
        bl.interval(lambda n: make_node("jv", None, as_node(n), as_node(1.5)))(1.0, 1.1)
    with pytest.raises(TraceError, match="no enclosure of a derivative of zeta"):
        bl.interval(bl.grad(special.zeta))(2.0, 2.1)
    low, high = bl.interval(special.zeta)(0.5, 2.0)
    assert (low, high) == (-math.inf, math.inf)


def test_float32() -> None:
    rng = np.random.default_rng(1)
    x = rng.uniform(0.1, 9, 200).astype(np.float32)
    for f in (special.j0, special.i1, special.y0, lambda x: special.gammainc(np.float32(2), x), special.erfcx):
        a, b = bl.interval(f)(x, x * np.float32(1.01))
        for t in np.linspace(0, 1, 9, dtype=np.float32):
            inner = np.clip(x * (1 + np.float32(0.01) * t), x, x * np.float32(1.01))
            values = bl.jit(f)(inner)
            assert values.dtype == np.float32
            assert np.all((a <= values) & (values <= b))
