"""Products and quotients of intervals, with signs that a program shows and without: from corner to corner."""

import itertools
import math
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.graph import Node
from burlab.graph.node import as_node
from burlab.transforms.numbers.signs import is_nonnegative, is_positive

ENDS = (-math.inf, -3.0, -1e-300, -0.0, 0.0, 1e-300, 0.7, 4.0, math.inf)
BOXES = [(a, b) for a, b in itertools.product(ENDS, ENDS) if a <= b and a < math.inf and b > -math.inf]
LARGEST = np.finfo(np.float64).max


def corners(op: Any, x: tuple[float, float], y: tuple[float, float]) -> tuple[float, float]:
    """The range over the corners; of 0 and infinity nothing comes, unless nothing else does."""
    with np.errstate(all="ignore"):
        found = [op(np.float64(a), np.float64(b)) for a in x for b in y]
    numbers = [float(v) for v in found if not np.isnan(v)] or [math.nan]
    return min(numbers), max(numbers)


def check(f: Any, op: Any, pairs: list[Any]) -> None:
    """Bounds hold, and are next to the range; in a trace, where nan is no error."""
    low, high = (np.array([[p[k][end] for k in range(2)] for p in pairs]) for end in range(2))
    inside: Any = bl.jit(bl.interval(f))
    for a, b, (x, y) in zip(*inside(low, high), pairs, strict=True):
        least, most = corners(op, x, y)
        assert np.isnan(a) == np.isnan(b) == np.isnan(least), (x, y, a, b)
        if not np.isnan(least):
            assert a <= least, (x, y, a, least)
            assert b >= most, (x, y, b, most)
            assert a == least or a >= np.nextafter(np.nextafter(min(least, LARGEST), -np.inf), -np.inf), (x, y, a)
            assert b == most or b <= np.nextafter(np.nextafter(max(most, -LARGEST), np.inf), np.inf), (x, y, b)


@pytest.mark.parametrize("known", [(), (0,), (1,), (0, 1)], ids=str)
def test_products_reach_from_corner_to_corner(known: tuple[int, ...]) -> None:
    pairs = [(x, y) for x in BOXES for y in BOXES if all(not np.signbit((x, y)[k][0]) for k in known)]

    def product(z: Any) -> Any:
        x, y = (np.abs(z[..., k]) if k in known else z[..., k] for k in range(2))
        return x * y

    check(product, np.multiply, pairs)


@pytest.mark.parametrize("known", [False, True])
def test_quotients_reach_from_corner_to_corner(known: bool) -> None:
    """An end of a divisor at 0 has the sign of its inside."""
    above = [(0.0 if a == 0 else a, b) for a, b in BOXES if a >= 0 and b > 0]
    below = [(a, -0.0 if b == 0 else b) for a, b in BOXES if b <= 0 and a < 0]
    pairs = [(x, y) for x in BOXES for y in (above if known else above + below)]
    check(lambda z: z[..., 0] / (np.abs(z[..., 1]) if known else z[..., 1]), np.divide, pairs)


def test_signs_that_a_program_shows() -> None:
    x = Node("input", (), None, (3,), np.dtype(np.float64))
    y: Any = np.square(x)
    for shown in (y, np.exp(x), np.abs(x) + y, y[1:] * 2.0, np.sum(np.exp(x)), y / 3.0, np.minimum(y, 1.0)):
        assert is_nonnegative(as_node(shown)), shown
    for hidden in (x, -y, y - 1.0, x * x, bl.relu(x), y * -0.0):  # -0 may come of some of them
        assert not is_nonnegative(as_node(hidden)), hidden
    assert is_positive(as_node(np.array([0.1, 3.0])))
    for number in (0.0, -1.0, np.inf, np.nan):
        assert not is_positive(as_node(number))
