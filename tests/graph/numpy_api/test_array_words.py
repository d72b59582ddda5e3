"""Words of arrays where NumPy is delicate: NaNs, ties, empty arrays, overflow; and what of them is refused."""

from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ArgumentError, BurlabError, TraceError
from burlab.graph.tracing.trace import trace
from tests.engines import assert_close, jax_or_skip

NAN, INF = np.nan, np.inf
ROWS = np.array([[3.0, NAN, 1.0], [INF, -INF, 2.0], [0.0, -0.0, 0.0], [NAN, NAN, NAN]])


def same(f: Any, *args: Any) -> None:
    """Replayed and compiled, it is what NumPy gives, of the same shape and dtype."""
    with np.errstate(all="ignore"):
        wanted = f(*args)
    for gear in ("replay", "compiled"):
        found = bl.compile(f, *args, gear=gear)(*args)
        np.testing.assert_array_equal(found, wanted)
        assert np.asarray(found).dtype == np.asarray(wanted).dtype


def test_nans_are_last_in_order_and_larger_than_all() -> None:
    same(lambda x: np.sort(x, axis=1), ROWS)
    same(lambda x: np.argsort(x, axis=1), ROWS)
    table = np.array([-INF, 0.0, 0.0, 1.0, INF, NAN, NAN])
    for side in ("left", "right"):
        same(lambda a, v, side=side: np.searchsorted(a, v, side=side), table, np.array([NAN, INF, 0.0, -INF, 0.5]))


@pytest.mark.filterwarnings("ignore:All-NaN|invalid value:RuntimeWarning")
def test_quantiles_of_rows_with_nans_and_infinities() -> None:
    same(lambda x: np.median(x, axis=1), ROWS)
    same(lambda x: np.nanmedian(x, axis=1), ROWS)
    for q in (0.0, 0.25, 0.5, 1.0):
        same(lambda x, q=q: np.nanquantile(x, q, axis=1), ROWS[[0, 2, 3]])


@pytest.mark.parametrize("method", ["linear", "lower", "higher", "nearest", "midpoint", "hazen", "weibull"])
def test_quantiles_of_any_size_are_numpys(method: Any) -> None:
    rng = np.random.default_rng(3)
    shares = np.array([0.0, 0.1, 0.25, 1 / 3, 0.5, 0.9, 1.0])
    arrays = [rng.integers(-5, 5, n) / 2.0 for n in (1, 2, 3, 4, 7, 12)]
    found = bl.compile(lambda xs: [np.quantile(x, shares, method=method) for x in xs], arrays, gear="replay")(arrays)
    for x, y in zip(arrays, found, strict=True):
        np.testing.assert_allclose(y, np.quantile(x, shares, method=method), rtol=0, atol=1e-14)


def test_searching_tables_of_any_size() -> None:
    rng = np.random.default_rng(4)
    tables = [np.sort(rng.integers(0, 9, n)) for n in (0, 1, 2, 3, 5, 8, 13)]
    wanted = np.arange(-1, 11)
    for side in ("left", "right"):
        f = lambda ts, v, side=side: [np.searchsorted(t, v, side=side) for t in ts]  # noqa: E731
        for table, places in zip(tables, bl.compile(f, tables, wanted, gear="replay")(tables, wanted), strict=True):
            np.testing.assert_array_equal(places, np.searchsorted(table, wanted, side=side))


def test_running_products_follow_numpys_order() -> None:
    same(np.cumprod, np.array([1e-200, 1e200, 1e200, 1e200]))
    same(np.cumprod, np.array([3, -2, 5]))
    same(np.cumprod, np.zeros(0))
    same(lambda x: np.maximum.accumulate(x, axis=1), ROWS[1:3])
    floats = np.random.default_rng(8).normal(size=(5, 37)).astype(np.float32)
    same(np.cumprod, floats)
    same(lambda x: np.cumprod(x[::-1], 0)[::-1] + np.minimum.accumulate(x[:, ::-1], axis=1), floats)


@pytest.mark.parametrize("gear", ["replay", "compiled"])
def test_running_products_and_extremes_have_jaxs_derivatives(gear: Any) -> None:
    jax = jax_or_skip()
    x = np.random.default_rng(9).normal(size=(3, 6))
    x[1, 2] = 0.0
    for ours, theirs in ((lambda x: np.cumprod(x, 1), lambda x: jax.numpy.cumprod(x, 1)),
                         (lambda x: np.maximum.accumulate(x, axis=0), lambda x: jax.lax.cummax(x, 0))):  # fmt: skip
        f = bl.hvp(lambda x, ours=ours: np.sum(np.sin(ours(x))))
        wanted = jax.jvp(jax.grad(lambda x, theirs=theirs: jax.numpy.sum(jax.numpy.sin(theirs(x)))), (x,), (x * x,))
        assert_close(bl.compile(f, x, x * x, gear=gear)(x, x * x), wanted[1])


def test_overflow_of_a_running_product_is_located() -> None:
    k = bl.compile(np.cumprod, np.ones(3), check_finite=True)
    with pytest.raises(BurlabError, match="mul"):
        k(np.array([1e200, 1e200, 1.0]))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_remainders_equal_numpy_also_near_multiples(dtype: Any) -> None:
    rng = np.random.default_rng(10)
    sizes = np.ldexp(rng.normal(size=(2, 3000)), rng.integers(-140, 120, (2, 3000)))
    y = rng.normal(size=3000).astype(dtype)
    multiples = y * rng.integers(-(2**40), 2**40, 3000).astype(dtype)
    beside = np.nextafter(multiples, rng.choice([-INF, INF], 3000).astype(dtype))
    close = sizes[0] * np.ldexp(1.0, rng.integers(-60, 60, 3000))
    few = np.array([0.0, -0.0, 1.0, -3.0, 0.1, INF, -INF, NAN, 5e-324, 1e-310, 2.0**53, 1e300])
    with np.errstate(over="ignore"):
        x = np.concatenate([sizes[0], sizes[0], multiples, beside, np.repeat(few, 12)]).astype(dtype)
        y = np.concatenate([sizes[1], close, y, y, np.tile(few, 12)]).astype(dtype)
    with np.errstate(all="ignore"):
        wanted = np.fmod(x, y), np.remainder(x, y), np.floor_divide(x, y)
    found = bl.compile(lambda x, y: (np.fmod(x, y), np.remainder(x, y), np.floor_divide(x, y)), x, y)(x, y)
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(a, b)
        np.testing.assert_array_equal(np.signbit(a[~np.isnan(b)]), np.signbit(b[~np.isnan(b)]))


def test_shifts_by_any_count_are_numpys() -> None:
    counts = np.array([0, 1, 31, 32, 63, 64, 65, 2**40, -1, 5])
    same(
        lambda x, n: np.left_shift(x, n) ^ np.right_shift(x, n), np.array([-7, 9, 1 << 62, -(1 << 63), -1] * 2), counts
    )


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_totals_without_numbers() -> None:
    for name in ("nansum", "nanprod", "nanmean", "nanmax", "nanmin", "nanvar"):
        same(lambda x, name=name: getattr(np, name)(x, axis=1), ROWS)
    same(lambda x: np.max(x, axis=0, initial=-1.0), np.zeros((0, 3)))
    same(lambda x: np.mean(x, where=x > 5), np.ones(3))


def test_skipped_entries_have_zero_gradient() -> None:
    x = np.array([1.0, NAN, 4.0])
    np.testing.assert_array_equal(bl.grad(np.nansum)(x), [1.0, 0.0, 1.0])
    np.testing.assert_array_equal(bl.grad(np.nanmean)(x), [0.5, 0.0, 0.5])
    np.testing.assert_array_equal(bl.grad(lambda x: np.sum(x**2, where=x > 2))(np.array([1.0, 4.0])), [0.0, 8.0])
    slope = bl.grad(lambda x: np.sum(np.piecewise(x, [x > 0], [np.log, 0.0])))(np.array([0.0, 2.0]))
    np.testing.assert_array_equal(slope, [0.0, 0.5])


def test_derivatives_of_higher_order() -> None:
    x = np.array([0.4, -1.3, 2.2, 0.9])
    for f in (
        lambda x: np.sum(np.cumprod(x) ** 2),
        lambda x: np.quantile(x**3, 0.3),
        lambda x: np.sum(np.interp(x, np.array([-2.0, 0.1, 3.0]), x[:3] ** 2)),
        lambda x: np.sum(np.convolve(x, x**2)),
        lambda x: np.polyval(x, x[0]),
        lambda x: np.linalg.norm(np.cov(np.stack([x, x**2]))),
    ):
        bl.check_grads(f, x, order=3)


def test_positions_that_are_regions_are_slices() -> None:
    moves = lambda x: (np.rot90(x), np.fliplr(x), np.vsplit(x, 2)[1], np.matrix_transpose(x))  # noqa: E731
    graph = trace(moves, (np.ones((4, 3)),)).graph
    assert not [n for n in graph.nodes if n.op == "gather"]


def test_histograms_count_both_ends_and_leave_out_the_rest() -> None:
    x = np.array([-3.0, 0.0, 0.5, 1.0, 1.0, 9.0, NAN])
    same(lambda x: np.histogram(x, np.array([0.0, 0.5, 1.0]))[0], x)
    same(lambda x: np.histogram(x[:3], 3)[1], np.ones(3))


@pytest.mark.parametrize(
    ("f", "error", "said"),
    [
        (lambda x: np.diag(x, k=x[0]), TraceError, "where its elements go would depend on numbers"),
        (lambda x: np.roll(x, np.argmax(x)), TraceError, "known ints there"),
        (lambda x: np.quantile(x, 1.5), ArgumentError, "expected shares between 0 and 1"),
        (lambda x: np.quantile(x, 0.5, method="median"), TraceError, "hazen"),
        (lambda x: np.quantile(x[:0], 0.5), ArgumentError, "does not exist"),
        (lambda x: np.partition(x, 9), ArgumentError, "axis of size 3"),
        (lambda x: np.searchsorted(x, 1.0, side="top"), ArgumentError, "'left' or 'right'"),
        (lambda x: np.digitize(1.0, x), TraceError, "searchsorted"),
        (lambda x: np.digitize(x, np.array([0.0, 2.0, 1.0])), ArgumentError, "rises or falls"),
        (lambda x: np.histogram(x, "auto"), TraceError, "a number of bins"),
        (lambda x: np.linspace(x[0], 1.0, -1), ArgumentError, "0 or more"),
        (lambda x: np.convolve(x, x[:0]), BurlabError, "two vectors with entries"),
        (lambda x: np.convolve(x, x, "most"), ArgumentError, "'full', 'same' or 'valid'"),
        (lambda x: np.interp(x, x, x[:2]), BurlabError, "two vectors of one length"),
        (lambda x: np.cross(x, x[:1]), BurlabError, "2 or 3 entries"),
        (lambda x: np.max(x, where=x > 0), ArgumentError, "Pass initial="),
        (lambda x: np.pad(x, 1, lambda *_: None), TraceError, "np.concatenate"),
        (lambda x: np.pad(x, 1, "mean", stat_length=-1), ArgumentError, "stat_length=-1"),
        (lambda x: np.delete(x, 7), BurlabError, "out of bounds"),
        (lambda x: np.select([x > 0], []), ArgumentError, "expected as many"),
        (lambda x: np.gradient(x, 1.0, 2.0), ArgumentError, "one for each axis"),
        (lambda x: np.piecewise(x, [x > 0], [1.0, 2.0, 3.0]), ArgumentError, "one function more"),
        (lambda x: np.hsplit(x, 2), BurlabError, "equal division"),
        (lambda x: np.vander(np.outer(x, x)), BurlabError, "a vector"),
    ],
)
def test_unsupported_array_functions_raise(f: Any, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said) as raised:
        bl.jit(f)(np.ones(3))
    assert "test_array_words.py" in str(raised.value)


@pytest.mark.parametrize("sizes", [(0, 9), (1, 9), (2, 9), (9, 1), (1, 1), (3, 1, 9), (1, 9, 9)], ids=str)
def test_roll_flip_repeat_equal_numpy_at_any_axis_length(sizes: tuple[int, ...]) -> None:
    """Axes of length 0 and 1 among others."""
    x = np.random.default_rng(5).normal(size=sizes)
    for axis in (None, *range(len(sizes)), (0, -1)):
        moves = [lambda a, k=axis: np.roll(a, 3, k), lambda a, k=axis: np.flip(a, k)]
        if isinstance(axis, int):
            moves += [lambda a, k=axis: np.repeat(a, 2, k), lambda a, k=axis: np.roll(a, 1 - a.shape[k], k)]
        for move in moves:
            np.testing.assert_array_equal(bl.compile(move, x, gear="replay")(x), move(x))


def test_roll_and_shift_use_slices_not_gathers() -> None:
    x = np.random.default_rng(4).normal(size=(6, 5))
    few = (
        lambda x: np.roll(x, 2),
        lambda x: np.roll(x, -2, 1),
        lambda x: np.roll(x, 2, 0),
        lambda x: np.fft.fftshift(x, 0),
        lambda x: np.delete(x, 2, 1),
        lambda x: np.repeat(x, 3),
        lambda x: np.repeat(x, 2, axis=0),
        lambda x: np.repeat(x, [3], axis=1),
    )
    for move in few:
        k = bl.compile(move, x)
        assert not {n.op for n in k.graph.nodes} & {"gather", "take"}
        np.testing.assert_array_equal(k(x), move(x))
        weights = np.arange(1.0, 1 + move(x).size).reshape(move(x).shape)
        numbers = move(np.arange(x.size).reshape(x.shape)).ravel()
        wanted = np.bincount(numbers, weights.ravel(), x.size).reshape(x.shape)
        np.testing.assert_allclose(bl.grad(lambda x, m=move, w=weights: np.sum(m(x) * w))(x), wanted)
    many = bl.compile(lambda x: np.repeat(x, [1, 2, 0, 1, 3, 1], axis=0), x)
    assert {n.op for n in many.graph.nodes} & {"gather", "take"}
    np.testing.assert_array_equal(many(x), np.repeat(x, [1, 2, 0, 1, 3, 1], axis=0))
    assert bl.compile(lambda x: np.repeat(x, 0), x)(x).shape == (0,)


def test_weights_that_fit_no_axis_are_refused() -> None:
    x = np.ones((3, 3))
    for axis, weights in ((None, np.ones(3)), (0, np.ones((3, 1))), ((0, 1), np.ones(9))):
        with pytest.raises(bl.errors.ShapeError, match=r"np\.average got weights of shape"):
            bl.jit(lambda x, axis=axis, weights=weights: np.average(x, axis=axis, weights=weights))(x)
