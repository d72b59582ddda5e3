"""`sort` and `argsort`: rows of every length and kind, also such that defeat quicksort, in n log n comparisons.

The rows that do are made by an adversary (McIlroy 1999, A killer adversary for quicksort): while the product's own
sorter runs, it decides each value as late as it can, so that every pivot is nearly the smallest.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

from burlab import runtime
from burlab.compiler import build
from burlab.graph import Graph, Node
from burlab.graph.operation import made

PRIMES = (211, 997, 4099, 8209)
HARNESS = """
using Int = std::int64_t;
struct Adversary {
  Int *values, gas, *solid, *candidate;
  BURLAB_INLINE bool operator()(Int i, Int j) const {
    if (values[i] == gas && values[j] == gas) values[i == *candidate ? i : j] = (*solid)++;
    if (values[i] == gas) *candidate = i;
    else if (values[j] == gas) *candidate = j;
    return values[i] < values[j];
  }
};
struct Counting {
  Int* count;
  BURLAB_INLINE bool operator()(double x, double y) const { return ++*count, burlab::kernels::precedes(x, y); }
};
extern "C" std::int64_t @unit_decide(Int* items, Int* values, Int n) {
  Int solid = 0, candidate = 0;
  for (Int i = 0; i < n; ++i) items[i] = i, values[i] = n;
  burlab::StopCheck stop;
  const Adversary less{values, n, &solid, &candidate};
  burlab::kernels::Sorter<Int, Adversary>(less, stop).sort(items, n);
  return solid;
}
extern "C" std::int64_t @unit_count(double* x, Int n) {
  Int count = 0;
  burlab::StopCheck stop;
  const Counting less{&count};
  burlab::kernels::Sorter<double, Counting>(less, stop).sort(x, n);
  return count;
}
"""


@cache
def harness() -> tuple[Callable[..., int], Callable[..., int]]:
    from ctypes import CFUNCTYPE, c_int64, c_void_p

    unit = runtime.declare(HARNESS, ["burlab/kernels/move/sort.hpp"])
    decide = CFUNCTYPE(c_int64, c_void_p, c_void_p, c_int64)(runtime.address(f"{unit}_decide"))
    count = CFUNCTYPE(c_int64, c_void_p, c_int64)(runtime.address(f"{unit}_count"))
    return decide, count


@cache
def killer(n: int) -> Any:
    """A permutation of n integers, on which quicksort alone would take comparisons in the order of n^2."""
    items, values = np.empty(n, np.int64), np.empty(n, np.int64)
    solid = harness()[0](items.ctypes.data, values.ctypes.data, n)
    undecided = np.flatnonzero(values == n)
    values[undecided] = np.arange(solid, n)
    assert sorted(values) == list(range(n))
    return values


def comparisons(x: Any) -> float:
    """How many the sorter takes, over n log n; the row must end in order."""
    x = x.astype(np.float64)
    wanted, n = np.sort(x), x.size
    count = harness()[1](x.ctypes.data, n)
    np.testing.assert_array_equal(x, wanted)
    return count / (n * np.log2(n))


def row(kind: str, n: int) -> Any:
    if kind == "random":
        return np.random.default_rng(n).permutation(n)
    return {"ordered": np.arange(n), "backwards": np.arange(n)[::-1], "equal": np.zeros(n), "ties": np.arange(n) % 3}[
        kind
    ]


@pytest.mark.parametrize("n", PRIMES)
def test_a_killer_uses_up_what_quicksort_may_take_and_ends_in_a_heap(n: int) -> None:
    """Quicksort may pass through 4 n log n numbers; a heap takes some 2 n log n comparisons more."""
    assert 4 < comparisons(killer(n)) < 9
    assert comparisons(row("random", n)) < 2


def test_comparisons_grow_as_n_log_n() -> None:
    ratios = [comparisons(killer(n)) for n in PRIMES]
    assert max(ratios) < 1.3 * min(ratios)  # n^2 would make the last one more than twenty times the first


@pytest.mark.parametrize("kind", ["random", "ordered", "backwards", "equal", "ties"])
def test_ordinary_rows_are_left_to_quicksort(kind: str) -> None:
    assert comparisons(row(kind, 4099)) < 2.5


def with_ties(x: Any) -> Any:
    return x // 3


def with_nans(x: Any) -> Any:
    return np.where(x > 0.8 * x.size, np.nan, x)


def with_zeros(x: Any) -> Any:
    signs = np.where(np.arange(x.size) % 2, -1.0, 1.0)
    return np.where(x < 0.3 * x.size, 0.0 * signs, x * signs)


def compiled(op: str, gear: Any, x: Any) -> Any:
    node = Node("input", (), "x", x.shape, x.dtype)
    (y,) = build(Graph((node,), (made(op, None, node),)), gear=gear)(x)
    return y


def assert_sorted(x: Any, gear: str) -> None:
    y, at = compiled("sort", gear, x), compiled("argsort", gear, x)
    np.testing.assert_array_equal(y, np.sort(x, axis=-1))
    np.testing.assert_array_equal(at, np.argsort(x, axis=-1, kind="stable"))
    bits = f"u{x.itemsize}"
    np.testing.assert_array_equal(np.sort(y.view(bits), -1), np.sort(x.view(bits), -1))  # -0.0 stays -0.0


@pytest.mark.parametrize("gear", ["replay", "compiled"])
@pytest.mark.parametrize("change", [lambda x: x, with_ties, with_nans, with_zeros])
def test_killers_are_sorted_as_numpy_does(change: Callable[[Any], Any], gear: str) -> None:
    for n in PRIMES[:3]:
        x = change(killer(n))
        for dtype in ("float32", "float64") if x.dtype.kind == "f" else ("float32", "float64", "int64"):
            assert_sorted(np.stack([x, x[::-1], np.roll(x, 5)]).astype(dtype), gear)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 23, 24, 25, 26, 101])
def test_short_rows(n: int) -> None:
    rng = np.random.default_rng(n)
    special = rng.choice([np.nan, -0.0, 0.0, 1.0, -np.inf, np.inf], (3, n))
    for x in (special, rng.normal(size=(3, n)), rng.integers(0, 3, (3, n))):
        assert_sorted(x, "replay")
