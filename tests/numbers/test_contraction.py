"""Functions of our own in programs that g++ compiles, where a product is fused with what it is added to: as exact."""

import ctypes
import shutil
import subprocess
from functools import cache
from pathlib import Path

import mpmath
import numpy as np
import pytest
from mpmath import mp

from burlab.runtime import cpu
from tests.numbers.test_accuracy import EXACT, STATED, error_in_ulp, samples

CPP = Path(__file__).parents[2] / "cpp"
BUILDS = {  # with FMA alone the headers' own code is plain, and split products are what the compiler may fuse
    "no FMA": ["-O2"],
    "FMA": ["-O2", "-mfma"],
    "FMA and AVX2": ["-O3", "-mfma", "-mavx2"],
}
NAMES = {op: {"arctan": "atan", "arctanh": "atanh"}.get(op, op) for op in STATED if op != "softplus"}
HEADERS = ("power", "error_function", "hyperbolic", "arc", "trigonometric", "gamma_function", "bessel")
FURTHER = {
    "digamma": ("digamma(x[i])", mpmath.digamma, 2.5),
    "gamma": ("gamma(x[i])", mpmath.gamma, 4.0),
    "beta": ("beta(x[i], 2.3)", lambda x: mpmath.beta(x, mp.mpf(2.3)), 6.0),
    "k0": ("bessel_k01<false, false>(x[i])", lambda x: mpmath.besselk(0, x), 5.0),
    "i1": ("bessel_i012<1, false>(x[i])", lambda x: mpmath.besseli(1, x), 5.0),
}
SOURCE = (
    "".join(f"#include <burlab/numbers/{name}.hpp>\n" for name in HEADERS)
    + "".join(
        f'extern "C" void many_{name}(const double* x, double* y, long n) {{\n'
        f"  BURLAB_LANES\n  for (long i = 0; i < n; ++i) y[i] = burlab::math::{name}(x[i]);\n}}\n"
        for name in NAMES.values()
    )
    + "".join(
        f'extern "C" void further_{name}(const double* x, double* y, long n) {{\n'
        f"  BURLAB_LANES\n  for (long i = 0; i < n; ++i) y[i] = burlab::math::{text};\n}}\n"
        for name, (text, _, _) in FURTHER.items()
    )
    + 'extern "C" void many_pow(const double* x, const double* y, double* z, long n) {\n'
    "  BURLAB_LANES\n  for (long i = 0; i < n; ++i) z[i] = burlab::math::pow(x[i], y[i]);\n}\n"
)
pytestmark = pytest.mark.skipif(not shutil.which("g++"), reason="g++ is not installed")


@pytest.fixture(scope="module", params=BUILDS)
def library(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    return built_as(request.param, SOURCE, tmp_path_factory.mktemp("contraction"))


def built_as(name: str, source: str, folder: Path) -> ctypes.CDLL:
    """Build a source with the options of a name in BUILDS, or skip the test on a CPU without their instructions."""
    options = BUILDS[name]
    if any(f"-m{flag}" in options and flag not in cpu.cpu_flags() for flag in ("fma", "avx2")):
        pytest.skip("this CPU has no FMA")
    return built(source, options, folder)


def built(source: str, options: list[str], folder: Path) -> ctypes.CDLL:
    (folder / "a.cpp").write_text(source)
    command = ["g++", "-std=c++20", "-Wno-psabi", *options, "-I", str(CPP), "-shared", "-fPIC", "a.cpp", "-o", "a.so"]
    subprocess.run(command, check=True, cwd=folder)
    return ctypes.CDLL(str(folder / "a.so"))


def called(library: ctypes.CDLL, name: str, *arrays: np.ndarray) -> np.ndarray:
    y = np.empty_like(arrays[0])
    getattr(library, name)(*(ctypes.c_void_p(a.ctypes.data) for a in (*arrays, y)), ctypes.c_long(y.size))
    return y


def worst(got: np.ndarray, exact: list[mp.mpf]) -> float:
    with mp.workdps(60):
        return max(error_in_ulp(y, wanted) for y, wanted in zip(got, exact, strict=True))


@pytest.mark.parametrize("op", NAMES)
def test_functions_of_one_number(library: ctypes.CDLL, op: str) -> None:
    x = samples(op, np.float64)
    with mp.workdps(400 if op in ("sin", "cos", "tan") else 60):
        exact = [EXACT[op](mp.mpf(float(v))) for v in x]
    assert 0.4 < worst(called(library, f"many_{NAMES[op]}", x), exact) <= STATED[op][1]


@pytest.mark.parametrize("name", FURTHER)
def test_functions_of_the_further_tables(library: ctypes.CDLL, name: str) -> None:
    _, function, stated = FURTHER[name]
    x = np.concatenate([10.0 ** np.random.default_rng(3).uniform(-4, 2, 30), np.linspace(0.1, 12, 30)])
    with mp.workdps(40):
        exact = [function(mp.mpf(float(v))) for v in x]
    assert 0.4 < worst(called(library, f"further_{name}", x), exact) <= stated


@cache
def powers() -> tuple[np.ndarray, np.ndarray, list[mp.mpf]]:
    """Bases of every size, beside 1, and ordinary ones, with exponents up to where the power overflows."""
    rng = np.random.default_rng(2)
    large, near, some = np.exp(rng.uniform(-700, 700, 800)), 1 + rng.normal(size=800) * 1e-3, rng.uniform(0.1, 9, 800)
    x = np.concatenate([large, near, some])
    y = rng.uniform(-690, 690, x.size) / np.maximum(np.abs(np.log(x)), 1e-9)
    with mp.workdps(60):
        return x, y, [mpmath.power(mp.mpf(float(a)), mp.mpf(float(b))) for a, b in zip(x, y, strict=True)]


def test_powers(library: ctypes.CDLL) -> None:
    x, y, exact = powers()
    assert 0.4 < worst(called(library, "many_pow", x, y), exact) <= 1.0


def test_a_product_that_loses_its_rounding_error_is_seen(tmp_path: Path) -> None:
    header = (CPP / "burlab/numbers/power.hpp").read_text()
    low = "((x1 * y1 - xy) + x1 * y2 + x2 * y1) + x2 * y2"
    assert low in header
    broken = header.replace(low, "0 * (x1 + y1 + x2 + y2)").replace('#include "', '#include "burlab/numbers/')
    source = broken.replace("#pragma once", "") + SOURCE[SOURCE.index('extern "C" void many_pow') :]
    x, y, exact = powers()
    assert worst(called(built(source, ["-O2"], tmp_path), "many_pow", x, y), exact) > 100
