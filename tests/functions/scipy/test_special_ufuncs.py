"""Every ufunc of scipy.special: values by SciPy's own loops, derivatives against mpmath or differences of SciPy."""

import re
import warnings
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from scipy import special

import burlab as bl
from burlab.errors import DTypeError, TraceError
from burlab.graph.node import SPECIAL
from burlab.graph.scipy_api.derivative_rows import ROWS
from tests.engines import GEARS
from tests.functions.scipy.special_cases import CASES, Case

assert "airy" in SPECIAL  # the modules of rare words are imported
UFUNCS = {f.__name__: f for f in vars(special).values() if isinstance(f, np.ufunc)}
OWN = SPECIAL.keys() - ROWS.keys()
"""Ufuncs of our own lanes, which tests/graph has rows for."""
OF_COMPLEX = {"erf", "erfc", "erfcx", "ndtr", "log_ndtr", "gamma", "psi", "expm1", "log1p", "xlogy", "xlog1py"}
"""Ufuncs of our own lanes whose rows are for complex numbers."""
FIRST_ONLY = {"smirnov", "smirnovi"}
"""Those without a second derivative."""
ENDLESS = {name for name in CASES if name.startswith(("obl_", "pro_"))}
"""Those whose loop of float32 does not come back in SciPy 1.17 for some arguments."""
WEIGHTS = (4 / 5, -1 / 5, 4 / 105, -1 / 280)  # central differences of order 8


def parts(y: Any) -> list[Any]:
    """Real and imaginary parts of all results."""
    found: list[Any] = []
    for value in y if isinstance(y, tuple) else (y,):
        found += [value.real, value.imag] if np.iscomplexobj(value) else [value]
    return found


def columns(case: Case, name: str) -> list[Any]:
    """The points of a case as arrays, whole degrees of Hermite polynomials as integers."""
    whole = name in ("eval_hermite", "eval_hermitenorm")
    return [np.array(x, np.int64 if whole and k == 0 else float) for k, x in enumerate(zip(*case.points, strict=True))]


def slopes(name: str, xs: list[Any], k: int) -> list[Any]:
    """The derivatives of all parts by argument k, as traced words."""

    def along(x: Any) -> tuple[Any, ...]:
        return tuple(parts(UFUNCS[name](*xs[:k], x, *xs[k + 1 :])))

    return list(bl.jvp(along, (xs[k],), (np.ones_like(xs[k]),))[1])


def differences(f: Any, xs: list[Any], k: int, scale: float = 1.0) -> Any:
    """Central differences of order 8 of all parts."""
    step = np.maximum(np.abs(xs[k]), 0.1) * (4e-3 * scale)
    total = 0.0
    for j, weight in enumerate(WEIGHTS, 1):
        ahead, behind = ([*xs[:k], xs[k] + sign * j * step, *xs[k + 1 :]] for sign in (1, -1))
        total = total + weight * (np.array(f(*ahead)) - np.array(f(*behind)))
    return total / step


def exact_slopes(case: Case, name: str, k: int, count: int) -> Any:
    """The derivatives by argument k in 30 digits, with shape (parts, points)."""
    found = []
    with mp.workdps(30):
        for point in case.points:
            numbers = [mp.mpf(x) for x in point]

            def part(x: Any, j: int, numbers: Any = numbers) -> Any:
                assert case.exact
                y = case.exact(*numbers[:k], x, *numbers[k + 1 :])
                return mp.re(y[j] if isinstance(y, tuple) else y)

            if case.solves:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # SciPy's of numbers that are cut to whole ones
                    numbers.append(mp.mpf(float(UFUNCS[name](*point))))

                def moved(i: int, numbers: Any = numbers) -> Any:
                    def residual(t: Any) -> Any:
                        assert case.solves
                        return case.solves(*numbers[:i], t, *numbers[i + 1 :])

                    return mp.diff(residual, numbers[i])

                found.append([float(-moved(k) / moved(len(point)))])
            else:
                found.append([float(mp.diff(lambda x: part(x, j), numbers[k])) for j in range(count)])  # noqa: B023
    return np.array(found).T


def test_no_ufunc_is_forgotten() -> None:
    assert UFUNCS.keys() <= SPECIAL.keys() | OWN
    without = UFUNCS.keys() - OWN - OF_COMPLEX - CASES.keys()
    with_orders = {"jv", "yv", "iv", "kv", "ive", "kve"}
    complex_only = {"loggamma", "hankel1", "hankel2", "hankel1e", "hankel2e", "wofz"}
    assert without <= with_orders | complex_only
    for name, row in ROWS.items():
        if name in UFUNCS:
            assert len(row.partials) == UFUNCS[name].nin, name


@pytest.mark.filterwarnings("ignore:non-integer arg n is deprecated:DeprecationWarning")  # SciPy's, of bdtr
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("gear", GEARS)
def test_values_have_the_bits_of_scipy(gear: str, dtype: Any) -> None:
    arrays = {name: [x.astype(dtype if x.dtype == float else x.dtype) for x in columns(case, name)]
              for name, case in CASES.items() if dtype == np.float64 or name not in ENDLESS}  # fmt: skip

    def all_of(arrays: Any) -> Any:
        return {name: parts(UFUNCS[name](*xs)) for name, xs in arrays.items()}

    got = bl.compile(all_of, arrays, gear=gear)(arrays)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # SciPy's of numbers that are cut to whole ones
        wanted = all_of(arrays)
    for name in set(arrays) - OWN - OF_COMPLEX - {"rgamma"}:
        for x, y in zip(got[name], wanted[name], strict=True):
            assert x.dtype == y.dtype, name
            np.testing.assert_array_equal(x, y, err_msg=name)


@pytest.mark.filterwarnings("ignore:non-integer arg n is deprecated:DeprecationWarning")
@pytest.mark.parametrize("name", sorted(CASES))
def test_derivatives(name: str) -> None:
    case = CASES[name]
    xs = columns(case, name)
    by = [k for k, entry in enumerate(ROWS[name].partials) if not isinstance(entry, str) and xs[k].dtype == float]
    got = bl.compile(lambda *xs: [slopes(name, list(xs), k) for k in by], *xs, gear="replay")(*xs)
    for k, mine in zip(by, got, strict=True):
        if case.exact or case.solves:
            wanted = exact_slopes(case, name, k, len(mine))
        else:
            with np.errstate(all="ignore"):
                wanted = differences(lambda *xs: parts(UFUNCS[name](*xs)), xs, k)
        scale = np.abs(wanted).max(axis=0)
        assert np.all(np.abs(np.array(mine) - wanted) <= case.rtol * scale + 1e-18), (name, k, mine, wanted)


@pytest.mark.filterwarnings("ignore:non-integer arg n is deprecated:DeprecationWarning")
@pytest.mark.parametrize("name", sorted(name for name in CASES if any(map(callable, ROWS[name].partials))))
def test_second_derivatives(name: str) -> None:
    """Derivatives of derivatives by each argument against differences of the first ones."""
    case = CASES[name]
    xs = columns(case, name)
    known = [k for k, entry in enumerate(ROWS[name].partials) if callable(entry) and xs[k].dtype == float]
    if name == "elliprj":
        known = known[:1]  # the others take a minute to trace

    def first(*xs: Any) -> Any:
        return [part for k in known for part in slopes(name, list(xs), k)]

    def second(*xs: Any) -> Any:
        def along(k: int) -> Any:
            f = lambda x: tuple(first(*xs[:k], x, *xs[k + 1 :]))  # noqa: E731
            return list(bl.jvp(f, (xs[k],), (np.ones_like(xs[k]),))[1])

        return [along(k) for k in known]

    one = bl.compile(first, *xs, gear="replay")
    if name in FIRST_ONLY:
        with pytest.raises(TraceError, match="is not defined"):
            bl.compile(second, *xs, gear="replay")(*xs)
        return
    got = bl.compile(second, *xs, gear="replay")(*xs)
    for k, mine in zip(known, got, strict=True):
        with np.errstate(all="ignore"):  # beyond ends of domains
            wanted, finer = differences(one, xs, k), differences(one, xs, k, 0.5)
        scale = np.abs(wanted).max(axis=0) + np.abs(np.array(one(*xs))).max(axis=0) + 1e-12
        settled = np.abs(wanted - finer).max(axis=0) <= 2e-5 * scale  # the others are at an end of the domain
        assert settled.any(), (name, k)
        gap = np.abs(np.array(mine) - finer) / scale
        assert np.all(gap[:, settled] <= 1e-4), (name, k, mine, finer)


@pytest.mark.parametrize("name", sorted(n for n in CASES if any(isinstance(p, str) for p in ROWS[n].partials)))
def test_unknown_derivatives_are_refused_by_name(name: str) -> None:
    xs = columns(CASES[name], name)
    ordinals = ("first", "second", "third", "fourth", "fifth")
    for k, entry in enumerate(ROWS[name].partials):
        if isinstance(entry, str) and xs[k].dtype == float:
            said = f"scipy.special.{name} by its {ordinals[k]} argument is not defined.*{re.escape(entry)}"
            with pytest.raises(TraceError, match=said):
                slopes(name, xs, k)


COMPLEX = np.array([0.7 + 0.3j, -1.2 + 2.0j, 3.0 - 1.5j])
ANALYTIC = {
    name: (0.0,) * (f.nin - 1)
    for name, f in UFUNCS.items()
    if any(row.partition("->")[0].endswith("D") for row in f.types)
}
PARAMETERS = {
    "hyp0f1": (0.7,), "hyp1f1": (0.7, 1.3), "hyp2f1": (0.7, 1.3, 2.5), "eval_gegenbauer": (3.0, 1.5),
    "eval_genlaguerre": (3.0, 1.5), "eval_jacobi": (3.0, 0.7, 0.2), "eval_sh_jacobi": (2.0, 2.5, 1.3),
    "elliprc": (2.0,), "elliprf": (2.0, 0.7), "elliprg": (2.0, 0.7), "elliprd": (2.0, 0.7), "elliprj": (2.0, 0.7, 1.5),
    "xlogy": (2.0 + 0.0j,), "xlog1py": (2.0 + 0.0j,),
}  # fmt: skip
DEGREE = {name: (3.0,) for name in ANALYTIC if name.startswith("eval_")}
ORDERS = {name: (0.7,) for name in ANALYTIC if name[0] in "jyikh" and len(ANALYTIC[name]) == 1 and name != "hyp0f1"}


@pytest.mark.parametrize("name", sorted(ANALYTIC))
def test_complex_numbers(name: str) -> None:
    """Values are SciPy's, derivatives those along the real axis and, times i, along the imaginary one."""
    known = {**DEGREE, **ORDERS, **PARAMETERS}.get(name, ())
    f = UFUNCS[name]
    z = COMPLEX[:1] if name == "wrightomega" else COMPLEX

    def of(x: Any, y: Any) -> Any:
        return f(*known, x + 1j * y)

    x, y = z.real.copy(), z.imag.copy()
    got = bl.jit(of)(x, y)
    for a, b in zip(parts(got), parts(of(x, y)), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-13, atol=1e-15)
    along = [
        lambda x, y: bl.jvp(lambda x: tuple(parts(of(x, y))), (x,), (np.ones_like(x),))[1],
        lambda x, y: bl.jvp(lambda y: tuple(parts(of(x, y))), (y,), (np.ones_like(y),))[1],
    ]
    for k, mine in enumerate(along):
        wanted = differences(lambda x, y: parts(of(x, y)), [x, y], k)
        got = np.array(bl.compile(mine, x, y, gear="replay")(x, y))
        np.testing.assert_allclose(got, wanted, rtol=2e-8, atol=2e-8 * np.abs(wanted).max())

    def all_parts(x: Any, y: Any) -> Any:
        return np.stack(parts(of(x, y)))

    value, pull = bl.vjp(all_parts, x, y)
    weights = np.cos(np.arange(float(value.size))).reshape(value.shape)
    pushed = bl.jvp(all_parts, (x, y), (np.sin(x), np.cos(y)))[1]
    received = pull(weights)
    np.testing.assert_allclose(
        np.sum(weights * pushed), np.sum(received[0] * np.sin(x)) + np.sum(received[1] * np.cos(y)), rtol=1e-11
    )


@pytest.mark.parametrize("name", ["airye", "elliprd", "ive", "jve", "loggamma", "psi", "yve"])
def test_second_derivatives_by_complex_numbers(name: str) -> None:
    """Along the real and the imaginary axis, of analytic functions and of those scaled by a modulus."""
    known = {**ORDERS, **PARAMETERS}.get(name, ())

    def first(x: Any, y: Any) -> Any:
        def of(x: Any, y: Any) -> Any:
            return tuple(parts(UFUNCS[name](*known, x + 1j * y)))

        return bl.jvp(of, (x, y), (np.ones_like(x), 0.5 * np.ones_like(y)))[1]

    x, y = COMPLEX.real.copy(), COMPLEX.imag.copy()
    one = bl.compile(first, x, y, gear="replay")
    for k, direction in enumerate(((np.ones(3), np.zeros(3)), (np.zeros(3), np.ones(3)))):
        got = bl.compile(lambda x, y, d=direction: bl.jvp(first, (x, y), d)[1], x, y, gear="replay")(x, y)
        wanted = differences(one, [x, y], k)
        np.testing.assert_allclose(np.array(got), wanted, rtol=2e-8, atol=2e-8 * np.abs(wanted).max())


TRIGAMMA = np.array([
    -5.3 + 1e-9j, -5.000001 + 1e-7j, 0.5 + 0j, 0.49999 + 300j, -100.2 - 200j, 1e-8 + 1e-8j, -3 + 0.1j, 1e6 + 1e3j,
    -1e3 + 0.01j, 12 - 40j, -7.5 - 0j, 1e150 + 1e150j,
])  # fmt: skip


def test_derivatives_of_digamma_are_exact_near_poles_and_far_out() -> None:
    """Of the first order relative to the result; of the second, which has zeros between poles, next to 1 as well."""

    def along(f: Any) -> Any:
        return lambda x, y: bl.jvp(f, (x, y), (np.ones_like(x), np.zeros_like(y)))[1]

    x, y = TRIGAMMA.real.copy(), TRIGAMMA.imag.copy()
    slope = along(lambda x, y: tuple(parts(special.psi(x + 1j * y))))
    with mp.workdps(40):
        for order, f in ((1, slope), (2, along(slope))):
            real, imag = bl.compile(f, x, y, gear="replay")(x, y)
            for z, found in zip(TRIGAMMA, real + 1j * imag, strict=True):
                wanted = complex(mp.psi(order, mp.mpc(z)))
                assert abs(found - wanted) <= 1e-14 * (abs(wanted) + (order == 2 and abs(z) < 10)), (order, z)


def test_one_array_in_two_places_and_broadcasting() -> None:
    x = np.array([0.3, 0.7])
    bl.check_grads(lambda x: special.agm(x, 2 * x) + special.fdtr(x, x, x) + special.ellipkinc(x, x), x, order=2)
    row, column = np.array([0.3, 0.6]), np.array([[1.5], [2.5], [3.5]])
    f = lambda a, b: special.chdtr(b, a) * special.owens_t(a, b)  # noqa: E731
    bl.check_grads(f, (row, column))
    np.testing.assert_array_equal(bl.vmap(lambda a: special.owens_t(a, 0.3))(row), special.owens_t(row, 0.3))
    np.testing.assert_allclose(bl.vmap(bl.grad(lambda a: special.airy(a)[2]))(row), special.airy(row)[3], rtol=1e-14)
    assert bl.jit(special.dawsn)(np.zeros((0, 3))).shape == (0, 3)
    assert np.isnan(bl.jit(special.dawsn)(np.nan))


def test_orders_that_are_traced_or_not_whole() -> None:
    x, v = np.array([0.7, 2.5]), np.array([0.5, 1.5])
    for f in (special.jv, special.yv, special.iv, special.ive, special.kv, special.kve):
        np.testing.assert_array_equal(bl.jit(f)(v, x), f(v, x))
        bl.check_grads(lambda x, f=f: f(0.3, x), x, order=2)
        with pytest.raises(TraceError, match=r"by its first argument is not defined"):
            bl.grad(lambda v, f=f: np.sum(f(v, x)))(v)


def test_a_dtype_without_a_loop_is_refused() -> None:
    with pytest.raises(
        DTypeError, match=r"scipy\.special\.eval_hermite has no loop for \(float64, float64\), only ld->d"
    ):
        bl.jit(special.eval_hermite)(np.ones(2), np.ones(2))
    with pytest.raises(DTypeError, match=r"struve has no loop"):
        bl.jit(special.struve)(0.5, np.ones(2) + 1j)


def test_integers_count_as_scipy_counts_them() -> None:
    n, x = np.arange(4), np.linspace(-0.5, 0.5, 4)
    for f in (special.eval_legendre, special.eval_hermite, special.eval_chebyt):
        got = bl.jit(f)(n, x)
        np.testing.assert_array_equal(got, f(n, x))
        bl.check_grads(lambda x, f=f: f(n, x), x)
    np.testing.assert_array_equal(
        bl.jit(special.bdtr)(2.0, np.array([4, 5]), 0.3), special.bdtr(2.0, np.array([4, 5]), 0.3)
    )


def test_a_loss_with_a_ufunc_of_scipy_is_minimized() -> None:
    """The mode of a Voigt profile in its width: a loss over samples, in the lanes of tiles."""
    x = np.random.default_rng(0).normal(size=64) * 0.8
    problem = bl.FiniteSum(lambda w, x: -np.log(special.voigt_profile(x, np.exp(w[0]), np.exp(w[1]))), (x,))
    start = np.zeros(2)
    g = problem.grad(start)
    wanted = [(problem.value(start + h) - problem.value(start - h)) / 2e-5 for h in 1e-5 * np.eye(2)]
    np.testing.assert_allclose(g, wanted, rtol=1e-7)
    run = bl.minimize(problem, start, bl.optim.GD(0.5), steps=50)
    assert problem.value(run.x) < problem.value(start)


@pytest.mark.parametrize("name", sorted(ENDLESS))
def test_float32_of_endless_loops_is_float64_rounded(name: str) -> None:
    xs = columns(CASES[name], name)
    found = bl.jit(UFUNCS[name])(*(x.astype(np.float32) for x in xs))
    wanted = UFUNCS[name](*(x.astype(np.float32).astype(np.float64) for x in xs))
    for y, z in zip(parts(found), parts(wanted), strict=True):
        assert y.dtype == np.float32
        np.testing.assert_array_equal(y, z.astype(np.float32))
