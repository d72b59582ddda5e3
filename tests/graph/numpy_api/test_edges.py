"""What lies outside: nan in an order, shares that are none, endless seeds, labels from 1, updates that do not fit."""

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ArgumentError, DTypeError, IndexRangeError, ShapeError

OUTSIDE = np.array([3.0, np.nan, 9.0, 9.0, np.nan, -np.inf, np.inf])


@pytest.mark.parametrize(
    "x", [OUTSIDE, OUTSIDE.astype("f4"), np.array([0, 255, 7, 0], np.uint8), np.array([0, -(2**63)])]
)
def test_the_largest_are_the_last_in_order(x: np.ndarray) -> None:
    values, places = bl.top_k(x, x.size)
    np.testing.assert_array_equal(values, np.sort(x)[::-1])
    np.testing.assert_array_equal(x[places], values)


def test_a_traced_share_that_is_none_gives_nan() -> None:
    x = np.arange(5.0)
    for f, unit in ((np.quantile, 1.0), (np.percentile, 100.0), (np.nanquantile, 1.0)):
        traced = bl.jit(lambda x, q, f=f: f(x, q))
        got = [traced(x, unit * q) for q in (-0.1, 0.0, 0.5, 1.0, 1.1, np.nan)]
        np.testing.assert_array_equal(got, [np.nan, 0.0, 2.0, 4.0, np.nan, np.nan])


@pytest.mark.parametrize("seed", [10**400, 2**128, -(10**400), -(2**127) - 1])
def test_a_seed_is_no_longer_than_a_key(seed: int) -> None:
    with pytest.raises(ArgumentError, match=r"bits makes no key: keys have 128"):
        bl.random.key(seed)
    with pytest.raises(ArgumentError, match="expected 64 at most"):
        bl.random.fold_in(bl.random.key(0), seed)
    with pytest.raises(DTypeError, match="expected integers"):
        bl.random.fold_in(bl.random.key(0), 1.5)


def test_every_class_has_a_sample() -> None:
    for labels in ([1, 2, 3], [0, 2, 0]):
        with pytest.raises(ArgumentError, match=r"for \d classes. Number the classes by np.unique"):
            bl.problems.softmax_regression(np.ones((3, 2)), labels)
    assert bl.problems.softmax_regression(np.ones((3, 2)), [0, 2, 0], classes=4).start.shape == (2, 4)


@pytest.mark.parametrize("update", [bl.at_set, bl.at_add])
def test_updates_that_do_not_fit(update) -> None:
    for index in (7, -5, np.array([0, 9]), (0, 0), "a"):
        with pytest.raises(IndexRangeError, match="does not fit x of shape"):
            update(np.zeros(4), index, 1.0)
    for call in (update, bl.jit(lambda x, i, v: update(x, slice(0, 2), v))):
        with pytest.raises(ShapeError, match="broadcast"):
            call(np.zeros(4), np.array([0, 1]), np.ones(3))
