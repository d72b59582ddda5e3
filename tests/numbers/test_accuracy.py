"""Functions of our own: how far from the exact value; with BURLAB_SWEEP=1 over every float32, else every 31st."""

import ctypes
import os
from pathlib import Path

import mpmath
import numpy as np
import pytest
from mpmath import mp

import burlab as bl
from burlab import runtime
from burlab.runtime.interpreter import interpreter
from tests.numbers.edges import near_edges
from tests.op_cases import SCALAR

EXACT = {case.name: case.exact for case in SCALAR}
STATED = {  # the worst error, in units in the last place: float32, float64; as docs/internals/numbers.md has it
    "exp": (1.0, 1.1),
    "log": (0.9, 1.0),
    "sin": (0.6, 0.9),
    "cos": (0.6, 0.9),
    "tan": (0.6, 1.0),
    "sinh": (1.7, 1.4),
    "cosh": (1.5, 1.3),
    "tanh": (1.4, 1.5),
    "arctan": (1.9, 2.0),
    "sigmoid": (0.6, 2.5),
    "erf": (1.4, 1.5),
    "expm1": (1.6, 2.2),
    "log1p": (0.9, 1.0),
    "erfc": (1.3, 4.0),
    "softplus": (1.7, 2.0),
    "arctanh": (0.6, 2.0),
}
IN_DOUBLE = {"arctanh"}  # computed in double where the argument is a float, so that both would be one function here
STRIDE = 1 if os.environ.get("BURLAB_SWEEP") else 31  # set, it takes some three minutes and covers every float
SAMPLES = 2000


def worst(struct: str, step: int, before: str = "") -> tuple[float, float]:
    """The largest error of an operation struct over the floats, and where."""
    interpreter().add_include_path(Path(__file__).parents[1] / "cpp")
    unit = runtime.declare(
        f'{before} extern "C" double @unit_worst(float* where) '
        f"{{ return sweep::worst<{struct}>(0, 1ull << 32, {step}, where); }}",
        ["sweep.hpp"],
    )
    where = ctypes.c_float()
    function = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_void_p)(runtime.address(f"{unit}_worst"))
    return function(ctypes.addressof(where)), where.value


@pytest.mark.parametrize("op", sorted(STATED.keys() - IN_DOUBLE))
def test_float32(op):
    error, where = worst(f"burlab::ops::{op.capitalize()}", STRIDE)
    assert 0.4 < error <= STATED[op][0], where


@pytest.mark.parametrize("op", sorted(IN_DOUBLE))
def test_float32_in_double(op):
    assert 0.4 < errors_in_ulp(op, samples(op, "float32")).max() <= STATED[op][0]


def test_a_wrong_function_is_seen():
    wrong = """struct Wrong {
      template <class T> BURLAB_RULE T primal(T x) {
        const auto y = burlab::math::exp(x.value);
        return T(sizeof(y) == 4 && x.value > 87.5f && x.value < 87.6f ? y * 1.0000003f : y);
      }
    };"""
    assert worst("Wrong", 61, wrong)[0] > 2
    assert np.isnan(worst("Sign", 61, wrong.replace("Wrong", "Sign").replace("87.5f", "88.7f").replace(
        "87.6f ? y * 1.0000003f", "89.0f ? -y"))[0])  # fmt: skip


def samples(op, dtype):
    """Arguments of every size, and those around the edges of all its ranges."""
    rng = np.random.default_rng(5)
    bits = rng.integers(0, 2**63, SAMPLES // 4, np.int64).view(np.float64) * rng.choice([-1, 1], SAMPLES // 4)
    near = [rng.uniform(-s, s, SAMPLES // 4) for s in (1, 30, 745)]
    x = np.concatenate([bits, *near, near_edges(op, 60)])
    x = np.abs(x) if op == "log" else np.maximum(x, -1 + 1e-9) if op == "log1p" else x
    x = np.clip(x, -1e3, 1e3) if op == "erfc" else x  # mpmath's range
    x = x[np.abs(x) < 1] if op == "arctanh" else x
    return x[np.isfinite(x)].astype(dtype)


def error_in_ulp(got, exact):
    rounded = np.abs(got.dtype.type(float(exact)))
    if not np.isfinite(rounded):
        return 0.0 if np.abs(got) == rounded else np.inf
    return abs(float((mp.mpf(float(got)) - exact) / mp.mpf(float(np.spacing(rounded)))))


def errors_in_ulp(op, x):
    function = getattr(bl, op, None) or getattr(np, op, None) or erfc
    got = bl.compile(function, x)(x)
    with mp.workdps(40):
        return np.array([error_in_ulp(y, EXACT[op](mp.mpf(float(v)))) for v, y in zip(x, got, strict=True)])


@pytest.mark.parametrize("op", STATED)
def test_float64(op):
    x = samples(op, "float64")
    errors = errors_in_ulp(op, x)
    assert 0.4 < errors.max() <= STATED[op][1], x[errors.argmax()]


def test_arctan_is_worst_where_its_second_range_begins():
    x = np.linspace(*np.tan(np.pi / 8) * np.array([1, 1.05]), 400)
    assert errors_in_ulp("arctan", x).max() > 1.5
    assert errors_in_ulp("arctan", np.concatenate([x - x[0], x * 1.7, x * 2.4, x * 6])).max() < 1.0


def erfc(x):
    from burlab.graph.numpy_api.promotion import node

    return node("erfc", x)


@pytest.mark.parametrize(("dtype", "stated"), [("float32", 0.6), ("float64", 1.5)])
def test_pow(dtype, stated):
    rng = np.random.default_rng(6)
    n = SAMPLES // 4
    x = np.concatenate([10.0 ** rng.uniform(-30, 30, n), rng.uniform(0, 3, n), 1 + 1e-3 * rng.normal(size=2 * n)])
    y = np.concatenate([rng.uniform(-2, 2, n), rng.uniform(-60, 60, n), rng.uniform(-1e5, 1e5, 2 * n)])
    x, y = x.astype(dtype), y.astype(dtype)
    got = bl.compile(np.power, x, y)(x, y)
    with mp.workdps(40), np.errstate(over="ignore"):
        errors = [
            error_in_ulp(z, mpmath.power(mp.mpf(float(a)), mp.mpf(float(b)))) for a, b, z in zip(x, y, got, strict=True)
        ]
    assert max(errors) <= stated


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_pow_at_the_edges_is_that_of_c(dtype):
    edges = [0.0, 1.0, 2.0, 0.5, 3.0, np.inf, 1e30, 1e-40, 5e-324, 2.0**53 - 1, 2.0**24 - 1, 7.0]
    edges = np.array([*edges, *np.negative(edges), np.nan], dtype)
    x, y = (a.ravel() for a in np.meshgrid(edges, edges))
    got = bl.compile(np.power, x, y)(x, y)
    with np.errstate(all="ignore"):
        wanted = np.power(x, y)
    np.testing.assert_array_equal(np.isnan(got), np.isnan(wanted))
    np.testing.assert_array_max_ulp(got[np.isfinite(wanted)], wanted[np.isfinite(wanted)], 1, dtype)
    np.testing.assert_array_equal(got[np.isinf(wanted)], wanted[np.isinf(wanted)])
    np.testing.assert_array_equal(
        np.signbit(got), np.signbit(wanted) & ~np.isnan(got) | np.signbit(got) & np.isnan(got)
    )


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("op", [*STATED, "gelu", "silu"])
def test_elementary_lane_has_the_bits_of_a_scalar(op, dtype):
    function = getattr(bl, op, None) or getattr(np, op, None) or erfc
    x = np.random.default_rng(7).normal(size=37).astype(dtype) * 3
    x = np.abs(x) if op in ("log", "log1p") else x
    many, one = bl.compile(function, x), bl.compile(function, x[0])
    assert many(x).tobytes() == np.array([one(v) for v in x]).tobytes()
    assert many(-x * 0).tobytes() == np.array([one(v) for v in -x * 0]).tobytes()
