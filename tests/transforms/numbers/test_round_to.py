"""`bl.round_to`, bit for bit as ml_dtypes and NumPy round, and by tables of all numbers of a format."""

import re
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ArgumentError, DTypeError
from burlab.transforms.numbers.formats import FORMATS

PEERS = {"bfloat16": "bfloat16", "float16": "float16", "e4m3": "float8_e4m3fn", "e5m2": "float8_e5m2"}


def peer(name: str) -> Any:
    if name == "float16":
        return np.float16
    return getattr(pytest.importorskip("ml_dtypes", reason="ml_dtypes is not installed: make peers"), PEERS[name])


DTYPES = ["float64", "float32"]


def test_every_format_is_documented() -> None:
    assert [name for name in FORMATS if f'"{name}"' not in str(bl.round_to.__doc__)] == []


def table(name: str) -> Any:
    """All finite numbers of a format, in order, without -0."""
    kind = np.dtype(peer(name))
    with np.errstate(invalid="ignore"):  # of signalling nan
        every = np.arange(1 << 8 * kind.itemsize, dtype=f"u{kind.itemsize}").view(kind).astype(np.float64)
    return np.unique(every[np.isfinite(every)])


def points(name: str) -> Any:
    """Numbers of a format, the middles between two, and what is next to all of these; float32."""
    known = table(name)
    places = np.concatenate(
        [known, (known[1:] + known[:-1]) / 2, known[-1:] * [[1.01], [1.04], [1.1]], -known[-1:] * 2], axis=None
    )
    with np.errstate(over="ignore"):
        exact = places.astype(np.float32)
        around = [np.nextafter(exact, np.float32(side)) for side in (np.inf, -np.inf)]
    return np.concatenate(
        [exact, *around, np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-45, -1e-45, 3e38], np.float32)]
    )


def same(got: Any, want: Any) -> None:
    np.testing.assert_array_equal(got, want)
    numbers = ~np.isnan(want)
    np.testing.assert_array_equal(np.signbit(got)[numbers], np.signbit(want)[numbers])


@pytest.mark.parametrize("name", PEERS)
def test_the_nearest_is_that_of_ml_dtypes(name: str) -> None:
    x = points(name)
    if name == "bfloat16":  # one of every kind of float32, by its upper half
        upper = np.arange(1 << 16, dtype=np.uint32) << 16
        x = np.concatenate([x, *((upper | low).view(np.float32) for low in (0, 0x7FFF, 0x8000, 0x8001))])
    got = bl.round_to(name, x)
    assert got.dtype == np.float32
    with np.errstate(all="ignore"):
        same(got, x.astype(peer(name)).astype(np.float32))
    if name == "float16":
        rng = np.random.default_rng(0)
        wide = rng.normal(size=5000) * 2.0 ** rng.integers(-28, 17, 5000)
        with np.errstate(over="ignore"):
            same(bl.round_to(name, wide), wide.astype(np.float16).astype(np.float64))


@pytest.mark.parametrize("mode", ["up", "down", "zero"])
@pytest.mark.parametrize("name", ["float16", "e4m3"])
def test_directed_rounding_goes_to_the_neighbour(name: str, mode: str) -> None:
    known, x = table(name), points(name)
    x = x[np.isfinite(x)]
    beyond = np.inf if name == "float16" else np.nan
    up = np.append(known, beyond)[np.searchsorted(known, x)]
    down = np.append(-beyond, known)[np.searchsorted(known, x, side="right")]
    want = {"up": up, "down": down, "zero": np.where(x > 0, down, up)}[mode]
    same(bl.round_to(name, x, mode=mode), np.copysign(want, x).astype(np.float32))


@pytest.mark.parametrize("dtype", DTYPES)
def test_stochastic_rounding_keeps_the_mean(dtype: str) -> None:
    """It goes to one of two neighbours; the mean of n draws is within 5 deviations of the number."""
    known = table("e5m2")
    x = np.array([0.3, -0.3, 1.6, 3e-6, -41000.0, 2.0, -0.0], dtype)
    n = 4000
    got = bl.round_to("e5m2", np.tile(x, (n, 1)), key=bl.random.key(3))
    assert got.dtype == dtype
    down, up = known[np.searchsorted(known, x, side="right") - 1], known[np.searchsorted(known, x)]
    assert ((got == down) | (got == up)).all()
    deviation = np.sqrt((x - down) * (up - x) / n)
    assert (np.abs(got.mean(axis=0, dtype=float) - x) <= 5 * deviation).all()
    assert (np.ptp(got, axis=0)[:5] > 0).all()
    assert np.signbit(got[:, 6]).all()
    assert np.signbit(got[:, 1]).all()
    np.testing.assert_array_equal(
        bl.round_to("e5m2", x, key=bl.random.key(1)), bl.round_to("e5m2", x, mode="stochastic", key=bl.random.key(1))
    )


def test_formats_by_their_bits() -> None:
    x = points("float16")
    same(bl.round_to((5, 10), x), bl.round_to("float16", x))
    same(bl.round_to((8, 7), x), bl.round_to("bfloat16", x))
    wide = np.random.default_rng(1).normal(size=100)
    np.testing.assert_array_equal(bl.round_to((11, 52), wide), wide)
    np.testing.assert_array_equal(bl.round_to((8, 23), wide), wide.astype(np.float32))


@pytest.mark.parametrize("dtype", DTYPES)
def test_rounding_is_differentiated_straight_through(dtype: str) -> None:
    x = np.random.default_rng(2).normal(size=6).astype(dtype)
    for mode, key in (("nearest", None), ("down", None), ("stochastic", bl.random.key(4))):
        f = lambda v: np.sum(bl.round_to("e4m3", v, mode=mode, key=key) ** 2)  # noqa: B023, E731
        np.testing.assert_array_equal(bl.grad(f)(x), 2 * bl.round_to("e4m3", x, mode=mode, key=key))
        assert bl.jvp(f, (x,), (x,))[1] == pytest.approx(bl.grad(f)(x) @ x, rel=1e-6)
    y = bl.vmap(lambda v, k: bl.round_to("e4m3", v, key=k))(np.tile(x, (3, 1)), bl.random.split(bl.random.key(0), 3))
    np.testing.assert_array_equal(y[1], bl.round_to("e4m3", x, key=bl.random.split(bl.random.key(0), 3)[1]))
    whole: Any = bl.compile(lambda v: bl.round_to("bfloat16", v), x)
    np.testing.assert_array_equal(whole(x), bl.round_to("bfloat16", x))
    assert whole.source.count("for (") <= 2


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("mode", ["nearest", "up", "down", "zero", "stochastic"])
def test_an_array_that_was_written_to_is_rounded(mode: str, dtype: str) -> None:
    """Of every kind that a traced function may hold, with the dtype of the array."""
    key = bl.random.key(1) if mode == "stochastic" else None
    x = np.array([0.3, -1.7, 2.9], dtype)

    def written(x: Any) -> Any:
        y = np.zeros(3, dtype)
        y[1:] = x[1:] ** 2
        return bl.round_to("e5m2", y, mode=mode, key=key)

    want = bl.round_to("e5m2", np.array([0, *x[1:] ** 2], dtype), mode=mode, key=key)
    got = bl.jit(written)(x)
    assert got.dtype == dtype
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("dtype", DTYPES)
def test_weights_in_bfloat16_are_trained_by_stochastic_rounding(dtype: str) -> None:
    """Steps below half a unit are lost to the nearest number, and kept on average by a key."""

    @dataclass(frozen=True)
    class Rounded(bl.optim.Optimizer):
        stochastic: bool = True

        def init(self, x: Any) -> Any:
            return ()

        def update(self, g: Any, state: Any, x: Any, t: Any, *, f: Any) -> Any:
            return bl.round_to("bfloat16", x - 1e-3 * g, key=f.key if self.stochastic else None), state

    rng = np.random.default_rng(5)
    a = rng.normal(size=(256, 3)).astype(dtype)
    truth = np.array([0.5, -1.5, 0.75], dtype)
    start = np.ones(3, dtype)
    problem = bl.FiniteSum(lambda x, a, b: (a @ x - b) ** 2, (a, a @ truth))
    ends = {}
    for stochastic in (True, False):
        run = bl.minimize(problem, start, Rounded(stochastic), batch=32, steps=3000, seed=1)
        assert run.x.dtype == dtype
        np.testing.assert_array_equal(run.x, bl.round_to("bfloat16", run.x))
        ends[stochastic] = np.abs(run.x - truth).max()
    assert ends[True] < 0.05 < ends[False]


def test_formats_are_written_as_users_give_them() -> None:
    """In errors: by the names and bits that `round_to` takes, else in words."""
    for name, form in FORMATS.items():
        assert str(form) == name
    for given in ("q7.8", "q0.3", "q5.0", (8, 30), (11, 52), (2, 1)):
        assert str(bl.Format.of(given)) == str(given)
    assert str(bl.Format.integer(8, scale=0.5)) == "int8 times 0.5"
    assert str(bl.Format.blocks("e4m3", 16)) == "blocks of 16 of e4m3"
    assert str(bl.Format.blocks(bl.Format.fixed(1, 6), 16)) == "blocks of 16 of q1.6"
    assert str(bl.Format.blocks((6, 2), 16)) == "blocks of 16 of 3 bits from 2^-30 to 3.7581e+09"
    assert str(bl.Format.ieee(8, 2, bias=140)) == "3 bits from 2^-139 to 3.63461e+34"
    with pytest.raises(ArgumentError, match=r"the format \(8, 30\) has numbers which float32 has not"):
        bl.round_to((8, 30), np.ones(2, "f4"))


@pytest.mark.parametrize(
    ("call", "kind", "text"),
    [
        (lambda: bl.round_to("fp8", 1.0), ArgumentError, "format is 'fp8', expected 'float32', 'tf32', 'bfloat16'"),
        (lambda: bl.round_to((5, 0), 1.0), ArgumentError, "significand bits of format"),
        (lambda: bl.round_to((12, 3), 1.0), ArgumentError, "exponent bits of format"),
        (lambda: bl.round_to((11, 10), np.ones(2, "f4")), ArgumentError, "which float32 has not"),
        (lambda: bl.round_to("e5m2", 1.0, mode="even"), ArgumentError, "mode of round_to is 'even', expected"),
        (lambda: bl.round_to("e5m2", 1.0, mode="stochastic"), ArgumentError, "needs a key: key=bl.random.key(0)"),
        (lambda: bl.round_to("e5m2", 1.0, mode="up", key=bl.random.key(0)), ArgumentError, "takes no key"),
        (lambda: bl.round_to("e5m2", 1j), DTypeError, "x of round_to is complex"),
        (lambda: bl.round_to("float32", 1.0, key=bl.random.key(0), bits=0), ArgumentError, "bits of round_to"),
        (lambda: bl.round_to("e5m2", np.ones(2, "f4"), key=bl.random.key(0), bits=30), ArgumentError, "random bits"),
        (lambda: bl.round_to("e5m2", 1.0, bits=4), ArgumentError, "those of the mode 'stochastic'"),
        (lambda: bl.round_to("int8", 1.0, subnormals=False), ArgumentError, "for floating-point formats"),
        (lambda: bl.round_to("int8", 1.0, saturate=False), ArgumentError, "infinities or nan for what is too large"),
        (lambda: bl.round_to("e2m1", 1.0, saturate=False), ArgumentError, "infinities or nan for what is too large"),
        (lambda: bl.round_to("e5m2", 1.0, saturate=cast("Any", "no")), ArgumentError, "neither True nor False"),
        (lambda: bl.round_to("q16.16", np.ones(2, "f4")), ArgumentError, "which float32 has not"),
        (lambda: bl.round_to("q0.0", 1.0), ArgumentError, "integer and fraction bits of format together"),
        (lambda: bl.Format.ieee(5, 2, bias=cast("Any", 3.5)), ArgumentError, "bias of format"),
        (lambda: bl.round_to(bl.Format.ieee(8, 2, bias=140), np.ones(2, "f4")), ArgumentError, "which float32 has not"),
        (lambda: bl.Format.integer(8, scale=0.0), ArgumentError, "scale of format must be a positive number, got 0.0"),
        (lambda: bl.Format.integer(1), ArgumentError, "bits of format"),
        (lambda: bl.Format.blocks("mxfp4"), ArgumentError, "without blocks or a scale"),
    ],
)  # fmt: skip
def test_round_to_with_wrong_arguments_raises(call: Any, kind: Any, text: str) -> None:
    with pytest.raises(kind, match=re.escape(text)):
        call()


def test_float32_is_the_conversion_to_the_dtype() -> None:
    rng = np.random.default_rng(3)
    low = rng.integers(0, 2**32, 20000, np.uint32).view(np.float32)
    low = low[np.isfinite(low)]
    x = low.astype(np.float64)
    middle = (x + np.nextafter(low, np.float32(np.inf)).astype(np.float64)) / 2  # of two neighbours, also beyond all
    edges = [3.4028235677973366e38, 3.4028235677973362e38, 1e300, np.inf, np.nan, 5e-324, 7.006492321624085e-46, -0.0]
    x = np.concatenate([x, middle, np.nextafter(middle, 0.0), np.nextafter(middle, np.inf), edges, np.negative(edges)])
    with np.errstate(over="ignore"):
        want = x.astype(np.float32).astype(np.float64)
    for gear in ("compiled", "replay"):
        got = bl.compile(lambda x: bl.round_to("float32", x), x, gear=gear)(x)
        np.testing.assert_array_equal(got, want)
        np.testing.assert_array_equal(np.signbit(got), np.signbit(want))
