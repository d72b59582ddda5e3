"""interval: a million inner points, mpmath's iv as second opinion, tightness, derivatives, loops, designed errors."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from mpmath import iv, mp

import burlab as bl
import burlab.graph.sparse.row_operations  # operations of sparse data
from burlab.errors import ArgumentError, DTypeError, NonFiniteError, ShapeError, TraceError
from burlab.graph.hooks import import_rare
from burlab.graph.node import as_node
from burlab.graph.operation import STRUCTURAL, Linearity, make_node
from burlab.graph.scalar_table import ROWS
from burlab.transforms.numbers.enclosing.enclosure_rules import REFUSED, SCALAR_RULES, STRUCTURAL_RULES
from burlab.transforms.numbers.scalar_enclosures import SCALAR as ENCLOSED
from burlab.transforms.numbers.tensor_enclosures import MOVES_EXACTLY, RULES as TENSOR_RULES
from tests.family_cases import FAMILY_CASES
from tests.op_cases import SCALAR

CASES = {case.name: case for case in (*SCALAR, *(c for rows in FAMILY_CASES.values() for c in rows))}
BEFORE = {"input", "constant", "call", "checkpoint", "checkpoint_contractions", "halves"}  # leaves, and what is inlined
LOOPS = {"scan", "cond", "while"}
DOMAINS = {
    "sqrt": (0, 50), "log": (1e-9, 50), "log2": (1e-9, 50), "log10": (1e-9, 50), "log1p": (-0.999, 50),
    "arcsin": (-1, 1), "arccos": (-1, 1), "arctanh": (-0.999, 0.999), "arccosh": (1, 50), "erfinv": (-0.999, 0.999),
    "ndtri": (0.001, 0.999), "erfcinv": (0.001, 1.999), "gamma": (0.01, 20), "gammaln": (0.01, 50),
    "digamma": (0.01, 50), "power": (0.01, 4), "xlogy": (0.01, 9), "power_exp": (0.01, 4), "xlog1py": (-0.9, 9),
}  # fmt: skip
SMOOTH = [
    row.name
    for row in ROWS
    if row.name in ENCLOSED and row.differentiable and row.name not in ("where", "ldexp", "round_to")
]
POINTS, BOXES = 600, 60  # of each operation, so a million of all


def boxes_of(name: str, rng: Any, count: int = BOXES) -> tuple[Any, Any]:
    """Boxes of the arguments, from thin to wide: shapes (count, arity)."""
    start, end = DOMAINS.get(name, (-9, 9))
    arity = next(row.arity for row in ROWS if row.name == name)
    middle = rng.uniform(start, end, (count, arity))
    width = (end - start) * 10.0 ** rng.uniform(-8, 0, (count, 1)) * rng.uniform(0, 1, (count, arity))
    return np.clip(middle - width / 2, start, end), np.clip(middle + width / 2, start, end)


def function_of(name: str) -> Callable[[Any], Any]:
    return lambda x: make_node(name, None, *(x[..., k] for k in range(x.shape[-1])))


def test_every_scalar_operation_has_an_enclosure_or_a_reason_why_not() -> None:
    names = {row.name for row in ROWS}
    assert names == set(SCALAR_RULES) | (names & set(REFUSED))
    assert not set(SCALAR_RULES) & set(REFUSED)


def test_every_structural_operation_has_an_enclosure_or_a_reason_why_not() -> None:
    import_rare()
    for name, row in STRUCTURAL.items():
        moves = row.moves_data and row.linearity in (Linearity.FIRST, Linearity.ALL)
        has = name in STRUCTURAL_RULES or name in TENSOR_RULES or name in MOVES_EXACTLY or moves
        assert (name in REFUSED) + has + (name in BEFORE | LOOPS) == 1, name
    known = {row.name for row in ROWS} | set(STRUCTURAL)
    assert set(REFUSED) <= known
    assert all(len(reason.split()) > 3 for reason in REFUSED.values())


@pytest.mark.parametrize("name", SMOOTH)
def test_inner_points_are_never_outside(name: str) -> None:
    rng = np.random.default_rng(len(name))
    f = function_of(name)
    low, high = boxes_of(name, rng)
    a, b = bl.interval(f)(low, high)
    assert np.all(a <= b)
    share = rng.uniform(size=(POINTS // 20 * 20, *low.shape))
    share[:2] = np.arange(2)[:, None, None]  # the corners, too
    inner = np.clip(low + share * (high - low), low, high)
    values = bl.jit(f)(inner)
    outside = (values < a) | (values > b)
    assert not outside.any(), (name, inner[outside][:3], values[outside][:3])


EXACT_RANGE = [
    name for name in SMOOTH if name not in ("fmod", "remainder", "sinc", "copysign", "power_exp", "xlogy", "xlog1py")
]
WIDER = {
    "erfc": 8, "sigmoid": 6, "exprel": 8, "log_ndtr": 9, "mills": 9, "ndtri": 9, "gamma": 9, "gammaln": 8, "silu": 8,
    "gelu": 30, "erfinv": 6, "erfcinv": 6, "arcsin": 6, "arccos": 6, "arccosh": 7, "digamma": 6,
}  # fmt: skip
"""Steps outwards by the worst error, which functions of several operations have, and the error itself."""


def ulps(computed: Any, exact: Any) -> float:
    unit = mp.mpf(float(np.spacing(np.abs(np.float64(float(exact)))))) or mp.mpf(5e-324)
    return float(abs(mp.mpf(float(computed)) - exact) / unit)


@pytest.mark.parametrize("name", [name for name in EXACT_RANGE if name not in ("lower_bound", "upper_bound")])
def test_points_are_enclosed_within_some_units_of_mpmath(name: str) -> None:
    case = CASES[name]
    points = np.array([p if isinstance(p, tuple) else (p,) for p in case.points], np.float64)
    inside = [
        p for p in points if DOMAINS.get(name, (-99, 999))[0] <= p[0] and (name != "digamma" or abs(p[0] - 1.46) > 0.2)
    ]
    points = np.array(inside)
    a, b = bl.interval(function_of(name))(points, points)
    with mp.workdps(50):
        for p, low, high in zip(points, a, b, strict=True):
            exact = mp.mpf(case.exact(*map(mp.mpf, p)))
            assert mp.mpf(float(low)) <= exact <= mp.mpf(float(high)), (name, p)
            assert max(ulps(low, exact), ulps(high, exact)) <= WIDER.get(name, 4), (name, p, low, high, exact)


@pytest.mark.full
@pytest.mark.parametrize("name", [name for name in EXACT_RANGE if name not in ("lower_bound", "upper_bound")])
def test_hundreds_of_points_are_enclosed(name: str) -> None:
    case, rng = CASES[name], np.random.default_rng(17)
    points = boxes_of(name, rng, 300)[0]
    a, b = bl.interval(function_of(name))(points, points)
    with mp.workdps(40):
        for p, low, high in zip(points, a, b, strict=True):
            exact = mp.mpf(case.exact(*map(mp.mpf, p.tolist())))
            assert mp.mpf(float(low)) <= exact <= mp.mpf(float(high)), (name, p, low, high, exact)


IV = {
    "add": lambda x, y: x + y, "sub": lambda x, y: x - y, "mul": lambda x, y: x * y, "div": lambda x, y: x / y,
    "square": lambda x: x**2, "exp": iv.exp, "log": iv.log, "sqrt": iv.sqrt, "sin": iv.sin, "cos": iv.cos,
}  # fmt: skip


@pytest.mark.parametrize("name", IV)
def test_mpmaths_intervals_agree_to_four_units(name: str) -> None:
    rng = np.random.default_rng(11)
    low, high = boxes_of(name, rng, 200)
    if name == "div":
        high, low = high.copy(), low.copy()
        flip = (low[:, 1] < 0) & (high[:, 1] > 0)
        low[flip, 1] = 0.25 * high[flip, 1]
    a, b = bl.interval(function_of(name))(low, high)
    iv.dps = 40
    for x, y, mine in zip(low, high, zip(a, b, strict=True), strict=True):
        theirs = IV[name](*(iv.mpf([float(p), float(q)]) for p, q in zip(x, y, strict=True)))
        with mp.workdps(40):
            ends = [mp.mpf(end.a if k == 0 else end.b) for k, end in enumerate((theirs, theirs))]
            for k, (bound, exact) in enumerate(zip(mine, ends, strict=True)):
                ok = mp.mpf(float(bound)) <= exact if k == 0 else mp.mpf(float(bound)) >= exact
                assert ok, (name, x, y, mine, theirs)
                assert ulps(bound, exact) <= 4 or abs(float(bound) - float(exact)) < 1e-300, (name, x, y, bound, exact)


def griewank(x: Any) -> Any:
    i = np.arange(1, x.shape[-1] + 1)
    return 1 + np.sum(x * x, axis=-1) / 4000 - np.prod(np.cos(x / np.sqrt(i).astype(x.dtype)), axis=-1)


def kinks(x: Any) -> Any:
    """abs, max, where, a norm, sorting and clipping, all near their kinks."""
    y = np.where(x > 0.1, x * x, np.abs(x) - 0.5)
    return np.max(y) + np.sum(np.clip(x, -0.2, 0.3)) * np.linalg.norm(y + 2) + np.sum(bl.relu(x - 0.05))


def network(x: Any) -> Any:
    w = np.sin(np.arange(12.0)).reshape(4, 3)
    h = np.tanh(w @ x + 0.3)
    return np.sum(bl.softmax(h) * np.log1p(np.exp(h))) + np.exp(-np.sum(h**2)) / (2 + np.cos(x[0]))


def loop(x: Any) -> Any:
    def body(c: Any, a: Any) -> Any:
        c = np.sin(c * a) + x[1]
        return bl.cond(c > 0.4, lambda c: c * 0.5, lambda c: c * c, c), np.exp(-c)

    last, rows = bl.scan(body, x[0], np.linspace(0.3, 1.5, 6))
    return last * np.sum(rows) + bl.fori_loop(0, 3, lambda k, s: s * x[2] + k, x[0])


@pytest.mark.parametrize("f", [griewank, kinks, network, loop], ids=lambda f: f.__name__)
@pytest.mark.parametrize("width", [1e-6, 0.03, 0.4])
def test_values_gradients_and_hessians_hold_at_inner_points(f: Any, width: float) -> None:
    rng = np.random.default_rng(5)
    middle = np.array([0.13, -0.06, 0.08])
    low, high = middle - width * rng.uniform(size=3), middle + width * rng.uniform(size=3)
    inner = np.clip(low + rng.uniform(size=(3000, 3)) * (high - low), low, high)
    for g in (f, bl.grad(f), *([] if f in (kinks, loop) else [bl.hessian(f)])):
        a, b = bl.interval(g)(low, high)
        values = bl.vmap(g)(inner)
        assert np.all((values >= a) & (values <= b)), (f, g)
        if f is not loop and width < 1:
            assert np.all(b - a <= 1e3 * width)


def test_a_million_inner_points_of_a_hundred_boxes() -> None:
    rng = np.random.default_rng(8)
    middle = rng.uniform(-30, 30, (100, 4))
    width = 10.0 ** rng.uniform(-6, 1, (100, 1))
    low, high = middle - width, middle + width
    a, b = bl.interval(griewank)(low, high)
    for _ in range(10):
        inner = np.clip(low + rng.uniform(size=(1000, 100, 4)) * (high - low), low, high)
        values = griewank(inner)
        assert np.all((values >= a) & (values <= b))
        best = (
            1
            + np.sum(inner.astype(np.longdouble) ** 2, axis=-1) / 4000
            - np.prod(np.cos(inner.astype(np.longdouble) / np.sqrt(np.arange(1, 5)).astype(np.longdouble)), axis=-1)
        )
        assert np.all((best >= a) & (best <= b))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(7, 300, 5), (3, 1, 4), (1, 2000, 1)])
def test_products_of_matrices_hold_in_any_order(dtype: Any, shape: Any) -> None:
    rng = np.random.default_rng(2)
    m, k, n = shape
    x, y = rng.normal(size=(m, k)).astype(dtype), rng.normal(size=(k, n)).astype(dtype)
    r, s = (dtype(1e-3) * rng.uniform(size=z.shape).astype(dtype) for z in (x, y))
    for low, high in (((x, y), (x, y)), ((x - r, y - s), (x + r, y + s))):
        a, b = bl.interval(lambda args: args[0] @ args[1])(low, high)
        assert a.dtype == dtype
        for _ in range(5):
            u, v = (
                np.clip(p + rng.uniform(size=p.shape).astype(dtype) * (q - p), p, q)
                for p, q in zip(low, high, strict=True)
            )
            order = rng.permutation(k)
            exact = u.astype(np.longdouble) @ v.astype(np.longdouble)
            for value in (u @ v, u[:, order] @ v[order], exact):
                assert np.all((value >= a) & (value <= b))
        exact = x.astype(np.longdouble) @ y.astype(np.longdouble)
        slack = np.abs(x) @ np.abs(y) * 20 * (k + 4) * np.finfo(dtype).eps + 2.1 * (
            r @ np.abs(y) + np.abs(x) @ s + r @ s
        ) * (low[0] is not x)
        assert np.all(b - a <= 2 * slack + 1e-30)
        for left, right in (
            (x + (low[0] is not x) * r * np.sign(y[:, 0]), y),
            (x, y + (low[0] is not x) * s * np.sign(x[:1].T)),
        ):
            u, v = np.clip(left, low[0], high[0]), np.clip(right, low[1], high[1])
            assert np.all((u @ v >= a) & (u @ v <= b))
        one_sided = bl.interval(lambda x: x @ y)(low[0], high[0])
        assert np.all((one_sided[0] <= x @ y) & (x @ y <= one_sided[1]))


def test_sums_hold_in_any_order() -> None:
    rng = np.random.default_rng(4)
    x = rng.normal(size=(4, 3000)) * 10.0 ** rng.uniform(-8, 8, (4, 3000))
    for f in (lambda x: np.sum(x, axis=1), lambda x: np.cumsum(x, axis=1)[:, -1], lambda x: np.mean(x, axis=1) * 3000):
        a, b = bl.interval(f)(x, x)
        exact = [math.fsum(row) for row in x]
        assert np.all((a <= exact) & (exact <= b))
        assert np.all((a <= np.sum(x[:, ::-1], axis=1)) & (np.sum(x[:, ::-1], axis=1) <= b))


def test_ends_of_domains_belong_to_them() -> None:
    assert bl.interval(np.sqrt)(0.0, 4.0)[0] == 0.0
    assert bl.interval(np.log)(0.0, 1.0)[0] == -math.inf
    low, high = bl.interval(lambda x: np.sqrt(np.sum(x * x)))(np.zeros(2), np.zeros(2))
    assert low == 0.0
    assert high < 1e-160
    assert bl.interval(lambda x: 1 / x)(0.0, 2.0)[1] == math.inf
    assert bl.interval(lambda x: 1 / x)(-2.0, 0.0)[1] > -0.5 - 1e-15
    assert bl.interval(lambda x: 1 / x)(-1.0, 2.0) == (-math.inf, math.inf)
    assert bl.interval(np.tan)(1.0, 2.0) == (-math.inf, math.inf)
    low, high = bl.interval(lambda x: x * 1e308 * 10)(1.0, 2.0)
    assert low > 1.7e308
    assert high == math.inf
    assert bl.interval(np.cos)(-1e300, 1e300) == (-1.0, 1.0)


def test_derivatives_at_kinks_are_hulls() -> None:
    assert bl.interval(bl.grad(abs))(-1.0, 2.0) == (-1.0, 1.0)
    assert bl.interval(bl.grad(bl.relu))(-1.0, 2.0) == (0.0, 1.0)
    low, high = bl.interval(bl.grad(np.max))(np.array([0.0, 0.5]), np.array([1.0, 0.7]))
    np.testing.assert_allclose(low, [0, 0])
    np.testing.assert_allclose(high, [1, 1])
    low, high = bl.interval(lambda x: np.where(x > 0, 3.0, x))(-1.0, 1.0)
    assert (low, high) == (-1.0, 3.0)
    assert bl.interval(lambda x: np.where(x > 0, 3.0, x))(0.5, 1.0) == (3.0, 3.0)
    assert bl.interval(lambda x: bl.round_to("bfloat16", x, mode="up"))(1.001, 1.1) == (1.0078125, 1.1015625)
    low, high = bl.interval(np.sort)(np.array([0.0, -1.0]), np.array([0.5, 2.0]))
    np.testing.assert_array_equal([low, high], [[-1.0, 0.0], [0.5, 2.0]])


def test_open_choices_of_masks_are_masks_that_may_hold() -> None:
    def f(x: Any) -> Any:
        return np.where(np.where(x > 0, x > 1, x < -1), 10.0, x)

    assert bl.interval(f)(-0.5, 0.5) == (-0.5, 0.5)
    assert bl.interval(f)(-0.5, 1.5) == (-0.5, 10.0)
    assert bl.interval(f)(1.25, 1.5) == (10.0, 10.0)
    assert bl.interval(lambda x: np.where(np.where(x > 0, x > -5, x > 5), 10.0, x))(-0.5, 0.5) == (-0.5, 10.0)


def test_it_composes_with_other_transforms_and_gears() -> None:
    rng = np.random.default_rng(9)
    low = rng.normal(size=(5, 3))
    high = low + 0.1
    rows = bl.vmap(bl.interval(network))(low, high)
    for k in range(5):
        np.testing.assert_allclose([r[k] for r in rows], bl.interval(network)(low[k], high[k]), rtol=1e-12)
    f = bl.interval(bl.grad(network))
    compiled, replay = (bl.compile(f, low[0], high[0], gear=gear, strict=True) for gear in ("compiled", "replay"))
    for a, b in zip(compiled(low[0], high[0]), replay(low[0], high[0]), strict=True):
        np.testing.assert_array_equal(a, b)
    low32 = low.astype(np.float32)
    a, b = bl.interval(griewank)(low32, low32 + np.float32(0.5))
    inner = griewank(
        np.clip(low32 + rng.uniform(size=(2000, 5, 3)).astype(np.float32) / 2, low32, low32 + np.float32(0.5))
    )
    assert a.dtype == np.float32
    assert np.all((a <= inner) & (inner <= b))
    assert bl.interval(lambda x, k: x["a"] * k)({"a": 1.0}, {"a": 2.0}, 3)[1] >= 6


def test_bad_input_is_said() -> None:
    x = np.array([1.0, 2.0])
    with pytest.raises(
        ArgumentError, match=r"low of interval is 2 at \(1,\), above high, 1.5. Pass the lower end first"
    ):
        bl.interval(np.sin)(x, np.array([1.5, 1.5]))
    with pytest.raises(ArgumentError, match="high of interval holds nan"):
        bl.interval(np.sin)(x, np.array([np.nan, 3.0]))
    with pytest.raises(ArgumentError, match=r"low\['a'\] of interval holds nan"):
        bl.interval(lambda w: w["a"])({"a": np.nan}, {"a": 1.0})
    with pytest.raises(ArgumentError, match="no number is between"):
        bl.interval(np.sin)(np.inf, np.inf)
    with pytest.raises(ShapeError, match="the upper end of interval must have shape"):
        bl.interval(np.sin)(x, np.ones(3))
    with pytest.raises(DTypeError, match="interval by argument 0 needs floats, got int64"):
        bl.interval(np.sin)(np.arange(2), np.arange(2))


@pytest.mark.parametrize("name", ["log", "sqrt", "arccosh", "gammaln", "erfcinv", "power"])
def test_a_domain_that_is_left_names_the_users_line(name: str) -> None:
    f = (lambda x: x**0.5 + x**1.5) if name == "power" else lambda x: make_node(name, None, as_node(x))
    word = "(power|sqrt)" if name == "power" else name
    with pytest.raises(NonFiniteError, match=rf"test_interval.py\", line \d+: an interval leaves the domain of {word}"):
        bl.interval(f)(-0.5, 0.5)
    with pytest.raises(NonFiniteError, match="the bounds of <lambda> are nan: ends that are infinite"):
        bl.interval(lambda x: x @ np.ones(2))(np.array([-np.inf, 0.0]), np.array([np.inf, 1.0]))
    with pytest.raises(NonFiniteError, match="leaves the domain of scan"):
        bl.interval(lambda x: bl.scan(lambda c, a: (np.log(c), None), x, np.ones(3))[0])(-0.5, 0.5)


@pytest.mark.parametrize(
    "f",
    [
        np.linalg.qr, lambda x: bl.while_loop(lambda s: np.sum(s) < 3, lambda s: s + 1, x),
        lambda x: np.arange(3.0)[x[0, 0].astype(int)],
    ],
    ids=["factors", "loop", "index"],
)  # fmt: skip
def test_what_has_no_enclosure_names_the_users_line(f: Any) -> None:
    with pytest.raises(TraceError, match=r"test_interval.py\", line \d+: bl.interval has no enclosure of \w+"):
        bl.interval(f)(np.eye(2), np.eye(2) + 0.1)
