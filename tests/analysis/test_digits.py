"""Right digits of programs that lose them, and of programs that do not, against mpmath at 50 digits."""

import math
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest

import burlab as bl
from burlab.analysis import graph_digits
from burlab.compiler.executable import build
from burlab.errors import ArgumentError, DTypeError
from burlab.graph import Graph, linear_nodes
from burlab.graph.node import as_node
from burlab.graph.numpy_api.promotion import node
from burlab.graph.rewrite.interpret import interpret
from burlab.runtime.displayed import mimebundle
from burlab.transforms.numbers.exact_operations import CHOICES, EXACT
from burlab.transforms.numbers.random_rounding import RandomRounding
from tests.analysis.digit_programs import HEALTHY, LOSING, Exact, Floats
from tests.engines import inputs
from tests.family_cases import FAMILY_CASES
from tests.graph.test_ops import arrays_of
from tests.op_cases import LINEAR_CASES, OTHER_CASES, SCALAR
from tests.transforms.numbers.test_exact_operations import CASES, drawn

mpmath.mp.dps = 50
rng = np.random.default_rng(0)

OVERFLOWS = ("logsumexp without its shift",)  # an infinity is the same in all runs
TRACED = Floats()


def true_digits(program: Callable[..., Any], args: tuple[Any, ...], value: Any) -> float:
    """The digits that agree with mpmath, of the least right entry relative to the largest."""
    lifted = [
        np.vectorize(mpmath.mpf, otypes=[object])(a) if isinstance(a, np.ndarray) else mpmath.mpf(a) for a in args
    ]
    exact = np.asarray(program(Exact(), *lifted), object).ravel()
    errors = [abs(mpmath.mpf(float(v)) - e) for v, e in zip(np.ravel(value), exact, strict=True)]
    worst = max(errors) / max(abs(e) for e in exact)
    return 16.0 if worst == 0 else max(0.0, -float(mpmath.log10(worst)))


def found(report: Any) -> float:
    return min(row.digits for row in report.rows[-1:]) if report.rows else math.inf


@pytest.mark.parametrize("name", LOSING)
def test_lost_digits_are_found_as_mpmath_counts_them(name: str):
    program, args = LOSING[name]
    report = bl.digits(lambda *xs: program(TRACED, *xs))(*args)
    true = true_digits(program, args, report.value)
    assert true < 11, "the program loses digits"
    assert abs(found(report) - true) < 0.1
    assert true - 3 <= report.rows[-1].rounding <= true + 1 or name in OVERFLOWS
    assert report.losses, "the operation is named"
    assert "digit_programs.py" in report.losses[0].place
    assert "loses" in report.title


@pytest.mark.parametrize("name", HEALTHY)
def test_programs_that_lose_nothing_are_not_accused(name: str):
    program, args = HEALTHY[name]
    report = bl.digits(lambda *xs: program(TRACED, *xs))(*args)
    true = true_digits(program, args, report.value)
    assert true > 13
    assert abs(found(report) - min(true, 15.954)) < 0.1
    assert report.rows[-1].rounding > 12.5
    assert not report.losses
    assert "no line loses" in report.title


def values(make: Callable[..., Any], arrays: Any) -> tuple[Any, list[Any]]:
    """A node of arrays, plain, and in two mirrored runs."""
    xs = inputs(*arrays)
    graph = Graph(xs, (make(*xs),))

    def run(key: Any, mirrored: Any, *given: Any) -> Any:
        return interpret(graph, [as_node(x) for x in given], RandomRounding(key, mirrored))[0]

    kernel: Any = bl.compile(run, bl.random.key(1), np.array(False), *arrays, strict=True, gear="replay")
    (plain,) = build(graph, gear="replay", strict=True)(*arrays)
    return np.asarray(plain), [np.asarray(kernel(bl.random.key(1), np.array(m), *arrays)) for m in (False, True)]


ARITHMETIC = {"add", "sub", "mul", "div", "square", "cube", "power", "sqrt", "remainder", "ldexp"}
"""Exact at many of the points: see below."""
SCALARS = [*SCALAR, *(case for rows in FAMILY_CASES.values() for case in rows)]


@pytest.mark.parametrize("case", SCALARS, ids=lambda case: case.name)
@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["float32", "float64"])
def test_every_scalar_operation_rounds_to_a_neighbour_of_its_result(case: Any, dtype: Any):
    arrays = arrays_of(case, case.points, dtype)
    plain, runs = values(lambda *xs: node(case.name, *xs), arrays)
    with np.errstate(all="ignore"):
        for run in runs:
            assert np.array_equal(run, plain, equal_nan=True) or np.all(
                (run == plain)
                | (run == np.nextafter(plain, np.inf))
                | (run == np.nextafter(plain, -np.inf))
                | ~np.isfinite(plain)
            )
        if case.name in CHOICES | EXACT:
            assert all(np.array_equal(run, plain, equal_nan=True) for run in runs)
        elif plain.dtype.kind == "f":
            inexact = np.isfinite(plain) & (plain != np.rint(8 * plain) / 8)
            assert np.any(runs[0] != runs[1]) or not np.any(inexact) or case.name in ARITHMETIC


@pytest.mark.parametrize("case", LINEAR_CASES, ids=lambda case: case.name)
def test_every_linear_operation_has_errors_of_its_size(case: Any):
    arrays = [np.random.default_rng(0).normal(size=shape) for shape in case.shapes]
    indices = [] if case.index is None else [np.array(case.index, np.int64)]
    plain, runs = values(case.make, [*arrays, *indices])
    for run in runs:
        eps = np.finfo(plain.dtype).eps if plain.dtype.kind == "f" else 0
        assert np.allclose(run, plain, rtol=50 * eps, atol=50 * eps)


@pytest.mark.parametrize("case", OTHER_CASES, ids=lambda case: case.name)
def test_every_other_operation_has_errors_of_its_size(case: Any):
    for given in case.arrays:
        arrays = given if isinstance(given, tuple) else (given,)
        plain, runs = values(case.make, [a.astype(np.float64) if a.dtype.kind == "f" else a for a in arrays])
        if case.name != "lu":  # other rows may be as good as pivots
            for run in runs:
                assert np.allclose(run, plain, rtol=1e-9, atol=1e-9, equal_nan=True)


ROUNDED_ONCE: dict[str, Callable[..., Any]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "square": lambda a: a * a,
    "sqrt": mpmath.sqrt,
    "remainder": lambda a, b: a - b * mpmath.floor(a / b),
    "ldexp": lambda a, n: mpmath.ldexp(a, int(n)),
}


@pytest.mark.parametrize("op", ROUNDED_ONCE)
@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["float32", "float64"])
def test_arithmetic_rounds_to_the_two_neighbours_of_the_exact_result_and_exact_results_stay(op: str, dtype: Any):
    numbers = np.random.default_rng(3).normal(size=(2, 400)).astype(dtype)
    numbers[:, ::4] = np.rint(8 * numbers[:, ::4])  # many results are exact
    if op == "ldexp":  # to numbers below the least normal one, too, and to inf, which neither comes nor goes
        kind = np.finfo(dtype)
        ends = [kind.minexp - 1, kind.minexp - kind.nmant // 2, kind.maxexp + 5]
        numbers[1] = np.random.default_rng(4).choice([3, -5, *ends], 400)
    else:
        extreme = [np.broadcast_to(x, 400) for x in drawn(CASES[op], dtype)]
        numbers = np.concatenate([numbers, [extreme[0], extreme[-1]]], axis=1)
    numbers = numbers[:, (numbers[-1] != 0) | (op == "ldexp")]
    arrays = [np.abs(numbers[0])] if op == "sqrt" else [numbers[0]] if op == "square" else list(numbers)
    plain, runs = values(lambda *xs: node(op, *xs), arrays)
    with mpmath.workprec(5000):
        for k, result in enumerate(plain):
            true = ROUNDED_ONCE[op](*(mpmath.mpf(float(a[k])) for a in arrays))
            found = {float(run[k]) for run in runs}
            with np.errstate(over="ignore"):
                beyond = np.nextafter(result, dtype(np.inf if true > float(result) else -np.inf))
            if true == mpmath.mpf(float(result)) or not np.isfinite(beyond - result):
                assert found == {float(result)}
            else:
                assert found == {float(result), float(beyond)}, [a[k] for a in arrays]


@pytest.mark.parametrize("kind", ["int64", "uint64", "int32", "uint8"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["float32", "float64"])
def test_whole_numbers_with_too_many_digits_are_rounded_to_a_neighbour(kind: str, dtype: Any):
    ends = np.iinfo(kind)
    numbers = np.random.default_rng(0).integers(ends.min, ends.max, 300, dtype=kind, endpoint=True)
    numbers[:3] = ends.min, ends.max, ends.max - 1
    plain, runs = values(lambda x: linear_nodes.convert(x, np.dtype(dtype)), [numbers])
    for k, result in enumerate(plain):
        true, found = int(numbers[k]), {float(run[k]) for run in runs}
        beyond = np.nextafter(result, dtype(np.inf if true > int(result) else -np.inf))
        assert found == ({float(result)} if true == int(result) else {float(result), float(beyond)})


@pytest.mark.parametrize("size", [1e-30, 1e-12, 1.0, 1e12, 1e30])
@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["float32", "float64"])
def test_digits_do_not_depend_on_the_size_of_numbers(size: float, dtype: Any):
    """The squares of what they differ by are beyond the range of the dtype."""
    size = size if dtype is np.float32 else size**9
    x, y = np.array([1.2345678 * size, 1.23456 * size], dtype)
    healthy, losing = (
        bl.digits(lambda x: x * dtype(1.1))(x),
        bl.digits(lambda x, y: x * dtype(1.1) - y * dtype(1.1))(x, y),
    )
    most = -np.log10(np.finfo(dtype).epsneg)
    assert most - 1.5 < healthy.rows[-1].rounding < most
    assert most - 1 < healthy.digits <= most
    assert most - 7 < losing.rows[-1].rounding < most - 3
    assert losing.digits > most - 7
    assert losing.losses or losing.digits > most - 4, "for one of the arguments nothing is lost, by luck"


def test_rows_that_are_put_are_exact_and_rows_that_are_added_where_two_numbers_meet():
    x, rows = rng.normal(size=(2, 6))
    index = np.array([3, 1, 4, 4, 0, 3])
    plain, runs = values(linear_nodes.put, [x, rows, index])
    assert all(np.array_equal(run, plain) for run in runs)
    x[1] = rows[4] = 0.0
    plain, runs = values(lambda x, rows, i: linear_nodes.put(x, rows, i, adds=True), [x, rows, index])
    for run in runs:
        assert np.array_equal(np.flatnonzero(run != plain), [3, 4]), "to the others no number is added, or to 0"
        assert np.allclose(run, plain, rtol=1e-14)
    plain, runs = values(lambda rows, i: linear_nodes.scatter(rows, i, 0, 6), [rows, index])
    for run in runs:
        assert np.array_equal(np.flatnonzero(run != plain), [3, 4])
    one = np.where(np.arange(6) == 2, 0.1, 0.0)
    for add in (lambda x: linear_nodes.sum_over(x, (0,)), lambda x: linear_nodes.cumsum(x, 0)):
        plain, runs = values(add, [one])
        assert all(np.array_equal(run, plain) for run in runs)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.arcsin(np.sin(x + 1.5707963)),
        lambda x: np.sqrt(1 - np.cos(x) ** 2) + 1,
        lambda x: np.arccosh(np.cosh(x)) + 1,
    ],
)
def test_results_stay_in_the_range_of_their_function(f: Any):
    """1 may be the cosine of a small number, and the next number may not."""
    assert all(bl.digits(f, seed)(1e-9).digits > 0.5 for seed in range(6))


def test_digits_of_a_gradient_and_of_each_entry():
    x = np.array([0.5, 1e-7, 2.0])
    report = bl.digits(bl.grad(lambda x: np.sum((1 - np.cos(x)) / x**2)))(x)
    assert report.digits.shape == (3,)
    assert report.digits[1] < 4
    assert min(report.digits[0], report.digits[2]) > 12
    both = bl.digits(bl.value_and_grad(lambda x: np.sum(np.tanh(x))))(x)
    assert np.all(np.asarray(both.digits[0]) > 14)
    assert both.value[1].shape == (3,)


def test_it_composes_with_vmap_and_with_rounded_arithmetic():
    report = bl.digits(bl.vmap(lambda x: (1 - np.cos(x)) / x**2))(np.array([1e-7, 0.5, 1.0]))
    assert 3 < report.digits[0] < 3.2
    assert np.all(report.digits[1:] > 13)
    narrow = bl.digits(lambda x: (np.float32(1) - np.cos(x)) / x**2)(np.float32(1e-3))
    assert narrow.digits < 2.5
    assert bl.digits(np.exp)(np.float32(1.0)).digits == pytest.approx(7.0, abs=0.8)


def test_loops_and_branches_have_a_shadow_and_random_rounding():
    def muller(steps: int) -> Any:
        def step(carry: Any, _: Any) -> Any:
            before, now = carry
            return (now, 111 - 1130 / now + 3000 / (now * before)), None

        return lambda a, b: bl.scan(step, (a, b), None, length=steps)[0][1]

    report = bl.digits(muller(9))(2.0, -4.0)
    assert report.digits < 9
    assert [row.op for row in report.losses] == ["scan"]
    assert bl.digits(muller(40))(2.0, -4.0).digits > 13  # the shadow, too, has converged to another number
    chosen = bl.digits(lambda x: bl.cond(x > 0, lambda x: np.exp(x) - 1, lambda x: x, x))
    assert chosen(1e-9).digits < 8
    assert chosen(-1e-9).digits > 15
    power = bl.digits(lambda x: bl.while_loop(lambda c: c[1] < 50, lambda c: (c[0] * 1.1, c[1] + 1), (x, 0))[0])
    assert 13 < power(0.3).rows[-1].rounding < 15.9
    assert power(0.3).digits > 15


def test_numbers_that_become_inf_or_nan_are_named():
    report = bl.digits(lambda x: np.log(np.sum(np.exp(x))))(np.array([800.0, 801.0]))
    assert [row.op for row in report.losses] == ["exp"]
    rows = {row.op: row for row in bl.digits(lambda x: np.log(np.exp(x)))(np.full(20, 800.0)).rows}
    assert rows["exp"].digits == 0
    assert rows["log"].rounding > 15, "inf is not rounded to the largest number"
    assert rows["log"].digits == 0, "the exact number is 800"
    masked = bl.digits(lambda x: np.sum(np.exp(np.where(np.array([True, False]), x, -np.inf))))
    assert not masked(np.array([1.3, 2.0])).losses


def test_whole_numbers_and_masks():
    report = bl.digits(lambda x, n: {"x": x * 2.5, "n": n + 1, "m": x > 1})(np.array([1.1, 1.3]), np.array([1, 2]))
    assert np.all(np.isinf(report.digits["n"]))
    assert np.all(np.isinf(report.digits["m"]))
    unstable = bl.digits(lambda x: np.where(np.cos(x) < 1, 1.0, 2.0))(1e-9)
    assert unstable.digits < 0.5
    assert bl.digits(np.sum)(np.arange(100.0)).digits == pytest.approx(15.95, abs=0.01)


def test_a_healthy_transformer_is_not_accused():
    model = bl.nn.GPT(13, 8, 16, 2, 2, key=bl.random.key(0), dtype=np.float64)
    tokens = np.random.default_rng(0).integers(0, 13, size=9)

    def loss(model: Any) -> Any:
        return bl.nn.cross_entropy(model(tokens[:-1]), tokens[1:])

    report = bl.digits(bl.value_and_grad(loss))(model)
    assert not report.losses
    assert np.asarray(report.digits[0]) > 13


def test_the_random_numbers_are_those_of_the_seed():
    def minus_one(x: Any) -> Any:
        return np.exp(x) - 1

    f = bl.digits(minus_one, seed=3)
    assert f(1e-9).digits == f(1e-9).digits
    assert len({bl.digits(minus_one, seed=s)(1e-9).rows[-1].rounding for s in range(5)}) > 1
    assert len({float(bl.digits(minus_one, seed=s)(1e-9).digits) for s in range(5)}) == 1


def counted_builds(monkeypatch: pytest.MonkeyPatch) -> list[Graph]:
    """The graphs that are built from now on."""
    made: list[Graph] = []

    def counting(graph: Graph, **options: Any) -> Any:
        made.append(graph)
        return build(graph, **options)

    monkeypatch.setattr(graph_digits, "build", counting)
    return made


def test_kernels_are_found_again_and_see_what_has_changed(monkeypatch: pytest.MonkeyPatch):
    scale = 1.0

    def f(x: Any) -> Any:
        return (np.exp(x) - 1) * scale

    first = bl.digits(f)(1e-9)
    made = counted_builds(monkeypatch)
    assert bl.digits(f)(1e-9).digits == first.digits
    assert not made
    scale = 3.0
    assert bl.digits(f)(1e-9).value == pytest.approx(3 * first.value)
    assert len(made) == 2, "the graph, and its shadow"
    for k in range(40):
        bl.digits(lambda x, k=k: x + k + 0.5)(1.0)
    assert bl.digits(f)(1e-9).value == pytest.approx(3 * first.value)
    assert len(made) == 84, "the last graphs are kept"


def test_what_cannot_be_measured_is_refused():
    def count(x: Any) -> Any:
        return np.argmax(x)

    with pytest.raises(DTypeError, match=r"digits needs a floating result, but count returned none"):
        bl.digits(count)(np.ones(3))
    with pytest.raises(ArgumentError, match="seed"):
        bl.digits(np.exp, seed=-1)
    not_a_function: Any = 3.0
    with pytest.raises(ArgumentError):
        bl.digits(not_a_function)


def test_the_report_is_a_table():
    report = bl.digits(lambda x: (np.exp(x) - 1) / x)(1e-9)
    text = str(report)
    assert text.splitlines()[0].startswith("<lambda>: sub at test_digits.py")
    assert "right digits" in text
    assert "text/html" in mimebundle(report)
