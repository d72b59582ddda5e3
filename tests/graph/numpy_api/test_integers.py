"""Integers of every dtype, at the ends of their ranges: NumPy's values and dtypes, or a refusal by name."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import burlab as bl
from burlab.errors import ArgumentError, BurlabError, DTypeError
from tests.engines import GEARS
from tests.exploring import examples
from tests.graph.integers import DTYPES, OPERATORS, SIGNED, UNARY_OPERATORS, answer, edges, same, traceable, ufuncs

ONE = {name: f for name, f in (ufuncs(1) | UNARY_OPERATORS).items() if name != "round"}  # of an array NumPy has none
TWO = {name: f for name, f in (ufuncs(2) | OPERATORS).items() if name not in ("power", "pow")}
NUMBERS: tuple[Any, ...] = (0, 1, -1, 3, 200, -200, 70_000, 2**40, 2**63, -(2**63), 2.5, True)
REFUSED = {"spacing", "nextafter"}  # of one byte: in float16
LENIENT = {"logical_and", "logical_or", "logical_xor"}  # of Python integers beyond int64


def compare(functions: dict[str, Any], arrays: tuple[Any, ...], gear: str) -> None:
    """Every function that both have gives the same; what NumPy refuses is refused."""
    known = {name: answer(f, *arrays) for name, f in functions.items()}
    taken = {name: traceable(f, *arrays) for name, f in functions.items()}
    assert {name for name in functions if taken[name] and known[name] is None} - LENIENT == set()
    assert {name for name in functions if known[name] is not None and not taken[name]} - REFUSED == set()
    both = [name for name in functions if taken[name] and known[name] is not None]

    def every(*xs: Any) -> Any:
        return [list(y) if isinstance(y := functions[name](*xs), tuple) else [y] for name in both]

    got = bl.compile(every, *arrays, gear=gear)(*arrays)
    for name, values in zip(both, got, strict=True):
        for value, wanted in zip(values, known[name], strict=True):
            assert same(value, np.asarray(wanted)), (name, *(x.dtype for x in arrays), value, wanted)


@pytest.mark.parametrize("gear", GEARS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_functions_of_one_array(dtype: str, gear: str) -> None:
    compare(ONE, (edges(dtype),), gear)


@pytest.mark.full
@pytest.mark.parametrize("gear", GEARS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_functions_of_two_arrays(dtype: str, gear: str) -> None:
    for other in DTYPES:
        compare(TWO, (edges(dtype)[:, None], edges(other)), gear)


@pytest.mark.parametrize("pair", [("int64", "int64"), ("int8", "uint8"), ("int64", "uint64"), ("uint16", "bool")])
def test_functions_of_two_arrays_in_replay(pair: tuple[str, str]) -> None:
    compare(TWO, (edges(pair[0])[:, None], edges(pair[1])), "replay")


@pytest.mark.full
@pytest.mark.parametrize("dtype", DTYPES)
def test_functions_of_an_array_and_a_python_number(dtype: str) -> None:
    for number in NUMBERS:
        for table in (
            {name: (lambda x, f=f, n=number: f(x, n)) for name, f in TWO.items()},
            {name: (lambda x, f=f, n=number: f(n, x)) for name, f in TWO.items()},
        ):
            if dtype in ("int8", "uint8") and number == 70_000:  # which float16 has not
                table = {name: f for name, f in table.items() if name not in ("arctan2", "nextafter")}  # noqa: PLW2901
            compare(table, (edges(dtype),), "replay")


@pytest.mark.parametrize("n", [2**31, 2**40, -(2**63)])
def test_exponents_of_ldexp_beyond_int32(n: int) -> None:
    """NumPy takes them beside masks and Python's numbers, and beside no other array."""
    for x in (edges("bool"), True, 3, 2.5):
        with np.errstate(over="ignore"):
            assert same(bl.jit(lambda x: np.ldexp(x, n))(x), np.ldexp(x, n))
    for x in (edges("int8"), edges("int64"), np.ones(2)):
        with pytest.raises(OverflowError):
            np.ldexp(x, n)
        with pytest.raises(DTypeError, match="cannot hold it"):
            bl.jit(lambda x: np.ldexp(x, n))(x)


@pytest.mark.parametrize("gear", GEARS)
def test_int64_wraps_around(gear: str) -> None:
    i = edges("int64")
    for f in (
        lambda i: i + 1 > i,
        np.abs,
        lambda i: i * 2 // 2,
        lambda i: np.clip(i + 1, 0, 10),
        lambda i: (np.sum(i * i), np.cumsum(i), np.prod(i), i @ i, np.add.reduce(i)),
    ):
        with np.errstate(all="ignore"):
            wanted = f(i)
        got = bl.compile(f, i, gear=gear)(i)
        for y, w in zip(*(x if isinstance(x, tuple) else (x,) for x in (got, wanted)), strict=True):
            np.testing.assert_array_equal(y, w)


@pytest.mark.parametrize("gear", GEARS)
def test_sums_of_a_loop_keep_every_digit(gear: str) -> None:
    """They are no sums of doubles: an odd number beyond 2^53 is none."""
    i = np.full(64, 2**54 + 1)
    f = lambda i: np.sum(i * 3)  # noqa: E731
    assert bl.compile(f, i, gear=gear)(i) == f(i) == 64 * 3 * (2**54 + 1)


@pytest.mark.parametrize("gear", GEARS)
@pytest.mark.parametrize("dtype", SIGNED)
def test_negative_powers_are_refused_when_they_are_met(dtype: str, gear: str) -> None:
    n = np.arange(5).astype(dtype)
    f = bl.compile(lambda n: 2**n, n, gear=gear)
    np.testing.assert_array_equal(f(n), 2**n)
    for call in (lambda: f(n - dtype_one(dtype)), lambda: bl.jit(lambda n: n ** (n - n - 1))(n)):
        with pytest.raises(ArgumentError, match=r"test_integers.py.*an integer was raised to a negative power"):
            call()
    with pytest.raises(BurlabError, match="to a negative power, which NumPy refuses too"):
        bl.jit(lambda n: n ** np.array([1, -1, 0, 0, 0], dtype))(n)


def dtype_one(dtype: str) -> Any:
    """1 of a dtype."""
    return np.dtype(dtype).type(1)


@pytest.mark.parametrize("gear", GEARS)
@pytest.mark.parametrize("source", ["float64", "float32"])
def test_floats_that_are_no_integers_of_the_dtype(source: str, gear: str) -> None:
    """nan, and numbers beyond the range: what NumPy makes of them, also where they are known."""
    x = np.array([np.nan, np.inf, -np.inf, 300.7, -1.5, -0.9, 1e10, -1e10, 2.0**31, 2.0**63, -(2.0**63), 1e30], source)
    names = [dtype for dtype in DTYPES[:-1] if dtype != "uint32"]  # of which NumPy makes now this, now that
    with np.errstate(invalid="ignore"):
        wanted = [x.astype(dtype) for dtype in names]
    got = bl.compile(lambda x: [x.astype(dtype) for dtype in names], x, gear=gear)(x)
    known = bl.compile(lambda y: [(y * np.nan).astype(dtype) for dtype in names], np.ones(2), gear=gear)(np.ones(2))
    for y, z, w in zip(got, known, wanted, strict=True):
        np.testing.assert_array_equal(y, w)
        np.testing.assert_array_equal(z, w[[0, 0]])
    fits = np.array([0.0, 1.9, -1.0, 4294967040.0], source)
    assert bl.compile(lambda x: x.astype(np.uint32), fits, gear=gear)(fits).tolist() == [0, 1, 2**32 - 1, 4294967040]


STEPS: dict[str, Any] = {
    "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b, "//": lambda a, b: a // b,
    "%": lambda a, b: a % b, "&": lambda a, b: a & b, "^": lambda a, b: a ^ b, "|": lambda a, b: a | b,
    "<<": lambda a, b: a << (b & 15), ">>": lambda a, b: a >> (b & 15), "where": lambda a, b: np.where(a > b, a, b),
    "max": np.maximum, "~": lambda a, b: ~a + b, "abs": lambda a, b: np.abs(a) - np.abs(b), "gcd": np.gcd,
    "sum": lambda a, b: a + np.sum(b), "cumsum": lambda a, b: np.cumsum(a) ^ b, "sort": lambda a, b: np.sort(a) - b,
    "cast": lambda a, b: a.astype(b.dtype) * b, "int8": lambda a, b: a.astype(np.int8) + b,
    "dot": lambda a, b: a * (a @ b),
    "uint16": lambda a, b: a.astype(np.uint16) * b, "take": lambda a, b: a[b & 3], "square": lambda a, b: a**2 + b**3,
    "- 1 + 1": lambda a, b: np.negative(-a) + 1 - 1 - b, "* -1": lambda a, b: a * -1 if a.dtype.kind == "i" else a - b,
}  # fmt: skip
PROGRAMS = st.lists(st.tuples(st.sampled_from(sorted(STEPS)), st.integers(0, 9), st.integers(0, 9)), max_size=8)


def run(steps: Any, a: Any, b: Any) -> Any:
    """The last value of a program over two arrays; what has become a float is left out."""
    values = [a, b]
    for name, i, j in steps:
        value = STEPS[name](values[i % len(values)], values[j % len(values)])
        values.append(value if value.dtype.kind in "iu" else a)
    return values[-1]


def agrees(steps: Any, dtypes: tuple[str, str], seed: int, gear: str) -> None:
    """A program on numbers of all sizes: NumPy's values and dtype."""
    rng = np.random.default_rng(seed)
    limits = [np.iinfo(dtype) for dtype in dtypes]
    arrays = [rng.integers(x.min, x.max, 19, x.dtype, endpoint=True) >> x.dtype.type(seed % 7) for x in limits]
    wanted = answer(lambda a, b: run(steps, a, b), *arrays)
    if wanted is None:
        return
    try:
        got = bl.compile(lambda a, b: run(steps, a, b), *arrays, gear=gear)(*arrays)
    except BurlabError as error:
        assert "cannot trace" in str(error) or "traced floats" in str(error), error  # noqa: PT017
        return
    assert same(got, wanted[0]), (steps, dtypes, seed, got, wanted)


@settings(max_examples=examples(25), deadline=None)
@given(PROGRAMS, st.tuples(*[st.sampled_from(DTYPES[:-1])] * 2), st.integers(0, 999))
def test_random_programs(steps: Any, dtypes: tuple[str, str], seed: int) -> None:
    agrees(steps, dtypes, seed, GEARS[seed % 2])
