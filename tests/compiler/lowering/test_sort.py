"""`sort` and `argsort`: rows of every length and kind, and such that defeat what is fast for ordinary ones.

A long row is put in order by splits, where the CPU has the instructions for it. Elsewhere, and by `argsort`, it is put
in order by the leading digits of its numbers, and then by insertion. Numbers that share these digits, because one that
is far away takes all of them, would take moves in the order of n^2: their number is bounded.
"""

from time import perf_counter
from typing import Any

import numpy as np
import pytest

from burlab.compiler import build
from burlab.graph import Graph, Node
from burlab.graph.operation import make_node

DTYPES = ("float64", "float32", "int64", "int32", "bool")


def close_together(n: int) -> Any:
    """Numbers next to each other, in no order, and one at the other end of all numbers."""
    x = 1 + np.random.default_rng(n).permutation(n) * np.finfo(float).eps
    x[:1] = -1e308
    return x


def row(kind: str, n: int) -> Any:
    rng = np.random.default_rng(n)
    return {
        "random": lambda: rng.normal(size=n),
        "integers": lambda: rng.integers(-(2**31), 2**31, n),
        "ordered": lambda: np.arange(n) - n // 2,
        "backwards": lambda: -np.arange(n),
        "equal": lambda: np.full(n, 7.0),
        "ties": lambda: rng.integers(-1, 2, n),
        "close together": lambda: close_together(n),
        "all sizes": lambda: rng.normal(size=n) * 10.0 ** rng.integers(-30, 30, n),
        "special": lambda: rng.choice([np.nan, -0.0, 0.0, 1.0, -np.inf, np.inf], n),
        "no numbers": lambda: np.full(n, np.nan),
    }[kind]()


KINDS = ("random", "integers", "ordered", "backwards", "equal", "ties", "close together", "all sizes", "special",
         "no numbers")  # fmt: skip


def compiled(op: str, gear: Any, x: Any) -> Any:
    node = Node("input", (), "x", x.shape, x.dtype)
    (y,) = build(Graph((node,), (make_node(op, None, node),)), gear=gear)(x)
    return y


def assert_sorted(x: Any, gear: str) -> None:
    y, at = compiled("sort", gear, x), compiled("argsort", gear, x)
    np.testing.assert_array_equal(y, np.sort(x, axis=-1))
    np.testing.assert_array_equal(at, np.argsort(x, axis=-1, kind="stable"))
    bits = f"u{x.itemsize}"
    np.testing.assert_array_equal(np.sort(y.view(bits), -1), np.sort(x.view(bits), -1))  # -0.0 stays -0.0


@pytest.mark.parametrize("gear", ["replay", "compiled"])
@pytest.mark.parametrize("kind", KINDS)
def test_rows_are_sorted_as_numpy_does(kind: str, gear: str) -> None:
    for n in (47, 48, 49, 997, 2047, 2048) if gear == "replay" else (48, 211):
        x = np.stack([row(kind, n), row(kind, n)[::-1], np.roll(row(kind, n), 5)])
        for dtype in DTYPES if np.isfinite(x).all() else DTYPES[:2]:
            with np.errstate(all="ignore"):  # of numbers that the dtype does not hold
                assert_sorted(x.astype(dtype), gear)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 7, 24])
def test_short_rows_are_sorted(n: int) -> None:
    for kind in KINDS:
        x = np.stack([row(kind, n), row(kind, n)[::-1]])
        for dtype in DTYPES if np.isfinite(x).all() else DTYPES[:2]:
            with np.errstate(all="ignore"):
                assert_sorted(x.astype(dtype), "replay")


@pytest.mark.parametrize("n", [2, 5, 100, 255, 256, 257])
def test_many_rows_side_by_side(n: int) -> None:
    for kind in KINDS:
        for count in (16, 19):
            x = np.stack([np.roll(row(kind, n), k) for k in range(count)])
            for dtype in DTYPES if np.isfinite(x).all() else DTYPES[:2]:
                with np.errstate(all="ignore"):
                    assert_sorted(x.astype(dtype), "replay")


@pytest.mark.parametrize("gear", ["replay", "compiled"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_single_row_about_the_sizes_of_blocks_and_pivots(kind: str, gear: str) -> None:
    sizes = (49, 64, 127, 128, 129, 191, 255, 256, 257, 511, 4095, 4096, 4097, 9001) if gear == "replay" else (129, 257)
    for n in sizes:
        x = row(kind, n)
        for dtype in DTYPES if np.isfinite(x).all() else DTYPES[:2]:
            with np.errstate(all="ignore"):  # of numbers that the dtype does not hold
                assert_sorted(x.astype(dtype)[None], gear)


@pytest.mark.parametrize("gear", ["replay", "compiled"])
def test_zeros_of_both_signs_and_infinities_fill_long_rows(gear: str) -> None:
    for n in (129, 300, 5000):
        rng = np.random.default_rng(n)
        for values in ((-0.0, 0.0), (np.inf, -np.inf), (-np.inf,), (np.inf, 1.0), (-0.0, 0.0, -5e-324, 5e-324)):
            for dtype in DTYPES[:2]:
                x = rng.choice(values, n).astype(dtype)
                assert_sorted(x[None], gear)
                y = compiled("sort", gear, x)
                zeros = np.signbit(y[y == 0])
                np.testing.assert_array_equal(zeros, np.sort(zeros)[::-1])  # all -0 before all 0


@pytest.mark.parametrize("n", [32768, 32769, 70001])
def test_long_rows(n: int) -> None:
    for kind in ("random", "integers", "close together", "special"):
        assert_sorted(row(kind, n)[None], "replay")


def test_moves_are_bounded_where_numbers_share_their_digits() -> None:
    """Without a bound these rows take some hundred times as long as random ones of their length."""

    def least(op: str, x: Any) -> float:
        times: list[float] = []
        for _ in range(7):
            start = perf_counter()
            compiled(op, "replay", x)
            times.append(perf_counter() - start)
        return min(times)

    n = 200_000
    for op in ("sort", "argsort"):
        assert least(op, close_together(n)) < 20 * least(op, row("random", n))
