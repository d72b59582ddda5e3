"""Every operation has a class: those without rounding errors are held to exact arithmetic, the others have some."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest

from burlab.graph import Node
from burlab.graph.node import constant
from burlab.graph.operation import STRUCTURAL, make_node
from burlab.graph.scalar_table import ROWS
from burlab.transforms.numbers.exact_operations import CHOICES, EXACT, EXACT_AT, adds_up, chooses, is_exact
from tests.engines import inputs, run
from tests.family_cases import FAMILY_CASES
from tests.op_cases import LINEAR_CASES, OTHER_CASES, SCALAR, LinearCase, OpCase

CASES = {case.name: case for case in (*SCALAR, *(case for rows in FAMILY_CASES.values() for case in rows))}
INEXACT = frozenset(
    "add sub mul div square cube sqrt remainder ldexp arctan2 softplus polygamma digamma betaln beta zeta_derivative "
    "zeta riemann_zeta xlogy xlog1py rel_entr power_exp ndtri mills_excess mills log_ndtr jv iv ive yv kv kve "
    "gamma_density_by gammainc_by gammainc gammaincc beta_density_by betainc_by betainc betaincc stdtr gammaincinv "
    "gammainccinv betaincinv betainccinv stdtrit sum_error product_error quotient_error exp_error expm1_error "
    "sin_error cos_error".split()
)
INEXACT_ARRAYS = frozenset(
    "sum cumsum convert contract scatter fft rfft irfft squares norm eig expm eigh svd lu lu_solve solve_triangular "
    "cholesky qr special sparse_product sampled_product row_products spread_rows matvec multiply_add".split()
)
NOT_FLOATING = frozenset("argmax argmin argsort argpartition argkth argtop fold_in row_samples".split())
OF_SUB_GRAPHS = frozenset(
    "call while cond checkpoint checkpoint_contractions scan halves block_results of_all_blocks blocks ask".split()
)
DEFINED_BY_FLOATS = frozenset("nextafter lower_bound upper_bound".split())  # NumPy says which number they are
DTYPES = pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["float32", "float64"])


def moves_data(op: str) -> bool:
    return STRUCTURAL[op].moves_data or STRUCTURAL[op].leaf


def test_every_operation_is_of_one_class() -> None:
    for row in ROWS:
        if row.is_mask or row.of_integers:
            assert row.name not in CHOICES | EXACT | EXACT_AT.keys() | INEXACT, row.name
        else:
            assert sum(row.name in names for names in (CHOICES, EXACT, EXACT_AT, INEXACT)) == 1, row.name
    for op in STRUCTURAL:
        classes = (CHOICES, EXACT, INEXACT_ARRAYS, NOT_FLOATING, OF_SUB_GRAPHS, {"put"})
        assert sum(op in names for names in classes) + moves_data(op) == 1, op


def drawn(case: OpCase, dtype: Any, special: Sequence[float] = (), count: int = 100) -> list[Any]:
    """Finite arguments of all sizes, subnormal ones and small whole numbers too, and of special ones many pairs."""
    rng, kind = np.random.default_rng(7), np.finfo(dtype)
    ends = kind.smallest_subnormal, kind.tiny, kind.max
    small = np.array([*special, 0.0, -0.0, 0.5, 1.0, -1.0, 2.0, 3.0, -7.0, *ends])

    def argument() -> Any:
        sizes = 2.0 ** rng.integers(kind.minexp - kind.nmant, kind.maxexp - 2, count)
        ordinary, whole = rng.normal(size=(2, count)), rng.integers(-40, 40, count) / 2
        return np.concatenate([ordinary[0], sizes * ordinary[1], whole, rng.choice(small, count)]).astype(dtype)

    first, *others = (argument() for _ in range(len(np.atleast_1d(case.points[0]))))
    near = rng.permutation(first.size)[: first.size // 2]
    for other in others:  # half of them at a distance from the first that a quotient with all digits has
        other[near] = first[near] * rng.uniform(-1, 1, near.size) * 2.0 ** -rng.integers(0, kind.nmant + 4, near.size)
    if case.name == "round_to":
        others = [np.full(first.size, p, dtype) for p in case.points[0][1:]]
    return [first > 0 if case.name == "where" else first, *others]


def values(op: str, arrays: Sequence[Any]) -> Any:
    xs = inputs(*arrays)
    return run([make_node(op, None, *xs)], xs, arrays)[0]


def exactly(case: OpCase, arguments: Sequence[Any], k: int) -> Any:
    """The result in mpmath."""
    args = [bool(x[k]) if x.dtype == bool else mpmath.mpf(float(x[k])) for x in arguments]
    return mpmath.mpf(case.exact(*args))


def assert_exact(case: OpCase, arguments: Sequence[Any], y: Any, where: Any) -> None:
    """The results at some places are those of mpmath, with bits enough for a quotient of any two numbers."""
    places = np.flatnonzero(where & np.isfinite(y) & np.all([np.isfinite(x) for x in arguments], axis=0))
    assert places.size > 10
    with mpmath.workprec(5000 if len(arguments) == 2 else 400):
        for k in places:
            assert mpmath.mpf(float(y[k])) == exactly(case, arguments, k), [x[k] for x in arguments]


@pytest.mark.parametrize("op", sorted((CHOICES | EXACT) & CASES.keys() - DEFINED_BY_FLOATS))
@DTYPES
def test_exact_operations_have_the_results_of_exact_arithmetic(op: str, dtype: Any) -> None:
    arguments = drawn(CASES[op], dtype)
    y = values(op, arguments)
    signed = op == "copysign"  # of a zero, too, which mpmath's have not
    assert_exact(CASES[op], arguments, y, arguments[-1] != 0 if signed else (y != 0) | (op != "round_to"))
    if op in CHOICES:
        assert np.all([v in {0.0, *(x[k] for x in arguments)} for k, v in enumerate(y)])


@pytest.mark.parametrize("op", sorted(DEFINED_BY_FLOATS))
@DTYPES
def test_the_numbers_next_to_others_are_those_of_numpy(op: str, dtype: Any) -> None:
    arguments = drawn(CASES[op], dtype)
    with np.errstate(all="ignore"):
        assert np.array_equal(values(op, arguments), CASES[op].numpy(*arguments))


@pytest.mark.parametrize("op", sorted(EXACT_AT))
@DTYPES
def test_where_operations_are_said_to_be_exact_they_are(op: str, dtype: Any) -> None:
    arguments = drawn(CASES[op], dtype, special=(0.0, 1.0) * 8)
    y = values(op, arguments)
    with np.errstate(all="ignore"):
        exact = EXACT_AT[op](y, *arguments)
    assert_exact(CASES[op], arguments, y, exact & ((arguments[-1] != 0) | (op != "floor_divide")))


@pytest.mark.parametrize("op", sorted(INEXACT | EXACT_AT.keys()))
def test_other_operations_have_rounding_errors(op: str) -> None:
    case = CASES[op]
    arithmetic = set("add sub mul div square cube remainder ldexp floor_divide sum_error product_error".split())
    rows = list(zip(*drawn(case, np.float64), strict=True)) if op in arithmetic else case.points
    columns = [np.array(column, np.float64) for column in zip(*(np.atleast_1d(row) for row in rows), strict=True)]
    y = values(op, columns)
    with mpmath.workdps(40):
        finite = (k for k in np.flatnonzero(np.isfinite(y)) if op not in {"floor_divide", "div"} or columns[1][k])
        assert any(mpmath.mpf(float(y[k])) != exactly(case, columns, k) for k in finite)


def arrays_of(case: LinearCase) -> list[Any]:
    rng = np.random.default_rng(3)
    arrays: list[Any] = [rng.normal(size=shape) for shape in case.shapes]
    return arrays if case.index is None else [*arrays, np.array(case.index, np.int64)]


@pytest.mark.parametrize("case", LINEAR_CASES, ids=lambda case: case.name)
def test_linear_operations_choose_among_their_inputs_or_add_up(case: LinearCase) -> None:
    arrays = arrays_of(case)
    xs = inputs(*arrays)
    n = case.make(*xs)
    (y,) = run([n], xs, arrays)
    if chooses(n):
        assert is_exact(n)
        assert np.all(np.isin(y, [0.0, *(v for x in arrays for v in x.ravel())]))
    elif adds_up(n) and 0 not in n.shape and n.size:
        lifted = [np.vectorize(Fraction, otypes=[object])(a) if a.dtype.kind == "f" else a for a in arrays]
        exact = case.numpy(*lifted)
        differs = [Fraction(float(v)) != e for v, e in zip(y.ravel(), np.ravel(exact), strict=True)]
        assert any(differs) or y.size < 3 or 0 in arrays[0].shape


@pytest.mark.parametrize(
    "case", [case for case in OTHER_CASES if case.name not in NOT_FLOATING], ids=lambda case: case.name
)
def test_other_operations_that_choose_have_values_of_their_inputs(case: Any) -> None:
    for given in case.arrays:
        arrays = given if isinstance(given, tuple) else (given,)
        xs = inputs(*arrays)
        n = case.make(*xs)
        (y,) = run([n], xs, arrays)
        assert is_exact(n) != (n.op in NOT_FLOATING)
        if chooses(n):
            known = np.concatenate([np.ravel(x) for x in arrays])
            assert np.all(np.isin(y, known) | (np.isnan(y) & np.any(np.isnan(known))))


def test_an_assignment_chooses_and_an_addition_does_not() -> None:
    x, rows, index = Node("input", (), "x", (4,), np.dtype("f8")), constant(np.ones(2)), constant(np.array([1, 1]))
    sets, adds = (make_node("put", (0, adding), x, rows, index) for adding in (False, True))
    assert chooses(sets)
    assert not chooses(adds)
    assert adds_up(adds)
    assert not adds_up(sets)
