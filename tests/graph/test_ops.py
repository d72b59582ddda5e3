"""Every operation has its row; scalar ones: value, edges, derivatives to third order, kinks, in both gears."""

import itertools
from collections.abc import Sequence
from functools import partial
from importlib import import_module
from typing import Any

import mpmath
import numpy as np
import pytest
from mpmath import mp

import burlab as bl
import burlab.graph.rare
from burlab.graph import Node, jvp, vjp
from burlab.graph.linear_nodes import LinearOp
from burlab.graph.numpy_api.promotion import node
from burlab.graph.operation import STRUCTURAL
from burlab.graph.scalar import is_differentiable, partials, scalar_ops
from tests.engines import GEARS, inputs, jax_or_skip, ones, run
from tests.graph.linalg.linalg_cases import PRIMITIVES
from tests.op_cases import LINEAR_CASES, OTHER_CASES, SCALAR, OpCase

DTYPES = (np.float64, np.float32)
SMOOTH = [case for case in SCALAR if case.order]


def test_every_operation_has_a_row() -> None:
    where = "each operation has a row in tests/op_cases.py"
    assert {case.name for case in SCALAR} == set(scalar_ops()), where
    linear = {name for name, row in STRUCTURAL.items() if isinstance(row, LinearOp)}
    assert {case.name for case in LINEAR_CASES} == linear, where
    elsewhere = {
        "input",
        "constant",
        "call",
        "checkpoint",
        "checkpoint_contractions",
        "halves",
        "ask",
        "squares",
        "sparse_product",
        "sampled_product",
        "row_products",
        "spread_rows",
        "row_samples",
        "eig",
        "special",
        "norm",
        "matvec",
        "while",
        "cond",
        "scan",
        "blocks",
        "block_results",
        "of_all_blocks",
        "multiply_add",
    } | PRIMITIVES  # with tests of their own
    assert {case.name for case in OTHER_CASES} == set(STRUCTURAL) - linear - elsewhere, where


def test_every_operation_is_documented() -> None:
    for row in scalar_ops().values():
        assert row.doc.endswith(".")


# Scalar operations.


def arrays_of(case: OpCase, points: Any, dtype: Any = np.float64) -> list[Any]:
    """One array per argument, masks as they are."""
    rows = [p if isinstance(p, tuple) else (p,) for p in points]
    columns = [np.array(c) for c in zip(*rows, strict=True)]
    with np.errstate(over="ignore"):
        return [c if c.dtype == bool else c.astype(dtype) for c in columns]


def floats(xs: Any) -> list[Node]:
    return [x for x in xs if x.dtype.kind == "f"]


def differentiated(case: OpCase, xs: Any) -> list[int]:
    """The arguments that it is differentiated by: neither masks nor parameters, which come first."""
    return [k for k, x in enumerate(xs) if x.dtype.kind == "f"][case.parameters :]


class Everything:
    """All scalar operations in one graph, so that the compiler is asked once."""

    def __init__(self, gear: str, make: Any, points: Any, dtype: Any, cases: Any = SCALAR) -> None:
        outputs: list[Node] = []
        xs: list[Node] = []
        arrays: list[Any] = []
        self.spans: dict[str, slice] = {}
        for case in cases:
            mine = arrays_of(case, points(case), dtype)
            own = inputs(*mine)
            made = make(case, own)
            self.spans[case.name] = slice(len(outputs), len(outputs) + len(made))
            outputs += made
            xs += own
            arrays += mine
        self.results = run(outputs, xs, arrays, gear)

    def __getitem__(self, name: str) -> list[Any]:
        return self.results[self.spans[name]]


_results: dict[Any, Everything] = {}


def everything(kind: str, gear: str, dtype: Any = np.float64, rows: Sequence[OpCase] = SCALAR) -> Everything:
    key = (kind, gear, dtype, rows)
    if key not in _results:
        smooth = [case for case in rows if case.order]
        make, points, cases = {
            "value": (lambda case, xs: [node(case.name, *xs)], lambda case: case.points, rows),
            "edge": (lambda case, xs: [node(case.name, *xs)], lambda case: case.edges, rows),
            "derivative": (derivatives, lambda case: case.points, smooth),
            "kink": (first, lambda case: [p for p, _ in case.kinks], [case for case in smooth if case.kinks]),
        }[kind]
        _results[key] = Everything(gear, make, points, dtype, cases)
    return _results[key]


def first(case: OpCase, xs: Any) -> list[Node]:
    """The partials by reverse mode, then by forward mode."""
    y = node(case.name, *xs)
    by = [xs[k] for k in differentiated(case, xs)]
    return [vjp([y], [x], [ones(y)])[0] for x in by] + [jvp([y], [x], [ones(x)])[0] for x in by]


def derivatives(case: OpCase, xs: Any) -> list[Node]:
    """Partials of order 1 to 3, every one by reverse over what is below and by forward over what is below."""
    rows: list[Node] = [node(case.name, *xs)]
    below, by = rows, [xs[k] for k in differentiated(case, xs)]
    for _ in range(case.order):
        reverse = [vjp([y], [x], [ones(y)])[0] for y in below for x in by]
        forward = [jvp([y], [x], [ones(x)])[0] for y in below for x in by]
        rows = [*rows, *reverse, *forward]
        below = reverse
    return rows


def exact_partials(case: OpCase, arrays: Any, orders: tuple[int, ...]) -> Any:
    """The partial so many times by each argument, in 60 digits, rounded once."""
    free = differentiated(case, arrays)
    values = []
    with mp.workdps(60):
        for row in zip(*arrays, strict=True):
            held = (v if isinstance(v, np.bool_) else mp.mpf(float(v)) for v in row[: free[0]])
            at = tuple(mp.mpf(float(row[k])) for k in free)
            if case.partial is not None:
                values.append(case.partial(orders, *held, *at))
                continue
            f = partial(case.exact, *held)
            values.append(mpmath.diff(f, at, orders) if len(at) > 1 else mpmath.diff(f, at[0], orders[0]))
    return np.array([float(v) for v in values])


def distance_in_ulp(got: Any, exact: Any) -> float:
    """How far a number is from an exact one, in units in the last place of its dtype there."""
    with mp.workdps(60):
        spacing = np.spacing(np.abs(got.dtype.type(float(exact))))
        return abs(float((mp.mpf(float(got)) - exact) / mp.mpf(float(spacing))))


@pytest.mark.parametrize("gear", GEARS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("case", SCALAR, ids=lambda c: c.name)
def test_value_is_within_4_ulp_of_the_exact_one(case: OpCase, dtype: Any, gear: str) -> None:
    check_values(case, everything("value", gear, dtype)[case.name], dtype)


def check_values(case: OpCase, results: list[Any], dtype: Any) -> None:
    (got,) = results
    arrays = arrays_of(case, case.points, dtype)
    assert got.dtype == (bool if case.order == 0 else dtype)
    for value, *row in zip(got, *arrays, strict=True):
        with mp.workdps(60):
            exact = case.exact(*(v if isinstance(v, np.bool_) else mp.mpf(float(v)) for v in row))
        if case.order == 0:
            assert bool(value) == bool(exact)
        else:
            assert distance_in_ulp(value, exact) <= case.ulp, (row, value)


@pytest.mark.parametrize("gear", GEARS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("case", SCALAR, ids=lambda c: c.name)
def test_edges_equal_numpy(case: OpCase, dtype: Any, gear: str) -> None:
    check_edges(case, everything("edge", gear, dtype)[case.name], dtype)


def check_edges(case: OpCase, results: list[Any], dtype: Any) -> None:
    (got,) = results
    arrays = arrays_of(case, case.edges, dtype)
    with np.errstate(all="ignore"):
        wanted = np.asarray(case.numpy(*arrays)).astype(got.dtype)
    np.testing.assert_array_equal(np.isnan(got.astype(float)), np.isnan(wanted.astype(float)))
    if got.dtype == bool:
        np.testing.assert_array_equal(got, wanted)
        return
    finite = np.isfinite(wanted)
    np.testing.assert_array_equal(got[~finite], wanted[~finite])
    np.testing.assert_array_max_ulp(got[finite], wanted[finite], case.edge_ulp, dtype)
    if case.name not in (
        "maximum",
        "minimum",
        "sign",
        "fmax",
        "fmin",
    ):  # of 0 and -0 either is the larger; the sign of -0 is -0
        np.testing.assert_array_equal(np.signbit(got[wanted == 0]), np.signbit(wanted[wanted == 0]))


@pytest.mark.parametrize("case", SMOOTH, ids=lambda c: c.name)
def test_derivatives_to_third_order_are_exact(case: OpCase) -> None:
    check_derivatives(case, everything("derivative", "replay")[case.name])


def check_derivatives(case: OpCase, found: list[Any]) -> None:
    results = iter(found[1:])
    arrays = arrays_of(case, case.points)
    count = len(differentiated(case, arrays))
    place = f"the struct {case.name} of cpp/burlab/ops"
    for order in range(1, case.order + 1):
        orders = [tuple(by.count(k) for k in range(count)) for by in itertools.product(range(count), repeat=order)]
        wanted = {by: exact_partials(case, arrays, by) for by in set(orders)}
        for mode in ("reverse", "forward"):
            for by in orders:
                got = next(results)
                scale = 2e-15 * 8.0**order * case.slack
                what = f"{mode} derivative of orders {by}, of {place}"
                np.testing.assert_allclose(got, wanted[by], rtol=scale, atol=scale / 100, err_msg=what)


@pytest.mark.parametrize("case", [c for c in SMOOTH if c.complex_step], ids=lambda c: c.name)
def test_gradient_is_the_complex_step(case: OpCase) -> None:
    got = everything("derivative", "replay")[case.name][1:]
    arrays = arrays_of(case, case.points)
    for k in range(len(arrays)):
        moved = [a + 1e-30j * (i == k) for i, a in enumerate(arrays)]
        np.testing.assert_allclose(got[k], case.numpy(*moved).imag / 1e-30, rtol=1e-13, atol=1e-15)


def test_gradients_are_jaxs() -> None:
    check_gradients(SCALAR)


def check_gradients(cases: Sequence[OpCase]) -> None:
    jax = jax_or_skip()
    rows = [case for case in cases if case.order and case.jax]

    def function(case: OpCase) -> Any:
        module, _, name = f"jax.{case.jax}".rpartition(".")
        return getattr(import_module(module), name)

    def gradients(arrays: Any) -> Any:
        out = []
        for case, xs in zip(rows, arrays, strict=True):
            by = tuple(differentiated(case, xs))
            g = jax.grad(function(case), by)
            out.append((jax.vmap(g)(*xs), jax.vmap(jax.jacfwd(g, by))(*xs)))
        return out

    wanted = jax.jit(gradients)([arrays_of(case, case.points) for case in rows])
    for case, (slopes, curvatures) in zip(rows, wanted, strict=True):
        got = everything("derivative", "replay", rows=cases)[case.name][1:]
        count = len(slopes)
        for k in range(count):
            np.testing.assert_allclose(got[k], slopes[k], rtol=1e-11, atol=1e-12, err_msg=case.name)
            for j in range(count):
                h = got[2 * count + k * count + j]
                np.testing.assert_allclose(h, curvatures[k][j], rtol=1e-10, atol=1e-11, err_msg=case.name)


@pytest.mark.parametrize("case", [c for c in SMOOTH if c.kinks], ids=lambda c: c.name)
def test_kinks_follow_the_stated_conventions(case: OpCase) -> None:
    check_kinks(case, everything("kink", "replay")[case.name])


def check_kinks(case: OpCase, got: list[Any]) -> None:
    wanted = [row if isinstance(row, tuple) else (row,) for _, row in case.kinks]
    for k, column in enumerate((*zip(*wanted, strict=True), *zip(*wanted, strict=True))):
        np.testing.assert_array_equal(got[k], column)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("case", SMOOTH, ids=lambda c: c.name)
def test_gears_agree_on_scalar_derivatives(case: OpCase, dtype: Any) -> None:
    compiled = everything("derivative", "compiled", dtype)[case.name]
    replayed = everything("derivative", "replay", dtype)[case.name]
    tolerance = 200 * np.finfo(dtype).eps
    for a, b in zip(compiled, replayed, strict=True):
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("case", SMOOTH, ids=lambda c: c.name)
def test_forward_and_reverse_are_transposes(case: OpCase) -> None:
    arrays = arrays_of(case, case.points)
    rng = np.random.default_rng(3)
    moves = [rng.normal(size=a.shape) for a in arrays if a.dtype.kind == "f"]
    pull = rng.normal(size=arrays[0].shape)
    xs = inputs(*arrays)
    us = inputs(*moves, pull)
    y = node(case.name, *xs)
    pushed = jvp([y], floats(xs), us[:-1])
    pulled = vjp([y], floats(xs), [us[-1]])
    ju, *jv = run([*pushed, *pulled], [*xs, *us], [*arrays, *moves, pull])
    np.testing.assert_allclose(
        np.sum(pull * ju), sum(np.sum(a * b) for a, b in zip(jv, moves, strict=True)), rtol=1e-12
    )


@pytest.mark.parametrize("case", SMOOTH, ids=lambda c: c.name)
def test_forms_are_what_the_partials_compute(case: OpCase) -> None:
    """What C++ says of a partial without computing it (a number, an argument, what it reads) holds when it is."""
    arrays = arrays_of(case, case.points)
    xs = list(inputs(*arrays))
    (other,) = inputs(noise := np.random.default_rng(0).normal(size=arrays[-1].shape))
    operations = {case.name: [*xs, node(case.name, *xs)]}
    for name in (case.name, *(f"{case.name}'{k}" for k, x in enumerate(xs) if x.dtype.kind == "f")):
        above = operations[name]
        for k, form in enumerate(partials(name)):
            if above[k].dtype.kind != "f":
                assert form.constant == 0
                continue
            operations[f"{name}'{k}"] = [*above, derived(name, k, above)]
            got, *known = run([derived(name, k, above), *above], [*xs, other], [*arrays, noise])
            if form.constant is not None:
                np.testing.assert_array_equal(got, form.constant)
            elif form.argument is not None:
                np.testing.assert_array_equal(got, known[form.argument])
            else:
                unread = [x if j in form.reads or x.dtype == bool else other for j, x in enumerate(above)]
                (again,) = run([derived(name, k, unread)], [*xs, other], [*arrays, noise])
                np.testing.assert_array_equal(got, again)


def derived(name: str, k: int, arguments: list[Node]) -> Node:
    """The k-th partial of an operation as a node."""
    last = arguments[-1]
    return Node(f"{name}'{k}", tuple(arguments), None, last.shape, last.dtype)


@pytest.mark.parametrize("dtype", [np.int64, np.int32])
@pytest.mark.parametrize("gear", GEARS)
def test_integers_compute_as_numpys(gear: str, dtype: Any) -> None:
    extremes = np.iinfo(dtype)
    a = np.array([3, -4, 0, extremes.max, extremes.min, 7, -1], dtype)
    b = np.array([2, 5, -3, 1, 1, 7, extremes.max], dtype)
    positive, mask = np.array([2, 3, 0, 1, 1, 5, 6], dtype), np.array([1, 0, 1, 0, 1, 0, 1], bool)
    xs = inputs(a, b, positive, mask)
    numpys = {"sub": "subtract", "mul": "multiply"}
    binary = "add sub mul maximum minimum less less_equal greater greater_equal equal not_equal".split()
    outputs = [node(name, *xs[:2]) for name in binary]
    wanted = [getattr(np, numpys.get(name, name))(a, b) for name in binary]
    outputs += [node(name, xs[0]) for name in ("neg", "square", "cube", "abs", "sign")]
    wanted += [-a, a * a, a * a * a, np.abs(a), np.sign(a)]
    outputs += [node("power", xs[0], xs[2]), node("where", xs[3], xs[0], xs[1])]
    wanted += [a**positive, np.where(mask, a, b)]
    for got, value in zip(run(outputs, xs, [a, b, positive, mask], gear), wanted, strict=True):
        assert got.dtype == value.dtype
        np.testing.assert_array_equal(got, value)


def test_masks_have_no_partials() -> None:
    assert [name for name in scalar_ops() if not is_differentiable(name)] == [c.name for c in SCALAR if c.order == 0]


@pytest.mark.parametrize("gear", GEARS)
@pytest.mark.parametrize("dtype", [np.int64, np.int32])
def test_integers_divide_as_numpys(gear: str, dtype: Any) -> None:
    """// and % round down, give 0 by 0, and are exact where a float is not."""
    largest = np.iinfo(dtype).max
    a = np.array([7, -7, 7, -7, 6, -6, 0, 5, largest, largest, -largest, largest - 1], dtype)
    b = np.array([3, 3, -3, -3, 3, 3, 5, 0, 3, -7, 10, largest], dtype)
    got = bl.compile(lambda a, b: (a // b, a % b, np.floor_divide(a, 7), 100 % np.abs(b)), a, b, gear=gear)(a, b)
    with np.errstate(divide="ignore"):
        wanted = a // b, a % b, a // 7, 100 % np.abs(b)
    for x, y in zip(got, wanted, strict=True):
        np.testing.assert_array_equal(x, y)
        assert x.dtype == y.dtype
