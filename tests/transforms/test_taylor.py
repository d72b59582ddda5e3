"""taylor: every operation of the table to order 8 against mpmath; whole functions against JAX's jets and nested jvp."""

from collections.abc import Sequence
from typing import Any

import mpmath
import numpy as np
import pytest
from mpmath import mp
from scipy import special

import burlab as bl
from burlab.errors import ArgumentError, DTypeError, ShapeError, TraceError
from burlab.graph.node import as_node
from burlab.graph.operation import make_node
from burlab.graph.scalar_table import ROWS
from tests.engines import assert_close, jax_or_skip, on
from tests.family_cases import FAMILY_CASES
from tests.op_cases import LINEAR_CASES, SCALAR, LinearCase, OpCase

ORDER = 8
DIRECTION = (1.0, -0.5, 0.75, 0.375, 0.25)
CASES = {case.name: case for case in (*SCALAR, *(c for rows in FAMILY_CASES.values() for c in rows)) if case.order}
INCOMPLETE = {  # by their last argument alone: by the others there is no rule
    "gammainc": 1, "gammaincc": 1, "betainc": 2, "betaincc": 2, "stdtr": 1, "gammaincinv": 1, "gammainccinv": 1,
    "betaincinv": 2, "betainccinv": 2, "stdtrit": 1,
}  # fmt: skip
# Derivatives of zeta by s are of order 4 at most, and the rest are themselves derivatives by a parameter.
APART = ("zeta", "zeta_derivative", "riemann_zeta", "gamma_density_by", "gammainc_by", "beta_density_by", "betainc_by")
WITHOUT = APART[3:]
CANCEL = ("mills", "mills_excess", "log_ndtr", "erfcx", "gelu", "sinc", "exprel")  # in their formulas
SLOW = {  # in mpmath
    "polygamma": 4, "yv": 4, "kv": 4, "kve": 4, "stdtrit": 3, "betaincinv": 3, "betainccinv": 3, "gammaincinv": 3,
    "gammainccinv": 3,
}  # fmt: skip


def jet_of(case: OpCase, point: Sequence[Any], moving: int, order: int) -> tuple[Any, Any]:
    """The coefficients by burlab and by mpmath, where the arguments from number `moving` on move."""
    held, at = point[:moving], np.array(point[moving:], np.float64)
    direction = np.array(DIRECTION[: len(at)])

    def f(x: Any) -> Any:
        return make_node(case.name, None, *map(as_node, held), *(x[k] for k in range(len(at))))

    def exact(t: Any) -> Any:
        return case.exact(*held, *(mp.mpf(a) + t * mp.mpf(d) for a, d in zip(at, direction, strict=True)))

    with mp.workdps(60):
        wanted = [float(mpmath.diff(exact, mp.mpf(0), k) / mpmath.factorial(k)) for k in range(order + 1)]
    return bl.taylor(f, at, direction, order), np.array(wanted)


def points_of(case: OpCase) -> list[tuple[Any, ...]]:
    points = [p if isinstance(p, tuple) else (p,) for p in case.points]
    held = case.parameters + (case.name == "where")
    return [(*(np.bool_(x) if case.name == "where" else np.float64(x) for x in p[:held]), *p[held:]) for p in points]


@pytest.mark.parametrize("name", [row.name for row in ROWS if row.differentiable and row.name not in APART])
def test_jets_of_every_operation_are_those_of_mpmath(name: str) -> None:
    case = CASES[name]
    order = SLOW.get(name, ORDER)
    moving = INCOMPLETE.get(name, case.parameters + (name == "where"))
    for point in points_of(case)[: 1 if name in SLOW else 3]:
        got, wanted = jet_of(case, point, moving, order)
        scale = 3e-14 * case.slack * (np.abs(wanted) + 1e-2 * np.max(np.abs(wanted)))
        if name in CANCEL:
            scale *= 100
        assert np.all(np.abs(got - wanted) <= scale + 1e-300), (name, point, got, wanted)


@pytest.mark.parametrize("name", [*WITHOUT, *INCOMPLETE])
def test_what_has_no_rule_names_the_users_line(name: str) -> None:
    case = CASES[name]
    point = points_of(case)[0]
    with pytest.raises(TraceError, match=r"test_taylor.py\", line \d+: higher derivatives of \w+ have no rule here"):
        jet_of(case, point, case.parameters, 3)


BY_PARAMETER = {
    "gammainc": (lambda a: special.gammainc(a, 1.5), lambda a: mpmath.gammainc(a, 0, 1.5, regularized=True)),
    "betainc": (lambda a: special.betainc(a, 1.5, 0.3), lambda a: mpmath.betainc(a, 1.5, 0, mp.mpf(0.3), True)),
    "zeta": (lambda s: special.zeta(s, 1.5), lambda s: mpmath.zeta(s, 1.5)),
    "riemann_zeta": (special.zeta, mpmath.zeta),
}  # fmt: skip


@pytest.mark.parametrize("name", BY_PARAMETER)
def test_jets_by_a_parameter_are_those_of_mpmath_up_to_order_4_and_then_refused(name: str) -> None:
    f, exact = BY_PARAMETER[name]
    with mp.workdps(60):
        wanted = [float(c) for c in mpmath.taylor(exact, mp.mpf(2.5), 4)]
    np.testing.assert_allclose(bl.taylor(f, 2.5, 1.0, 4), wanted, rtol=1e-10, atol=1e-14)
    with pytest.raises(
        TraceError, match=rf"line \d+: derivatives of {name} by its parameters are computed up to order 4"
    ):
        bl.taylor(f, 2.5, 1.0, 5)


ALGEBRA = {
    "solve": (lambda a: np.linalg.solve(a, np.arange(3.0)), lambda a: mp.lu_solve(a, mp.matrix([0, 1, 2]))[1]),
    "inv": (lambda a: np.linalg.inv(a)[0], lambda a: (a**-1)[0, 1]),
    "det": (np.linalg.det, mp.det), "slogdet": (lambda a: np.linalg.slogdet(a)[1], lambda a: mp.log(mp.det(a))),
    "cholesky": (lambda a: np.linalg.cholesky(a)[2], lambda a: mp.cholesky(a)[2, 1]),
    "eigvalsh": (np.linalg.eigvalsh, lambda a: mp.eigsy(a, eigvals_only=True)[1]),
    "svdvals": (lambda a: np.linalg.svd(a, compute_uv=False), lambda a: mp.svd_r(a, compute_uv=False)[1]),
    "expm": (lambda a: bl.scipy.linalg.expm(a)[0], lambda a: mp.expm(a, method="taylor")[0, 1]),
    "pinv": (lambda a: np.linalg.pinv(a[:, :2])[0], lambda a: ((a[:, :2].T * a[:, :2]) ** -1 * a[:, :2].T)[0, 1]),
    "qr": (lambda a: np.abs(np.linalg.qr(a)[1])[1], lambda a: abs(mp.qr(a)[1][1, 1])),
}  # fmt: skip


@pytest.mark.parametrize("name", ALGEBRA)
def test_jets_of_linear_algebra_are_those_of_mpmath(name: str) -> None:
    f, exact = ALGEBRA[name]
    a = np.array([[3.0, 0.5, -0.25], [0.5, 2.0, 0.75], [-0.25, 0.75, 4.5]])
    v = np.array([[0.5, -0.25, 0.125], [-0.25, 0.375, 0.25], [0.125, 0.25, -0.5]])
    got = np.asarray(bl.taylor(f, a, v, ORDER))
    got = got if got.ndim == 1 else got[:, 1]
    with mp.workdps(120):
        matrix, direction = mp.matrix(a.tolist()), mp.matrix(v.tolist())
        wanted = np.array([float(c) for c in mpmath.taylor(lambda t: exact(matrix + t * direction), 0, ORDER)])
    np.testing.assert_allclose(got, wanted, rtol=1e-9, atol=1e-12 * np.abs(wanted).max())


def test_zeta_by_its_second_argument_has_all_orders() -> None:
    got = bl.taylor(lambda q: make_node("zeta", None, as_node(np.float64(2.5)), q), 1.5, 1.0, ORDER)
    with mp.workdps(40):
        wanted = [mpmath.rf(2.5, k) / mpmath.factorial(k) * (-1) ** k * mpmath.zeta(2.5 + k, 1.5) for k in range(9)]
    np.testing.assert_allclose(got, np.array(wanted, float), rtol=1e-14)


@pytest.mark.parametrize("case", LINEAR_CASES, ids=lambda case: case.name)
def test_linear_operations_go_through_themselves(case: LinearCase) -> None:
    """c_k of op(x + t v) is op at x, op at v, then nothing; a product of two moving arrays has one term more."""
    rng = np.random.default_rng(3)
    xs, vs = ([rng.normal(size=shape) for shape in case.shapes] for _ in range(2))
    index = [] if case.index is None else [np.array(case.index)]
    got = bl.taylor(lambda xs: case.make(*xs, *map(as_node, index)), xs, vs, 3)
    parts = [case.numpy(*xs, *index), case.numpy(*vs, *index)]
    parts.append(np.zeros_like(parts[0]))
    if case.name == "contract":
        parts[1:] = [case.numpy(xs[0], vs[1]) + case.numpy(vs[0], xs[1]), parts[1]]
    for c, wanted in zip(got, [*parts, np.zeros_like(parts[0])], strict=True):
        np.testing.assert_allclose(c, wanted, rtol=1e-6 if c.dtype == np.float32 else 1e-12, atol=1e-14)


def network(np: Any, w: Any) -> Any:
    """Products, reductions, a softmax by hand, and functions of several kinds."""
    h = np.tanh(w["a"] @ np.array([[0.3, -1.0], [0.7, 0.2], [1.1, -0.4]]) + w["b"])
    p = np.exp(h - np.max(h, axis=0)) / np.sum(np.exp(h - np.max(h, axis=0)), axis=0)
    z = np.sqrt(1.5 + np.sin(h) ** 2) * np.log(2 + p) / (1 + w["c"] ** 2)
    return np.sum(z, axis=0), np.where(z > 0.5, z**3, -z) @ np.ones(2)


W = {"a": np.random.default_rng(1).normal(size=(4, 3)), "b": np.full((4, 1), 0.1), "c": np.array(0.7)}
V = {"a": np.random.default_rng(2).normal(size=(4, 3)), "b": np.ones((4, 1)), "c": np.array(-1.0)}


def nested_jvp(f: Any, x: Any, v: Any, order: int) -> Any:
    """The coefficients by differentiating t -> f(x + t v) again and again."""
    found = [lambda t: f(bl.tree.map(lambda a, b: a + t * b, x, v))]
    for _ in range(order):
        found.append(lambda t, g=found[-1]: bl.jvp(g, (t,), (1.0,))[1])
    factorials = np.cumprod([1.0, *range(1, order + 1)])
    results = [g(0.0) for g in found]
    return bl.tree.map(lambda *cs: np.stack([c / n for c, n in zip(cs, factorials, strict=True)]), *results)


def test_jets_of_a_network_are_those_of_jax() -> None:
    jax = jax_or_skip()
    from jax.experimental.jet import jet

    names = sorted(W)
    f = on(jax.numpy, network)
    series = [[V[k], *(0 * V[k] for _ in range(ORDER - 1))] for k in names]
    y, terms = jet(lambda *w: f(dict(zip(names, w, strict=True))), [W[k] for k in names], series)
    got = bl.taylor(lambda w: network(np, w), W, V, ORDER)
    factorials = np.cumprod([1.0, *range(1, ORDER + 1)])
    for mine, first, others in zip(got, y, terms, strict=True):
        wanted = np.stack([np.asarray(c) / n for c, n in zip([first, *others], factorials, strict=True)])
        assert mine.shape == wanted.shape
        np.testing.assert_allclose(mine, wanted, rtol=1e-10, atol=1e-11 * np.abs(wanted).max())


def loop(x: Any) -> Any:
    """A scan with a carry of two, a sequence, what it reads from around, stacked results, and an inner choice."""

    def body(carry: Any, a: Any) -> Any:
        c, d = carry
        c = bl.cond(np.sum(d) > 0.5, lambda c: np.sin(c) * a, lambda c: np.cos(c * a), c)
        return (c, d + np.mean(c) * x[0]), (np.exp(-c), d)

    (c, d), (stacked, trail) = bl.scan(body, (x, np.zeros(2)), np.linspace(0.2, 1.4, 5), reverse=True)
    return np.sum(c * d), stacked, trail


def spectrum(x: Any) -> Any:
    m = np.reshape(x, (3, 3))
    m = m @ m.T + np.eye(3)
    return np.linalg.solve(m, x[:3]), np.linalg.cholesky(m), np.linalg.eigh(m)[0], np.linalg.det(m)


def rule_of_its_own(x: Any) -> Any:
    f = bl.custom_vjp(lambda x: np.sin(x) * x, lambda g, y, x: g * (np.cos(x) * x + np.sin(x)), np.ones(9))
    return bl.checkpoint(lambda x: np.exp(f(x)))(x)


def ordered(x: Any) -> Any:
    return np.sort(x**2), np.cumsum(np.abs(x)), np.max(x * x), np.median(x), np.prod(x), np.fft.rfft(x).real


PROGRAMS = (loop, spectrum, rule_of_its_own, ordered, bl.grad(lambda x: np.sum(np.tanh(x) ** 3)))


@pytest.mark.parametrize("f", PROGRAMS, ids=["loop", "spectrum", "rules", "order", "gradient"])
def test_jets_of_programs_are_nested_derivatives(f: Any) -> None:
    size = 2 if f is loop else 9
    rng = np.random.default_rng(7)
    x, v = rng.normal(size=size), rng.normal(size=size)
    assert_close(bl.taylor(f, x, v, 3), nested_jvp(f, x, v, 3), rtol=1e-9)


def test_it_nests_in_other_transforms() -> None:
    x, v = np.array([0.3, -0.8]), np.array([1.0, 0.5])

    def f(x: Any) -> Any:
        return np.sum(np.sin(x) * np.exp(x[0] * x))

    def third(x: Any) -> Any:
        return bl.taylor(f, x, v, 3)[3]

    rows = np.stack([x, 2 * x, -x])
    np.testing.assert_allclose(bl.vmap(third)(rows), [third(r) for r in rows], rtol=1e-12)
    along = bl.grad(third)(x) @ v
    assert along == pytest.approx(4 * bl.taylor(f, x, v, 4)[4], rel=1e-11)
    twice = bl.taylor(lambda x: bl.taylor(f, x, v, 2)[2], x, v, 2)[2]
    assert twice == pytest.approx(6 * bl.taylor(f, x, v, 4)[4], rel=1e-11)
    per_row = bl.vmap(lambda x: bl.taylor(lambda x: bl.cond(x[0] > 0, np.exp, np.sin, x), x, v, 3))(rows)
    np.testing.assert_allclose(per_row[0], bl.taylor(np.exp, x, v, 3))
    np.testing.assert_allclose(per_row[2], bl.taylor(np.sin, -x, v, 3))


def test_gears_agree_and_numbers_keep_their_dtype() -> None:
    def f(x: Any) -> Any:
        return bl.taylor(lambda x: np.tanh(x) / (1 + x * x), x, np.ones(3, np.float32), 5)

    x = np.array([0.1, -2.0, 0.7], np.float32)
    compiled, replay = (bl.compile(f, x, gear=gear, strict=True) for gear in ("compiled", "replay"))
    assert compiled(x).dtype == np.float32
    assert compiled(x).shape == (6, 3)
    np.testing.assert_array_equal(compiled(x), replay(x))


def test_equal_parts_are_computed_once() -> None:
    """Sine and cosine of one argument meet: order 8 has no more of them than order 1."""
    counts = [
        sum(n.op in ("sin", "cos") for n in bl.compile(lambda x, k=k: bl.taylor(np.sin, x, 1.0, k), 0.5).graph.nodes)
        for k in (1, 8)
    ]
    assert counts == [2, 2]


@pytest.mark.parametrize("order", [0, -1, 2.5, True, None, "3", 1001, 2**63])
def test_the_order_is_a_whole_number_above_0(order: Any) -> None:
    with pytest.raises(ArgumentError, match=r"order of taylor=.* is not a whole number from 1 to 1000"):
        bl.taylor(np.sin, 0.5, 1.0, order)


def test_bad_arguments_are_said() -> None:
    x = np.ones(3)
    with pytest.raises(ShapeError, match="the direction v of taylor must have shape"):
        bl.taylor(np.sin, x, np.ones(2), 2)
    with pytest.raises(ShapeError, match="the direction v of taylor must be"):
        bl.taylor(lambda w: w["a"], {"a": x}, x, 2)
    with pytest.raises(DTypeError, match="taylor by argument 0 needs floats, got int64"):
        bl.taylor(np.sin, np.arange(3), np.arange(3), 2)
    with pytest.raises(DTypeError, match="taylor needs floating results; argmax returned int64"):
        bl.taylor(np.argmax, x, x, 2)
    with pytest.raises(TraceError, match=r"test_taylor.py\", line \d+: a derivative through bl.while_loop"):
        bl.taylor(lambda x: bl.while_loop(lambda s: s < 10, lambda s: s * 2, x), 1.0, 1.0, 2)
