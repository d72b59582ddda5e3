"""Matrix products: the tuned kernels against the general one, bit for bit, and against NumPy in longer numbers."""

import itertools

import numpy as np
import pytest

from burlab.compiler import build
from burlab.compiler.lowering import contraction
from burlab.runtime.cpu import instruction_set
from tests.compiler.pages import at_the_end_of_a_page
from tests.compiler.trace import traced

RNG = np.random.default_rng(4)
DTYPES = ["float32", "float64"]


def numbers(dtype, *shape):
    return RNG.normal(size=shape).astype(dtype)


def operand(dtype, layout, rows, columns):
    """An array, and the view of it that has these rows and columns."""
    if layout == "plain":
        return numbers(dtype, rows, columns), lambda x: x
    if layout == "transposed":
        return numbers(dtype, columns, rows), lambda x: x.T
    if layout == "part":
        return numbers(dtype, rows + 2, columns + 3), lambda x: x[1 : rows + 1, 2 : columns + 2]
    return numbers(dtype, rows * 2, columns * 3), lambda x: x[::-2, ::3]


LAYOUTS = ("plain", "transposed", "part", "every other, backwards")


def general(monkeypatch):
    """Every contraction by the general kernel."""
    monkeypatch.setattr(contraction, "_MIN_TUNED_PRODUCTS", 10**18)


def results(function, *arrays):
    exe = build(traced(function, *arrays), gear="replay")
    return exe(*arrays)[0], {step.kernel.symbol for step in exe.plan.steps}


def both(monkeypatch, function, *arrays):
    """The result of the tuned kernels, after it has been compared with that of the general one; and who made it."""
    monkeypatch.setattr(contraction, "_MIN_TUNED_PRODUCTS", 0)
    tuned, symbols = results(function, *arrays)
    general(monkeypatch)
    np.testing.assert_array_equal(tuned, results(function, *arrays)[0])
    return tuned, symbols


def tolerance(dtype, depth):
    return 4 * np.sqrt(depth + 1) * np.finfo(dtype).eps


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("left", LAYOUTS)
@pytest.mark.parametrize("right", LAYOUTS)
def test_all_layouts_at_awkward_sizes(left, right, dtype, monkeypatch):
    used = set()
    for rows, depth, columns in [(3, 1, 2), (7, 5, 17), (8, 64, 48), (9, 67, 31), (11, 131, 65), (13, 300, 53)]:
        a, view_a = operand(dtype, left, rows, depth)
        b, view_b = operand(dtype, right, depth, columns)
        got, symbols = both(monkeypatch, lambda a, b: view_a(a) @ view_b(b), a, b)  # noqa: B023, called in this turn
        used |= symbols
        x, y = view_a(a).astype(np.longdouble), view_b(b).astype(np.longdouble)
        assert np.abs(got - x @ y).max() <= tolerance(dtype, depth) * (np.abs(x) @ np.abs(y)).max()
    assert used == {f"burlab_gemm_{dtype}"}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("turned", [False, True])
def test_all_small_sizes(dtype, turned, monkeypatch):
    for rows, depth, columns in itertools.product((0, 1, 2, 3, 5, 8, 9), (0, 1, 4, 64, 81), (0, 1, 4, 16, 19, 33, 50)):
        a, b = numbers(dtype, rows, depth), numbers(dtype, *((columns, depth) if turned else (depth, columns)))
        got, _ = both(monkeypatch, (lambda a, b: a @ b.T) if turned else (lambda a, b: a @ b), a, b)
        np.testing.assert_allclose(
            got, a.astype(float) @ (b.T if turned else b), rtol=0, atol=1e3 * np.finfo(dtype).eps
        )


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("rows", [3, 4, 15, 16, 17, 23, 32, 49])
def test_rows_of_two_registers(rows, dtype, monkeypatch):
    """Rows of two registers of AVX2, and of AVX-512, are computed four, six or eight at a time."""
    for depth, columns in itertools.product(
        (1, 8, 130), (64 // np.dtype(dtype).itemsize, 128 // np.dtype(dtype).itemsize)
    ):
        a, b = numbers(dtype, rows, depth), numbers(dtype, depth, columns)
        both(monkeypatch, lambda a, b: a @ b, a, b)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("spec", "shapes"),
    [
        ("tqhd,tkhd->thqk", [(5, 8, 6, 4), (5, 8, 6, 4)]),
        ("thqk,tkhd->tqhd", [(5, 6, 8, 8), (5, 8, 6, 4)]),
        ("thqk,tqhd->tkhd", [(5, 6, 8, 8), (5, 8, 6, 4)]),
        ("tpi,tpo->io", [(7, 5, 24), (7, 5, 33)]),
        ("itp,otp->io", [(24, 7, 100), (33, 7, 100)]),
        ("atb,cbt->ac", [(9, 7, 5), (33, 5, 7)]),
        ("ab,b->a", [(37, 200)] * 1 + [(200,)]),
        ("ab,b->a", [(37, 20), (20,)]),
        ("ab,a->b", [(200, 37), (200,)]),
        ("ab,a->b", [(203, 150), (203,)]),
        ("ab,a->b", [(70, 2100), (70,)]),
        ("tab,ta->tb", [(3, 101, 70), (3, 101)]),
        ("abc,b->ac", [(5, 90, 21), (90,)]),
        ("tab,tb->ta", [(3, 37, 90), (3, 90)]),
    ],
)
def test_einstein_sums(spec, shapes, dtype, monkeypatch):
    a, b = (numbers(dtype, *shape) for shape in shapes)
    got, _ = both(monkeypatch, lambda a, b: np.einsum(spec, a, b), a, b)
    x, y = a.astype(np.longdouble), b.astype(np.longdouble)
    assert np.abs(got - np.einsum(spec, x, y)).max() <= 30 * np.finfo(dtype).eps * np.abs(got).max()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("spec", ["thqk,thkd->thqd", "thkq,thkd->thqd", "thqk,thdk->thqd", "thkq,thdk->thqd"])
@pytest.mark.parametrize("columns", [4, 8])
def test_rows_that_share_a_packet(columns, spec, dtype, monkeypatch):
    """Batches of products with four or eight columns, alone, between others, and added to what the result holds."""
    left, right = spec.partition("->")[0].split(",")
    for rows, depth in itertools.product((1, 3, 4, 7, 8, 12, 16, 17), (1, 3, 4, 8, 12, 13)):
        sizes = {"t": 2, "h": 3, "q": rows, "k": depth, "d": columns}
        a, b = (numbers(dtype, *(sizes[letter] for letter in letters)) for letters in (left, right))
        want, _ = both(monkeypatch, lambda a, b: np.einsum(spec, a, b), a, b)
        np.testing.assert_allclose(want, np.einsum(spec, a, b), rtol=0, atol=100 * np.finfo(dtype).eps)
        twice = f"s{left},s{right}->thqd"
        a, b = (numbers(dtype, 2, *x.shape) for x in (a, b))
        want, _ = both(monkeypatch, lambda a, b: np.einsum(twice, a, b), a, b)  # noqa: B023, called in this turn
        np.testing.assert_allclose(want, np.einsum(twice, a, b), rtol=0, atol=200 * np.finfo(dtype).eps)


# Operands whose memory lacks some of their letters, and so has stride 0 along them.
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("depth", [63, 64, 257])
@pytest.mark.parametrize(
    ("spec", "stored"),
    [
        ("ab,abc->ac", "ab,bc"),  # rows that share a matrix: sums in phases
        ("ab,acb->ac", "ab,cb"),  # and in lanes
        ("abc,ab->ac", "bc,ab"),
        ("acb,ab->ac", "cb,ab"),
        ("tab,tabc->tac", "tab,bc"),
        ("tab,tabc->tac", "tab,tbc"),
        ("tab,tabc->tac", "ab,abc"),
        ("tab,tacb->tac", "tb,acb"),
        ("tab,tacb->tac", "b,tacb"),
        ("tab,tabc->cat", "tab,bc"),
        ("ab,abc->ca", "ab,bc"),
        ("sab,sabc->ac", "sab,bc"),  # a further sum, over what one operand lacks
        ("ab,abc->ac", "b,bc"),  # all rows alike
        ("ab,abc->ac", "a,bc"),
        ("ab,abc->ac", "ab,b"),
        ("ab,abc->ac", "ab,c"),
        ("ab,cb->ac", "b,cb"),
        ("tab,tbc->tac", "tab,bc"),
        ("tab,tbc->tac", "ab,tbc"),
        ("tab,b->ta", "tab,b"),
        ("tab,b->ta", "ab,b"),
    ],
)
def test_operands_repeated_along_a_letter(spec, stored, depth, dtype, monkeypatch):
    terms, _, out = spec.partition("->")
    for rows, columns in ((1, 17), (3, 2), (9, 33)):
        sizes = {"a": rows, "b": depth, "c": columns, "t": 2, "s": 3}
        arrays = [numbers(dtype, *(sizes[x] for x in term)) for term in stored.split(",")]

        def whole(x, own, term):
            kept = [slice(None) if letter in own else None for letter in term]
            return np.broadcast_to(x[tuple(kept)], tuple(sizes[letter] for letter in term))  # noqa: B023, of this turn

        def product(*arrays):
            return np.einsum(spec, *map(whole, arrays, stored.split(","), terms.split(",")))

        got, _ = both(monkeypatch, product, *arrays)
        assert got.shape == tuple(sizes[letter] for letter in out)
        sized = [np.abs(x).astype(np.longdouble) for x in arrays]
        error = np.abs(got - product(*(x.astype(np.longdouble) for x in arrays)))
        assert (error <= tolerance(dtype, 3 * depth) * product(*sized)).all()


@pytest.mark.skipif(instruction_set().name != "avx2", reason="other registers have other kernels")
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("spec", "kind"), [("b,cb->c", "row_dots"), ("ab,cb->ac", "row_dots"), ("ab,bc->ac", "row_sums")]
)
def test_one_row_packs_nothing(spec, kind, dtype, monkeypatch):
    """A vector and a matrix: whole blocks, parts of packets, odd depths, and sums that add to what is there."""
    terms, _, out = spec.partition("->")
    left, right = terms.split(",")
    for columns, depth in itertools.product((9, 12, 16, 17, 20, 31, 33, 64), (2, 3, 4, 7, 20, 63)):
        sizes = {"a": 1, "b": depth, "c": columns, "s": 3}
        for text in (spec, f"s{left},s{right}->{out}"):
            a, b = (
                at_the_end_of_a_page(numbers(dtype, *(sizes[x] for x in term)))
                for term in text.partition("->")[0].split(",")
            )
            got, symbols = both(monkeypatch, lambda a, b: np.einsum(text, a, b), a, b)  # noqa: B023, called in this turn
            assert symbols == {f"burlab_{kind}_{dtype}"}
            np.testing.assert_allclose(got, np.einsum(text, a.astype(float), b), atol=500 * np.finfo(dtype).eps)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("rows", "depth", "columns"), [(1, 1100, 500), (3, 1100, 500), (150, 1100, 40), (70, 20, 600)])
def test_products_larger_than_caches(rows, depth, columns, dtype, monkeypatch):
    for left, right in (("plain", "plain"), ("transposed", "plain"), ("plain", "transposed")):
        a, view_a = operand(dtype, left, rows, depth)
        b, view_b = operand(dtype, right, depth, columns)
        got, _ = both(monkeypatch, lambda a, b: view_a(a) @ view_b(b), a, b)  # noqa: B023, called in this turn
        x, y = view_a(a).astype(float), view_b(b).astype(float)
        assert np.abs(got - x @ y).max() <= tolerance(dtype, depth) * (np.abs(x) @ np.abs(y)).max()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("depth", [64, 65, 255, 256, 257, 1000])
def test_long_sums_with_a_vector_run_in_lanes(depth, dtype, monkeypatch):
    for rows in (2, 3, 8, 9, 21):
        a, b = numbers(dtype, rows, depth), numbers(dtype, depth)
        got, symbols = both(monkeypatch, lambda a, b: a @ b, a, b)
        assert symbols == {f"burlab_dots_{dtype}"}
        assert np.abs(got - a.astype(np.longdouble) @ b).max() <= 4 * np.finfo(dtype).eps * (abs(a) @ abs(b)).max()
        np.testing.assert_array_equal(got[1], results(lambda a, b: a @ b, a[1], b)[0])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("depth", [5, 63, 64, 100, 700])
@pytest.mark.parametrize("spec", ["ab,bc->ac", "ab,cb->ac", "ba,bc->ac"])
def test_bits_do_not_depend_on_what_stands_around(spec, depth, dtype):
    """One row and one column of a product, by themselves, have the bits that they have within it."""
    left, right = spec.partition("->")[0].split(",")
    sizes = {"a": 19, "b": depth, "c": 70}
    a, b = (numbers(dtype, *(sizes[x] for x in term)) for term in (left, right))
    whole = results(lambda a, b: np.einsum(spec, a, b), a, b)[0]
    for count in (1, 2, 8, 24):
        part_a = a[:, :count] if left == "ba" else a[:count]
        part_b = b[:, :count] if right == "bc" else b[:count]
        for x, y in ((part_a, b), (a, part_b), (part_a, part_b)):
            if (x.shape[-1] == 1 and left == "ba") or (y.shape[-1] == 1 and right == "bc"):
                continue  # a column of an array of one column is contiguous, and may be summed in lanes
            got = results(lambda a, b: np.einsum(spec, a, b), x.copy(), y.copy())[0]
            np.testing.assert_array_equal(got, whole[: got.shape[0], : got.shape[1]])


@pytest.mark.parametrize("depth", [20, 100])
def test_infinities_stay_where_they_are(depth, monkeypatch):
    """Rows and columns that fill up a block never reach a result."""
    for turned in (False, True):
        a, b = numbers("float32", 9, depth), numbers("float32", *((19, depth) if turned else (depth, 19)))
        a[8, 3], b[(18, 2) if turned else (2, 18)] = np.inf, np.nan
        got, _ = both(monkeypatch, (lambda a, b: a @ b.T) if turned else (lambda a, b: a @ b), a, b)
        assert np.isfinite(got[:8, :18]).all()
        assert not np.isfinite(got[8]).any()
        assert np.isnan(got[:, 18]).all()
