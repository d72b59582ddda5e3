"""Operations of the further tables: the checks of `test_ops.py`, many operations in one kernel."""

from typing import Any

import mpmath
import numpy as np
import pytest
from scipy import special

import burlab as bl
from burlab.graph.scalar import FAMILIES, family_ops, scalar_ops
from tests.engines import GEARS
from tests.family_cases import FAMILY_CASES
from tests.graph import test_ops as checks
from tests.graph.test_ops import DTYPES, everything

# Derivatives of the larger families take seconds of the compiler and of the second engine.
DERIVED = [pytest.param(f, marks=pytest.mark.full) if f in {"special", "bessel", "incomplete"} else f for f in FAMILIES]


def test_every_operation_has_a_row_and_a_name_of_its_own() -> None:
    names = [name for family in FAMILIES for name in family_ops(family)]
    assert len({*names, *scalar_ops()}) == len(names) + len(scalar_ops())
    for family in FAMILIES:
        rows = {case.name for case in FAMILY_CASES[family]}
        assert rows == {row.name for row in family_ops(family).values() if not row.of_integers}
        assert all(row.doc.endswith(".") for row in family_ops(family).values())


@pytest.mark.parametrize("gear", GEARS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("family", FAMILIES)
def test_values_are_exact_and_edges_numpys(family: str, dtype: Any, gear: str) -> None:
    rows = FAMILY_CASES[family]
    for case in rows:
        checks.check_values(case, everything("value", gear, dtype, rows)[case.name], dtype)
        checks.check_edges(case, everything("edge", gear, dtype, rows)[case.name], dtype)


@pytest.mark.parametrize("family", DERIVED)
def test_derivatives_are_exact_and_jaxs(family: str) -> None:
    rows = FAMILY_CASES[family]
    for case in rows:
        if case.order:
            checks.check_derivatives(case, everything("derivative", "replay", rows=rows)[case.name])
        if case.kinks:
            checks.check_kinks(case, everything("kink", "replay", rows=rows)[case.name])
    checks.check_gradients(rows)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("family", DERIVED)
def test_gears_agree_on_family_derivatives(family: str, dtype: Any) -> None:
    rows = FAMILY_CASES[family]
    for case in rows:
        if case.order:
            found = [everything("derivative", gear, dtype, rows)[case.name] for gear in ("compiled", "replay")]
            for a, b in zip(*found, strict=True):
                np.testing.assert_allclose(a, b, rtol=200 * np.finfo(dtype).eps, atol=200 * np.finfo(dtype).eps)


SPECIAL = {
    "one": """gamma gammaln digamma erf erfc ndtr expit logit log_expit entr cbrt exp2 exp10 expm1 log1p erfinv erfcinv
        rgamma gammasgn ndtri log_ndtr exprel i0 i0e i1 i1e j0 j1 y0 y1 k0 k1 k0e k1e erfcx""".split(),
    "two": "betaln beta xlogy xlog1py rel_entr kl_div zeta".split(),
}


def special_words(x: Any, y: Any) -> dict[str, Any]:
    by_one = {name: getattr(special, name)(x) for name in SPECIAL["one"]}
    by_one |= {
        "zeta(s)": special.zeta(1.5 - 3 * x),
        "iv": special.iv(2, x),
        "ive": special.ive(3, y),
        "jv": special.jv(4, y),
        "yn": special.yn(2, y),
        "kn": special.kn(2, y),
        "kve": special.kve(3, y),
        "np.i0": np.i0(y),
    }
    return by_one | {name: getattr(special, name)(1.5 + x if name == "zeta" else x, y) for name in SPECIAL["two"]}


@pytest.mark.parametrize("gear", GEARS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_ufuncs_of_scipy_are_traced(gear: Any, dtype: Any) -> None:
    x, y = np.linspace(0.03125, 0.96875, 31, dtype=dtype), np.linspace(4, 0.125, 31, dtype=dtype)
    got, wanted = bl.compile(special_words, x, y, gear=gear)(x, y), special_words(x, y)
    for name, value in wanted.items():
        assert got[name].dtype == dtype
        np.testing.assert_allclose(
            got[name], value, rtol=40 * np.finfo(dtype).eps, atol=np.finfo(dtype).eps, err_msg=name
        )


def test_ufuncs_of_scipy_at_edges_and_their_derivatives() -> None:
    edges = np.array([0.0, -0.0, 1.0, -1.0, 0.5, 2.0, np.inf, np.nan])
    a, b = np.repeat(edges, len(edges)), np.tile(edges, len(edges))
    for name in ("rel_entr", "kl_div", "entr", "logit", "ndtr", "xlogy", "gammasgn", "rgamma"):
        f = getattr(special, name)
        given = (a, b) if f.nin == 2 else (edges,)
        with np.errstate(all="ignore"):
            wanted = f(*given)
        np.testing.assert_allclose(bl.compile(f, *given, gear="replay")(*given), wanted, rtol=1e-15, err_msg=name)
    x = np.array([0.25, 0.75, 2.5])
    curvature = bl.vmap(bl.hessian(lambda q: special.zeta(2.5, q)))(x)
    np.testing.assert_allclose(curvature, 2.5 * 3.5 * special.zeta(4.5, x), rtol=1e-14)
    by_both = bl.hessian(lambda v: special.zeta(v[0], v[1]) * special.zeta(v[0]))
    near = mpmath.zeta(2.5) * mpmath.diff(lambda s: -s * mpmath.zeta(s + 1, 1.25), 2.5)
    near -= mpmath.zeta(2.5, 1, 1) * 2.5 * mpmath.zeta(3.5, 1.25)
    np.testing.assert_allclose(by_both(np.array([2.5, 1.25]))[0, 1], float(near), rtol=1e-13)
    for name in ("ndtr", "logit", "entr", "log_expit", "exp10", "gammaln"):
        bl.check_grads(lambda x, name=name: np.sum(getattr(special, name)(0.3 * x)), x, order=2)
    for name in ("betaln", "rel_entr", "kl_div"):
        bl.check_grads(lambda x, name=name: np.sum(getattr(special, name)(x, x[::-1] + 1)), x, order=2)


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_reciprocal_of_gamma_has_no_poles(dtype: Any) -> None:
    """Value and derivatives to the third order against mpmath, on both sides and at the poles of Gamma."""
    points = np.array([-6.0, -5.5, -3.0, -1.0, -0.75, 0.0, 0.25, 0.5, 0.75, 1.0, 3.5, 19.5, 20.5, 30.0], dtype)
    f = special.rgamma
    found = [*bl.compile(lambda x: tuple(_derivatives(f, x)), points, gear="replay")(points)]
    for order, got in enumerate(found):
        with mpmath.workdps(50):
            wanted = [float(mpmath.diff(mpmath.rgamma, mpmath.mpf(float(x)), order)) for x in points]
        np.testing.assert_allclose(got, wanted, rtol=600 * np.finfo(dtype).eps, atol=1e-30, err_msg=str(order))
    ends = np.array([-180.0, -180.5, -170.5, 150.0, 171.5, 180.0, np.inf, -np.inf, np.nan])
    for name in ("rgamma", "gammasgn"):
        f = getattr(special, name)
        np.testing.assert_allclose(bl.compile(f, ends, gear="replay")(ends), f(ends), rtol=1e-12, atol=1e-300)


def _derivatives(f: Any, x: Any, order: int = 3) -> Any:
    yield f(x)
    if order:
        yield from _derivatives(lambda x: bl.jvp(f, (x,), (np.ones_like(x),))[1], x, order - 1)


def test_a_derivative_of_a_ufunc_of_scipy_that_nobody_knows_is_named() -> None:
    np.testing.assert_allclose(bl.jit(special.jv)(0.5, 1.0), special.jv(0.5, 1.0), 1e-14)
    with pytest.raises(bl.BurlabError, match=r"a derivative through scipy\.special\.jv by its first argument"):
        bl.grad(lambda v: special.jv(v, 1.0))(0.5)


def whole_words(a: Any, b: Any) -> dict[str, Any]:
    return {
        "bits": (a & b, a | b, a ^ b, ~a, a << b, a >> b, a & 5, 3 ^ b),
        "division": (a // b, a % b, divmod(a, b), np.fmod(a, b), np.gcd(a, b), np.lcm(a, b), 100 % b),
        "rounding": (np.floor(a), np.round(a, -1), np.round(a), round(a[3]) + a, np.fmax(a, b), np.fmin(a, b)),
    }


@pytest.mark.parametrize("gear", GEARS)
@pytest.mark.parametrize("dtype", [np.int64, np.int32])
def test_whole_numbers_are_numpys(gear: Any, dtype: Any) -> None:
    limits = np.iinfo(dtype)
    numbers = np.array([0, 1, -1, 2, 3, -3, 7, -7, 31, 32, 63, 64, 100, limits.max, limits.min], dtype)
    a, b = np.repeat(numbers, len(numbers)), np.tile(numbers, len(numbers))
    got = bl.compile(whole_words, a, b, gear=gear)(a, b)
    with np.errstate(all="ignore"):
        wanted = whole_words(a, b)
    for kind, values in wanted.items():
        for x, y in zip(got[kind], values, strict=True):
            for found, known in zip(*((v if isinstance(v, tuple) else (v,)) for v in (x, y)), strict=True):
                np.testing.assert_array_equal(found, known)
                assert found.dtype == known.dtype


@pytest.mark.parametrize("gear", GEARS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_powers_of_two_are_exact(gear: Any, dtype: Any) -> None:
    limits = np.finfo(dtype)
    n = np.arange(int(np.log2(float(limits.smallest_subnormal))), limits.maxexp).astype(dtype)
    powers, back = bl.compile(lambda n: (np.exp2(n), np.log2(np.exp2(n))), n, gear=gear)(n)
    np.testing.assert_array_equal(powers, np.ldexp(dtype(1), n.astype(int)))
    np.testing.assert_array_equal(back, n)
    assert float(bl.compile(np.exp2, dtype(4), gear=gear)(dtype(4))) == 16
