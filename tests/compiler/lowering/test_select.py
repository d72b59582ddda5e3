"""Selection: what is at some places of rows in order, for rows of every length and kind, as NumPy gives it."""

from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.compiler import build
from burlab.graph import Graph, Node
from burlab.graph.numpy_api.ordering import MAX_SELECTED, MIN_SELECTED
from burlab.graph.operation import make_node

DTYPES = ("float64", "float32", "int64", "int32", "int16", "uint8", "bool")
LENGTHS = (1, 2, 47, 49, 100, 129, 300, 511, 512, 513, 700, 1023, 4097, 70_001)


def row(kind: str, n: int) -> Any:
    rng = np.random.default_rng(n)
    return {
        "random": lambda: 50 * rng.normal(size=n),
        "ordered": lambda: np.arange(n) - n // 2,
        "backwards": lambda: -np.arange(n),
        "repeated": lambda: np.arange(n) % 100,
        "equal": lambda: np.full(n, 7.0),
        "ties": lambda: rng.integers(-1, 2, n),
        "ten numbers": lambda: rng.integers(-4, 6, n),
        "close together": lambda: np.append(-1e30, 1 + rng.permutation(n) * np.finfo(np.float32).eps)[:n],
        "two heaps": lambda: np.where(rng.random(n) < 0.5, -1e6, 1e6) + rng.normal(size=n),
        "special": lambda: rng.choice([np.nan, -0.0, 0.0, 1.0, -np.inf, np.inf], n),
        "some nans": lambda: np.where(rng.random(n) < 0.01, np.nan, rng.normal(size=n)),
        "no numbers": lambda: np.full(n, np.nan),
        "zeros": lambda: rng.choice([-0.0, 0.0], n),
    }[kind]()


KINDS = ("random", "ordered", "backwards", "repeated", "equal", "ties", "ten numbers", "close together", "two heaps",
         "special", "some nans", "no numbers", "zeros")  # fmt: skip


def evaluated(op: str, params: Any, x: Any, gear: Any = "replay") -> Any:
    node = Node("input", (), "x", x.shape, x.dtype)
    (y,) = build(Graph((node,), (make_node(op, params, node),)), gear=gear)(x)
    return y


def check(x: Any, places: tuple[int, ...], gear: Any = "replay") -> None:
    order = np.argsort(x, axis=-1, kind="stable")
    numbers = np.sort(x, axis=-1)
    at, found = evaluated("argkth", places, x, gear), evaluated("kth", places, x, gear)
    np.testing.assert_array_equal(at, order[..., places])
    np.testing.assert_array_equal(found, numbers[..., places])
    if x.dtype.kind == "f":  # -0 is before 0
        before = np.sum((x < 0) | ((x == 0) & np.signbit(x)), axis=-1, keepdims=True)
        np.testing.assert_array_equal(np.signbit(found)[found == 0], (np.array(places) < before)[found == 0])
    positions, parted = evaluated("argpartition", places, x, gear), evaluated("partition", places, x, gear)
    np.testing.assert_array_equal(np.sort(positions, -1), np.broadcast_to(np.arange(x.shape[-1]), x.shape))
    assert parted.tobytes() == np.take_along_axis(x, positions, -1).tobytes()
    np.testing.assert_array_equal(parted[..., places], numbers[..., places])
    for begin, end in zip((0, *places), (*places, x.shape[-1]), strict=True):
        np.testing.assert_array_equal(np.sort(parted[..., begin:end], -1), np.sort(numbers[..., begin:end], -1))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", LENGTHS)
def test_places_of_rows(kind: str, n: int) -> None:
    x = np.stack([row(kind, n), np.roll(row(kind, n), 5)]) if n < 5000 else row(kind, n)
    places = sorted({0, 1, n // 3, n // 2, n // 2 + 1, n - 2, n - 1}.intersection(range(n)))
    for dtype in DTYPES if np.isfinite(x).all() and np.abs(x).max() < 100 else DTYPES[:2]:
        for chosen in {(places[len(places) // 2],), tuple(places)}:
            check(x.astype(dtype), chosen)


@pytest.mark.parametrize("kind", ["random", "special"])
def test_places_of_rows_in_compiled_code(kind: str) -> None:
    check(np.stack([row(kind, 700), row(kind, 700)[::-1]]), (3, 4, 350, 699), "compiled")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", LENGTHS)
def test_the_largest_entries(kind: str, n: int) -> None:
    x = row(kind, n)
    for dtype in DTYPES if np.isfinite(x).all() and np.abs(x).max() < 100 else DTYPES[:2]:
        x = row(kind, n).astype(dtype)
        order = n - 1 - np.argsort(x[::-1], kind="stable")[::-1]
        for k in sorted({1, n // 50, n // 2, n} - {0}):
            np.testing.assert_array_equal(evaluated("argtop", k, x), order[:k])


def test_numpys_functions_along_any_axis() -> None:
    n = MIN_SELECTED + 88
    rng = np.random.default_rng(0)
    x = rng.normal(size=(3, n, 4))
    x[1, 5, 2] = np.nan
    for kth in (0, n // 2, -1, [7, 3, 7, -2], list(range(MAX_SELECTED + 1))):
        got, at = bl.jit(lambda x, kth=kth: (np.partition(x, kth, 1), np.argpartition(x, kth, axis=1)))(x)
        np.testing.assert_array_equal(np.take(got, kth, 1), np.take(np.partition(x, kth, 1), kth, 1))
        np.testing.assert_array_equal(got, np.take_along_axis(x, at, 1))
    for q in (0.0, 1.0, 0.5, 0.123, [0.25, 0.5, 0.9], np.linspace(0, 1, 40)):
        for options in (
            {"axis": 1},
            {"axis": None},
            {"axis": (0, 1), "keepdims": True},
            {"axis": 1, "method": "hazen"},
        ):
            for part in (x, np.nan_to_num(x), np.nan_to_num(x).astype(np.float32)):
                with np.errstate(invalid="ignore"):
                    got = bl.jit(
                        lambda x, q=q, o=options: (np.quantile(x, q, **o), np.percentile(x, 100 * np.array(q), **o))
                    )(part)
                expected = np.quantile(part, q, **options), np.percentile(part, 100 * np.array(q), **options)
                tolerance = 1e-5 if part.dtype == np.float32 else 1e-13
                for one, other in zip(got, expected, strict=True):
                    np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance)
    np.testing.assert_array_equal(bl.jit(lambda x: np.median(x, axis=1))(x), np.median(x, axis=1))


def test_gradients_are_those_of_sorting() -> None:
    n = MIN_SELECTED + 88
    rng = np.random.default_rng(1)
    x = rng.integers(0, 50, (2, n)) / 7.0  # with ties
    w = rng.normal(size=(2, n))

    def sorted_quantile(x: Any, q: float) -> Any:
        place = q * (n - 1)
        low = int(place)
        rows = np.sort(x, axis=-1)
        return rows[:, low] * (1 - (place - low)) + rows[:, min(low + 1, n - 1)] * (place - low)

    for q in (0.0, 0.3, 0.5, 1.0):
        got = bl.grad(lambda x, q=q: np.sum(np.quantile(x, q, axis=-1) ** 2))(x)
        np.testing.assert_allclose(got, bl.grad(lambda x, q=q: np.sum(sorted_quantile(x, q) ** 2))(x), rtol=1e-12)
    at = bl.jit(lambda x: np.argpartition(x, [7, n // 2]))(x)
    gradient = bl.grad(lambda x: np.sum(w * np.partition(x, [7, n // 2])))(x)
    np.testing.assert_array_equal(np.take_along_axis(gradient, at, -1), w)
    tangent = bl.jvp(lambda x: np.partition(x, [7, n // 2]), (x,), (w,))[1]
    np.testing.assert_array_equal(tangent, np.take_along_axis(w, at, -1))
    values, places = bl.top_k(x, 9)
    order = n - 1 - np.argsort(x[:, ::-1], kind="stable")[:, ::-1][:, :9]
    np.testing.assert_array_equal(places, order)
    np.testing.assert_array_equal(values, np.take_along_axis(x, order, -1))
    gradient = bl.grad(lambda x: np.sum(w[:, :9] * bl.top_k(x, 9)[0]))(x)
    np.testing.assert_array_equal(np.take_along_axis(gradient, order, -1), w[:, :9])
    np.testing.assert_array_equal(bl.vmap(np.median)(x), np.median(x, axis=-1))
