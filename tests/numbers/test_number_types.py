"""Every function on every number type of C++, in a program that g++ compiles, against mpmath and exact fractions."""

import ctypes
import shutil
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
from mpmath import mp

from tests.numbers.test_contraction import built

FUNCTIONS: dict[str, tuple[Callable[[Any], Any], float, float]] = {
    "sqrt": (mpmath.sqrt, 0.01, 40), "cbrt": (lambda x: mp.sign(x) * mpmath.cbrt(abs(x)), -40, 40),
    "exp": (mpmath.exp, -30, 30), "exp2": (lambda x: mp.mpf(2) ** x, -30, 30), "expm1": (mpmath.expm1, -3, 3),
    "log": (mpmath.log, 0.01, 40), "log2": (lambda x: mpmath.log(x, 2), 0.01, 40),
    "log10": (mpmath.log10, 0.01, 40), "log1p": (mpmath.log1p, -0.95, 4), "sin": (mpmath.sin, -9, 9),
    "cos": (mpmath.cos, -9, 9), "tan": (mpmath.tan, -1.5, 1.5), "asin": (mpmath.asin, -0.999, 0.999),
    "acos": (mpmath.acos, -0.999, 0.999), "atan": (mpmath.atan, -9, 9), "sinh": (mpmath.sinh, -5, 5),
    "cosh": (mpmath.cosh, -5, 5), "tanh": (mpmath.tanh, -4, 4), "asinh": (mpmath.asinh, -40, 40),
    "acosh": (mpmath.acosh, 1.001, 40), "atanh": (mpmath.atanh, -0.999, 0.999), "erf": (mpmath.erf, -4, 4),
    "erfc": (mpmath.erfc, -4, 12), "fabs": (abs, -4, 4),
}  # fmt: skip
PAIRS: dict[str, Callable[[Any, Any], Any]] = {
    "max": max, "min": min, "pow": lambda x, y: x**y, "atan2": mpmath.atan2,
}  # fmt: skip
TYPES = {
    "Interval": "Interval<double>", "Interval of float": "Interval<float>", "DoubleDouble": "DoubleDouble",
    "Rounded": "Rounded<formats::Bfloat16>", "Counted": "Counted<double>", "Dual": "Dual<double>",
    "Dual of DoubleDouble": "Dual<DoubleDouble>", "Dual of Interval": "Dual<Interval<double>>",
}  # fmt: skip
READ = """
#include <burlab/burlab.hpp>
#include <burlab/numbers/numbers.hpp>
using namespace burlab;
static Tally tally;
template <class T> T read(const double* x) { return T(x[0]); }
template <> Interval<double> read(const double* x) { return {x[0], x[1]}; }
template <> Interval<float> read(const double* x) { return {float(x[0]), float(x[1])}; }
template <> DoubleDouble read(const double* x) { return {x[0], x[1]}; }
template <> Counted<double> read(const double* x) { return {x[0], tally}; }
template <> Dual<double> read(const double* x) { return Dual<double>(x[0], 1.0); }
template <> Dual<DoubleDouble> read(const double* x) { return Dual<DoubleDouble>({x[0], x[1]}, DoubleDouble(1)); }
template <> Dual<Interval<double>> read(const double* x) {
  return Dual<Interval<double>>({x[0], x[1]}, Interval<double>(1));
}
void write(double* y, Interval<double> x) { y[0] = x.low, y[1] = x.high; }
void write(double* y, Interval<float> x) { y[0] = x.low, y[1] = x.high; }
void write(double* y, DoubleDouble x) { y[0] = x.high, y[1] = x.low; }
void write(double* y, Rounded<formats::Bfloat16> x) { y[0] = x.number; }
void write(double* y, double x) { y[0] = x; }
void write(double* y, Counted<double> x) { y[0] = x.number, y[1] = double(tally.transcendental + tally.logic); }
template <class T> void write(double* y, Dual<T> x) { write(y, x.value), write(y + 2, x.tangent); }

/// Exact for x = 1.5: 48 if every word means what it should.
template <class T> T words(T x) {
  T y = x;
  y += 2, y -= x, y *= 3.0, y /= x;  // 4
  T z = 1 + y;
  z = 2.0 * z - 1, z = z / 2 - 0.5f;  // 4
  z += y, z *= z, z = 0 - (-z), z /= 4;  // 16
  return z + z * 2;
}
template <class T> bool compares(T x) {
  const auto sure = [](auto mask) { if constexpr (requires { mask.sure; }) return mask.sure; else return bool(mask); };
  return sure(x < 2) && sure(x <= 1.5) && sure(x > 1.0f) && sure(1 < x) && sure(x >= 1.5) && sure(x == 1.5) &&
         sure(x != 2.0) && sure(2 > x) && sure(1.5 == x) && !sure(x > 2) && !sure(x == 2) && !sure(x < x);
}
"""
SOURCE = READ + "".join(
    f'extern "C" void {op}_{k}(const double* x, double* y, long n) {{\n  for (long i = 0; i < n; ++i) {{\n'
    f"    tally = Tally();\n    const auto first = read<{name}>(x + 2 * i);\n"
    f"    write(y + 4 * i, {op}(first{f', read<{name}>(x + 2 * (n + i))' * two}));\n  }}\n}}\n"
    for two, ops in ((False, FUNCTIONS), (True, PAIRS))
    for op in ops
    for k, name in enumerate(TYPES.values())
) + "".join(
    f'extern "C" bool words_{k}(double* y) {{ const double x[] = {{1.5, DIFFERS}}; write(y, words(read<{name}>(x)));'
    f" return compares(read<{name}>(x)); }}\n".replace("DIFFERS", "1.5" if "Interval" in name else "0")
    for k, name in enumerate(TYPES.values())
)  # fmt: skip
pytestmark = pytest.mark.skipif(not shutil.which("g++"), reason="g++ is not installed")


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    return built(SOURCE, ["-O1"], tmp_path_factory.mktemp("numbers"))


def computed(library: ctypes.CDLL, function: str, kind: str, x: Any) -> Any:
    n = x.size // 2 // (2 if function in PAIRS else 1)
    x, y = np.ascontiguousarray(x, np.float64), np.zeros((n, 4))
    pointers = (ctypes.c_void_p(a.ctypes.data) for a in (x, y))
    library[f"{function}_{list(TYPES).index(kind)}"](*pointers, ctypes.c_long(n))
    return y


def points(kind: str, start: float, end: float, count: int = 60) -> Any:
    """Numbers of a type, shape (count, 2): ends of an interval, or the parts of two doubles."""
    rng = np.random.default_rng(5)
    x = rng.uniform(start, end, count)
    if kind == "Interval of float":
        x = x.astype(np.float32).astype(float)
        return np.stack(
            [x, np.clip(np.nextafter((x + 1e-4 * np.abs(x)).astype(np.float32), np.float32(99)), x, None)], 1
        )
    if "Interval" in kind:
        return np.stack([x, np.minimum(x + np.abs(x) * 10.0 ** rng.uniform(-16, -2, count), end)], axis=1)
    if kind == "Rounded":
        x = (np.float32(x).view(np.uint32) & 0xFFFF0000).view(np.float32).astype(float)
    low = x * rng.uniform(-1, 1, count) * 2.0**-54 if "DoubleDouble" in kind else np.zeros(count)
    return np.stack([x, low], axis=1)


def check(kind: str, y: Any, exact: list[Any], slopes: Callable[[int], Any], what: str, bits: int) -> None:
    """One row of numbers against exact values at the first one: of intervals, their lower ends."""
    for k, (row, value) in enumerate(zip(y, exact, strict=True)):
        if "Interval" in kind:
            assert mp.mpf(row[0]) <= value <= mp.mpf(row[1]), (what, kind, row, value)
            if kind == "Dual of Interval":
                assert mp.mpf(row[2]) <= slopes(k) <= mp.mpf(row[3]), (what, row, slopes(k))
        elif kind == "Rounded":
            unit = mp.mpf(2) ** (mp.floor(mp.log(abs(value), 2)) - 7) if value else 0
            assert abs(row[0] - value) <= unit * (mp.mpf(0.5) + mp.mpf(2) ** -30), (what, row, value)
            assert np.float32(row[0]).view(np.uint32) & 0xFFFF == 0
        elif "DoubleDouble" in kind:
            got = mp.mpf(row[0]) + mp.mpf(row[1])
            assert abs(got - value) <= abs(value) * mp.mpf(2) ** -bits, (what, got, value)
            if kind.startswith("Dual"):
                assert abs(mp.mpf(row[2]) + mp.mpf(row[3]) - slopes(k)) <= abs(slopes(k)) * mp.mpf(2) ** -88, (
                    what,
                    row,
                )
        else:
            assert abs(row[0] - value) <= abs(value) * mp.mpf(2) ** -50, (what, row, value)
            if kind == "Counted":
                assert row[1] == 1
            else:
                assert abs(row[2] - slopes(k)) <= abs(slopes(k)) * mp.mpf(2) ** -43, (what, row, slopes(k))


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_functions_of_one_number(function: str, kind: str, library: ctypes.CDLL) -> None:
    exact, start, end = FUNCTIONS[function]
    end = min(end, 9) if kind == "Rounded" else end  # erfc 10 is below all numbers of the format
    x = points(kind, start, end)
    y = computed(library, function, kind, x)
    with mp.workdps(50):
        at = [mp.mpf(a) + (mp.mpf(b) if "DoubleDouble" in kind else 0) for a, b in x.tolist()]

        def slope(k: int) -> Any:
            return mp.sign(at[k]) if function == "fabs" else mpmath.diff(exact, at[k])

        check(kind, y, [exact(v) for v in at], slope, function, 102)
        if kind in ("Interval", "Interval of float"):
            upper = [exact(mp.mpf(b)) for b in x[:, 1].tolist()]
            assert all(mp.mpf(r[0]) <= v <= mp.mpf(r[1]) for r, v in zip(y, upper, strict=True))
    if kind == "Interval":
        thin = computed(library, function, kind, np.stack([x[:, 0]] * 2, axis=1))
        assert np.all(thin[:, 1] - thin[:, 0] <= 13 * np.spacing(np.abs(thin[:, 1])))


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("function", PAIRS)
def test_functions_of_two_numbers(function: str, kind: str, library: ctypes.CDLL) -> None:
    exact = PAIRS[function]
    first, second = points(kind, 0.5, 9, 50), points(kind, 0.25, 6, 50)[::-1]
    y = computed(library, function, kind, np.stack([first, second]))
    two = "DoubleDouble" in kind
    with mp.workdps(50):
        u, v = ([mp.mpf(a) + (mp.mpf(b) if two else 0) for a, b in rows.tolist()] for rows in (first, second))

        def slope(k: int) -> Any:
            if function in ("max", "min"):
                return mp.mpf(1)
            return mpmath.diff(lambda t: exact(u[k] + t, v[k] + t), 0)

        check(kind, y, [exact(a, b) for a, b in zip(u, v, strict=True)], slope, function, 94)


@pytest.mark.parametrize("kind", TYPES)
def test_arithmetic_assignments_and_comparisons_with_plain_numbers(kind: str, library: ctypes.CDLL) -> None:
    y = np.zeros(4)
    function = library[f"words_{list(TYPES).index(kind)}"]
    function.restype = ctypes.c_bool
    assert function(ctypes.c_void_p(y.ctypes.data))
    if "Interval" in kind:
        assert y[0] <= 48 <= y[1]
        assert y[1] - y[0] < 1e-3
    else:
        assert y[0] == 48


def test_edges_of_two_doubles(library: ctypes.CDLL) -> None:
    """Zeros with their signs, infinities and nan as std's; halves and quarters of a turn to 32 digits."""
    inf, nan = np.inf, np.nan
    x = np.array([0.0, -0.0, inf, -inf, nan, 2.0, -2.0, 1.0, -1.0, 30.0, -30.0, 1e-300, 1e250])
    rows = np.stack([x, np.zeros(len(x))], axis=1)
    reference = {"asin": np.arcsin, "acos": np.arccos, "asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh,
                 "cbrt": np.cbrt, "exp2": np.exp2, "log2": np.log2, "log10": np.log10}  # fmt: skip
    with np.errstate(all="ignore"):
        for name, f in reference.items():
            got = computed(library, name, "DoubleDouble", rows)[:, 0]
            np.testing.assert_allclose(got, f(x), rtol=4e-16, err_msg=name)
            same = np.isnan(got) | (np.signbit(got) == np.signbit(f(x)))
            assert np.all(same), (name, x[~same])
    for name, wanted in (("erf", [0, -0.0, 1, -1, nan]), ("erfc", [1, 1, 0, 2, nan])):
        np.testing.assert_array_equal(computed(library, name, "DoubleDouble", rows)[:5, 0], wanted)
    a, b = (m.ravel() for m in np.meshgrid([*x[:5], 1e-300, 1e300, 1.0, -1.0], [0.0, -0.0, 1.0, -1.0, inf, -inf]))
    both = np.stack([np.stack([c, np.zeros(len(c))], axis=1) for c in (a, b)])
    got = computed(library, "atan2", "DoubleDouble", both)
    np.testing.assert_allclose(got[:, 0], np.arctan2(a, b), rtol=4e-16)
    third = got[(a == inf) & (b == -inf)][0]
    with mp.workdps(40):
        assert abs(mp.mpf(third[0]) + mp.mpf(third[1]) - 3 * mp.pi / 4) < mp.mpf(10) ** -31


def test_angles_of_boxes_in_all_quadrants(library: ctypes.CDLL) -> None:
    rng = np.random.default_rng(8)
    low = rng.uniform(-2, 2, (2, 400))
    high = low + rng.uniform(0, 1.5, (2, 400))
    y = computed(library, "atan2", "Interval", np.stack([low, high], axis=2))[:, :2]
    inner = low + rng.uniform(size=(50, 2, 400)) * (high - low)
    angles = np.arctan2(inner[:, 0], inner[:, 1])
    assert np.all((y[:, 0] <= angles) & (angles <= y[:, 1]))
    wide = (low[0] <= 0) & (high[0] >= 0) & (low[1] <= 0)
    assert 20 < wide.sum() < 200
    assert np.all((y[:, 1] - y[:, 0] > 6.28) == wide)
