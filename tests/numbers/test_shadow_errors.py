"""Errors of computed results in programs that g++ compiles, with and without fused products, against mpmath."""

import ctypes
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest
from mpmath import mp

from tests.numbers.test_contraction import BUILDS, CPP, built, built_as

FUNCTIONS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any], float, float]] = {
    "exp": (mpmath.exp, np.exp, -600, 700),
    "expm1": (mpmath.expm1, np.expm1, -30, 50),
    "sin": (mpmath.sin, np.sin, -1e6, 1e6),
    "cos": (mpmath.cos, np.cos, -1e6, 1e6),
}
ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "sum": lambda x, y: x + y, "product": lambda x, y: x * y, "quotient": lambda x, y: x / y,
}  # fmt: skip
SOURCE = "#include <burlab/numbers/shadow.hpp>\n" + "".join(
    f'extern "C" void {name}_errors({"".join(f"const double* {a}, " for a in letters)}double* e, long n) {{\n'
    f"  BURLAB_LANES\n  for (long i = 0; i < n; ++i) e[i] = burlab::math::{name}_error("
    f"{', '.join(f'{a}[i]' for a in letters)});\n}}\n"
    for name, letters in [
        *((f, ("x", "dx", "z")) for f in FUNCTIONS),
        *((f, ("x", "dx", "y", "dy", "z")) for f in ARITHMETIC),
    ]
)
pytestmark = pytest.mark.skipif(not shutil.which("g++"), reason="g++ is not installed")


@pytest.fixture(scope="module", params=BUILDS)
def library(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    return built_as(request.param, SOURCE, tmp_path_factory.mktemp("shadow"))


def errors(library: ctypes.CDLL, name: str, *arrays: np.ndarray) -> np.ndarray:
    e = np.empty_like(arrays[0])
    library[f"{name}_errors"](*(ctypes.c_void_p(a.ctypes.data) for a in (*arrays, e)), ctypes.c_long(e.size))
    return e


def numbers(start: float, end: float) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(7)
    x = np.concatenate([rng.uniform(start, end, 300), rng.uniform(-1, 1, 200) * 10.0 ** rng.uniform(-12, 0, 200)])
    return x, x * rng.uniform(-1, 1, x.size) * 2.0**-54


def exactly(x: np.ndarray, dx: np.ndarray) -> list[Any]:
    return [mp.mpf(a) + mp.mpf(b) for a, b in zip(x.tolist(), dx.tolist(), strict=True)]


def bits(z: np.ndarray, e: np.ndarray, exact: list[Any]) -> float:
    """The right bits of the worst sum of a result and its error, where those of the error itself bound them."""
    found = []
    for a, b, t in zip(z.tolist(), e.tolist(), exact, strict=True):
        off = abs(mp.mpf(a) + mp.mpf(b) - t)
        found.append(200.0 if off == 0 else -float(mpmath.log(off / max(abs(t), abs(mp.mpf(b)) * 2**50), 2)))
    return min(found)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_have_a_hundred_bits(name: str, library: ctypes.CDLL) -> None:
    exact, computed, start, end = FUNCTIONS[name]
    x, dx = numbers(start, end)
    z = computed(x)
    with mp.workprec(300):
        wanted = list(map(exact, exactly(x, dx)))
        assert bits(z, errors(library, name, x, dx, z), wanted) > 99


def arithmetic_bits(library: ctypes.CDLL, name: str) -> float:
    x, dx = numbers(-3, 3)
    y, dy = x[::-1].copy(), dx[::-1].copy()
    z = ARITHMETIC[name](x, y)
    with mp.workprec(300):
        pairs = [exactly(x, dx), exactly(y, dy)]
        wanted = [ARITHMETIC[name](a, b) for a, b in zip(*pairs, strict=True)]
        return bits(z, errors(library, name, x, dx, y, dy, z), wanted)


@pytest.mark.parametrize("name", ARITHMETIC)
def test_arithmetic_has_a_hundred_bits(name: str, library: ctypes.CDLL) -> None:
    assert arithmetic_bits(library, name) > 101


def test_a_product_that_loses_its_rest_is_seen(tmp_path: Path) -> None:
    header = (CPP / "burlab/numbers/shadow.hpp").read_text()
    kept = "{p.high, p.low + fused(x, dy, fused(y, dx, dx * dy))}"
    assert kept in header
    broken = header.replace(kept, "{p.high, fused(x, dy, fused(y, dx, dx * dy))}").replace("#pragma once", "")
    source = broken.replace('#include "', '#include "burlab/numbers/') + SOURCE.partition("\n")[2]
    assert arithmetic_bits(built(source, ["-O2"], tmp_path), "product") < 60
