"""Functions of two doubles in programs that g++ compiles, with and without fused products, against mpmath."""

import ctypes
import shutil
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
from mpmath import mp

from tests.numbers.test_contraction import BUILDS, built_as

# The function, the range of x, and the bits of its value that are right.
CASES: dict[str, tuple[Callable[[Any], Any], float, float, float]] = {
    "x + y": (lambda x: x + 1 / x, -2, 2, 104),
    "x * y": (lambda x: x * (1 + x), -2, 2, 104),
    "y / x": (lambda x: 1 / x, -20, 20, 104),
    "sqrt(x)": (mpmath.sqrt, 0, 20, 104),
    "exp(x)": (mpmath.exp, -600, 700, 103),
    "expm1(x)": (mpmath.expm1, -2, 2, 103),
    "log(x)": (mpmath.log, 0, 3, 103),
    "log1p(x)": (mpmath.log1p, -0.99, 2, 103),
    "sin(x)": (mpmath.sin, -100, 100, 103),
    "cos(x)": (mpmath.cos, -100, 100, 103),
    "tan(x)": (mpmath.tan, -5, 5, 103),
    "atan(x)": (mpmath.atan, -20, 20, 103),
    "sinh(x)": (mpmath.sinh, -3, 3, 103),
    "cosh(x)": (mpmath.cosh, -3, 3, 103),
    "tanh(x)": (mpmath.tanh, -3, 3, 103),
    "pow(x * x, y / x)": (lambda x: (x * x) ** (1 / x), 0.1, 9, 97),
}
TEXTS = {"x + y": "x + 1 / x", "x * y": "x * (1 + x)", "y / x": "1 / x", "pow(x * x, y / x)": "pow(x * x, 1 / x)"}
SOURCE = "#include <burlab/numbers/double_double.hpp>\n" + "".join(
    f'extern "C" void f{k}(const double* high, const double* low, double* y, long n) {{\n'
    "  for (long i = 0; i < n; ++i) {\n"
    f"    const burlab::DoubleDouble x(high[i], low[i]), z = {TEXTS.get(name, name)};\n"
    "    y[2 * i] = z.high, y[2 * i + 1] = z.low;\n  }\n}\n"
    for k, name in enumerate(CASES)
)
pytestmark = pytest.mark.skipif(not shutil.which("g++"), reason="g++ is not installed")


@pytest.fixture(scope="module", params=BUILDS)
def library(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    return built_as(request.param, SOURCE, tmp_path_factory.mktemp("double_double"))


@pytest.mark.parametrize("name", CASES)
def test_values_have_the_digits_of_two_doubles(name: str, library: ctypes.CDLL) -> None:
    exact, start, end, bits = CASES[name]
    rng = np.random.default_rng(5)
    high = np.concatenate([rng.uniform(start, end, 200), np.geomspace(max(start, 1e-9), min(end, 1), 50)])
    low = high * rng.uniform(-1, 1, len(high)) * 2.0**-54
    result = np.zeros((len(high), 2))
    pointers = [ctypes.c_void_p(a.ctypes.data) for a in (high, low, result)]
    library[f"f{list(CASES).index(name)}"](*pointers, ctypes.c_long(len(high)))
    with mp.workprec(300):
        for x, less, (first, second) in zip(high, low, result, strict=True):
            wanted = exact(mp.mpf(float(x)) + mp.mpf(float(less)))
            got = mp.mpf(float(first)) + mp.mpf(float(second))
            assert abs(got - wanted) <= abs(wanted) * mp.mpf(2) ** -bits, (float(x), float(less))
