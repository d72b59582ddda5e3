"""`bl.precision`: every operation of the table rounds, in all gears, through loops, and under other transforms."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.compiler.executable import build
from burlab.graph import Graph, Node
from burlab.graph.control_nodes import is_result as CONTROLLED
from burlab.graph.numpy_api.promotion import node
from burlab.graph.operation import ROWS, STRUCTURAL
from burlab.graph.rewrite.interpret import interpret
from burlab.graph.scalar_table import ROWS as SCALAR_ROWS
from burlab.transforms.numbers.exact_operations import chooses
from burlab.transforms.numbers.rounder import RoundedScopes, Rounder
from burlab.transforms.numbers.roundings import Rounding
from tests.engines import GEARS, inputs
from tests.family_cases import FAMILY_CASES
from tests.graph.linalg.linalg_cases import CASES, Case
from tests.graph.test_ops import arrays_of
from tests.op_cases import LINEAR_CASES, OTHER_CASES, SCALAR

FORMAT = bl.Format.ieee(6, 4)
ROUNDING = Rounding.of(FORMAT, "nearest", has_key=False)
STRUCTURE = {"call", "cond", "while", "scan", "checkpoint", "checkpoint_contractions", "halves"}
PLANNED = {"blocks", "block_results", "of_all_blocks"}  # of plans, which no traced graph holds
DTYPES = [np.float32, np.float64]


def rounded(x: Any) -> Any:
    return bl.round_to(FORMAT, x) if x.dtype.kind == "f" else x


def both(make: Any, arrays: Any) -> tuple[Any, Any, Node]:
    """A node in rounded arithmetic; and by hand: of rounded numbers, rounded."""
    xs = inputs(*arrays)
    y = make(*xs)
    graph = Graph(xs, (y,))
    (found,) = interpret(graph, xs, Rounder(RoundedScopes(ROUNDING, None, ())))
    (got,) = build(Graph(xs, (found,)), gear="replay")(*arrays)
    (plain,) = build(graph, gear="replay")(*(rounded(a) for a in arrays))
    return np.asarray(got), rounded(np.asarray(plain)), y


def test_the_whole_table_rounds() -> None:
    """Whatever a row computes is rounded; what it takes from its operands is, as these are."""
    x = Node("input", (), "x", (4,), np.dtype(np.float32))
    for name, row in {**STRUCTURAL, **{op.name: ROWS[op.name] for op in SCALAR_ROWS}}.items():
        if name in STRUCTURE | PLANNED or row.leaf or row.scalar.is_mask * bool(row.scalar.name) or name == "lu":
            continue
        n = Node(name, (x,), (0, False) if name == "put" else None, (4,), np.dtype(np.float32))
        y = Rounder(RoundedScopes(ROUNDING, None, ())).of(n, [x])
        if chooses(n) or name in ("abs", "neg"):  # of a format whose numbers have opposites
            assert y.op == name, name
            assert y.inputs[0].op == "surrogate", name
        else:
            assert y.op == "surrogate", name
            assert y.inputs[0].op == "round_to", name


def test_all_sub_graphs_are_walked_through() -> None:
    with_results = {name for name, row in STRUCTURAL.items() if type(row).parameters is CONTROLLED or row.parts}
    assert {*with_results, "call"} - PLANNED == STRUCTURE


SCALARS = [*SCALAR, *(case for rows in FAMILY_CASES.values() for case in rows if case.name != "round_to")]


@pytest.mark.parametrize("case", SCALARS, ids=lambda case: case.name)
def test_every_scalar_operation_rounds(case: Any) -> None:
    got, want, _ = both(lambda *xs: node(case.name, *xs), arrays_of(case, case.points, np.float32))
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("case", LINEAR_CASES, ids=lambda case: case.name)
def test_every_linear_operation_rounds(case: Any) -> None:
    rng = np.random.default_rng(0)
    arrays = [rng.normal(size=shape).astype(np.float32) for shape in case.shapes]
    indices = [] if case.index is None else [np.array(case.index, np.int64)]
    got, want, y = both(case.make, [*arrays, *indices])
    if y.is_input:  # nothing was computed
        return
    if all(x.is_input for x in y.inputs):
        np.testing.assert_array_equal(got, want)
    else:  # several operations, of which each rounds
        np.testing.assert_array_equal(got, rounded(got))


@pytest.mark.parametrize("case", OTHER_CASES, ids=lambda case: case.name)
def test_every_other_operation_rounds(case: Any) -> None:
    for given in case.arrays:
        arrays = given if isinstance(given, tuple) else (given,)
        floats = [a.astype(np.float32) if a.dtype.kind == "f" else a for a in arrays]
        got, want, _ = both(case.make, floats)
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_linear_algebra_gives_numbers_of_the_format(case: Case) -> None:
    rng = np.random.default_rng(3)
    a, b = rng.normal(size=(5, 5)) + 2 * np.eye(5), rng.normal(size=(5, 2))
    wide = bl.Format.ieee(8, 20)  # in which iterations of the cases still converge
    for y in bl.tree.leaves(bl.precision(lambda a, b: case.f(np, a, b), wide)(a, b)):
        parts = (y.real, y.imag) if np.iscomplexobj(y) else (y,)
        for part in parts:
            if np.asarray(part).dtype.kind == "f":
                np.testing.assert_array_equal(bl.round_to(wide, part), part)


@pytest.mark.parametrize(("name", "kind"), [("bfloat16", "bfloat16"), ("float16", None)])
def test_arithmetic_has_the_bits_of_the_narrow_dtype(name: str, kind: str | None) -> None:
    """NumPy computes float16, and ml_dtypes bfloat16, as hardware does: each operation is rounded once."""
    dtype = getattr(pytest.importorskip("ml_dtypes"), kind) if kind else np.float16
    rng = np.random.default_rng(0)
    x, y = (rng.normal(size=20000).astype(dtype) for _ in "xy")

    def f(x: Any, y: Any) -> Any:
        return (x + y) * x, x / y - y, np.sqrt(np.abs(x * y)), -x

    got = bl.precision(f, name)(x.astype(np.float32), y.astype(np.float32))
    with np.errstate(all="ignore"):
        for a, b in zip(got, f(x, y), strict=True):
            np.testing.assert_array_equal(a, b.astype(np.float32))


def test_numbers_of_the_program_are_exact_and_arrays_are_not() -> None:
    x = np.ones(3, np.float32)
    np.testing.assert_array_equal(bl.precision(lambda x: x * 1000.0 / 1000.0, (5, 3))(x), x)
    table = np.array([1.01, 2.02, 3.03], np.float32)
    got = bl.precision(lambda x: x * table, "e4m3")(x)
    np.testing.assert_array_equal(got, bl.round_to("e4m3", table))


def test_sums_are_rounded_once_from_the_format_that_accumulates() -> None:
    rng = np.random.default_rng(1)
    a, b = (bl.round_to("e5m2", rng.normal(size=shape)) for shape in ((20, 300), (300, 10)))
    product = a @ b
    np.testing.assert_array_equal(bl.precision(np.matmul, "e5m2")(a, b), bl.round_to("e5m2", product))
    twice = bl.round_to("e5m2", bl.round_to((8, 3), product))
    got = bl.precision(np.matmul, "e5m2", accumulate=(8, 3))(a, b)
    np.testing.assert_array_equal(got, twice)
    assert (twice != bl.round_to("e5m2", product)).any()
    np.testing.assert_array_equal(bl.precision(np.matmul, "e5m2", accumulate="float32")(a, b), bl.round_to(
        "e5m2", product.astype(np.float32).astype(np.float64)))  # fmt: skip
    np.testing.assert_array_equal(bl.precision(np.exp, "e5m2", accumulate=(8, 3))(a), bl.round_to("e5m2", np.exp(a)))
    for f in (lambda x: np.cumsum(x, axis=1), lambda x: _added_rows(x, np.array([0, 1, 1, 3, 0]))):
        got = bl.precision(f, "e5m2", accumulate=(8, 3))(a)
        np.testing.assert_array_equal(got, bl.round_to("e5m2", bl.round_to((8, 3), np.asarray(bl.jit(f)(a)))))
        assert (got != bl.precision(f, "e5m2")(a)).any()


def _added_rows(x: Any, index: Any) -> Any:
    y = np.abs(x)
    np.add.at(y, index, x[: len(index)])
    return y


def test_what_chooses_among_numbers_of_a_format_is_not_rounded_again() -> None:
    """3 * 0.1 / 0.1 is above 3, so a second rounding upwards would give 4 * 0.1."""
    tenths = bl.Format.integer(8, scale=0.1)
    x = np.array([0.25, 0.55, 0.65])
    given = bl.round_to(tenths, x, mode="up")
    assert not np.array_equal(bl.round_to(tenths, given, mode="up"), given), "rounding twice is not rounding once"
    for f in (np.max, np.min, np.sort, _assigned):
        got = bl.precision(f, tenths, mode="up")(x)
        assert np.all(np.isin(got, given)), f


def _assigned(x: Any) -> Any:
    y = np.sort(x)
    y[0] = x[2]
    return y


def looped(x: Any) -> Any:
    def body(c: Any, v: Any) -> Any:
        c = np.tanh(c * 1.1) + v
        return c, c * c

    end, squares = bl.scan(body, x[0], x)
    chosen = bl.cond(end > 0, np.exp, lambda c: c / 3.0, end)
    grown = bl.while_loop(lambda s: s[0] < 4, lambda s: (s[0] + 1, s[1] * 1.7 + 0.3), (0, chosen))[1]
    return grown, squares


def unrolled(x: Any, q: Callable[[Any], Any]) -> Any:
    """The same by hand, in float32; q rounds."""
    one = np.float32
    c, squares = q(x[0]), []
    for v in q(x):
        c = q(q(np.tanh(q(c * one(1.1)))) + v)
        squares.append(q(c * c))
    c = q(np.exp(c)) if c > 0 else q(c / one(3))
    for _ in range(4):
        c = q(q(c * one(1.7)) + one(0.3))
    return c, np.array(squares)


def looped_plain(x: Any) -> Any:
    return unrolled(x, np.float32)


@pytest.mark.parametrize("gear", GEARS)
@pytest.mark.parametrize("name", ["bfloat16", "e4m3", (5, 4)])
def test_loops_and_choices_round_inside(name: Any, gear: Any) -> None:
    x = np.random.default_rng(5).normal(size=7).astype(np.float32)
    kernel: Any = bl.compile(bl.precision(looped, name), x, gear=gear)
    for given in (x, -x):
        got, want = kernel(given), unrolled(given, lambda v: np.float32(bl.round_to(name, v)))
        np.testing.assert_array_equal(got[0], want[0])
        np.testing.assert_array_equal(got[1], want[1])


@pytest.mark.parametrize("dtype", DTYPES)
def test_gears_agree_bit_for_bit(dtype: Any) -> None:
    rng = np.random.default_rng(2)
    w, x = rng.normal(size=(6, 5)).astype(dtype), rng.normal(size=(6,)).astype(dtype)

    def f(w: Any, x: Any) -> Any:
        h = np.tanh(x @ w)
        return np.sum(bl.softmax(h) * h) + np.linalg.norm(h)

    g = bl.grad(bl.precision(f, "bfloat16"))
    strict: list[Any] = [bl.compile(g, w, x, gear=gear, strict=True) for gear in GEARS]
    np.testing.assert_array_equal(strict[0](w, x), strict[1](w, x))
    whole = bl.precision(bl.grad(f), "bfloat16")
    kernels: list[Any] = [bl.compile(whole, w, x, gear=gear) for gear in GEARS]
    for kernel in kernels:
        got = kernel(w, x)
        np.testing.assert_array_equal(got, bl.round_to("bfloat16", got))
    many = bl.vmap(bl.precision(f, "e4m3"), in_axes=(None, 0))
    rows = np.stack([x, 2 * x])
    one = bl.precision(f, "e4m3")
    np.testing.assert_allclose(many(w, rows), [one(w, row) for row in rows], rtol=0.07)  # sums in another order


def test_derivatives_pass_straight_through() -> None:
    x = np.array([1.1, -0.7, 3.3])
    f = bl.precision(lambda x: np.sum(x**3 * 1.7), "e4m3")
    q = bl.round_to("e4m3", x)
    np.testing.assert_allclose(bl.grad(f)(x), 3 * q**2 * 1.7, rtol=1e-12)
    both_rounded = bl.precision(bl.grad(lambda x: np.sum(x**3 * 1.7)), "e4m3")(x)
    np.testing.assert_array_equal(both_rounded, bl.round_to("e4m3", both_rounded))
    assert bl.jvp(f, (x,), (np.ones(3),))[1] == pytest.approx(np.sum(3 * q**2 * 1.7))
    assert np.isfinite(bl.hessian(f)(x)).all()


def test_rules_of_users_and_checkpoints_stay() -> None:
    x = np.array([0.3, 0.7])
    halves = bl.custom_vjp(
        np.exp, lambda y, g: 2.0 * g * y, x, forward=lambda x: (np.exp(x), np.exp(x)), surrogate=True
    )
    whole = bl.custom_vjp(np.exp, lambda g, y, x: 2.0 * g * y, x, surrogate=True)
    q = bl.round_to("e4m3", np.exp(bl.round_to("e4m3", x)))
    for g in (halves, whole):
        rounded_f = bl.precision(lambda x, g=g: np.sum(g(x)), "e4m3")
        np.testing.assert_array_equal(bl.precision(g, "e4m3")(x), q)
        np.testing.assert_array_equal(bl.grad(rounded_f)(x), 2.0 * q)
        drawn = bl.precision(lambda x, g=g: np.sum(g(x)), "e4m3", key=bl.random.key(1))
        assert np.isfinite(bl.grad(drawn)(x)).all()
    layer = bl.checkpoint(lambda x: np.sin(np.tanh(x) * 2))
    plain = lambda x: np.sin(np.tanh(x) * 2)  # noqa: E731
    for key in (None, bl.random.key(1)):
        got, want = (bl.precision(lambda x, h=h: np.sum(h(h(x))), "e4m3", key=key) for h in (layer, plain))
        if key is None:
            np.testing.assert_array_equal(got(x), want(x))
            np.testing.assert_allclose(bl.grad(got)(x), bl.grad(want)(x), rtol=1e-12)
        assert np.isfinite(bl.grad(got)(x)).all()


def test_modules_by_their_scopes() -> None:
    def f(x: Any) -> Any:
        with bl.scope("first"):
            x = x * 1.1
            with bl.scope("inner"):
                x = x + 0.01
        with bl.scope("second"):
            return x * 1.1

    x = np.array([1.0, 1.7])
    e4, b16 = (lambda v: bl.round_to("e4m3", v)), (lambda v: bl.round_to("bfloat16", v))
    by_hand = b16(b16(e4(e4(e4(x) * 1.1) + 0.01)) * 1.1)
    np.testing.assert_array_equal(bl.precision(f, "bfloat16", scope={"first": "e4m3"})(x), by_hand)
    only = bl.precision(f, None, scope={"sec*": "bfloat16"})(x)
    np.testing.assert_array_equal(only, b16(b16(x * 1.1 + 0.01) * 1.1))
    nested = bl.precision(f, "bfloat16", scope={"first/inner": None})(x)
    np.testing.assert_array_equal(nested, b16(b16(b16(b16(x) * 1.1) + 0.01) * 1.1))
    with pytest.raises(bl.BurlabError, match="names 'third', which no module of f has; its scopes are: 'first'"):
        bl.precision(f, "bfloat16", scope={"third": None})(x)


@pytest.mark.parametrize("dtype", DTYPES)
def test_stochastic_rounding_draws_anew_in_each_operation_and_iteration(dtype: Any) -> None:
    """Small steps count on average in a loop, and are lost without random numbers."""

    def walk(x: Any) -> Any:
        return bl.scan(lambda c, _: (c + x, None), x * 0.0 + 1.0, length=200)[0]

    step = dtype(1 / 512)
    x = np.full(400, step)
    assert (bl.precision(walk, "bfloat16")(x) == 1).all()
    got = bl.precision(walk, "bfloat16", key=bl.random.key(0))(x)
    assert abs(got.mean() - (1 + 200 / 512)) < 5 * got.std() / 20
    assert len(np.unique(got)) > 5
    other = bl.precision(walk, "bfloat16", key=bl.random.key(1))(x)
    assert (other != got).any()
    np.testing.assert_array_equal(bl.precision(walk, "bfloat16", key=bl.random.key(0))(x), got)
    keyed: Any = bl.jit(lambda x, key: bl.precision(walk, "bfloat16", key=key)(x))
    np.testing.assert_array_equal(keyed(x, bl.random.key(0)), got)
    two = bl.precision(lambda x: x * 1.01 - x * 1.01 * 1.0, "e4m3", key=bl.random.key(3))(x)
    assert (two != 0).any()


def test_random_numbers_in_loops_leave_results_and_derivatives_in_their_places() -> None:
    """Each iteration hands a key on, besides the carries; what is stacked and trailed comes after it."""
    x = np.random.default_rng(5).normal(size=7).astype(np.float32)
    low = bl.precision(looped, (8, 15), key=bl.random.key(2))
    for got, want in zip(low(x), looped_plain(x), strict=True):
        assert got.shape == want.shape
        np.testing.assert_allclose(got, want, rtol=1e-2)
    loss = lambda f: lambda x: np.sum(f(x)[1] ** 2)  # noqa: E731
    chosen = lambda x: (0.0, bl.scan(lambda c, v: (np.tanh(c * 1.1) + v, c * c), x[0], x)[1])  # noqa: E731
    drawn = bl.precision(chosen, (8, 15), key=bl.random.key(2))
    np.testing.assert_allclose(bl.grad(loss(drawn))(x), bl.grad(loss(chosen))(x), rtol=1e-2)


def test_a_function_reads_what_is_around_it() -> None:
    """Values of the trace around it are not computed again in rounded arithmetic, but read as arguments."""

    def around(x: Any) -> Any:
        y = x * 1.01
        return bl.precision(lambda v: v + y, "e4m3")(x), y

    x = np.array([1.0, 3.0])
    got, y = bl.jit(around)(x)
    np.testing.assert_array_equal(y, x * 1.01)
    np.testing.assert_array_equal(got, bl.round_to("e4m3", x + bl.round_to("e4m3", y)))


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: bl.precision(np.exp, "fp8"), "format is 'fp8'"),
        (lambda: bl.precision(np.exp, None), "precision needs a format, or a scope"),
        (lambda: bl.precision(np.exp, "e4m3", mode="best"), "mode of precision is 'best'"),
        (lambda: bl.precision(np.exp, "e4m3", mode="stochastic"), "precision in the mode 'stochastic' needs a key"),
        (lambda: bl.precision(np.exp, "e4m3", scope=["x"]), "scope of precision maps names of modules to formats"),  # pyright: ignore[reportArgumentType] - it is wrong
        (lambda: bl.precision(np.exp, (8, 30))(np.ones(2, "f4")), "which float32 has not"),
    ],
)
def test_wrong_arguments_are_named(call: Any, text: str) -> None:
    with pytest.raises(bl.BurlabError, match=text):
        call()


def test_arrays_that_a_program_knows_are_rounded_when_it_is_traced() -> None:
    """Numbers of a call are rounded by the kernel; those of the program are constants, until they change."""
    weights, x = np.array([1.01, 2.02, 3.03]), np.array([0.7, -0.3, 5.0])
    f = bl.precision(lambda x: x * weights, "bfloat16")
    rounded = lambda v: bl.round_to("bfloat16", v)  # noqa: E731
    np.testing.assert_array_equal(f(x), rounded(rounded(x) * rounded(weights)))
    nodes = bl.compile(f, x).graph.nodes
    assert [n.op for n in nodes].count("round_to") == 2
    weights[0] = 4.01
    np.testing.assert_array_equal(f(x), rounded(rounded(x) * rounded(weights)))


@pytest.mark.parametrize(("name", "again"), [("bfloat16", 0), ("int8", 1), ("e4m3fnuz", 1)])
def test_a_sign_needs_no_rounding_where_every_number_has_an_opposite(name: str, again: int) -> None:
    x = np.array([-128.0, -0.0, 0.3, -3.4])
    for f in (np.negative, np.abs):
        low = bl.precision(f, name)
        assert [n.op for n in bl.compile(low, x).graph.nodes].count("round_to") == 1 + again
        want = bl.round_to(name, f(bl.round_to(name, x)))
        np.testing.assert_array_equal(low(x), want)
        np.testing.assert_array_equal(np.signbit(low(x)), np.signbit(want))
