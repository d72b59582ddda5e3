"""The shadow of a graph: errors of every operation against mpmath, of loops and branches, and of float32."""

import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
from mpmath import mp

import burlab as bl
from burlab.compiler.executable import build
from burlab.graph import Graph, hooks
from burlab.graph.node import Node, as_node
from burlab.graph.numpy_api.promotion import node
from burlab.graph.operation import STRUCTURAL
from burlab.graph.scalar_table import ROWS
from burlab.graph.sparse import row_operations
from burlab.graph.tracing.trace import trace
from burlab.transforms.numbers.doubled import Doubled
from burlab.transforms.numbers.scalar_shadows import SCALAR as RULES
from burlab.transforms.numbers.shadow import SYSTEMS, Shadow
from burlab.transforms.numbers.tensor_shadows import LINEAR, POSITIONS, moves
from tests.engines import GEARS
from tests.family_cases import FAMILY_CASES
from tests.op_cases import LINEAR_CASES, OTHER_CASES, SCALAR, OpCase
from tests.runtime.test_cpu import ABLE
from tests.transforms.numbers.test_precision import PLANNED, STRUCTURE
from tests.transforms.test_interval import DOMAINS

CASES = {case.name: case for case in (*SCALAR, *(c for rows in FAMILY_CASES.values() for c in rows))}
UNKNOWN = {  # their own rounding errors are not known: they have no form in double-double arithmetic here
    "erf", "erfc", "gelu", "polygamma", "digamma", "gammaln", "gamma", "betaln", "beta", "zeta_derivative", "zeta",
    "riemann_zeta", "erfinv", "erfcinv", "ndtri", "mills_excess", "mills", "log_ndtr", "erfcx", "jv", "iv", "ive", "yv",
    "kv", "kve", "gamma_density_by", "gammainc_by", "gammainc", "gammaincc", "beta_density_by", "betainc_by", "betainc",
    "betaincc", "stdtr", "gammaincinv", "gammainccinv", "betaincinv", "betainccinv", "stdtrit", "sum_error",
    "product_error", "quotient_error", "exp_error", "expm1_error", "sin_error", "cos_error",
}  # fmt: skip
UNKNOWN_TENSORS = {
    "sparse_product", "sampled_product", "row_products", "spread_rows", "row_samples",
    "fft", "rfft", "irfft", "eig", "eigh", "svd", "lu", "qr", "expm", "special",
}  # fmt: skip
WHOLE = {"argmax", "argmin", "argsort", "argpartition", "argkth", "argtop", "exponents", "fold_in", "uniform"}
MADE_BY_PLANS = {"squares", "matvec", "multiply_add", "ask", *PLANNED}
REMAINDERS = {"fmod", "remainder"}  # less what a large quotient costs
JUMPS = {"lower_bound", "upper_bound", "nextafter", "round_to", "where"}  # without a formula in exact numbers
RANGES = {**DOMAINS, "rel_entr": (0.01, 9), **dict.fromkeys(("sin", "cos", "tan"), (-100, 100))}
FLOAT64 = np.dtype(np.float64)


def errors_of(
    make: Callable[..., Any], arrays: Any, errors: Any, gear: str = "replay", first: bool = False
) -> tuple[Any, Any, bool]:
    """A result of numbers with errors, its error, and whether all is known. first: whether the first ones have none."""
    xs = [Node("input", (), None, x.shape, x.dtype) for x in arrays]
    es = [Node("input", (), None, e.shape, e.dtype) for e in errors]
    exact = xs[: len(xs) - len(es)] if first else []
    pairs = [Doubled(x, e) for x, e in zip(xs[len(exact) :], es, strict=False)]
    given = [*exact, *pairs, *xs[len(exact) + len(pairs) :]]
    (found,) = Shadow().of(Graph(tuple(xs), (make(*xs),)), given)
    y = found.value if isinstance(found.value, Doubled) else Doubled(found.value, found.value)
    z, e = build(Graph((*xs, *es), tuple(y)), gear=gear)(*arrays, *errors)
    return np.asarray(z), np.asarray(e) if isinstance(found.value, Doubled) else np.zeros(z.shape), found.complete


def bits_of(z: Any, e: Any, exact: Any) -> float:
    """The bits of z + e that are right, where what is known of e, 52 bits, bounds them."""
    size = max(abs(exact), abs(mp.mpf(float(e))) * mp.mpf(2) ** 50)
    off = abs(mp.mpf(float(z)) + mp.mpf(float(e)) - exact)
    return 200.0 if off == 0 else -float(mpmath.log(off / size, 2)) if size else 0.0


def _is_number(exact: Any) -> bool:
    return not isinstance(exact, mpmath.mpc) and bool(mpmath.isfinite(exact)) and exact != 0


def lifted(x: Any, e: Any) -> Any:
    return np.vectorize(lambda a, b: mp.mpf(float(a)) + mp.mpf(float(b)), otypes=[object])(x, e)


def test_every_operation_of_numbers_has_a_rule_or_is_named() -> None:
    of_floats = {row.name for row in ROWS if not row.is_mask and not row.of_integers}
    assert of_floats == set(RULES) | UNKNOWN
    assert not set(RULES) & UNKNOWN
    hooks.import_rare()
    assert row_operations.RowSamples.name in STRUCTURAL
    x = Node("input", (), None, (4,), FLOAT64)
    moving = {name for name in STRUCTURAL if moves(Node(name, (x,), None, (4,), FLOAT64))}
    leaves = {name for name, row in STRUCTURAL.items() if row.leaf}
    known = leaves | moving | set(LINEAR) | set(POSITIONS) | set(SYSTEMS) | STRUCTURE | WHOLE
    assert set(STRUCTURAL) == known | UNKNOWN_TENSORS | MADE_BY_PLANS
    assert not known & UNKNOWN_TENSORS


@pytest.mark.parametrize("gear", GEARS)
@pytest.mark.parametrize("name", sorted(set(RULES) - JUMPS))
def test_scalar_operations_have_errors_of_28_digits(name: str, gear: str) -> None:
    rng = np.random.default_rng(len(name))
    case: OpCase = CASES[name]
    start, end = RANGES.get(name, (-9, 9))
    arity = next(row.arity for row in ROWS if row.name == name)
    arrays = [rng.uniform(start, end, 60) for _ in range(arity)]
    for x in arrays:
        x[:20] = np.clip(x[:20] * 10.0 ** rng.uniform(-9, 0, 20), start, end)
    errors = [x * rng.uniform(-1, 1, x.size) * 2.0**-54 for x in arrays]
    if name == "ldexp":
        arrays[1], errors[1] = np.rint(arrays[1]), np.zeros(60)
    z, e, complete = errors_of(lambda *xs: node(name, *xs), arrays, errors, gear)
    assert complete
    with mp.workprec(300):
        numbers = [lifted(*both) for both in zip(arrays, errors, strict=True)]
        exact = [case.exact(*row) for row in zip(*numbers, strict=True)]
        found = [bits_of(*row) for row in zip(z, e, exact, strict=True) if _is_number(row[2])]
    assert min(found, default=200.0) > (85 if name in REMAINDERS else 96)


@pytest.mark.parametrize("name", ["erf", "gammaln", "jv", "gelu", "erf'0", "tanh'0", "gammaln'0", "jv'1"])
def test_errors_go_through_what_has_no_rule_of_its_own(name: str) -> None:
    base, _, by = name.partition("'")
    order = [np.array([1.0, 2.0])] if base == "jv" else []
    x, dx = np.array([0.7, 2.3]), np.array([1e-9, -1e-9])

    def value(v: Any) -> Any:
        return node(base, *map(as_node, order), v)

    results, slopes = (np.asarray(y) for y in bl.jvp(value, (x,), (dx,)))
    arrays, errors = ([*order, x, results], [dx, slopes]) if by else ([*order, x], [dx])

    def computed(*xs: Any) -> Any:
        return Node(name, tuple(map(as_node, xs)), None, (2,), FLOAT64)

    z, e, complete = errors_of(computed, arrays, errors, first=True)
    moved = [*order, *(a + d for a, d in zip(arrays[len(order) :], errors, strict=True))]
    wanted = np.asarray(bl.jit(computed)(*moved)) - z
    np.testing.assert_allclose(e, wanted, rtol=1e-5)
    assert complete == (name == "tanh'0")


def exactly(f: Callable[..., Any], xs: Any, es: Any, index: Any) -> Any:
    with mp.workprec(300):
        return np.asarray(f(*(lifted(x, e) for x, e in zip(xs, es, strict=True)), *index), object)


@pytest.mark.parametrize("gear", GEARS)
@pytest.mark.parametrize("case", [c for c in LINEAR_CASES if not c.floats], ids=lambda case: case.name)
def test_linear_operations_have_errors_of_28_digits(case: Any, gear: str) -> None:
    rng = np.random.default_rng(2)
    xs = [rng.normal(size=shape) * 10.0 ** rng.integers(-3, 4, shape) for shape in case.shapes]
    es = [x * rng.uniform(-1, 1, x.shape) * 2.0**-54 for x in xs]
    index = [] if case.index is None else [np.array(case.index, np.int64)]
    z, e, complete = errors_of(case.make, [*xs, *index], es, gear)
    assert complete
    if case.name == "convert":
        return
    exact = exactly(case.numpy, xs, es, index)
    sizes = exactly(case.numpy, [abs(x) for x in xs], [0 * x for x in xs], index)
    assert exact.shape == z.shape
    with mp.workprec(300):
        off = np.abs(lifted(z, e) - exact)
        assert np.all(off <= np.max(sizes, initial=0.0) * mp.mpf(2) ** -94)


@pytest.mark.parametrize("case", [c for c in OTHER_CASES if c.name not in WHOLE], ids=lambda case: case.name)
def test_choices_and_orders_take_their_errors_along(case: Any) -> None:
    for given in case.arrays:
        arrays = [a.astype(np.float64) for a in (given if isinstance(given, tuple) else (given,))]
        errors = [2.0**-30 * np.ones(a.shape) for a in arrays]  # the same, so the order stays
        z, e, complete = errors_of(case.make, arrays, errors)
        assert complete
        assert np.all(e[np.isfinite(z)] == 2.0**-30)


def test_a_long_sum_and_a_product_of_wide_matrices() -> None:
    rng = np.random.default_rng(4)
    x = rng.normal(size=(3, 500)) * 10.0 ** rng.uniform(-8, 8, (3, 500))
    y = rng.normal(size=(500, 2)) * 10.0 ** rng.uniform(-8, 8, (500, 2))
    none = [np.zeros(x.shape), np.zeros(y.shape)]
    for make, exact in ((lambda a, b: a @ b, lambda a, b: a @ b), (lambda a, b: np.sum(a, 1), lambda a, b: a.sum(1))):
        z, e, _ = errors_of(make, [x, y], none)
        wanted = exactly(exact, [x, y], none, [])
        with mp.workprec(300):
            assert np.max(abs(lifted(z, e) - wanted)) < 1e-11 * np.max(abs(lifted(z, 0 * z) - wanted))


def errors_by_trace(f: Callable[..., Any], *args: Any, gear: str = "replay") -> list[tuple[Any, Any]]:
    """The results of a function and their errors."""
    graph = trace(f, args, {}).graph
    found = Shadow().of(graph, graph.inputs)
    pairs = [y.value for y in found]
    nodes = [part for y in pairs for part in (y if isinstance(y, Doubled) else (y, y))]
    out = build(Graph(graph.inputs, tuple(nodes)), gear=gear)(*(np.asarray(a) for a in args))
    return list(zip(out[::2], out[1::2], strict=True))


@pytest.mark.parametrize("gear", GEARS)
def test_loops_branches_and_calls(gear: str) -> None:
    shifted = bl.custom_vjp(lambda x: np.exp(x) - 1, lambda g, y, x: g * (y + 1), 1.0)

    def looped(x: Any) -> Any:
        total = bl.scan(lambda c, k: (c + np.sin(x * k), c), 0.0, np.arange(1.0, 6.0))[0]
        power = bl.while_loop(lambda c: c[1] < 5, lambda c: (c[0] * 1.1, c[1] + 1), (x, 0))[0]
        chosen = bl.cond(x > 0, lambda x: np.exp(x) - 1, lambda x: x, x)
        return total, power, chosen, shifted(x), bl.checkpoint(lambda x: np.cos(x) - 1)(x)

    x = 1.2345e-3
    with mp.workdps(50):
        v = mp.mpf(x)
        wanted = (
            sum(mpmath.sin(v * k) for k in range(1, 6)), v * mp.mpf(1.1) ** 5, mpmath.exp(v) - 1, mpmath.exp(v) - 1,
            mpmath.cos(v) - 1,
        )  # fmt: skip
        for (z, e), exact in zip(errors_by_trace(looped, x, gear=gear), wanted, strict=True):
            assert abs(mp.mpf(float(z)) + mp.mpf(float(e)) - exact) < abs(exact) * mp.mpf(10) ** -24
            assert abs(mp.mpf(float(z)) - exact) > abs(exact) * mp.mpf(10) ** -18


def test_the_value_decides_which_branch_is_taken() -> None:
    ((z, e),) = errors_by_trace(lambda x: bl.cond(np.cos(x) < 1, lambda x: x, lambda x: 2 * x, x), 1e-9)
    assert z == 2e-9
    assert e == 0


def test_float32_is_followed_in_float64() -> None:
    def f(x: Any) -> Any:
        return np.sum(np.tanh(x) * x) - np.float32(0.3)

    x = np.linspace(0.1, 1, 9, dtype=np.float32)
    for g in (f, bl.grad(f)):
        ((z, e),) = errors_by_trace(g, x)
        wide = g(x.astype(np.float64)) + (np.float64(np.float32(0.3)) - 0 * 0.3) * 0
        assert z.dtype == np.float32
        assert e.dtype == np.float64
        np.testing.assert_allclose(np.float64(z) + e, wide, rtol=1e-7)


def test_infinite_numbers_have_no_errors_and_spoil_none() -> None:
    def softmax(x: Any, mask: Any) -> Any:
        y = np.where(mask, x, -np.inf)
        weights = np.exp(y - np.max(y))
        return weights / np.sum(weights)

    ((z, e),) = errors_by_trace(softmax, np.array([1.0, 2.5, 0.3]), np.array([True, True, False]))
    assert np.all(np.isfinite(e))
    assert z[2] == 0 == e[2]
    assert np.all(np.abs(e) < 1e-16)
    assert np.any(e != 0)


def _below(a: Any) -> Any:
    return mpmath.matrix([[a[i, j] * (j <= i) for j in range(6)] for i in range(6)])


LINEAR_ALGEBRA: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "solve": (lambda a: np.linalg.solve(a, a[0]), lambda a: mpmath.lu_solve(a, a[0, :].T)),
    "transposed": (lambda a: np.linalg.solve(a.T, a[:, 1] + 1), lambda a: mpmath.lu_solve(a.T, a[:, 1] + 1)),
    "inverse": (np.linalg.inv, lambda a: a**-1),
    "cholesky": (lambda a: np.linalg.cholesky(a @ a.T), lambda a: mpmath.cholesky(a * a.T)),
    "triangular": (
        lambda a: bl.scipy.linalg.solve_triangular(a, a[0], lower=True),
        lambda a: mpmath.lu_solve(_below(a), a[0, :].T),
    ),
    "unit triangular": (
        lambda a: bl.scipy.linalg.solve_triangular(a, a[0], lower=True, unit_diagonal=True, trans=1),
        lambda a: mpmath.lu_solve((_below(a) - mpmath.diag([a[k, k] - 1 for k in range(6)])).T, a[0, :].T),
    ),
}


@pytest.mark.parametrize("name", LINEAR_ALGEBRA)
def test_solutions_of_linear_systems_have_errors(name: str) -> None:
    f, exact = LINEAR_ALGEBRA[name]
    a = np.random.default_rng(8).normal(size=(6, 6))
    ((z, e),) = errors_by_trace(f, a)
    with mp.workprec(300):
        wanted = np.array(exact(mpmath.matrix(a.tolist())).tolist(), object).reshape(z.shape)
        assert np.max(np.abs(lifted(z, e) - wanted)) < 1e-26
        assert np.max(np.abs(lifted(z, 0 * z) - wanted)) > 1e-17


PLAIN = """
import numpy as np, burlab as bl
from burlab.runtime import cpu
from burlab.transforms.numbers.shadow import with_errors
def f(x):
    return (1 - np.cos(x)) / x**2 + np.sum(np.exp(x) * x @ np.ones((3, 3))) - np.sum(np.tanh(x) / x)
x = np.array([1e-5, 0.3, 2.0])
for gear in ("compiled", "replay"):
    value, error = bl.compile(lambda x: tuple(with_errors(f, x)), x, gear=gear)(x)
    print((value + error).tobytes().hex())
"""


def test_every_instruction_set_knows_the_same_numbers() -> None:
    """Without fused products, too."""
    lines = set[str]()
    for isa in ABLE:
        environment = os.environ | {"BURLAB_ISA": isa}
        done = subprocess.run(
            [sys.executable, "-c", PLAIN], text=True, capture_output=True, check=False, env=environment
        )
        assert done.returncode == 0, done.stderr
        lines |= set(done.stdout.split())
    with mp.workdps(50):
        x = [mp.mpf(v) for v in (1e-5, 0.3, 2.0)]
        rest = 3 * sum(mpmath.exp(v) * v for v in x) - sum(mpmath.tanh(v) / v for v in x)
        wanted = np.array([float((1 - mpmath.cos(v)) / v**2 + rest) for v in x])
    assert lines == {wanted.tobytes().hex()}
